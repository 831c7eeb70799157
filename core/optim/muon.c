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
 * All between is small, square and symmetric: of such products half is computed, the rest is its mirror. And
 * with X in units in which c is 1 (c^(1/4) X, so A is sqrt(c) A) P is one such product, but for its diagonal:
 *
 *     P = (A - h I)^2 + d I,   h = -b / (2 sqrt(c)),   d = a - h^2 */
#include "group.h"
#include "../internal.h"

static const double a = 3.4445, b = -4.7750, c = 2.0315;

enum {
    BLOCK = 32, BLOCK_OF_ALL = 256,     /* columns of a symmetric product at a time: of one thread, of all */
    CHUNK = 1 << 15                     /* values of a large matrix in a chunk of work, at least */
};
static const size_t small = 1 << 20;    /* values of a matrix that one thread treats alone */

static bool takes_2d(const gra_tensor *p)
{
    return p->shape.ndim == 2;
}

static int rows(const gra_tensor *p)    { return p->shape.dim[0]; }
static int cols(const gra_tensor *p)    { return p->shape.dim[1]; }
static int shorter(const gra_tensor *p) { return rows(p) < cols(p) ? rows(p) : cols(p); }
static int longer(const gra_tensor *p)  { return rows(p) < cols(p) ? cols(p) : rows(p); }

/* The stride of the rows of a working matrix. Rows of whole cache lines get an odd number of lines: with a power of two
 * the values of a column would compete for the same cache sets. */
static int apart(int width)
{
    const int line = 64 / (int)sizeof(real);
    return width % line ? width : (width / line | 1) * line;
}

/* Workspace for the largest matrix of all, and for each thread workspace for the largest small one. */
struct gra_muon_room {
    real  *large, *own;
    size_t values;                      /* of one thread's own */
};

static size_t room_for(const gra_tensor *p)             /* X and the next; A, P, Q and another such square */
{
    return 2 * (size_t)rows(p) * (size_t)apart(cols(p)) + 4 * (size_t)shorter(p) * (size_t)apart(shorter(p));
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
    const size_t threads = (size_t)gra_machine_threads(gra_model_machine(opt->model));
    room->large = gra_model_alloc(opt->model, large * sizeof(real));
    room->own = gra_model_alloc(opt->model, room->values * threads * sizeof(real));
    return room->large && room->own ? room : NULL;
}

int gra_muon_init(gra_muon *opt, gra_model *m, gra_takes *takes)
{
    *opt = (gra_muon){ .model = m, .takes = takes ? takes : takes_2d, .lr = GRA_NO_LR, .momentum = 0.95,
                       .ns_steps = 5 };
    opt->v = gra_group_state(m, opt->takes, "muon.momentum_buffer");
    opt->params = gra_param_count(m);
    for (int i = 0; opt->v && i < opt->params; i++) {
        const gra_tensor *p = gra_param_at(m, i);
        if (opt->v[i] && p->shape.ndim != 2) {
            gra_model_fail(m, "muon: %s is %s, but only matrices can be made orthogonal: give it to another "
                           "optimiser", p->name, GRA_SHAPE_OF(p));
            opt->v = NULL;
        }
    }
    opt->room = opt->v ? make_room(opt) : NULL;
    return opt->room ? 0 : -1;
}

/* ---- one matrix: by one worker alone, or by all threads ---- */

struct job {
    const gra_muon *opt;
    gra_machine *machine;
    int       worker;                   /* or ALL */
    const gra_tensor *p;
    real     *v;                        /* as p */
    real     *x, *next;                 /* as p, but rows `wide` apart */
    real     *gram, *poly, *q, *spare;  /* (m, m): A, P, Q; rows `high` apart */
    int       m, wide, high;
    size_t    chunk;
    double    scale, sum[GRA_CHUNKS];
};
enum { ALL = -1 };

static double unit(void) { return sqrt(sqrt(c)); }     /* what 1 is in X */

