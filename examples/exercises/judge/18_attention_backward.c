/* 18 attention_backward: the judge. */
#include "matrix.h"

enum { N = 4, D = 3, SIZE = N * D };                    /* of x that attends to itself */
struct sizes {
    int n, m, d, e;
};

enum which { DQ, DK, DV };
struct given {
    const double *q, *k, *v, *a, *unmasked, *dy;        /* unmasked: the weights without a mask */
    struct sizes  s;
    const double *before;                               /* in dq, dk or dv, */
    enum which    which;                                /* which is compared */
    bool          same, idle;           /* not one bit of it changed; dq and dk changed by rounding at most */
};

/* x (rows, cols), as the answer may have read it */
static const double *read(const char *name, const char *index, char width, const double *x, int rows,
                          int cols, struct sizes s)
{
    return mat_read(name, index, width, x, rows, cols, "nmde", (const int[]){ s.n, s.m, s.d, s.e });
}

static double *da_of(const struct given *x)
{
    const int n = x->s.n, m = x->s.m, d = x->s.d, e = x->s.e;
    const double *v = read("v", "jl!", 'e', x->v, m, e, x->s), *dy = read("dy", "il", 'e', x->dy, n, e, x->s);
    const bool rows =
        slip("da of a query begins with that of the previous query: start each dot product at 0");
    const bool keys = slip("da of a key begins with that of the previous key: start each dot product at 0");
    const int from = slip("da_ij is only the last term of dy_i . v_j: add up all terms, with +=") ? e - 1 : 0;
    const int to = d + 1 == e
        && slip("da_ij lacks its last term: rows of dy and v have e numbers, not d") ? d : e;
    double *da = judge_room((size_t)(n * m));
    for (int at = 0; at < n * m; at++)
        da[at] = mat_dot(dy + at / m * e + from, v + at % m * e + from, to - from)
               + (rows && at >= m ? da[at - m] : keys && at % m ? da[at - 1] : 0);
    return da;
}

/* The sum that is subtracted from da_ij */
static double shared_sum(const double *a, const double *da, int n, int m, int i, int j)
{
    double row = 0, column = 0, sum = 0, partial = 0, causal = 0, so_far = 0, whole = 0, misread = 0;
    for (int at = 0; at < n * m; at++) {
        const double term = a[at] * da[at];
        const bool here = at / m == i;
        whole += term;
        so_far += at / m <= i ? term : 0;
        row += here ? term : 0;
        sum += here ? da[at] : 0;
        misread += here ? a[at % m * n + i] * da[at] : 0;
        partial += here && at % m <= j ? term : 0;
        causal += here && at % m <= i ? term : 0;
        column += at % m == j ? term : 0;
    }
    return slip("this uses ds_ij = a_ij da_ij: the sum of a_ij da_ij over the row is missing") ? 0
         : slip("the sum of a_ij da_ij runs over queries: it must run over the keys of a query") ? column
         : slip("the sum of a_ij da_ij is the same for all queries: each has its own, over its keys")
         ? whole
         : slip("the sum of a_ij da_ij grows from query to query: reset it to 0 for each") ? so_far
         : slip("the sum of a_ij da_ij is used before it is complete: it needs its own loop") ? partial
         : slip("the sum of a_ij da_ij runs only up to j = i: it needs all keys of the query") ? causal
         : slip("the sum of a_ij da_ij is only its last term: add up all terms, with +=")
         ? a[i * m + m - 1] * da[i * m + m - 1]
         : slip("the sum of a_ij da_ij was divided by m: it is not a mean") ? row / m
         : slip("the sum of a_ij da_ij lacks its first term") ? row - a[i * m] * da[i * m]
         : slip("in the sum of a_ij da_ij a was read as m rows of n: it has n rows of m") ? misread
         : slip("the sum that is subtracted adds up a_ij: it should add up a_ij da_ij") ? 1
         : slip("the sum that is subtracted adds up da_ij: it should add up a_ij da_ij") ? sum
         : slip("the sum of a_ij da_ij is added: subtract it") ? -row : row;
}

