/* 30 grouped_query: the judge. */
#include "matrix.h"

enum { BATCH = 2, TIME = 7, HEADS = 6, D = 5, DIM = HEADS * D, ROWS = BATCH * TIME };

/* (BATCH, heads, TIME, D) of rows (BATCH, TIME, heads D) */
static double *split(const double *rows, int heads, int each, const char *whose)
{
    double *to = judge_room((size_t)(BATCH * heads * TIME * D));
    const bool as_is = slip("heads are split without a permute: a reshape to (..., heads, time, d) takes "
                            "rows, not columns")
        || slip_of("%s heads are split without a permute: a reshape takes rows, not columns", whose);
    const bool d_first =
        slip("columns were split into (d, heads): a head's columns are neighbours, (heads, d)");
    const bool turned = each > 1 && each < heads
        && slip("the queries' heads are split into (H / G, G): a group's heads are neighbours, (G, H / G)");
    const bool d_middle = each > 1
        && slip("the queries' columns are split into (G, d, H / G): expected (G, H / G, d)");
    for (int at = 0; at < BATCH * heads * TIME * D; at++) {
        const int c = at % D, i = at / D % TIME, h = at / D / TIME % heads, b = at / D / TIME / heads;
        const int g = h / each, e = h % each;
        const int column = d_first ? c * heads + h : turned ? (e * (heads / each) + g) * D + c
                         : d_middle ? (g * D + c) * each + e : h * D + c;
        to[at] = rows[as_is ? at : (b * TIME + i) * heads * D + column];
    }
    return to;
}

/* The weights (TIME, TIME) of one head of one text: q and k (TIME, D). kv: G. */
static void weights(const double *q, const double *k, int kv, double *w)
{
    const double root = slip("the scores are not divided by sqrt(d)") ? 1
        : slip("the scores are divided by sqrt(dim): use d = dim / H, the width of a head") ? sqrt(DIM)
        : slip("the scores are divided by d: the root is missing") ? D
        : slip("the scores are divided by sqrt(time): use d, the width of a head") ? sqrt(TIME)
        : slip("the scores are multiplied by sqrt(d): divide") ? 1 / sqrt(D)
        : slip("the scores are divided by sqrt(H), the number of heads: use d, their width") ? sqrt(HEADS)
        : slip("the scores are divided by sqrt(G): use d, the width of a head") ? sqrt(kv)
        : slip("the scores are divided by sqrt(H / G): use d, the width of a head") ? sqrt(HEADS / kv)
        : slip("the scores are divided by sqrt(dim / G): use d = dim / H") ? sqrt(DIM / kv)
        : slip("the scores are multiplied by 0 (in C, 1 / d is 0 for an int d): use 1 / sqrt(d)") ? INFINITY
        : sqrt(D);
    const bool unmasked = slip("the future is visible: the causal mask is missing");
    const bool not_self = slip("a position does not see itself");
    const bool past = slip("the mask hides the past: it must hide the future (keys times queries?)");
    const bool after = slip("the future is masked after the softmax: the remaining weights do not sum to 1");
    const bool late = slip("the mask, -inf, is applied to the weights, after the softmax: mask the scores");
    const bool plain = slip("the softmax is missing: the scores themselves are the weights");
    const bool over_i = slip("softmax runs over the queries: the weights of one query must sum to 1");
    const bool flipped = slip("the weights are transposed: row i is the sum over j of a_ij v_j");
    const bool turned = slip("k q^T is used instead of q k^T");
    double e[TIME * TIME];
    for (int at = 0; at < TIME * TIME; at++) {
        const int i = at / TIME, j = at % TIME;
        const double s = mat_dot(q + (turned ? j : i) * D, k + (turned ? i : j) * D, D) / root;
        const bool hidden = not_self ? j >= i && i : past ? j < i : j > i;
        const bool masked = hidden && !unmasked && !after && !late;
        e[at] = plain ? (masked ? -INFINITY : s) : masked ? 0 : exp(s);
    }
    for (int at = 0; at < TIME * TIME; at++) {
        const int i = at / TIME, j = at % TIME;
        double all = 0;
        for (int l = 0; l < TIME; l++)
            all += over_i ? e[l * TIME + j] : e[i * TIME + l];
        w[flipped ? j * TIME + i : at] = late && j > i ? -INFINITY : after && j > i ? 0
                                       : plain ? e[at] : e[at] / all;
    }
}

