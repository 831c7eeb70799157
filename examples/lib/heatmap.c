/* heatmap: P = softmax(q k^T / sqrt(d)) of each layer and head, as the model computed it for these tokens.
 *
 * A recorded step keeps its attention ops, and each keeps its weights (gra_keep_attention). Going back from
 * the logits, node by node, the last layer comes first.
 *
 * gnuplot draws the picture. It is given the tokens' names as numbers, so no text of the user can be taken
 * for a command. */
#include "heatmap.h"
#include "../../core/op.h"
#include "files.h"
#include "gnuplot.h"
#include "message.h"
#include <stdlib.h>

typedef struct weights {
    int               layers, heads, n;
    const gra_real  **layer;            /* for each layer (heads, n, n): head, query, key */
    const tokenizer  *tokens;
    const int        *ids;              /* n tokens */
} weights;

/* ---- the weights ----------------------------------------------------------------------------------- */

static int look(weights *w, gra_tape *t, const struct gra_gpt *gpt)
{
    gra_keep_attention(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *logits = gra_gpt_forward(t, gpt, w->ids, 1, w->n);
    gra_keep_attention(t, false);
    if (gra_error(t))
        return warn("%s", gra_error(t));
    int layer = w->layers;
    for (gra_tensor *y = logits; y && layer > 0; y = y->prev)
        if (strcmp(y->op->name, "attention") == 0)
            w->layer[--layer] = gra_attention_weights(y)->data;
    return 0;
}

/* ---- the picture ------------------------------------------------------------------------------------ */

/* Defined before it: n, layers, heads; vector: write SVG; panel: the side of a panel in pixels; every: 1 if
 * each token has room for its name, else every such position has a number; $tokens: a line for each, its
 * position, 1 if its name is wide, and the bytes of the name, 100 more than each, in three digits. */
static const char style[] =
    "name(s) = strlen(s) < 3 ? '' : sprintf('%c', int(s[1:3]) - 100) . name(s[4:*])\n"
    "label(i, s) = every == 1 ? name(s) : sprintf('%d', i)\n"
    "stats $tokens using 2 nooutput\n"
    "wide = STATS_max > 0\n"
    "width = panel * heads + 20\n"
    "height = panel * layers + 40\n"
    "if (width < 700) width = 700\n"
    "if (vector) \\\n"
    "    set terminal svg noenhanced size width,height font 'monospace,13' background '#ffffff'; \\\n"
    "else if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) \\\n"
    "    set terminal pngcairo noenhanced size width,height font 'monospace,10'; \\\n"
    "else \\\n"
    "    set terminal png noenhanced size width,height\n"
    "set encoding utf8\n"
    "set palette defined (0 '#fdf6e3', 0.05 '#fde3b0', 0.15 '#fdbf6f', 0.3 '#f58a3c', 0.5 '#d94e3a', \\\n"
    "    0.75 '#8c2362', 1 '#2d0a45')\n"
    "set cbrange [0:1]\n"
    "unset colorbox\n"
    "set size square\n"
    "set xrange [0.5:n + 0.5]\n"
    "set yrange [n + 0.5:0.5]\n"
    "set border lw 0.8 lc rgb '#808080'\n"
    "set xtics nomirror scale 0\n"
    "if (every > 1 || wide) set xtics rotate by 90 right\n"
    "set ytics nomirror scale 0\n"
    "set xlabel 'key'\n"
    "set ylabel 'query'\n"
    "unset key\n"
    "set style fill solid 1 noborder\n"
    "set multiplot layout layers,heads \\\n"
    "    title 'Attention weights, from 0 (light) to 1 (dark): what each token (row) attends to (columns)'\n";

static const char plot[] =
    "plot '-' using 1:2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):3 with boxxyerror lw 0.5 lc palette, \\\n"
    "     $tokens every every::(every - 1) \\\n"
    "     using 1:1:xtic(label($1, strcol(3))):ytic(label($1, strcol(3))) with dots lc rgb '#ff000000'\n";

/* A line for each cell: key, query, weight; none for the keys that the causal mask hides. */
static void write_panel(FILE *f, const weights *w, int layer, int head)
{
    const size_t n = (size_t)w->n;
    const gra_real *row = w->layer[layer] + (size_t)head * n * n;
    fprintf(f, "set title 'layer %d, head %d'\n%s", layer + 1, head + 1, plot);
    for (size_t query = 0; query < n; query++, row += n)
        for (size_t key = 0; key <= query; key++)
            fprintf(f, "%zu %zu %.9g\n", key + 1, query + 1, (double)row[key]);
    fprintf(f, "e\n");
}

static void write_name(FILE *f, const tokenizer *k, int position, int id)
{
    char name[TOKENIZER_NAME];
    size_t n = 0;
    tokenizer_name(k, id, name);
    for (const char *s = name; *s; s++)
        n += (*s & 0xC0) != 0x80;
    fprintf(f, "%d %d ", position, n > 1);
    for (const char *s = name; *s; s++)
        fprintf(f, "%d", 100 + (unsigned char)*s);
    fprintf(f, "\n");
}

static void write_script(FILE *f, const weights *w, bool vector)
{
    const int panels = w->layers > w->heads ? w->layers : w->heads,
        most = 6000 / panels < 900 ? 6000 / panels : 900;
    const int best = 100 + (w->n > 20 ? 14 : 20) * w->n, fits = best < most ? best : most;
    /* 100 pixels of the width and height are for titles and labels */
    const int panel = fits < 250 ? 250 : fits, side = panel - 100;
    const int every = w->n <= side / 10 ? 1 : 10 * (1 + w->n * 36 / (10 * side));
    fprintf(f, "reset\nlayers = %d; heads = %d; n = %d; vector = %d; panel = %d; every = %d\n$tokens << "
            "END\n", w->layers, w->heads, w->n, vector, panel, every);
    for (int i = 0; i < w->n; i++)
        write_name(f, w->tokens, i + 1, w->ids[i]);
    fprintf(f, "END\n%s", style);
    for (int layer = 0; layer < w->layers; layer++)
        for (int head = 0; head < w->heads; head++)
            write_panel(f, w, layer, head);
    fprintf(f, "unset multiplot\n");
}

static int write_picture(const char *path, const weights *w)
{
    if ((double)w->layers * w->heads * w->n * w->n > 2e6)
        return warn("cannot draw %s: %d layers x %d heads x %d x %d tokens are too many for a picture: "
                    "give a shorter --prompt", path, w->layers, w->heads, w->n, w->n);
    FILE *f = tmpfile();
    if (f)
        write_script(f, w, file_ends_in(path, ".svg"));
    const char *why = gnuplot_draw(f, NULL, path);
    return why ? warn("cannot draw %s: %s", path, why) : 0;
}

int heatmap_write(const char *path, gra_tape *t, const struct gra_gpt *gpt, const tokenizer *k,
                  const int *ids, int n)
{
    const int layers = gpt->config.n_layers;
    const gra_real **layer = malloc((size_t)layers * sizeof *layer);
    weights w = { .layers = layers, .heads = gpt->config.n_heads, .n = n, .layer = layer, .tokens = k,
                  .ids = ids };
    if (!layer)
        return warn("out of memory");
    const int failed = look(&w, t, gpt) || write_picture(path, &w);
    free(layer);
    return failed ? -1 : 0;
}
