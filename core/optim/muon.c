/* muon: momentum, orthogonalised by Newton-Schulz, for matrices (Jordan et al. 2024).
 *
 *     v  = momentum v + (1 - momentum) g
 *     u  = momentum v + (1 - momentum) g                     Nesterov's look ahead
 *     X  = u / (|u| + 1e-7)                                   |u|: the Frobenius norm
 *     ns_steps times: A = X X^T, X = (a I + b A + c A^2) X    all singular values come near 1
 *     p *= 1 - lr weight_decay
 *     p -= lr sqrt(max(1, rows / columns)) X
 *
 * X^T serves as well as X, so X is seen with no more rows than columns. And with P = a I + b A + c A^2 the
 * next A is P A P. So a long X need not be multiplied so many times:
 *
 *     A = X X^T, Q = I;   ns_steps times: P = a I + b A + c A^2, Q = P Q, A = P A P;   X = Q X
 *
 * All between is small, square and symmetric: of such products half is computed, the rest is its mirror. */
#include "group.h"
#include "../tape.h"

static const double a = 3.4445, b = -4.7750, c = 2.0315;

enum {
    STRIP = 24, STRIP_OF_ALL = 256,     /* rows of a symmetric product computed at a time, up to the diagonal, */
    STRIP_PACKED = 64,                  /* where each strip takes columns of its own from afar, */
    WHOLE = 32,                         /* and a few columns more, as many as make whole tiles */
    CHUNK = 1 << 15                     /* values of a large matrix that a thread takes at a time, at least */
};
static const size_t small = 1 << 20;    /* values of a matrix that one thread treats alone */

static bool takes_2d(const gra_tensor *p)
{
    return p->ndim == 2;
}

static int rows(const gra_tensor *p)    { return p->shape[0]; }
static int cols(const gra_tensor *p)    { return p->shape[1]; }
static int shorter(const gra_tensor *p) { return rows(p) < cols(p) ? rows(p) : cols(p); }
static int longer(const gra_tensor *p)  { return rows(p) < cols(p) ? cols(p) : rows(p); }

/* Memory for the largest matrix of all, and for each thread that of the largest small one. */
struct gra_muon_room {
    real  *large, *own;
    size_t values;                      /* of one thread's own */
    int    threads;
};

static size_t room_for(const gra_tensor *p)             /* X and the next; A, P, Q and another such square */
{
    const size_t m = (size_t)shorter(p);
    return 2 * p->size + 4 * m * m;
}

static struct gra_muon_room *make_room(const gra_muon *opt)
{
    struct gra_muon_room *room = gra_model_alloc(opt->model, sizeof *room);
    size_t large = 0;
    if (!room)
        return NULL;
    for (int i = 0; i < gra_param_count(opt->model); i++) {
        const gra_tensor *p = gra_param_at(opt->model, i);
        size_t *most = p->size > small ? &large : &room->values;
        if (opt->v[i] && room_for(p) > *most)
            *most = room_for(p);
    }
    room->values = (room->values + 15) / 16 * 16;       /* whole cache lines */
    room->threads = gra_threads(gra_model_tape(opt->model));
    room->large = gra_model_alloc(opt->model, large * sizeof(real));
    room->own = gra_model_alloc(opt->model, room->values * (size_t)room->threads * sizeof(real));
    return room->large && room->own ? room : NULL;
}

int gra_muon_init(gra_muon *opt)
{
    opt->v = NULL;
    for (int i = 0; opt->takes && i < gra_param_count(opt->model); i++) {
        const gra_tensor *p = gra_param_at(opt->model, i);
        if (opt->takes(p) && p->ndim != 2) {
            gra_model_fail(opt->model, "muon: %s is %s, but only matrices can be made orthogonal: give it to "
                           "another optimiser", p->name, GRA_SHAPE_OF(p));
            return -1;
        }
    }
    if (opt->ns_steps < 0) {
        gra_model_fail(opt->model, "muon: ns_steps is %d, but it must be 1 or more (or 0: 5)", opt->ns_steps);
        return -1;
    }
    opt->momentum = opt->momentum != 0 ? opt->momentum : 0.95;
    opt->ns_steps = opt->ns_steps != 0 ? opt->ns_steps : 5;
    opt->v = gra_group_state(opt->model, opt->takes ? opt->takes : takes_2d, "muon.momentum_buffer");
    opt->params = gra_param_count(opt->model);
    opt->room = opt->v ? make_room(opt) : NULL;
    return opt->room ? 0 : -1;
}

