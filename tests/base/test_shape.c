/* Shapes: sizes, texts, dimensions, broadcasting. */
#include "core/op.h"
#include "lib/suites.h"

static gra_tensor shaped(gra_shape shape)
{
    gra_tensor x = { .shape = shape };
    ck_assert(gra_shape_size(shape, &x.size));
    return x;
}

TEST(sizes)
{
    size_t size = 99;
    ck_assert(gra_shape_size(GRA_SCALAR, &size) && size == 1);
    ck_assert(gra_shape_size(GRA_SHAPE(2, 3, 4), &size) && size == 24);
    ck_assert(gra_shape_size(GRA_SHAPE(2, 0, 4), &size) && size == 0);
    ck_assert(gra_shape_size(GRA_SHAPE(INT_MAX, 0, INT_MAX, INT_MAX, INT_MAX), &size) == false || size == 0);
    const bool fits = !ADDRESSES_OF_32_BITS;
    ck_assert(gra_shape_size(GRA_SHAPE(50257, 64, 768), &size) == fits);
    ck_assert_uint_eq(size, fits ? UINT64_C(50257) * 64 * 768 : 0);
    ck_assert(!gra_shape_size(GRA_SHAPE(INT_MAX, INT_MAX, INT_MAX), &size));
    ck_assert(!gra_shape_size(GRA_SHAPE(2, -1), &size));
    ck_assert(!gra_shape_size((gra_shape){ .ndim = -1 }, &size));
    ck_assert(!gra_shape_size((gra_shape){ 9, { 1, 1, 1, 1, 1, 1, 1, 1 } }, &size));
}

TEST(texts)
{
    char text[GRA_SHAPE_TEXT];
    ck_assert_str_eq(gra_shape_text(GRA_SCALAR, text), "()");
    ck_assert_str_eq(gra_shape_text(GRA_SHAPE(2), text), "(2)");
    ck_assert_str_eq(gra_shape_text(GRA_SHAPE(2, 3), text), "(2, 3)");
    gra_shape_text(GRA_SHAPE(INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN), text);
    ck_assert_int_eq(text[strlen(text) - 1], ')');
}

TEST(dimensions)
{
    gra_tensor x = shaped(GRA_SHAPE(2, 3, 4));
    ck_assert_int_eq(gra_dim(&x, 0), 2);
    ck_assert_int_eq(gra_dim(&x, -1), 4);
    ck_assert_int_eq(gra_dim(&x, 3), 0);
    ck_assert_int_eq(gra_dim(&x, -4), 0);
    ck_assert_int_eq(gra_dim(NULL, 0), 0);
    ck_assert_int_eq(gra_wrap_dim(x.shape, -3), 0);
    ck_assert_int_eq(gra_wrap_dim(x.shape, -4), -1);
    gra_dim_split a = gra_split_dim(x.shape, 1);
    ck_assert(a.outer == 2 && a.n == 3 && a.inner == 4);
}

TEST(shapes_that_do_not_fit)
{
    gra_shape both;
    ck_assert(!gra_broadcast(GRA_SHAPE(2, 3), GRA_SHAPE(2, 2), &both));
    ck_assert(!gra_broadcast(GRA_SHAPE(2, 3), GRA_SHAPE(3, 2), &both));
}

/* Walks y = a (+) b from every start to every end, and compares with indices that are computed one at a
 * time. */
static void compare_walks(gra_shape a, gra_shape b)
{
    gra_shape y;
    size_t size;
    ck_assert(gra_broadcast(a, b, &y));
    ck_assert(gra_shape_size(y, &size));
    for (size_t from = 0; from <= size; from++)
        for (size_t to = from; to <= size; to++) {
            size_t seen = from;
            for (gra_walk w = gra_walk_begin(y, a, b, from, to); w.n; gra_walk_next(&w))
                for (size_t i = 0; i < w.n; i++, seen++) {
                    size_t rest = seen, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
                    for (int d = 1; d <= y.ndim; d++) {
                        size_t n = (size_t)y.dim[y.ndim - d], at = rest % n;
                        size_t na = d <= a.ndim ? (size_t)a.dim[a.ndim - d] : 1;
                        size_t nb = d <= b.ndim ? (size_t)b.dim[b.ndim - d] : 1;
                        rest /= n;
                        at_a += (na == 1 ? 0 : at) * step_a;
                        at_b += (nb == 1 ? 0 : at) * step_b;
                        step_a *= na;
                        step_b *= nb;
                    }
                    ck_assert(w.y + i == seen && w.a + i * w.step_a == at_a && w.b + i * w.step_b == at_b);
                }
            ck_assert(seen == to);
        }
}

TEST(walks)
{
    compare_walks(GRA_SHAPE(2, 3), GRA_SHAPE(2, 3));
    compare_walks(GRA_SHAPE(4, 3), GRA_SHAPE(3));
    compare_walks(GRA_SHAPE(4, 1), GRA_SHAPE(1, 3));
    compare_walks(GRA_SHAPE(2, 1, 3), GRA_SHAPE(4, 1));
    compare_walks(GRA_SHAPE(2, 2, 3, 2), GRA_SHAPE(2, 1, 1, 2));
    compare_walks(GRA_SHAPE(3, 1, 2), GRA_SHAPE(1, 5, 1));
    compare_walks(GRA_SCALAR, GRA_SHAPE(2, 3));
    compare_walks(GRA_SCALAR, GRA_SCALAR);
    compare_walks(GRA_SHAPE(1, 1), GRA_SHAPE(1));
    compare_walks(GRA_SHAPE(2, 0, 3), GRA_SHAPE(1, 3));
}
