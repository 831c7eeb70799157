/* 04 scalar_tape: the judge. A formula is a list of lines, which both the answer's tape and the judge
 * compute. */
#include "comparison.h"
#include <math.h>

enum what { LEAF, ADD, MUL, TANH };

struct line {
    enum what what;
    int       a, b;                     /* the lines of its operands */
    double    leaf;
};

static double v[TAPE_ROOM];             /* the values of the lines */

/* How fast line i grows with its operand k. */
static double rate(const struct line *l, int i, int k)
{
    return l->what == ADD ? 1 : l->what == MUL ? v[k ? l->a : l->b] : 1 - v[i] * v[i];
}

/* Mistakes in a sweep. */
enum { STALE = 1, BEHIND, ADDED, NEWEST, OLDEST, STORED, MINUS, NO_SLOPE, NOTHING, MISTAKES };
static const char *const says[MISTAKES] = {
    [STALE] = "the gradients of the last sweep were still there: set all to 0 first",
    [BEHIND] = "nodes after y still have the gradients of the last sweep: set all to 0",
    [ADDED] = "1 was added to y's old gradient: set y's gradient to 1",
    [NEWEST] = "the sweep begins at the newest node on the tape: begin at y",
    [OLDEST] = "only y passes its gradient on: go from the newest node to the oldest",
    [STORED] = "only one of a node's two uses counts: grad = should be grad +=",
    [MINUS] = "grad -= should be grad +=", [NO_SLOPE] = "the slope is left out: pass on grad * slope[k]",
    [NOTHING] = "y passes nothing on: let each node add its grad times its slope[k] to in[k]->grad" };

/* A sweep from line y of n lines. before: what the last sweep left in the gradients. */
static const double *swept(const struct line *line, int n, int y, const double *before, int mistake)
{
    double *grad = judge_room((size_t)n);
    for (int i = 0; i < n; i++)
        grad[i] = mistake == STALE || (mistake == BEHIND && i > y) ? before[i] : 0;
    grad[mistake == NEWEST ? n - 1 : y] = 1 + (mistake == ADDED ? before[y] : 0);
    for (int at = 0; at < n; at++) {
        const int i = mistake == OLDEST ? at : n - 1 - at;
        const struct line *l = &line[i];
        for (int k = 0; k < (l->what == LEAF ? 0 : l->what == TANH ? 1 : 2); k++) {
            double *to = &grad[k ? l->b : l->a];
            const double by = mistake == NO_SLOPE ? 1 : mistake == NOTHING ? 0 : rate(l, i, k);
            *to = (mistake == STORED ? 0 : *to) + grad[i] * (mistake == MINUS ? -by : by);
        }
    }
    return grad;
}

static struct scalar_tape tape;
static char odd[200];                   /* what is wrong with in[] or slope[] of its nodes, or "" */

/* Appends line i to the answer's tape. */
static struct scalar *append(const struct line *l, int i, struct scalar *const *node)
{
    const double a = v[l->a], b = v[l->b];
    const char *by = (const char *[]){ "tape_leaf", "tape_add", "tape_mul", "tape_tanh" }[l->what];
    struct scalar *y = l->what == LEAF ? tape_leaf(&tape, l->leaf)
                     : l->what == TANH ? tape_tanh(&tape, node[l->a])
                     : (l->what == ADD ? tape_add : tape_mul)(&tape, node[l->a], node[l->b]);
    v[i] = l->what == LEAF ? l->leaf : l->what == ADD ? a + b : l->what == MUL ? a * b : tanh(a);
    if (tape.n != i + 1 || y != &tape.node[i])
        judge_wrong("%s: n is %d afterwards, and the returned address is %s, but the call should append one "
                    "node, &t->node[%d], count it, and return its address", by, tape.n,
                    y == &tape.node[i] ? "right" : y ? "wrong" : "NULL", i);
    const struct comparison c = judge_comparison(GRA_SHAPE(1), &y->value, &v[i], 1e-12);
    judge_explained(&c, by, (struct judge_mistake[]){
        { "this is a + b", (double[]){ a + b } }, { "this is a - b", (double[]){ a - b } },
        { "this is a b", (double[]){ a * b } }, { "this is a / b", (double[]){ a / b } }, { NULL, NULL } });
    for (int k = 0; k < 2 && !odd[0]; k++) {
        const bool none = k >= (l->what == LEAF ? 0 : l->what == TANH ? 1 : 2);
        if (none && y->in[k])
            snprintf(odd, sizeof odd, "in[%d] of the node of %s is not NULL: is it left over from the last "
                     "formula?", k, by);
        else if (!none && y->in[k] == node[k ? l->b : l->a] && !(fabs(y->slope[k] - rate(l, i, k)) <= 1e-9))
            snprintf(odd, sizeof odd, "slope[%d] of the node of %s is %.9g, expected %.9g: the rate at which "
                     "its value grows with in[%d]", k, by, y->slope[k], rate(l, i, k), k);
    }
    return y;
}

