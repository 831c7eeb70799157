/* rules: the mistakes that people make when they write a formula in C, made from the formula itself, each with
 * its sentence (see formula.h and rules.h).
 *
 * A rule is a function that looks at one node of a line and adds the trees that could stand there instead: a
 * term is missing, a factor divides, a sum lacks its last term, another name is read. It copies the node
 * (formula_clone), changes the copy, and says what it changed in the words of the formula. All rules are tried
 * at all nodes; those of rank 0 come first, as they are the most common. What a rule cannot make, since it
 * needs an idea of what the formula means, is a special of the judge: lines to stand instead of the lines. */
#include "rules.h"
#include "judge.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 300 };
enum { SPECIAL, LEFT_OUT, SUMS, TESTS, NAMES_, CONSTANTS, PLACES, FUNCTION, BRACKETS, OUTSIDE, DOUBLED, EXTRA,
       EARLY, LINE, STORED, ALONG, EXCHANGED, RUNS_ON, WHOLE };

static struct {
    struct formula  *f;
    struct mistakes *to;
    int              output, rank, rule;
    int              nodes;             /* of the formula itself: those after them belong to mistakes */
    bool             tensors;
    int              use;               /* NONE, or the only READ for which the line is wrong */
} r;

/* ---- sentences: nodes as text ------------------------------------------------------------------------- */

static void put(char *s, const char *format, ...) GRA_PRINTF(2, 3);
static void put(char *s, const char *format, ...)
{
    va_list args;
    const size_t n = strlen(s);
    va_start(args, format);
    vsnprintf(s + n, TEXT - n, format, args);
    va_end(args);
}

static char *empty(void)                /* one of some texts: a sentence needs a few at once */
{
    static char text[12][TEXT];
    static int next;
    next = (next + 1) % 12;
    text[next][0] = 0;
    return text[next];
}

static const char *name_text(int name)
{
    const struct name *a = &r.f->name[name];
    return a->gloss[0] ? a->gloss : a->text;
}

static void put_node(char *s, int i, bool inside);

static void put_list(char *s, const struct node *x, const char *between)
{
    for (int c = 0; c < x->n; c++) {
        put(s, "%s", c ? between : "");
        put_node(s, x->child[c], false);
    }
}

static void put_terms(char *s, const struct node *x)
{
    for (int c = 0; c < x->n; c++) {
        if (x->kind == PLUS)
            put(s, "%s", c ? x->minus[c] ? " - " : " + " : x->minus[c] ? "-" : "");
        else
            put(s, "%s", x->minus[c] ? c ? " / " : "1 / " : c ? " * " : "");
        put_node(s, x->child[c], x->kind == TIMES || x->minus[c]);
    }
}

static void put_node(char *s, int i, bool inside)
{
    static const char *const compared[] = { "<=", ">=", "!=", "<", ">", "=" };
    const struct node *x = &r.f->node[i];
    const bool bracket = inside && (x->kind == PLUS || (x->kind == TIMES && x->n > 1));
    put(s, "%s", bracket ? "(" : "");
    switch (x->kind) {
    case NUMBER:
        put(s, "%.6g", x->number);
        break;
    case SIZE:
        put(s, "%s", r.f->letter[x->of].size);
        break;
    case LETTER:
        put(s, "%c", r.f->letter[x->of].c);
        break;
    case READ:
    case HERE:
        put(s, "%s", name_text(x->of));
        if (x->n && !r.f->name[x->of].gloss[0]) {
            put(s, "[");
            put_list(s, x, ", ");
            put(s, "]");
        }
        break;
    case PLUS:
    case TIMES:
        put_terms(s, x);
        break;
    case POWER:
        put_node(s, x->child[0], true);
        put(s, "^");
        put_node(s, x->child[1], true);
        break;
    case CALL:
        put(s, "%s(", r.f->function[x->of].name);
        put_list(s, x, ", ");
        put(s, ")");
        break;
    case TEST:
        put_node(s, x->child[0], false);
        put(s, " %s ", compared[x->of]);
        put_node(s, x->child[1], false);
        break;
    case CHOICE:
        put_node(s, x->child[1], true);
        put(s, " if ");
        put_node(s, x->child[0], false);
        put(s, ", else ");
        put_node(s, x->child[2], true);
        break;
    case OVER:
        put(s, "the %s over %c of ", x->largest ? "largest" : x->divisor != NONE ? "mean" : "sum",
            r.f->letter[x->of].c);
        put_node(s, x->child[0], true);
        break;
    }
    put(s, "%s", bracket ? ")" : "");
}

static const char *text_of(int i)
{
    char *s = empty();
    put_node(s, i, r.f->node[i].kind == PLUS);
    return s;
}

/* " in the mean"; "" of what is compared, which need not be named. */
static const char *in_line(int line)
{
    static char text[LINES][TEXT];
    const int name = r.f->node[r.f->line[line].target].of;
    text[line][0] = 0;
    if (name != r.output || r.use != NONE)
        put(text[line], " in %s", name_text(name));
    return text[line];
}

/* ---- adding mistakes ---------------------------------------------------------------------------------- */

static struct mistake *new_mistake(const char *format, va_list args)
{
    struct mistakes *to = r.to;
    char text[TEXT + 80];
    if (to->n == to->room) {
        to->room = 2 * to->room + 500;
        to->all = realloc(to->all, (size_t)to->room * sizeof *to->all);
        if (!to->all)
            judge_wrong("the judge is out of memory");
    }
    vsnprintf(text, sizeof text, format, args);
    if (r.use != NONE)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", as used%s",
                 in_line(r.f->node[r.use].line));
    struct mistake *m = &to->all[to->n++];
    *m = (struct mistake){ .rank = r.rank, .rule = r.rule, .unknown = NONE, .says = strdup(text) };
    if (!m->says)
        judge_wrong("the judge is out of memory");
    return m;
}

/* `instead` stands for `node`. */
static struct mistake *add(int node, int instead, const char *says, ...) GRA_PRINTF(3, 4);
static struct mistake *add(int node, int instead, const char *says, ...)
{
    va_list args;
    va_start(args, says);
    struct mistake *m = new_mistake(says, args);
    va_end(args);
    m->swaps = 1;
    m->node[0] = node;
    m->instead[0] = instead;
    if (r.use != NONE) {                                    /* only where r.use reads the line */
        const int here = formula_clone(r.f, r.use);
        r.f->node[here].kind = HERE;
        r.f->node[here].was = node;
        r.f->node[here].with = instead;
        m->node[0] = r.use;
        m->instead[0] = here;
    }
    return m;
}