static double *ds_of(const struct given *x)
{
    const int n = x->s.n, m = x->s.m;
    const double *a = x->a, *da = da_of(x);
    double *ds = judge_room((size_t)(n * m));
    for (int at = 0; at < n * m; at++) {
        const int i = at / m, j = at % m;
        const double off = da[at] - shared_sum(a, da, n, m, i, j);
        ds[at] = slip("the sign is wrong") ? -a[at] * off
            : slip("the softmax was left out: the step from da to ds is missing") ? da[at]
            : slip("this uses ds_ij = a_ij (1 - a_ij) da_ij: the other weights of the row move with s_ij too")
            ? a[at] * (1 - a[at]) * da[at]
            : slip("this uses ds_ij = a_ij ((i == j) - a_ij) da_ij: all weights of the row move with s_ij")
            ? a[at] * ((i == j) - a[at]) * da[at]
            : slip("a_ij da_ij - sum needs parentheses: a_ij (da_ij - sum)") ? a[at] * da[at] - da[at] + off
            : slip("a_ij is used as ds_ij: the step from a to ds is missing") ? a[at]
            : slip("the factor a_ij is missing in ds_ij") ? off
            : slip("ds_ij uses a_ij instead of da_ij") ? a[at] * (off - da[at] + a[at])
            : slip("ds_ij is left out where j > i: the loop must run over all keys") && j > i ? 0
            : n < m && slip("keys from n on are left out: the loop must run to m") && j >= n ? 0
            : slip("a_ij is squared in ds_ij") ? a[at] * a[at] * off
            : slip("a was read as m rows of n: it has n rows of m, a_ij = a[i*m + j]") ? a[j * n + i] * off
            : a[at] * off;
    }
    return ds;
}

/* dq_i = sum over j of ds_ij k_j / sqrt(d); dk_j = sum over i of ds_ij q_i / sqrt(d) */
static void from_scores(double *out, void *arg)
{
    const struct given *x = arg;
    const int n = x->s.n, m = x->s.m, d = x->s.d;
    const bool dk = x->which == DK, square = n == m;
    const char *name = dk ? "dk" : "dq";
    const bool over = slip_of("%s is overwritten: accumulate with +=", name);
    const bool each = slip_of("%s is overwritten by each term: accumulate with +=", name);
    const char *const zero[] = {
        "nothing was added to it, or only 0; in C, 1 / d is 0 for an int d > 1",
        "ds is 0 but for rounding, as if da_ij were the same for all j: da_ij is dy_i . v_j",
        dk ? "only 0 was added, but for rounding: a row of ds sums to 0. ds_ij q_i belongs in dk_j, not in "
             "dk_i"
           : "only 0 was added, but for rounding: a row of ds sums to 0, so ds_ij times something without j, "
             "as q_i or k_i, sums to 0. dq adds up ds_ij k_j" };
    bool none = false;
    for (int i = 0; i < 3; i++)                         /* the first that fits is told */
        none = slip(zero[(i + (x->same ? 0 : x->idle ? 1 : 2)) % 3]) || none;
    const double scale = slip("the factor 1 / sqrt(d) of the scores is missing") ? 1
        : slip("divided by sqrt(d) twice: the scores were divided by it once") ? d
        : slip("multiplied by sqrt(d): the scores were divided by it, and so is their gradient") ? 1 / sqrt(d)
        : slip("divided by sqrt(e): the scores were divided by sqrt(d)") ? sqrt(x->s.e)
        : slip("divided by sqrt(n): the scores were divided by sqrt(d)") ? sqrt(n)
        : slip("divided by sqrt(m): the scores were divided by sqrt(d)") ? sqrt(m)
        : slip("the root of d was rounded down to an int: keep it in a double") ? floor(sqrt(d)) : sqrt(d);
    const double *ds = ds_of(x);
    const bool turned = square && slip("ds was read with queries and keys exchanged (transposed)");
    const bool exchanged = square && slip("dq and dk are exchanged"), keys = dk != exchanged;
    const double *of = dk ? read("q", "il", 'd', x->q, n, d, x->s) : read("k", "jl!", 'd', x->k, m, d, x->s);
    const bool same_row = dk && slip("this adds up ds_ij k_j: dk adds up ds_ij q_i");
    const bool own = slip(dk ? "this adds up ds_ij k_i: dk adds up ds_ij q_i"
                                       : "this adds up ds_ij q_j: dq adds up ds_ij k_j");
    const bool of_j = dk && slip("this adds up ds_ij q_j: dk_j adds up ds_ij q_i, over i");
    of = same_row || own || exchanged ? (dk ? x->k : x->q) : of;
    const int rows = dk == (own || same_row) ? m : n;   /* of k or q; 8 guards after them may be read */
    of = !dk && d == x->s.e && slip("this adds up ds_ij v_j: dq adds up ds_ij k_j") ? x->v : of;
    const double held = slip_of("what %s held was divided by sqrt(d) too: scale only what you add", name)
                      ? sqrt(d) : 1;
    const bool last = slip(dk ? "only the last query was added: dk is a sum over all"
                              : "only the last key was added: dq is a sum over all") || each;
    const int terms = dk ? n : m;
    const int from = last ? terms - 1
        : slip(dk ? "query 0 was left out: dk is a sum over all"
                  : "key 0 was left out: dq is a sum over all");
    const int to = terms - slip(dk ? "the last query was left out: dk is a sum over all"
                                   : "the last key was left out: dq is a sum over all");
    for (int at = 0; at < (dk ? m : n) * d; at++) {
        const int row = at / d, l = at % d;
        out[at] = over || each ? 0 : x->before[at] / held;
        for (int t = from; t < to && !none; t++) {
            const int read = (same_row || of_j ? row : t) * d + l;
            out[at] += ds[keys != turned ? t * m + row : row * m + t]
                     * (read < rows * d + 8 ? of[read] : 1e300) / scale;
        }
    }
}

