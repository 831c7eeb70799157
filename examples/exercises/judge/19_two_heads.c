/* 19 two_heads: the judge. */
#include "matrix.h"

struct sizes {
    int B, T, H, d;
};

/* RIGHT; without a permute; head h has columns h, h + H, ...; the last head first; head h begins at h. */
enum layout { RIGHT, RESHAPED, INTERLEAVED, REVERSED, SHIFTED };

/* Where number l of head h of token i is in the rows (T, H d) */
static int place_of(int i, int h, int l, struct sizes s, enum layout o)
{
    h = o == REVERSED ? s.H - 1 - h : h;
    return o == RESHAPED ? (h * s.T + i) * s.d + l
         : i * s.H * s.d + (o == INTERLEAVED ? l * s.H + h : o == SHIFTED ? h + l : h * s.d + l);
}

/* Rows (B, T, H d) to heads (B, H, T, d), or back. */
static double *moved(const double *x, struct sizes s, enum layout o, bool back)
{
    const int size = s.T * s.H * s.d;
    double *y = mat_scaled(x, 1, s.B * size);
    for (int at = 0; at < s.B * size; at++) {
        const int l = at % s.d, i = at / s.d % s.T, h = at / s.d / s.T % s.H;
        const int row = at / size * size + place_of(i, h, l, s, o);
        y[back ? row : at] = x[back ? at : row];
    }
    return y;
}

struct moving {
    const double *x;
    struct sizes  s;
    bool          back;
};

static void move(double *out, void *arg)
{
    const struct moving *m = arg;
    const bool back = m->back;
    const bool same = slip(back
        ? "the numbers are in x's order: a reshape puts tokens of one head side by side, not heads of one "
          "token (gra_transpose them first)"
        : "the numbers are in x's order: a reshape alone gives head 0 the first tokens, not the first "
          "columns");
    const bool every = slip(back
        ? "the heads' columns alternate: those of head 0 come first, then those of head 1"
        : "head h got every H-th column: head 0 gets the first D/H columns, head 1 the next D/H");
    const bool reversed = slip("the heads are in the wrong order: head 0 comes first");
    const bool shifted = !back && slip("head h begins at column h: it begins at column h D/H");
    const enum layout o = same ? RESHAPED : every ? INTERLEAVED : reversed ? REVERSED : shifted ? SHIFTED
                        : RIGHT;
    memcpy(out, moved(m->x, m->s, o, back), (size_t)(m->s.B * m->s.T * m->s.H * m->s.d) * sizeof *out);
}

/* split_heads, or merge_heads. */
static void moves(const char *part, struct sizes s, bool back)
{
    const int D = s.H * s.d;
    struct moving m = { judge_draw(back ? 2 : 1, (size_t)(s.B * s.T * D), -2, 2), s, back };
    const gra_shape rows = GRA_SHAPE(s.B, s.T, D), heads = GRA_SHAPE(s.B, s.H, s.T, s.d);
    const gra_shape to = back ? rows : heads;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("%s: %s", back ? "merge_heads" : "split_heads", part);
    gra_tensor *x = gra_input(t, m.x, back ? heads : rows);
    gra_tensor *y = back ? merge_heads(t, x) : split_heads(t, x, s.H);
    judge_against("result", to, judge_tensor(t, "result", y, to), 0, move, &m);
    gra_close(t);
}

struct multi {
    const double *q, *k, *v, *W;
    struct sizes  s;
};

static bool reshaped(const char *name)
{
    return slip("q, k and v were split by a reshape alone") || slip_of("%s was split by a reshape", name);
}

/* The mixture of values (T, d) of one head; scores: of all heads of its text, (H, T T). */
static double *mixture(const double *scores, int h, const double *v, struct sizes s, double root)
{
    const int T = s.T;
    const bool after = slip("the softmax was divided by sqrt(D/H): divide the scores before it");
    const bool causal = slip("the keys after the query were masked: no mask is asked for here");
    const double *one = scores + (slip("all heads have the weights of head 0") ? 0 : h * T * T);
    double *seen = mat_scaled(one, after ? 1 : 1 / root, T * T);
    for (int i = 0; i < T * T && causal; i++)
        seen[i] = i % T > i / T ? (double)-INFINITY : seen[i];
    const double *columns = mat_softmax_columns(seen, T, T);
    const double *a = slip("softmax is missing") ? seen
        : slip("softmax runs over the heads: the weights of a query in one head sum to 1")
        ? mat_softmax_columns(mat_scaled(scores, 1 / root, s.H * T * T), s.H, T * T) + h * T * T
        : slip("softmax runs over the queries: the weights of a query sum to 1") ? columns
        : mat_softmax_rows(seen, T, T);
    a = slip("softmax was applied twice") ? mat_softmax_rows(a, T, T) : a;
    a = slip("the weights are transposed: row i is the sum over j of a_ij v_j") ? mat_transposed(a, T, T) : a;
    return mat_product(mat_scaled(a, after ? 1 / root : 1, T * T), v, T, T, s.d);
}

