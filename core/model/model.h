/* model.h: the internals of a model, for optimisers, files and checks. */
#ifndef GRADUS_MODEL_H
#define GRADUS_MODEL_H

#include "../base/base.h"
#include "../machine/machine.h"

/* Aborts with a sentence if m is NULL or closed. who: the function that was called. */
void gra_need_model(const gra_model *m, const char *who);
gra_machine *gra_model_machine(const gra_model *m);

/* Returns false if this initialiser cannot fill a parameter of this shape; then `why` is the sentence. */
#define GRA_WHY 300
bool gra_init_fits(const gra_init *how, gra_shape shape, char why[GRA_WHY]);

/* The tensors of a model that files contain: its parameters in order and its buffers (gra_buffer), which
 * gra_save saves; then the optimisers' buffers (gra_state); and the aliases: second names (gra_alias) of
 * parameters, whose data they share. The `find` functions return NULL if no tensor has that name. */
int         gra_saved_count(const gra_model *m);
int         gra_owned_count(const gra_model *m);
gra_tensor *gra_owned_at(const gra_model *m, int i);
gra_tensor *gra_saved_find(const gra_model *m, const char *name);
gra_tensor *gra_owned_find(const gra_model *m, const char *name);
int         gra_alias_count(const gra_model *m);
gra_tensor *gra_alias_at(const gra_model *m, int i);
gra_tensor *gra_alias_find(const gra_model *m, const char *name);

/* Records why a gra_save or gra_load failed, or NULL, replacing the previous outcome. Returns 0, or -1 if it
 * failed or the model is unusable. */
int gra_model_set_io_error(gra_model *m, const char *why);

#endif
