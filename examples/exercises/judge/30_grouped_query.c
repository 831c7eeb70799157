/* 30 grouped_query: the judge. */
#include "judge.h"
#include <math.h>
#include <string.h>

enum { BATCH = 2, TIME = 3, HEADS = 4, D = 2, DIM = HEADS * D };

/* Attention of heads, by loops; all fields zero: right. */
struct form {
    bool interleaved;                   /* head h uses h mod G */
    bool first_kv;                      /* all heads use head 0 */
    bool no_scale, scale_dim;           /* not divided; divided by sqrt(dim) */
    bool no_mask, mask_self;            /* the future is seen; a position does not see itself */
    bool no_out;                        /* the last Linear left out */
    bool unmerged;                      /* heads are put side by side without bringing time back before them */
    bool key_value;                     /* keys in the place of values */
    bool over_queries;                  /* softmax over the queries */
    bool mask_after;                    /* weights of the future set to 0 after the softmax, not normalised anew */
};

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

static void head(struct form f, const double *q, const double *k, const double *v, int kv_dim, double *y, int step)
{
    double w[TIME][TIME];
    for (int i = 0; i < TIME; i++)
        for (int j = 0; j < TIME; j++) {
            const bool future = f.mask_self ? j >= i && i : j > i;
            const double s = dot(q + i * DIM, k + j * kv_dim, D);
            w[i][j] = exp(f.no_scale ? s : s / sqrt(f.scale_dim ? DIM : D));
            if (future && !f.no_mask && !f.mask_after)
                w[i][j] = 0;
        }
    for (int i = 0; i < TIME; i++)
        for (int c = 0; c < D; c++) {
            double sum = 0;
            for (int j = 0; j < TIME; j++) {
                double all = 0;
                for (int l = 0; l < TIME; l++)
                    all += f.over_queries ? w[l][j] : w[i][l];
                if (!(f.mask_after && j > i))
                    sum += w[i][j] / all * (f.key_value ? k : v)[j * kv_dim + c];
            }
            y[i * step + c] = sum;
        }
}

static double *attention(const gra_model *m, const double *x, int kv, struct form f)
{
    const int kv_dim = kv * D, rows = BATCH * TIME;
    double *q = judge_room(BATCH * TIME * DIM), *k = judge_room(BATCH * TIME * DIM), *v = judge_room(BATCH * TIME * DIM);
    double *heads = judge_room(BATCH * TIME * DIM), *y = judge_room(BATCH * TIME * DIM);
    linear(m, "gqa.query.weight", x, rows, DIM, DIM, q);
    linear(m, "gqa.key.weight", x, rows, DIM, kv_dim, k);
    linear(m, "gqa.value.weight", x, rows, DIM, kv_dim, v);
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++) {
            const int g = f.first_kv ? 0 : f.interleaved ? h % kv : h / (HEADS / kv);
            const int kv_at = b * TIME * kv_dim + g * D, row = b * TIME * DIM;
            head(f, q + row + h * D, k + kv_at, v + kv_at, kv_dim, heads + row + (f.unmerged ? h * TIME * D : h * D),
                 f.unmerged ? D : DIM);
        }
    if (f.no_out)
        return heads;
    linear(m, "gqa.out.weight", heads, rows, DIM, DIM, y);
    return y;
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

#define FORM(...) attention(m, x, kv, (struct form){ __VA_ARGS__ })

static void numbers(const char *part, int kv, uint64_t seed)
{
    gra_rng rng;
    struct grouped_query l = { .heads = 0 };
    const gra_shape shape = GRA_SHAPE(BATCH, TIME, DIM);
    judge_part("%s", part);
    gra_manual_seed(&rng, seed);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, &rng);
    gra_model_keep_going(m, true);
    grouped_query_init(&l, gra_enter(gra_root(m), "gqa"), DIM, HEADS, kv);
    parameters(m, kv);
    const double *x = judge_draw(seed + 10, BATCH * TIME * DIM, -2, 2);
    gra_tensor *y = grouped_query_forward(t, &l, gra_input(t, x, shape));
    const double *got = judge_tensor(t, "y", y, shape);
    judge_numbers("y", shape, got, FORM(.no_scale = false), 1e-9, JUDGE_MISTAKES(
        { "head h takes keys and values h mod G; neighbours share: h / (H / G)", FORM(.interleaved = true) },
        { "all heads take the first head of keys and values", FORM(.first_kv = true) },
        { "the scores are not divided by sqrt(d)", FORM(.no_scale = true) },
        { "the scores are divided by sqrt(dim); d = dim / H is the length of the vectors multiplied", FORM(.scale_dim = true) },
        { "the future is seen: the causal mask is missing", FORM(.no_mask = true) },
        { "a position does not see itself", FORM(.mask_self = true) },
        { "the last Linear, out, is missing", FORM(.no_out = true) },
        { "heads are joined without bringing time back before them", FORM(.unmerged = true) },
        { "the weights multiply the keys; they weigh the values", FORM(.key_value = true) },
        { "softmax runs over the queries; the weights of one query, over its keys, sum to 1", FORM(.over_queries = true) },
        { "the future is cut off after the softmax: the weights that stay do not sum to 1", FORM(.mask_after = true) },
        { "x is handed back as it came", x }));
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
    gra_model_keep_going(m, true);
    grouped_query_init(&l, gra_root(m), 12, 6, 2);
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(1, 4, 12) };
    judge_gradients(GRA_GRAD, NULL, m, 1, &x, f, &l);
}