static void update(struct job *j, size_t from, size_t to)
{
    const real keep = (real)j->opt->momentum, gain = (real)(1 - j->opt->momentum), *g = j->p->grad;
    real *v = j->v, *u = j->next;
    for (size_t i = from; i < to; i++) {
        v[i] = keep * v[i] + gain * g[i];
        u[i] = keep * v[i] + gain * g[i];
    }
    j->sum[from / j->chunk] += gra_sum_squared(u + from, to - from);
}

static void normalise(struct job *j, size_t from, size_t to)            /* rows */
{
    const size_t n = (size_t)cols(j->p);
    const real scale = (real)j->scale;
    for (size_t row = from; row < to; row++) {
        const real *u = j->next + row * n;
        real *x = j->x + row * (size_t)j->wide;
        for (size_t i = 0; i < n; i++)
            x[i] = scale * u[i];
    }
}

static void move(struct job *j, size_t from, size_t to)                 /* rows */
{
    const size_t n = (size_t)cols(j->p);
    const double tall = (double)rows(j->p) / (double)cols(j->p);
    const real keep = (real)(1 - j->opt->lr * j->opt->weight_decay);
    const real rate = (real)(j->opt->lr * sqrt(tall > 1 ? tall : 1) / unit());
    for (size_t row = from; row < to; row++) {
        const real *x = j->x + row * (size_t)j->wide;
        real *p = j->p->data + row * n;
        for (size_t i = 0; i < n; i++)
            p[i] = keep * p[i] - rate * x[i];
    }
}

struct mirror {                         /* beside = below^T, where below has `wide` columns */
    const real *below;
    real       *beside;
    size_t      wide, next;             /* rows of both lie `next` apart */
};

static void mirror(struct mirror *s, size_t from, size_t to)            /* rows of below, four at a time */
{
    const size_t next = s->next;
    for (; from + 4 <= to; from += 4)
        for (size_t col = 0; col < s->wide; col++) {
            const real *x = s->below + from * next + col;
            const real x0 = x[0], x1 = x[next], x2 = x[2 * next], x3 = x[3 * next];
            real *y = s->beside + col * next + from;
            y[0] = x0, y[1] = x1, y[2] = x2, y[3] = x3;
        }
    for (; from < to; from++)
        for (size_t col = 0; col < s->wide; col++)
            s->beside[col * next + from] = s->below[from * next + col];
}

GRA_VARIANTS(update_variants, update, struct job)
GRA_VARIANTS(normalise_variants, normalise, struct job)
GRA_VARIANTS(move_variants, move, struct job)
GRA_VARIANTS(mirror_variants, mirror, struct mirror)

static void each(const struct job *j, gra_work *const variant[GRA_ISAS], void *what, size_t n, size_t chunk)
{
    gra_work *f = gra_variant(j->machine, variant);
    if (j->worker == ALL)
        gra_parallel(j->machine, n, chunk, f, what);
    else
        f(what, 0, n, j->worker);
}

static void product(const struct job *j, int m, int n, int k, gra_mat left, gra_mat right, real *out,
                    int next)
{
    if (j->worker == ALL)
        gra_gemm(j->machine, m, n, k, left, right, out, next, false);
    else
        gra_gemm_alone(j->machine, j->worker, m, n, k, left, right, out, next, false);
}

/* out = left right, (m, m) and symmetric: a block of columns is computed from the diagonal down, and what is
 * below the block is mirrored to its right. */
static void symmetric(const struct job *j, int k, gra_mat left, gra_mat right, real *out)
{
    const int m = j->m, block = j->worker == ALL ? BLOCK_OF_ALL : BLOCK;
    for (int i = 0; i < m; i += block) {
        const int wide = m - i < block ? m - i : block, below = m - i - wide;
        const gra_mat lower = { left.p + i * left.row, left.row, left.col };
        const gra_mat block_of = { right.p + i * right.col, right.row, right.col };
        real *corner = out + (ptrdiff_t)i * j->high + i;
        product(j, m - i, wide, k, lower, block_of, corner, j->high);
        if (below == 0)
            break;
        struct mirror s = { .below = corner + (ptrdiff_t)wide * j->high, .beside = corner + wide,
                            .wide = (size_t)wide, .next = (size_t)j->high };
        each(j, mirror_variants, &s, (size_t)below, BLOCK);
    }
}

