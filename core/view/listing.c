/* listing: the rows of a tape for its text (print_tape.c) and picture (dot.c): the nodes in order, and each
 * leaf before the first node that uses it. A row tells the kind, the values and the layer of its tensor. */
#include "view.h"

#include <stdlib.h>

/* ---- the rows ---- */

/* The slot of x, or the free slot where x belongs, by open addressing. At least half of the slots are free,
 * so the search ends. */
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

/* For each node, finds the nearest parameters before and after it: see gra_node_path. */
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

/* What x is, if it has no name. */
static const char *kind(const gra_tensor *x)
{
    return x->op ? x->op->name : x->requires_grad ? "input" : "constant";
}

static void title_text(const gra_tensor *x, char *text)
{
    char name[4 * 40 + 1] = "", op[4 * 40 + 1];
    const char *dot = gra_is_param(x) ? strrchr(x->name, '.') : NULL;
    if (x->name)
        gra_shortened(dot ? dot + 1 : x->name, 40, name);
    gra_shortened(kind(x), 40, op);
    snprintf(text, GRA_COLUMNS_TEXT, "%s%s%s", name, *name && x->op ? " = " : "", *name && !x->op ? "" : op);
}

static void label_text(const gra_tensor *x, const char *path, char *text)
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
    for (size_t i = 0; i < n; i++)                      /* divided by the largest, so squares stay finite */
        sum += (double)x[i] / largest * ((double)x[i] / largest);
    return largest * sqrt(sum / (double)n);
}

static void size_text(const gra_tensor *x, const real *values, char *text)
{
    *text = '\0';
    if (values && x->size == 1)
        snprintf(text, GRA_COLUMNS_TEXT, "%.6g", isnan(values[0]) ? (double)NAN : (double)values[0]);
    else if (values && x->size)
        snprintf(text, GRA_COLUMNS_TEXT, "%.3g", root_mean_square(values, x->size));
    gra_decimal_point(text);
}

/* The gradient of x; NULL: there is none, or it is uninitialised. */
static const real *kept_grad(const gra_tensor *x)
{
    const gra_tensor *owner = x->base ? x->base : x;
    return owner->fresh ? NULL : owner->grad;
}

/* "3, weight, bias"; if there are more than 5 inputs, the first 3 and the last. */
static void inputs_text(const gra_tensor *y, const char *path, char *text)
{
    const int n = y->nin;
    char all[5 * GRA_COLUMNS_TEXT], label[GRA_COLUMNS_TEXT];
    size_t at = 0;
    all[0] = '\0';
    for (int k = 0; k < n; k++) {
        const char *comma = at ? ", " : "";
        if (!y->in[k])
            continue;
        if (n > 5 && k == 3) {
            comma = ", ... ";
            k = n - 1;
        }
        label_text(y->in[k], path, label);
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", comma, label);
    }
    gra_shortened(all, GRA_ROW_COLUMNS, text);
}

void gra_row_text(const gra_listing *l, int row, gra_row cell)
{
    const gra_tensor *x = l->row[row].x;
    const int number = gra_node_number(x);
    char path[GRA_PATH];
    memset(cell, 0, sizeof(gra_row));
    if (number >= 0)
        snprintf(cell[GRA_ROW_NUMBER], GRA_COLUMNS_TEXT, "%d", number);
    gra_shortened(gra_listing_path(l, row, path), GRA_ROW_COLUMNS, cell[GRA_ROW_LAYER]);
    title_text(x, cell[GRA_ROW_TITLE]);
    gra_shortened(GRA_SHAPE_STRING(x->shape), GRA_ROW_COLUMNS, cell[GRA_ROW_SHAPE]);
    if (number >= 0)
        inputs_text(x, path, cell[GRA_ROW_INPUTS]);
    size_text(x, x->data, cell[GRA_ROW_VALUE]);
    size_text(x, kept_grad(x), cell[GRA_ROW_GRAD]);
}
