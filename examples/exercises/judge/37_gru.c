/* 37 gru: the judge. PyTorch's numbers are those of nn.GRU in float64. */
#include "judge.h"

enum { H = 3, IN = 2, TIME = 4, PARTS = 6 };

/* Rows of time, and what each part of the answer is given, or gives. */
struct run {
    struct gru    g;
    const double *x, *dy;
    double        h[(TIME + 1) * H], gi[TIME * 3 * H], gh[TIME * 3 * H], gates[TIME * 3 * H];
    const double *before;                       /* in the gradients */
    int           time, which;                  /* which of the gradients is compared */
};

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* r, z, n and next, of which each slip is in one. */
static void cell(const double *gi, const double *gh, const double *h, double *gates, double *next, int hidden)
{
    const bool plain = slip("r and z are the sums themselves: their sigmoid is missing");
    const bool tanhs = slip("r and z have a tanh: they should have a sigmoid");
    const bool order = slip("the gates are in another order: r, then z, then n");
    const bool stored = slip("gates are stored in another order: r, then z, then n");
    const bool rows = slip("z is computed from the rows of r: those of z begin at number hidden");
    const bool up = slip("the sigmoid has e^x: it is 1 / (1 + e^-x)");
    const bool no_h = slip("gh is missing in r and z"), no_x = slip("gi is missing in r and z");
    const bool no_xn = slip("gi_n is missing in n");
    const bool all = slip("r multiplies gi_n too: n = tanh(gi_n + r gh_n)");
    const bool none = slip("r is missing in n"), other = slip("r multiplies gi_n: it should multiply gh_n");
    const bool by_z =
        slip("z is in n: r should be"), of_h = slip("r multiplies h in n: it should multiply gh_n");
    const bool outside = slip("tanh is multiplied by r: it should be tanh(gi_n + r gh_n)");
    const bool squashed =
        slip("n has a sigmoid: it should have a tanh"), linear = slip("the tanh of n is missing");
    const bool turned = slip("z and 1 - z are exchanged: z multiplies h");
    const bool by_r = slip("next is made with r: it should be with z");
    const bool lost = slip("z h is missing in next"), added = slip("n is added without the factor 1 - z");
    for (int i = 0; i < hidden; i++) {
        const double xn = no_xn ? 0 : gi[2 * hidden + i], hn = of_h ? h[i] : gh[2 * hidden + i];
        double gate[2];
        for (int k = 0; k < 2; k++) {
            const int at = (order ? 1 - k : rows ? 0 : k) * hidden + i;
            const double sum = (no_x ? 0 : gi[at]) + (no_h ? 0 : gh[at]);
            gate[k] = plain ? sum : tanhs ? tanh(sum) : sigmoid(up ? -sum : sum);
        }
        const double by = by_z ? gate[1] : none ? 1 : gate[0];
        const double sum = outside ? xn + hn : all ? by * (xn + hn) : other ? by * xn + hn : xn + by * hn;
        const double n = squashed ? sigmoid(sum) : linear ? sum : tanh(sum) * (outside ? by : 1);
        const double z = turned ? 1 - gate[1] : by_r ? gate[0] : gate[1];
        gates[i] = gate[stored], gates[hidden + i] = gate[!stored], gates[2 * hidden + i] = n;
        next[i] = (added ? 1 : 1 - z) * n + (lost ? 0 : z * h[i]);
    }
}