static gra_mat square(const struct job *j, const real *p)
{
    return (gra_mat){ p, j->high, 1 };
}

static void exchange(real **one, real **other)
{
    real *was = *one;
    *one = *other;
    *other = was;
}

/* P = (A - h I)^2 + d I. A's diagonal is put back as it was: adding h would not give its last digits. */
static void polynomial(struct job *j)
{
    const double h = -b / 2 / sqrt(c), d = a - h * h;
    const size_t m = (size_t)j->m, next = (size_t)j->high + 1;
    real *diagonal = j->spare;
    for (size_t i = 0; i < m; i++) {
        diagonal[i] = j->gram[i * next];
        j->gram[i * next] -= (real)h;
    }
    symmetric(j, j->m, square(j, j->gram), square(j, j->gram), j->poly);
    for (size_t i = 0; i < m; i++) {
        j->gram[i * next] = diagonal[i];
        j->poly[i * next] += (real)d;
    }
}

/* Newton-Schulz. Q takes `together` rounds before X is multiplied by it: all of them, or in a nearly square
 * matrix, where that saves nothing, one. */
static void orthogonalise(struct job *j)
{
    const int m = j->m, n = longer(j->p), rounds = j->opt->ns_steps, together = n >= 2 * m ? rounds : 1;
    for (int done = 0; done < rounds; done += together) {
        const gra_mat across = { j->x, j->wide, 1 }, down = { j->x, 1, j->wide };
        const bool wide = cols(j->p) > m;
        symmetric(j, n, wide ? across : down, wide ? down : across, j->gram);
        for (int round = 1; round <= together; round++) {
            polynomial(j);
            if (round < together) {
                symmetric(j, m, square(j, j->poly), square(j, j->gram), j->spare);
                symmetric(j, m, square(j, j->spare), square(j, j->poly), j->gram);
            }
            if (round > 1)
                symmetric(j, m, square(j, j->poly), square(j, j->q), j->spare);
            exchange(&j->q, round > 1 ? &j->spare : &j->poly);
        }
        if (wide)
            product(j, m, n, m, square(j, j->q), across, j->next, j->wide);
        else
            product(j, n, m, m, across, square(j, j->q), j->next, j->wide);
        exchange(&j->x, &j->next);
    }
}

static void treat(const gra_muon *opt, int i, int worker, real *room)
{
    gra_tensor *p = gra_param_at(opt->model, i);
    struct job j = { .opt = opt, .machine = gra_model_machine(opt->model), .worker = worker, .p = p,
                     .v = opt->v[i]->data, .m = shorter(p), .wide = apart(cols(p)), .high = apart(shorter(p)),
                     .chunk = p->size / GRA_CHUNKS < CHUNK ? CHUNK : p->size / GRA_CHUNKS + 1 };
    const size_t whole = (size_t)rows(p) * (size_t)j.wide, squares = (size_t)j.m * (size_t)j.high;
    const size_t n = (size_t)rows(p), some = CHUNK / (size_t)j.wide + 1;
    j.x = room;
    j.next = j.x + whole;
    j.gram = j.next + whole;
    j.poly = j.gram + squares;
    j.q = j.poly + squares;
    j.spare = j.q + squares;
    each(&j, update_variants, &j, p->size, j.chunk);
    double sum = 0;
    for (int k = 0; k < GRA_CHUNKS; k++)
        sum += j.sum[k];
    j.scale = unit() / (sqrt(sum) + 1e-7);
    each(&j, normalise_variants, &j, n, some);
    orthogonalise(&j);
    each(&j, move_variants, &j, n, some);
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
    if (!gra_group_ready(opt->model, "muon", opt->lr, opt->v, opt->params))
        return;
    if (opt->ns_steps < 1) {
        gra_model_fail(opt->model, "gra_muon_step: ns_steps is %d, but it must be 1 or more", opt->ns_steps);
        return;
    }
    const size_t n = (size_t)opt->params;
    gra_parallel(gra_model_machine(opt->model), n, 1, treat_small, opt);
    for (size_t i = 0; i < n; i++)
        if (moves(opt, i, false))
            treat(opt, (int)i, ALL, opt->room->large);
}
