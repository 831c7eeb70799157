/* muon: momentum, orthogonalised by Newton-Schulz, for matrices (Jordan et al. 2024).
 *
 *     v  = momentum v + (1 - momentum) g
 *     u  = momentum v + (1 - momentum) g                     Nesterov's look ahead
 *     X  = u / (|u| + 1e-7)                                   |u|: the Frobenius norm
 *     ns_steps times: A = X X^T, X = (a I + b A + c A^2) X    all singular values come near 1
 *     p *= 1 - lr weight_decay
 *     p -= lr sqrt(max(1, rows / columns)) X
 *
 * X^T can replace X, so assume that X has no more rows than columns. With P = a I + b A + c A^2 the next A is
 * P A P. So X, which may be long, is multiplied only once:
 *
 *     A = X X^T, Q = I;   ns_steps times: P = a I + b A + c A^2, Q = P Q, A = P A P;   X = Q X
 *
 * The other products are small, square and symmetric: one half of each product is computed, then mirrored. If
 * X is scaled by c^(1/4), then A is sqrt(c) times as large, the factor c of A^2 becomes 1, and P is one such
 * product plus a multiple of I:
 *
 *     P = (A - h I)^2 + d I,   h = -b / (2 sqrt(c)),   d = a - h^2 */
#include "group.h"
#include "../kern/gemm.h"

static const double a = 3.4445, b = -4.7750, c = 2.0315;

enum {
    BLOCK = 32, BLOCK_OF_ALL = 256,     /* columns of a symmetric product at a time: on one thread, on all */
    CHUNK = 1 << 15                     /* values in a chunk of a large matrix, at least */
};
static const char kind[] = "muon.momentum_buffer";
static const size_t small = 1 << 20;    /* values; a matrix up to this size is updated by a single thread */

static bool is_2d(const gra_tensor *p)
{
    return p->shape.ndim == 2;
}

static int rows(const gra_tensor *p)    { return p->shape.dim[0]; }
static int cols(const gra_tensor *p)    { return p->shape.dim[1]; }
static int shorter(const gra_tensor *p) { return rows(p) < cols(p) ? rows(p) : cols(p); }
static int longer(const gra_tensor *p)  { return rows(p) < cols(p) ? cols(p) : rows(p); }

/* The row stride of a working matrix with `width` columns. Rows of whole cache lines get an odd number of
 * lines, because with a power of two the values of a column would compete for the same cache sets. */
static int stride_for(int width)
{
    const int line = 64 / (int)sizeof(real);
    return width % line ? width : (width / line | 1) * line;
}

/* Workspace for the largest matrix, which all threads update, and for each thread, workspace for the largest
 * small matrix. */
struct gra_muon_workspace {
    real  *large, *small;
    size_t small_size;                  /* values of `small` for one thread */
};

static size_t workspace_size(const gra_tensor *p)   /* X and the next X; A, P, Q and a spare one */
{
    const size_t m = (size_t)shorter(p);
    return 2 * (size_t)rows(p) * (size_t)stride_for(cols(p)) + 4 * m * (size_t)stride_for(shorter(p));
}

static struct gra_muon_workspace *make_workspace(const gra_muon *opt)
{
    struct gra_muon_workspace *work = gra_model_alloc(opt->model, sizeof *work);
    size_t large = 0;
    if (!work)
        return NULL;
    for (int i = 0; i < gra_param_count(opt->model); i++) {
        const gra_tensor *p = gra_param_at(opt->model, i);
        size_t *most = p->size > small ? &large : &work->small_size;
        if (opt->filter(p) && workspace_size(p) > *most)        /* a frozen p may be unfrozen later */
            *most = workspace_size(p);
    }
    work->small_size = (work->small_size + 15) / 16 * 16;       /* whole cache lines */
    const size_t threads = (size_t)gra_machine_threads(gra_model_machine(opt->model));
    work->large = gra_model_alloc(opt->model, large * sizeof(real));
    work->small = gra_model_alloc(opt->model, work->small_size * threads * sizeof(real));
    return work->large && work->small ? work : NULL;
}

int gra_muon_init(gra_muon *opt, gra_model *m, gra_param_filter *filter)
{
    gra_need_optimiser(opt, __func__);
    gra_need_model(m, __func__);
    *opt = (gra_muon){ .model = m, .filter = filter ? filter : is_2d, .lr = GRA_NO_LR, .momentum = 0.95,
                       .ns_steps = 5 };
    opt->v = gra_group_state(m, opt->filter, kind);
    opt->params = gra_param_count(m);
    for (int i = 0; opt->v && i < opt->params; i++) {
        const gra_tensor *p = gra_param_at(m, i);
        if (opt->filter(p) && p->shape.ndim != 2) {
            gra_model_fail(m, "gra_muon_init: got %s %s, expected only matrices: give it to another "
                           "optimiser", p->name, GRA_SHAPE_STRING(p->shape));
            opt->v = NULL;
        }
    }
    opt->workspace = opt->v ? make_workspace(opt) : NULL;
    opt->v = opt->workspace ? opt->v : NULL;            /* a step must not begin */
    return opt->workspace ? 0 : -1;
}

