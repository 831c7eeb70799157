/* ids: tokens as numbers, "464 3290 318", for a model that comes without a vocabulary. */
#ifndef EXAMPLES_IDS_H
#define EXAMPLES_IDS_H

long ids_read(const char *text, int vocab_size, int *ids);  /* how many; -1 after a sentence. ids has room for
                                                               as many as text has characters */

#endif
