/* heatmap: P = softmax(q k^T / sqrt(d)) of each layer and head, as the model computed it for these tokens.
 *
 * A recorded step keeps its attention ops, and each keeps its weights (gra_keep_attention): the way back
 * from the logits, record by record, passes the last layer first.
 *
 * gnuplot draws the picture. All that it learns of the tokens is their numbers, so that no text of the user's can
 * become a command. */
#include "heatmap.h"
#include "../../core/op.h"
#include "files.h"
#include "gnuplot.h"
#include "say.h"
#include <errno.h>
#include <stdlib.h>

typedef struct weights {
    int                layers, heads, n;
    const gra_real   **layer;           /* of each layer (heads, n, n): query, key */
    const unsigned char *token;         /* n bytes */
} weights;

static gra_real weight(const weights *w, int layer, int head, int query, int key)
{
    return w->layer[layer][((size_t)head * (size_t)w->n + (size_t)query) * (size_t)w->n + (size_t)key];
}

/* ---- the weights ----------------------------------------------------------------------------------- */

static int look(weights *w, gra_tape *t, const struct gra_gpt *gpt, const int *ids)
{
    gra_keep_attention(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *logits = gra_gpt_forward(t, gpt, ids, 1, w->n);
    gra_keep_attention(t, false);
    if (gra_error(t)) {
        complain("%s", gra_error(t));
        return -1;
    }
    int layer = w->layers;
    for (gra_tensor *y = logits; y && layer > 0; y = y->prev)
        if (strcmp(y->op->name, "attention") == 0)
            w->layer[--layer] = gra_attention_weights(y)->data;
    return 0;
}

/* ---- as numbers ------------------------------------------------------------------------------------ */

static void write_row(FILE *f, const weights *w, int layer, int head, int query)
{
    char from[8], to[8];
    byte_text(w->token[query], from);
    for (int key = 0; key < w->n; key++) {
        byte_text(w->token[key], to);
        fprintf(f, "%d\t%d\t%d\t%s\t%d\t%s\t%.9g\n", layer + 1, head + 1, query + 1, from, key + 1, to,
                (double)weight(w, layer, head, query, key));
    }
}

static int write_numbers(const char *path, const weights *w)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f;
    do
        f = open_memstream(&text, &size);
    while (!f && errno == EINTR);
    if (f)
        fprintf(f, "layer\thead\tquery_position\tquery_token\tkey_position\tkey_token\tweight\n");
    for (int layer = 0; f && layer < w->layers; layer++)
        for (int head = 0; head < w->heads; head++)
            for (int query = 0; query < w->n; query++)
                write_row(f, w, layer, head, query);
    int failed = !f || ferror(f);
    failed = (f && fclose(f)) || failed;
    if (failed)
        complain("cannot write %s: out of memory", path);
    failed = failed || file_write(path, text, size);
    free(text);
    return failed ? -1 : 0;
}

/* ---- as a picture ---------------------------------------------------------------------------------- */

/* Lengths are pixels, (0, 0) is below on the left. Where a cell is too small for its token's name there stand
 * positions, some of them. */
static const char page[] =
    "cell = n > 40 ? 12 : n > 20 ? 14 : 20\n"
    "side = cell * n\n"
    "most = 6000 / (layers > heads ? layers : heads)\n"
    "if (side > 800) side = 800\n"
    "if (side > most) side = most\n"
    "if (side < 150) side = 150\n"
    "if (side > n) side = side / n * n\n"
    "cell = side / real(n)\n"
    "\n"
    "$tokens << END\n";                 /* lines: position, byte */

static const char style[] =
    "END\n"
    "hex(b) = b != 9 && b != 10 && (b < 32 || b > 126)\n"
    "name(b) = b == 9 ? '→' : b == 10 ? '↵' : b == 32 ? '·' : \\\n"
    "    hex(b) ? sprintf('\\x%02X', b) : sprintf('%c', b)\n"
    "each = cell >= 10 ? 1 : 10 * ceil(3.6 / cell)\n"
    "label(i, b) = each == 1 ? name(b) : sprintf('%d', i)\n"
    "stats $tokens using (hex($2)) nooutput\n"
    "wide = each == 1 && STATS_max > 0\n"
    "\n"
    "across = side + 60\n"
    "down = side + (wide ? 90 : 70)\n"
    "width = across * heads + 110\n"
    "height = down * layers + 90\n"
    "if (width < 700) width = 700\n"
    "if (vector) \\\n"
    "    set terminal svg noenhanced size width,height font 'monospace,13' background '#ffffff'; \\\n"
    "else if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) \\\n"
    "    set terminal pngcairo noenhanced size width,height font 'monospace,10'; \\\n"
    "else \\\n"
    "    set terminal png noenhanced size width,height\n"
    "set encoding utf8\n"
    "x(at) = at / real(width)\n"
    "y(at) = at / real(height)\n"
    "\n"
    "set palette defined (0 '#fdf6e3', 0.05 '#fde3b0', 0.15 '#fdbf6f', 0.3 '#f58a3c', 0.5 '#d94e3a', \\\n"
    "    0.75 '#8c2362', 1 '#2d0a45')\n"
    "set cbrange [0:1]\n"
    "set cbtics 0.2 scale 0.5 tc rgb '#202020'\n"
    "set colorbox user origin x(width - 70),y(height - 80 - side) size x(14),y(side)\n"
    "set xrange [0.5:n + 0.5]\n"
    "set yrange [n + 0.5:0.5]\n"
    "set border lw 0.8 lc rgb '#808080'\n"
    "set xtics nomirror scale 0 offset 0,0.4 tc rgb '#202020'\n"
    "if (wide) set xtics rotate by 90 right offset 0,0\n"
    "set ytics nomirror scale 0 offset 0.7,0 tc rgb '#202020'\n"
    "unset key\n"
    "set style fill solid 1 noborder\n"
    "if (cell >= 10) set style fill solid 1 border rgb '#ffffff'\n"
    "set multiplot\n"
    "set label 'Attention weights: which tokens (columns) each token (row) looks at' \\\n"
    "    at screen 0.5, screen y(height - 24) center font ',12'\n";