/* dv_j = sum over i of a_ij dy_i */
static void from_values(double *out, void *arg)
{
    const struct given *x = arg;
    const int n = x->s.n, m = x->s.m, d = x->s.d, e = x->s.e;
    const bool over = slip("dv is overwritten: accumulate with +=");
    const bool each = slip("dv is overwritten by each term: accumulate with +=");
    const bool none = slip("nothing was added to it");
    const bool unmasked = slip("the weights were recomputed without the forward's mask: use a");
    const bool ones = slip("this is the sum of dy without the weights a");
    const bool turned = slip(n == m ? "a was read with queries and keys exchanged (transposed): sum over i"
                                    : "a was read as if it had m rows of n numbers: it has n rows of m");
    const bool root = slip("divided by sqrt(d) too: that belongs to the scores, not to y = a v");
    const bool scores = slip("the scores were used as the weights");
    const double scale = (slip("the sign is wrong") ? -1 : 1) / (root ? sqrt(d) : 1);
    const bool values = slip("this adds up a_ij v_j: dv_j adds up a_ij dy_i");
    const bool of_da = slip("this adds up da_ij dy_i: dv_j adds up a_ij dy_i");
    const bool last = slip("only the last query was added: dv is a sum over all") || each;
    const int from = last ? n - 1 : slip("query 0 was left out: dv is a sum over all");
    const int until = n - slip("the last query was left out: dv is a sum over all");
    const int keys = n < m && slip("keys from n on are left out: the loop must run to m") ? n : m;
    const bool dv_i = n < m && slip("a_ij dy_i was added to dv_i: it belongs in dv_j");
    const bool dy_j = slip("this adds up a_ij dy_j: dv_j adds up a_ij dy_i") && m * e <= n * e + 8;
    const bool causal = slip("keys after the query, j > i, were left out: a mask is already in a");
    const int to = d + 1 == e
        && slip("the last number of each row of dv was left out: a row has e numbers, not d") ? d : e;
    const double *a = read("a", "ij", 'm', x->a, n, m, x->s), *dy = read("dy", "il", 'e', x->dy, n, e, x->s);
    a = scores ? mat_scores(x->q, x->k, n, m, d, 1 / sqrt(d)) : unmasked ? x->unmasked
      : of_da ? mat_scores(x->dy, x->v, n, m, e, 1) : a;
    for (int at = 0; at < m * e; at++) {
        const int j = at / e;
        out[at] = over || each ? 0 : x->before[at];
        for (int i = from; i < until && !none; i++) {
            const double weight = at % e >= to || (causal && j > i) || j >= keys ? 0 : ones ? 1
                                : dv_i ? i == j : a[turned ? j * n + i : i * m + j];
            out[at] += scale * weight * (values ? x->v[at] : dy[(dy_j ? j : i) * e + at % e]);
        }
    }
    if (d < e && slip("dv[j*d + l] was written: number l of row j is at dv[j*e + l]")) {
        const double *right = mat_scaled(out, 1, m * e);
        memcpy(out, x->before, (size_t)(m * e) * sizeof *out);
        for (int at = 0; at < m * e; at++)
            out[at / e * d + at % e] += right[at] - x->before[at];
    }
}

/* The weights (n, m); mask (n, m) of 0 and -INFINITY, or NULL. */
static double *weights(const double *q, const double *k, const double *mask, struct sizes s)
{
    const double *scores = mat_scores(q, k, s.n, s.m, s.d, 1 / sqrt(s.d));
    return mat_softmax_rows(mask ? mat_sum(scores, mask, s.n * s.m) : scores, s.n, s.m);
}

