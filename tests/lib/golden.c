/* golden: see golden.h. */
#include "golden.h"
#include "crash.h"
#include "../core/op.h"

golden *golden_open(const char *path)
{
    char error[GOLDEN_ERROR];
    golden *g = golden_read(path, error);
    ck_assert_msg(g != NULL, "%s (tests run with the repository as the working directory)", error);
    return g;
}

const golden_tensor *golden_get(const golden *g, const char *role, const char *name)
{
    const golden_tensor *t = golden_find(g, role, name);
    ck_assert_msg(t != NULL, "%s has no %s %s", g->path, role, name);
    return t;
}

int golden_number(const golden *g, const char *key)
{
    for (int i = 0; i < g->configs; i++)
        if (strcmp(g->config[i].key, key) == 0)
            return g->config[i].value;
    ck_abort_msg("%s has no config %s", g->path, key);
    return 0;
}

void golden_compare(const golden *g, const golden_tensor *want, const real *x, gra_shape shape)
{
    ck_assert_msg(gra_same_shape(shape, want->shape),
                  "%s: %s is %s, wanted %s", g->path, want->name,
                  GRA_SHAPE_STRING(shape), GRA_SHAPE_STRING(want->shape));
    for (size_t i = 0; i < want->size; i++)
        ck_assert_msg(golden_agrees(want, i, (double)x[i]),
                      "%s: %s[%zu] is %.17g, wanted %.17g: off by %.3g, allowed %.3g", g->path, want->name, i,
                      (double)x[i], want->values[i], fabs((double)x[i] - want->values[i]), want->tol);
}