static void check(const char *part, const struct line *line, int n, int y)
{
    struct scalar *node[TAPE_ROOM] = { NULL };
    double got[TAPE_ROOM];
    const double *before = (const double[TAPE_ROOM]){ 0 };
    judge_part("%s", part);
    tape.n = odd[0] = 0;
    for (int i = 0; i < n; i++)
        node[i] = append(&line[i], i, node);
    struct scalar *const past = &tape.node[n % TAPE_ROOM], was = *past;
    if (n < TAPE_ROOM)                  /* a sweep that visits this node is recognised */
        *past = (struct scalar){ 0, 1e200, { node[0], node[0] }, { 1e100, 1e100 } };
    for (int again = 0; again < 4; again++) {
        struct judge_mistake mistakes[MISTAKES + 1] = { { odd, got } };
        const int from = again == 2 ? n - 1 : y;
        tape_backward(&tape, node[from]);
        for (int i = 0; i < n; i++) {
            if (fabs(got[i] = tape.node[i].grad) > 1e90)
                judge_wrong("gradient: got %g\nlikely: the sweep visits node[%d], but n is %d", got[i], n, n);
            if (tape.n != n || !(fabs(tape.node[i].value - v[i]) <= 1e-12))
                judge_wrong("tape_backward changed the tape, but should write only to gradients");
        }
        for (int m = 1; m < MISTAKES && !odd[0]; m++)
            mistakes[m] = (struct judge_mistake){ says[m], swept(line, n, from, before, m) };
        const double *want = swept(line, n, from, before, 0);
        const struct comparison c = judge_comparison(GRA_SHAPE(n), got, want, 1e-10);
        judge_explained(&c, again ? "when it is called again: gradient of node" : "gradient of node",
                        mistakes);
        before = want;
    }
    *past = was;
}

#define A(x) { LEAF, 0, 0, x }
#define OP(what, a, b) { what, a, b, 0 }
void judge_exercise(void)
{
    static const struct { const char *part; int n, y; struct line line[7]; } parts[] = {
        { "y = a, nodes: a", 1, 0, { A(-1.25) } },
        { "y = a + b, nodes: a, b, c, y", 4, 3, { A(2.5), A(-4), A(7), OP(ADD, 0, 1) } },
        { "y = a b, nodes: a, b, y", 3, 2, { A(2), A(-3), OP(MUL, 0, 1) } },
        { "y = a b with a = 0, nodes: a, b, y", 3, 2, { A(0), A(-3), OP(MUL, 0, 1) } },
        { "a leaf where the product was, nodes: a, b, y", 3, 2, { A(2), A(-3), A(7) } },
        { "y = tanh(a), nodes: a, y", 2, 1, { A(0.7), OP(TANH, 0, 0) } },
        { "y = a b again", 3, 2, { A(2), A(-3), OP(MUL, 0, 1) } },
        { "y = tanh(a) where the product was, nodes: a, b, y", 3, 2, { A(0.5), A(4), OP(TANH, 0, 0) } },
        { "y = tanh(a b + c) c, nodes: a, b, c, a b, a b + c, tanh, y", 7, 6,
          { A(0.5), A(-1.5), A(0.25), OP(MUL, 0, 1), OP(ADD, 3, 2), OP(TANH, 4, 0), OP(MUL, 5, 2) } },
        { "s = a a + a, y = s + s, nodes: a, a a, s, y", 4, 3,
          { A(3), OP(MUL, 0, 0), OP(ADD, 1, 0), OP(ADD, 2, 2) } },
        { "y = a b, and then y b, nodes: a, b, y, y b", 4, 2, { A(2), A(5), OP(MUL, 0, 1), OP(MUL, 2, 1) } },
        { "y = a b, but it is not the last node, nodes: a, b, y, ...", 6, 2,
          { A(2), A(5), OP(MUL, 0, 1), OP(MUL, 2, 1), A(7), OP(TANH, 0, 0) } } };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        check(parts[k].part, parts[k].line, parts[k].n, parts[k].y);

    struct line line[TAPE_ROOM] = { A(1e-9) };
    for (int i = 1; i < 51; i++)
        line[i] = (struct line)OP(ADD, i - 1, i - 1);
    check("a is doubled fifty times: each node is visited once, not on each path to it", line, 51, 50);
    static const int sizes[] = { 12, 40, TAPE_ROOM };
    for (int k = 0; k < 3; k++) {       /* four leaves, then random operations on random nodes */
        const double *d = judge_draw((uint64_t)(41 + k), 4 * TAPE_ROOM, 0, 1);
        for (int i = 0; i < sizes[k]; i++, d += 4)
            line[i] = (struct line){ i < 4 ? LEAF : (enum what)(1 + (int)(2.999 * d[0])), (int)(d[1] * i),
                                     (int)(d[2] * i), d[3] - 0.3 };
        char part[80];
        snprintf(part, sizeof part, "a random formula of %d nodes, on the same tape", sizes[k]);
        check(part, line, sizes[k], sizes[k] - 1);
    }
}