/* ---- one matrix: by one worker alone, or by all threads ---- */

struct job {
    const gra_muon *opt;
    gra_tape *tape;
    int       worker;                   /* or ALL */
    const gra_tensor *p;
    real     *v, *x, *next;             /* as p */
    real     *gram, *poly, *q, *spare;  /* (m, m): A, P, Q */
    size_t    chunk;
    double    scale, sum[GRA_CHUNKS];
};
enum { ALL = -1 };

static void update(struct job *j, size_t from, size_t to)
{
    const real keep = (real)j->opt->momentum, gain = (real)(1 - j->opt->momentum), *g = j->p->grad;
    real *v = j->v, *x = j->x;
    for (size_t i = from; i < to; i++) {
        v[i] = keep * v[i] + gain * g[i];
        x[i] = keep * v[i] + gain * g[i];
    }
    j->sum[from / j->chunk] += gra_sum_squared(x + from, to - from);
}

static void normalise(struct job *j, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        j->x[i] *= (real)j->scale;
}

/* Of A and, in its place, A^2: the polynomial, but for its diagonal. */
static void polynomial(struct job *j, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        j->poly[i] = (real)b * j->gram[i] + (real)c * j->poly[i];
}

static void move(struct job *j, size_t from, size_t to)
{
    const double tall = (double)rows(j->p) / (double)cols(j->p);
    const real keep = (real)(1 - j->opt->lr * j->opt->weight_decay);
    const real rate = (real)(j->opt->lr * sqrt(tall > 1 ? tall : 1));
    real *p = j->p->data;
    for (size_t i = from; i < to; i++)
        p[i] = keep * p[i] - rate * j->x[i];
}

GRA_VARIANTS(update, struct job)
GRA_VARIANTS(normalise, struct job)
GRA_VARIANTS(polynomial, struct job)
GRA_VARIANTS(move, struct job)

static void each(struct job *j, gra_work *const variant[3], size_t n)
{
    gra_work *f = variant[gra_tape_isa(j->tape)];
    if (j->worker == ALL)
        gra_parallel(j->tape, n, j->chunk, f, j);
    else
        f(j, 0, n, j->worker);
}

static void product(const struct job *j, int m, int n, int k, gra_mat left, gra_mat right, real *out, int width)
{
    if (j->worker == ALL)
        gra_gemm(j->tape, m, n, k, left, right, out, width, false);
    else
        gra_gemm_alone(j->tape, j->worker, m, n, k, left, right, out, width, false);
}

/* out = left right, (m, m) and symmetric: strips of rows up to the diagonal, and the mirror of what is left of it. */
static void symmetric(const struct job *j, int m, int k, gra_mat left, gra_mat right, real *out)
{
    const int strip = j->worker == ALL ? STRIP_OF_ALL : right.col == 1 ? STRIP : STRIP_PACKED;
    for (int i = 0; i < m; i += strip) {
        const int high = m - i < strip ? m - i : strip, tiles = (i + high + WHOLE - 1) / WHOLE * WHOLE;
        const gra_mat here = { left.p + i * left.row, left.row, left.col };
        product(j, high, tiles < m ? tiles : m, k, here, right, out + (size_t)i * (size_t)m, m);
        for (size_t col = 0; col < (size_t)i; col++)
            for (size_t row = (size_t)i; row < (size_t)(i + high); row++)
                out[col * (size_t)m + row] = out[row * (size_t)m + col];
    }
}

static gra_mat square(const real *p, int m)
{
    return (gra_mat){ p, m, 1 };
}