/* ---- one matrix: by a single worker, or by all threads ---- */

struct job {
    const gra_muon *opt;
    gra_machine *machine;
    int       worker;                   /* the only worker that computes it, or ALL */
    const gra_tensor *p;
    real     *v;                        /* momentum, shaped like p */
    real     *x, *next;                 /* X and the next X, shaped like p; rows stride_x apart */
    real     *gram, *poly, *q, *spare;  /* A, P, Q and a spare one, (m, m); rows stride_a apart */
    int       m, stride_x, stride_a;
    size_t    chunk;                    /* values in a chunk of update */
    double    scale, sum[GRA_CHUNKS];   /* unit() / |u|; the sum of u^2 in each chunk */
};
enum { ALL = -1 };

static double unit(void) { return sqrt(sqrt(c)); }      /* X is scaled by c^(1/4): see above */

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
        real *x = j->x + row * (size_t)j->stride_x;
        for (size_t i = 0; i < n; i++)
            x[i] = scale * u[i];
    }
}

static void step(struct job *j, size_t from, size_t to)                 /* rows */
{
    const size_t n = (size_t)cols(j->p);
    const double tall = (double)rows(j->p) / (double)cols(j->p);
    const real keep = (real)(1 - j->opt->lr * j->opt->weight_decay);
    const real rate = (real)(j->opt->lr * sqrt(tall > 1 ? tall : 1) / unit());
    for (size_t row = from; row < to; row++) {
        const real *x = j->x + row * (size_t)j->stride_x;
        real *p = j->p->data + row * n;
        for (size_t i = 0; i < n; i++)
            p[i] = keep * p[i] - rate * x[i];
    }
}

struct mirror {                         /* beside = below^T */
    const real *below;
    real       *beside;
    size_t      columns, stride;        /* columns of below; rows of both matrices lie `stride` apart */
};

static void mirror(struct mirror *s, size_t from, size_t to)            /* rows of below, four at a time */
{
    const size_t stride = s->stride;
    for (; from + 4 <= to; from += 4)
        for (size_t col = 0; col < s->columns; col++) {
            const real *x = s->below + from * stride + col;
            const real x0 = x[0], x1 = x[stride], x2 = x[2 * stride], x3 = x[3 * stride];
            real *y = s->beside + col * stride + from;
            y[0] = x0, y[1] = x1, y[2] = x2, y[3] = x3;
        }
    for (; from < to; from++)
        for (size_t col = 0; col < s->columns; col++)
            s->beside[col * stride + from] = s->below[from * stride + col];
}

GRA_VARIANTS(update_variants, update, struct job)
GRA_VARIANTS(normalise_variants, normalise, struct job)
GRA_VARIANTS(step_variants, step, struct job)
GRA_VARIANTS(mirror_variants, mirror, struct mirror)

/* Runs a kernel on all of [0, n): in chunks on all threads, or on the single thread of this job. */
static void run(const struct job *j, gra_work *const variant[GRA_ISAS], void *what, size_t n, size_t chunk)
{
    gra_work *f = gra_variant(j->machine, variant);
    if (j->worker == ALL)
        gra_parallel(j->machine, n, chunk, f, what);
    else
        f(what, 0, n, j->worker);
}

static void product(const struct job *j, gra_mat left, gra_mat right, gra_mat out)
{
    if (j->worker == ALL)
        gra_gemm(j->machine, left, right, out, false);
    else
        gra_gemm_alone(j->machine, j->worker, left, right, out, false);
}

static gra_mat square(const struct job *j, real *p)             /* A, P, Q or the spare one */
{
    return (gra_mat){ p, j->m, j->m, j->stride_a, 1 };
}

static gra_mat matrix(const struct job *j, real *p)             /* X or the next X */
{
    return (gra_mat){ p, rows(j->p), cols(j->p), j->stride_x, 1 };
}

/* out = left right, (m, m) and symmetric: a block of columns is computed from the diagonal down, and its part
 * below the diagonal block is mirrored to the right. */
static void symmetric(const struct job *j, gra_mat left, gra_mat right, real *out)
{
    const int m = j->m, k = left.cols, block = j->worker == ALL ? BLOCK_OF_ALL : BLOCK;
    for (int i = 0; i < m; i += block) {
        const int width = m - i < block ? m - i : block, below = m - i - width;
        const gra_mat corner = gra_mat_part(square(j, out), i, m - i, i, width);
        product(j, gra_mat_part(left, i, m - i, 0, k), gra_mat_part(right, 0, k, i, width), corner);
        if (below > 0) {
            struct mirror s = { .below = corner.p + width * corner.row, .beside = corner.p + width,
                                .columns = (size_t)width, .stride = (size_t)j->stride_a };
            run(j, mirror_variants, &s, (size_t)below, BLOCK);
        }
    }
}

static void swap(real **one, real **other)
{
    real *old = *one;
    *one = *other;
    *other = old;
}

