/* Printing: what PyTorch 1.13 prints for the same values. */
#include "core/op.h"
#include "lib/suites.h"

#include <stdlib.h>

static void expect_print(const char *expected, const real *x, gra_shape shape, int digits)
{
    char got[8192];
    FILE *f = tmpfile();
    ck_assert_ptr_nonnull(f);
    gra_fprint(f, x, shape, digits);
    rewind(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    ck_assert_str_eq(got, expected);
}

static real *counted(int n, double step, double from)
{
    real *x = malloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++)
        x[i] = (real)(from + i * step);
    return x;
}

TEST(small_ones)
{
    expect_print("tensor(3.1416)\n", (real[]){ (real)3.14159 }, GRA_SCALAR, 4);
    expect_print("tensor([1., 2., 3.])\n", (real[]){ 1, 2, 3 }, GRA_SHAPE(3), 4);
    expect_print("tensor([[1.0000, 2.0000, 3.0000],\n"
                 "        [4.0000, 5.0000, 6.5000]])\n", (real[]){ 1, 2, 3, 4, 5, (real)6.5 },
                 GRA_SHAPE(2, 3), 4);
    expect_print("tensor([[0., 0.],\n"
                 "        [0., 0.]])\n", (real[]){ 0, 0, 0, 0 }, GRA_SHAPE(2, 2), 4);
    expect_print("tensor([], size=(0, 3))\n", NULL, GRA_SHAPE(0, 3), 4);
    expect_print("tensor([1.50, 2.00])\n", (real[]){ (real)1.5, 2 }, GRA_SHAPE(2), 2);
}

TEST(far_apart)
{
    expect_print("tensor([[ 5.0000e-01,  1.0000e-05],\n"
                 "        [ 1.0000e+03, -2.0000e+00]])\n",
                 (real[]){ (real)0.5, (real)1e-5, 1000, -2 }, GRA_SHAPE(2, 2), 4);
    expect_print("tensor([1.0000e+09, 2.0000e+00])\n", (real[]){ 1000000000, 2 }, GRA_SHAPE(2), 4);
    expect_print("tensor([2.0000e+08, 3.0000e+08])\n", (real[]){ 200000000, 300000000 }, GRA_SHAPE(2), 4);
    expect_print("tensor([2.0000e-05, 3.0000e-05])\n", (real[]){ (real)2e-5, (real)3e-5 }, GRA_SHAPE(2), 4);
}

TEST(not_finite)
{
    expect_print("tensor([   nan,    inf,   -inf, 1.5000])\n",
                 (real[]){ (real)NAN, (real)INFINITY, -(real)INFINITY, (real)1.5 }, GRA_SHAPE(4), 4);
    expect_print("tensor([[  0.,  -1.],\n"
                 "        [-inf, 100.]])\n", (real[]){ 0, -1, -(real)INFINITY, 100 }, GRA_SHAPE(2, 2), 4);
}

TEST(three_dimensions)
{
    real x[24];
    for (int i = 0; i < 24; i++)
        x[i] = (real)i / 7;
    expect_print("tensor([[[0.0000, 0.1429, 0.2857, 0.4286],\n"
                 "         [0.5714, 0.7143, 0.8571, 1.0000],\n"
                 "         [1.1429, 1.2857, 1.4286, 1.5714]],\n"
                 "\n"
                 "        [[1.7143, 1.8571, 2.0000, 2.1429],\n"
                 "         [2.2857, 2.4286, 2.5714, 2.7143],\n"
                 "         [2.8571, 3.0000, 3.1429, 3.2857]]])\n", x, GRA_SHAPE(2, 3, 4), 4);
}

