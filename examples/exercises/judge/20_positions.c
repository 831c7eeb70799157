/* 20 positions: the judge. */
#include "matrix.h"

enum { SEED = 5 };

struct sizes {
    int batch, time, dim, context, first;
};

/* A model with the answer's layer in the scope "pos", its generator seeded with SEED; judged. */
static gra_model *opened(gra_tape **t, struct positions *p, struct sizes s)
{
    gra_model *m = judge_open(t, GRA_GRAD, SEED);
    p->weight = NULL;
    positions_init(p, gra_enter(gra_root(m), "pos"), s.context, s.dim);
    return m;
}

/* The initial values of a weight (context, dim). */
struct drawn {
    gra_rng rng;
    int     context, dim;
    double  scale;                          /* the answer's numbers over those of N(0, 1) */
};

static void begun(double *out, void *arg)
{
    const struct drawn *a = arg;
    gra_rng rng = a->rng;
    const size_t n = (size_t)(a->context * a->dim);
    const double width = 1 / sqrt(a->dim);
    const bool scaled = isfinite(a->scale) && fabs(a->scale - 1) > 1e-9;
    const double scale = slip("all its numbers are 0 at first: use gra_init_normal(0, 1)") ? 0
        : slip("its standard deviation is 1 / sqrt(dim): use gra_init_normal(0, 1)") ? width
        : scaled && slip_of("its standard deviation is %.6g: use gra_init_normal(0, 1)", a->scale) ? a->scale
        : 1;
    if (slip("it is initialised uniformly: use gra_init_normal(0, 1)"))
        gra_uniform(&rng, out, n, 0, 1);
    else if (slip("it is initialised as the weight of a Linear: use gra_init_normal(0, 1)"))
        gra_uniform(&rng, out, n, -width, width);
    else
        gra_randn(&rng, out, n);
    for (size_t i = 0; i < n; i++)
        out[i] *= scale;
}

static void made(struct sizes s)
{
    gra_tape *t;
    struct positions p;
    struct drawn drawn = { .context = s.context, .dim = s.dim };
    double *normal = judge_room((size_t)(s.context * s.dim));
    const gra_shape shape = GRA_SHAPE(s.context, s.dim);
    judge_part("init: a parameter \"weight\", for context_length = %d and dim = %d", s.context, s.dim);
    gra_model *m = opened(&t, &p, s);
    judge_params(m, 1, &(struct judge_param){ "pos.weight", shape, p.weight });
    if (!p.weight)
        judge_wrong("p->weight does not point to the parameter that gra_param made");
    judge_clue("it is not initialised by gra_init_normal(0, 1)");
    gra_manual_seed(&drawn.rng, SEED);
    drawn.scale = 1;
    begun(normal, &drawn);
    drawn.scale = p.weight->data[0] / normal[0];
    judge_against("weight", shape, p.weight->data, 1e-6, begun, &drawn);
    judge_close(t, m);
}

struct asked {
    const double *x, *weight;
    struct sizes  s;
    bool          batch_rows;               /* as many rows are sliced as there are texts */
};

static void added(double *out, void *arg)
{
    const struct asked *a = arg;
    const struct sizes s = a->s;
    const bool same = slip("x is returned unchanged");
    const double root = slip("x was multiplied by sqrt(dim) first: not in this model") ? sqrt(s.dim) : 1;
    for (int at = 0; at < s.batch * s.time * s.dim; at++) {
        const int b = at / s.dim / s.time, i = at / s.dim % s.time, c = at % s.dim, f = s.first;
        const int row =
              slip(a->batch_rows ? "as many rows were sliced as there are texts: `time` is gra_dim(x, 1)"
                   : "every token got the same position's vector: each has its own. Are `time` rows sliced?")
            ? f
            : slip("the vectors begin at position 0, but `first` tokens came before") ? i
            : !a->batch_rows
              && slip("the vector was chosen by the text in the batch: choose it by the position") ? f + b
            : slip("positions continue from text to text: each text begins at `first`") ? f + b * s.time + i
            : slip("each token got the vector of the position after its own") ? f + i + 1
            : slip("each token got the vector of the position before its own") ? f + i - 1
            : slip("every token got the vector of the last position: each has its own") ? f + s.time - 1
            : slip("the positions are in reverse order") ? f + s.time - 1 - i
            : slip("these are the vectors of the last positions: begin at `first`") ? i - s.time : f + i;
        const double *column = a->weight + c, x = root * a->x[at];
        double w = column[(row + s.context) % s.context * s.dim], mean = 0;
        const bool sum = slip("all positions got the sum of their vectors: each has its own");
        for (int k = 0; k < s.time; k++)
            mean += column[(f + k) * s.dim] / s.time;
        w = slip("all positions got the mean of their vectors: each has its own") ? mean
          : sum ? s.time * mean : w;
        out[at] = same ? x : slip("x was multiplied by the vectors: add them") ? x * w
                : slip("these are only the vectors, without x") ? w
                : slip("the vectors were subtracted") ? x - w
                : slip("the vectors were added twice") ? x + 2 * w : x + w;
    }
}

