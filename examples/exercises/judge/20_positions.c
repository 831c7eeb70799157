/* 20 positions: the judge. */
#include "answer.h"

static gra_model *opened(gra_tape **t, struct positions *p, int context, int dim)
{
    gra_model *m = judge_open(t, GRA_GRAD, 5);
    p->weight = NULL;
    positions_init(p, gra_enter(gra_root(m), "pos"), context, dim);
    return m;
}

static void init(int context, int dim)
{
    const gra_shape shape = GRA_SHAPE(context, dim);
    double *drawn = judge_room((size_t)(context * dim));
    struct positions p;
    gra_tape *t;
    gra_rng rng;
    judge_part("init: a parameter \"weight\", for context_length = %d and dim = %d", context, dim);
    gra_model *m = opened(&t, &p, context, dim);
    judge_params(m, 1, &(struct judge_param){ "pos.weight", shape, p.weight });
    if (!p.weight)
        judge_wrong("p->weight does not point to the parameter that gra_param made");
    gra_manual_seed(&rng, 5);
    gra_randn(&rng, drawn, (size_t)(context * dim));
    judge_clue("it is not initialised by gra_init_normal(0, 1)");
    judge_numbers("weight", shape, p.weight->data, drawn, 1e-6);
    judge_close(t, m);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const struct judge_call *c = arg;
    gra_tensor *y = positions_forward(t, &(struct positions){ in[1] }, in[0], c->ids[2][0]);
    if (gra_error(t))
        judge_wrong("x has %d tokens, first is %d, and there are %d positions: all fit, but gradus refused:\n"
                    "%s\nWhich rows of weight are needed? The end of a slice is an index, not a count; a "
                    "text is too long only where first + time > context_length", c->size[1], c->ids[2][0],
                    c->size[3], gra_error(t));
    return y;
}

static const struct judge_answer forward = {
    .sizes = { "b batch", "i time", "c dim", "r context_length" }, .telling = { 2, 4, 3, 7 }, .f = f,
    .in = { "x[b,i,c]", "weight[r,c]", "int first in 1..context_length-time" }, .out = { "y[b,i,c]" },
    .lines = "y[b,i,c] = x[b,i,c] + weight[first + i,c]\n", .special = {
        { "the vectors begin at position 0, but `first` tokens came before",
          "y[b,i,c] = x[b,i,c] + weight[i,c]" },
        { "the vector was chosen by the text in the batch: choose it by the position",
          "y[b,i,c] = x[b,i,c] + weight[first + b,c]" },
        { "every token got the vector of position `first`: give each its own. Are `time` rows sliced?",
          "y[b,i,c] = x[b,i,c] + weight[first,c]" },
        { "every token got the vector of the last position: give each its own",
          "y[b,i,c] = x[b,i,c] + weight[first + time - 1,c]" },
        { "positions continue from text to text: let each text begin at `first`",
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
                    "gra_slice for exactly the rows that are needed: it refuses if some do not exist", first,
                    first + time - 1, context);
    judge_close(t, m);
}

void judge_exercise(void)
{
    static const double at[] = { 0, 2, 4 };
    init(7, 4);
    init(1, 3);
    CASES(&forward,
        CASE("forward: one text of four tokens", { 1, 4, 3, 6 }, .in = { [2] = at }),
        CASE("forward: a piece that begins at position 2", { 3, 2, 5, 8 }, .in = { [2] = at + 1 }),
        CASE("forward: as many tokens as positions", { 2, 4, 1, 4 }, .in = { [2] = at }),
        CASE("forward: one token at the last position", { 2, 1, 3, 5 }, .in = { [2] = at + 2 }));
    too_long(5, 2, 4, 0);
    too_long(2, 3, 6, 5);
    judge_end(&forward);
}
