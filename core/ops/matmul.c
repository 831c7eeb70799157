/* matmul: y = a b,  da += dy b^T,  db += a^T dy, for each matrix of the batch.
 * a or b may be stored transposed; batch dimensions broadcast, and the gradient of a matrix that several
 * products share is summed over them. */
#include "../tape/tape.h"

struct args {
    bool ta, tb;                        /* ta: a is stored as (k, m), tb: b is stored as (n, k) */
    int  m, n, k;                       /* sizes of each product: (m, n) = (m, k) (k, n) */
    gra_shape batch;                    /* how many products there are */
};

static size_t products(const gra_tensor *y)
{
    size_t n = 0;
    gra_shape_size(((const struct args *)y->args)->batch, &n);
    return n;
}

/* One product of the batch: a matrix each of y, a and b, and of their gradients; da.p or db.p is NULL if that
 * input needs no gradient. */
struct product {
    gra_mat     y, a, b, dy, da, db;
    bool        more;                   /* false: past the end */
    gra_tensor *of;                     /* y as a whole */
    gra_walk    walk;
    size_t      i;                      /* index in this piece of the walk */
};
static struct product first(gra_tensor *y);
static void next(struct product *p);

/* The gradient of a or of b, to which each product of the batch adds. */
struct gradient {
    gra_machine *machine;
    gra_tensor  *y, *x;                 /* x: a or b */
    double      *sum;                   /* the sum of products that share a matrix; NULL: none do */
    real        *one;                   /* a single product, before it is added to the sum */
    size_t       each;                  /* values in one */
};
static struct gradient begin(gra_tensor *y, gra_tensor *x, int rows, int cols);
static void add_product(struct gradient *g, gra_mat dc, gra_mat a, gra_mat b);
static void end(struct gradient *g);

static void forward(gra_tensor *y)
{
    gra_machine *machine = gra_tape_machine(y->tape);
    for (struct product p = first(y); p.more; next(&p))
        gra_gemm(machine, p.a, p.b, p.y, false);                                /* y = a b */
}

static void backward(gra_tensor *y)
{
    struct product p = first(y);
    struct gradient da = begin(y, y->in[0], p.a.rows, p.a.cols), db = begin(y, y->in[1], p.b.rows, p.b.cols);
    for (; p.more && !gra_error(y->tape); next(&p)) {
        add_product(&da, p.da, p.dy, gra_mat_transpose(p.b));                   /* da += dy b^T */
        add_product(&db, p.db, gra_mat_transpose(p.a), p.dy);                   /* db += a^T dy */
    }
    end(&da);
    end(&db);
}

/* ---- the sum of products that share a matrix: in double, since there may be many ---- */

static struct gradient begin(gra_tensor *y, gra_tensor *x, int rows, int cols)
{
    struct gradient g = { .machine = gra_tape_machine(y->tape), .y = y, .x = x };
    const size_t each = (size_t)rows * (size_t)cols;
    if (!x->grad || !each || products(y) == x->size / each)
        return g;
    g.sum = gra_sums_take(y->tape, x->size);
    g.one = gra_grad_take(y->tape, each);
    g.each = each;
    return g;
}

static void add_product(struct gradient *g, gra_mat dc, gra_mat a, gra_mat b)   /* dc += a b */
{
    if (!dc.p)
        return;
    if (!g->sum) {
        gra_gemm(g->machine, a, b, dc, true);
        return;
    }
    double *sum = g->sum + (dc.p - g->x->grad);
    const size_t n = (size_t)dc.rows * (size_t)dc.cols;
    dc.p = g->one;
    gra_gemm(g->machine, a, b, dc, false);
    for (size_t i = 0; i < n; i++)
        sum[i] += (double)g->one[i];
}

static void end(struct gradient *g)
{
    if (!g->sum || !g->one)
        return;
    for (size_t i = 0; i < g->x->size; i++)
        g->x->grad[i] += (real)g->sum[i];
    gra_sums_give_back(g->y->tape, g->x->size, g->sum);
    gra_grad_give_back(g->y->tape, g->each, g->one);
}

/* ---- the products of a batch ---- */

static gra_shape batch_of(gra_shape s)          /* without the last two dimensions */
{
    s.ndim -= 2;
    return s;
}