static int number(double x, int like)
{
    const int i = formula_node(r.f, NUMBER, like);
    r.f->node[i].number = x;
    return i;
}

/* (a) b or (a) / b, (a) + b or (a) - b */
static int two(enum kind kind, int a, int b, bool minus)
{
    const int i = formula_node(r.f, kind, a);
    r.f->node[i].n = 2;
    r.f->node[i].child[0] = a;
    r.f->node[i].child[1] = b;
    r.f->node[i].minus[1] = minus;
    return i;
}

static int call(const char *name, int a)
{
    const int i = formula_node(r.f, CALL, a);
    while (strcmp(r.f->function[r.f->node[i].of].name, name))
        r.f->node[i].of++;
    r.f->node[i].n = 1;
    r.f->node[i].child[0] = a;
    return i;
}

static int of_letter(enum kind kind, int letter, int like)
{
    const int i = formula_node(r.f, kind, like);
    r.f->node[i].of = letter;
    return i;
}

static void drop_child(int node, int c)
{
    struct node *x = &r.f->node[node];
    for (x->n--; c < x->n; c++)
        x->child[c] = x->child[c + 1], x->minus[c] = x->minus[c + 1];
}

static const struct node *at(int i)
{
    return &r.f->node[i];
}

/* Has the name a value where node i stands, and have all of its indices? */
static bool is_known(int name, int i, bool with_indices)
{
    const struct name *a = &r.f->name[name];
    for (int d = 0; d < a->dims && with_indices; d++)
        if (!(at(i)->scope >> a->dim[d] & 1))
            return false;
    return a->line == NONE || a->input || !(r.f->line[a->line].uses >> at(i)->line & 1);
}

/* name[k,i], read with the letters it is declared with */
static int own_element(int name, int like)
{
    const int read = formula_node(r.f, READ, like);
    r.f->node[read].of = name;
    for (int d = 0; d < r.f->name[name].dims; d++) {
        const int index = of_letter(LETTER, r.f->name[name].dim[d], like);
        r.f->node[read].child[r.f->node[read].n++] = index;
    }
    return read;
}

/* ---- rules: terms and factors ------------------------------------------------------------------------- */

static void left_out(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    const int output_line = r.f->name[r.output].line, held = r.f->name[r.output].held;
    if (held != NONE && r.use == NONE && i == r.f->line[output_line].tree)
        add(i, own_element(held, i), "%s was not changed: nothing was added, or 0 (in C 1 / n is 0 where n is an int)",
            name_text(r.output));
    for (int c = 0; c < x.n && (x.kind == PLUS || x.kind == TIMES); c++) {
        const char *s = text_of(x.child[c]);
        const bool minus = x.minus[c];
        const int without = formula_clone(r.f, i), turned = formula_clone(r.f, i);
        drop_child(without, c);
        r.f->node[turned].minus[c] = !minus;
        const struct node *left = x.n == 2 ? at(x.child[!c]) : NULL;
        if (x.kind == PLUS && left && left->kind == READ && left->of == r.f->name[r.output].held) {
            add(i, turned, minus ? "%s is added%s: subtract it" : "%s is subtracted%s: add it", s, in);
            if (minus)
                add(i, formula_clone(r.f, x.child[c]), "%s is stored: subtract it from what %s held", s,
                    name_text(r.output));
        } else if (x.kind == PLUS) {
            add(i, without, "%s%s%s is missing%s", minus || strncmp(s, "the ", 4) ? "the term " : "", minus ? "-" : "",
                s, in);
            add(i, turned, minus ? "%s is added%s: subtract it" : "%s is subtracted%s: add it", s, in);
        } else if (at(x.child[c])->kind == TEST)
            add(i, without, "the condition that %s is missing%s", s, in);
        else {
            add(i, without, minus ? "it is not divided by %s%s" : strncmp(s, "the ", 4)
                ? "the factor %s is missing%s" : "%s is missing%s", s, in);
            add(i, turned, minus ? "multiplied by %s%s: divide by it" : "divided by %s%s: multiply by it", s, in);
        }
    }
    if (x.kind == CALL && at(i)->n == 1)
        add(i, formula_clone(r.f, x.child[0]), "%s of %s is missing%s", r.f->function[x.of].name,
            text_of(x.child[0]), in);
    if (x.kind == POWER && at(x.child[1])->kind == NUMBER && at(x.child[1])->number == 2) {
        add(i, formula_clone(r.f, x.child[0]), "%s is not squared%s", text_of(x.child[0]), in);
        add(i, call("abs", x.child[0]), "|%s| is used instead of its square%s", text_of(x.child[0]), in);
    } else if (x.kind == POWER)
        add(i, formula_clone(r.f, x.child[0]), "the power %s of %s is missing%s", text_of(x.child[1]),
            text_of(x.child[0]), in);
}

/* A factor is added, a term is a factor; a factor is there twice; each part of a product changes its sign. */
static void doubled(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int c = 0; c < x.n && (x.kind == TIMES || x.kind == PLUS); c++) {
        const char *s = text_of(x.child[c]);
        const int rest = formula_clone(r.f, i);
        drop_child(rest, c);
        if (at(x.child[c])->kind == TEST)
            continue;
        if (x.n > 1)
            add(i, two(x.kind == TIMES ? PLUS : TIMES, rest, x.child[c], false),
                x.kind == TIMES ? "%s is added%s: it is a factor" : "%s is a factor%s: it is a term", s, in);
        if (x.kind == TIMES)
            add(i, two(TIMES, formula_clone(r.f, i), x.child[c], x.minus[c]),
                x.minus[c] ? "divided by %s twice%s" : "the factor %s is there twice%s", s, in);
    }
    if (x.kind == CALL && x.n == 1) {
        const int twice = formula_clone(r.f, i);
        r.f->node[twice].child[0] = formula_clone(r.f, i);
        add(i, twice, "%s of %s is computed twice%s", r.f->function[x.of].name, text_of(x.child[0]), in);
    }
}

