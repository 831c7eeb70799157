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

void golden_compare(const golden *g, const golden_tensor *expected, const real *x, gra_shape shape)
{
    ck_assert_msg(gra_same_shape(shape, expected->shape), "%s: %s: got %s, expected %s", g->path,
                  expected->name, GRA_SHAPE_STRING(shape), GRA_SHAPE_STRING(expected->shape));
    for (size_t i = 0; i < expected->size; i++)
        ck_assert_msg(golden_agrees(expected, i, (double)x[i]),
                      "%s: %s[%zu]: got %.17g, expected %.17g: off by %.3g, allowed %.3g", g->path,
                      expected->name, i, (double)x[i], expected->values[i],
                      fabs((double)x[i] - expected->values[i]), expected->tol);
}
