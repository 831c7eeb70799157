/* look: writes the page's data; page.html, page.css and the scripts display it. */
#include "look.h"
#include "../../core/op.h"
#include "chain.h"
#include "page_text.h"
#include "values.h"
#include <errno.h>
#include <stdlib.h>

/* How many values of each tensor the page contains at most, so that the sum over all tensors stays below MOST
 * (1.6 MB as base64). */
static size_t cells_of_each(const gra_listing *l)
{
    enum { FEW = 64, MANY = 1 << 16, MOST = 300000 };
    size_t cells = FEW;
    for (; cells < MANY; cells *= 2) {
        size_t sum = 0;
        for (int i = 0; i < l->count; i++)
            sum += 2 * (l->row[i].x->size < 2 * cells ? l->row[i].x->size : 2 * cells);
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

static void write_inputs(out *o, const gra_listing *l, const gra_tensor *x)
{
    out_key(o, "in");
    out_text(o, "[");
    for (int k = 0; gra_node_number(x) >= 0 && k < x->nin; k++) {
        out_comma(o);
        out_format(o, "%d", x->in[k] ? gra_listing_find(l, x->in[k]) : -1);
    }
    out_text(o, "]");
}

static void write_node(out *o, const gra_tape *t, const gra_listing *l, int i, size_t cells, size_t adds)
{
    const gra_tensor *x = l->row[i].x, *owner = x->base ? x->base : x;
    const gra_real *grad = owner->fresh ? NULL : owner->grad;   /* fresh: uninitialised: a backward failed */
    char path[GRA_PATH], args[GRA_ARGS_TEXT];
    out_format(o, "{\"kind\":\"%s\",\"number\":%d", kind_of(x), gra_node_number(x));
    out_member(o, "op", x->op ? x->op->name : "");
    out_member(o, "args", gra_args_text(x, args));
    out_member(o, "name", x->name ? x->name : "");
    out_member(o, "path", gra_listing_path(l, i, path));
    out_key(o, "shape");
    out_ints(o, x->shape.dim, x->shape.ndim);
    out_format(o, ",\"requires_grad\":%s,\"view\":%s", x->requires_grad ? "true" : "false",
               x->base ? "true" : "false");
    write_inputs(o, l, x);
    values_write(o, "data", x->data, x, cells);
    if (grad)
        values_write(o, "grad", grad, x, cells);
    if (adds)
        chain_write(o, t, l, x, adds);
    out_text(o, "}\n");
}

/* The formulas of the ops on this tape, from the first comment of each op's source. */
static void write_formulas(out *o, const gra_listing *l)
{
    out_text(o, "\"ops\":{");
    for (int k = 0; look_formula[k].op; k++)
        for (int i = 0; i < l->count; i++)
            if (l->row[i].x->op && strcmp(l->row[i].x->op->name, look_formula[k].op) == 0) {
                out_key(o, look_formula[k].op);
                out_format(o, "{\"file\":\"%s\"", look_formula[k].file);
                out_member(o, "text", look_formula[k].text);
                out_text(o, "}\n");
                break;
            }
    out_text(o, "}");
}

static void write_step(out *o, const gra_tape *t, const gra_listing *l, const look_more *more)
{
    const size_t cells = cells_of_each(l);
    const size_t most = cells < 1024 ? cells : 1024, adds = chain_fits(l) ? most : 0;
    out_format(o, "{\"bytes\":%zu,\"cells\":%zu,\"chain\":%s", sizeof(gra_real), cells,
               adds ? "true" : "false");
    out_member(o, "title", more->title ? more->title : "a step");
    out_member(o, "about", more->about ? more->about : "");
    out_member(o, "error", gra_error(t) ? gra_error(t) : "");
    out_text(o, ",\n\"nodes\":[");
    for (int i = 0; i < l->count; i++) {
        out_comma(o);
        write_node(o, t, l, i, cells, adds);
    }
    out_text(o, "],");
    write_formulas(o, l);
    if (more->model)
        more->model(o, more->arg);
    out_text(o, "}");
}

void look_json(out *o, const gra_tape *t, const look_more *more)
{
    gra_listing l;
    if (gra_listing_open(&l, t) != 0) {
        o->failed = true;
        return;
    }
    write_step(o, t, &l, more);
    gra_listing_close(&l);
}

/* ---- the page ---------------------------------------------------------------------------------------- */

/* The page, with the data in place of the line @data; what is between two lines @model is only for models. */
static void write_page(out *o, const gra_tape *t, const look_more *more)
{
    bool is_for_all = true;
    for (const char *const *line = look_page; *line; line++)
        if (strcmp(*line, "@data\n") == 0)
            look_json(o, t, more);
        else if (strcmp(*line, "@model\n") == 0)
            is_for_all = !is_for_all;
        else if (is_for_all || more->model)
            out_text(o, *line);
}

int look_write_with(const gra_tape *t, const char *path, const look_more *more)
{
    out o = { 0 };
    write_page(&o, t, more);
    errno = ENOMEM;
    const int failed = o.failed || gra_write_file(path, o.bytes, o.n), why = errno;
    free(o.bytes);
    errno = why;
    return failed ? -1 : 0;
}

int look_write(const gra_tape *t, const char *path)
{
    return look_write_with(t, path, &(look_more){ .title = path });
}