/* dgi, dgh and dh of one step, side by side in out. */
static void cell_back(const double *gates, const double *gh, const double *h, const double *dnext,
                      double *out,
                      int hidden)
{
    const bool again =
        slip("tanh and the sigmoid are applied to r, z and n once more: they already are, so the "
             "slopes are 1 - n^2, r (1 - r) and z (1 - z)");
    const bool whole =
        slip("dn lacks the factor 1 - z"), kept = slip("dn has the factor z: it should be 1 - z");
    const bool no_tanh = slip("the slope of tanh, 1 - n^2, is missing");
    const bool twice = slip("the slope of tanh is 1 - n^2: n is already the tanh");
    const bool first = slip("the slope of tanh is 1 - n^2: the square is missing");
    const bool only_h =
        slip("dz lacks - n: next = (1 - z) n + z h"), only_n = slip("dz lacks h: next = (1 - z) n + z h");
    const bool minus = slip("the sign of dz is wrong: it is dnext (h - n)");
    const bool no_gh = slip("dr lacks the factor gh_n"), dn_r = slip("dr lacks the slope of tanh");
    const bool r_too = slip("dr has the factor r: r gh_n has the slope gh_n with respect to r");
    const bool n_r = slip("dr has the factor n: r gh_n has the slope gh_n with respect to r");
    const bool h_r = slip("dr has the factor h: r gh_n has the slope gh_n with respect to r");
    const bool no_r =
        slip("dgh_n lacks the factor r"), both = slip("dgi_n has the factor r: only dgh_n has it");
    const bool flat = slip("the slope of the sigmoids, r (1 - r) and z (1 - z), is missing");
    const bool flat_r = slip("the slope of r's sigmoid, r (1 - r), is missing") || flat;
    const bool flat_z = slip("the slope of z's sigmoid, z (1 - z), is missing") || flat;
    const bool z_of_r = slip("the slope of z's sigmoid is z (1 - z), not that of r");
    const bool half = slip("the slope of the sigmoid is r (1 - r): the factor 1 - r is missing");
    const bool none_h = slip("dgh_z is 0: gh_z is in z as gi_z is");
    const bool none = slip("dgi_r is 0: gi_r is in r as gh_r is"), no_z = slip("dh lacks the factor z");
    const bool out_z =
        slip("dh has the factor 1 - z: z multiplies h"), gone = slip("dh is 0: z multiplies h");
    double *dgi = out, *dgh = out + 3 * hidden, *dh = out + 6 * hidden;
    for (int i = 0; i < hidden; i++) {
        const int iz = hidden + i, in = 2 * hidden + i;
        const double r = gates[i], z = gates[iz], n = gates[in], d = dnext[i];
        const double dn = d * (whole ? 1 : kept ? z : 1 - z);
        const double a = dn * (no_tanh          ? 1
                               : first          ? 1 - n
                               : twice || again ? 1 - tanh(n) * tanh(n)
                                                : 1 - n * n);
        const double dr = (dn_r ? dn : a) * (no_gh ? 1 : h_r ? h[i] : n_r ? n : gh[in]) * (r_too ? r : 1);
        const double dz = d * (only_h ? h[i] : only_n ? -n : minus ? n - h[i] : h[i] - n);
        const double of_r = again ? 1 / (1 + exp(-r)) : r, of_z = again ? 1 / (1 + exp(-z)) : z;
        dgi[in] = both ? a * r : a, dgh[in] = no_r ? a : a * r;
        dgh[i] = dr * (flat_r ? 1 : half ? r : of_r * (1 - of_r)), dgi[i] = none ? 0 : dgh[i];
        dgi[iz] = dgh[iz] = dz * (flat_z ? 1 : half ? z : z_of_r ? r * (1 - r) : of_z * (1 - of_z));
        dgh[iz] = none_h ? 0 : dgh[iz];
        dh[i] = gone ? 0 : no_z ? d : out_z ? d * (1 - z) : d * z;
    }
}

static int size_of(const struct run *r, int which)
{
    const int in = r->g.in, h = r->g.hidden,
        size[PARTS] = { 3 * h * in, 3 * h * h, 3 * h, 3 * h, r->time * in, h };
    return size[which];
}