/* Another name: at its own indices, or at those that the right name has here. */
static void other_names(int i)
{
    const struct node x = *at(i);
    if (x.kind != READ)
        return;
    for (int k = 0; k < r.f->names; k++) {
        bool same = r.f->name[k].dims == x.n;               /* the same indices, once */
        for (int d = 0; d < x.n && same; d++)
            same = at(x.child[d])->kind == LETTER && at(x.child[d])->of == r.f->name[k].dim[d];
        for (int own = 0; own < 2 && k != x.of; own++) {
            if (!is_known(k, i, own) || (own ? same : r.f->name[k].dims != x.n))
                continue;
            const int other = own ? own_element(k, i) : formula_clone(r.f, i);
            r.f->node[other].of = k;
            add(i, other, "%s is used instead of %s%s", text_of(other), text_of(i), in_line(x.line));
        }
    }
}

/* Names that may be a factor or term too many, where all of their indices have values. */
static void extra(int i)
{
    const int line = at(i)->line, root = r.f->line[line].tree;
    const char *in = in_line(line);
    bool top = i == root;                                   /* the line, or one of its terms */
    for (int c = 0; c < at(root)->n && at(root)->kind == PLUS; c++)
        top |= i == at(root)->child[c];
    if (!top || at(i)->kind == NUMBER)
        return;
    for (int k = 0; k < r.f->names; k++) {
        if (!is_known(k, i, true))
            continue;
        const int read = own_element(k, i);
        const char *s = text_of(read), *to = i == root ? "" : text_of(i);
        const char *with = i == root ? "" : " with ";
        add(i, two(TIMES, formula_clone(r.f, i), read, false), "there is an extra factor %s%s%s%s", s, with, to, in);
        add(i, two(TIMES, formula_clone(r.f, i), read, true), "divided by %s%s%s%s: it should not be", s,
            *to ? " in " : "", to, in);
        if (i == root) {
            add(i, two(PLUS, formula_clone(r.f, i), read, false), "%s is added%s: it should not be", s, in);
            add(i, two(PLUS, formula_clone(r.f, i), read, true), "%s is subtracted%s: it should not be", s, in);
        }
    }
    for (int l = 0; l < r.f->letters; l++) {
        const int size = of_letter(SIZE, l, i);
        const char *to = i == root ? "" : text_of(i);
        add(i, two(TIMES, formula_clone(r.f, i), size, true), "divided by %s%s%s%s: it should not be",
            text_of(size), *to ? " in " : "", to, in);
        add(i, two(TIMES, formula_clone(r.f, i), size, false), "there is an extra factor %s%s%s%s", text_of(size),
            *to ? " with " : "", to, in);
    }
}

/* An index that is a number in the formula, counted from 1 or from -1. */
static void counted(int i)
{
    const struct node x = *at(i);
    for (int c = 0; c < x.n && x.kind != READ && x.kind != TEST; c++)
        for (int by = -1; by <= 1 && at(x.child[c])->kind == LETTER; by += 2)
            add(x.child[c], two(PLUS, formula_clone(r.f, x.child[c]), number(by, i), false),
                "%s is %s here%s: it begins at 0", text_of(x.child[c]), by < 0 ? "1 too small" : "1 too large",
                in_line(x.line));
}

/* A number, or a factor of 1, that is some other number: search.c finds which. */
static void constants(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    const int root = r.f->line[x.line].tree, unknown = number(1, i);
    bool term = i == root;
    for (int k = 0; k < r.nodes && !term; k++)                  /* a term of some sum */
        for (int c = 0; c < at(k)->n && at(k)->kind == PLUS && at(k)->line == x.line; c++)
            term |= i == at(k)->child[c];
    struct mistake *m = NULL;
    const int made = x.kind == READ ? r.f->name[x.of].line : NONE;
    if (made != NONE && at(r.f->line[made].tree)->kind == NUMBER)
        return;                                             /* its own line tells it better */
    if (x.kind == SIZE || (x.kind == READ && !x.n && r.f->name[x.of].line == NONE)) {
        r.f->node[unknown].number = 1.37;                   /* not what anybody writes */
        m = add(i, unknown, "%s is used instead of %s%s", "%", text_of(i), in);
    } else if (x.kind == NUMBER) {
        r.f->node[unknown].number = x.number;
        m = i == root ? add(i, unknown, "%s is %%: it should be %s", name_text(at(r.f->line[x.line].target)->of),
                            text_of(i))
                      : add(i, unknown, "the number %s is %% here%s", text_of(i), in);
    } else if (term) {
        add(i, two(TIMES, formula_clone(r.f, i), number(-1, i), false), "the sign of %s is wrong%s", text_of(i),
            in);
        m = add(i, two(TIMES, formula_clone(r.f, i), unknown, false),
                i == root ? "%s is %% times what it should be%s" : "the term %s is %% times what it should be%s",
                i == root ? name_text(at(r.f->line[x.line].target)->of) : text_of(i), i == root ? "" : in);
    }
    if (m)
        m->unknown = unknown;
}

static void exchanged(int i)
{
    const struct node x = *at(i);
    if (x.kind != READ || r.use != NONE)
        return;
    for (int k = 0; k < x.of; k++) {
        const struct name *a = &r.f->name[k], *b = &r.f->name[x.of];
        struct mistake m = { .swaps = 0 };
        if (a->line != NONE || b->line != NONE || a->dims != b->dims
            || memcmp(a->dim, b->dim, sizeof(int) * (size_t)a->dims))
            continue;
        bool first = true, both = false;
        for (int j = 0; j < r.nodes && m.swaps < SWAPS; j++) {
            const struct node *y = at(j);
            if (y->kind != READ || (y->of != k && y->of != x.of) || y->line == NONE || y->line >= r.f->usual
                || !(r.f->line[r.f->name[r.output].line].uses >> y->line & 1))
                continue;
            first = first && (j >= i || y->of != x.of);
            both = both || y->of == k;
            m.node[m.swaps++] = j;
        }
        if (!first || !both)
            continue;
        for (int s = 0; s < m.swaps; s++) {
            m.instead[s] = formula_clone(r.f, m.node[s]);
            r.f->node[m.instead[s]].of = at(m.node[s])->of == k ? x.of : k;
        }
        struct mistake *new = add(i, i, "%s and %s are exchanged", name_text(k), name_text(x.of));
        new->swaps = m.swaps;
        memcpy(new->node, m.node, sizeof m.node);
        memcpy(new->instead, m.instead, sizeof m.instead);
    }
}

