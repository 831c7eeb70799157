/* 38 conv1d: the judge. PyTorch's numbers are those of torch.nn.functional.conv1d in float64. */
#include "judge.h"

enum which { Y, DX, DW, DB };
struct given {
    struct conv1d c;
    const double *x, *w, *b, *dy, *before;      /* before: what is in the gradient that is compared */
    int           length, m;
    enum which    which;
};

static int places(const struct conv1d *c, int length)
{
    const int room = length + 2 * c->padding - c->kernel;
    return room < 0 ? 0 : room / c->stride + 1;
}

enum { GRID = 72 };
static struct conv1d of_grid(int i, int *length)
{
    *length = i < 36 ? 3 : 8;
    return (struct conv1d){ 1, 1, .kernel = 1 + i % 4, .stride = 1 + i / 4 % 3, .padding = i / 12 % 3 };
}

static void lengths(double *out, void *arg)
{
    (void)arg;
    const int sides = slip("the padding is missing: it adds to the length on both sides") ? 0
        : slip("the padding is counted once: it adds to the length on both sides") ? 1 : 2;
    const int one = slip("it is one too small: of the place at 0, too, there is one") ? 0 : 1;
    const bool up =
        slip("the division is rounded up: a place that reaches beyond the padding does not count");
    const bool whole = slip("kernel is not subtracted: all of it must fit");
    const bool off = slip("kernel - 1 was subtracted: the last place begins at length + 2 padding - kernel");
    const bool inside = slip("1 is added before the division: divide, then add 1");
    const bool each = slip("the stride is missing: divide by it");
    const bool negative = slip("where no place fits, the length is 0");
    for (int i = 0; i < GRID; i++) {
        int length;
        const struct conv1d c = of_grid(i, &length);
        const int room = length + sides * c.padding - (whole ? 0 : c.kernel) + off + inside;
        const double steps = (double)(room + (up ? c.stride - 1 : 0)) / (each ? 1 : c.stride);
        out[i] = room < 0 && !negative ? 0 : (negative ? trunc(steps) : floor(steps)) + (inside ? 0 : one);
    }
}

static void judge_length(void)
{
    double got[GRID], want[GRID];
    int n;
    judge_part("conv1d_length");
    for (int i = 0; i < GRID; i++) {
        const struct conv1d c = of_grid(i, &n);
        got[i] = conv1d_length(&c, n);
        want[i] = places(&c, n);
    }
    for (int i = 0; i < GRID; i++)
        if (got[i] != want[i]) {
            const struct conv1d c = of_grid(i, &n);
            const char *why = judge_slip(GRA_SHAPE(GRID), got, 0, lengths, NULL);
            judge_wrong("length %d, kernel %d, stride %d, padding %d: got %g place%s, expected %g%s%s", n,
                        c.kernel, c.stride, c.padding, got[i], got[i] == 1 ? "" : "s", want[i],
                        why ? "\nlikely: " : "", why ? why : "");
        }
    judge_against("conv1d_length", GRA_SHAPE(GRID), got, 0, lengths, NULL);
}

