/* Printing: what PyTorch 1.13 prints for the same values. */
#include "core/op.h"
#include "lib/folder.h"
#include "lib/suites.h"

#define OF(...)     (const real[]){ __VA_ARGS__ }, { 0 }
#define COUNT(...)  NULL, { __VA_ARGS__ }
#define SIZES(...)  { LENGTH(((int[]){ __VA_ARGS__ })), { __VA_ARGS__ } }
#define INF         (real)INFINITY
#define ZEROS       "000000000000000000000000000000000000000000000000000000000000000000000000000000"

static const struct {
    const char *text;                   /* after "tensor(", up to ")" */
    int         digits;
    gra_shape   shape;
    const real *x;
    double      count[2];               /* if x is NULL: the first value, and the step to the next */
} prints[] = {
    { "3.1416", 4, { 0, { 0 } }, OF((real)3.14159) },
    { "[1., 2., 3.]", 4, SIZES(3), OF(1, 2, 3) },
    { "[[1.0000, 2.0000, 3.0000],\n"
      "        [4.0000, 5.0000, 6.5000]]", 4, SIZES(2, 3), OF(1, 2, 3, 4, 5, (real)6.5) },
    { "[[0., 0.],\n"
      "        [0., 0.]]", 4, SIZES(2, 2), OF(0, 0, 0, 0) },
    { "[], size=(0, 3)", 4, SIZES(0, 3), COUNT(0) },
    { "[]", 4, SIZES(0), COUNT(0) },
    { "[1.50, 2.00]", 2, SIZES(2), OF((real)1.5, 2) },
    { "not a valid shape", 4, SIZES(-1), COUNT(0) },

    /* far apart, or not finite */
    { "[[ 5.0000e-01,  1.0000e-05],\n"
      "        [ 1.0000e+03, -2.0000e+00]]", 4, SIZES(2, 2), OF((real)0.5, (real)1e-5, 1000, -2) },
    { "[1.0000e+09, 2.0000e+00]", 4, SIZES(2), OF(1000000000, 2) },
    { "[2.0000e+08, 3.0000e+08]", 4, SIZES(2), OF(200000000, 300000000) },
    { "[2.0000e-05, 3.0000e-05]", 4, SIZES(2), OF((real)2e-5, (real)3e-5) },
    { "[   nan,    inf,   -inf, 1.5000]", 4, SIZES(4), OF((real)NAN, INF, -INF, (real)1.5) },
    { "[[  0.,  -1.],\n"
      "        [-inf, 100.]]", 4, SIZES(2, 2), OF(0, -1, -INF, 100) },

    { "[[[0.0000, 0.1429, 0.2857, 0.4286],\n"
      "         [0.5714, 0.7143, 0.8571, 1.0000],\n"
      "         [1.1429, 1.2857, 1.4286, 1.5714]],\n"
      "\n"
      "        [[1.7143, 1.8571, 2.0000, 2.1429],\n"
      "         [2.2857, 2.4286, 2.5714, 2.7143],\n"
      "         [2.8571, 3.0000, 3.1429, 3.2857]]]", 4, SIZES(2, 3, 4), COUNT(0, 1.0 / 7) },

    /* long lines; a number longer than a line gets its own line */
    { "[ 0.0000,  1.2500,  2.5000,  3.7500,  5.0000,  6.2500,  7.5000,  8.7500,\n"
      "        10.0000, 11.2500, 12.5000, 13.7500, 15.0000, 16.2500, 17.5000, 18.7500,\n"
      "        20.0000, 21.2500, 22.5000, 23.7500, 25.0000, 26.2500, 27.5000, 28.7500,\n"
      "        30.0000, 31.2500, 32.5000, 33.7500, 35.0000, 36.2500]", 4, SIZES(30), COUNT(0, 1.25) },
    { "[-3., -2., -1.,  0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10.,\n"
      "        11., 12., 13., 14., 15., 16.]", 4, SIZES(20), COUNT(-3, 1) },
    { "[1.5" ZEROS ",\n        2.5" ZEROS "]", (int)sizeof ZEROS, SIZES(2), OF((real)1.5, (real)2.5) },

    /* more than 1000 values, with few rows or few columns */
    { "[[0.0000e+00, 1.2500e-01, 2.5000e-01,  ..., 4.6250e+00, 4.7500e+00,\n"
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
      "         1.4988e+02]]", 4, SIZES(30, 40), COUNT(0, 0.125) },
    { "[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n"
      "        1.9990e+03]", 4, SIZES(2000), COUNT(0, 1) },
    { "[[1., 1., 1.,  ..., 1., 1., 1.],\n"
      "        [1., 1., 1.,  ..., 1., 1., 1.]]", 4, SIZES(2, 600), COUNT(1, 0) },
    { "[[1., 1.],\n        [1., 1.],\n        [1., 1.],\n        ...,\n"
      "        [1., 1.],\n        [1., 1.],\n        [1., 1.]]", 4, SIZES(600, 2), COUNT(1, 0) },
};

TESTS(printed_as_by_pytorch, LENGTH(prints))    /* _i: of prints */
{
    static real x[2000];
    char got[8192], expected[8192];
    snprintf(expected, sizeof expected, "tensor(%s)\n", prints[_i].text);
    for (int i = 0; i < LENGTH(x); i++)
        x[i] = (real)(prints[_i].count[0] + i * prints[_i].count[1]);
    FILE *f = tmpfile();
    ck_assert_ptr_nonnull(f);
    gra_fprint(f, prints[_i].x ? prints[_i].x : x, prints[_i].shape, prints[_i].digits);
    rewind(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    ck_assert_str_eq(got, expected);
}

TEST(to_standard_output)
{
    static const char path[] = GRADUS_BUILD "/print.txt";
    char got[64] = "";
    gra_tape *t = gra_open(1);
    ck_assert_ptr_nonnull(freopen(path, "w", stdout));
    gra_begin(t, GRA_GRAD, NULL);
    gra_print(gra_full(t, 7, GRA_SHAPE(2)));
    gra_fprint(stdout, NULL, GRA_SHAPE(2), 4);          /* such as the gradient of a frozen parameter */
    fflush(stdout);
    read_text(path, got, sizeof got);
    ck_assert_str_eq(got, "tensor([7., 7.])\ntensor(no values, size=(2))\n");
    gra_close(t);
}
