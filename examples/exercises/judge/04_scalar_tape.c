/* 04 scalar_tape: the judge. Formulas are tables of lines, which the answer's tape and the judge compute. */
#include "judge.h"
#include <math.h>

enum what { LEAF, ADD, MUL, TANH };
struct line {
    enum what what;
    int       a, b;                     /* the lines of its operands */
    double    leaf;
};

/* A sweep from node y of n lines with values v. before: what the last sweep left in the gradients. stale: the
 * gradients of an answer that leaves in[] as it was, or NULL. got: those of this answer. */
struct sweep {
    const struct line *line;
    const double      *v, *before, *stale, *got;
    int                n, y;
};

/* A mistake of the sweep, which explains nothing where the nodes themselves are wrong. */
static char odd[200];                   /* what is wrong with the answer's slopes or operands, or "" */

static bool lapse(const char *says)
{
    return !odd[0] && slip(says);
}

/* How fast line i grows with its two operands. */
static void slopes(const struct sweep *s, int i, double slope[2])
{
    const struct line *l = &s->line[i];
    const double a = s->v[l->a], b = s->v[l->b], y = s->v[i];
    slope[0] = slope[1] = 0;
    if (!odd[0]) {                      /* no wrong slope explains anything */
        slope[0] = l->what == ADD ? 1 : l->what == MUL ? b : l->what == TANH ? 1 - y * y : 0;
        slope[1] = l->what == ADD ? 1 : l->what == MUL ? a : 0;
    } else if (l->what == TANH) {
        slope[0] = slip("1 - a^2 is used: the slope of tanh is 1 - y^2 with y = tanh(a)") ? 1 - a * a
                 : slip("the slope of tanh is 1 - y^2: the square is missing") ? 1 - y
                 : slip("tanh is applied twice in its slope: the node's value is already tanh(a)")
                 ? 1 - tanh(y) * tanh(y) : 1 - y * y;
    } else if (l->what == ADD) {
        const bool product = slip("the slopes of a b are used: those of a + b are 1");
        const bool values = slip("the values of a and b are used as slopes: those of a + b are 1");
        slope[0] = product ? b : values ? a : 1;
        slope[1] = product ? a : values ? b : 1;
    } else if (l->what == MUL) {
        const bool exchanged = slip("d(a b)/da is b, and d(a b)/db is a: they are exchanged");
        const bool divided = slip("y divided by an operand fails where that is 0: the slope is the other "
                                  "operand itself");
        slope[0] = exchanged || slip("both slopes of a b are a: d(a b)/da is b") ? a : divided ? y / a : b;
        slope[1] = exchanged || slip("both slopes of a b are b: d(a b)/db is a") ? b : divided ? y / b : a;
    }
    if (lapse("the slope is left out: pass on grad * slope[k]"))
        slope[0] = slope[1] = 1;
    if (lapse("slope[0] is used for in[1] too: slope[k] belongs to in[k]"))
        slope[1] = slope[0];
    if (lapse("slope[1] is used for in[0] too: slope[k] belongs to in[k]"))
        slope[0] = slope[1];
}

static const char stay[] = "nodes after y still have the gradients of the last sweep: set them to 0 too";

/* Sets the gradients that the last sweep left to 0, and y's to 1. */
static void begin(const struct sweep *s, double *grad)
{
    bool nodes_before = false;          /* other than leaves */
    for (int i = 0; i < s->y; i++)
        nodes_before = nodes_before || s->line[i].what != LEAF;
    const bool kept = lapse("the gradients of the last sweep were still there: set all to 0 first");
    const bool leaves = nodes_before
        && lapse("the gradients of the last sweep were still there in leaves: set all to 0 first");
    const bool behind = lapse("nodes after y still have the gradients of the last sweep: set all to 0, and "
                              "pass nothing on from there");
    const bool inner =
        lapse("only leaves were set to 0: other nodes still have the gradients of the last sweep");
    const bool in_front = s->n > s->y + 1
        && lapse("nodes before y still have the gradients of the last sweep: set all to 0 first");
    const double rest = lapse("the other gradients are set to 1 too: only that of y is") ? 1 : 0;
    const bool front =
        lapse("the gradient of the first node is still that of the last sweep: set it to 0 too");
    for (int i = 0; i < s->n; i++)
        grad[i] = kept || (front && i == 0) || (s->line[i].what == LEAF ? leaves : inner)
                  || ((behind || lapse(stay)) && i > s->y) || (in_front && i < s->y)
                ? s->before[i] : rest;
    if (!lapse("y's gradient is 0 after the sweep: dy/dy is 1"))
        grad[lapse("the sweep begins at the newest node on the tape: begin at y") ? s->n - 1 : s->y] =
            lapse("y's gradient is set to its value: dy/dy is 1") ? s->v[s->y]
            : lapse("1 was added to what y's gradient held: set it to 1") ? s->before[s->y] + 1 : 1;
}

