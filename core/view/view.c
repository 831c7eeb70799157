/* view: functions to read a tape: its nodes by number, the layer of each node, and names.
 *
 * Layers are not on the tape: only the names of their parameters tell them. */
#include "view.h"

#include <stdarg.h>

/* ---- nodes by number ---- */

int gra_node_count(const gra_tape *t)
{
    gra_need_tape(t, __func__);
    return t->last ? t->last->node : 0;
}

gra_tensor *gra_node_at(const gra_tape *t, int i)
{
    gra_need_tape(t, __func__);
    gra_tensor *y = i >= 0 ? t->last : NULL;
    while (y && y->node - 1 > i)
        y = y->prev;
    return y && y->node - 1 == i ? y : NULL;
}

int gra_node_number(const gra_tensor *x)
{
    return x && x->tape && x->step == x->tape->step ? x->node - 1 : -1;
}

/* ---- the layer that a node belongs to ---- */

const gra_tensor *gra_node_param(const gra_tensor *y)
{
    for (int k = 0; k < y->nin; k++)
        if (y->in[k] && gra_is_param(y->in[k]))
            return y->in[k];
    return NULL;
}

/* A parameter's name without its last part is the name of its layer. */
static size_t layer_length(const gra_tensor *p)
{
    const char *dot = strrchr(p->name, '.');
    return dot ? (size_t)(dot - p->name) : 0;
}

size_t gra_common_path(const char *a, size_t na, const char *b, size_t nb)
{
    size_t whole = 0;
    for (size_t i = 0;; i++) {
        const bool a_ends = i == na || a[i] == '.', b_ends = i == nb || b[i] == '.';
        if (a_ends && b_ends && i)
            whole = i;
        if (i == na || i == nb || a[i] != b[i])
            return whole;
    }
}

/* The length of the path that encloses an op without parameters between p's layer and q's layer: their common
 * prefix. If a numbered block ends between the layers (as "blocks.0" does between "blocks.0.ff.2" and
 * "blocks.1.norm1"), the op belongs to the end of that block, like a residual addition. */
static size_t enclosing_length(const gra_tensor *p, const gra_tensor *q)
{
    const size_t end = layer_length(p), both = gra_common_path(p->name, end, q->name, layer_length(q));
    for (size_t from = both ? both + 1 : 0, n; from < end; from += n + 1) {
        n = strcspn(p->name + from, ".");
        if (strspn(p->name + from, "0123456789") >= n)
            return from + n < end ? from + n : both;
    }
    return both;
}

char *gra_path_between(const gra_tensor *p, const gra_tensor *q, char path[GRA_PATH])
{
    const size_t n = p && q ? enclosing_length(p, q) : 0;
    snprintf(path, GRA_PATH, "%.*s", (int)n, p ? p->name : "");
    return path;
}

char *gra_node_path(const gra_tensor *x, char path[GRA_PATH])
{
    const gra_tensor *before = NULL, *after = NULL;
    if (x && gra_is_param(x))
        before = after = x;
    else if (gra_node_number(x) >= 0 && gra_node_param(x))
        before = after = gra_node_param(x);
    else if (gra_node_number(x) >= 0) {
        for (const gra_tensor *y = x; y && !before; y = y->prev)
            before = gra_node_param(y);
        for (const gra_tensor *y = x->tape->last; y != x; y = y->prev)
            after = gra_node_param(y) ? gra_node_param(y) : after;
    }
    return gra_path_between(before, after, path);
}

/* ---- names ---- */

gra_tensor *gra_name(gra_tensor *x, const char *format, ...)
{
    if (!x || !x->tape || GRA_BAD_INPUTS(x->tape, "gra_name", x))
        return x;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *name = n < 0 ? NULL : gra_header_alloc(x->tape, (size_t)n + 1);
    if (!name)
        return x;
    va_start(args, format);
    vsnprintf(name, (size_t)n + 1, format, args);
    va_end(args);
    x->name = name;
    return x;
}