/* ---- rules: sums -------------------------------------------------------------------------------------- */

static void sums(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int l = 0; l < r.f->letters && x.kind == SIZE; l++)
        if (l != x.of)
            add(i, of_letter(SIZE, l, i), "%s is used instead of %s%s", r.f->letter[l].size, text_of(i), in);
    if (x.kind != OVER)
        return;
    const char c = r.f->letter[x.of].c, *n = r.f->letter[x.of].size, *what = x.largest ? "largest" : "sum";
    const int size = of_letter(SIZE, x.of, i), less = two(PLUS, size, number(1, i), true);
    const int more = two(PLUS, size, number(1, i), false);
#define CHANGED(member, to, ...) do { const int new = formula_clone(r.f, i); r.f->node[new].member = to; \
                                      add(i, new, __VA_ARGS__); } while (0)
    if (!x.largest && x.divisor == NONE)
        CHANGED(divisor, size, "the sum over %c is divided by %s%s: it is no mean", c, n, in);
    if (x.divisor != NONE) {
        CHANGED(divisor, NONE, "the sum over %c is not divided by %s%s", c, n, in);
        const int plain = formula_clone(r.f, i);
        r.f->node[plain].divisor = NONE;
        add(i, two(TIMES, plain, size, false), "the sum over %c is multiplied by %s%s: divide it by %s", c, n, in, n);
        CHANGED(divisor, less, "the sum over %c is divided by %s - 1%s: divide it by %s", c, n, in, n);
        for (int l = 0; l < r.f->letters; l++)
            if (l != x.of)
                CHANGED(divisor, of_letter(SIZE, l, i), "the sum over %c is divided by %s%s: divide it by %s", c,
                        r.f->letter[l].size, in, n);
    }
    CHANGED(from, less, "the %s over %c is only its last term%s (is = there for +=?)", what, c, in);
    CHANGED(to, number(1, i), "the %s over %c is only its first term%s", what, c, in);
    CHANGED(from, number(1, i), "the %s over %c lacks its first term%s", what, c, in);
    CHANGED(to, less, "the %s over %c lacks its last term%s", what, c, in);
    CHANGED(to, more, "the %s over %c has one term too many%s: it ends before %c = %s", what, c, in, c, n);
    for (int l = 0; l < r.f->letters; l++) {
        if (l != x.of)
            CHANGED(to, of_letter(SIZE, l, i), "the %s over %c has only %s terms%s: it has %s", what, c,
                    r.f->letter[l].size, in, n);
        if (l == x.of || !(x.scope >> l & 1))
            continue;
        const int index = of_letter(LETTER, l, i);
        CHANGED(to, two(PLUS, index, number(1, i), false), "the %s over %c ends at %c%s: it has %s terms", what,
                c, r.f->letter[l].c, in, n);
        CHANGED(to, index, "the %s over %c ends before %c%s: it has %s terms", what, c, r.f->letter[l].c, in, n);
        CHANGED(from, index, "the %s over %c begins at %c%s: it begins at 0", what, c, r.f->letter[l].c, in);
    }
    const int trunc_ = at(call("trunc", i))->of, float_ = at(call("float", i))->of;
    r.rank += 2;                                            /* it may look like other mistakes: never one of two */
    CHANGED(kept, trunc_, "the %s over %c is kept in an int%s: use a double", what, c, in);
    CHANGED(kept, float_, "the %s over %c is kept in a float%s: use a double", what, c, in);
    r.rank -= 2;
    if (!x.largest && x.divisor == NONE)
        CHANGED(largest, true, "the largest is taken instead of the sum over %c%s", c, in);
    if (x.largest)
        CHANGED(largest, false, "the sum is taken instead of the largest over %c%s", c, in);
#undef CHANGED
}

/* Each term of the sum is stored instead of added, which also loses what else the line adds. */
static void overwritten(int i)
{
    const struct node x = *at(i);
    if (x.kind != OVER || x.largest || x.divisor != NONE || r.use != NONE)
        return;
    const int root = r.f->line[x.line].tree;
    for (int c = 0; c < at(root)->n && at(root)->kind == PLUS; c++) {
        int term = formula_clone(r.f, at(root)->child[c]), last = formula_clone(r.f, i);
        const int less = two(PLUS, of_letter(SIZE, x.of, i), number(1, i), true);
        r.f->node[last].from = less;
        if (at(root)->child[c] == i)
            term = last;
        for (int k = 0; k < at(term)->n && at(term)->kind == TIMES; k++)
            if (at(term)->child[k] == i)
                r.f->node[term].child[k] = last;
        if (at(root)->child[c] == i || at(at(root)->child[c])->kind == TIMES)
            add(root, term, "%s is overwritten by each term of the sum over %c: add with +=",
                name_text(at(r.f->line[x.line].target)->of), r.f->letter[x.of].c);
    }
}

/* A sum is read before it is complete. */
static void early(int i)
{
    const struct node x = *at(i);
    const int line = x.kind == READ ? r.f->name[x.of].line : NONE;
    if (line == NONE || r.use != NONE)
        return;
    for (int k = 0; k < r.nodes; k++)
        if (at(k)->kind == OVER && at(k)->line == line && x.scope >> at(k)->of & 1) {
            const int so_far = formula_clone(r.f, k);
            r.f->node[so_far].to = two(PLUS, of_letter(LETTER, at(k)->of, k), number(1, k), false);
            r.use = i;
            add(k, so_far, "%s is read before it is complete: it needs a loop of its own", text_of(i));
            r.use = NONE;
        }
}

