/* run: the folder that a training run leaves, and reading it back.
 *
 *     config.tsv           the flags that made the model, a name and a value a line
 *     vocab.tsv            its bytes in the order of their ids, and how each prints
 *     loss.tsv             a row a step, flushed at each
 *     loss.png, loss.gp    the picture, and the gnuplot script that draws it
 *     sample.txt           what the model writes
 *     model.safetensors    its parameters
 *     checkpoint.safetensors, best.safetensors    see checkpoint.h
 *
 * Each function that fails has said why, in a sentence. */
#ifndef EXAMPLES_RUN_H
#define EXAMPLES_RUN_H

#include "options.h"
#include "text.h"

extern const char config_name[], vocab_name[], model_name[], checkpoint_name[], best_name[];

typedef struct run {
    const char *folder;
    FILE       *loss;
    char       *loss_path;
    bool        fresh;                          /* loss.tsv was just made: it goes again unless the run begins */
} run;

typedef struct run_row {                        /* of loss.tsv */
    long   step;
    double train_loss, val_loss;                /* val_loss NaN: none at this step */
    double lr, grad_norm, tokens_per_s;
} run_row;

int  run_suits(const options *o);               /* 0: a run may write to o->out. Nothing is changed */
int  run_open(run *r, const options *o);        /* the folder and its loss.tsv; says so when a run is replaced,
                                                   which loses nothing before */
int  run_from(run *r, options *o, const vocabulary *v, long step, long table);  /* cuts loss.tsv to so many bytes
                                                   and removes what a run at that step does not have */
int  run_log(run *r, const run_row *row);
int  run_table(run *r, long *bytes);            /* how long loss.tsv is; so much of it is on the disk then */
int  run_save(const run *r, gra_model *m, const options *o, const vocabulary *v, long step);
int  run_close(run *r);                         /* may be called twice */

int  run_read(const char *folder, options *o, vocabulary *v);   /* config.tsv and vocab.tsv */
int  run_model(gra_model *m, const char *folder, const char *path, bool *learnt);   /* 0: the file is a model, and no
                                                   checkpoint. *learnt: a run's, in whose folder is its vocabulary */
bool run_has(const char *folder, const char *name);     /* a file of that name */
int  run_fits(gra_model *m, const char *path, const options *o, const vocabulary *v); /* 0: the file is of that
                                                   model and vocabulary; m lends its sentence */
int  run_holds(const gra_file *f, const char *path, const options *o, int vocab_size);  /* 0: the file may hold
                                                   the parameters of that model */
int  run_load(const char *path, gra_model *m);
run_row *run_rows(const char *folder, long table, long n);      /* the n rows that loss.tsv must have in so many
                                                   bytes, to free; NULL after a sentence */

#endif
