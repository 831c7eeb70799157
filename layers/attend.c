/* attend: see attend.h. */
#include "attend.h"
#include "../core/op.h"

void gra_attention_sizes(gra_model *m, const char *layer, int d_in, int d_out, int context_length,
                         int num_heads, double dropout)
{
    const struct { const char *name; int value; } size[] = {
        { "d_in", d_in }, { "d_out", d_out },
        { "context_length", context_length }, { "num_heads", num_heads },
    };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i].value < 1)
            gra_model_fail(m, "%s: %s is %d, but it must be 1 or more", layer, size[i].name, size[i].value);
    if (!(dropout >= 0 && dropout < 1))
        gra_model_fail(m, "%s: dropout is %g, but 0 <= dropout < 1 is wanted", layer, dropout);
}

bool gra_attention_refuses(gra_tape *t, const char *layer, gra_tensor *x, int d_in, int context_length)
{
    if (GRA_REFUSES(t, layer, x))
        return true;
    if (x->shape.ndim < 2 || gra_dim(x, -1) != d_in)
        gra_fail(t, "%s: x is %s, but (..., time, %d) is wanted", layer, GRA_SHAPE_OF(x), d_in);
    else if (gra_dim(x, -2) > context_length)
        gra_fail(t, "%s: %d tokens, but the context length is %d", layer, gra_dim(x, -2), context_length);
    return gra_error(t) != NULL;
}

static gra_tensor *batched(gra_tape *t, gra_tensor *x)          /* a view, (batch, time, dim) */
{
    const int batch = x->shape.ndim == 2 ? 1 : -1;
    return x->shape.ndim == 3 ? x : gra_reshape(t, x, GRA_SHAPE(batch, gra_dim(x, -2), gra_dim(x, -1)));
}

gra_tensor *gra_attend(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, int num_heads, bool causal,
                       double dropout)
{
    gra_tensor *y = gra_attention(t, batched(t, q), batched(t, k), batched(t, v), num_heads, causal, dropout);
    return v->shape.ndim == 3 ? y : gra_reshape(t, y, v->shape);
}
