/* 04 scalar_tape: the judge. Formulas are tables of lines; the answer's tape computes them, and the judge. */
#include "judge.h"
#include <math.h>

enum what { LEAF, ADD, MUL, TANH };
struct line {
    enum what what;
    int       a, b;                     /* the lines of which it is made */
    double    leaf;
};

/* The judge's own sweep, or one with a mistake. */
enum mistake { NONE, OLDEST_FIRST, STORES, SLOPE_ALONE, OWN_FACTOR, TANH_OF_X, TANH_NO_SQUARE,
               TANH_SLOPE_OF_Y, SECOND_LOST, FIRST_LOST, NO_SEED, FROM_LAST, TWICE, TWICE_LEAVES, STALE,
               SAME_ONCE, NOT_Y, VALUE_FOR_GRAD, SEED_Y, MISTAKES };
static const char *const says[MISTAKES] = {
    [OLDEST_FIRST] = "the sweep goes from the oldest node to the newest: a gradient is then handed on before "
                     "its uses have added to it",
    [STORES] = "grad = in place of grad +=: of a node that is used twice only one use counts",
    [SLOPE_ALONE] = "the slope alone is added: it is to be multiplied by grad",
    [OWN_FACTOR] = "in a b the slope by a is b, and that by b is a: they are exchanged",
    [TANH_OF_X] = "the slope of tanh is 1 - y^2 with y = tanh(a), not 1 - a^2",
    [TANH_NO_SQUARE] = "the slope of tanh is 1 - y^2: the square is missing",
    [TANH_SLOPE_OF_Y] = "tanh is taken twice in its slope: the value of the node is tanh(a) already",
    [SECOND_LOST] = "nothing is handed on to in[1]",
    [FIRST_LOST] = "nothing is handed on to in[0]",
    [NO_SEED] = "the gradient of y by itself is 1",
    [FROM_LAST] = "the sweep begins at the newest node on the tape, not at y",
    [TWICE] = "the gradients of the last sweep were still there: set them to 0 first",
    [STALE] = "what the last formula has left in in[] counts: where there is no operand, set in[k] to NULL",
    [SAME_ONCE] = "where both operands are the same node, it is to get both gradients",
    [NOT_Y] = "y itself hands on nothing: the sweep begins behind it",
    [VALUE_FOR_GRAD] = "the value of a node is handed on, where its gradient is wanted",
    [SEED_Y] = "the gradient of y by itself is 1, not its value",
    [TWICE_LEAVES] = "the gradients of the last sweep were still there in leaves: set all to 0 first",
};

static void sweep(const struct line *line, const double *v, int n, int y, enum mistake m, double *grad)
{
    if (m != NO_SEED)
        grad[m == FROM_LAST ? n - 1 : y] = m == SEED_Y ? v[y] : 1;
    for (int at = 0; at < n; at++) {
        const int i = m == OLDEST_FIRST ? at : n - 1 - at;
        const struct line *l = &line[i];
        const double a = v[l->a], b = v[l->b], tangent = m == TANH_OF_X ? 1 - a * a : m == TANH_NO_SQUARE ?
            1 - v[i] : m == TANH_SLOPE_OF_Y ? 1 - tanh(v[i]) * tanh(v[i]) : 1 - v[i] * v[i];
        const double sa = l->what == ADD ? 1 : l->what == TANH ? tangent : m == OWN_FACTOR ? a : b;
        const double sb = l->what == ADD ? 1 : m == OWN_FACTOR ? b : a;
        const double g = m == SLOPE_ALONE ? 1 : m == VALUE_FOR_GRAD ? v[i] : grad[i];
        if (m == NOT_Y && i == y)
            continue;
        if (l->what != LEAF && m != FIRST_LOST)
            grad[l->a] = (m == STORES ? 0 : grad[l->a]) + g * sa;
        if ((l->what == ADD || l->what == MUL) && m != SECOND_LOST && !(m == SAME_ONCE && l->a == l->b))
            grad[l->b] = (m == STORES ? 0 : grad[l->b]) + g * sb;
    }
}