/* A mistake: each visit of a node passes on all of its gradient. Ends where there are too many paths. */
static void walk(const struct sweep *s, double *grad, int i, int *visits)
{
    const struct line *l = &s->line[i];
    double slope[2];
    slopes(s, i, slope);
    for (int k = 0; k < (l->what == LEAF ? 0 : l->what == TANH ? 1 : 2) && ++*visits < 10000; k++) {
        const int to = k ? l->b : l->a;
        grad[to] += grad[i] * slope[k];
        walk(s, grad, to, visits);
    }
}

static void sweep(double *grad, void *arg)
{
    const struct sweep *s = arg;
    int visits = 0;
    begin(s, grad);
    if (lapse("a node passes on its gradient at each visit, also what it passed on before: visit each node "
              "once, after all its uses")) {
        walk(s, grad, s->y, &visits);
        return;
    }
    const bool oldest_first =
        lapse("only y passes its gradient on: go from the newest node to the oldest (the "
              "other way, a node passes on its gradient before its uses have added to "
              "it)");
    const bool stores = lapse("only one of a node's two uses counts: grad = should be grad +=");
    const bool slope_only = lapse("only the slope is added, or the slope times y's gradient, 1: multiply it "
                                  "by the node's own grad");
    const bool value = lapse("the value of a node is passed on instead of its gradient");
    const bool divided = lapse("grad is divided by the slope: multiply");
    const bool added = lapse("grad + slope is passed on: pass on grad * slope");
    const bool minus = lapse("grad -= should be grad +=");
    const bool no_single =
        lapse("nothing is passed on where in[1] is NULL: test in[0] and in[1] each by itself");
    const bool other = lapse("slope[0] and slope[1] are exchanged: slope[k] belongs to in[k]");
    const bool of_operand = lapse("grad is multiplied by the value of in[k]: multiply it by slope[k]");
    const bool no_second = lapse("nothing is passed on to in[1]");
    const bool no_first = lapse("nothing is passed on to in[0]");
    const bool to_first = lapse("everything is passed on to in[0]: in[1] must get its share");
    const bool twice = odd[0] && slip("tanh has one operand, but passes on to two: set in[1] to NULL");
    const bool once = lapse("if both operands are the same node, it must get both contributions");
    const bool at_null = lapse("the sweep ends where in[1] is NULL: continue with the nodes before it");
    const bool at_leaf = lapse("the sweep ends at the last leaf: continue with the nodes before it");
    const bool at_zero =
        lapse("the sweep ends at a node with the gradient 0: continue with the nodes before it");
    const bool stays = lapse(stay);
    const bool not_y = lapse("y passes nothing on: the sweep begins at y, and a node adds its own grad times "
                             "its own slope[k] to in[k]->grad");
    for (int at = 0; at < s->n; at++) {
        const int i = oldest_first ? at : s->n - 1 - at;
        const struct line *l = &s->line[i];
        const bool two = l->what == MUL || l->what == ADD;
        const double g = slope_only ? 1 : value ? s->v[i] : grad[i];
        double slope[2];
        if ((not_y && i == s->y) || (stays && i > s->y))
            continue;
        if ((at_leaf && l->what == LEAF) || (at_zero && grad[i] == 0))
            break;
        slopes(s, i, slope);
        for (int k = 0; k < 2; k++)
            slope[k] = divided ? 1 / slope[k] : minus ? -slope[k] : of_operand ? s->v[k ? l->b : l->a]
                     : slope[k];
        if (other || (no_single && !two)) {
            const double first = slope[0];
            slope[0] = other ? slope[1] : 0, slope[1] = first;
        }
        if (l->what != LEAF && !no_first)
            grad[l->a] = (stores ? 0 : grad[l->a]) + (added ? g + slope[0] : g * slope[0])
                         * (l->what == TANH && twice ? 2 : 1);
        double *second = &grad[to_first ? l->a : l->b];
        if (two && !no_second && !(once && l->a == l->b))
            *second = (stores ? 0 : *second) + (added ? g + slope[1] : g * slope[1]);
        if (at_null && !two)
            break;
    }
    if (odd[0] && s->stale &&
        slip("in[] still holds the operands of the last formula: set in[k] to NULL where there is none"))
        memcpy(grad, s->stale, (size_t)s->n * sizeof *grad);
    if (odd[0] && slip(odd))            /* no other slip fits: it is what there is to mend first */
        memcpy(grad, s->got, (size_t)s->n * sizeof *grad);
}

