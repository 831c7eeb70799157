/* attention_steps: self-attention by hand, with columns as tokens (the notebook of Understanding Deep
 * Learning, 12.1, in PyTorch). First comes one head as loops over tokens, then as products of matrices, then
 * two heads and the matrix that mixes them. Every value is computed from the notebook's seeds and compared
 * with what the notebook printed, examples/notebooks/golden/000_*.txt.
 *
 *     make notebooks; build/notebooks/attention_steps */
#include "lib/notebook.h"

#include <math.h>

static gra_tape *t;
static gra_rng  *rng;

/* w x + b for columns x; b is one column, which is added to each. */
static gra_tensor *affine(gra_tensor *w, gra_tensor *x, gra_tensor *b)
{
    return gra_add(t, gra_matmul(t, w, x), b);
}

/* v softmax(k^T q / sqrt(d)): column j of the result is a mixture of the columns of v. Its weights, which
 * token j gives to each token, are column j of the softmax. */
static gra_tensor *mixture(gra_tensor *q, gra_tensor *k, gra_tensor *v)
{
    const int d = gra_dim(q, 0);
    gra_tensor *scores = gra_scale(t, gra_matmul_tn(t, k, q), 1 / sqrt((double)d));
    return gra_matmul(t, v, gra_softmax(t, scores, 0));
}

static gra_tensor *part(gra_tensor *x, int d, int i) { return gra_slice(t, x, d, i, i + 1); }

enum { N = 3, D = 4 };                                  /* tokens, numbers in each */

static void one_head(void)
{
    static const char *const names[][N] = {
        { "x_1", "x_2", "x_3" }, { "print_x_1", "print_x_2", "print_x_3" },
        { "attention_x1", "attention_x2", "attention_x3" }, { "x_prime_0", "x_prime_1", "x_prime_2" },
    };
    static const char *const third[N] = { "attention_x3.0", "attention_x3.1", "attention_x3.2" };
    gra_tensor *x[N], *q[N], *k[N], *v[N], *row[N], *x_prime[N];
    notebook_file("000_single_head");

    /* cell 1: three tokens, each a column of four numbers */
    gra_manual_seed(rng, 3);
    for (int i = 0; i < N; i++) {
        x[i] = torch_randn(GRA_SHAPE(D, 1));
        agrees(names[0][i], x[i]);
        show("cell 1", names[1][i], x[i]);
    }

    /* cell 2: the parameters of queries, keys and values */
    gra_manual_seed(rng, 0);
    gra_tensor *W_q = torch_randn(GRA_SHAPE(D, D));
    gra_tensor *W_k = torch_randn(GRA_SHAPE(D, D));
    gra_tensor *W_v = torch_randn(GRA_SHAPE(D, D));
    gra_tensor *b_q = torch_randn(GRA_SHAPE(D, 1));
    gra_tensor *b_k = torch_randn(GRA_SHAPE(D, 1));
    gra_tensor *b_v = torch_randn(GRA_SHAPE(D, 1));
    agrees("W_q W_k W_v b_q b_k b_v", W_q, W_k, W_v, b_q, b_k, b_v);

    /* cell 4: each token's query, key and value */
    for (int i = 0; i < N; i++) {
        q[i] = affine(W_q, x[i], b_q);
        k[i] = affine(W_k, x[i], b_k);
        v[i] = affine(W_v, x[i], b_v);
    }

    /* cell 12: the score of query i and key j: q_i . k_j / sqrt(D) */
    for (int i = 0; i < N; i++) {
        gra_tensor *score[N];
        for (int j = 0; j < N; j++)
            score[j] = gra_scale(t, gra_matmul_tn(t, q[i], k[j]), 1 / sqrt((double)D));    /* (1, 1) */
        row[i] = gra_concat(t, N, score, 1);                                               /* (1, N) */
    }
    show("cell 12", "scores", gra_concat(t, N, row, 0));

    /* cells 20 and 26: the softmax turns the scores into weights. The third token's weights are printed with
     * an exponent, as two of them differ by a factor of over 1000, so each has its own tolerance. */
    for (int i = 0; i < N; i++) {
        row[i] = gra_softmax(t, row[i], 1);
        gra_tensor *weights = gra_reshape(t, row[i], GRA_SHAPE(N));
        print("cells 20 and 26", names[2][i], weights);
        if (i < 2)
            agrees(names[2][i], weights);
        for (int j = 0; i == 2 && j < N; j++)
            agrees(third[j], gra_reshape(t, part(weights, 0, j), GRA_SCALAR));
    }

    /* cells 22 and 26: the result of token i: the sum of the values by these weights. The third of x_prime_2
     * is on a rounding boundary, -1.642150: float64 rounds as the notebook does, to -1.6421, and float32 to
     * -1.6422. The tolerance allows both. */
    for (int i = 0; i < N; i++) {
        x_prime[i] = gra_full(t, 0, GRA_SHAPE(D, 1));
        for (int j = 0; j < N; j++)
            x_prime[i] = gra_add(t, x_prime[i], gra_mul(t, part(row[i], 1, j), v[j]));
        show("cells 22 and 26", names[3][i], x_prime[i]);
    }

    /* cell 27: all tokens in a matrix; cell 28: the loops above in one line; cell 38: the same numbers */
    gra_tensor *X = gra_concat(t, N, x, 1);             /* (D, N) */
    show("cell 27", "X", X);
    show("cell 38", "X_prime", mixture(affine(W_q, X, b_q), affine(W_k, X, b_k), affine(W_v, X, b_v)));
}