/* Builds the lines on the answer's tape; their nodes go to node[], the right values to v[]. */
static void build(struct scalar_tape *t, const struct line *line, int n, struct scalar **node, double *v)
{
    static const char *const made_by[] = { "tape_leaf", "tape_add", "tape_mul", "tape_tanh" };
    for (int i = 0; i < n; i++) {
        const struct line *l = &line[i];
        struct scalar *a = node[l->a], *b = node[l->b];
        switch (l->what) {
        case LEAF: v[i] = l->leaf, node[i] = tape_leaf(t, v[i]); break;
        case ADD:  v[i] = v[l->a] + v[l->b], node[i] = tape_add(t, a, b); break;
        case MUL:  v[i] = v[l->a] * v[l->b], node[i] = tape_mul(t, a, b); break;
        case TANH: v[i] = tanh(v[l->a]), node[i] = tape_tanh(t, a); break;
        }
        if (!node[i])
            judge_wrong("%s returned NULL: it returns the address of the node that it appends",
                        made_by[l->what]);
        if (t->n != i + 1)
            judge_wrong("after %s the tape's n is %d, wanted %d: each operation appends one node",
                        made_by[l->what], t->n, i + 1);
        if (node[i] != &t->node[i])
            judge_wrong("%s returned another address than that of the node it appended, &t->node[%d]",
                        made_by[l->what], i);
        char name[60];
        snprintf(name, sizeof name, "the value of %s's node", made_by[l->what]);
        judge_number(name, node[i]->value, v[i], 1e-12, NULL);
        for (int j = 0; j < i; j++)
            if (node[j]->value != v[j])
                judge_wrong("%s changed the value of node %d, which was there before", made_by[l->what], j);
    }
}

static struct scalar_tape tape;

/* What is wrong with the nodes, if the answer keeps slopes and operands where exercises.h says; else "". */
static void look_at_nodes(char *text, size_t room, const struct line *line, const double *v,
                          struct scalar *const *node, int n)
{
    static const char *const made_by[] = { "tape_leaf", "tape_add", "tape_mul", "tape_tanh" };
    text[0] = 0;
    for (int i = 0; i < n && !text[0]; i++)
        for (int k = 0; k < 2 && !text[0]; k++) {
            const struct line *l = &line[i];
            const bool made = l->what == ADD || l->what == MUL || (l->what == TANH && k == 0);
            const struct scalar *want = made ? node[k ? l->b : l->a] : NULL;
            const double slope = l->what == ADD ? 1 : l->what == MUL ? v[k ? l->a : l->b] : 1 - v[i] * v[i];
            if (node[i]->in[k] != want)
                snprintf(text, room, "in[%d] of the node of %s is not %s", k, made_by[l->what],
                         !made ? "NULL" : k ? "its second operand" : "its first operand");
            else if (made && !(fabs(node[i]->slope[k] - slope) <= 1e-9))
                snprintf(text, room, "slope[%d] of the node of %s is %.6g, but its value grows by %.6g with %s",
                         k, made_by[l->what], node[i]->slope[k], slope, k ? "in[1]" : "in[0]");
        }
}

/* The gradients of y, by two sweeps, and by one more after a sweep from the last node. stale: those of an answer
 * that leaves in[] as it was, or NULL. */
static void check(const char *part, const struct line *line, int n, int y, const double *stale)
{
    struct scalar *node[TAPE_ROOM] = { NULL };
    static double v[TAPE_ROOM], got[TAPE_ROOM], grad[MISTAKES][TAPE_ROOM];
    struct judge_mistake known[MISTAKES + 2];
    static const char *const when[] = { "", "when tape_backward is called once more: ",
                                        "when tape_backward was called for another node before: " };
    char name[100], nodes[200];
    judge_part("%s", part);
    memset(grad, 0, sizeof grad);
    tape.n = 0;
    build(&tape, line, n, node, v);
    for (int m = 0; m < MISTAKES; m++) {
        sweep(line, v, n, y, (enum mistake)m, grad[m]);
        known[m] = (struct judge_mistake){ says[m] ? says[m] : "", grad[m] };
    }
    if (stale)
        memcpy(grad[STALE], stale, (size_t)n * sizeof *stale);
    for (int i = 0; i < n; i++) {                       /* what a second sweep adds to the first */
        grad[TWICE_LEAVES][i] = grad[NONE][i] * (line[i].what == LEAF ? 2 : 1);
        grad[TWICE][i] = grad[NONE][i];
    }
    sweep(line, v, n, y, NONE, grad[TWICE]);
    look_at_nodes(nodes, sizeof nodes, line, v, node, n);
    known[MISTAKES] = (struct judge_mistake){ nodes[0] ? nodes : NULL, got };
    known[MISTAKES + 1] = (struct judge_mistake){ NULL, NULL };
    for (int again = 0; again < 3; again++) {
        if (again == 2)
            tape_backward(&tape, node[n - 1]);
        tape_backward(&tape, node[y]);
        for (int i = 0; i < n; i++)
            got[i] = tape.node[i].grad;
        snprintf(name, sizeof name, "%sgradient of node", when[again]);
        judge_numbers(name, GRA_SHAPE(n), got, grad[NONE], 1e-10, known + 1);
        for (int i = 0; i < n; i++)
            if (tape.n != n || !(fabs(tape.node[i].value - v[i]) <= 1e-12))
                judge_wrong("tape_backward changed the tape: it writes to gradients alone");
    }
}

