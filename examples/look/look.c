/* look: writes the page. What it looks like is in page.html, page.css and page.js; here is only its data. */
#include "look.h"
#include "../../core/op.h"
#include "page.h"
#include "values.h"
#include <errno.h>
#include <stdlib.h>

/* ---- what stands on the page: the nodes, and before its first use each leaf -------------------------- */

typedef struct list {
    const gra_tensor **x;
    size_t n;
    long  *slot;                        /* a hash table of them: 1 + the place in x, or 0: free */
    size_t slots;                       /* a power of two, and twice as many as are needed at least */
} list;

/* The slot of x, or the free one where it belongs. */
static long *slot_of(const list *l, const gra_tensor *x)
{
    size_t i = (size_t)((uintptr_t)x / 16 * 11400714819323198485u) & (l->slots - 1);
    while (l->slot[i] && l->x[l->slot[i] - 1] != x)
        i = (i + 1) & (l->slots - 1);
    return &l->slot[i];
}

static long place(const list *l, const gra_tensor *x) { return *slot_of(l, x) - 1; }

static void append(list *l, const gra_tensor *x)
{
    long *slot = slot_of(l, x);
    if (*slot)
        return;
    l->x[l->n++] = x;
    *slot = (long)l->n;
}

static bool collect(list *l, const gra_tape *t)
{
    const size_t count = (size_t)gra_node_count(t);
    const gra_tensor *last = gra_node_at(t, (int)count - 1), **node = malloc((count + 1) * sizeof *node);
    size_t most = count;                                /* each input may be a leaf */
    for (const gra_tensor *y = last; y; y = y->prev)
        most += (size_t)y->nin;
    for (l->slots = 2; l->slots < 2 * most;)
        l->slots *= 2;
    l->x = malloc((most + 1) * sizeof *l->x);
    l->slot = calloc(l->slots, sizeof *l->slot);
    const bool fine = node && l->x && l->slot;
    for (const gra_tensor *y = last; fine && y; y = y->prev)
        node[gra_node_number(y)] = y;
    for (size_t i = 0; fine && i < count; i++) {
        for (int k = 0; k < node[i]->nin; k++)
            if (node[i]->in[k])
                append(l, node[i]->in[k]);
        append(l, node[i]);
    }
    free(node);
    return fine;
}

/* How many values of each tensor the page may hold: all of small ones, and of large ones so many that their
 * sum stays below MOST (1.6 MB as base64). */
static size_t cells_of_each(const list *l)
{
    enum { FEW = 64, MANY = 1 << 16, MOST = 300000 };
    size_t cells = FEW;
    for (; cells < MANY; cells *= 2) {
        size_t sum = 0;
        for (size_t i = 0; i < l->n; i++)
            sum += 2 * (l->x[i]->size < 2 * cells ? l->x[i]->size : 2 * cells);
        if (sum > MOST)
            break;
    }
    return cells;
}

/* ---- a node as JSON ---------------------------------------------------------------------------------- */

static const char *kind_of(const gra_tensor *x)
{
    return gra_node_number(x) >= 0 ? "node" : !x->tape ? "parameter" : x->requires_grad ? "input"
                                                                                        : "constant";
}

static void write_member(out *o, const char *key, const char *text)
{
    out_format(o, ",\"%s\":", key);
    out_string(o, text, strlen(text));
}

static void write_inputs(out *o, const list *l, const gra_tensor *x)
{
    out_text(o, ",\"in\":[");
    for (int k = 0; gra_node_number(x) >= 0 && k < x->nin; k++)
        out_format(o, k ? ",%ld" : "%ld", x->in[k] ? place(l, x->in[k]) : -1L);
    out_text(o, "]");
}

static bool has_param(const gra_tensor *x)
{
    bool found = false;
    for (int k = 0; k < x->nin; k++)
        found |= x->in[k] && !x->in[k]->tape;
    return found;
}

/* The layer that x belongs to. That of the node before it is in `node_path`: without parameters in either it
 * is the same, and gra_node_path need not walk over the tape for each of them. */
static const char *find_path(const gra_tensor *x, char node_path[GRA_PATH], char leaf_path[GRA_PATH])
{
    if (gra_node_number(x) < 0)
        return gra_node_path(x, leaf_path);
    return !x->prev || has_param(x) || has_param(x->prev) ? gra_node_path(x, node_path) : node_path;
}