enum { TOKENS = 6, WIDTH = 8, HEADS = 2, HEAD = WIDTH / HEADS };

static void two_heads(void)
{
    static const char *const W[HEADS][3] = { { "W_q1", "W_k1", "W_v1" }, { "W_q2", "W_k2", "W_v2" } };
    static const char *const b[HEADS][3] = { { "b_q1", "b_k1", "b_v1" }, { "b_q2", "b_k2", "b_v2" } };
    gra_tensor *weight[HEADS][3], *bias[HEADS][3], *head[HEADS];
    notebook_file("000_two_head");
    notebook_digits(3);

    /* cell 61: six tokens of eight numbers */
    gra_manual_seed(rng, 3);
    gra_tensor *X = torch_randn(GRA_SHAPE(WIDTH, TOKENS));
    agrees("mat_X", X);
    show("cell 61", "print_mat_X", X);

    /* cell 69: each head turns all eight numbers into four; W_c mixes the heads' results */
    gra_manual_seed(rng, 0);
    for (int h = 0; h < HEADS; h++) {
        for (int i = 0; i < 3; i++) {
            weight[h][i] = torch_randn(GRA_SHAPE(HEAD, WIDTH));
            agrees(W[h][i], weight[h][i]);
        }
        for (int i = 0; i < 3; i++) {
            bias[h][i] = torch_randn(GRA_SHAPE(HEAD, 1));
            agrees(b[h][i], bias[h][i]);
        }
    }
    gra_tensor *W_c = torch_randn(GRA_SHAPE(WIDTH, WIDTH));
    agrees("W_c", W_c);

    /* cells 54, 66 and 72: the heads one above the other, then mixed. Then the notebook prints its own copy
     * of the result. */
    for (int h = 0; h < HEADS; h++)
        head[h] = mixture(affine(weight[h][0], X, bias[h][0]), affine(weight[h][1], X, bias[h][1]),
                          affine(weight[h][2], X, bias[h][2]));                 /* (HEAD, TOKENS) */
    gra_tensor *X_prime = gra_matmul(t, W_c, gra_concat(t, HEADS, head, 0));    /* (WIDTH, TOKENS) */
    show("cell 72", "X_prime", X_prime);
    agrees("X_prime_true", X_prime);
}

int main(int argc, char **argv)
{
    t = notebook_open("attention_steps", argc, argv);
    rng = notebook_rng();
    one_head();
    two_heads();
    return notebook_close();
}