/* x: all but which, and before. */
static void compare(const char *part, struct given x, enum which which, const double *got,
                    const double *before)
{
    static const char *const name[] = { "dq", "dk", "dv" };
    const gra_shape shape = GRA_SHAPE(which == DQ ? x.s.n : x.s.m, which == DV ? x.s.e : x.s.d);
    const int size = shape.dim[0] * shape.dim[1];
    double *want = judge_room((size_t)size), factor;
    x.which = which, x.before = before, x.same = memcmp(got, before, (size_t)size * sizeof *got) == 0;
    if (which != DV)                                    /* whose part is named before the answer runs */
        judge_part("%s: %s", part, name[which]);
    judge_guarded(name[which], got, (size_t)size);
    (which == DV ? from_values : from_scores)(want, &x);
    if (mat_times(got, before, mat_sum(want, mat_scaled(before, -1, size), size), size, &factor))
        judge_clue("what was added is %.6g times what is expected, everywhere", factor);
    judge_against(name[which], shape, got, 1e-10, which == DV ? from_values : from_scores, &x);
}

static void backward(const char *part, uint64_t seed, struct sizes s, const double *mask)
{
    const int size[] = { s.n * s.d, s.m * s.d, s.m * s.e, s.n * s.e };
    double *in[4], *before[3], *got[3];                 /* q, k, v and dy; what is in dq, dk, dv */
    for (int i = 0; i < 4; i++)
        in[i] = judge_draw(seed + (uint64_t)i, (size_t)size[i], -2, 2);
    for (int i = 0; i < 3; i++) {
        before[i] = judge_draw(seed + 4 + (uint64_t)i, (size_t)size[i], -1, 1);
        got[i] = mat_scaled(before[i], 1, size[i]);
    }
    const double *a = weights(in[0], in[1], mask, s), *unmasked = weights(in[0], in[1], NULL, s);
    struct given x = { in[0], in[1], in[2], a, unmasked, in[3], s, NULL, DV, false, true };
    judge_part("%s: dv", part);
    attention_backward(x.q, x.k, x.v, x.a, x.dy, got[DQ], got[DK], got[DV], s.n, s.m, s.d, s.e);
    for (int i = 0; i < size[DQ] + size[DK]; i++) {
        const int which = i >= size[DQ], at = i - which * size[DQ];
        x.idle = x.idle && fabs(got[which][at] - before[which][at]) < 1e-12;
    }
    compare(part, x, DV, got[DV], before[DV]);
    compare(part, x, DQ, got[DQ], before[DQ]);
    compare(part, x, DK, got[DK], before[DK]);
}

struct shared {
    const double *before, *g[3];
};

static void sum_of(double *out, void *arg)
{
    const struct shared *x = arg;
    const bool kept = slip("dq or dk was used as scratch memory, but may be the same array as dv");
    const bool gone = slip("what was in dx is lost: only add to it") || kept;
    for (int i = 0; i < SIZE; i++)
        out[i] = (gone ? 0 : x->before[i]) + (kept ? 0 : x->g[DQ][i] + x->g[DK][i]) + x->g[DV][i];
}

/* q, k and v are one array x, and so are their gradients. */
static void shared(void)
{
    const struct sizes s = { N, N, D, D };
    const double *x = judge_draw(50, SIZE, -1, 1), *dy = judge_draw(51, SIZE, -2, 2);
    double *dx = judge_draw(52, SIZE, -1, 1), *a = weights(x, x, NULL, s), g[3][SIZE];
    struct given in = { x, x, x, a, a, dy, s, mat_scaled(x, 0, SIZE), DQ, false, false };
    struct shared all = { mat_scaled(dx, 1, SIZE), { g[DQ], g[DK], g[DV] } };
    judge_part("x attends to x: q, k, v are one array, and dq, dk, dv are too");
    for (; in.which <= DV; in.which++)
        (in.which == DV ? from_values : from_scores)(g[in.which], &in);
    attention_backward(x, x, x, a, dy, dx, dx, dx, N, N, D, D);
    judge_against("dx", GRA_SHAPE(N, D), dx, 1e-10, sum_of, &all);
}

void judge_exercise(void)
{
    const double no = -INFINITY, masked[16] = { 0, no, no, no, 0, 0, no, no, 0, 0, 0, no };
    backward("five queries, six keys", 1, (struct sizes){ 5, 6, 7, 8 }, NULL);
    backward("five queries, two keys", 11, (struct sizes){ 5, 2, 4, 3 }, NULL);
    backward("as many queries as keys", 21, (struct sizes){ 3, 3, 2, 2 }, NULL);
    backward("a causal mask was there", 31, (struct sizes){ 4, 4, 3, 2 }, masked);
    backward("one query, one key, one number", 41, (struct sizes){ 1, 1, 1, 1 }, NULL);
    shared();
}