struct layer {
    const struct grouped_query *l;
    const double               *x;
    int                         kv;
};

/* x w^T of all rows */
static double *linear(const struct gra_linear *l, const double *x, int out)
{
    return mat_scores(x, l->weight->data, ROWS, out, DIM, 1);
}

static void attention(double *y, void *arg)
{
    const struct layer *of = arg;
    const struct grouped_query *l = of->l;
    const int kv = of->kv, each = HEADS / kv;
    const double *q_rows = linear(&l->query, of->x, DIM), *k_rows = linear(&l->key, of->x, kv * D);
    const double *v_rows = linear(&l->value, of->x, kv * D);
    const bool exchanged = slip("keys and values are exchanged");
    const bool all = kv == HEADS;                       /* then queries and keys are of one shape */
    const bool values = slip("the queries are multiplied by the values: scores need the keys") || exchanged;
    const bool keys = slip("the weights multiply the keys: they should multiply the values") || exchanged;
    const bool queries = slip("the queries are multiplied by queries: scores need the keys");
    const bool twice = all && slip("the keys are multiplied by keys: scores need the queries");
    const bool of_q = slip("the weights multiply the queries: they should multiply the values");
    const bool taken = slip("head h uses keys and values h mod G: neighbours share h / (H / G)");
    const bool first = slip("all heads take the first head of keys and values");
    const bool last = slip("the heads of keys and values are taken in the opposite order");
    const bool unmerged = slip("heads are joined without moving time back before them");
    const bool by_group = slip("the heads are in the wrong order: head h = g (H / G) + e is at e G + g");
    const bool d_first = slip("the heads' columns are joined as (d, heads): a head's are neighbours");
    const bool d_middle = each > 1 && slip("heads are joined as (G, d, H / G): expected (G, H / G, d)");
    const double *q = split(q_rows, HEADS, each, "the queries'");
    const double *k = split(values ? v_rows : k_rows, kv, 1, "keys' and values'");
    const double *v = split(keys ? k_rows : v_rows, kv, 1, "keys' and values'");
    double w[TIME * TIME], joined[ROWS * DIM];
    for (int head = 0; head < BATCH * HEADS; head++) {
        const int b = head / HEADS, h = head % HEADS, to = by_group ? h % each * kv + h / each : h;
        const int g = first ? 0 : taken ? h % kv : last ? kv - 1 - h / each : h / each;
        const int at = (b * kv + g) * TIME * D;
        const double *q_h = q + head * TIME * D;
        weights(twice ? k + at : q_h, queries ? q_h : k + at, kv, w);
        const double *one = mat_product(w, of_q ? q_h : v + at, TIME, TIME, D);
        for (int i = 0; i < TIME * D; i++) {
            const int c = i % D, column = d_first ? c * HEADS + to
                                        : d_middle ? (to / each * D + c) * each + to % each : to * D + c;
            joined[unmerged ? head * TIME * D + i : (b * TIME + i / D) * DIM + column] = one[i];
        }
    }
    const bool out = !slip("the last Linear, out, is missing");
    const struct gra_linear *mix = slip("the last Linear is query instead of out") ? &l->query : &l->out;
    const double *mixed = linear(mix, joined, DIM);
    const bool added = slip("x is added to the result: that is the block's residual, not the layer's");
    const bool same = slip("x is returned unchanged");
    for (int i = 0; i < ROWS * DIM; i++)
        y[i] = same ? of->x[i] : (out ? mixed[i] : joined[i]) + (added ? of->x[i] : 0);
}

/* Position 0 sees only itself: its weight is 1, whatever its score. */
static const char *first_position(const double *got, const double *want)
{
    for (int b = 0; b < BATCH; b++)
        for (int c = 0; c < DIM; c++) {
            const double y = got[b * TIME * DIM + c];
            if (isnan(y))
                return "position 0 has a nan: the mask's -inf is for the scores: softmax makes it 0";
            if (fabs(y - want[b * TIME * DIM + c]) > 1e-9)
                return "position 0 is already wrong: it sees only itself, with weight 1, whatever the "
                       "scores. Look at the softmax, the values, how heads are split and joined, and out";
        }
    return "position 0, which sees only itself, is right: so are values, how heads are joined, and out. Look "
           "at how queries and keys are made and split, at the scores, their mask and softmax";
}