/* Of a node that wants a gradient but has none, and whose values are not those of a view, nobody kept it. */
static void write_node(out *o, const list *l, size_t i, size_t cells, const char *path)
{
    const gra_tensor *x = l->x[i], *owner = x->base ? x->base : x;
    const gra_real *grad = owner->fresh ? NULL : owner->grad;   /* fresh: not filled, as a backward failed */
    char saturated[OUT_REAL];
    out_format(o, "{\"kind\":\"%s\",\"number\":%d", kind_of(x), gra_node_number(x));
    write_member(o, "op", x->op ? x->op->name : "");
    write_member(o, "name", x->name ? x->name : "");
    write_member(o, "path", path);
    out_text(o, ",\"shape\":[");
    for (int d = 0; d < x->shape.ndim; d++)
        out_format(o, d ? ",%d" : "%d", x->shape.dim[d]);
    out_format(o, "],\"wants\":%s,\"view\":%s", x->requires_grad ? "true" : "false",
               x->base ? "true" : "false");
    write_inputs(o, l, x);
    if (values_saturated(x) >= 0)
        out_format(o, ",\"saturated\":%s", out_decimal(values_saturated(x), 6, saturated));
    out_text(o, ",\"data\":");
    values_write(o, x->data, x->size, x->shape, cells);
    if (grad) {
        out_text(o, ",\"grad\":");
        values_write(o, grad, x->size, x->shape, cells);
    }
    out_text(o, "}\n");
}

/* The formulas of the ops on this tape: the comment at the head of each one's source. */
static void write_formulas(out *o, const list *l)
{
    out_text(o, "\"ops\":{");
    for (int k = 0, written = 0; look_formula[k].op; k++)
        for (size_t i = 0; i < l->n; i++)
            if (l->x[i]->op && strcmp(l->x[i]->op->name, look_formula[k].op) == 0) {
                out_format(o, "%s\"%s\":{\"file\":\"%s\",\"text\":", written++ ? "," : "", look_formula[k].op,
                           look_formula[k].file);
                out_string(o, look_formula[k].text, strlen(look_formula[k].text));
                out_text(o, "}\n");
                break;
            }
    out_text(o, "}");
}

static void write_data(out *o, const gra_tape *t, const list *l, const look_more *more)
{
    const size_t cells = cells_of_each(l);
    char node_path[GRA_PATH] = "", leaf_path[GRA_PATH];
    out_format(o, "{\"bytes\":%zu,\"cells\":%zu", sizeof(gra_real), cells);
    write_member(o, "title", more->title ? more->title : "a step");
    write_member(o, "about", more->about ? more->about : "");
    write_member(o, "error", gra_error(t) ? gra_error(t) : "");
    out_text(o, ",\n\"nodes\":[");
    for (size_t i = 0; i < l->n; i++) {
        out_text(o, i ? "," : "");
        write_node(o, l, i, cells, find_path(l->x[i], node_path, leaf_path));
    }
    out_text(o, "],");
    write_formulas(o, l);
    if (more->model)
        more->model(o, more->arg);
    out_text(o, "}");
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static void write_lines(out *o, const char *const *line)
{
    for (; *line; line++)
        out_text(o, *line);
}

/* page.html, in which a few lines stand for the other parts. */
static void write_page(out *o, const gra_tape *t, const list *l, const look_more *more)
{
    const char *const none = NULL;
    for (const char *const *line = look_html; *line; line++)
        if (strcmp(*line, "@css\n") == 0)
            write_lines(o, look_css);
        else if (strcmp(*line, "@js\n") == 0)
            write_lines(o, look_page_js);
        else if (strcmp(*line, "@model\n") == 0)
            write_lines(o, more->model ? look_model_js : &none);
        else if (strcmp(*line, "@start\n") == 0)
            write_lines(o, look_start_js);
        else if (strcmp(*line, "@data\n") == 0)
            write_data(o, t, l, more);
        else
            out_text(o, *line);
}

int look_write_with(const gra_tape *t, const char *path, const look_more *more)
{
    list l = { 0 };
    out  o = { 0 };
    const bool collected = collect(&l, t);
    if (collected)
        write_page(&o, t, &l, more);
    errno = ENOMEM;
    const int failed = !collected || o.failed || gra_write_file(path, o.bytes, o.n);
    const int why = errno;
    free(l.x);
    free(l.slot);
    free(o.bytes);
    errno = why;
    return failed ? -1 : 0;
}

int look_write(const gra_tape *t, const char *path)
{
    return look_write_with(t, path, &(look_more){ .title = path });
}
