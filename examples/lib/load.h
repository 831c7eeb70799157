/* load: a trained model and its prompt, for generate and look.
 *
 * The model is a folder that train wrote, or a file of parameters, perhaps from another program (import.h).
 * Its vocabulary is the file beside it; without one, tokens are given as numbers.
 *
 * A function that fails has printed why (see warn). */
#ifndef EXAMPLES_LOAD_H
#define EXAMPLES_LOAD_H

#include "../../layers/gpt.h"
#include "files.h"
#include "tokens.h"

#define LOAD_DEFAULT "build/run"        /* the default folder of train */

typedef struct loaded {                 /* all zeros: nothing is loaded */
    char        folder[FILE_PATH], file[FILE_PATH];
    gra_tape   *tape;
    gra_model  *model;
    struct gra_gpt gpt;
    bool        text;                   /* it has a tokenizer; else tokens are numbers */
    tokenizer   tokens;
    bool        lines;                  /* trained with --lines: the end token also begins a text */
    int         end;                    /* the token that ends a text; -1: none */
    int        *ids;                    /* the tokens of the prompt; the prompt is shown from ids[first] */
    size_t      n, first;               /* to ids[n - 1]; ids[0] may be the end token */
} loaded;

/* The folder and the file of a model, which is given as either. 0 or -1 */
int  load_find(const char *model, char folder[FILE_PATH], char file[FILE_PATH]);

/* ids NULL: the prompt is text. special: are special tokens read in the prompt? -1: if the run read them.
 * heads 0: the file's. 0 or -1 */
int  load_open(loaded *l, const char *model, const char *prompt, const char *ids, int special, int heads,
               int threads);
void load_close(loaded *l);

#endif