/* A sum is not set to 0 for each element: it runs on from the previous one. Static: from row to row. */
static void runs_on(int i)
{
    const struct node x = *at(i);
    const struct line *line = x.line >= 0 ? &r.f->line[x.line] : NULL;
    if (x.kind != OVER || !line || x.largest)
        return;
    const struct node target = *at(line->target);
    const int last = target.n - 1;
    for (int how = 0; how < 3 && last >= (how > 0); how++) {    /* the previous of the last index, of all, of
                                                                   the first */
        const int before = formula_clone(r.f, line->target), test = formula_node(r.f, TEST, i);
        const int d = how == 2 ? 0 : last;
        int index = at(before)->child[d];
        const int earlier = two(PLUS, index, number(1, i), true);
        r.f->node[before].child[d] = earlier;
        for (int k = 0; k < last && how == 1; k++)
            index = two(PLUS, index, at(line->target)->child[k], false);
        r.f->node[test].n = 2;
        r.f->node[test].of = 4;                             /* > */
        r.f->node[test].child[0] = index;
        const int zero = number(0, i);
        r.f->node[test].child[1] = zero;
        if (line->tree == i || how == 0)
            add(i, two(PLUS, formula_clone(r.f, i), two(TIMES, test, before, false), false),
                how == 1 ? "%s runs on through all %c: set it to 0 for each"
                         : "%s runs on from the previous %c: set it to 0 for each",
                line->tree == i ? name_text(target.of) : "the sum",
                r.f->letter[r.f->name[target.of].dim[d]].c);
    }
}

/* A mean of each row, taken of each column or of all. */
static void along(int i)
{
    const struct node x = *at(i);
    const int line = x.kind == READ ? r.f->name[x.of].line : NONE;
    if (line == NONE || x.n != 1 || r.use != NONE)
        return;
    const struct node top = *at(r.f->line[line].tree);
    const int own = r.f->name[x.of].dim[0];
    if (top.kind != OVER || !(x.scope >> top.of & 1) || !(x.scope >> own & 1))
        return;
    for (int both = 0; both < 2; both++) {
        int m = formula_clone(r.f, r.f->line[line].tree), outer;
        if (both) {
            outer = formula_clone(r.f, m);
            r.f->node[outer].child[0] = m;
            m = outer;
        }
        r.f->node[m].of = own;
        if (top.divisor != NONE)
            r.f->node[m].divisor = of_letter(SIZE, own, i);
        add(i, m, both ? "%s runs over %c and %c: each %c has its own"
                       : "%s runs over %c: it should run over %c", name_text(x.of), r.f->letter[own].c,
            r.f->letter[top.of].c, r.f->letter[own].c);
    }
}

/* ---- rules: conditions, functions, brackets ----------------------------------------------------------- */

static void tests(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    if (x.kind == CHOICE) {
        add(i, formula_clone(r.f, x.child[1]), "the condition %s is missing%s: not all are such", text_of(x.child[0]),
            in);
        add(i, formula_clone(r.f, x.child[2]), "the case that %s is missing%s", text_of(x.child[0]), in);
    }
    for (int how = 0; how < 8 && x.kind == TEST; how++) {
        const int other = formula_clone(r.f, i);
        const int side = how - 6;                           /* 1 is added to a side */
        if (side >= 0) {
            const int more = two(PLUS, x.child[side], number(1, i), false);
            r.f->node[other].child[side] = more;
        } else
            r.f->node[other].of = how;
        if (how != x.of)
            add(i, other, "the condition is %s%s: it should be %s", text_of(other), in, text_of(i));
    }
}

static void functions(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int k = 0; k < r.f->functions && x.kind == CALL; k++)
        if (k != x.of && r.f->function[k].n == x.n) {
            const int other = formula_clone(r.f, i);
            r.f->node[other].of = k;
            add(i, other, "%s is used instead of %s%s", r.f->function[k].name, r.f->function[x.of].name, in);
        }
}

static bool is_whole(int i)
{
    const struct node *x = at(i);
    if (x->kind == NUMBER)
        return x->number == floor(x->number);
    if (x->kind == READ)
        return r.f->name[x->of].whole;
    if (x->kind != PLUS && x->kind != TIMES)
        return x->kind == SIZE || x->kind == LETTER || x->kind == TEST;
    for (int c = 0; c < x->n; c++)
        if (!is_whole(x->child[c]) || (x->kind == TIMES && x->minus[c]))
            return false;
    return true;
}

/* Integers that are divided in C; a number that is kept in an int or a float. */
static void whole(int i)
{
    const struct node x = *at(i);
    int n = 0, d = 0;
    if (x.kind == TIMES) {
        const int quotient = formula_clone(r.f, i), rest = formula_clone(r.f, i);
        r.f->node[quotient].n = r.f->node[rest].n = 0;
        for (int c = 0; c < x.n; c++) {
            const bool is = is_whole(x.child[c]);
            struct node *y = &r.f->node[is ? quotient : rest];
            y->minus[y->n] = x.minus[c];
            y->child[y->n++] = x.child[c];
            n += is && !x.minus[c], d += is && x.minus[c];
        }
        if (d && (n || !x.minus[0] || is_whole(x.child[0])))
            add(i, two(TIMES, call("trunc", quotient), rest, false),
                "in C the quotient %s of two integers is rounded down%s: make one of them a double",
                text_of(quotient), in_line(x.line));
    }
    if (x.kind == CALL && x.n == 1)
        add(i, call("trunc", formula_clone(r.f, i)), "%s is rounded to an integer%s: keep it in a double",
            text_of(i), in_line(x.line));
    const int root = x.line >= 0 ? r.f->line[x.line].tree : NONE;
    if (i != root || x.kind == NUMBER || r.use != NONE)
        return;
    const char *name = name_text(at(r.f->line[x.line].target)->of);
    add(i, call("trunc", formula_clone(r.f, i)), "%s is kept in an int: use a double", name);
    add(i, call("float", formula_clone(r.f, i)), "%s is kept in a float: use a double", name);
}

/* What C computes where the brackets round child c of x are left out. */
static int unbracketed(int i, int c)
{
    const struct node x = *at(i), inner = *at(x.child[c]);
    const int new = formula_clone(r.f, i);
    struct node *y = &r.f->node[new];
    if (x.n + inner.n - 1 > CHILDREN)
        return NONE;
    if (x.kind == inner.kind && x.minus[c]) {               /* a / (b c) as a / b c, a - (b + c) as a - b + c */
        y->n = 0;
        for (int k = 0; k < x.n; k++)
            for (int j = 0; j < (k == c ? inner.n : 1); j++) {
                y->minus[y->n] = k == c && j > 0 ? inner.minus[j] : x.minus[k];
                y->child[y->n++] = k == c ? inner.child[j] : x.child[k];
            }
        return new;
    }
    if (x.kind != TIMES || inner.kind != PLUS || inner.n < 2)
        return NONE;
    const int first = formula_clone(r.f, i), last = formula_clone(r.f, i), sum = formula_clone(r.f, x.child[c]);
    r.f->node[first].n = c + 1;                             /* a (b + c) d as a b + c d */
    r.f->node[first].child[c] = inner.child[0];
    r.f->node[last].n = x.n - c;
    for (int k = c; k < x.n; k++)
        r.f->node[last].child[k - c] = k == c ? inner.child[inner.n - 1] : x.child[k],
        r.f->node[last].minus[k - c] = k > c && x.minus[k];
    r.f->node[sum].child[0] = first;
    r.f->node[sum].child[inner.n - 1] = last;
    return sum;
}

