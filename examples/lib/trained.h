/* trained: the model that a run leaves, written and read back.
 *
 *     config.tsv           the flags that made the model, a name and a value a line
 *     vocab.tsv            its bytes in the order of their ids, and how each prints
 *     model.safetensors    its parameters
 *
 * Each function that fails has said why, in a sentence. */
#ifndef EXAMPLES_TRAINED_H
#define EXAMPLES_TRAINED_H

#include "training.h"

extern const char config_name[], vocab_name[], model_name[];

int  trained_begin(const char *folder, options *o, const vocabulary *v);       /* config.tsv and vocab.tsv */
int  trained_save(const training *t);           /* model.safetensors */

int  trained_model(gra_model *m, const char *folder, const char *path, bool *learnt);  /* 0: the file is a model, and
                                                   no checkpoint. *learnt: train's, with its vocabulary beside it */
int  trained_read(const char *folder, options *o, vocabulary *v);       /* config.tsv and vocab.tsv */
int  trained_fits(gra_model *m, const char *path, const options *o, const vocabulary *v);      /* 0: the file is of
                                                   that model and vocabulary; m lends its sentence */
int  trained_load(const char *path, gra_model *m);
int  trained_holds(const gra_file *f, const char *path, const options *o, int vocab_size);     /* 0: the file may hold
                                                   the parameters of that model */

#endif