/* P = (A - h I)^2 + d I. A's diagonal is saved and restored, because adding h again would round it. */
static void polynomial(struct job *j)
{
    const double h = -b / 2 / sqrt(c), d = a - h * h;
    const size_t m = (size_t)j->m, stride = (size_t)j->stride_a + 1;
    real *diagonal = j->spare;
    for (size_t i = 0; i < m; i++) {
        diagonal[i] = j->gram[i * stride];
        j->gram[i * stride] -= (real)h;
    }
    symmetric(j, square(j, j->gram), square(j, j->gram), j->poly);
    for (size_t i = 0; i < m; i++) {
        j->gram[i * stride] = diagonal[i];
        j->poly[i * stride] += (real)d;
    }
}

/* Newton-Schulz. Q is the product of `together` rounds, by which X is then multiplied: of all rounds or, for
 * a nearly square matrix, where that saves nothing, of a single round. */
static void orthogonalise(struct job *j)
{
    const int m = j->m, n = longer(j->p), rounds = j->opt->ns_steps, together = n >= 2 * m ? rounds : 1;
    for (int done = 0; done < rounds; done += together) {
        const gra_mat x = matrix(j, j->x), x_t = gra_mat_transpose(x);
        const bool wide = cols(j->p) > m;
        symmetric(j, wide ? x : x_t, wide ? x_t : x, j->gram);
        for (int round = 1; round <= together; round++) {
            polynomial(j);
            if (round < together) {
                symmetric(j, square(j, j->poly), square(j, j->gram), j->spare);
                symmetric(j, square(j, j->spare), square(j, j->poly), j->gram);
            }
            if (round > 1)
                symmetric(j, square(j, j->poly), square(j, j->q), j->spare);
            swap(&j->q, round > 1 ? &j->spare : &j->poly);
        }
        if (wide)
            product(j, square(j, j->q), x, matrix(j, j->next));
        else
            product(j, x, square(j, j->q), matrix(j, j->next));
        swap(&j->x, &j->next);
    }
}

/* A step of parameter i, by one worker or by ALL workers. */
static void step_matrix(const gra_muon *opt, int i, int worker, real *workspace)
{
    gra_tensor *p = gra_param_at(opt->model, i);
    struct job j = { .opt = opt, .machine = gra_model_machine(opt->model), .worker = worker, .p = p,
                     .v = opt->v[i]->data, .m = shorter(p), .stride_x = stride_for(cols(p)),
                     .stride_a = stride_for(shorter(p)),
                     .chunk = p->size / GRA_CHUNKS < CHUNK ? CHUNK : p->size / GRA_CHUNKS + 1 };
    const size_t size_x = (size_t)rows(p) * (size_t)j.stride_x, size_a = (size_t)j.m * (size_t)j.stride_a;
    const size_t n = (size_t)rows(p), rows_chunk = CHUNK / (size_t)j.stride_x + 1;
    j.x = workspace;
    j.next = j.x + size_x;
    j.gram = j.next + size_x;
    j.poly = j.gram + size_a;
    j.q = j.poly + size_a;
    j.spare = j.q + size_a;
    run(&j, update_variants, &j, p->size, j.chunk);
    double sum = 0;
    for (int k = 0; k < GRA_CHUNKS; k++)
        sum += j.sum[k];
    j.scale = unit() / (sqrt(sum) + 1e-7);
    run(&j, normalise_variants, &j, n, rows_chunk);
    orthogonalise(&j);
    run(&j, step_variants, &j, n, rows_chunk);
}

/* ---- a step of all matrices ---- */

static bool is_stepped(const gra_muon *opt, size_t i, bool is_small)
{
    const gra_tensor *p = gra_param_at(opt->model, (int)i);
    return opt->v[i] && p->grad && (p->size <= small) == is_small;      /* no gradient: p is frozen */
}

static void step_small_matrices(void *arg, size_t from, size_t to, int worker)
{
    const gra_muon *opt = arg;
    for (size_t i = from; i < to; i++)
        if (is_stepped(opt, i, true))
            step_matrix(opt, (int)i, worker,
                        opt->workspace->small + (size_t)worker * opt->workspace->small_size);
}

void gra_muon_step(gra_muon *opt)
{
    gra_need_optimiser(opt, __func__);
    if (!gra_group_ready(opt->model, "muon", opt->lr, opt->v, opt->params) ||
        !gra_group_thawed(opt->model, opt->filter, kind, opt->v))
        return;
    if (opt->ns_steps < 1) {
        gra_model_fail(opt->model, "gra_muon_step: got %d for ns_steps, expected 1 or more", opt->ns_steps);
        return;
    }
    const size_t n = (size_t)opt->params;
    gra_machine *machine = gra_model_machine(opt->model);
    const bool rounds = gra_machine_bf16(machine) != GRA_BF16_NONE;
    gra_machine_use_bf16(machine, false);       /* Newton-Schulz does not converge with 8 bits of mantissa */
    gra_parallel(machine, n, 1, step_small_matrices, opt);
    for (size_t i = 0; i < n; i++)
        if (is_stepped(opt, i, false))
            step_matrix(opt, (int)i, ALL, opt->workspace->large);
    gra_machine_use_bf16(machine, rounds);
}
