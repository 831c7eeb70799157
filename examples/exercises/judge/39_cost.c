/* 39 cost: the judge. Its own counts are compared with those of library models and tapes before an answer's
 * are compared with them. A function is called for all GPTs below, so that a mistake is recognised by all. */
#include "judge.h"

/* The last four are counted but not made: GPT-2, and three in which a product in int overflows (V D, C D, D^2
 * and L D; time^2; batch times time), but a loop over blocks, heads and batch ends soon. */
enum { SMALL = 7, LARGE = SMALL + 1, ALL = LARGE + 3 };
struct gpt {
    gra_gpt_config c;
    int            batch, time;
    double         bytes;
};
static const struct gpt gpts[ALL] = {
    { { .vocab_size = 11, .context_length = 7, .emb_dim = 6, .n_heads = 2, .n_layers = 1 }, 1, 7, 3e4 },
    { { .vocab_size = 23, .context_length = 5, .emb_dim = 4, .n_heads = 1, .n_layers = 3 }, 3, 4, 7e4 },
    { { .vocab_size = 13, .context_length = 9, .emb_dim = 10, .n_heads = 5, .n_layers = 2, .bias = true }, 2,
      9, 1e5 },
    { { .vocab_size = 17, .context_length = 3, .emb_dim = 8, .n_heads = 4, .n_layers = 4, .qkv_bias = true },
      5, 2, 2e5 },
    { { .vocab_size = 29, .context_length = 8, .emb_dim = 6, .n_heads = 3, .n_layers = 2, .tied = true }, 1,
      5, 50 },
    { { .vocab_size = 31, .context_length = 6, .emb_dim = 12, .n_heads = 6, .n_layers = 3, .bias = true,
        .qkv_bias = true, .tied = true }, 4, 6, 3e5 },
    { { .vocab_size = 19, .context_length = 13, .emb_dim = 14, .n_heads = 2, .n_layers = 5, .bias = true,
        .qkv_bias = true }, 2, 11, 1e6 },
    { { .vocab_size = 50257, .context_length = 1024, .emb_dim = 768, .n_heads = 12, .n_layers = 12,
        .bias = true,
        .qkv_bias = true, .tied = true }, 8, 1000, 2e10 },
    { { .vocab_size = 100003, .context_length = 100003, .emb_dim = 70001, .n_heads = 1,
        .n_layers = 70003 }, 2, 3, 1e17 },
    { { .vocab_size = 100003, .context_length = 100003, .emb_dim = 70001, .n_heads = 1, .n_layers = 1,
        .bias = true }, 3, 70003, 3e12 },
    { { .vocab_size = 100003, .context_length = 100003, .emb_dim = 6, .n_heads = 3, .n_layers = 2 }, 70001,
      70003, 1e12 } };

/* value, or 0 or twice as much if that is the mistake; `blocks` of them may be counted as one. */
static double term(const char *what, double value, double blocks)
{
    return slip_of("%s: missing", what) ? 0 : slip_of("%s: counted twice", what) ? 2 * value
         : blocks > 0 && slip_of("%s: counted for one block only", what) ? value / blocks : value;
}

