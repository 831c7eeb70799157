/* two_params: see two_params.h. */
#include "two_params.h"
#include "lib/crash.h"
#include "lib/alone.h"

gra_model *model_open(void)
{
    gra_model *m = model_alone(NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

gra_tensor *parameter(gra_model *m, const char *name, gra_shape shape)
{
    gra_tensor *p = gra_param(gra_root(m), name, gra_init_zeros(), shape);
    ck_assert_ptr_nonnull(p);
    return p;
}

gra_model *two_params(void)
{
    gra_model *m = model_open();
    gra_tensor *b = parameter(m, "b", GRA_SHAPE(2, 2)), *a = parameter(m, "a", GRA_SHAPE(2));
    for (int i = 0; i < 6; i++)
        *(i < 4 ? &b->data[i] : &a->data[i - 4]) = -1;
    return m;
}

bool untouched(const gra_model *m)
{
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++)
            if (gra_param_at(m, i)->data[j] != -1)
                return false;
    return true;
}

void fill(gra_tensor *p, const real *values)
{
    memcpy(p->data, values, p->size * sizeof(real));
}

size_t compose(unsigned char *file, const char *header, const void *data, size_t n)
{
    const size_t length = strlen(header);
    for (size_t i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)length >> 8 * i);
    for (size_t i = 0; i < length; i++)
        file[8 + i] = (unsigned char)(header[i] == '\'' ? '"' : header[i] == '$' ? 0 : header[i]);
    memcpy(file + 8 + length, data, n);
    return 8 + length + n;
}
