/* trained: the page of a model that train has trained. */
#ifndef EXAMPLES_LOOK_TRAINED_H
#define EXAMPLES_LOOK_TRAINED_H

/* folder: of train. prompt: the text that the model reads. 0, or -1 after a complaint. */
int trained_page(const char *folder, const char *prompt, int threads, const char *path);

#endif
