/* Milestone 1: your scalar tape learns XOR.
 * Answers: 04
 *
 *     make milestone N=1
 *
 * XOR is 1 if one of two bits is 1, but not both. No line separates its ones from its zeros, so a network
 * needs a hidden layer for it (Minsky & Papert 1969; Rumelhart, Hinton & Williams 1986):
 *
 *     h_j = tanh(w_j0 a + w_j1 b + c_j),      y = v_0 h_0 + v_1 h_1 + v_2 h_2 + d
 *
 * Every number of the network is a node on your tape, and each step makes new nodes: the parameters as
 * leaves, then the formula for the four cases, then their mean squared error. Only tape_backward computes
 * derivatives here. */
#include "../exercises.h"

enum { HIDDEN = 3, PARAMETERS = 4 * HIDDEN + 1, STEPS = 320 };

static const double bits[4][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
static const double expected[4] = { 0, 1, 1, 0 };

static struct scalar *network(struct scalar_tape *t, struct scalar *const *p, const double *x)
{
    struct scalar *y = p[4 * HIDDEN], *a = tape_leaf(t, x[0]), *b = tape_leaf(t, x[1]);
    for (int j = 0; j < HIDDEN; j++) {
        struct scalar *const *w = p + 4 * j;            /* w_j0, w_j1, c_j, v_j */
        struct scalar *z = tape_add(t, tape_add(t, tape_mul(t, w[0], a), tape_mul(t, w[1], b)), w[2]);
        y = tape_add(t, y, tape_mul(t, w[3], tape_tanh(t, z)));
    }
    return y;
}

/* Computes y for all four cases, and the loss with its gradients. */
static double step(struct scalar_tape *t, const double *value, double *grad, double *y)
{
    struct scalar *p[PARAMETERS];
    t->n = 0;
    for (int i = 0; i < PARAMETERS; i++)
        p[i] = tape_leaf(t, value[i]);
    struct scalar *loss = tape_leaf(t, 0), *quarter = tape_leaf(t, 0.25);
    for (int i = 0; i < 4; i++) {
        struct scalar *out = network(t, p, bits[i]);
        struct scalar *error = tape_add(t, out, tape_leaf(t, -expected[i]));
        loss = tape_add(t, loss, tape_mul(t, tape_mul(t, error, error), quarter));
        y[i] = out->value;
    }
    tape_backward(t, loss);
    for (int i = 0; i < PARAMETERS; i++)
        grad[i] = p[i]->grad;
    return loss->value;
}

int main(void)
{
    static struct scalar_tape t;
    double value[PARAMETERS], grad[PARAMETERS], first[4], y[4], loss = 0;
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_uniform(&rng, value, PARAMETERS, -1, 1);

    step(&t, value, grad, first);
    printf("A step puts %d nodes on your tape; %d of them are parameters.\n\n", t.n, PARAMETERS);
    for (int i = 0; i < STEPS; i++) {
        loss = step(&t, value, grad, y);
        for (int k = 0; k < PARAMETERS; k++)
            value[k] -= 0.3 * grad[k];
        if (i % (STEPS / 8) == 0 || i == STEPS - 1)
            printf("step %-4d  loss %.4f\n", i + 1, loss);
    }

    int right = 0;
    printf("\n  a  b    a xor b    before     after\n");
    for (int i = 0; i < 4; i++) {
        printf("  %g  %g       %g      %7.3f   %7.3f\n", bits[i][0], bits[i][1], expected[i], first[i], y[i]);
        right += fabs(y[i] - expected[i]) < 0.1;
    }
    printf("\n%s\n", right == 4 ? "Your tape has learned XOR."
                                : "Your tape has not learned XOR: its gradients are wrong.");
    return right != 4;
}
