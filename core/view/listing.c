/* listing: what the text (print_tape.c) and the picture (dot.c) of a tape show: its nodes in order, each leaf
 * before the first node that uses it, and for each its kind, its values and the layer it belongs to. */
#include "view.h"

#include <stdlib.h>

/* ---- the rows ---- */

/* The slot of x, or the free one where it belongs: open addressing. At least half of the slots are free, so
 * the search ends. */
static int *slot_of(const gra_listing *l, const gra_tensor *x)
{
    size_t i = (size_t)((uintptr_t)x / 16 * 11400714819323198485u) & (l->slots - 1);
    while (l->slot[i] && l->row[l->slot[i] - 1].x != x)
        i = (i + 1) & (l->slots - 1);
    return &l->slot[i];
}

int gra_listing_find(const gra_listing *l, const gra_tensor *x) { return *slot_of(l, x) - 1; }

static void append(gra_listing *l, const gra_tensor *x)
{
    const gra_tensor *p = gra_is_param(x) ? x : NULL;
    int *slot = slot_of(l, x);
    if (*slot)
        return;
    l->row[l->count++] = (struct gra_listed){ .x = x, .before = p, .after = p };
    *slot = l->count;
}

/* Of each node, the nearest parameters before and after it: see gra_node_path. */
static void find_layers(gra_listing *l)
{
    for (int back = 0; back < 2; back++) {
        const gra_tensor *near = NULL;
        for (int i = 0; i < l->count; i++) {
            struct gra_listed *row = &l->row[back ? l->count - 1 - i : i];
            if (gra_node_number(row->x) < 0)
                continue;
            const gra_tensor *p = gra_node_param(row->x);
            near = p ? p : near;
            *(back ? &row->after : &row->before) = near;
        }
    }
}

int gra_listing_open(gra_listing *l, const gra_tape *t)
{
    gra_need_tape(t, __func__);
    const size_t nodes = (size_t)gra_node_count(t);
    size_t most = nodes;                                /* rows, if each input is a leaf */
    for (const gra_tensor *y = t->last; y; y = y->prev)
        most += (size_t)y->nin;
    *l = (gra_listing){ .slots = 2 };
    while (l->slots < 2 * most)
        l->slots *= 2;
    const gra_tensor **node = malloc((nodes + 1) * sizeof *node);
    l->row = malloc((most + 1) * sizeof *l->row);
    l->slot = calloc(l->slots, sizeof *l->slot);
    const bool allocated = node && l->row && l->slot;
    if (allocated) {
        for (const gra_tensor *y = t->last; y; y = y->prev)
            node[y->node - 1] = y;
        for (size_t i = 0; i < nodes; i++) {
            for (int k = 0; k < node[i]->nin; k++)
                if (node[i]->in[k])
                    append(l, node[i]->in[k]);
            append(l, node[i]);
        }
        find_layers(l);
    }
    free(node);
    if (!allocated)
        gra_listing_close(l);
    return allocated ? 0 : -1;
}

char *gra_listing_path(const gra_listing *l, int row, char path[GRA_PATH])
{
    return gra_path_between(l->row[row].before, l->row[row].after, path);
}

void gra_listing_close(gra_listing *l)
{
    free(l->row);
    free(l->slot);
    *l = (gra_listing){ 0 };
}

/* ---- the texts of a row ---- */

/* What x is, if it has no name of its own. */
static const char *kind(const gra_tensor *x)
{
    return x->op ? x->op->name : x->requires_grad ? "input" : "constant";
}

void gra_title_text(const gra_tensor *x, char *text)
{
    char name[4 * 40 + 1] = "", op[4 * 40 + 1];
    const char *dot = gra_is_param(x) ? strrchr(x->name, '.') : NULL;
    if (x->name)
        gra_shortened(dot ? dot + 1 : x->name, 40, name);
    gra_shortened(kind(x), 40, op);
    snprintf(text, GRA_COLUMNS_TEXT, "%s%s%s", name, *name && x->op ? " = " : "", *name && !x->op ? "" : op);
}

void gra_label_text(const gra_tensor *x, const char *path, char *text)
{
    char own[GRA_PATH];
    const bool here = gra_is_param(x) && strcmp(gra_node_path(x, own), path) == 0;
    const char *dot = here ? strrchr(x->name, '.') : NULL;
    if (gra_node_number(x) >= 0)
        snprintf(text, GRA_COLUMNS_TEXT, "%d", gra_node_number(x));
    else
        gra_shortened(dot ? dot + 1 : x->name ? x->name : kind(x), 24, text);
}

static double root_mean_square(const real *x, size_t n)
{
    double largest = 0, sum = 0;
    for (size_t i = 0; i < n && !isnan(largest); i++)
        largest = isnan(x[i]) ? (double)NAN : fmax(largest, fabs((double)x[i]));
    if (!isfinite(largest) || largest == 0)
        return largest;
    for (size_t i = 0; i < n; i++)                      /* divided by the largest: squares stay finite */
        sum += (double)x[i] / largest * ((double)x[i] / largest);
    return largest * sqrt(sum / (double)n);
}

void gra_size_text(const gra_tensor *x, const real *values, char text[GRA_SIZE_TEXT])
{
    *text = '\0';
    if (values && x->size == 1)
        snprintf(text, GRA_SIZE_TEXT, "%.6g", isnan(values[0]) ? (double)NAN : (double)values[0]);
    else if (values && x->size)
        snprintf(text, GRA_SIZE_TEXT, "%.3g", root_mean_square(values, x->size));
    gra_decimal_point(text);
}

const real *gra_kept_grad(const gra_tensor *x)
{
    const gra_tensor *owner = x->base ? x->base : x;
    return owner->fresh ? NULL : owner->grad;
}
