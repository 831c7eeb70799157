/* chain: see chain.h. */
#include "chain.h"
#include "../../core/op.h"
#include "values.h"
#include <stdlib.h>

static const gra_tensor *owner_of(const gra_tensor *x) { return x->base ? x->base : x; }

bool chain_fits(const gra_listing *l)
{
    const size_t rows = 4096, values = (size_t)1 << 27;
    size_t sum = 0;
    for (int i = 0; i < l->count; i++)
        sum += l->row[i].x->size;
    return (size_t)l->count <= rows && sum <= values;
}

/* The first input of y with the gradient of input k: k itself, unless y has a tensor twice. */
static int first_use(const gra_tensor *y, int k)
{
    int i = 0;
    while (!y->in[i] || owner_of(y->in[i]) != owner_of(y->in[k]))
        i++;
    return i;
}

struct use {
    gra_real *grad, *sum;               /* the gradient of an input, and what takes its place */
};

static void free_uses(const gra_tensor *y, struct use *use)
{
    for (int k = 0; use && k < y->nin; k++)
        if (use[k].sum && first_use(y, k) == k)
            free(use[k].sum);
    free(use);
}

/* NULL: out of memory */
static struct use *make_uses(const gra_tensor *y)
{
    struct use *use = calloc((size_t)y->nin + 1, sizeof *use);
    bool made = use != NULL;
    for (int k = 0; made && k < y->nin; k++)
        if (y->in[k] && y->in[k]->grad) {
            const int first = first_use(y, k);
            use[k].grad = y->in[k]->grad;
            use[k].sum = first < k ? use[first].sum : calloc(y->in[k]->size + 1, sizeof *use[k].sum);
            made = use[k].sum != NULL;
        }
    if (!made)
        free_uses(y, use);
    return made ? use : NULL;
}

/* Each sum becomes dy times the derivative of y with respect to that input. */
static void differentiate(gra_tensor *y, gra_real *dy, const struct use *use)
{
    gra_real *const own = y->grad;
    for (int k = 0; k < y->nin; k++)
        if (use[k].sum) {
            memset(use[k].sum, 0, y->in[k]->size * sizeof *use[k].sum);
            y->in[k]->grad = use[k].sum;
        }
    y->grad = dy;
    y->op->backward(y);
    y->grad = own;
    for (int k = 0; k < y->nin; k++)
        if (use[k].sum)
            y->in[k]->grad = use[k].grad;
}

/* Does more than one node add to the gradient of x? */
static bool is_shared(const gra_listing *l, const gra_tensor *x)
{
    int nodes = 0;
    for (int i = 0; i < l->count; i++) {
        const gra_tensor *y = l->row[i].x;
        bool uses = false;
        for (int k = 0; gra_node_number(y) >= 0 && !y->base && k < y->nin; k++)
            uses |= y->in[k] && owner_of(y->in[k]) == owner_of(x);
        nodes += uses;
    }
    return nodes > 1;
}

static void write_list(out *o, const char *key, const gra_listing *l, const gra_tensor *y,
                       const struct use *use, size_t cells)
{
    out_key(o, key);
    out_text(o, "[");
    for (int k = 0; k < y->nin; k++) {
        out_comma(o);
        if (use[k].sum && first_use(y, k) == k)
            values_write(o, NULL, use[k].sum, y->in[k], is_shared(l, y->in[k]) ? cells : 1);
        else
            out_text(o, "null");
    }
    out_text(o, "]");
}

void chain_write(out *o, const gra_tape *t, const gra_listing *l, const gra_tensor *x, size_t cells)
{
    gra_real one = 1;
    gra_tensor *y = gra_node_at(t, gra_node_number(x));
    if (!y || !y->grad || !y->op->backward || gra_error(t))
        return;
    struct use *use = make_uses(y);
    o->failed |= !use;
    if (!use)
        return;
    differentiate(y, y->grad, use);
    write_list(o, "adds", l, y, use, cells);
    if (y->size == 1) {
        differentiate(y, &one, use);
        write_list(o, "local", l, y, use, cells);
    }
    o->failed |= gra_error(t) != NULL;          /* a backward had no memory */
    free_uses(y, use);
}
