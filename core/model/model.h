/* model.h: what optimisers, files and checks know of a model. */
#ifndef GRADUS_MODEL_H
#define GRADUS_MODEL_H

#include "../base/base.h"
#include "../machine/machine.h"

/* Aborts with a sentence where m is NULL or closed. who: the function that was called. */
void gra_need_model(const gra_model *m, const char *who);
gra_machine *gra_model_machine(const gra_model *m);

/* False: a parameter of this shape cannot begin so; `why` then has the sentence. */
#define GRA_WHY 300
bool gra_init_fits(const gra_init *how, gra_shape shape, char why[GRA_WHY]);

/* What a file holds of a model: parameters in their order, then the optimisers' buffers (gra_state). And
 * further names of parameters (gra_alias): a tensor that has the name and shares the data of its base, the
 * parameter. Finding: NULL where there is none of that name. */
int         gra_owned_count(const gra_model *m);
gra_tensor *gra_owned_at(const gra_model *m, int i);
gra_tensor *gra_owned_find(const gra_model *m, const char *name);
int         gra_alias_count(const gra_model *m);
gra_tensor *gra_alias_at(const gra_model *m, int i);
gra_tensor *gra_alias_find(const gra_model *m, const char *name);

/* The outcome of a gra_save or gra_load: why it failed, or NULL. The next one replaces it. Returns 0; -1: it
 * failed, or the model is unusable. */
int gra_model_set_io_error(gra_model *m, const char *why);

#endif
