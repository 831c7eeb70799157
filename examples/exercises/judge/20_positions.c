/* 20 positions: the judge. */
#include "matrix.h"

enum { SEED = 5 };

struct sizes {
    int batch, time, dim, context, first;
};

/* A model with the answer's layer in the scope "pos", its generator seeded with SEED; looked at. */
static gra_model *opened(gra_tape *t, struct positions *p, struct sizes s)
{
    static gra_rng rng;
    gra_manual_seed(&rng, SEED);
    gra_model *m = gra_model_open(t, &rng);
    if (!m)
        judge_wrong("the judge is out of memory");
    p->weight = NULL;
    positions_init(p, gra_enter(gra_root(m), "pos"), s.context, s.dim);
    if (gra_model_error(m))
        judge_wrong("positions_init: gradus refused: %s", gra_model_error(m));
    return m;
}

static void made(struct sizes s)
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const size_t n = (size_t)(s.context * s.dim);
    struct positions p;
    gra_rng rng;
    double *normal = judge_room(n), *uniform = judge_room(n), *linear = judge_room(n), *small = judge_room(n);
    judge_part("init: a parameter \"weight\" (%d, %d)", s.context, s.dim);
    gra_model *m = opened(t, &p, s);
    if (gra_param_count(m) != 1)
        judge_wrong("positions_init made %d parameters, wanted one", gra_param_count(m));
    const gra_tensor *weight = gra_param_at(m, 0);
    if (strcmp(weight->name, "pos.weight"))
        judge_wrong("the parameter's name in the scope \"pos\" is \"%s\", wanted \"pos.weight\"", weight->name);
    if (p.weight != weight)
        judge_wrong("p->weight does not point at the parameter that gra_param made");
    if (!gra_same_shape(weight->shape, GRA_SHAPE(s.context, s.dim)))
        judge_wrong("weight is (%d, %d), but context_length is %d and dim %d: a row for each place is wanted, (%d, %d)",
                    gra_dim(weight, 0), gra_dim(weight, 1), s.context, s.dim, s.context, s.dim);
    gra_manual_seed(&rng, SEED);
    gra_randn(&rng, normal, n);
    for (size_t i = 0; i < n; i++)
        small[i] = 0.02 * normal[i];
    bool alike = n > 1;
    for (size_t i = 1; i < n; i++)
        alike = alike && weight->data[i] == weight->data[0];
    gra_manual_seed(&rng, SEED);
    gra_uniform(&rng, uniform, n, 0, 1);
    gra_manual_seed(&rng, SEED);
    gra_uniform(&rng, linear, n, -1 / sqrt(s.dim), 1 / sqrt(s.dim));
    judge_numbers("weight", GRA_SHAPE(s.context, s.dim), weight->data, normal, 1e-6, JUDGE_MISTAKES(
        { "it begins uniform, not normal: gra_init_normal(0, 1)", uniform },
        { "it begins as the weight of a Linear: an embedding begins with N(0, 1)", linear },
        { "it begins with N(0, 0.02), not N(0, 1)", small },
        { "all its values are alike: draw them, gra_init_normal(0, 1)", alike ? weight->data : normal },
        { "it does not begin as gra_init_normal(0, 1) does", weight->data }));
    gra_model_close(m);
    gra_close(t);
}

/* y of row `at(b, i)` of weight. */
enum row { RIGHT, FIRST_ONLY, NO_FIRST, BY_BATCH, ON_AND_ON, ONE_LATE, ONE_EARLY, BACKWARDS, LAST, ROWS };

static int row_of(int b, int i, struct sizes s, enum row row)
{
    const int by[ROWS] = { [RIGHT] = s.first + i, [FIRST_ONLY] = s.first, [NO_FIRST] = i, [BY_BATCH] = s.first + b,
                           [ON_AND_ON] = s.first + b * s.time + i, [ONE_LATE] = s.first + i + 1,
                           [ONE_EARLY] = s.first + i - 1, [BACKWARDS] = s.first + s.time - 1 - i, [LAST] = s.context - s.time + i };
    return (by[row] + s.context) % s.context;
}

static double *added(const double *x, const double *w, struct sizes s, enum row row)
{
    double *y = mat_scaled(x, 1, s.batch * s.time * s.dim);
    for (int i = 0; i < s.batch * s.time * s.dim; i++)
        y[i] += w[row_of(i / s.dim / s.time, i / s.dim % s.time, s, row) * s.dim + i % s.dim];
    return y;
}

