/* muon: momentum, orthogonalised by Newton-Schulz, for matrices (Jordan et al. 2024).
 *
 *     v  = momentum v + (1 - momentum) g
 *     u  = momentum v + (1 - momentum) g                     Nesterov's look ahead
 *     X  = u / (|u| + 1e-7)                                   |u|: the Frobenius norm
 *     five times: A = X X^T, X = (a I + b A + c A^2) X        all singular values come near 1
 *     p *= 1 - lr weight_decay
 *     p -= lr sqrt(max(1, rows / columns)) X
 *
 * X^T serves as well as X, so X is laid out with no more rows than columns: A is then the smaller square. */
#include "group.h"

static const double a = 3.4445, b = -4.7750, c = 2.0315;

static bool takes_2d(const gra_tensor *p)
{
    return p->ndim == 2;
}

/* Memory for the largest matrix: X (m, n) and the next one, A and a polynomial of it (m, m). */
struct gra_muon_room {
    real *x, *next, *gram, *poly;
};

static struct gra_muon_room *make_room(const gra_muon *opt)
{
    size_t values = 0, square = 0;
    for (int i = 0; i < gra_param_count(opt->model); i++) {
        const gra_tensor *p = gra_param_at(opt->model, i);
        if (!opt->v[i])
            continue;
        size_t m = (size_t)(p->shape[0] < p->shape[1] ? p->shape[0] : p->shape[1]);
        values = p->size > values ? p->size : values;
        square = m * m > square ? m * m : square;
    }
    struct gra_muon_room *room = gra_model_alloc(opt->model, sizeof *room);
    real *all = gra_model_alloc(opt->model, 2 * (values + square) * sizeof(real));
    if (!room || !all)
        return NULL;
    *room = (struct gra_muon_room){ all, all + values, all + 2 * values, all + 2 * values + square };
    return room;
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
    opt->momentum = opt->momentum != 0 ? opt->momentum : 0.95;
    opt->v = gra_group_state(opt->model, opt->takes ? opt->takes : takes_2d, "muon.momentum_buffer");
    opt->params = gra_param_count(opt->model);
    opt->room = opt->v ? make_room(opt) : NULL;
    return opt->room ? 0 : -1;
}

/* u into x, row by row, or transposed when the matrix is tall. */
static void update(double momentum, const gra_tensor *p, real *v, real *x)
{
    const size_t rows = (size_t)p->shape[0], cols = (size_t)p->shape[1];
    const size_t row = rows > cols ? 1 : cols, col = rows > cols ? rows : 1;
    const real keep = (real)momentum, gain = (real)(1 - momentum), *g = p->grad;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            size_t at = i * cols + j;
            v[at] = keep * v[at] + gain * g[at];
            x[i * row + j * col] = keep * v[at] + gain * g[at];
        }
}

/* Newton-Schulz on room->x (m, n), m <= n; the result is room->x again. */
static void orthogonalise(gra_tape *t, int m, int n, struct gra_muon_room *room)
{
    const size_t size = (size_t)m * (size_t)n, square = (size_t)m * (size_t)m;
    const real scale = (real)(1 / (sqrt(gra_sum_squared(room->x, size)) + 1e-7));
    for (size_t i = 0; i < size; i++)
        room->x[i] *= scale;
    for (int step = 0; step < 5; step++) {
        real *x = room->x, *gram = room->gram, *poly = room->poly;
        gra_gemm(t, m, m, n, (gra_mat){ x, n, 1 }, (gra_mat){ x, 1, n }, gram, m, false);   /* A = X X^T */
        gra_gemm(t, m, m, m, (gra_mat){ gram, m, 1 }, (gra_mat){ gram, m, 1 }, poly, m, false);    /* A^2 */
        for (size_t i = 0; i < square; i++)
            poly[i] = (real)b * gram[i] + (real)c * poly[i];
        for (size_t i = 0; i < square; i += (size_t)m + 1)
            poly[i] += (real)a;                                                     /* the diagonal: a I */
        gra_gemm(t, m, n, m, (gra_mat){ poly, m, 1 }, (gra_mat){ x, n, 1 }, room->next, n, false);
        room->x = room->next;
        room->next = x;
    }
}

static void move(const gra_muon *opt, const gra_tensor *p, const real *x)
{
    const size_t rows = (size_t)p->shape[0], cols = (size_t)p->shape[1];
    const size_t row = rows > cols ? 1 : cols, col = rows > cols ? rows : 1;
    const real keep = (real)(1 - opt->lr * opt->weight_decay);
    const real rate = (real)(opt->lr * sqrt(rows > cols ? (double)rows / (double)cols : 1));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            p->data[i * cols + j] = keep * p->data[i * cols + j] - rate * x[i * row + j * col];
}

void gra_muon_step(gra_muon *opt)
{
    if (!gra_group_ready(opt->model, "muon", opt->v, opt->params))
        return;
    for (int i = 0; i < gra_param_count(opt->model); i++) {
        const gra_tensor *p = gra_param_at(opt->model, i);
        if (!opt->v[i] || !p->grad)             /* no gradient: the parameter is frozen */
            continue;
        const int rows = p->shape[0], cols = p->shape[1];
        update(opt->momentum, p, opt->v[i]->data, opt->room->x);
        orthogonalise(gra_model_tape(opt->model), rows < cols ? rows : cols, rows < cols ? cols : rows, opt->room);
        move(opt, p, opt->room->x);
    }
}
