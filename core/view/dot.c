/* dot: a tape as a graph in Graphviz's language (https://graphviz.org/doc/info/lang.html). Each tensor is a
 * record: name | data | grad for a single number, as in micrograd (Karpathy 2020); a larger tensor shows its
 * shape and root mean squares. A box (cluster) encloses the tensors of a layer.
 *
 * Names may contain any bytes: characters other than letters, digits and a few harmless ones are written as
 * &#N;. */
#include "view.h"

#include <errno.h>
#include <stdlib.h>

/* ---- texts ---- */

/* A printable text within "...", in a record or not. Backslashes are doubled, because Graphviz interprets the
 * backslash of &#92; again. */
static void put_escaped(gra_text *o, const char *s)
{
    static const char harmless[] = " ()_.,=:+-";
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (plain || c >= 0x80 || strchr(harmless, c))
            gra_text_put(o, "%c", c);
        else
            gra_text_put(o, c == '\\' ? "&#92;&#92;" : "&#%d;", c);
    }
}

/* ---- nodes and edges ---- */

/* "n7", a node's number, or "leaf3", a leaf's row. */
static void put_id(gra_text *o, const gra_listing *l, const gra_tensor *x)
{
    const int number = gra_node_number(x);
    gra_text_put(o, number >= 0 ? "n%d" : "leaf%d", number >= 0 ? number : gra_listing_find(l, x));
}

static void put_tensor(gra_text *o, const gra_listing *l, int row)
{
    static const char *const before[GRA_ROW] = { [GRA_ROW_TITLE] = "", [GRA_ROW_SHAPE] = " | ",
                                                 [GRA_ROW_VALUE] = " | data ", [GRA_ROW_GRAD] = " | grad " };
    const gra_tensor *x = l->row[row].x;
    gra_row cell;
    gra_row_text(l, row, cell);
    put_id(o, l, x);
    gra_text_put(o, " [label=\"");
    for (int c = 0; c < GRA_ROW; c++)
        if (before[c] && *cell[c] && (c != GRA_ROW_SHAPE || x->shape.ndim)) {
            gra_text_put(o, "%s", before[c]);
            put_escaped(o, cell[c]);
        }
    gra_text_put(o, "\"%s];\n", gra_node_number(x) >= 0 ? "" :
                 gra_is_param(x) ? ", style=filled" : ", style=rounded");
}

static void put_edges(gra_text *o, const gra_listing *l, const gra_tensor *y)
{
    for (int k = 0; k < y->nin; k++)
        if (y->in[k]) {
            put_id(o, l, y->in[k]);
            gra_text_put(o, " -> ");
            put_id(o, l, y);
            gra_text_put(o, ";\n");
        }
}

/* ---- boxes ---- */

struct boxes {
    char path[GRA_PATH];                /* of the open box, inside the boxes of its prefixes */
    int  made;
};

/* Closes and opens boxes for a tensor in the box of this path. */
static void enter(gra_text *o, struct boxes *b, const char *path)
{
    const size_t stay = gra_common_path(b->path, strlen(b->path), path, strlen(path));
    for (size_t end = strlen(b->path); end > stay; end--)
        if (end == strlen(b->path) || b->path[end] == '.')
            gra_text_put(o, "}\n");
    for (size_t from = stay, end; path[from]; from = end) {
        end = from + 1 + strcspn(path + from + 1, ".");
        char label[GRA_PATH], text[GRA_COLUMNS_TEXT];
        snprintf(label, sizeof label, "%.*s", (int)end, path);
        gra_shortened(label, 40, text);
        gra_text_put(o, "subgraph cluster_%d {\nlabel=\"", b->made++);
        put_escaped(o, text);
        gra_text_put(o, "\";\n");
    }
    snprintf(b->path, sizeof b->path, "%s", path);
}

/* ---- the file ---- */

static bool is_input(const gra_tensor *x) { return gra_node_number(x) < 0 && !gra_is_param(x); }

static void put_tape(gra_text *o, const gra_listing *l)
{
    struct boxes boxes = { 0 };
    char path[GRA_PATH];
    gra_text_put(o, "digraph tape {\nnode [shape=record, fontname=\"sans-serif\"];\n"
        "graph [fontname=\"sans-serif\", style=rounded, color=gray];\n");
    for (int i = 0; i < l->count; i++)                  /* inputs are outside all boxes */
        if (is_input(l->row[i].x))
            put_tensor(o, l, i);
    for (int i = 0; i < l->count; i++) {
        if (is_input(l->row[i].x))
            continue;
        enter(o, &boxes, gra_listing_path(l, i, path));
        put_tensor(o, l, i);
    }
    enter(o, &boxes, "");
    for (int i = 0; i < l->count; i++)          /* edges last: a box encloses every node named in it */
        if (gra_node_number(l->row[i].x) >= 0)
            put_edges(o, l, l->row[i].x);
    gra_text_put(o, "}\n");
}

int gra_write_dot(const gra_tape *t, const char *path)
{
    gra_listing l;
    gra_text o = { 0 };
    gra_need_tape(t, __func__);
    o.failed = gra_listing_open(&l, t);
    if (!o.failed) {
        put_tape(&o, &l);
        gra_listing_close(&l);
    }
    errno = ENOMEM;
    const int status = o.failed ? -1 : gra_write_file(path, o.s, o.n);
    free(o.s);
    return status;
}