/* Y, or before plus one of the gradients. */
static void compute(double *out, void *arg)
{
    const struct given *g = arg;
    const enum which which = g->which;
    const int in = g->c.in, kernel = g->c.kernel, m = g->m, n = g->length;
    const int size = which == Y ? g->c.out * m : which == DX ? in * n : which == DW ? g->c.out * in * kernel
                   : g->c.out;
    const bool gone = which != Y && slip("what the gradient held before is lost: only add to it");
    const bool last = which != Y && slip("only the last use counts: add up all, with +=");
    const bool zero = slip("nothing was added to it");
    const int stride = slip("the stride is missing: place t begins at t stride - padding") ? 1 : g->c.stride;
    const int shift = slip("the padding is missing: place t begins at t stride - padding") ? 0
        : slip("the padding has the wrong sign: place t begins at t stride - padding") ? -g->c.padding
        : slip("the padding is multiplied by the stride: place t begins at t stride - padding")
        ? g->c.padding * g->c.stride : g->c.padding;
    const bool spread = slip("k is multiplied by the stride: t is, the index is t stride + k - padding");
    const bool flip = slip("the kernel is reversed: w[k] belongs to x[t stride + k - padding]");
    const bool edge = slip("in the padding the nearest number of x was taken: x is 0 there");
    const bool wraps = slip("in the padding x continues from its other end: x is 0 there");
    const bool stops = slip("in the padding the loop over k stops: where a place begins in it, the rest of "
                            "the kernel is over x: go on with the next k");
    const bool ends = slip("where a place begins in the padding it is left out as a whole: only the products "
                           "in the padding are 0");
    const bool one = slip("only channel 0 of x is used: sum over all");
    const bool own = slip("w is read as (in, out, kernel): it is (out, in, kernel)");
    const bool rows = slip("x is read as (length, in): it is (in, length)");
    const bool narrow = slip("w[o * kernel + k] is read for all channels: each o has in * kernel numbers");
    const bool by_out = slip("w[(o * out + c) * kernel + k] is read: it is (out, in, kernel), so o * in + c");
    const bool by_k = slip("w[o * in + c * kernel + k] is read: it is (o * in + c) * kernel + k");
    const bool short_x = slip("x is read in rows of m numbers: its rows have length");
    const bool beyond =
        which != Y && slip("behind x numbers past its end, i >= length, are used: leave them out");
    const bool one_d =
        which != Y && slip("dy[o * m], that of place 0, is used at all places: place t has dy[o * m + t]");
    const bool first_x = slip("x[0] counts as padding: it is the first number");
    const bool at_t = which == DX && slip("dx is added at t: it belongs where x was read");
    const bool one_out = which == DX && slip("only the first channel of y counts: sum over all");
    const bool bias = which == Y && slip("the bias is missing");
    const bool per_channel = which == Y && slip("the bias is added for each channel of x: add it once");
    const bool per_product = which == Y && slip("the bias is added to each product: add it once");
    const bool by_t = which == Y && slip("b[t] is added: y[o][t] needs b[o]");
    const bool dot = which == DW && slip("dw is made with w: w was multiplied by x");
    const bool self = which == DX && slip("dx is made with x: x was multiplied by w");
    const bool bare =
        which == DX && slip("dx lacks the factor w"), plain = which == DW && slip("dw lacks the factor x");
    const bool many =
        which == DB && slip("db gets dy once for each product: b was added once for each o and t");
    const bool seen =
        which == DB && slip("db gets dy once for each input channel: b was added once for each o and t");
    const bool rest = which != DB
        && slip("x[i] is used at place (i + padding - k) / stride also where this division has a remainder: "
                "there no place begins");
    const bool mean = slip("divided by the number of places: it is a sum, not a mean");
    const bool turned = which != Y && slip("dy is read as (m, out): it is (out, m)");
    const bool first = which != Y && slip("only dy of the first channel is used");
    for (int i = 0; i < size; i++)
        out[i] = which != Y ? (gone || last ? 0 : g->before[i]) : bias || per_channel || per_product ? 0
               : g->b[by_t ? i % m % g->c.out : i / m];
    for (int o = 0; o < g->c.out && !zero; o++)
        for (int t = 0; t < m; t++) {
            const double d = which == Y ? 1
                           : g->dy[turned ? t * g->c.out + o : (first ? 0 : o * m) + (one_d ? 0 : t)]
                             / (mean ? m : 1);
            const int begins = t * stride - shift;
            for (int c = 0; c < in && rest; c++)
                for (int at = 0; at < n * kernel; at++) {
                    const int i = at / kernel, k = at % kernel, from = i + shift - k;
                    const int of_x = c * n + i, of_w = (o * in + c) * kernel + k;
                    if (from >= 0 && from / stride == t)
                        out[which == Y ? o * m + t : which == DX ? of_x : of_w] +=
                            d * (which == DX ? 1 : g->x[of_x]) * (which == DW ? 1 : g->w[of_w]);
                }
            for (int at = 0; at < in * kernel && !rest; at++) {
                const int c = one ? 0 : at / kernel, k = at % kernel;
                int i = spread ? t + k * g->c.stride - shift
                      : t * stride + (flip ? kernel - 1 - k : k) - shift;
                if (per_channel && !k)
                    out[o * m + t] += g->b[o];
                if (which == DB && (many || (seen && !k) || !at))
                    out[o] = (last ? 0 : out[o]) + d;
                i = edge ? (i < 0 ? 0 : i >= n ? n - 1 : i) : wraps ? (i + 4 * n) % n : i;
                if (which == DB || i < first_x || (i >= n && !beyond) || (one_out && o)
                    || (stops && begins < 0) || (ends && (begins < 0 || begins + kernel > n)))
                    continue;
                const int of_w = narrow ? o * kernel + k : own ? (at / kernel * g->c.out + o) * kernel + k
                               : (by_out ? o * g->c.out * kernel : by_k ? o * in : o * in * kernel) + at;
                const int of_x = short_x ? c * m + i : rows ? i * in + c : c * n + i;
                double *to = &out[which == Y ? o * m + t : which == DX ? (at_t ? c * n + t : of_x) : of_w];
                const bool past = of_w >= g->c.out * in * kernel;
                if (past && which != DW)
                    *to = JUDGE_ANY;
                if (past || *to == JUDGE_ANY)
                    continue;
                const double w = g->w[of_w], x = g->x[of_x];
                *to = (last ? 0 : *to) + d * (which == Y ? w * x + (per_product ? g->b[o] : 0)
                    : which == DX ? (self ? x : bare ? 1 : w) : dot ? w : plain ? 1 : x);
            }
        }
}