static void forward(const char *part, struct sizes s)
{
    const int n = s.batch * s.time * s.dim;
    const double *x = judge_draw(7, (size_t)n, -2, 2);
    const gra_shape shape = GRA_SHAPE(s.batch, s.time, s.dim);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    struct positions p;
    judge_part("forward: %s", part);
    gra_model *m = opened(t, &p, s);
    const double *w = mat_scaled(p.weight->data, 1, s.context * s.dim);
    gra_tensor *in = gra_input(t, x, shape), *y = positions_forward(t, &p, in, s.first);
    if (gra_error(t) && s.first > 0)
        judge_wrong("with first = 0 all was right; with first = %d, and %d tokens in x, gradus refused:\n%s\nWhich rows of "
                    "weight are they? The end of a slice is a place, not how many", s.first, s.time, gra_error(t));
    const double *got = judge_tensor(t, "y", y, shape), *want = added(x, w, s, RIGHT);
    double *product = mat_scaled(x, 1, n), *rows = mat_scaled(x, 0, n), *twice = mat_scaled(want, 1, n), *by[ROWS];
    double *root = mat_scaled(x, sqrt(s.dim), n);
    for (int i = 0; i < ROWS; i++)
        by[i] = added(x, w, s, (enum row)i);
    for (int i = 0; i < n; i++) {
        rows[i] = want[i] - x[i];
        product[i] = x[i] * rows[i];
        twice[i] = want[i] + rows[i];
        root[i] += rows[i];
    }
    judge_unchanged("x", in->data, x, (size_t)n);
    judge_unchanged("weight", p.weight->data, w, (size_t)(s.context * s.dim));
    char times[100];
    double factor;
    mat_times(got, x, rows, n, &factor);
    snprintf(times, sizeof times, "the vectors were added %.6g times: once is wanted", factor);
    double *mean = mat_scaled(x, 1, n);
    for (int i = 0; i < n; i++)
        for (int at = 0; at < s.time; at++)
            mean[i] += w[(s.first + at) * s.dim + i % s.dim] / s.time;
    judge_numbers("y", shape, got, want, 1e-12, JUDGE_MISTAKES(
        { "x came back as it was", x },
        { "every token got the vector of one place: each place has its own. Are `time` rows sliced?", by[FIRST_ONLY] },
        { "the vectors begin at place 0, but `first` tokens came before", by[NO_FIRST] },
        { "the vector was chosen by the text in the batch, not by the place in the text", by[BY_BATCH] },
        { "places were counted on from text to text: in each text of the batch they begin at `first`", by[ON_AND_ON] },
        { "each token got the vector of the place after its own", by[ONE_LATE] },
        { "each token got the vector of the place before its own", by[ONE_EARLY] },
        { "the places are in reverse order", by[BACKWARDS] },
        { "these are the vectors of the last places, not of those from `first` on", by[LAST] },
        { "all places got the mean of their vectors: each has its own", mean },
        { "x was multiplied by the vectors: add them", product },
        { "the vectors alone, without x", rows },
        { "the vectors were subtracted", mat_sum(mat_scaled(x, 2, n), mat_scaled(want, -1, n), n) },
        { "the vectors were added twice", twice },
        { "x was multiplied by sqrt(dim) first: some models do so, this one does not", root },
        { times, mat_times(got, x, rows, n, &factor) ? got : want }));
    if (gra_backward(t, gra_sum(t, y)))
        judge_wrong("backward: gradus refused: %s", gra_error(t));
    if (!p.weight->grad)
        judge_wrong("y is right, but weight has no gradient: is it frozen (gra_freeze)?");
    bool reached = false;
    for (int i = 0; i < s.context * s.dim; i++)
        reached = reached || p.weight->grad[i] != 0;
    if (!reached)
        judge_wrong("y is right, but no gradient reaches weight, so it would never learn: its values were copied, or "
                    "taken by gra_detach. Hand p->weight itself to an op");
    gra_model_close(m);
    gra_close(t);
}

static void too_long(struct sizes s)
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    struct positions p;
    judge_part("forward: %d tokens after %d, but only %d places: an error", s.time, s.first, s.context);
    gra_model *m = opened(t, &p, s);
    const double *x = judge_draw(8, (size_t)(s.batch * s.time * s.dim), -2, 2);
    gra_tensor *y = positions_forward(t, &p, gra_input(t, x, GRA_SHAPE(s.batch, s.time, s.dim)), s.first);
    if (!gra_error(t))
        judge_wrong("%d tokens after %d others need %d places, and there are %d. The tape has no error: y was made of "
                    "vectors of other places (%s)", s.time, s.first, s.first + s.time, s.context,
                    y ? GRA_SHAPE_OF(y) : "NULL");
    gra_model_close(m);
    gra_close(t);
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
    forward("a piece that begins at place 2", (struct sizes){ 3, 2, 5, 8, 2 });
    forward("as many tokens as places", (struct sizes){ 2, 4, 1, 4, 0 });
    forward("one token at the last place", (struct sizes){ 2, 1, 3, 5, 4 });
    too_long((struct sizes){ 1, 5, 2, 4, 0 });
    too_long((struct sizes){ 1, 2, 3, 6, 5 });
    judge_part("the gradients of x and weight");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = opened(t, &p, s);
    judge_gradients(GRA_GRAD, NULL, m, 1, &(gra_check_in){ .name = "x", .shape = GRA_SHAPE(2, 3, 2) }, checked, &p);
    gra_model_close(m);
    gra_close(t);
}