static void brackets(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int c = 0; c < x.n && (x.kind == TIMES || x.kind == PLUS); c++) {
        const int without = unbracketed(i, c);
        if (without == NONE)
            continue;
        add(i, without, "the brackets round %s are missing%s", text_of(x.child[c]), in);
        const int last = at(without)->child[at(without)->n - 1];        /* (a - b) / (2 c) as a - b / 2 c */
        for (int k = 0; k < at(last)->n && at(without)->kind == PLUS && at(last)->kind == TIMES; k++) {
            const int more = at(at(last)->child[k])->kind == TIMES ? unbracketed(last, k) : NONE;
            if (more != NONE) {
                const int both = formula_clone(r.f, without);
                r.f->node[both].child[r.f->node[both].n - 1] = more;
                add(i, both, "the brackets round %s and %s are missing%s", text_of(x.child[c]),
                    text_of(at(last)->child[k]), in);
            }
        }
    }
    if (x.kind == POWER && (at(x.child[0])->kind == PLUS || at(x.child[0])->kind == TIMES)) {
        const int without = formula_clone(r.f, x.child[0]), power = formula_clone(r.f, i);
        struct node *y = &r.f->node[without];
        r.f->node[power].child[0] = y->child[y->n - 1];
        y->child[y->n - 1] = power;
        add(i, without, "the brackets round %s are missing%s", text_of(x.child[0]), in);
    }
}

/* What belongs inside a function or sum is outside, or the other way round. */
static void outside(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    const int inside = x.kind == CALL || x.kind == POWER || x.kind == OVER ? x.child[0] : NONE;
    const char *what = x.kind == CALL ? r.f->function[x.of].name : x.kind == POWER ? "the power" : "the sum";
    if (inside != NONE && (at(inside)->kind == PLUS || at(inside)->kind == TIMES) && at(inside)->n > 1)
        for (int c = 0; c < at(inside)->n; c++) {
            const struct node list = *at(inside);
            const int rest = formula_clone(r.f, inside), outer = formula_clone(r.f, i);
            drop_child(rest, c);
            r.f->node[outer].child[0] = rest;
            if (x.kind != OVER || !(at(list.child[c])->scope >> x.of & 1) || list.kind == PLUS)
                add(i, two(list.kind, outer, list.child[c], list.minus[c]), "%s is outside of %s%s: it belongs inside",
                    text_of(list.child[c]), what, in);
        }
    for (int c = 0; c < x.n && (x.kind == PLUS || x.kind == TIMES) && x.n > 1; c++) {
        const struct node inner = *at(x.child[c]);
        for (int k = 0; k < inner.n && inner.kind == TIMES && x.kind == PLUS; k++) {
            const int all = formula_clone(r.f, i), part = formula_clone(r.f, x.child[c]);
            drop_child(part, k);
            r.f->node[all].child[c] = part;
            add(i, two(TIMES, all, inner.child[k], inner.minus[k]), "all terms are %s by %s%s, not only %s",
                inner.minus[k] ? "divided" : "multiplied", text_of(inner.child[k]), in, text_of(part));
        }
        if (inner.kind != CALL && inner.kind != POWER && inner.kind != OVER)
            continue;
        for (int k = 0; k < x.n; k++) {
            if (k == c || (x.minus[c] && x.kind == PLUS))
                continue;
            const int rest = formula_clone(r.f, i), around = formula_clone(r.f, x.child[c]);
            r.f->node[around].child[0] = two(x.kind, inner.child[0], x.child[k], x.minus[k] != x.minus[c]);
            r.f->node[rest].child[c] = around;
            drop_child(rest, k);
            const char *of = inner.kind == CALL ? r.f->function[inner.of].name : inner.kind == POWER ? "the power"
                           : "the sum";
            add(i, rest, "%s is inside of %s%s: it belongs outside", text_of(x.child[k]), of, in);
        }
    }
}

/* ---- rules: places ------------------------------------------------------------------------------------ */

/* "k * n + i": how C would write it. */
static const char *place_text(int i)
{
    char *s = empty();
    const struct node *x = at(i);
    for (int d = 0; d < x->n; d++) {
        if (d) {
            char was[TEXT];
            const int by = x->by[d];
            const bool sum = strpbrk(s, "+-") != NULL;
            snprintf(was, sizeof was, "%s", s);
            s[0] = 0;
            if (by != NONE && at(by)->kind == NUMBER)
                put(s, "%s + ", was);
            else
                put(s, sum ? "(%s) * %s + " : "%s * %s + ", was, by == NONE
                    ? r.f->letter[r.f->name[x->of].dim[d]].size : r.f->letter[at(by)->of].size);
        }
        put_node(s, x->child[d], false);
    }
    return s;
}

static void at_other_place(int i, int moved)
{
    const struct node *x = at(i);
    if (r.tensors)
        return;
    const bool stored = r.f->line[x->line].target == i;
    if (!stored)
        add(i, moved, "%s is read at [%s]%s: its place is [%s]", r.f->name[x->of].text, place_text(moved),
            in_line(x->line), place_text(i));
    else if (x->of == r.output && r.use == NONE)
        add(i, moved, "%s is stored at [%s]: its place is [%s]", r.f->name[x->of].text, place_text(moved),
            place_text(i));
}