static void exchange(real **one, real **other)
{
    real *was = *one;
    *one = *other;
    *other = was;
}

/* Newton-Schulz. Q takes `together` rounds before X is multiplied by it: all of them, or in a nearly square
 * matrix, where that saves nothing, one. */
static void orthogonalise(struct job *j)
{
    const int m = shorter(j->p), n = longer(j->p), width = cols(j->p), rounds = j->opt->ns_steps;
    const int together = n >= 2 * m ? rounds : 1;
    for (int done = 0; done < rounds; done += together) {
        const gra_mat across = { j->x, width, 1 }, down = { j->x, 1, width };
        const bool wide = width > m;
        symmetric(j, m, n, wide ? across : down, wide ? down : across, j->gram);
        for (int round = 1; round <= together; round++) {
            symmetric(j, m, m, square(j->gram, m), square(j->gram, m), j->poly);
            each(j, polynomial_variants, (size_t)m * (size_t)m);
            for (size_t i = 0; i < (size_t)m; i++)
                j->poly[i * ((size_t)m + 1)] += (real)a;
            if (round < together) {
                symmetric(j, m, m, square(j->poly, m), square(j->gram, m), j->spare);
                symmetric(j, m, m, square(j->spare, m), square(j->poly, m), j->gram);
            }
            if (round > 1)
                symmetric(j, m, m, square(j->poly, m), square(j->q, m), j->spare);
            exchange(&j->q, round > 1 ? &j->spare : &j->poly);
        }
        if (wide)
            product(j, m, n, m, square(j->q, m), across, j->next, n);
        else
            product(j, n, m, m, across, square(j->q, m), j->next, m);
        exchange(&j->x, &j->next);
    }
}

static void treat(const gra_muon *opt, int i, int worker, real *room)
{
    gra_tensor *p = gra_param_at(opt->model, i);
    const size_t squares = (size_t)shorter(p) * (size_t)shorter(p);
    struct job j = { .opt = opt, .tape = gra_model_tape(opt->model), .worker = worker, .p = p,
                     .v = opt->v[i]->data, .x = room, .next = room + p->size, .gram = room + 2 * p->size,
                     .chunk = p->size / GRA_CHUNKS < CHUNK ? CHUNK : p->size / GRA_CHUNKS + 1 };
    j.poly = j.gram + squares;
    j.q = j.poly + squares;
    j.spare = j.q + squares;
    each(&j, update_variants, p->size);
    double sum = 0;
    for (int k = 0; k < GRA_CHUNKS; k++)
        sum += j.sum[k];
    j.scale = 1 / (sqrt(sum) + 1e-7);
    each(&j, normalise_variants, p->size);
    orthogonalise(&j);
    each(&j, move_variants, p->size);
}

/* ---- all of them ---- */

static bool moves(const gra_muon *opt, size_t i, bool is_small)
{
    const gra_tensor *p = gra_param_at(opt->model, (int)i);
    return opt->v[i] && p->grad && (p->size <= small) == is_small;      /* no gradient: it is frozen */
}

static void treat_small(void *arg, size_t from, size_t to, int worker)
{
    const gra_muon *opt = arg;
    for (size_t i = from; i < to; i++)
        if (moves(opt, i, true))
            treat(opt, (int)i, worker, opt->room->own + (size_t)worker * opt->room->values);
}

void gra_muon_step(gra_muon *opt)
{
    if (!gra_group_ready(opt->model, "muon", opt->v, opt->params))
        return;
    gra_tape *t = gra_model_tape(opt->model);
    const size_t n = (size_t)opt->params;
    if (gra_threads(t) > opt->room->threads) {          /* another tape than at first */
        struct gra_muon_room *larger = make_room(opt);
        if (!larger)
            return;
        opt->room = larger;
    }
    gra_parallel(t, n, 1, treat_small, opt);
    for (size_t i = 0; i < n; i++)
        if (moves(opt, i, false))
            treat(opt, (int)i, ALL, opt->room->large);
}