static int add(struct line *line, int *n, enum what what, int a, int b)
{
    line[*n] = (struct line){ what, a, b, 0 };
    return (*n)++;
}

/* A drawn formula of n nodes, four of them leaves. */
static void drawn(uint64_t seed, int n)
{
    struct line line[TAPE_ROOM];
    char part[80];
    const double *d = judge_draw(seed, 4 * TAPE_ROOM, 0, 1);
    for (int i = 0; i < n; i++, d += 4) {
        const enum what what = i < 4 ? LEAF : (enum what)(1 + (int)(2.999 * d[0]));
        line[i] = (struct line){ what, (int)(d[1] * i), (int)(d[2] * i), d[3] - 0.3 };
    }
    snprintf(part, sizeof part, "a drawn formula of %d nodes, on the same tape", n);
    check(part, line, n, n - 1, NULL);
}

void judge_exercise(void)
{
    const struct line leaf[] = { { LEAF, 0, 0, -1.25 } };
    const struct line sum[] = { { LEAF, 0, 0, 2 }, { LEAF, 0, 0, -3 }, { ADD, 0, 1, 0 } };
    const struct line product[] = { { LEAF, 0, 0, 2 }, { LEAF, 0, 0, -3 }, { MUL, 0, 1, 0 } };
    const struct line leaves[] = { { LEAF, 0, 0, 2 }, { LEAF, 0, 0, -3 }, { LEAF, 0, 0, 7 } };
    const struct line leaves_tangent[] = { { LEAF, 0, 0, 0.5 }, { LEAF, 0, 0, 4 }, { TANH, 0, 0, 0 } };
    const struct line tangent[] = { { LEAF, 0, 0, 0.7 }, { TANH, 0, 0, 0 } };
    const struct line chain[] = { { LEAF, 0, 0, 0.5 }, { LEAF, 0, 0, -1.5 }, { LEAF, 0, 0, 0.25 },
                                  { MUL, 0, 1, 0 }, { ADD, 3, 2, 0 }, { TANH, 4, 0, 0 }, { MUL, 5, 2, 0 } };
    const struct line square[] = { { LEAF, 0, 0, 3 }, { MUL, 0, 0, 0 }, { ADD, 1, 0, 0 }, { ADD, 2, 2, 0 } };
    const struct line middle[] = { { LEAF, 0, 0, 2 }, { LEAF, 0, 0, 5 }, { MUL, 0, 1, 0 }, { MUL, 2, 1, 0 },
                                   { LEAF, 0, 0, 7 }, { TANH, 0, 0, 0 } };
    check("y = a, nodes: a", leaf, 1, 0, NULL);
    check("y = a + b, nodes: a, b, y", sum, 3, 2, NULL);
    check("y = a b, nodes: a, b, y", product, 3, 2, NULL);
    check("a leaf where the product stood, nodes: a, b, y", leaves, 3, 2, (double[]){ -3, 2, 1 });
    check("y = tanh(a), nodes: a, y", tangent, 2, 1, NULL);
    check("y = a b again", product, 3, 2, NULL);
    check("y = tanh(a) where the product stood, nodes: a, b, y", leaves_tangent, 3, 2,
          (double[]){ 1 - tanh(0.5) * tanh(0.5), 2, 1 });
    check("y = tanh(a b + c) c, nodes: a, b, c, a b, a b + c, tanh, y", chain, 7, 6, NULL);
    check("s = a a + a, y = s + s, nodes: a, a a, s, y", square, 4, 3, NULL);
    check("y = a b, but it is not the last node, nodes: a, b, y, ...", middle, 6, 2, NULL);

    struct line line[TAPE_ROOM] = { { LEAF, 0, 0, 1e-9 } };
    int n = 1;
    while (n < 51)
        add(line, &n, ADD, n - 1, n - 1);
    check("a is doubled fifty times: each node is visited once, not once for each way from y to it", line, n,
          n - 1, NULL);
    drawn(41, 12);
    drawn(42, 40);
}
