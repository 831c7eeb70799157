/* Shapes: sizes, texts, dimensions, broadcasting. */
#include "../core/op.h"
#include "suites.h"

static gra_tensor shaped(int ndim, const int *shape)
{
    gra_tensor x = { .ndim = ndim };
    memcpy(x.shape, shape, (size_t)ndim * sizeof(int));
    ck_assert(gra_shape_size(ndim, shape, &x.size));
    return x;
}

START_TEST(sizes)
{
    size_t size = 99;
    ck_assert(gra_shape_size(0, NULL, &size) && size == 1);
    ck_assert(gra_shape_size(GRA_DIMS(2, 3, 4), &size) && size == 24);
    ck_assert(gra_shape_size(GRA_DIMS(2, 0, 4), &size) && size == 0);
    ck_assert(gra_shape_size(GRA_DIMS(INT_MAX, 0, INT_MAX, INT_MAX, INT_MAX), &size) == false || size == 0);
    ck_assert(gra_shape_size(GRA_DIMS(50257, 64, 768), &size) && size == (size_t)50257 * 64 * 768);
    ck_assert(!gra_shape_size(GRA_DIMS(INT_MAX, INT_MAX, INT_MAX), &size));
    ck_assert(!gra_shape_size(GRA_DIMS(2, -1), &size));
    ck_assert(!gra_shape_size(-1, NULL, &size));
    ck_assert(!gra_shape_size(GRA_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1), &size));
}
END_TEST

START_TEST(texts)
{
    char text[GRA_SHAPE_TEXT];
    ck_assert_str_eq(gra_shape_text(0, NULL, text), "()");
    ck_assert_str_eq(gra_shape_text(GRA_DIMS(2), text), "(2)");
    ck_assert_str_eq(gra_shape_text(GRA_DIMS(2, 3), text), "(2, 3)");
    gra_shape_text(GRA_DIMS(INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN), text);
    ck_assert_int_eq(text[strlen(text) - 1], ')');
}
END_TEST

START_TEST(dimensions)
{
    gra_tensor x = shaped(GRA_DIMS(2, 3, 4));
    ck_assert_int_eq(gra_dim(&x, 0), 2);
    ck_assert_int_eq(gra_dim(&x, -1), 4);
    ck_assert_int_eq(gra_dim(&x, 3), 0);
    ck_assert_int_eq(gra_dim(&x, -4), 0);
    ck_assert_int_eq(gra_dim(NULL, 0), 0);
    ck_assert_int_eq(gra_wrap_dim(&x, -3), 0);
    ck_assert_int_eq(gra_wrap_dim(&x, -4), -1);
    gra_around a = gra_around_dim(&x, 1);
    ck_assert(a.outer == 2 && a.n == 3 && a.inner == 4);
}
END_TEST

START_TEST(shapes_that_do_not_fit)
{
    int shape[GRA_MAX_DIMS];
    gra_tensor a = shaped(GRA_DIMS(2, 3)), b = shaped(GRA_DIMS(2, 2));
    ck_assert_int_eq(gra_broadcast(&a, &b, shape), -1);
    b = shaped(GRA_DIMS(3, 2));
    ck_assert_int_eq(gra_broadcast(&a, &b, shape), -1);
}
END_TEST

START_TEST(stretched)                   /* inputs that are not there are not */
{
    gra_tensor y = shaped(GRA_DIMS(2, 3)), a = shaped(GRA_DIMS(3)), *in[] = { &y, NULL, &a };
    y.in = in;
    y.nin = 2;
    ck_assert(!gra_stretched(&y));
    y.nin = 3;
    ck_assert(gra_stretched(&y));
}
END_TEST

/* Walks y = a (+) b from every start to every end and compares with the indices computed one by one. */
static void compare_walks(gra_tensor a, gra_tensor b)
{
    gra_tensor y = { .ndim = 0 };
    y.ndim = gra_broadcast(&a, &b, y.shape);
    ck_assert_int_ge(y.ndim, 0);
    ck_assert(gra_shape_size(y.ndim, y.shape, &y.size));
    for (size_t from = 0; from <= y.size; from++)
        for (size_t to = from; to <= y.size; to++) {
            size_t seen = from;
            for (gra_walk w = gra_walk_begin(&y, &a, &b, from, to); w.n; gra_walk_next(&w))
                for (size_t i = 0; i < w.n; i++, seen++) {
                    size_t rest = seen, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
                    for (int d = 1; d <= y.ndim; d++) {
                        size_t n = (size_t)y.shape[y.ndim - d], at = rest % n;
                        size_t na = d <= a.ndim ? (size_t)a.shape[a.ndim - d] : 1;
                        size_t nb = d <= b.ndim ? (size_t)b.shape[b.ndim - d] : 1;
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

START_TEST(walks)
{
    compare_walks(shaped(GRA_DIMS(2, 3)), shaped(GRA_DIMS(2, 3)));
    compare_walks(shaped(GRA_DIMS(4, 3)), shaped(GRA_DIMS(3)));
    compare_walks(shaped(GRA_DIMS(4, 1)), shaped(GRA_DIMS(1, 3)));
    compare_walks(shaped(GRA_DIMS(2, 1, 3)), shaped(GRA_DIMS(4, 1)));
    compare_walks(shaped(GRA_DIMS(2, 2, 3, 2)), shaped(GRA_DIMS(2, 1, 1, 2)));
    compare_walks(shaped(GRA_DIMS(3, 1, 2)), shaped(GRA_DIMS(1, 5, 1)));
    compare_walks(shaped(0, (const int[]){ 0 }), shaped(GRA_DIMS(2, 3)));
    compare_walks(shaped(0, (const int[]){ 0 }), shaped(0, (const int[]){ 0 }));
    compare_walks(shaped(GRA_DIMS(1, 1)), shaped(GRA_DIMS(1)));
    compare_walks(shaped(GRA_DIMS(2, 0, 3)), shaped(GRA_DIMS(1, 3)));
}
END_TEST

Suite *shape_suite(void)
{
    Suite *s = suite_create("shape");
    TCase *c = tcase_create("shape");
    tcase_add_test(c, sizes);
    tcase_add_test(c, texts);
    tcase_add_test(c, dimensions);
    tcase_add_test(c, shapes_that_do_not_fit);
    tcase_add_test(c, stretched);
    tcase_add_test(c, walks);
    suite_add_tcase(s, c);
    return s;
}