/* What the output holds at an earlier place has been changed already when it is read: x[0], x[i - 1]. */
static void in_place(int i)
{
    const struct node x = *at(i);
    for (int first = 0; first < 2; first++) {
        const int choice = formula_node(r.f, CHOICE, i), test = formula_node(r.f, TEST, i);
        const int before = formula_clone(r.f, i), now = formula_clone(r.f, i), zero = number(0, i);
        const int index = first ? zero : two(PLUS, x.child[0], number(1, i), true);
        r.f->node[test].of = 4;                             /* > */
        r.f->node[test].n = 2;
        r.f->node[test].child[0] = x.child[0];
        r.f->node[test].child[1] = zero;
        r.f->node[now].child[0] = index;
        r.f->node[before].child[0] = first ? zero : x.child[0];
        r.f->node[now].of = r.output;
        r.f->node[choice].n = 3;
        r.f->node[choice].child[0] = test;
        r.f->node[choice].child[1] = now;
        r.f->node[choice].child[2] = before;
        add(i, choice, "%s is made of %s[%s]: its place is [%s]", r.f->name[r.output].text, r.f->name[r.output].text,
            text_of(index), text_of(x.child[0]));
    }
}

static void places(int i)
{
    const struct node x = *at(i);
    if (x.kind != READ || !x.n)
        return;
    const struct name *a = &r.f->name[x.of];
    for (int d = 0; d + 1 < x.n; d++)                       /* two indices exchanged, as a transpose or not */
        for (int turned = 1; turned >= 0; turned--) {
            const int moved = formula_clone(r.f, i);
            struct node *y = &r.f->node[moved];
            y->child[d] = x.child[d + 1];
            y->child[d + 1] = x.child[d];
            if (turned) {
                const int by = of_letter(SIZE, a->dim[d], i), before = of_letter(SIZE, a->dim[d + 1], i);
                r.f->node[moved].by[d + 1] = by;
                r.f->node[moved].by[d] = d ? before : NONE;
            }
            if (r.tensors && (i != r.f->line[x.line].target || x.of == r.output))
                add(i, moved, turned ? "%s is reshaped, not transposed: its dimensions %d and %d are in the other order%s"
                                     : "%s is transposed: its dimensions %d and %d are exchanged%s", r.f->name[x.of].text,
                    d, d + 1, in_line(x.line));
            at_other_place(i, moved);
        }
    for (int d = 1; d + 1 < x.n; d++) {                     /* i * m + j * n + k, without brackets */
        const int moved = formula_clone(r.f, i), one = number(1, i);
        const int index = two(TIMES, x.child[d], of_letter(SIZE, a->dim[d + 1], i), false);
        r.f->node[moved].child[d] = index;
        r.f->node[moved].by[d + 1] = one;
        at_other_place(i, moved);
    }
    for (int d = 0; d < x.n; d++) {
        for (int l = 0; l < r.f->letters; l++) {
            if (x.scope >> l & 1 && !(at(x.child[d])->kind == LETTER && at(x.child[d])->of == l)) {
                const int moved = formula_clone(r.f, i), index = of_letter(LETTER, l, i);
                r.f->node[moved].child[d] = index;          /* another index */
                at_other_place(i, moved);
            }
            if (d && l != a->dim[d]) {
                const int moved = formula_clone(r.f, i), by = of_letter(SIZE, l, i);
                r.f->node[moved].by[d] = by;                /* rows of another length */
                at_other_place(i, moved);
            }
        }
        if (r.f->name[r.output].held == x.of && x.n == 1)
            in_place(i);
        for (int by = -1; by <= 1; by++) {                  /* an index left out, or 1 too small or large */
            const int moved = formula_clone(r.f, i);
            const int index = by ? two(PLUS, x.child[d], number(by, i), false) : number(0, i);
            r.f->node[moved].child[d] = index;
            at_other_place(i, moved);
        }
        if (d) {
            int moved = formula_clone(r.f, i);
            const int one = number(1, i);
            r.f->node[moved].by[d] = one;                   /* i + j */
            at_other_place(i, moved);
            moved = formula_clone(r.f, moved);              /* i / n + j */
            const int divided = call("trunc", two(TIMES, x.child[d - 1], of_letter(SIZE, a->dim[d], i), true));
            r.f->node[moved].child[d - 1] = divided;
            at_other_place(i, moved);
            moved = formula_clone(r.f, i);                  /* i + n + j */
            r.f->node[moved].by[d] = one;
            const int more = two(PLUS, of_letter(SIZE, a->dim[d], i), x.child[d], false);
            r.f->node[moved].child[d] = more;
            at_other_place(i, moved);
        }
    }
}

/* The loop over an index of the output ends too early or begins too late. */
static void stored(int i)
{
    const struct node x = *at(i);
    if (x.line < 0 || i != r.f->line[x.line].target || x.of != r.output || r.use != NONE)
        return;
    for (int d = 0; d < x.n; d++) {
        const int own = r.f->name[x.of].dim[d];
        const char c = r.f->letter[own].c, *size = r.f->letter[own].size;
#define LOOP(member, end, ...) do { const int new = formula_clone(r.f, i), to_ = end; \
    r.f->node[new].divisor = d; r.f->node[new].member = to_; add(i, new, __VA_ARGS__); } while (0)
        LOOP(to, two(PLUS, of_letter(SIZE, own, i), number(1, i), true), "the loop over %c ends one too early", c);
        LOOP(from, number(1, i), "the loop over %c begins at 1: it begins at 0", c);
        LOOP(to, number(1, i), "only %c = 0 is computed: %c ends at %s", c, c, size);
        for (int l = 0; l < r.f->letters; l++) {
            if (l != own)
                LOOP(to, of_letter(SIZE, l, i), "the loop over %c ends at %s: it ends at %s", c,
                     r.f->letter[l].size, size);
            if (l != own && x.scope >> l & 1)
                LOOP(to, two(PLUS, of_letter(LETTER, l, i), number(1, i), false),
                     "the loop over %c ends at %c: it ends at %s", c, r.f->letter[l].c, size);
        }
#undef LOOP
    }
}

/* ---- all mistakes ------------------------------------------------------------------------------------- */

static const struct { int rank; void (*rule)(int); bool targets; } rules[] = {
    { 0, left_out, false }, { 0, sums, false }, { 0, tests, false }, { 1, other_names, false },
    { 1, exchanged, false }, { 1, functions, false }, { 1, brackets, false }, { 1, outside, false },
    { 1, along, false }, { 1, overwritten, false }, { 1, early, false }, { 1, runs_on, false }, { 1, whole, false }, { 1, places, true },
    { 1, stored, true }, { 1, doubled, false }, { 1, counted, false }, { 1, constants, false }, { 1, extra, false } };