/* The gradient number r->which of: w_ih, w_hh, b_ih, b_hh, x, h0 */
static void through_time(double *out, void *arg)
{
    const struct run *r = arg;
    const struct gru *g = &r->g;
    const int in = g->in, h = g->hidden, which = r->which, size = size_of(r, which);
    const bool cut = slip("what step t + 1 found is not passed on to step t: dnext is dy[t] plus its dh");
    const bool last = slip("only dy of the last step is used: every output has its own");
    const bool early = slip("dy[t - 1] is used in step t: its output, h[t + 1], has dy[t]");
    const bool ahead = slip("dy[t + 1] is used in step t: its output, h[t + 1], has dy[t]");
    const bool first = slip("the steps go from the first to the last: begin with the last");
    const bool no_w =
        slip("dh lacks what comes through W_hh"), no_z = slip("dh lacks the cell's own part, z dnext");
    const bool piled = slip("dh was added to the dh of the step after it: each step sets it anew");
    const bool later = slip("W_hh's gradient was computed with h[t + 1]: gh is made from h[t]");
    const bool alike = slip("dgi was used instead of dgh: they differ in n, where gh has the factor r");
    const bool gh_in = slip("dgh was used for W_ih: its gradient comes from dgi");
    const bool stored =
        slip("what the gradient held before is lost: only add to it"), none = slip("nothing was added");
    const bool once = slip("it is that of one step alone: all steps add to it") && which < 4;
    const bool x_0 = slip("x of token 0 is used in all steps: step t has row t");
    const bool dx_0 = which == 4 && slip("all of dx is in row 0: step t has row t");
    const bool both = which == 2 && slip("db_ih gets what belongs in db_hh, too");
    const bool every = which == 5 && slip("dh of each step was added to dh0: only that of step 0 belongs "
                                          "there, as the others are in dnext");
    const bool early_end = which == 5 && slip("dh0 is dnext of step 0: go back through that step, too");
    const bool first_dy = slip("dy of step 0 is used in all steps: step t has row t");
    const bool one_dy = slip("all numbers of dnext take dy[t hidden], the first: number i takes the i-th");
    const bool row_w = which == 4 && slip("row 0 of W_ih is used for all of dgi: dgi[o] needs row o");
    const bool turned_w =
        which == 0 && slip("dW_ih is written as its transpose: it has 3 hidden rows of `in`");
    const bool after = slip("the cell's backward is given h[t + 1]: its h is h[t]");
    const bool stride = slip("gates has rows of 3 hidden numbers, not of hidden");
    double dh[GRU_MOST] = { 0 }, next[GRU_MOST], back[7 * GRU_MOST];
    for (int i = 0; i < size; i++)
        out[i] = stored ? 0 : r->before[i];
    for (int k = r->time - 1; k >= 0 && !none; k--) {
        const int t = first ? r->time - 1 - k : k;
        const int of = early ? (t > 0 ? t - 1 : 0) : ahead && t < r->time - 1 ? t + 1 : t;
        const double *x = r->x + (x_0 ? 0 : t) * in, *state = r->h + (t + later) * h;
        for (int i = 0; i < h; i++)
            next[i] = (last && t < r->time - 1 ? 0 : r->dy[(first_dy ? 0 : of) * h + (one_dy ? 0 : i)])
                    + (cut ? 0 : dh[i]);
        cell_back(r->gates + t * (stride ? 1 : 3) * h, r->gh + t * 3 * h, r->h + (t + after) * h, next, back,
                  h);
        const double *dgi = gh_in ? back + 3 * h : back, *dgh = alike ? back : back + 3 * h;
        for (int i = 0; i < h; i++) {
            dh[i] = (piled ? dh[i] : 0) + (no_z ? 0 : back[6 * h + i]);
            for (int o = 0; o < 3 * h && !no_w; o++)
                dh[i] += dgh[o] * g->w_hh[o * h + i];
        }
        for (int i = 0; i < size && which < 4 && !(once && k); i++)
            out[i] += which == 0 && turned_w ? dgi[i % (3 * h)] * x[i / (3 * h)]
                : which == 0 ? dgi[i / in] * x[i % in] : which == 1 ? dgh[i / h] * state[i % h]
                : which == 2 ? dgi[i] + (both ? dgh[i] : 0) : dgh[i];
        for (int i = 0; i < h && every; i++)
            out[i] += dh[i];
        for (int o = 0; o < 3 * h * in && which == 4; o++)
            out[(dx_0 ? 0 : t) * in + o % in] += dgi[o / in] * g->w_ih[row_w ? o % in : o];
    }
    for (int i = 0; i < h && which == 5 && !none && !every; i++)
        out[i] += early_end ? next[i] : dh[i];
}

/* ---- what the answer gives -------------------------------------------------------------------------- */

static void cell_of(double *out, void *arg)
{
    const struct run *r = arg;
    const int h = r->g.hidden;
    cell(r->gi, r->gh, r->h, out, out + 3 * h, h);
}

static void cell_back_of(double *out, void *arg)
{
    const struct run *r = arg;
    cell_back(r->gates, r->gh, r->h, r->dy, out, r->g.hidden);
}

/* The forward, through time. */
static void forward(struct run *r, const double *h0)
{
    const int in = r->g.in, h = r->g.hidden;
    memcpy(r->h, h0, (size_t)h * sizeof *h0);
    for (int t = 0; t < r->time; t++) {
        double *gi = r->gi + t * 3 * h, *gh = r->gh + t * 3 * h;
        for (int o = 0; o < 3 * h; o++) {
            gi[o] = r->g.b_ih[o], gh[o] = r->g.b_hh[o];
            for (int i = 0; i < in; i++)
                gi[o] += r->g.w_ih[o * in + i] * r->x[t * in + i];
            for (int i = 0; i < h; i++)
                gh[o] += r->g.w_hh[o * h + i] * r->h[t * h + i];
        }
        cell(gi, gh, r->h + t * h, r->gates + t * 3 * h, r->h + (t + 1) * h, h);
    }
}

static struct run drawn(uint64_t seed, int in, int h, int time)
{
    struct run r = { .g = { in, h, judge_draw(seed, (size_t)(3 * h * in), -1, 1),
                            judge_draw(seed + 1, (size_t)(3 * h * h), -1, 1),
                            judge_draw(seed + 2, (size_t)(3 * h), -1, 1),
                                judge_draw(seed + 3, (size_t)(3 * h), -1, 1) },
                     .x = judge_draw(seed + 4, (size_t)(time * in), -2, 2),
                     .dy = judge_draw(seed + 5, (size_t)(time * h), -2, 2), .time = time };
    forward(&r, judge_draw(seed + 6, (size_t)h, -1, 1));
    return r;
}