static const char panel[] =
    "left = 70 + across * (head - 1)\n"
    "top = height - 80 - down * (layer - 1)\n"
    "set lmargin at screen x(left)\n"
    "set rmargin at screen x(left + side)\n"
    "set tmargin at screen y(top)\n"
    "set bmargin at screen y(top - side)\n"
    "set title sprintf('layer %d, head %d', layer, head) offset 0,-0.5\n"
    "if (head == 1) set label 'query' \\\n"
    "    at screen x(left - 46), screen y(top - side / 2) rotate center\n"
    "if (layer == layers) set label 'key' \\\n"
    "    at screen x(left + side / 2), screen y(top - side - down + side + 32) center\n"
    "plot '-' using 1:2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):3 with boxxyerror lw 0.5 lc palette, \\\n"
    "     $tokens every each::(each - 1) using 1:1:xtic(label($1, $2)):ytic(label($1, $2)) \\\n"
    "     with dots lc rgb '#ff000000'\n";

/* A line for each cell: key, query, weight. Nothing is drawn where a token would see what comes later. */
static void write_panel(FILE *f, const weights *w, int layer, int head)
{
    fprintf(f, "layer = %d; head = %d\n%s", layer + 1, head + 1, panel);
    for (int query = 0; query < w->n; query++)
        for (int key = 0; key <= query; key++)
            fprintf(f, "%d %d %.9g\n", key + 1, query + 1, (double)weight(w, layer, head, query, key));
    fprintf(f, "e\nunset colorbox; unset label\n");         /* one colour box and one heading serve all */
}

static void write_script(FILE *f, const weights *w, bool vector)
{
    fprintf(f, "reset\nlayers = %d; heads = %d; n = %d; vector = %d\n", w->layers, w->heads, w->n, vector);
    fprintf(f, "%s", page);
    for (int i = 0; i < w->n; i++)
        fprintf(f, "%d %d\n", i + 1, w->token[i]);
    fprintf(f, "%s", style);
    for (int layer = 0; layer < w->layers; layer++)
        for (int head = 0; head < w->heads; head++)
            write_panel(f, w, layer, head);
    fprintf(f, "unset multiplot\n");
}

static const char *draw(gnuplot *g, const char *path, const weights *w)
{
    const double cells = (double)w->layers * w->heads * w->n * w->n;
    const char *why = gnuplot_open(g);
    if (why)
        return why;
    write_script(g->script, w, file_ends_in(path, ".svg"));
    why = gnuplot_start(g, NULL);
    if (why == gnuplot_missing)
        return "there is no gnuplot: install it (make deps), or give a name in .tsv";
    if (!why && gnuplot_draws(g, 10 + cells / 50000))
        return "gnuplot did not finish in time";
    return why ? why : gnuplot_keep(g, path, false);
}

static int write_picture(const char *path, const weights *w)
{
    const double cells = (double)w->layers * w->heads * w->n * w->n;
    if (cells > 4e6) {
        complain("cannot draw %s: %d layers x %d heads x %d x %d tokens are too many for a picture: "
                 "give a shorter --prompt, or a name in .tsv", path, w->layers, w->heads, w->n, w->n);
        return -1;
    }
    gnuplot g = { 0 };
    const char *why = draw(&g, path, w);
    if (why && *why)
        complain("cannot draw %s: %s", path, why);
    gnuplot_close(&g);
    return why ? -1 : 0;
}

/* ---- the one and the other ------------------------------------------------------------------------- */

bool heatmap_knows(const char *path)
{
    if (file_ends_in(path, ".png") || file_ends_in(path, ".svg") || file_ends_in(path, ".tsv"))
        return true;
    complain("--attention wants a name that ends in .png or .svg, for a picture, or in .tsv, for the "
             "numbers, not '%s'", path);
    return false;
}

int heatmap_write(const char *path, gra_tape *t, const struct gra_gpt *gpt, const vocabulary *v, const int *ids,
                  int n)
{
    const int layers = gpt->config.n_layers;
    const gra_real **layer = malloc((size_t)layers * sizeof *layer);
    unsigned char *token = malloc((size_t)n);
    weights w = { .layers = layers, .heads = gpt->config.n_heads, .n = n, .layer = layer, .token = token };
    int failed = !layer || !token;
    if (failed)
        complain("out of memory");
    for (int i = 0; !failed && i < n; i++)
        token[i] = v->byte[ids[i]];
    failed = failed || look(&w, t, gpt, ids) ||
             (file_ends_in(path, ".tsv") ? write_numbers(path, &w)
                                    : write_picture(path, &w));
    free(layer);
    free(token);
    return failed ? -1 : 0;
}