/* Products that share one b and have contiguous matrices of a are computed as one product of all rows. */
static void join(struct args *s, gra_shape batch_of_b)
{
    size_t n, of_b;
    if (s->ta || !gra_shape_size(s->batch, &n) || !gra_shape_size(batch_of_b, &of_b) || of_b != 1)
        return;
    if (n == 0 || (size_t)s->m > INT_MAX / n)
        return;
    s->m *= (int)n;
    s->batch = GRA_SCALAR;
}

static gra_mat stored(bool transposed, int rows, int cols)      /* a matrix without its data */
{
    return transposed ? gra_mat_transpose(gra_mat_of(NULL, cols, rows)) : gra_mat_of(NULL, rows, cols);
}

static real *at(real *p, size_t i) { return p ? p + i : NULL; }

/* If a or b is stretched along the batch, the walk's step is 0, and the matrix stays the same. */
static void find(struct product *p)
{
    p->more = p->walk.n > 0;
    if (!p->more)
        return;
    const struct args *s = p->of->args;
    const gra_walk *w = &p->walk;
    const gra_tensor *y = p->of, *a = y->in[0], *b = y->in[1];
    const size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    const size_t at_y = (w->y + p->i) * m * n, at_a = (w->a + p->i * w->step_a) * m * k,
                 at_b = (w->b + p->i * w->step_b) * k * n;
    p->y.p = y->data + at_y, p->dy.p = at(y->grad, at_y);
    p->a.p = a->data + at_a, p->da.p = at(a->grad, at_a);
    p->b.p = b->data + at_b, p->db.p = at(b->grad, at_b);
}

static struct product first(gra_tensor *y)
{
    const struct args *s = y->args;
    struct product p = { .of = y };
    p.y = p.dy = stored(false, s->m, s->n);
    p.a = p.da = stored(s->ta, s->m, s->k);
    p.b = p.db = stored(s->tb, s->k, s->n);
    p.walk = gra_walk_begin(s->batch, batch_of(y->in[0]->shape), batch_of(y->in[1]->shape), 0, products(y));
    find(&p);
    return p;
}

static void next(struct product *p)
{
    if (++p->i == p->walk.n) {
        gra_walk_next(&p->walk);
        p->i = 0;
    }
    find(p);
}

/* ---- the op ---- */

static gra_tensor *matmul(gra_tape *t, gra_tensor *a, gra_tensor *b, bool ta, bool tb)
{
    static const gra_op op = { .name = "matmul", .forward = forward, .backward = backward,
                               .args = sizeof(struct args), .args_text = "a%T b%T" };
    if (GRA_BAD_INPUTS(t, "matmul", a, b))
        return gra_empty(t);
    if (a->shape.ndim < 2 || b->shape.ndim < 2)
        return gra_fail(t, "matmul: got a %s and b %s, expected matrices: reshape a vector to one row or "
                        "column", GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    const int m = gra_dim(a, ta ? -1 : -2);
    struct args s = { .ta = ta, .tb = tb, .m = m, .n = gra_dim(b, tb ? -2 : -1),
                      .k = gra_dim(a, ta ? -2 : -1) };
    int kb = gra_dim(b, tb ? -1 : -2);
    if (s.k != kb)
        return gra_fail(t, "matmul: got a %s%s and b %s%s: the inner sizes %d and %d differ",
                        GRA_SHAPE_OF(a), ta ? " transposed" : "",
                        GRA_SHAPE_OF(b), tb ? " transposed" : "", s.k, kb);
    gra_shape shape;
    if (!gra_broadcast(batch_of(a->shape), batch_of(b->shape), &shape))
        return gra_fail(t, "matmul: got a %s and b %s: their batch dimensions do not broadcast",
                        GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    s.batch = shape;
    join(&s, batch_of(b->shape));
    shape.dim[shape.ndim++] = m;
    shape.dim[shape.ndim++] = s.n;
    gra_tensor *y = gra_result(t, &op, shape, a, b);
    memcpy(y->args, &s, sizeof s);
    return gra_run(y);
}

gra_tensor *gra_matmul(gra_tape *t, gra_tensor *a, gra_tensor *b)    { return matmul(t, a, b, false, false); }
gra_tensor *gra_matmul_nt(gra_tape *t, gra_tensor *a, gra_tensor *b) { return matmul(t, a, b, false, true); }
gra_tensor *gra_matmul_tn(gra_tape *t, gra_tensor *a, gra_tensor *b) { return matmul(t, a, b, true, false); }