/* Was y made with an op of this name? */
static bool made_by(const gra_tensor *y, const char *name, int depth)
{
    if (!y || !y->op || depth > 40)
        return false;
    for (int i = 0; i < y->nin; i++)
        if (made_by(y->in[i], name, depth + 1))
            return true;
    return !strcmp(y->op->name, name);
}

static void parameters(const gra_model *m, const struct grouped_query *l, int dim, int kv_dim)
{
    judge_params(m, 4, (const struct judge_param[]){
        { "gqa.query.weight", GRA_SHAPE(dim, dim), l->query.weight },
        { "gqa.key.weight", GRA_SHAPE(kv_dim, dim), l->key.weight },
        { "gqa.value.weight", GRA_SHAPE(kv_dim, dim), l->value.weight },
        { "gqa.out.weight", GRA_SHAPE(dim, dim), l->out.weight } });
}

/* The rows of key.weight or value.weight. These sizes differ from one another. */
enum { WIDE = 40, MANY = 8, FEWER = 4 };
static void rows(double *out, void *arg)
{
    const int d = WIDE / MANY;
    (void)arg;
    *out = slip("these are dim / G: expected G d, with d = dim / H") ? WIDE / FEWER
         : slip("these are dim, as query has: expected G d, with d = dim / H") ? WIDE
         : slip("these are d = dim / H, for one head: expected G d") ? d
         : slip("these are G: expected G d, with d = dim / H") ? FEWER
         : slip("these are H: expected G d, with d = dim / H") ? MANY
         : slip("these are dim G: expected G d, with d = dim / H") ? WIDE * FEWER : FEWER * d;
}

static void widths(void)
{
    judge_part("the parameters, for dim 40, eight heads, four of keys and values");
    struct grouped_query l = { .heads = 0 };
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 4);
    grouped_query_init(&l, gra_enter(gra_root(m), "gqa"), WIDE, MANY, FEWER);
    const gra_tensor *of[] = { l.key.weight, l.value.weight };
    for (int k = 0; k < 2; k++)
        if (of[k] && gra_dim(of[k], -1) == WIDE) {
            const double got = gra_dim(of[k], 0);
            judge_against(k ? "rows of value.weight" : "rows of key.weight", GRA_SHAPE(1), &got, 0, rows,
                          NULL);
        }
    parameters(m, &l, WIDE, FEWER * WIDE / MANY);
    judge_close(t, m);
}

static void numbers(const char *part, int kv, uint64_t seed)
{
    struct grouped_query l = { .heads = 0 };
    const gra_shape shape = GRA_SHAPE(BATCH, TIME, DIM);
    judge_part("%s", part);
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, seed);
    grouped_query_init(&l, gra_enter(gra_root(m), "gqa"), DIM, HEADS, kv);
    parameters(m, &l, DIM, kv * D);
    const double *x = judge_draw(seed + 10, ROWS * DIM, -2, 2);
    gra_tensor *y = grouped_query_forward(t, &l, gra_input(t, x, shape));
    if (gra_error(t) && !strncmp(gra_error(t), "slice", 5))
        judge_wrong("y: gradus refused: %s\nis that the right group? Head h uses keys and values h / (H / "
                    "G), rounded down",
                    gra_error(t));
    const double *got = judge_tensor(t, "y", y, shape);
    struct layer right = { &l, x, kv };
    double want[ROWS * DIM];
    attention(want, &right);
    judge_clue("%s", first_position(got, want));
    judge_against("y", shape, got, 1e-9, attention, &right);
    if (made_by(y, "attention", 0))
        judge_wrong("the numbers are right, but gra_attention made them: build it from products and softmax");
    judge_close(t, m);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    return grouped_query_forward(t, arg, in[0]);
}

void judge_exercise(void)
{
    widths();
    numbers("dim 30: six heads share two of keys and values", 2, 2);
    numbers("dim 30: six heads, as many of keys and values", HEADS, 1);
    numbers("dim 30: six heads share one of keys and values", 1, 3);
    judge_part("gradients");
    struct grouped_query l = { .heads = 0 };
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 7);
    grouped_query_init(&l, gra_root(m), 12, 6, 2);
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(1, 4, 12) };
    judge_gradients(GRA_GRAD, NULL, m, 1, &x, f, &l);
}