TEST(long_lines)
{
    real *x = counted(30, 1.25, 0);
    expect_print("tensor([ 0.0000,  1.2500,  2.5000,  3.7500,  5.0000,  6.2500,  7.5000,  8.7500,\n"
                 "        10.0000, 11.2500, 12.5000, 13.7500, 15.0000, 16.2500, 17.5000, 18.7500,\n"
                 "        20.0000, 21.2500, 22.5000, 23.7500, 25.0000, 26.2500, 27.5000, 28.7500,\n"
                 "        30.0000, 31.2500, 32.5000, 33.7500, 35.0000, 36.2500])\n", x, GRA_SHAPE(30), 4);
    free(x);
    x = counted(20, 1, -3);
    expect_print("tensor([-3., -2., -1.,  0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10.,\n"
                 "        11., 12., 13., 14., 15., 16.])\n", x, GRA_SHAPE(20), 4);
    free(x);
}

TEST(many_values)
{
    real *x = counted(1200, 0.125, 0);
    expect_print("tensor([[0.0000e+00, 1.2500e-01, 2.5000e-01,  ..., 4.6250e+00, 4.7500e+00,\n"
                 "         4.8750e+00],\n"
                 "        [5.0000e+00, 5.1250e+00, 5.2500e+00,  ..., 9.6250e+00, 9.7500e+00,\n"
                 "         9.8750e+00],\n"
                 "        [1.0000e+01, 1.0125e+01, 1.0250e+01,  ..., 1.4625e+01, 1.4750e+01,\n"
                 "         1.4875e+01],\n"
                 "        ...,\n"
                 "        [1.3500e+02, 1.3512e+02, 1.3525e+02,  ..., 1.3962e+02, 1.3975e+02,\n"
                 "         1.3988e+02],\n"
                 "        [1.4000e+02, 1.4012e+02, 1.4025e+02,  ..., 1.4462e+02, 1.4475e+02,\n"
                 "         1.4488e+02],\n"
                 "        [1.4500e+02, 1.4512e+02, 1.4525e+02,  ..., 1.4962e+02, 1.4975e+02,\n"
                 "         1.4988e+02]])\n", x, GRA_SHAPE(30, 40), 4);
    free(x);
    x = counted(2000, 1, 0);
    expect_print("tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n"
                 "        1.9990e+03])\n", x, GRA_SHAPE(2000), 4);
    free(x);
}

TEST(many_values_of_few_rows_or_columns)
{
    real *x = counted(1200, 0, 1);
    expect_print("tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n"
                 "        [1., 1., 1.,  ..., 1., 1., 1.]])\n", x, GRA_SHAPE(2, 600), 4);
    expect_print("tensor([[1., 1.],\n"
                 "        [1., 1.],\n"
                 "        [1., 1.],\n"
                 "        ...,\n"
                 "        [1., 1.],\n"
                 "        [1., 1.],\n"
                 "        [1., 1.]])\n", x, GRA_SHAPE(600, 2), 4);
    free(x);
}

TEST(longer_than_a_line)                /* a line for each */
{
    char expected[256],
         zeros[] = "000000000000000000000000000000000000000000000000000000000000000000000000000000";
    snprintf(expected, sizeof expected, "tensor([1.5%s,\n        2.5%s])\n", zeros, zeros);
    expect_print(expected, (real[]){ (real)1.5, (real)2.5 }, GRA_SHAPE(2), (int)sizeof zeros);
}

TEST(to_standard_output)
{
    static const char path[] = GRADUS_BUILD "/print.txt";
    char got[64] = "";
    gra_tape *t = gra_open(1);
    ck_assert_ptr_nonnull(freopen(path, "w", stdout));
    gra_begin(t, GRA_GRAD, NULL);
    gra_print(gra_full(t, 7, GRA_SHAPE(2)));
    fflush(stdout);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(got, 1, sizeof got - 1, f), 17);
    fclose(f);
    ck_assert_str_eq(got, "tensor([7., 7.])\n");
    gra_close(t);
}

TEST(no_shape)
{
    expect_print("tensor(not a valid shape)\n", NULL, GRA_SHAPE(-1), 4);
}
