/* 30 grouped_query: the judge. In the formula H heads are two dimensions, G groups of H / G neighbours. */
#include "answer.h"

static int rows(const gra_tensor *w, int dim) { return w && gra_dim(w, -1) == dim ? gra_dim(w, 0) : 0; }

static void init(const struct judge_call *c)
{
    struct grouped_query l = { .heads = 0 };
    const int dim = c->size[0], width = dim / c->size[1] * c->size[2];
    const gra_shape all = GRA_SHAPE(dim, dim), shared = GRA_SHAPE(width, dim);
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 4);
    grouped_query_init(&l, gra_enter(gra_root(m), "gqa"), dim, c->size[1], c->size[2]);
    const int key = rows(l.key.weight, dim), value = rows(l.value.weight, dim);
    if (!key || !value || (key == width && value == width))
        judge_params(m, 4, (const struct judge_param[]){ { "gqa.query.weight", all, l.query.weight },
            { "gqa.key.weight", shared, l.key.weight }, { "gqa.value.weight", shared, l.value.weight },
            { "gqa.out.weight", all, l.out.weight } });
    c->out[0][0] = key, c->out[1][0] = value;
    judge_close(t, m);
}

static const struct judge_answer widths = {
    .sizes = { "e dim", "h H", "g G" }, .telling = { 96, 12, 4 }, .call = init, .in = { NULL },
    .out = { "key", "value" }, .lines =
        "d = dim / H\n"
        "key = G * d                                         # the number of rows of key.weight\n"
        "value = G * d                                       # the number of rows of value.weight\n" };

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const int *n = ((const struct judge_call *)arg)->size, G = n[2], H = n[3], d = n[4], dim = n[5];
    const struct grouped_query l = { .heads = H, .kv_heads = G,
        .query = { gra_reshape(t, in[1], GRA_SHAPE(dim, dim)), NULL },
        .key = { gra_reshape(t, in[2], GRA_SHAPE(G * d, dim)), NULL },
        .value = { gra_reshape(t, in[3], GRA_SHAPE(G * d, dim)), NULL },
        .out = { gra_reshape(t, in[4], GRA_SHAPE(dim, dim)), NULL } };
    return grouped_query_forward(t, &l, in[0]);
}

#define MODULO "group * g + r - G * floor((group * g + r) / G)"
static const struct judge_answer answer = {
    .sizes = { "i time", "j time", "g G", "h H", "c d", "e dim", "r group", "b batch" },
    .telling = { 4, 4, 2, 6, 5, 30, 3, 1 }, .f = f, .without = "attention",
    .in = { "x[b,i,e]", "query[g,r,c,e] in -0.5..0.5", "key[g,c,e] in -0.5..0.5", "value[g,c,e] in -0.5..0.5",
            "out[e,g,r,c] in -0.5..0.5" }, .out = { "y[b,i,e]" }, .lines =
        "q[b,i,g,r,c] = sum(e, query[g,r,c,e] * x[b,i,e])    # q\n"
        "k[b,j,g,c] = sum(e, key[g,c,e] * x[b,j,e])          # k\n"
        "v[b,j,g,c] = sum(e, value[g,c,e] * x[b,j,e])        # v\n"
        "q_h[b,g,r,i,c] = q[b,i,g,r,c]                       # q_h\n"
        "k_g[b,g,j,c] = k[b,j,g,c]                           # k_g\n"
        "v_g[b,g,j,c] = v[b,j,g,c]                           # v_g\n"
        "s[b,g,r,i,j] = sum(c, q_h[b,g,r,i,c] * k_g[b,g,j,c]) / sqrt(d)  # the score\n"
        "p[b,g,r,i,j] = [j <= i] * exp(s[b,g,r,i,j])         # e^score\n"
        "a[b,g,r,i,j] = p[b,g,r,i,j] / sum(j, p[b,g,r,i,j])  # the weight\n"
        "head[b,g,r,i,c] = sum(j, a[b,g,r,i,j] * v_g[b,g,j,c])  # a head\n"
        "y[b,i,e] = sum(g, sum(r, sum(c, out[e,g,r,c] * head[b,g,r,i,c])))\n", .special = {
        { "all weights are equal: are the scores 0? In C, 1 / d is 0 for an int d > 1", "s[b,g,r,i,j] = 0" },
        { "softmax runs over the queries: the weights of one query should sum to 1",
          "a[b,g,r,i,j] = p[b,g,r,i,j] / sum(i, p[b,g,r,i,j])" },
        { "head h uses keys and values h mod G: use h / (H / G), which neighbours share",
          "s[b,g,r,i,j] = sum(c, q_h[b,g,r,i,c] * k_g[b," MODULO ",j,c]) / sqrt(d)\n"
          "head[b,g,r,i,c] = sum(j, a[b,g,r,i,j] * v_g[b," MODULO ",j,c])" },
        { "heads are split without a permute: a reshape to (..., heads, time, d) takes rows, not columns",
          "q_h[b,g,r,i,c] = q[b,0,0,0,((g * group + r) * time + i) * d + c]\n"
          "k_g[b,g,j,c] = k[b,0,0,(g * time + j) * d + c]\nv_g[b,g,j,c] = v[b,0,0,(g * time + j) * d + c]" },
        { "query heads are split into (H / G, G), but a group's heads are neighbours: use (G, H / G)",
          "q_h[b,g,r,i,c] = q[b,i,0,r * G + g,c]" },
        { "the heads are joined while time is after them: move time back before the heads first",
          "y[b,i,e] = sum(g, sum(r, sum(c, out[e,g,r,c] * head[b,0,0,0,((i * G + g) * group + r) * d + "
          "c])))" } } };

void judge_exercise(void)
{
    CASES(&widths, CASE("the parameters, for dim 64, 16 heads, 2 of keys and values", { 64, 16, 2 }),
        CASE("the parameters, for dim 12, 2 heads, 1 of keys and values", { 12, 2, 1 }));
    CASES(&answer,
        CASE("dim 12: four heads share two of keys and values", { 4, 4, 2, 4, 3, 12, 2, 2 }),
        CASE("dim 15: three heads, as many of keys and values", { 4, 4, 3, 3, 5, 15, 1, 2 }),
        CASE("dim 12: six heads share one of keys and values", { 3, 3, 1, 6, 2, 12, 6, 2 }));
    judge_end(&answer);
}
