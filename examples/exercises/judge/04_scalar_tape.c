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
               TANH_SLOPE_OF_Y, DIVIDED, SECOND_LOST, FIRST_LOST, NO_SEED, FROM_LAST, STALE,
               SAME_ONCE, END_EARLY, NOT_Y, VALUE_FOR_GRAD, SEED_Y, TO_FIRST, FIRST_SLOPE, SECOND_SLOPE, END_AT_LEAF, END_AT_NULL,
               TANH_TWICE, BOTH_A, BOTH_B, SUM_SLOPES, KEPT, KEPT_LEAVES, KEPT_BEHIND, KEPT_INNER,
               KEPT_BEFORE, GRAD_SUM, MISTAKES };
static const char *const says[MISTAKES] = {
    [OLDEST_FIRST] = "the sweep goes from the oldest node to the newest, so that y alone hands on its gradient: the "
                     "others do so before their uses have added to theirs",
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
    [KEPT] = "the gradients of the last sweep were still there: set them to 0 first",
    [KEPT_LEAVES] = "the gradients of the last sweep were still there in leaves: set all to 0 first",
    [KEPT_INNER] = "only leaves were set to 0: other nodes too still have the gradients of the last sweep",
    [KEPT_BEHIND] = "nodes behind y still have the gradients of the last sweep: set all to 0, and hand on nothing from there",
    [KEPT_BEFORE] = "nodes in front of y still have the gradients of the last sweep: set all to 0 first",
    [TO_FIRST] = "all is handed on to in[0]: in[1] is to get its part",
    [FIRST_SLOPE] = "slope[0] is taken for in[1] too: slope[k] belongs to in[k]",
    [SECOND_SLOPE] = "slope[1] is taken for in[0] too: slope[k] belongs to in[k]",
    [END_AT_NULL] = "the sweep ends where in[1] is NULL: go on to the nodes in front of it",
    [DIVIDED] = "y divided by an operand is no good as a slope where that is 0: the slope is the other operand itself",
    [END_AT_LEAF] = "the sweep ends at the first node that is made of nothing: go on to the nodes in front of it",
    [TANH_TWICE] = "tanh has one operand, but hands on to two: set in[1] to NULL",
    [END_EARLY] = "the sweep ends at a node with the gradient 0: go on to the nodes in front of it",
    [BOTH_A] = "in a b both slopes are a: the slope by a is b",
    [BOTH_B] = "in a b both slopes are b: the slope by b is a",
    [SUM_SLOPES] = "the slopes of a + b are 1, not those of a b",
    [GRAD_SUM] = "grad + slope is handed on: grad * slope",
    [STALE] = "what the last formula has left in in[] counts: where there is no operand, set in[k] to NULL",
    [SAME_ONCE] = "where both operands are the same node, it is to get both gradients",
    [NOT_Y] = "y itself hands on nothing: the sweep begins behind it",
    [VALUE_FOR_GRAD] = "the value of a node is handed on, where its gradient is wanted",
    [SEED_Y] = "the gradient of y by itself is 1, not its value",
};

/* grad: what the last sweep left there, and then the gradients. */
static void sweep(const struct line *line, const double *v, int n, int y, enum mistake m, double *grad)
{
    for (int i = 0; i < n; i++) {
        const bool leaf = line[i].what == LEAF;
        if (!(m == KEPT || (m == KEPT_LEAVES && leaf) || (m == KEPT_INNER && !leaf) || (m == KEPT_BEHIND && i > y) ||
              (m == KEPT_BEFORE && i < y)))
            grad[i] = 0;
    }
    if (m != NO_SEED)
        grad[m == FROM_LAST ? n - 1 : y] = m == SEED_Y ? v[y] : 1;
    for (int at = 0; at < n; at++) {
        const int i = m == OLDEST_FIRST ? at : n - 1 - at;
        const struct line *l = &line[i];
        const double a = v[l->a], b = v[l->b], tangent = m == TANH_OF_X ? 1 - a * a : m == TANH_NO_SQUARE ?
            1 - v[i] : m == TANH_SLOPE_OF_Y ? 1 - tanh(v[i]) * tanh(v[i]) : 1 - v[i] * v[i];
        const bool   product = l->what == MUL || (m == SUM_SLOPES && l->what == ADD), two = product || l->what == ADD;
        double       sa = l->what == TANH ? tangent : !product ? 1 : m == OWN_FACTOR || m == BOTH_A ? a : b;
        double       sb = !product ? 1 : m == OWN_FACTOR || m == BOTH_B ? b : a;
        const double g = m == SLOPE_ALONE ? 1 : m == VALUE_FOR_GRAD ? v[i] : grad[i];
        if (m == DIVIDED && l->what == MUL)
            sa = v[i] / a, sb = v[i] / b;
        if (m == FIRST_SLOPE)
            sb = sa;
        if (m == SECOND_SLOPE)
            sa = l->what == TANH ? 0 : sb;
        if (m == NOT_Y && i == y)
            continue;
        if ((m == END_AT_LEAF && l->what == LEAF) || (m == END_EARLY && grad[i] == 0))
            break;
        const double to_a = m == GRAD_SUM ? g + sa : g * sa, to_b = m == GRAD_SUM ? g + sb : g * sb;
        if (l->what != LEAF && m != FIRST_LOST)
            grad[l->a] = (m == STORES ? 0 : grad[l->a]) + to_a;
        if (l->what == TANH && m == TANH_TWICE)
            grad[l->a] += to_a;
        if (two && m != SECOND_LOST && !(m == SAME_ONCE && l->a == l->b)) {
            double *second = &grad[m == TO_FIRST ? l->a : l->b];
            *second = (m == STORES ? 0 : *second) + to_b;
        }
        if (m == END_AT_NULL && !two)
            break;
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
    tape.n = 0;
    build(&tape, line, n, node, v);
    look_at_nodes(nodes, sizeof nodes, line, v, node, n);
    for (int again = 0; again < 3; again++) {
        if (again == 2)
            tape_backward(&tape, node[n - 1]);
        for (int m = 0; m < MISTAKES; m++) {
            memset(grad[m], 0, sizeof grad[m]);
            if (again > 0)                              /* what the last sweep left */
                sweep(line, v, n, again == 1 ? y : n - 1, NONE, grad[m]);
            sweep(line, v, n, y, (enum mistake)m, grad[m]);
            known[m] = (struct judge_mistake){ says[m] ? says[m] : "", grad[m] };
        }
        if (stale)
            memcpy(grad[STALE], stale, (size_t)n * sizeof *stale);
        known[MISTAKES] = (struct judge_mistake){ nodes[0] ? nodes : NULL, got };
        known[MISTAKES + 1] = (struct judge_mistake){ NULL, NULL };
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
    const struct line zero[] = { { LEAF, 0, 0, 0 }, { LEAF, 0, 0, -3 }, { MUL, 0, 1, 0 } };
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
    check("y = a b with a = 0, nodes: a, b, y", zero, 3, 2, NULL);
    check("a leaf where the product stood, nodes: a, b, y", leaves, 3, 2, (double[]){ -3, 0, 1 });
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