/* With two texts, as many rows as texts cannot be added to four tokens. */
static bool refused(struct sizes s)
{
    gra_tape *t;
    struct positions p;
    gra_model *m = opened(&t, &p, s);
    gra_tensor *x = gra_zeros(t, GRA_SHAPE(s.batch, s.time, s.dim));
    const bool error = (positions_forward(t, &p, x, s.first), gra_error(t) != NULL);
    judge_close(t, m);
    return error;
}

static void forward(const char *part, struct sizes s)
{
    const int n = s.batch * s.time * s.dim;
    const double *x = judge_draw(7, (size_t)n, -2, 2);
    const gra_shape shape = GRA_SHAPE(s.batch, s.time, s.dim);
    gra_tape *t;
    struct positions p;
    judge_part("forward: %s", part);
    gra_model *m = opened(&t, &p, s);
    const double *w = mat_scaled(p.weight->data, 1, s.context * s.dim);
    gra_tensor *in = gra_input(t, x, shape), *y = positions_forward(t, &p, in, s.first);
    if (gra_error(t) && s.first + s.time == s.context)
        judge_wrong("x has %d tokens, first is %d, and there are %d positions: the text still fits, but the "
                    "tape has an error:\n%s\nIt is too long only where first + time > context_length",
                    s.time, s.first, s.context, gra_error(t));
    if (gra_error(t) && s.first > 0)
        judge_wrong("with first = 0 all was right; with first = %d, and %d tokens in x, gradus "
                    "refused:\n%s\nWhich rows of weight are needed? The end of a slice is an index, not a "
                    "count", s.first, s.time, gra_error(t));
    const double *got = judge_tensor(t, "y", y, shape);
    double factor, *want = judge_room((size_t)n);
    const bool batch_rows = s.batch == 1 && refused((struct sizes){ 2, s.time, s.dim, s.context, s.first });
    struct asked asked = { x, w, s, batch_rows };
    judge_unchanged("x", in->data, x, (size_t)n);
    judge_unchanged("weight", p.weight->data, w, (size_t)(s.context * s.dim));
    added(want, &asked);
    if (mat_times(got, x, mat_sum(want, mat_scaled(x, -1, n), n), n, &factor))
        judge_clue("the vectors were added %.6g times: expected once", factor);
    judge_against("y", shape, got, 1e-12, added, &asked);
    if (gra_backward(t, gra_sum(t, y)))
        judge_wrong("backward: gradus refused: %s", gra_error(t));
    if (!p.weight->grad)
        judge_wrong("y is right, but weight has no gradient: is it frozen (gra_freeze)?");
    if (p.weight->grad[s.first * s.dim] == 0)
        judge_wrong("y is right, but no gradient reaches weight, so it would never learn: its values were "
                    "copied, or taken by gra_detach. Give p->weight itself to an op");
    judge_close(t, m);
}

static void too_long(struct sizes s)
{
    gra_tape *t;
    struct positions p;
    judge_part("forward: %d tokens after %d, but only %d positions: an error", s.time, s.first, s.context);
    gra_model *m = opened(&t, &p, s);
    const size_t n = (size_t)(s.batch * s.time * s.dim);
    const double *x = judge_draw(8, n, -2, 2);
    gra_tensor *y = positions_forward(t, &p, gra_input(t, x, GRA_SHAPE(s.batch, s.time, s.dim)), s.first);
    if (!gra_error(t))
        judge_wrong("x has %d tokens and first is %d, so the rows %d to %d of weight are needed, but it has "
                    "only %d rows\nThe tape has no error: %s. Ask gra_slice for exactly the rows that are "
                    "needed: it refuses if some do not exist", s.time, s.first, s.first, s.first + s.time - 1,
                    s.context, !y ? "only NULL was returned"
                    : y->size == n && memcmp(y->data, x, n * sizeof *x) == 0 ? "only x was returned"
                    : "other numbers were used for the missing ones");
    judge_close(t, m);
}

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *p)
{
    return positions_forward(t, p, in[0], 1);
}

void judge_exercise(void)
{
    const struct sizes s = { 2, 3, 2, 5, 1 };
    struct positions p;
    made((struct sizes){ .dim = 4, .context = 7 });
    made((struct sizes){ .dim = 3, .context = 1 });
    forward("one text of four tokens", (struct sizes){ 1, 4, 3, 6, 0 });
    forward("two texts", (struct sizes){ 2, 3, 4, 7, 0 });
    forward("a piece that begins at position 2", (struct sizes){ 3, 2, 5, 8, 2 });
    forward("a piece that begins at position 1", (struct sizes){ 1, 3, 2, 5, 1 });
    forward("as many tokens as positions", (struct sizes){ 2, 4, 1, 4, 0 });
    forward("one token at the last position", (struct sizes){ 2, 1, 3, 5, 4 });
    too_long((struct sizes){ 1, 5, 2, 4, 0 });
    too_long((struct sizes){ 1, 2, 3, 6, 5 });
    judge_part("the gradients of x and weight");
    gra_tape *t;
    gra_model *m = opened(&t, &p, s);
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3, 2) };
    judge_gradients(GRA_GRAD, NULL, m, 1, &x, checked, &p);
    judge_close(t, m);
}
