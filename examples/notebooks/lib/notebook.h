/* notebook.h: shared by the programs of the notebooks: a tape and a generator, random tensors, and a count of
 * the printed numbers that they reproduce.
 *
 * A program opens itself, names a file of golden numbers for each part of its notebook, shows what
 * the notebook prints, and closes:
 *
 *     gra_tape *t = notebook_open("attention_steps", argc, argv);
 *     notebook_file("000_single_head");               its numbers: golden/000_single_head.txt
 *     show("cell 12", "scores", scores);              prints them, and compares each with the notebook's
 *     return notebook_close();                        "attention_steps: K of N printed numbers reproduced"
 *
 * N counts all numbers of the files; a number that is left out counts as not reproduced. The line before it
 * splits K: numbers computed from seeds and numbers in the program, numbers computed from inputs that an
 * unseeded cell prints, and such inputs themselves, perhaps in a different order. The mode is GRA_TRAIN, as
 * for a new PyTorch module; all tensors live until the end.
 */
#ifndef EXAMPLES_NOTEBOOK_H
#define EXAMPLES_NOTEBOOK_H

#include "../../../core/gradus.h"

/* argv[1]: the folder of the numbers; without it, examples/notebooks/golden */
gra_tape  *notebook_open(const char *name, int argc, char **argv);
int        notebook_close(void);                        /* the exit status: 0 if all numbers agree */
gra_rng   *notebook_rng(void);                          /* for draws, dropout and layers */
gra_scope  notebook_scope(const char *name);            /* for a layer, with any name */

void notebook_file(const char *name);           /* compare with this file from here on */
void notebook_unseeded(const char *why);        /* its results follow from printed inputs */
void notebook_digits(int digits);               /* how many digits to print from here on; 4 at first */

/* show prints x and compares it with the file's tensor of that name; agrees only compares, a tensor for each
 * name (agrees("W_key W_value", k, v)), and print only prints. If a value is not within its tolerance, the
 * program fails. */
void show(const char *cell, const char *name, gra_tensor *x);
void agrees(const char *names, ...);
void print(const char *cell, const char *name, gra_tensor *x);
void print_shape(const char *cell, const char *name, const gra_tensor *x);

/* Tensors: an input from the file, and random tensors, drawn in the order of the calls. */
gra_tensor *given(const char *name);
gra_tensor *torch_rand(gra_shape shape);     /* uniform in [0, 1) */
gra_tensor *torch_randn(gra_shape shape);    /* normal */
gra_tensor *np_normal(gra_shape shape);      /* np.random.normal */

#endif
