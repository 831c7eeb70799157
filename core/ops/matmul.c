/* matmul: y = a b,  da += dy b^T,  db += a^T dy.
 * So each matrix of a batch. a or b may be stored transposed; batch dimensions broadcast, and the gradient of
 * a matrix that several products share is summed over them. */
#include "../kernel.h"

/* One product of the batch: a matrix of y, of a and of b, and of their gradients; da.p or db.p is NULL where
 * that gradient is not wanted. */
struct product {
    gra_mat     y, a, b, dy, da, db;
    bool        more;                   /* false: this one is behind the last */
    gra_tensor *of;                     /* y as a whole */
    gra_walk    walk;
    size_t      i;                      /* how far we are in this piece of the walk */
};
static struct product first(gra_tensor *y);
static void next(struct product *p);

/* gra_gemm(machine, a, b, c, add) computes c = a b, or c += a b if add is true. */
static void forward(gra_tensor *y)
{
    gra_machine *machine = gra_tape_machine(y->tape);
    for (struct product p = first(y); p.more; next(&p))
        gra_gemm(machine, p.a, p.b, p.y, false);                                /* y = a b */
}

static void backward(gra_tensor *y)
{
    gra_machine *machine = gra_tape_machine(y->tape);
    for (struct product p = first(y); p.more; next(&p)) {
        if (p.da.p)
            gra_gemm(machine, p.dy, gra_mat_transpose(p.b), p.da, true);        /* da += dy b^T */
        if (p.db.p)
            gra_gemm(machine, gra_mat_transpose(p.a), p.dy, p.db, true);        /* db += a^T dy */
    }
}

/* ---- the products of a batch ---- */

struct args {
    bool ta, tb;                        /* ta: a is stored as (k, m), tb: b is stored as (n, k) */
    int  m, n, k;                       /* of each product: (m, n) = (m, k) (k, n) */
};

static gra_shape batch_of(gra_shape s)          /* without the last two dimensions */
{
    s.ndim -= 2;
    return s;
}

static gra_mat stored(bool transposed, int rows, int cols)      /* a matrix whose place is not yet known */
{
    return transposed ? gra_mat_transpose(gra_mat_of(NULL, cols, rows)) : gra_mat_of(NULL, rows, cols);
}

static real *at(real *p, size_t i) { return p ? p + i : NULL; }

/* Where a or b is stretched along the batch, the walk's step is 0: its matrix stays the same. */
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
    const gra_shape batch = batch_of(y->shape);
    size_t n;
    gra_shape_size(batch, &n);
    struct product p = { .of = y };
    p.y = p.dy = stored(false, s->m, s->n);
    p.a = p.da = stored(s->ta, s->m, s->k);
    p.b = p.db = stored(s->tb, s->k, s->n);
    p.walk = gra_walk_begin(batch, batch_of(y->in[0]->shape), batch_of(y->in[1]->shape), 0, n);
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
                               .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "matmul", a, b))
        return gra_empty(t);
    if (a->shape.ndim < 2 || b->shape.ndim < 2)
        return gra_fail(t, "matmul: a is %s and b is %s: both must be matrices (reshape a vector to one row "
                        "or column)", GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    struct args s = { .ta = ta, .tb = tb, .m = gra_dim(a, ta ? -1 : -2), .n = gra_dim(b, tb ? -2 : -1),
                      .k = gra_dim(a, ta ? -2 : -1) };
    int kb = gra_dim(b, tb ? -1 : -2);
    if (s.k != kb)
        return gra_fail(t, "matmul: a is %s%s but b is %s%s: the inner sizes %d and %d differ",
                        GRA_SHAPE_OF(a), ta ? " transposed" : "",
                        GRA_SHAPE_OF(b), tb ? " transposed" : "", s.k, kb);
    gra_shape shape;
    if (!gra_broadcast(batch_of(a->shape), batch_of(b->shape), &shape))
        return gra_fail(t, "matmul: a is %s but b is %s: their batch dimensions do not broadcast",
                        GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    shape.dim[shape.ndim++] = s.m;
    shape.dim[shape.ndim++] = s.n;
    gra_tensor *y = gra_result(t, &op, shape, a, b);
    memcpy(y->args, &s, sizeof s);
    return gra_run(y);
}

gra_tensor *gra_matmul(gra_tape *t, gra_tensor *a, gra_tensor *b)    { return matmul(t, a, b, false, false); }
gra_tensor *gra_matmul_nt(gra_tape *t, gra_tensor *a, gra_tensor *b) { return matmul(t, a, b, false, true); }
gra_tensor *gra_matmul_tn(gra_tape *t, gra_tensor *a, gra_tensor *b) { return matmul(t, a, b, true, false); }