static void one_cell(int h)
{
    struct run r = drawn(37, IN, h, 1);
    double *got = judge_room((size_t)(7 * h));
    judge_part("the cell, %d number%s", h, h > 1 ? "s" : "");
    gru_cell(r.gi, r.gh, r.h, got, got + 3 * h, h);
    judge_guarded("next", got, (size_t)(4 * h));
    judge_against("r, z, n and next", GRA_SHAPE(4, h), got, 1e-12, cell_of, &r);
    judge_part("the cell's backward, %d number%s", h, h > 1 ? "s" : "");
    got = judge_room((size_t)(7 * h));
    gru_cell_backward(r.gates, r.gh, r.h, r.dy, got, got + 3 * h, got + 6 * h, h);
    judge_guarded("dh", got, (size_t)(7 * h));
    judge_against("dgi_r, dgi_z, dgi_n, dgh_r, dgh_z, dgh_n and dh", GRA_SHAPE(7, h), got, 1e-12,
                  cell_back_of, &r);
}

/* want: what PyTorch gives for w_ih, ...; NULL: not compared */
static void backward(const char *part, struct run *r, double before, const double *const *want)
{
    static const char *const name[PARTS] = { "dW_ih", "dW_hh", "db_ih", "db_hh", "dx", "dh0" };
    const int h = r->g.hidden, in = r->g.in;
    const gra_shape shape[PARTS] = { GRA_SHAPE(3 * h, in), GRA_SHAPE(3 * h, h), GRA_SHAPE(3 * h),
                                     GRA_SHAPE(3 * h),
                                     GRA_SHAPE(r->time, in), GRA_SHAPE(h) };
    double *d[PARTS], *was[PARTS];
    judge_part("%s", part);
    for (int k = 0; k < PARTS; k++) {
        const size_t n = (size_t)size_of(r, k);
        was[k] = judge_draw((uint64_t)k, n, -before, before);
        d[k] = judge_room(n);
        memcpy(d[k], was[k], n * sizeof **d);
    }
    gru_backward(&r->g, r->x, r->h, r->gates, r->gh, r->dy,
                 &(struct gru_gradients){ d[0], d[1], d[2], d[3], d[4], d[5] }, r->time);
    static const int simplest_first[PARTS] = { 2, 3, 4, 0, 1, 5 };
    for (int i = 0; i < PARTS; i++) {
        const int k = r->which = simplest_first[i];
        r->before = was[k];
        judge_guarded(name[k], d[k], (size_t)size_of(r, k));
        judge_against(name[k], shape[k], d[k], 1e-10, through_time, r);
        if (want && want[k])
            judge_numbers(name[k], shape[k], d[k], want[k], 1e-10);
    }
}

/* The numbers (a i + b) mod m, made small. */
static const double *pattern(int n, int a, int b, int m, double by)
{
    double *x = judge_room((size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = ((a * i + b) % m - (m - 1) / 2) * by;
    return x;
}

static void torch(void)
{
    static const double dw_hh[] = {
        -0.02226893425363135, -0.01265922832005527, -0.01312639354086724, -0.01102517435259055,
        0.01700301636974007, 0.03402931793461463, -0.04053232888227461, 0.0152101144698296,
        -0.03019836419385314, -0.05240231592939593, 0.03751919958674026, 0.2143076188383914 };
    static const double dx[] = {
        -0.05420883808222982, 0.02079644762338129, -0.05828144724905832, 0.01407259612863768,
        -0.01293326042074281, -0.0116359965689541, 0.2312189862441458, -0.1370715629363344,
            0.1087182234203792,
        0.06415073557986967, -0.0156731531779162, 0.045274478743996 };
    static const double dh0[] = { -0.7086616684075955, 0.9225324980035013 };
    struct run r = { .g = { 3, 2, pattern(18, 7, 5, 11, 0.125), pattern(12, 7, 8, 11, 0.125),
                            pattern(6, 7, 11, 11, 0.125), pattern(6, 7, 14, 11, 0.125) },
                     .x = pattern(12, 5, 2, 9, 0.25), .dy = pattern(8, 4, 1, 7, 0.5), .time = 4 };
    forward(&r, (const double[]){ 0.5, -0.25 });
    backward("through time: PyTorch's numbers", &r, 0,
             (const double *const[]){ NULL, dw_hh, NULL, NULL, dx, dh0 });
}

void judge_exercise(void)
{
    struct run one = drawn(1, 3, 2, 1), all = drawn(11, IN, H, TIME), numbers = drawn(21, 1, 1, 3);
    one_cell(H);
    one_cell(1);
    backward("through time: one step", &one, 0, NULL);
    backward("through time: four steps", &all, 0, NULL);
    backward("the gradients had other uses before", &all, 1, NULL);
    backward("a state of one number", &numbers, 1, NULL);
    torch();
}
