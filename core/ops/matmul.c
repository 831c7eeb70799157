/* matmul: y = a b, in each matrix of a batch; a or b may stand transposed, the batch dimensions
 * broadcast. da += dy b^T, db += a^T dy, summed over the matrices that shared an operand. */
#include "../op.h"

struct args {
    bool ta, tb;                        /* ta: a is stored as (k, m), tb: b is stored as (n, k) */
    int  m, n, k;                       /* of each product: (m, n) = (m, k) (k, n) */
};

/* The matrix at p: element (i, j) is p[i * row + j * col], so a transposed one has its strides exchanged. */
static gra_mat matrix(const real *p, int cols, bool transposed)
{
    return transposed ? (gra_mat){ p, 1, cols } : (gra_mat){ p, cols, 1 };
}

static gra_shape batch_of(gra_shape s)          /* without the last two dimensions */
{
    s.ndim -= 2;
    return s;
}

static void forward_one(gra_tensor *y, size_t at_y, size_t at_a, size_t at_b)
{
    const struct args *s = y->args;
    gra_mat a = matrix(y->in[0]->data + at_a, gra_dim(y->in[0], -1), s->ta);
    gra_mat b = matrix(y->in[1]->data + at_b, gra_dim(y->in[1], -1), s->tb);
    /* overwrite y */
    gra_gemm(gra_tape_machine(y->tape), s->m, s->n, s->k, a, b, y->data + at_y, s->n, false);
}

static gra_mat transpose(gra_mat x) { return (gra_mat){ x.p, x.col, x.row }; }

static void backward_one(gra_tensor *y, size_t at_y, size_t at_a, size_t at_b)
{
    const struct args *s = y->args;
    const int m = s->m, n = s->n, k = s->k;
    /* matrices of y that share one of a or b add to the same gradient, too */
    const bool accumulate = true;
    const gra_mat a = matrix(y->in[0]->data + at_a, gra_dim(y->in[0], -1), s->ta);
    const gra_mat b = matrix(y->in[1]->data + at_b, gra_dim(y->in[1], -1), s->tb),
        dy = { y->grad + at_y, n, 1 };
    real *da = y->in[0]->grad, *db = y->in[1]->grad;
    gra_machine *machine = gra_tape_machine(y->tape);
    if (da && !s->ta)
        gra_gemm(machine, m, k, n, dy, transpose(b), da + at_a, k, accumulate);   /* da += dy b^T */
    if (da && s->ta)
        gra_gemm(machine, k, m, n, b, transpose(dy), da + at_a, m, accumulate);   /* its transpose, b dy^T */
    if (db && !s->tb)
        gra_gemm(machine, k, n, m, transpose(a), dy, db + at_b, n, accumulate);   /* db += a^T dy */
    if (db && s->tb)
        gra_gemm(machine, n, k, m, transpose(dy), a, db + at_b, k, accumulate);   /* its transpose, dy^T a */
}

/* Calls f for each matrix of the batch, with the places where it and its operands begin. Where a or b is
 * stretched along the batch, several matrices of y share one of its matrices (the walk's step is 0). */
static void each_matrix(gra_tensor *y, void (*f)(gra_tensor *y, size_t at_y, size_t at_a, size_t at_b))
{
    const struct args *s = y->args;
    const gra_shape batch = batch_of(y->shape);
    size_t n;
    gra_shape_size(batch, &n);
    const size_t size_y = (size_t)s->m * (size_t)s->n, size_a = (size_t)s->m * (size_t)s->k,
                 size_b = (size_t)s->k * (size_t)s->n;
    for (gra_walk w = gra_walk_begin(batch, batch_of(y->in[0]->shape), batch_of(y->in[1]->shape), 0, n); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            f(y, (w.y + i) * size_y, (w.a + i * w.step_a) * size_a, (w.b + i * w.step_b) * size_b);
}

static void forward(gra_tensor *y)  { each_matrix(y, forward_one); }
static void backward(gra_tensor *y) { each_matrix(y, backward_one); }

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