static void attended(double *out, void *arg)
{
    const struct multi *m = arg;
    struct sizes s = m->s;
    const int D = s.H * s.d, all = s.B * s.T * D;
    double root = sqrt(s.d);
    root = slip("the scores were not divided by sqrt(D/H)") ? 1
         : slip("multiplied by sqrt(D/H): divide") ? 1 / root
         : slip("divided by sqrt(D): a query of a head has D/H numbers") ? sqrt(D)
         : slip("divided by D/H: divide by its root") ? s.d
         : slip("divided by sqrt(H), the number of heads: divide by sqrt(D/H)") ? sqrt(s.H)
         : slip("divided by sqrt(T): a query of a head has D/H numbers") ? sqrt(s.T)
         : slip("divided by sqrt(D/H) rounded down, a whole number: keep the root in a double")
         ? floor(sqrt(s.d))
         : slip("all weights are equal: are the scores 0? In C, 1 / d is 0 for an int d > 1")
         ? (double)INFINITY : slip("the sign of the scores is wrong") ? -root : root;
    if (D % 2 == 0 && slip("two heads were used, but their number is `heads`"))
        s.H = 2, s.d = D / 2, root = sqrt(s.d);
    const bool one = slip("one head for all D numbers: q, k and v must be split first");
    if (one || slip("one head for all D numbers, divided by sqrt(D/H): q, k and v must be split first"))
        s.H = 1, s.d = D, root = one ? sqrt(D) : root;
    const enum layout all_heads = slip("head h was cut from column h on: it begins at column h D/H") ? SHIFTED
                                : RIGHT;
    const double *Q = moved(m->q, s, reshaped("q") ? RESHAPED : all_heads, false);
    const double *K = moved(m->k, s, reshaped("k") ? RESHAPED : all_heads, false);
    const double *V = moved(m->v, s, reshaped("v") ? RESHAPED : all_heads, false);
    const bool own = slip("queries were used as keys"), exchanged = slip("queries and keys are exchanged");
    const double *mixed = slip("keys were mixed: mix the values") ? K
                        : slip("queries were mixed: mix the values") ? Q : V;
    const double *key = own ? Q : slip("values were used as keys") ? V : K;
    const bool by_key = slip("keys were used as queries");
    const int T = s.T, each = T * s.d;
    double *heads = judge_room((size_t)all);
    for (int b = 0; b < s.B; b++) {
        double *scores = judge_room((size_t)(s.H * T * T));
        for (int h = 0; h < s.H; h++) {
            const int at = (b * s.H + h) * each;
            const double *x = (exchanged || by_key ? key : Q) + at, *y = (exchanged ? Q : key) + at;
            memcpy(scores + h * T * T, mat_scores(x, y, T, T, s.d, 1), (size_t)(T * T) * sizeof *scores);
        }
        for (int h = 0; h < s.H; h++) {
            const int at = (b * s.H + h) * each;
            memcpy(heads + at, mixture(scores, h, mixed + at, s, root), (size_t)each * sizeof *heads);
        }
    }
    const enum layout joined = slip("heads were joined by a reshape alone") ? RESHAPED
        : slip("the heads are joined in the wrong order: head 0 comes first") ? REVERSED : RIGHT;
    const double *rows = moved(heads, s, joined, true), *W = mat_transposed(m->W, D, D);
    const bool plain = slip("multiplied by W_c: multiply by its transpose");
    const double *y = mat_product(rows, plain ? m->W : W, s.B * T, D, D);
    y = slip("W_c was left out") ? rows
      : slip("W_c was used twice") ? mat_product(y, W, s.B * T, D, D)
      : slip("v was added to the result: that is not asked for here") ? mat_sum(y, m->v, all)
      : slip("the heads were added to the result: y is only [head_0 | head_1 | ...] W_c^T")
      ? mat_sum(y, rows, all) : y;
    memcpy(out, y, (size_t)all * sizeof *out);
}

