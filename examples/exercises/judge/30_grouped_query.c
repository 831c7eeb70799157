/* 30 grouped_query: the judge. */
#include "judge.h"
#include <math.h>
#include <string.h>

enum { BATCH = 2, TIME = 3, HEADS = 4, D = 3, DIM = HEADS * D };

enum slip {
    INTERLEAVED = 1, FIRST_KV, LAST_KV, NO_SCALE, SCALE_DIM, SCALE_D, SCALE_TIME, SCALE_TIMES, SCALE_HEADS, NO_MASK,
    NOT_SELF, MASK_PAST, MASK_AFTER, NO_SOFTMAX, NO_OUT, OUT_QUERY, NO_MERGE, MERGED_BY_GROUP, NO_PERMUTE,
    NO_PERMUTE_Q, NO_PERMUTE_KV, D_BEFORE_HEADS, VALUES_FROM_KEY, KEYS_FROM_VALUE, EXCHANGED,
    KEYS_FROM_QUERY, QUERY_TWICE, OVER_QUERIES, RESIDUAL, AS_IT_CAME
};

static const char *const says[] = { "",
    [INTERLEAVED] = "head h takes keys and values h mod G; neighbours share: h / (H / G)",
    [FIRST_KV] = "all heads take the first head of keys and values",
    [LAST_KV] = "the heads of keys and values are taken in the opposite order",
    [NO_SCALE] = "the scores are not divided by sqrt(d)",
    [SCALE_DIM] = "the scores are divided by sqrt(dim); d = dim / H is the length of the vectors multiplied",
    [SCALE_D] = "the scores are divided by d: the root is missing",
    [SCALE_TIME] = "the scores are divided by sqrt(time); it is d, the last dimension of a head's queries",
    [SCALE_TIMES] = "the scores are multiplied by sqrt(d): they are divided by it",
    [SCALE_HEADS] = "the scores are divided by the root of the number of heads; it is d, a head's width",
    [NO_MASK] = "the future is seen: the causal mask is missing",
    [NOT_SELF] = "a position does not see itself",
    [MASK_PAST] = "the mask is turned round: a position sees the future, not the past (keys times queries?)",
    [MASK_AFTER] = "the future is cut off after the softmax: the weights that stay do not sum to 1",
    [NO_SOFTMAX] = "the softmax is missing: the scores themselves are the weights",
    [NO_OUT] = "the last Linear, out, is missing",
    [OUT_QUERY] = "the last Linear is query, not out",
    [NO_MERGE] = "heads are joined without bringing time back before them",
    [MERGED_BY_GROUP] = "the heads come out in another order: head h = g (H / G) + e stands at e G + g",
    [NO_PERMUTE] = "heads are split without a permute: reshaped to (..., heads, time, d), a head's rows are not "
                   "its columns",
    [NO_PERMUTE_Q] = "the queries' heads are split without a permute: a head's rows are not its columns",
    [NO_PERMUTE_KV] = "keys' and values' heads are split without a permute: a head's rows are not its columns",
    [D_BEFORE_HEADS] = "the columns were split into (d, heads): a head's d columns stand side by side, (heads, d)",
    [VALUES_FROM_KEY] = "the weights multiply the keys; they weigh the values",
    [KEYS_FROM_VALUE] = "the queries are multiplied with the values; scores are made with the keys",
    [EXCHANGED] = "keys and values are exchanged",
    [KEYS_FROM_QUERY] = "the queries are multiplied with queries; scores are made with the keys",
    [QUERY_TWICE] = "the keys are multiplied with keys; scores are made of queries and keys",
    [OVER_QUERIES] = "softmax runs over the queries; the weights of one query, over its keys, sum to 1",
    [RESIDUAL] = "x is added to the result: that is the block's residual, not the layer's",
    [AS_IT_CAME] = "x is handed back as it came", NULL };

#define HAS(s) ((slips >> (s) & 1) != 0)

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* y (rows, out) = x (rows, in) w^T */
static void linear(const gra_model *m, const char *name, const double *x, int rows, int in, int out, double *y)
{
    const gra_tensor *w = gra_param_find(m, name);
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out; o++)
            y[r * out + o] = dot(x + r * in, w->data + o * in, in);
}

