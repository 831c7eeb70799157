/* load: a trained model and the tokens that it is given, as generate and look take them.
 *
 * The model is a folder that train left, or a file of parameters, also one of another program (import.h). Its
 * tokens are those of the vocabulary beside it; where there is none they are given as numbers.
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_LOAD_H
#define EXAMPLES_LOAD_H

#include "../../layers/gpt.h"
#include "files.h"
#include "text.h"

#define LOAD_DEFAULT "build/run"        /* the folder that train writes unless told otherwise */

typedef struct loaded {                 /* all zeros: nothing was loaded */
    char        folder[FILE_PATH], file[FILE_PATH];
    gra_tape   *tape;
    gra_model  *model;
    struct gra_gpt gpt;
    bool        text;                   /* there is a vocabulary: tokens are bytes */
    vocabulary  vocab;
    int        *ids;                    /* of the prompt */
    size_t      n;
} loaded;

/* ids NULL: the prompt is text. heads 0: as the file says. 0 or -1 */
int  load_open(loaded *l, const char *model, const char *prompt, const char *ids, int heads, int threads);
void load_close(loaded *l);

#endif