enum { RULES = sizeof rules / sizeof *rules };

/* At each node of a line; lines of the last paragraph first, as it is what is compared. */
static void each_node(int nodes, int line, int rule)
{
    r.rule = rule;
    for (int i = 0; i < nodes; i++)
        if (at(i)->line == line && (rules[rule].targets || i != r.f->line[line].target))
            rules[rule].rule(i);
}

/* One nest of loops in C may serve several lines: a wrong bound is in all sums over a letter, and where lines
 * that have it are stored. */
static void one_loop(int letter, int output, unsigned long needs)
{
    const char c = r.f->letter[letter].c, *size = r.f->letter[letter].size;
    for (int how = 0; how < 2 + r.f->letters; how++) {
        struct mistake m = { .swaps = 0 };
        int sums_ = 0;
        for (int i = 0; i < r.nodes && m.swaps < SWAPS; i++) {
            const struct node x = *at(i);
            if (x.line < 0 || x.line >= r.f->usual || !(needs >> x.line & 1))
                continue;
            const bool target = i == r.f->line[x.line].target && x.of == output;
            int d = 0;
            while (target && d < x.n && r.f->name[x.of].dim[d] != letter)
                d++;
            if (!(x.kind == OVER && x.of == letter) && !(target && d < x.n))
                continue;
            const int new = formula_clone(r.f, i), n = of_letter(SIZE, letter, i);
            const int end = how == 0 ? number(1, i) : how == 1 ? two(PLUS, n, number(1, i), true)
                          : of_letter(SIZE, how - 2, i);
            sums_ += !target;
            r.f->node[new].divisor = target ? d : x.divisor;
            if (how == 0)
                r.f->node[new].from = end;
            else
                r.f->node[new].to = end;
            m.node[m.swaps] = i;
            m.instead[m.swaps++] = new;
        }
        if (m.swaps < 2 || !sums_ || how == 2 + letter)
            continue;
        struct mistake *new = how == 0 ? add(m.node[0], m.instead[0], "each loop over %c begins at 1: it begins at 0", c)
            : how == 1 ? add(m.node[0], m.instead[0], "each loop over %c ends one too early", c)
            : add(m.node[0], m.instead[0], "each loop over %c ends at %s: it ends at %s", c,
                  r.f->letter[how - 2].size, size);
        new->swaps = m.swaps;
        memcpy(new->node, m.node, sizeof m.node);
        memcpy(new->instead, m.instead, sizeof m.instead);
    }
}

static bool may_be_wrong(int line)
{
    const int name = at(r.f->line[line].target)->of;
    return !r.f->name[name].input && (!r.f->name[name].right || name == r.output);
}

static int uses_of(int name, int nodes)
{
    int n = 0;
    for (int i = 0; i < nodes; i++)
        n += at(i)->kind == READ && at(i)->of == name && at(i)->line >= 0 && at(i)->line < r.f->usual
          && i != r.f->line[at(i)->line].target;
    return n;
}

void make_mistakes(struct formula *f, int output, const char *const *says, bool tensors, struct mistakes *to)
{
    const int own = f->name[output].line, nodes = f->nodes = f->own;     /* those of earlier mistakes are gone */
    const unsigned long needs = f->line[own].uses;
    r.f = f, r.to = to, r.output = output, r.use = NONE, r.nodes = nodes, r.tensors = tensors;
    for (; to->n > 0; to->n--)
        free((char *)to->all[to->n - 1].says);
    for (int s = 0; says[s]; s++) {
        struct mistake *m = NULL;
        r.rank = 0, r.rule = -1;
        for (int k = f->usual; k < f->lines; k++) {
            const int line = f->name[at(f->line[k].target)->of].line;
            if (f->line[k].paragraph != -1 - s || !(needs >> line & 1))
                continue;
            m = m ? m : add(0, 0, "%s", says[s]);
            m->special = true;
            m->swaps -= m->node[0] == m->instead[0];
            m->node[m->swaps] = f->line[line].tree;
            m->instead[m->swaps++] = f->line[k].tree;
            for (int i = 0; i < nodes && strchr(says[s], '%') && m->unknown == NONE; i++)
                if (at(i)->line == k && at(i)->kind == NUMBER)
                    m->unknown = i;
        }
    }
    for (int earlier = 0; earlier < 2; earlier++)           /* what is compared first is right already */
        for (int rank = 0; rank < 2; rank++)
            for (int rule = 0; rule < RULES; rule++)
                for (int line = f->usual; line-- > 0 && rules[rule].rank == rank;)
                    if (needs >> line & 1 && may_be_wrong(line) && earlier == (f->line[line].paragraph != f->line[own].paragraph)) {
                        r.rank = earlier ? 3 : rank;
                        each_node(nodes, line, rule);
                    }
    r.rank = 1;
    for (int l = 0; l < f->letters; l++)
        one_loop(l, output, needs);
    r.rank = 2;
    for (int u = 0; u < nodes; u++) {                       /* in one of several uses of a line */
        const struct node *x = at(u);
        const int line = x->kind == READ && x->line >= 0 && x->line < f->usual ? f->name[x->of].line : NONE;
        if (line == NONE || !may_be_wrong(line) || !(needs >> x->line & 1) || u == f->line[x->line].target || uses_of(x->of, nodes) < 2)
            continue;
        r.use = u;
        for (int rule = 0; rule < RULES; rule++)
            if (rules[rule].rule == left_out || rules[rule].rule == other_names || rules[rule].rule == places
                || rules[rule].rule == sums)
                each_node(nodes, line, rule);
        r.use = NONE;
    }
}

static unsigned long lines_of(const struct formula *f, const struct mistake *m)
{
    unsigned long lines = 0;
    for (int s = 0; s < m->swaps; s++)
        lines |= 1ul << f->node[m->node[s]].line;
    return lines;
}

void mistake_on(struct formula *f, const struct mistake *m)
{
    for (int s = 0; s < m->swaps; s++)
        f->instead[m->node[s]] = m->instead[s];
    formula_forget(f, lines_of(f, m));
}

void mistake_off(struct formula *f, const struct mistake *m)
{
    for (int s = 0; s < m->swaps; s++)
        f->instead[m->node[s]] = m->node[s];
    formula_forget(f, lines_of(f, m));
}