/* rows (BATCH, TIME, heads D) -> (BATCH, heads, TIME, D) */
static void split(const double *rows, int heads, bool no_permute, bool d_first, double *to)
{
    for (int at = 0; at < BATCH * heads * TIME * D; at++) {
        const int c = at % D, i = at / D % TIME, h = at / D / TIME % heads, b = at / D / TIME / heads;
        const int column = d_first ? c * heads + h : h * D + c;
        to[at] = rows[no_permute ? at : (b * TIME + i) * heads * D + column];
    }
}

/* One head of one text: q, k, v and y (TIME, D). */
static void head(uint64_t slips, const double *q, const double *k, const double *v, double *y)
{
    const double by = HAS(NO_SCALE) ? 1 : HAS(SCALE_DIM) ? 1 / sqrt(DIM) : HAS(SCALE_D) ? 1.0 / D
                    : HAS(SCALE_TIME) ? 1 / sqrt(TIME) : HAS(SCALE_HEADS) ? 1 / sqrt(HEADS) : HAS(SCALE_TIMES) ? sqrt(D) : 1 / sqrt(D);
    double w[TIME][TIME];
    for (int i = 0; i < TIME; i++)
        for (int j = 0; j < TIME; j++) {
            const bool hidden = HAS(NOT_SELF) ? j >= i && i : HAS(MASK_PAST) ? j < i : j > i;
            const double s = by * dot(q + i * D, k + j * D, D);
            w[i][j] = hidden && !HAS(NO_MASK) && !HAS(MASK_AFTER) ? 0 : HAS(NO_SOFTMAX) ? s : exp(s);
        }
    for (int i = 0; i < TIME; i++)
        for (int c = 0; c < D; c++) {
            y[i * D + c] = 0;
            for (int j = 0; j < TIME; j++) {
                double all = 0;
                for (int l = 0; l < TIME; l++)
                    all += HAS(OVER_QUERIES) ? w[l][j] : w[i][l];
                if (!(HAS(MASK_AFTER) && j > i))
                    y[i * D + c] += w[i][j] / (HAS(NO_SOFTMAX) ? 1 : all) * v[j * D + c];
            }
        }
}

struct layer {
    const gra_model *m;
    const double    *x;
    int              kv;
};

static void attention(uint64_t slips, double *y, void *arg)
{
    enum { ALL = BATCH * TIME * DIM };
    const struct layer *l = arg;
    const int kv = l->kv, rows = BATCH * TIME, each = HEADS / kv;
    const bool no_permute = HAS(NO_PERMUTE) || HAS(NO_PERMUTE_KV);
    double q[ALL], k[ALL], v[ALL], of_q[ALL], of_k[ALL], of_v[ALL], one[TIME * D], joined[ALL];
    linear(l->m, "gqa.query.weight", l->x, rows, DIM, DIM, q);
    linear(l->m, "gqa.key.weight", l->x, rows, DIM, kv * D, k);
    linear(l->m, "gqa.value.weight", l->x, rows, DIM, kv * D, v);
    split(q, HEADS, HAS(NO_PERMUTE) || HAS(NO_PERMUTE_Q), HAS(D_BEFORE_HEADS), of_q);
    split(HAS(KEYS_FROM_VALUE) || HAS(EXCHANGED) ? v : HAS(KEYS_FROM_QUERY) && kv == HEADS ? q : k, kv,
          no_permute, HAS(D_BEFORE_HEADS), of_k);
    split(HAS(VALUES_FROM_KEY) || HAS(EXCHANGED) ? k : v, kv, no_permute, HAS(D_BEFORE_HEADS), of_v);
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++) {
            const int g = HAS(FIRST_KV) ? 0 : HAS(INTERLEAVED) ? h % kv : HAS(LAST_KV) ? kv - 1 - h / each : h / each;
            const int at_q = (b * HEADS + h) * TIME * D, at_kv = (b * kv + g) * TIME * D;
            const int to = HAS(MERGED_BY_GROUP) ? h % each * kv + h / each : h;
            head(slips, (HAS(QUERY_TWICE) && kv == HEADS ? of_k : of_q) + at_q, of_k + at_kv, of_v + at_kv, one);
            for (int i = 0; i < TIME; i++)
                for (int c = 0; c < D; c++)
                    joined[HAS(NO_MERGE) ? at_q + i * D + c : (b * TIME + i) * DIM + to * D + c] = one[i * D + c];
        }
    if (HAS(NO_OUT))
        memcpy(y, joined, sizeof joined);
    else
        linear(l->m, HAS(OUT_QUERY) ? "gqa.query.weight" : "gqa.out.weight", joined, rows, DIM, DIM, y);
    for (int i = 0; i < ALL && HAS(RESIDUAL); i++)
        y[i] += l->x[i];
    if (HAS(AS_IT_CAME))
        memcpy(y, l->x, sizeof joined);
}