/* The value of a node with the operands in[0] and in[1]. */
struct value_of {
    enum what what;
    double    leaf, in[2];
};

static void value(double *out, void *arg)
{
    const struct value_of *n = arg;
    const double a = n->in[0], b = n->in[1];
    *out = n->what == LEAF ? n->leaf : slip("it is the value of a") ? a
         : n->what == TANH ? slip("this is the slope of tanh: the value is tanh(a)") ? 1 - tanh(a) * tanh(a)
                           : slip("this is a sigmoid: it should be tanh(a)") ? 1 / (1 + exp(-a)) : tanh(a)
         : slip("it is the value of b") ? b : slip("this is a - b") ? a - b : slip("this is a / b") ? a / b
         : n->what == ADD ? slip("this is a b: it should be a + b") ? a * b
                          : slip("this is a + a: it should be a + b") ? a + a
                          : slip("this is b + b: it should be a + b") ? b + b : a + b
         : slip("this is a + b: it should be a b") ? a + b : slip("this is a a: it should be a b") ? a * a
         : slip("this is b b: it should be a b") ? b * b : a * b;
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
            judge_wrong("%s returned NULL: return the address of the node that it appends", made_by[l->what]);
        if (t->n != i + 1)
            judge_wrong("after %s the tape's n is %d, expected %d: each operation appends one node",
                        made_by[l->what], t->n, i + 1);
        if (node[i] != &t->node[i])
            judge_wrong("%s returned a wrong address: the node that it appended is &t->node[%d]",
                        made_by[l->what], i);
        char name[60];
        snprintf(name, sizeof name, "the value of %s's node", made_by[l->what]);
        judge_against(name, GRA_SHAPE(1), &node[i]->value, 1e-12, value,
                      &(struct value_of){ l->what, l->leaf, { v[l->a], v[l->b] } });
        for (int j = 0; j < i; j++)
            if (node[j]->value != v[j])
                judge_wrong("%s changed the value of node %d, which was there before", made_by[l->what], j);
    }
}

static struct scalar_tape tape;

/* How fast the value of line i grows with its operand k. */
static double right_slope(const struct line *line, const double *v, int i, int k)
{
    const struct line *l = &line[i];
    return l->what == ADD ? 1 : l->what == MUL ? v[k ? l->a : l->b] : l->what == TANH && k == 0
         ? 1 - v[i] * v[i] : 0;
}

/* Are the slopes and operands of a node wrong, as exercises.h describes them? */
static void look_at_node(const struct line *line, const double *v, struct scalar *const *node, int i)
{
    static const char *const made_by[] = { "tape_leaf", "tape_add", "tape_mul", "tape_tanh" };
    const struct line *l = &line[i];
    const struct scalar *const want[2] = { l->what == LEAF ? NULL : node[l->a],
                                           l->what == ADD || l->what == MUL ? node[l->b] : NULL };
    const struct scalar *const to[4] = { want[0], want[1], node[i]->in[0], node[i]->in[1] };
    bool right = true;
    for (int n = 0; n < 4; n++) {
        double off = 0;                 /* what is passed on to this node, less what should be */
        for (int k = 0; k < 2 && to[n]; k++)
            off += (node[i]->in[k] == to[n] ? node[i]->slope[k] : 0)
                 - (want[k] == to[n] ? right_slope(line, v, i, k) : 0);
        right = right && fabs(off) <= 1e-9;
    }
    for (int k = 0; k < 2 && !right && !odd[0]; k++)
        if (node[i]->in[k] != want[k])
            snprintf(odd, sizeof odd, "in[%d] of the node of %s is not %s", k, made_by[l->what],
                     !want[k] ? "NULL" : k ? "its second operand" : "its first operand");
        else if (want[k] && !(fabs(node[i]->slope[k] - right_slope(line, v, i, k)) <= 1e-9))
            snprintf(odd, sizeof odd, "slope[%d] of the node of %s is %.9g, expected %.9g: the rate at which "
                     "its value grows with in[%d]", k, made_by[l->what], node[i]->slope[k],
                     right_slope(line, v, i, k), k);
}