static double parameters(const struct gpt *g)
{
    const double V = g->c.vocab_size, D = g->c.emb_dim, C = g->c.context_length, L = g->c.n_layers;
    const bool bias = g->c.bias || slip("biases and shifts are there only with `bias`");
    const bool shifts = bias || slip("the shifts of the norms are there only with `bias`");
    const bool biases = bias || slip("the biases of out_proj, layers.0 and layers.2 are there only with "
                                     "`bias`");
    const bool inner = slip("the biases of queries, keys and values are there with `qkv_bias`, also without "
                            "`bias`");
    const bool outer = slip("biases of queries, keys and values depend on qkv_bias, not on bias");
    const bool qkv_bias = inner ? g->c.bias && g->c.qkv_bias : outer ? g->c.bias
        : g->c.qkv_bias || slip("biases of queries, keys and values are there only with `qkv_bias`");
    const bool tied =
        g->c.tied && !slip("a tied out_head has no weights of its own: they are those of tok_emb");
    const double heads = slip("W_query, W_key and W_value are (D, D) for all heads together") ? g->c.n_heads
                       : 1;
    const double up = slip("layers.0 has 4 D biases, not D") ? 1 : 4;
    double sum = term("tok_emb", V * D, 0);
    sum += term("pos_emb", slip("pos_emb has rows of D numbers: (C, D)") ? C : C * D, 0);
    sum += term("3 D^2 in each block (W_query, W_key and W_value, or a matrix of the feed-forward counted as "
                "D^2: it has 4 D^2)", 3 * D * D * L * heads, L);
    sum += term("the biases of queries, keys and values", qkv_bias ? 3 * D * L : 0, L);
    sum += term("D^2 in each block (W_query, W_key, W_value or out_proj)", D * D * L, L);
    sum += term("4 D^2 in each block (a matrix of the feed-forward, or all four of attention)", 4 * D * D * L,
                L);
    sum += 4 * D * D * L;
    sum += term("the biases of out_proj, layers.0 and layers.2, which have D, 4 D and D", biases
                ? (2 + up) * D * L : 0, L);
    sum += term("the scales of the two norms of a block", 2 * D * L, L);
    sum += term("2 D in each block with `bias` (the shifts of the two norms, or the biases of out_proj and "
                "layers.2)", shifts ? 2 * D * L : 0, L);
    sum += term("final_norm's scale", D, 0);
    sum += term("final_norm's shift", shifts ? D : 0, 0);
    sum += term("out_head", tied ? 0 : V * D, 0);
    return sum + (slip("out_head has no bias") ? V : 0);
}

static double state(const struct gpt *g)
{
    static const struct { int bytes; const char *says; } each[] = {
        { 1, "the state has four floats" },
        { 2, "the state has four floats of 4 bytes" },
        { 4, "it is only the parameters, or four numbers instead of bytes" },
        { 8, "the two moments are missing, or a float has 4 bytes, not 2" },
        { 12, "one of four is missing: parameters, gradients, and AdamW's two moments" },
        { 20, "there are parameters, gradients, and AdamW's two moments" },
        { 32, "a float has 4 bytes, not 8" } };
    double bytes = 16;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (slip_of("%d bytes for each parameter, not 16: %s", each[i].bytes, each[i].says))
            bytes = each[i].bytes;
    return bytes * parameters(g);
}

/* How often a token has D numbers in a block. What several mistakes give names all of them. */
static double in_block(void)
{
    static const struct { int times; const char *says; } all[] = {
        { 10, "the result of layers.0 and that of gelu are missing: they are 4 D wide" },
        { 12, "the result of layers.0 and that of gelu are 4 D wide, not D" },
        { 14, "one of layers.0's result and gelu's, which are 4 D wide, is missing, or four of D" },
        { 15, "the queries, keys and values are missing, or one of layers.0's result and gelu's was counted "
              "as D: it is 4 D wide" },
        { 16, "two results of D numbers are missing (the two sums with x, the two norms, or two others)" },
        { 17, "one of the results of D numbers is missing (norm, query, key, value, attention, out_proj, "
              "sum, norm, layers.2, sum)" },
        { 19, "one of the results of D numbers is counted twice" },
        { 20, "two of the results of D numbers are counted twice" },
        { 21, "one of the results of D numbers is counted as 4 D, or three are counted twice (only those of "
              "layers.0 and gelu are 4 D wide)" },
        { 22, "one of layers.0's result and gelu's is counted twice, or four of D" } };
    double times = 18;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (slip_of("%d D for each token and block, not 18 D: %s", all[i].times, all[i].says))
            times = all[i].times;
    return times;
}