static void compare(struct given *g, const char *name, enum which which, gra_shape shape, const double *got,
                    const double *before)
{
    g->which = which, g->before = before;
    judge_against(name, shape, got, 1e-12, compute, g);
}

/* before: how large the numbers are which the gradients hold already; want: PyTorch's y, dx, dw, or NULL */
static void convolves(const char *part, struct given g, double before, const double *const *want)
{
    const int out = g.c.out, in = g.c.in, m = g.m = places(&g.c, g.length);
    const gra_shape shape[] = { GRA_SHAPE(out, m), GRA_SHAPE(in, g.length), GRA_SHAPE(out, in, g.c.kernel),
                                GRA_SHAPE(out) };
    static const char *const name[] = { "y", "dx", "dw", "db" };
    double *got[4], *was[4];
    for (int k = 0; k < 4; k++) {
        size_t n = 1;
        for (int d = 0; d < shape[k].ndim; d++)
            n *= (size_t)shape[k].dim[d];
        got[k] = judge_room(n), was[k] = judge_draw((uint64_t)k, n, -before, before);
        if (k != Y)
            memcpy(got[k], was[k], n * sizeof **was);
    }
    judge_part("%s: forward", part);
    conv1d(&g.c, g.x, g.w, g.b, got[Y], g.length);
    judge_guarded("y", got[Y], (size_t)(out * m));
    compare(&g, "y", Y, shape[Y], got[Y], NULL);
    judge_part("%s: gradients", part);
    conv1d_backward(&g.c, g.x, g.w, g.dy, got[DX], got[DW], got[DB], g.length);
    for (int k = DB; k > Y; k--) {
        judge_guarded(name[k], got[k],
                      (size_t)(k == DB ? out : k == DW ? out * in * g.c.kernel : in * g.length));
        compare(&g, name[k], (enum which)k, shape[k], got[k], was[k]);
    }
    for (int k = Y; k < DB && want; k++)
        judge_numbers(name[k], shape[k], got[k], want[k], 1e-12);
}

static struct given drawn(uint64_t seed, struct conv1d c, int length)
{
    const int m = places(&c, length);
    return (struct given){ c, judge_draw(seed, (size_t)(c.in * length), -2, 2),
                           judge_draw(seed + 1, (size_t)(c.out * c.in * c.kernel), -2, 2),
                           judge_draw(seed + 2, (size_t)c.out, -2, 2),
                           judge_draw(seed + 3, (size_t)(c.out * m), -2, 2), NULL, length, m, Y };
}

/* The numbers (a i + b) mod m, made small. */
static const double *pattern(int n, int a, int b, int m, double by)
{
    double *x = judge_room((size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = ((a * i + b) % m - (m - 1) / 2) * by;
    return x;
}

void judge_exercise(void)
{
    static const double y[] = { 0.6875, 0.65625, -0.34375, -1.09375, -0.6875, -0.8125, 0.21875, 0.375,
                                0.4375 };
    static const double dx[] = { 1.625, 0.25, -0.875, 0.375, -0.3125, -0.5, 1.5, 0.125, -0.875, 0.5, -0.1875,
                                 -0.375 };
    static const double dw[] = { 0.25, 0.25, 0.75, -0.5, -0.125, 0.375, -1.5, -0.75, 2.625,
                                 0.75, -0.75, -0.75, 0.25, 0, -1.625, 0.25, 0.375, -0.125 };
    struct given torch = { { 2, 3, 3, 2, 1 }, pattern(12, 5, 2, 9, 0.25), pattern(18, 7, 5, 11, 0.125),
                           (const double[]){ 0.5, -1, 0.25 }, pattern(9, 4, 1, 7, 0.5), NULL, 6, 3, Y };
    judge_length();
    convolves("one channel", drawn(1, (struct conv1d){ 1, 1, 3, 1, 0 }, 7), 0, NULL);
    convolves("several channels", drawn(11, (struct conv1d){ 2, 3, 2, 1, 0 }, 6), 0, NULL);
    convolves("padding", drawn(21, (struct conv1d){ 2, 3, 4, 1, 2 }, 5), 0, NULL);
    convolves("stride", drawn(31, (struct conv1d){ 3, 2, 2, 3, 0 }, 10), 0, NULL);
    convolves("stride and padding, gradients not 0 before", drawn(41, (struct conv1d){ 2, 4, 3, 2, 1 }, 8), 1,
              NULL);
    convolves("a kernel of one number", drawn(51, (struct conv1d){ 2, 2, 1, 2, 1 }, 5), 1, NULL);
    convolves("PyTorch's numbers", torch, 0, (const double *const[]){ y, dx, dw });
}