/* The gradients of y in two sweeps, and in one more after a sweep from the last node. */
static void check(const char *part, const struct line *line, int n, int y, const double *stale)
{
    struct scalar *node[TAPE_ROOM] = { NULL };
    static double v[TAPE_ROOM], got[TAPE_ROOM], before[TAPE_ROOM];
    static const char *const when[] = { "", "when tape_backward is called once more: ",
                                        "when tape_backward was called for another node before: " };
    char name[100];
    judge_part("%s", part);
    tape.n = 0;
    build(&tape, line, n, node, v);
    memset(before, 0, sizeof before);
    odd[0] = 0;
    for (int i = 0; i < n; i++)
        look_at_node(line, v, node, i);
    struct scalar *const past = n < TAPE_ROOM ? &tape.node[n] : NULL, was = past ? *past : tape.node[0];
    if (past)                           /* a sweep that visits it is recognised */
        *past = (struct scalar){ 0, 1e200, { node[0], node[0] }, { 1e100, 1e100 } };
    for (int again = 0; again < 3; again++) {
        struct sweep of_y = { line, v, before, stale, got, n, y },
            last = { line, v, before, NULL, NULL, n, again == 1 ? y : n - 1 };
        if (again > 0)
            sweep(before, &last);
        if (again == 2)
            tape_backward(&tape, node[n - 1]);
        tape_backward(&tape, node[y]);
        for (int i = 0; i < n; i++)
            if (fabs(got[i] = tape.node[i].grad) > 1e90)
                judge_wrong("gradient of node[%d]: got %g\nthe sweep visits node[%d] too, but n is %d: the "
                            "last node on the tape is node[n - 1]", i, got[i], n, n);
        snprintf(name, sizeof name, "%sgradient of node", when[again]);
        judge_against(name, GRA_SHAPE(n), got, 1e-10, sweep, &of_y);
        for (int i = 0; i < n; i++)
            if (tape.n != n || !(fabs(tape.node[i].value - v[i]) <= 1e-12))
                judge_wrong("tape_backward changed the tape: it must write only to gradients");
    }
    if (past)
        *past = was;
}

static int add(struct line *line, int *n, enum what what, int a, int b)
{
    line[*n] = (struct line){ what, a, b, 0 };
    return (*n)++;
}

/* A random formula of n nodes, four of them leaves. */
static void drawn(uint64_t seed, int n)
{
    struct line line[TAPE_ROOM];
    char part[80];
    const double *d = judge_draw(seed, 4 * TAPE_ROOM, 0, 1);
    for (int i = 0; i < n; i++, d += 4) {
        const enum what what = i < 4 ? LEAF : (enum what)(1 + (int)(2.999 * d[0]));
        line[i] = (struct line){ what, (int)(d[1] * i), (int)(d[2] * i), d[3] - 0.3 };
    }
    snprintf(part, sizeof part, "a random formula of %d nodes, on the same tape", n);
    check(part, line, n, n - 1, NULL);
}

void judge_exercise(void)
{
    const struct line leaf[] = { { LEAF, 0, 0, -1.25 } };
    const struct line sum[] = { { LEAF, 0, 0, 2.5 }, { LEAF, 0, 0, -4 }, { LEAF, 0, 0, 7 },
                                { ADD, 0, 1, 0 } };
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
    check("y = a + b, nodes: a, b, c, y", sum, 4, 3, NULL);
    check("y = a b, nodes: a, b, y", product, 3, 2, NULL);
    check("y = a b with a = 0, nodes: a, b, y", zero, 3, 2, NULL);
    check("a leaf where the product was, nodes: a, b, y", leaves, 3, 2, (double[]){ -3, 0, 1 });
    check("y = tanh(a), nodes: a, y", tangent, 2, 1, NULL);
    check("y = a b again", product, 3, 2, NULL);
    check("y = tanh(a) where the product was, nodes: a, b, y", leaves_tangent, 3, 2,
          (double[]){ 1 - tanh(0.5) * tanh(0.5), 2, 1 });
    check("y = tanh(a b + c) c, nodes: a, b, c, a b, a b + c, tanh, y", chain, 7, 6, NULL);
    check("s = a a + a, y = s + s, nodes: a, a a, s, y", square, 4, 3, NULL);
    check("y = a b, and then y b, nodes: a, b, y, y b", middle, 4, 2, NULL);
    check("y = a b, but it is not the last node, nodes: a, b, y, ...", middle, 6, 2, NULL);

    struct line line[TAPE_ROOM] = { { LEAF, 0, 0, 1e-9 } };
    int n = 1;
    while (n < 51)
        add(line, &n, ADD, n - 1, n - 1);
    check("a is doubled fifty times: each node is visited once, not once for each path from y to it", line, n,
          n - 1, NULL);
    drawn(41, 12);
    drawn(42, 40);
    drawn(43, TAPE_ROOM);
}