static double activations(const struct gpt *g)
{
    const double D = g->c.emb_dim, L = g->c.n_layers;
    const double batch = slip("batch is missing: each sequence has its own") ? 1 : g->batch;
    const double time = slip("this is for context_length: count `time` tokens") ? g->c.context_length
                      : g->time;
    double sum = in_block() * D * (slip("n_layers is missing: each block has its own results") ? 1 : L);
    sum += term("one of the results of D numbers outside of the blocks (embedding, sum with pos_emb, "
                "final_norm)", D, 0);
    sum += 2 * D;
    sum += term("the logits", g->c.vocab_size, 0);
    sum += slip("attention's weights are not kept on the tape") ? g->c.n_heads * L * time : 0;
    return batch * time * sum * (slip("these are bytes: count the numbers") ? 4 : 1);
}

static double weights(const struct gpt *g)
{
    const double bytes = slip("these are bytes: count the numbers") ? 4 : 1;
    const double batch = slip("batch is missing") ? 1 : g->batch, heads = slip("n_heads is missing") ? 1
                       : g->c.n_heads;
    const double layers = slip("n_layers is missing") ? 1 : g->c.n_layers, time = g->time;
    const double all = slip("this is for context_length: count `time` tokens") ? g->c.context_length : time;
    return bytes * batch * heads * layers * (slip("each token has a weight for each token: time^2") ? time
        : slip("weights of masked keys count too, though they are 0: time x time of them")
        ? time * (time + 1) / 2
        : slip("weights of masked keys count too: this is half of them") ? time * time / 2
        : slip("scores and weights are counted: only the weights are asked for") ? 2 * time * time
        : all * all);
}

static double operations(const struct gpt *g)
{
    const double V = g->c.vocab_size, D = g->c.emb_dim, L = g->c.n_layers, T = g->time;
    const double batch = slip("batch is missing") ? 1 : g->batch;
    const double each = slip("a multiply-add counts as two operations") ? 1 : 2;
    const double passes = slip("only the forward is counted: a step has a backward too") ? 1
        : slip("for each product of the forward two are counted, not three: itself, and in the backward "
               "there are two") ? 2 : 3;
    const double width = slip("q k^T in a head multiplies D / H numbers, not D: over all heads D")
                       ? D * g->c.n_heads
        : slip("heads are not counted: all H heads together multiply D numbers") ? D / g->c.n_heads : D;
    const double pairs = slip("attention has products of time with time numbers: time^2") ? T
        : slip("the mask saves nothing: count all time x time products") ? T * (T + 1) / 2
        : slip("attention's size is time^2, not that of context_length")
        ? (double)g->c.context_length * g->c.context_length : T * T;
    const bool known = slip("these are 6 operations for each parameter and token: tok_emb, pos_emb, scales "
                            "and biases are in no product, attention's products have no parameters");
    double sum = term("products with 3 D^2 weights in each block (W_query, W_key and W_value, or a matrix of "
                      "the feed-forward counted as D^2: it has 4 D^2)", 3 * D * D * L * T, L);
    sum += term("products with D^2 weights in each block (W_query, W_key, W_value or out_proj)",
                D * D * L * T, L);
    sum += term("products with 4 D^2 weights in each block (a matrix of the feed-forward, or all four of "
                "attention)", 4 * D * D * L * T, L);
    sum += 4 * D * D * L * T;
    const double attention = slip("attention's products q k^T and a v: missing") ? 0 : width * L * pairs;
    sum += term("one of attention's products q k^T and a v", attention, L);
    sum += attention;
    sum -= slip("attention's products have a backward too: two for each") ? 4 * attention / passes : 0;
    sum += term("out_head, which multiplies also if it is tied", V * D * T, 0);
    return batch * each * passes * (known ? parameters(g) * T : sum);
}