static void whole(const char *part, const double *q, const double *k, const double *v, const double *W,
                  struct sizes s, const double *printed)
{
    const int D = s.H * s.d;
    const gra_shape shape = GRA_SHAPE(s.B, s.T, D);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("multi_head: %s", part);
    gra_tensor *y = multi_head(t, gra_input(t, q, shape), gra_input(t, k, shape), gra_input(t, v, shape),
                               gra_input(t, W, GRA_SHAPE(D, D)), s.H);
    const double *got = judge_tensor(t, "y", y, shape);
    judge_without(y, "attention");
    judge_clue("split_heads and merge_heads are right: if they are used here, look at the scores, their "
               "softmax, what is mixed, and W_c");
    judge_against("y", shape, got, 1e-10, attended, &(struct multi){ q, k, v, W, s });
    if (printed)
        judge_numbers("y", shape, got, printed, 4e-5);
    gra_close(t);
}

/* Six tokens X of torch.randn(8, 6) after torch.manual_seed(3); two heads' W_q, W_k, W_v (4, 8), b_q, b_k,
 * b_v (4, 1), one head after the other, and W_c (8, 8) after torch.manual_seed(0); what PyTorch 1.13 prints,
 * with tokens in columns. */
static void pytorch(void)
{
    enum { D = 8, T = 6, H = 2, d = 4 };
    static const double printed[D * T] = {
        7.501, 15.386, 12.121, 23.458, 5.546, -7.499, 4.221, 4.875, -2.205, 4.050, -4.525, 5.155,
        1.891, 3.035, 3.399, 2.733, 2.958, -0.824, 2.621, 2.177, -4.974, -0.925, -1.928, 3.726,
        -0.130, -0.250, 3.700, 0.948, 9.384, 0.697, 2.524, 1.555, -0.789, 2.667, -0.459, 4.428,
        0.056, -1.688, -1.537, -1.700, 0.391, 4.648, -1.352, -4.136, -8.878, -1.003, -12.857, -4.945 };
    double X[D * T], W[H][3][d * D], b[H][3][d], W_c[D * D], *columns[3], *rows[3];
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    gra_randn(&rng, X, D * T);
    gra_manual_seed(&rng, 0);
    for (int i = 0; i < 3; i++)
        columns[i] = judge_room(D * T);
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < 3; i++)
            gra_randn(&rng, W[h][i], d * D);
        for (int i = 0; i < 3; i++) {
            gra_randn(&rng, b[h][i], d);
            memcpy(columns[i] + h * d * T, mat_columns_plus(mat_product(W[h][i], X, d, D, T), b[h][i], d, T),
                   d * T * sizeof(double));
        }
    }
    gra_randn(&rng, W_c, D * D);
    for (int i = 0; i < 3; i++)
        rows[i] = mat_transposed(columns[i], D, T);
    whole("two heads of six tokens, with PyTorch's numbers", rows[0], rows[1], rows[2], W_c,
          (struct sizes){ 1, T, H, d }, mat_transposed(printed, D, T));
}

static void drawn(const char *part, struct sizes s)
{
    const int D = s.H * s.d, n = s.B * s.T * D;
    double *x[3];
    for (int i = 0; i < 3; i++)
        x[i] = judge_draw(3 + (uint64_t)i, (size_t)n, -2, 2);
    whole(part, x[0], x[1], x[2], judge_draw(6, (size_t)(D * D), -2, 2), s, NULL);
}

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return multi_head(t, in[0], in[1], in[2], in[3], 2);
}

void judge_exercise(void)
{
    const gra_shape x = GRA_SHAPE(1, 3, 4), W_c = GRA_SHAPE(4, 4);
    const gra_check_in in[] = { { .name = "q", .shape = x }, { .name = "k", .shape = x },
                                { .name = "v", .shape = x }, { .name = "W_c", .shape = W_c } };
    moves("one text of four tokens, two heads of three numbers", (struct sizes){ 1, 4, 2, 3 }, false);
    moves("two texts, three heads of five numbers", (struct sizes){ 2, 4, 3, 5 }, false);
    moves("one token", (struct sizes){ 3, 1, 2, 2 }, false);
    moves("heads of one number", (struct sizes){ 2, 3, 4, 1 }, false);
    moves("one text of four tokens, two heads of three numbers", (struct sizes){ 1, 4, 2, 3 }, true);
    moves("two texts, three heads of five numbers", (struct sizes){ 2, 4, 3, 5 }, true);
    moves("one token", (struct sizes){ 3, 1, 2, 2 }, true);
    drawn("three heads of eight numbers", (struct sizes){ 2, 5, 3, 8 });
    drawn("two heads of three numbers", (struct sizes){ 3, 4, 2, 3 });
    drawn("one head", (struct sizes){ 1, 3, 1, 4 });
    drawn("one token", (struct sizes){ 2, 1, 2, 3 });
    pytorch();
    judge_part("multi_head: the gradients come by themselves");
    judge_gradients(GRA_GRAD, NULL, NULL, 4, in, checked, NULL);
}
