/* 20 positions: the judge. */
#include "answer.h"

enum { SEED = 5 };
static double drawn(const double *x)                    /* number x[0] of x[1]; x[2]: of N(0, 1), or uniform */
{
    gra_rng rng;
    double *all = judge_room((size_t)x[1]);
    gra_manual_seed(&rng, SEED);
    if (x[2] == 1)
        gra_randn(&rng, all, (size_t)x[1]);
    else
        gra_uniform(&rng, all, (size_t)x[1], 0, 1);
    return x[0] >= 0 && x[0] < x[1] ? all[(int)x[0]] : 0;
}

static gra_model *opened(gra_tape **t, struct positions *p, int context, int dim)
{
    gra_model *m = judge_open(t, GRA_GRAD, SEED);
    p->weight = NULL;
    positions_init(p, gra_enter(gra_root(m), "pos"), context, dim);
    return m;
}

static void call(const struct judge_call *c)
{
    gra_tape *t;
    struct positions p;
    gra_model *m = opened(&t, &p, c->size[0], c->size[1]);
    judge_params(m, 1, &(struct judge_param){ "pos.weight", GRA_SHAPE(c->size[0], c->size[1]), p.weight });
    if (!p.weight)
        judge_wrong("p->weight does not point to the parameter that gra_param made");
    memcpy(c->out[0], p.weight->data, (size_t)(c->size[0] * c->size[1]) * sizeof *p.weight->data);
    judge_clue("it is not initialised by gra_init_normal(0, 1)");
    judge_close(t, m);
}

static const struct judge_answer init = {
    .sizes = { "r context_length", "c dim" }, .telling = { 4, 3 }, .call = call, .in = { NULL },
    .out = { "weight[r,c]" },
    .functions = (const struct judge_function[]){ { "drawn", 3, drawn }, { NULL, 0, NULL } }, .lines =
        "std = 1                                             # the standard deviation\n"
        "weight[r,c] = std * drawn(r * dim + c, context_length * dim, 1)\n",
    .special = {
        { "all its numbers are 0 at first: use gra_init_normal(0, 1)", "weight[r,c] = 0" },
        { "its standard deviation is 1 / sqrt(dim): use gra_init_normal(0, 1)", "std = 1 / sqrt(dim)" },
        { "it is initialised uniformly: use gra_init_normal(0, 1)",
          "weight[r,c] = drawn(r * dim + c, context_length * dim, 0)" },
        { "it is initialised as the weight of a Linear: use gra_init_normal(0, 1)",
          "weight[r,c] = (2 * drawn(r * dim + c, context_length * dim, 0) - 1) / sqrt(dim)" } } };

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const struct judge_call *c = arg;
    const int time = c->size[1], context = c->size[3], first = c->ids[2][0];
    const struct positions p = { in[1] };
    gra_tensor *y = positions_forward(t, &p, in[0], first);
    if (gra_error(t))
        judge_wrong("x has %d token%s, first is %d, and there are %d positions: all fit, but gradus refused:\n%s\n"
                    "Which rows of weight are needed? The end of a slice is an index, not a count; a text is too "
                    "long only where first + time > context_length", time, time == 1 ? "" : "s", first, context, gra_error(t));
    return y;
}

static const struct judge_answer forward = {
    .sizes = { "b batch", "i time", "c dim", "r context_length" }, .telling = { 2, 4, 3, 7 }, .f = f,
    .in = { "x[b,i,c]", "weight[r,c]", "int first in 1..context_length-time" }, .out = { "y[b,i,c]" },
    .lines = "y[b,i,c] = x[b,i,c] + weight[first + i,c]\n",
    .special = {
        { "the vectors begin at position 0, but `first` tokens came before", "y[b,i,c] = x[b,i,c] + weight[i,c]" },
        { "the vector was chosen by the text in the batch: choose it by the position",
          "y[b,i,c] = x[b,i,c] + weight[first + b,c]" },
        { "every token got the same position's vector: each has its own. Are `time` rows sliced?",
          "y[b,i,c] = x[b,i,c] + weight[first,c]" },
        { "every token got the vector of the last position: each has its own",
          "y[b,i,c] = x[b,i,c] + weight[first + time - 1,c]" },
        { "x was multiplied by the vectors: add them", "y[b,i,c] = x[b,i,c] * weight[first + i,c]" },
        { "positions continue from text to text: each text begins at `first`",
          "y[b,i,c] = x[b,i,c] + weight[first + b * time + i,c]" } } };

static void too_long(int time, int dim, int context, int first)
{
    gra_tape *t;
    struct positions p;
    judge_part("forward: %d tokens after %d, but only %d positions: an error", time, first, context);
    gra_model *m = opened(&t, &p, context, dim);
    positions_forward(t, &p, gra_zeros(t, GRA_SHAPE(1, time, dim)), first);
    if (!gra_error(t))
        judge_wrong("rows %d to %d of weight are needed, but it has only %d, and the tape has no error\nAsk "
                    "gra_slice for exactly the rows that are needed: it refuses if some do not exist", first, first + time - 1,
                    context);
    judge_close(t, m);
}

void judge_exercise(void)
{
    static const double at[] = { 0, 2, 4 };
    judge_cases(&init, (const struct judge_case[]){
        CASE("init: a parameter \"weight\", for context_length = 7 and dim = 4", { 7, 4 }, .tolerance = 1e-6),
        CASE("init: a parameter \"weight\", for context_length = 1 and dim = 3", { 1, 3 }, .tolerance = 1e-6),
        { NULL } });
    judge_cases(&forward, (const struct judge_case[]){
        CASE("forward: two texts", { 2, 3, 4, 7 }, .in = { [2] = at }),
        CASE("forward: one text of four tokens", { 1, 4, 3, 6 }, .in = { [2] = at }),
        CASE("forward: a piece that begins at position 2", { 3, 2, 5, 8 }, .in = { [2] = at + 1 }),
        CASE("forward: as many tokens as positions", { 2, 4, 1, 4 }, .in = { [2] = at }),
        CASE("forward: one token at the last position", { 2, 1, 3, 5 }, .in = { [2] = at + 2 }), { NULL } });
    too_long(5, 2, 4, 0);
    too_long(2, 3, 6, 5);
    judge_end(&forward);
}