static double batch(const struct gpt *g)
{
    struct gpt one = *g;
    one.batch = 1;
    const double left = g->bytes - (slip("the state is not subtracted: it needs room "
                                         "first") ? 0 : state(&one));
    const double size = slip("an activation has 4 bytes: these are numbers, not bytes") ? 1
                      : slip("an activation has 4 bytes, not 8") ? 8
                      : slip("an activation has 4 bytes, not 2") ? 2
                      : slip("an activation is kept once, not as often as the state: 4 bytes") ? 16 : 4;
    const double kept = slip("attention's weights are not kept on the tape: only activations count")
                      ? weights(&one) : 0;
    const double fit = left / (size * (activations(&one) + kept));
    if (fit < 1 && slip("at least 1 is returned: if not even one fits, 0"))
        return 1;
    if (left < 0 && !slip("it is negative: if not even the state fits, 0"))
        return 0;
    return slip("rounded up, or the first batch that does not fit is counted: it must fit whole") ? ceil(fit)
         : slip("rounded to the nearest: a part of a sequence does not fit") ? round(fit)
         : slip("not rounded: only whole sequences count") ? fit : floor(fit);
}

enum what { PARAMETERS, STATE, ACTIVATIONS, WEIGHTS, OPERATIONS, BATCH };

static void counted(double *out, void *arg)
{
    static double (*const count[])(const struct gpt *g) = { parameters, state, activations, weights,
                                                            operations, batch };
    const enum what what = *(const enum what *)arg;
    for (int i = 0; i < ALL; i++)
        out[i] = count[what](&gpts[i]);
}

/* Compared are logarithms, so that differences of a small GPT count as much as those of a large one. */
static void logarithms(double *x)
{
    for (int i = 0; i < ALL; i++)
        x[i] = copysign(log1p(fabs(x[i])), x[i]);
}

static void counted_in_logarithms(double *out, void *arg)
{
    counted(out, arg);
    logarithms(out);
}

static double answer(enum what what, const struct gpt *g)
{
    switch (what) {
    case PARAMETERS:  return parameter_count(&g->c);
    case STATE:       return state_bytes(&g->c);
    case ACTIVATIONS: return activation_count(&g->c, g->batch, g->time);
    case WEIGHTS:     return attention_weight_count(&g->c, g->batch, g->time);
    case OPERATIONS:  return operation_count(&g->c, g->batch, g->time);
    default:          return largest_batch(&g->c, g->time, g->bytes);
    }
}

/* What a library model has, and its tape: 0 if it is not counted there. */
static void really(const struct gpt *g, double *count)
{
    int ids[64] = { 0 };
    struct gra_gpt gpt;
    gra_adamw opt;
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 39);
    gra_gpt_init(&gpt, gra_root(m), &g->c);
    gra_adamw_init(&opt, m, NULL);
    gra_keep_attention(t, true);
    gra_backward(t, gra_sum(t, gra_gpt_forward(t, &gpt, ids, g->batch, g->time)));
    count[PARAMETERS] = (double)gra_param_values(m);
    for (int i = 0; i < gra_param_count(m); i++) {
        const gra_tensor *p = gra_param_at(m, i);
        count[STATE] += 4.0 * (double)(p->size + (p->grad ? p->size : 0) + opt.m[i]->size + opt.v[i]->size);
    }
    for (int i = 0; i < gra_node_count(t); i++) {
        gra_tensor *y = gra_node_at(t, i);
        const bool linear = !strcmp(y->op->name, "linear"), attention = !strcmp(y->op->name, "attention");
        count[ACTIVATIONS] += y->shape.ndim == 3 ? (double)y->size : 0;
        count[WEIGHTS] += attention ? (double)gra_attention_weights(y)->size : 0;
        count[OPERATIONS] += 6 * (double)y->size
                             * (linear ? gra_dim(y->in[0], -1) : attention ? 2 * g->time : 0);
    }
    judge_close(t, m);
}

