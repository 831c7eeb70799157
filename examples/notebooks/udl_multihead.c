/* udl_multihead: multi-head self-attention with columns as tokens, from NumPy's seeds (Prince,
 * Understanding Deep Learning, 12.2). NumPy computes in float64, and the notebook prints eight digits of
 * its input: this program is built only in float64. The results are compared with what the notebook printed,
 * examples/notebooks/golden/001_udl_multihead.txt.
 *
 *     make notebooks; build/notebooks64/udl_multihead */
#include "lib/notebook.h"

#include <math.h>

enum { TOKENS = 6, WIDTH = 8, HEADS = 2, HEAD = WIDTH / HEADS };

static gra_tape *t;

/* omega x + beta: one column beta for all tokens */
static gra_tensor *affine(gra_tensor *omega, gra_tensor *x, gra_tensor *beta)
{
    return gra_add(t, gra_matmul(t, omega, x), beta);
}

static gra_tensor *drawn(const char *name, int rows, int columns)
{
    gra_tensor *x = np_normal(GRA_SHAPE(rows, columns));
    agrees(name, x);
    return x;
}

int main(int argc, char **argv)
{
    static const char *const name[HEADS][6] = {
        { "omega_q1", "omega_k1", "omega_v1", "beta_q1", "beta_k1", "beta_v1" },
        { "omega_q2", "omega_k2", "omega_v2", "beta_q2", "beta_k2", "beta_v2" },
    };
    gra_tensor *omega[HEADS][3], *beta[HEADS][3], *head[HEADS];
    t = notebook_open("udl_multihead", argc, argv);
    gra_rng *rng = notebook_rng();
    notebook_file("001_udl_multihead");

    /* cell 2: six tokens of eight numbers */
    gra_manual_seed(rng, 3);                            /* np.random.seed(3) */
    gra_tensor *X = drawn("X", WIDTH, TOKENS);
    notebook_digits(8);
    show("cell 2", "print_X_8digits", X);

    /* cell 3: parameters of both heads, and the matrix that mixes them */
    gra_manual_seed(rng, 0);
    for (int h = 0; h < HEADS; h++) {
        for (int i = 0; i < 3; i++)
            omega[h][i] = drawn(name[h][i], HEAD, WIDTH);
        for (int i = 0; i < 3; i++)
            beta[h][i] = drawn(name[h][3 + i], HEAD, 1);
    }
    gra_tensor *omega_c = drawn("omega_c", WIDTH, WIDTH);

    /* cell 15: in each head v softmax(k^T q / sqrt(d)), the softmax over columns; then the heads, one above
     * the other, are mixed. The notebook has its own copy of the result, of which half is printed. */
    for (int h = 0; h < HEADS; h++) {
        gra_tensor *q = affine(omega[h][0], X, beta[h][0]);                     /* (HEAD, TOKENS) */
        gra_tensor *k = affine(omega[h][1], X, beta[h][1]);
        gra_tensor *v = affine(omega[h][2], X, beta[h][2]);
        gra_tensor *scores = gra_scale(t, gra_matmul_tn(t, k, q), 1 / sqrt((double)HEAD));
        head[h] = gra_matmul(t, v, gra_softmax(t, scores, 0));
    }
    gra_tensor *X_prime = gra_matmul(t, omega_c, gra_concat(t, HEADS, head, 0));    /* (WIDTH, TOKENS) */
    notebook_digits(3);
    show("cell 15", "print_X_3digits", X);
    show("cell 15", "X_prime", X_prime);
    agrees("X_prime_true", X_prime);
    return notebook_close();
}