/* Position 0 sees itself alone: its weight is 1, whatever its score. */
static const char *first_position(const double *got, const double *want)
{
    for (int b = 0; b < BATCH; b++)
        for (int c = 0; c < DIM; c++) {
            const double y = got[b * TIME * DIM + c];
            if (isnan(y))
                return "position 0 has a nan: is the softmax missing (the mask is -inf), or the mask put on weights? The "
                       "mask is for the scores, before the softmax";
            if (fabs(y - want[b * TIME * DIM + c]) > 1e-9)
                return "position 0 is wrong already, which sees itself alone, so that scores do not matter there: look "
                       "at the values, how heads are split and joined, and out";
        }
    return "position 0 is right, which sees itself alone: values, out, splitting and joining are right. Look at "
           "the scores, their mask and softmax";
}

static void parameters(const gra_model *m, int kv)
{
    static const char *const name[4] = { "gqa.query.weight", "gqa.key.weight", "gqa.value.weight", "gqa.out.weight" };
    if (gra_model_error(m))
        judge_wrong("init: gradus refused: %s", gra_model_error(m));
    for (int i = 0; i < gra_param_count(m) || i < 4; i++) {
        const gra_tensor *p = gra_param_at(m, i);
        const gra_shape want = i == 1 || i == 2 ? GRA_SHAPE(kv * D, DIM) : GRA_SHAPE(DIM, DIM);
        char shape[GRA_SHAPE_TEXT], wanted[GRA_SHAPE_TEXT];
        if (i > 3)
            judge_wrong("init makes the parameter %s, which is not asked for", p->name);
        if (!p)
            judge_wrong("init does not make the parameter %s", name[i] + 4);
        if (strcmp(p->name, name[i]))
            judge_wrong("init's parameter %d is %s, wanted %s (query, key, value, out, in this order)", i, p->name, name[i]);
        if (!gra_same_shape(p->shape, want))
            judge_wrong("%s is %s, wanted %s for dim %d, %d heads and %d heads of keys and values", name[i] + 4,
                        gra_shape_text(p->shape, shape), gra_shape_text(want, wanted), DIM, HEADS, kv);
    }
}

/* Whether y was made with an op of this name. */
static bool made_by(const gra_tensor *y, const char *name, int depth)
{
    if (!y || !y->op || depth > 40)
        return false;
    for (int i = 0; i < y->nin; i++)
        if (made_by(y->in[i], name, depth + 1))
            return true;
    return !strcmp(y->op->name, name);
}

static void numbers(const char *part, int kv, uint64_t seed)
{
    gra_rng rng;
    struct grouped_query l = { .heads = 0 };
    const gra_shape shape = GRA_SHAPE(BATCH, TIME, DIM);
    judge_part("%s", part);
    gra_manual_seed(&rng, seed);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, &rng);
    grouped_query_init(&l, gra_enter(gra_root(m), "gqa"), DIM, HEADS, kv);
    parameters(m, kv);
    const double *x = judge_draw(seed + 10, BATCH * TIME * DIM, -2, 2);
    gra_tensor *y = grouped_query_forward(t, &l, gra_input(t, x, shape));
    const double *got = judge_tensor(t, "y", y, shape);
    struct layer right = { m, x, kv };
    double want[BATCH * TIME * DIM];
    attention(0, want, &right);
    judge_slips("y", shape, got, 1e-9, says, attention, &right, first_position(got, want));
    if (made_by(y, "attention", 0))
        judge_wrong("the numbers are right, but gra_attention made them: build it from products and softmax");
    gra_model_close(m);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    return grouped_query_forward(t, arg, in[0]);
}

void judge_exercise(void)
{
    numbers("as many heads of keys and values as of queries", HEADS, 1);
    numbers("four heads share two", 2, 2);
    numbers("four heads share one", 1, 3);
    judge_part("gradients");
    gra_rng rng;
    struct grouped_query l = { .heads = 0 };
    gra_manual_seed(&rng, 7);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, &rng);
    grouped_query_init(&l, gra_root(m), 12, 6, 2);
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(1, 4, 12) };
    judge_gradients(GRA_GRAD, NULL, m, 1, &x, f, &l);
}