/* What was left out or added, as a multiple of a product of sizes; NULL if there is none that fits all. */
static const char *difference(const double *got, const double *want)
{
    static char text[100];
    static const char *const name[] = { "D", "D^2", "V", "V D", "C V", "L D", "L D^2", "L D^2 / H" };
    static const char *const where[] = { "in all GPTs", "with `bias`", "with `qkv_bias`", "without `tied`",
                                         "in all GPTs, for each token," };
    for (int k = 0; k < 40; k++) {
        double by = 0;
        bool fits = true;
        for (int i = 0; i < ALL && fits; i++) {
            const gra_gpt_config *c = &gpts[i].c;
            const double V = c->vocab_size, D = c->emb_dim, LD = c->n_layers * D, off = got[i] - want[i];
            const double of[] = { D, D * D, V, V * D, c->context_length * V, LD, LD * D,
                                  LD * D / c->n_heads };
            const double times[] = { 1, c->bias, c->qkv_bias, !c->tied,
                                     (double)gpts[i].batch * gpts[i].time };
            const double each = of[k % 8] * times[k / 8];
            by = by == 0 && each != 0 ? off / each : by;
            fits = fabs(off - by * each) < 1e-9 * want[i];
        }
        snprintf(text, sizeof text, "%s it is %.4g %s too %s", where[k / 8], fabs(by), name[k % 8],
                 by > 0 ? "large" : "small");
        if (fits && by != 0)
            return text;
    }
    return NULL;
}

static bool right(int n, const double *got, const double *want, double tolerance)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance * want[i]))
            return false;
    return true;
}

/* One mistake, or a difference; two mistakes only for parameters, as other sums could be anything. */
static const char *explained(enum what what, const double *got, const double *want)
{
    double in_logarithms[ALL];
    if (right(ALL, got, want, 1e-5) && right(SMALL, got, want, 1e-9))
        return "a float holds 7 digits, and these are more: compute in double";
    if (right(want[SMALL] < 2147483648.0 ? LARGE : SMALL, got, want, 1e-9))
        return "it is right where products are below 2^31: compute none in int; begin with const double D = "
               "c->emb_dim";
    memcpy(in_logarithms, got, sizeof in_logarithms);
    logarithms(in_logarithms);
    const char *slips = judge_slip(GRA_SHAPE(ALL), in_logarithms, 1e-12, counted_in_logarithms, &what);
    const bool two = slips && !strncmp(slips, "two", 3);
    const char *by = slips && !two ? NULL : difference(got, want);
    return by ? by : two && what != PARAMETERS ? NULL : slips;
}

static void judge(enum what what, const char *part, const char *function, double (*library)[BATCH])
{
    double got[ALL], want[ALL];
    judge_part("%s", part);
    for (int i = 0; i < ALL; i++)
        got[i] = answer(what, &gpts[i]);
    counted(want, &what);
    for (int i = 0; i < SMALL && what != BATCH; i++)
        if (library[i][what] != want[i])
            judge_wrong("the judge counts %.17g %s of GPT %d, but there are %.17g", want[i], part, i,
                        library[i][what]);
    for (int i = 0; i < ALL; i++) {
        const gra_gpt_config *c = &gpts[i].c;
        if (fabs(got[i] - want[i]) <= 1e-9 * want[i])
            continue;
        const char *why = explained(what, got, want);
        judge_wrong("V %d, C %d, D %d, H %d, L %d%s%s%s; batch %d, time %d, %g bytes:\n%s: got %.17g, "
                    "expected %.17g%s%s", c->vocab_size, c->context_length, c->emb_dim, c->n_heads,
                        c->n_layers,
                    c->bias ? ", bias" : "", c->qkv_bias ? ", qkv_bias" : "", c->tied ? ", tied" : "",
                    gpts[i].batch, gpts[i].time, gpts[i].bytes, function, got[i], want[i],
                    why ? "\nlikely: " : "", why ? why : "");
    }
    logarithms(got);
    judge_against(function, GRA_SHAPE(ALL), got, 1e-9, counted_in_logarithms, &what);
}

void judge_exercise(void)
{
    double library[SMALL][BATCH] = { { 0 } };
    for (int i = 0; i < SMALL; i++)
        really(&gpts[i], library[i]);
    judge(PARAMETERS, "parameters", "parameter_count", library);
    judge(STATE, "bytes of the state", "state_bytes", library);
    judge(ACTIVATIONS, "activations", "activation_count", library);
    judge(WEIGHTS, "attention weights", "attention_weight_count", library);
    judge(OPERATIONS, "operations", "operation_count", library);
    judge(BATCH, "the largest batch", "largest_batch", library);
}
