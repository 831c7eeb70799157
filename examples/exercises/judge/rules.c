/* rules: the mistakes that people make when they write a formula in C, made from the formula itself, each
 * with its sentence (see formula.h and rules.h).
 *
 * A rule is a function that looks at one node of a line, and adds the trees that could replace it: a
 * term is missing, a factor divides, a sum lacks its last term, a different name is read. The rule copies the
 * node, changes the copy, and says what it changed in the words of the formula. All rules are tried at all
 * nodes, the most common mistakes (rank 0) first. Some mistakes need an idea of what the formula means, so no
 * rule can make them. They are the judge's specials: lines that replace lines of the formula. */
#include "rules.h"
#include "judge.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 300, GREATER = 4 };       /* GREATER: a TEST's > */

static struct formula *f;
static struct mistakes *all;
static int output, nodes;               /* the compared name; the number of the formula's own nodes */
/* of the mistakes that are added; use: NONE, or the only READ for which its line is wrong */
static int rank, rule_now, use;

/* ---- trees -------------------------------------------------------------------------------------------- */

static struct node *at(int i)
{
    return &f->node[i];
}

static int copy(int i)
{
    return formula_clone(f, i);
}

static int number(double x, int like)
{
    const int i = formula_node(f, NUMBER, like);
    at(i)->number = x;
    return i;
}

static int letter(enum kind kind, int l, int like)      /* SIZE or LETTER */
{
    const int i = formula_node(f, kind, like);
    at(i)->of = l;
    return i;
}

/* a b, a / b, a + b, a - b; a > b */
static int two(enum kind kind, int a, int b, bool minus)
{
    const int i = formula_node(f, kind, a);
    at(i)->n = 2;
    at(i)->child[0] = a, at(i)->child[1] = b;
    at(i)->minus[1] = minus;
    at(i)->of = GREATER;
    return i;
}

static int plus(int a, double x)
{
    return two(PLUS, a, number(fabs(x), a), x < 0);
}

static int call(const char *name, int a)
{
    const int i = formula_node(f, CALL, a);
    for (at(i)->of = 0; strcmp(f->function[at(i)->of].name, name); at(i)->of++)
        ;
    at(i)->n = 1;
    at(i)->child[0] = a;
    return i;
}

static int choice(int test, int yes, int no)
{
    const int i = two(CHOICE, test, yes, false);
    at(i)->child[at(i)->n++] = no;
    return i;
}

static int without(int i, int c)
{
    const int new = copy(i);
    struct node *x = at(new);
    for (x->n--; c < x->n; c++)
        x->child[c] = x->child[c + 1], x->minus[c] = x->minus[c + 1];
    return new;
}

static int with_child(int i, int c, int child)
{
    const int new = copy(i);
    at(new)->child[c] = child;
    return new;
}

/* name[k,i], read with the letters that it is declared with */
static int element(int name, int like)
{
    const int read = formula_node(f, READ, like);
    at(read)->of = name;
    for (int d = 0; d < f->name[name].dims; d++)
        at(read)->child[at(read)->n++] = letter(LETTER, f->name[name].dim[d], like);
    return read;
}

static bool is_list(int i)
{
    return at(i)->kind == PLUS || at(i)->kind == TIMES;
}

static bool is_root(int i)
{
    return at(i)->line >= 0 && f->line[at(i)->line].tree == i;
}

static bool is_target(int i)
{
    return at(i)->line >= 0 && f->line[at(i)->line].target == i;
}

/* The line that node i reads, if it can be computed differently there; NONE: it cannot. */
static int line_read(int i)
{
    return at(i)->kind == READ && !is_target(i) ? f->name[at(i)->of].line : NONE;
}

/* A recurrence: a change where the line is read would also be a change within the line. */
static bool reads_itself(int line)
{
    for (int i = 0; i < nodes; i++)
        if (line_read(i) == line && at(i)->line >= 0 && at(i)->line < f->usual
            && f->line[line].uses >> at(i)->line & 1)
            return true;
    return false;
}

/* Do the name and all of its indices have a value at node i? */
static bool is_known(int name, int i, bool with_indices)
{
    const struct name *a = &f->name[name];
    for (int d = 0; d < a->dims && with_indices; d++)
        if (!(at(i)->scope >> a->dim[d] & 1))
            return false;
    return a->line == NONE || a->input || !(f->line[a->line].uses >> at(i)->line & 1);
}

/* ---- adding mistakes ---------------------------------------------------------------------------------- */

#define text_of(i)  formula_text(f, i)
#define SIZE_OF(l)  f->letter[l].size
#define CHAR_OF(l)  f->letter[l].c

static const char *line_name(int line)
{
    return formula_name_text(f, at(f->line[line].target)->of);
}

/* "the term x"; "the mean", which has an article already. */
static const char *with_article(const char *what, const char *s)
{
    static char text[4][TEXT];
    static int next;
    next = (next + 1) % 4;
    snprintf(text[next], TEXT, "%s%s", strncmp(s, "the ", 4) ? what : "", s);
    return text[next];
}

/* " in the mean"; "" in the line of the output, which need not be named. */
static const char *in_line(int line)
{
    static char text[LINES][TEXT];
    const bool named = at(f->line[line].target)->of != output || use != NONE;
    snprintf(text[line], TEXT, "%s%s", named ? " in " : "", named ? line_name(line) : "");
    return text[line];
}

/* `instead` stands for `node`. */
static struct mistake *add(int node, int instead, const char *says, ...) GRA_PRINTF(3, 4);
static struct mistake *add(int node, int instead, const char *says, ...)
{
    char text[TEXT + 80];
    va_list args;
    if (all->n == all->room) {
        all->room = 2 * all->room + 500;
        all->all = realloc(all->all, (size_t)all->room * sizeof *all->all);
    }
    va_start(args, says);
    const int n = vsnprintf(text, sizeof text, says, args);
    va_end(args);
    if (use != NONE && n < TEXT)
        snprintf(text + n, sizeof text - (size_t)n, " (where %s uses it)", line_name(at(use)->line));
    char *kept = strdup(text);
    if (!all->all || !kept)
        judge_wrong("the judge is out of memory");
    struct mistake *m = &all->all[all->n++];
    *m = (struct mistake){ .swaps = 1, .node = { node }, .instead = { instead }, .rank = rank,
                           .rule = rule_now,
                           .unknown = NONE, .says = kept };
    if (use != NONE) {                                      /* only where `use` reads the line */
        m->node[0] = use;
        m->instead[0] = copy(use);
        at(m->instead[0])->kind = HERE;
        at(m->instead[0])->was = node;
        at(m->instead[0])->with = instead;
    }
    return m;
}

/* Adds a copy y of node i that was changed. */
#define VARIANT(i, change, ...) do { const int new_ = copy(i); struct node *y = at(new_); change; \
                                     add(i, new_, __VA_ARGS__); } while (0)

/* ---- rules: terms and factors ------------------------------------------------------------------------- */

/* Is its value 0 if its 1 / 2 or 1 / n is computed in int? */
static bool may_be_int(int i)
{
    const struct node x = *at(i);
    const int made = line_read(i);
    bool may = (x.kind == OVER && x.divisor != NONE) || (x.kind == NUMBER && fmod(x.number, 1) != 0)
        || (made != NONE && !f->name[x.of].input && !reads_itself(made) && may_be_int(f->line[made].tree));
    for (int c = 0; c < x.n && !may && x.kind != READ; c++)
        may = (x.kind == TIMES && x.minus[c] && (at(x.child[c])->kind == NUMBER
                                                 || at(x.child[c])->kind == SIZE)) || may_be_int(x.child[c]);
    return may;
}

static void left_out(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    const int held = f->name[output].held;
    if (held != NONE && use == NONE && i == f->line[f->name[output].line].tree)
        add(i, element(held, i),
            "%s was not changed: nothing was added to it, or 0 (in C, 1 / n is 0 for an int n > 1)",
            formula_name_text(f, output));
    for (int c = 0; c < x.n && is_list(i); c++) {
        const char *s = text_of(x.child[c]);
        const bool minus = x.minus[c], test = at(x.child[c])->kind == TEST;
        const struct node *left = at(x.child[!c]), *child = at(x.child[c]);
        const bool alone = x.n == 2 && left->kind == READ && left->of == held;
        if (x.kind == PLUS) {
            if (child->kind == READ && child->of == held)
                add(i, without(i, c), "%s is lost: use += or -=, not =", s);
            else if (!alone)
                add(i, without(i, c), "%s%s is missing%s%s", minus ? "the term -" : "",
                    minus ? s : with_article("the term ", s), in,
                    may_be_int(x.child[c]) ? ", or it is 0 (in C, 1 / 2 is 0)" : "");
            VARIANT(i, y->minus[c] = !minus,
                    minus ? "%s is added%s: subtract it" : "%s is subtracted%s: add it", s, in);
            if (alone && minus)
                add(i, copy(x.child[c]), "%s is stored: subtract it from %s", s, text_of(x.child[!c]));
            continue;
        }
        add(i, without(i, c), test ? "the condition %s is missing%s" : minus
            ? "the division by %s is missing%s" : "%s is missing%s",
            test || minus ? s : with_article("the factor ", s), in);
        if (!test)
            VARIANT(i, y->minus[c] = !minus, minus ? "this multiplies by %s%s: divide by it"
                                                   : "this divides by %s%s: multiply by it", s, in);
    }
    const char *s = x.kind == CALL || x.kind == POWER ? text_of(x.child[0]) : "";
    if (x.kind == CALL && x.n == 1)
        add(i, copy(x.child[0]), "%s is not applied to %s%s", f->function[x.of].name, s, in);
    if (x.kind == POWER && at(x.child[1])->kind == NUMBER && at(x.child[1])->number == 2) {
        add(i, copy(x.child[0]), "%s is not squared%s", s, in);
        add(i, call("abs", x.child[0]), "|%s| is used instead of its square%s", s, in);
    } else if (x.kind == POWER)
        add(i, copy(x.child[0]), "the exponent %s of %s is missing%s", text_of(x.child[1]), s, in);
}

/* A factor is added, a term is made a factor, or a factor or a function appears twice. */
static void doubled(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int c = 0; c < x.n && is_list(i); c++) {
        const char *s = text_of(x.child[c]);
        if (at(x.child[c])->kind == TEST)
            continue;
        if (x.n > 1)
            add(i, two(x.kind == TIMES ? PLUS : TIMES, without(i, c), x.child[c], false),
                x.kind == TIMES ? "%s is added%s: %s by it" : "%s is used as a factor%s: %s it", s, in,
                x.kind == TIMES ? x.minus[c] ? "divide" : "multiply" : x.minus[c] ? "subtract" : "add");
        if (x.kind == TIMES)
            add(i, two(TIMES, copy(i), x.child[c], x.minus[c]),
                x.minus[c] ? "this divides twice by %s%s" : "%s appears twice%s",
                x.minus[c] ? s : with_article("the factor ", s), in);
    }
    if (x.kind == CALL && x.n == 1)
        add(i, with_child(i, 0, copy(i)), "%s is applied twice to %s%s", f->function[x.of].name,
            text_of(x.child[0]), in);
}

/* A different name: at its own indices, or at the indices that the right name has here. */
static void other_names(int i)
{
    const struct node x = *at(i);
    for (int k = 0; k < f->names && x.kind == READ; k++) {
        bool same = f->name[k].dims == x.n;                 /* the same indices, once */
        for (int d = 0; d < x.n && same; d++)
            same = at(x.child[d])->kind == LETTER && at(x.child[d])->of == f->name[k].dim[d];
        for (int own = 0; own < 2 && k != x.of; own++)
            if (is_known(k, i, own) && (own ? !same : f->name[k].dims == x.n)) {
                const int other = own ? element(k, i) : copy(i);
                at(other)->of = k;
                add(i, other, "%s is used instead of %s%s", text_of(other), text_of(i), in_line(x.line));
            }
    }
}

/* Is it a line, or a term of a sum in it? */
static bool is_term(int i, bool of_line)
{
    bool term = is_root(i);
    for (int k = 0; k < nodes && !term; k++)
        for (int c = 0; c < at(k)->n && at(k)->kind == PLUS && (!of_line || is_root(k)); c++)
            term |= i == at(k)->child[c];
    return term && at(i)->kind != NUMBER;
}

/* A factor or term too many. */
static void extra(int i)
{
    const char *in = in_line(at(i)->line);
    const bool root = is_root(i);
    for (int k = 0; k < f->names + f->letters && is_term(i, true); k++) {
        if (k < f->names && !is_known(k, i, true))
            continue;
        const int more = k < f->names ? element(k, i) : letter(SIZE, k - f->names, i);
        const char *s = text_of(more), *to = root ? line_name(at(i)->line)
                                                  : with_article("the term ", text_of(i));
        for (int divides = 0; divides < 2; divides++)
            add(i, two(TIMES, copy(i), more, divides), "%s is %s by %s%s, but should not be", to,
                divides ? "divided" : "multiplied", s, root ? "" : in);
        for (int minus = 0; minus < 2 && root && k < f->names; minus++)
            add(i, two(PLUS, copy(i), more, minus), "%s is %s%s, but should not be", s,
                minus ? "subtracted" : "added", in);
    }
}

/* An index or a given count that is used as a number is 1 too small or too large. */
static void counted(int i)
{
    const struct node x = *at(i);
    for (int c = 0; c < x.n && x.kind != READ && x.kind != TEST; c++) {
        const struct node y = *at(x.child[c]);
        const bool given = y.kind == READ && !y.n && f->name[y.of].whole;
        for (int by = -1; by <= 1 && (given || y.kind == LETTER); by += 2)
            add(x.child[c], plus(copy(x.child[c]), by),
                "%s is 1 too %s%s: %s", text_of(x.child[c]), by < 0 ? "small" : "large", in_line(x.line),
                given ? "use it as it is" : "count it from 0");
    }
}

/* A number, or a factor of 1, is replaced by a different number, which search.c finds. */
static void constants(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line), *s = text_of(i);
    const int made = line_read(i), unknown = number(x.kind == NUMBER ? x.number : 1, i);
    if (made != NONE && at(f->line[made].tree)->kind == NUMBER)
        return;                                             /* the rule at its own line says it better */
    if (x.kind == SIZE || (x.kind == READ && !x.n && made == NONE)) {
        at(unknown)->number = 1.37;                         /* which nobody writes */
        add(i, unknown, "%% is used instead of %s%s", s, in)->unknown = unknown;
    } else if (x.kind == NUMBER && is_root(i))
        add(i, unknown, "%s is %%, but should be %s", line_name(x.line), s)->unknown = unknown;
    else if (x.kind == NUMBER)
        add(i, unknown, "the number %% is used instead of %s%s", s, in)->unknown = unknown;
    else if (is_term(i, false)) {
        add(i, two(TIMES, copy(i), number(-1, i), false), "the sign of %s is wrong%s", s, in);
        add(i, two(TIMES, copy(i), unknown, false),
            "%s is %% times what it should be%s",
            is_root(i) ? line_name(x.line) : with_article("the term ", s),
            is_root(i) ? "" : in)->unknown = unknown;
    }
}

/* ---- rules: sums -------------------------------------------------------------------------------------- */

static void sums(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int l = 0; l < f->letters && x.kind == SIZE; l++)
        if (l != x.of)
            add(i, letter(SIZE, l, i), "%s is used instead of %s%s", SIZE_OF(l), text_of(i), in);
    if (x.kind != OVER)
        return;
    const char c = CHAR_OF(x.of), *n = SIZE_OF(x.of), *what = x.largest ? "maximum" : "sum";
    const int size = letter(SIZE, x.of, i), less = plus(size, -1), one = number(1, i), plain = copy(i);
    at(plain)->divisor = NONE;
    if (!x.largest && x.divisor == NONE)
        VARIANT(i, y->divisor = size, "the sum over %c is divided by %s%s, but should not be", c, n, in);
    else if (!x.largest) {
        add(i, plain, "the sum over %c is not divided by %s%s", c, n, in);
        add(i, two(TIMES, plain, size, false),
            "the sum over %c is multiplied by %s%s: divide it by %s", c, n, in, n);
        VARIANT(i, y->divisor = less, "the sum over %c is divided by %s - 1%s: divide it by %s", c, n, in, n);
        for (int l = 0; l < f->letters; l++)
            if (l != x.of)
                VARIANT(i, y->divisor = letter(SIZE, l, i),
                        "the sum over %c is divided by %s%s: divide it by %s", c,
                        SIZE_OF(l), in, n);
    }
    VARIANT(i, y->from = less, "the %s over %c has only its last term%s (is = used for +=?)", what, c, in);
    VARIANT(i, y->to = one, "the %s over %c has only its first term%s", what, c, in);
    VARIANT(i, y->from = one, "the %s over %c lacks its first term%s", what, c, in);
    VARIANT(i, y->to = less, "the %s over %c lacks its last term%s", what, c, in);
    VARIANT(i, y->to = plus(size, 1),
            "the %s over %c has one term too many%s: end it before %c = %s", what, c, in, c, n);
    for (int l = 0; l < f->letters; l++) {
        if (l == x.of)
            continue;
        VARIANT(i, y->to = letter(SIZE, l, i),
                "the %s over %c has %s terms%s, but should have %s", what, c, SIZE_OF(l), in, n);
        if (!(x.scope >> l & 1))
            continue;
        const int index = letter(LETTER, l, i);
        VARIANT(i, y->to = plus(index, 1),
                "the %s over %c ends at %c%s, but should have %s terms", what, c, CHAR_OF(l), in, n);
        VARIANT(i, y->to = index,
                "the %s over %c ends before %c%s, but should have %s terms", what, c, CHAR_OF(l), in, n);
        VARIANT(i, y->from = index, "the %s over %c begins at %c%s: begin it at 0", what, c, CHAR_OF(l), in);
    }
    VARIANT(i, y->largest = !x.largest, x.largest ? "the sum is taken instead of the maximum over %c%s"
                                                  : "the maximum is taken instead of the sum over %c%s", c,
                                                      in);
    /* these may look like other mistakes, so they are never one of two */
    rank += 2;
    VARIANT(i, y->kept = at(call("trunc", i))->of,
            "the %s over %c is kept in an int%s: use a double", what, c, in);
    VARIANT(i, y->kept = at(call("float", i))->of,
            "the %s over %c is kept in a float%s: use a double", what, c, in);
    rank -= 2;
}

/* Each term of the sum is stored instead of added. This also loses the other terms of the line. */
static void overwritten(int i)
{
    const struct node x = *at(i);
    const int root = f->line[x.line].tree;
    for (int c = 0; c < at(root)->n && at(root)->kind == PLUS && x.kind == OVER && use == NONE; c++) {
        const int term = at(root)->child[c], last = copy(i);
        at(last)->from = plus(letter(SIZE, x.of, i), -1);
        int new = term == i ? last : NONE;
        for (int k = 0; k < at(term)->n && at(term)->kind == TIMES; k++)
            if (at(term)->child[k] == i)
                new = with_child(term, k, last);
        if (new != NONE)
            add(root, new, "%s is overwritten by each term of the sum over %c: add with +=",
                line_name(x.line),
                CHAR_OF(x.of));
    }
}

/* A sum is read before it is complete. */
static void early(int i)
{
    const int line = line_read(i);
    for (int k = 0; k < nodes && line != NONE && use == NONE && !reads_itself(line); k++)
        if (at(k)->kind == OVER && at(k)->line == line && at(i)->scope >> at(k)->of & 1) {
            use = i;
            VARIANT(k, y->to = plus(letter(LETTER, y->of, k), 1),
                    "%s is read before it is complete: it needs a loop of its own", text_of(i));
            use = NONE;
        }
}

/* A sum is not set to 0 for each element, but begins with the sum of the previous element: along the last
 * index, in the order of memory, or along the first index. */
static void runs_on(int i)
{
    const struct node x = *at(i);
    const struct line *line = &f->line[x.line];
    const int last = at(line->target)->n - 1;
    for (int how = 0; how < 3 && last >= (how > 0) && x.kind == OVER && !x.largest; how++) {
        const int d = how == 2 ? 0 : last;
        int index = at(line->target)->child[d];
        const int before = with_child(line->target, d, plus(index, -1));
        for (int k = 0; k < last && how == 1; k++)
            index = two(PLUS, index, at(line->target)->child[k], false);
        if (is_root(i) || how == 0)
            add(i, two(PLUS, copy(i), two(TIMES, two(TEST, index, number(0, i), false), before, false),
                       false),
                how == 1 ? "%s runs on through all elements: set it to 0 for each element"
                : "%s runs on from the previous %c: set it to 0 for each %c",
                is_root(i) ? line_name(x.line) : "the sum", CHAR_OF(f->name[at(line->target)->of].dim[d]),
                CHAR_OF(f->name[at(line->target)->of].dim[d]));
    }
}

/* A mean is computed over each column instead of each row, or over all numbers. */
static void along(int i)
{
    const struct node x = *at(i);
    const int line = line_read(i), own = f->name[x.kind == READ ? x.of : 0].dim[0];
    if (line == NONE || x.n != 1 || use != NONE)
        return;
    const struct node top = *at(f->line[line].tree);
    if (top.kind != OVER || !(x.scope >> top.of & 1) || !(x.scope >> own & 1))
        return;
    for (int both = 0; both < 2; both++) {
        const int m = both ? with_child(f->line[line].tree, 0,
                                        copy(f->line[line].tree)) : copy(f->line[line].tree);
        at(m)->of = own;
        if (top.divisor != NONE)
            at(m)->divisor = letter(SIZE, own, i);
        add(i, m, both ? "%s runs over %c and %c: compute it for each %c"
            : "%s runs over %c, but should run over %c",
            formula_name_text(f, x.of), CHAR_OF(own), CHAR_OF(top.of), CHAR_OF(own));
    }
}

/* ---- rules: conditions, functions, brackets ----------------------------------------------------------- */

static void tests(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    if (x.kind == CHOICE) {
        add(i, copy(x.child[1]), "the condition %s is missing%s, as if it always held", text_of(x.child[0]),
            in);
        add(i, copy(x.child[2]), "the case %s is missing%s", text_of(x.child[0]), in);
    }
    for (int how = 0; how < 8 && x.kind == TEST; how++) {   /* six comparisons; 1 is added to either side */
        const int other = how < 6 ? copy(i) : with_child(i, how - 6, plus(x.child[how - 6], 1));
        at(other)->of = how < 6 ? how : x.of;
        if (how != x.of)
            add(i, other, "the condition is %s%s, but should be %s", text_of(other), in, text_of(i));
    }
}

static void functions(int i)
{
    const struct node x = *at(i);
    for (int k = 0; k < f->functions && x.kind == CALL; k++)
        if (k != x.of && f->function[k].n == x.n)
            VARIANT(i, y->of = k, "%s is used instead of %s%s", f->function[k].name, f->function[x.of].name,
                    in_line(x.line));
}

static bool is_whole(int i)
{
    const struct node *x = at(i);
    bool parts = is_list(i);
    for (int c = 0; c < x->n; c++)
        parts = parts && is_whole(x->child[c]) && !(x->kind == TIMES && x->minus[c]);
    return x->kind == NUMBER ? x->number == floor(x->number) : x->kind == READ ? f->name[x->of].whole
         : parts || x->kind == SIZE || x->kind == LETTER || x->kind == TEST;
}

/* Integers that are divided in C; a number that is kept in an int or a float. */
static void whole(int i)
{
    const struct node x = *at(i);
    int parts[2] = { copy(i), copy(i) }, divided = 0;       /* of integers; of others */
    at(parts[0])->n = at(parts[1])->n = 0;
    for (int c = 0; c < x.n && x.kind == TIMES; c++) {
        struct node *y = at(parts[!is_whole(x.child[c])]);
        y->minus[y->n] = x.minus[c];
        y->child[y->n++] = x.child[c];
        divided += x.minus[c] && is_whole(x.child[c]);
    }
    if (divided && (!at(parts[0])->minus[0] || at(parts[1])->n == 0))
        add(i, two(TIMES, call("trunc", parts[0]), parts[1], false),
            "in C, the quotient %s of two integers is rounded "
            "down%s: make one of them a double", text_of(parts[0]), in_line(x.line));
    if (x.kind == CALL && x.n == 1)
        add(i, call("trunc", copy(i)),
            "%s is rounded to an integer%s: keep it in a double", text_of(i), in_line(x.line));
    for (int k = 0; k < 2 && is_root(i) && x.kind != NUMBER && use == NONE; k++)
        add(i, call(k ? "float" : "trunc", copy(i)), "%s is kept in %s: use a double", line_name(x.line),
            k ? "a float" : "an int");
}

/* What C computes if the brackets around child c of x are left out. */
static int unbracketed(int i, int c)
{
    const struct node x = *at(i), inner = *at(x.child[c]);
    const int new = copy(i);
    struct node *y = at(new);
    if (x.n + inner.n - 1 > CHILDREN || inner.n < 2 || !is_list(x.child[c]))
        return NONE;
    /* a / (b c) as a / b c, a - (b + c) as a - b + c */
    if (x.kind == inner.kind && x.minus[c]) {
        y->n = 0;
        for (int k = 0; k < x.n; k++)
            for (int j = 0; j < (k == c ? inner.n : 1); j++) {
                y->minus[y->n] = k == c && j > 0 ? inner.minus[j] : x.minus[k];
                y->child[y->n++] = k == c ? inner.child[j] : x.child[k];
            }
        return new;
    }
    if (x.kind != TIMES || inner.kind != PLUS)
        return NONE;
    const int last = copy(i), sum = copy(x.child[c]);       /* a (b + c) d as a b + c d */
    y->n = c + 1;
    y->child[c] = inner.child[0];
    at(last)->n = x.n - c;
    for (int k = c; k < x.n; k++) {
        at(last)->child[k - c] = k == c ? inner.child[inner.n - 1] : x.child[k];
        at(last)->minus[k - c] = k > c && x.minus[k];
    }
    at(sum)->child[0] = new;
    at(sum)->child[inner.n - 1] = last;
    return sum;
}

static void brackets(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    for (int c = 0; c < x.n && is_list(i); c++) {
        const int sum = unbracketed(i, c), n = sum == NONE ? 0 : at(sum)->n,
            last = n ? at(sum)->child[n - 1] : 0;
        if (sum == NONE)
            continue;
        add(i, sum, "the brackets around %s are missing%s", text_of(x.child[c]), in);
        for (int k = 0; k < at(last)->n && at(sum)->kind == PLUS && at(last)->kind == TIMES; k++) {
            const int more = at(at(last)->child[k])->kind == TIMES ? unbracketed(last, k) : NONE;
            if (more != NONE)                               /* (a - b) / (2 c) as a - b / 2 c */
                add(i, with_child(sum, n - 1, more), "the brackets around %s and %s are missing%s",
                    text_of(x.child[c]), text_of(at(last)->child[k]), in);
        }
    }
    if (x.kind == POWER && is_list(x.child[0])) {
        const int last = at(x.child[0])->n - 1, power = with_child(i, 0, at(x.child[0])->child[last]);
        add(i, with_child(x.child[0], last, power),
            "the brackets around %s are missing%s", text_of(x.child[0]), in);
    }
}

static const char *around(const struct node *x)
{
    return x->kind == CALL ? f->function[x->of].name : x->kind == POWER ? "the power"
         : x->largest ? "the maximum" : "the sum";
}

static bool has_inside(const struct node *x)
{
    return x->kind == CALL || x->kind == POWER || x->kind == OVER;
}

/* A part that belongs inside a function, power or sum is outside, or vice versa. */
static void outside(int i)
{
    const struct node x = *at(i);
    const char *in = in_line(x.line);
    const int list = has_inside(&x) && is_list(x.child[0]) && at(x.child[0])->n > 1 ? x.child[0] : NONE;
    for (int c = 0; list != NONE && c < at(list)->n; c++) {
        const int part = at(list)->child[c];
        if (x.kind != OVER || at(list)->kind == PLUS || !(at(part)->scope >> x.of & 1))
            add(i, two(at(list)->kind, with_child(i, 0, without(list, c)), part, at(list)->minus[c]),
                "%s is outside %s%s: move it inside", text_of(part), around(&x), in);
    }
    for (int c = 0; c < x.n && is_list(i) && x.n > 1; c++) {
        const struct node inner = *at(x.child[c]);
        for (int k = 0; k < inner.n && inner.kind == TIMES && x.kind == PLUS; k++) {
            const int part = without(x.child[c], k);
            add(i, two(TIMES, with_child(i, c, part), inner.child[k], inner.minus[k]),
                "all terms are %s by %s%s, but only %s should be", inner.minus[k] ? "divided" : "multiplied",
                text_of(inner.child[k]), in, text_of(part));
        }
        for (int k = 0; k < x.n && has_inside(&inner) && !(x.minus[c] && x.kind == PLUS); k++) {
            if (k == c)
                continue;
            const int more = two(x.kind, inner.child[0], x.child[k], x.minus[k] != x.minus[c]);
            add(i, without(with_child(i, c, with_child(x.child[c], 0, more)), k),
                "%s is inside %s%s: move it outside", text_of(x.child[k]), around(&inner), in);
        }
    }
}

/* ---- rules: places ------------------------------------------------------------------------------------ */

/* Node i reads or stores its element at the place of `moved`. */
static void at_place(int i, int moved)
{
    const char *name = f->name[at(i)->of == f->name[output].held ? output : at(i)->of].text;
    if (!f->ops && !is_target(i))
        add(i, moved, "%s is read at [%s]%s: read it at [%s]", name, formula_place(f, moved),
            in_line(at(i)->line), formula_place(f, i));
    else if (!f->ops && at(i)->of == output && use == NONE)
        add(i, moved, "%s is stored at [%s]: store it at [%s]", name, formula_place(f, moved),
            formula_place(f, i));
}

/* The output is read at an earlier place, where it has been changed already: x[0], x[i - 1]. */
static void in_place(int i)
{
    const int index = at(i)->child[0], zero = number(0, i), test = two(TEST, index, zero, false);
    for (int first = 0; first < 2; first++) {
        const int earlier = first ? zero : plus(index, -1), now = with_child(i, 0, earlier);
        at(now)->of = output;
        add(i, choice(test, now, with_child(i, 0, first ? zero : index)),
            "%s[%s] is read after it was changed: read %s[%s]",
            f->name[output].text, formula_place(f, now), f->name[output].text, text_of(index));
    }
}

#define PLACE(change) do { const int new_ = copy(i); struct node *y = at(new_); change; \
                           at_place(i, new_); } while (0)

static void places(int i)
{
    const struct node x = *at(i);
    if (x.kind != READ || !x.n)
        return;
    const struct name *a = &f->name[x.of];
    const int one = number(1, i);
    int size[DIMS];
    for (int d = 0; d < x.n; d++)
        size[d] = letter(SIZE, a->dim[d], i);
    /* two indices exchanged, as in a transpose or not */
    for (int d = 0; d + 1 < x.n; d++) {
        const int exchanged = with_child(with_child(i, d, x.child[d + 1]), d + 1, x.child[d]),
            turned = copy(exchanged);
        at(turned)->by[d + 1] = size[d];
        at(turned)->by[d] = d ? size[d + 1] : NONE;
        at_place(i, turned);
        at_place(i, exchanged);
        if (f->ops && (!is_target(i) || x.of == output)) {
            add(i, turned, "%s is reshaped, but its dimensions %d and %d should be transposed%s", a->text,
                d, d + 1, in_line(x.line));
            add(i, exchanged, "dimensions %d and %d of %s are transposed%s, but should not be", d, d + 1,
                a->text, in_line(x.line));
        }
    }
    if (f->name[output].held == x.of && x.n == 1)
        in_place(i);
    for (int d = 0; d < x.n; d++) {
        for (int l = 0; l < f->letters; l++) {              /* a wrong index; rows of a wrong length */
            if (x.scope >> l & 1 && !(at(x.child[d])->kind == LETTER && at(x.child[d])->of == l))
                PLACE(y->child[d] = letter(LETTER, l, i));
            if (d && l != a->dim[d])
                PLACE(y->by[d] = letter(SIZE, l, i));
        }
        PLACE(y->child[d] = number(0, i));
        PLACE(y->child[d] = plus(x.child[d], -1));
        PLACE(y->child[d] = plus(x.child[d], 1));
        if (!d)
            continue;
        /* i + j, i / n + j, i + n + j, i * m + j * n + k */
        PLACE(y->by[d] = one);
        PLACE(y->by[d] = one; y->child[d - 1] = call("trunc", two(TIMES, x.child[d - 1], size[d], true)));
        PLACE(y->by[d] = one; y->child[d] = two(PLUS, size[d], x.child[d], false));
        if (d > 1)
            PLACE(y->by[d] = one; y->child[d - 1] = two(TIMES, x.child[d - 1], size[d], false));
    }
}

/* The loop over an index of the output ends too early or begins too late. */
static void stored(int i)
{
    const struct node x = *at(i);
    for (int d = 0; d < x.n && is_target(i) && x.of == output && use == NONE; d++) {
        const int own = f->name[x.of].dim[d], one = number(1, i);
        const char c = CHAR_OF(own), *size = SIZE_OF(own);
#define LOOP(change, ...) VARIANT(i, y->divisor = d; change, __VA_ARGS__)
        LOOP(y->to = plus(letter(SIZE, own, i), -1), "the loop over %c ends one step too early", c);
        LOOP(y->from = one, "the loop over %c begins at 1: begin it at 0", c);
        LOOP(y->to = one, "only %c = 0 is computed: end the loop over %c at %s", c, c, size);
        for (int l = 0; l < f->letters; l++) {
            if (l != own)
                LOOP(y->to = letter(SIZE, l, i),
                     "the loop over %c ends at %s: end it at %s", c, SIZE_OF(l), size);
            if (l != own && x.scope >> l & 1)
                LOOP(y->to = plus(letter(LETTER, l, i), 1),
                     "the loop over %c ends at %c: end it at %s", c, CHAR_OF(l),
                     size);
        }
    }
}

/* ---- all mistakes ------------------------------------------------------------------------------------- */

static const struct { int rank; bool targets, uses; void (*make)(int); } rules[] = {
    { 0, false, true, left_out }, { 0, false, true, sums }, { 0, false, false, tests },
    { 1, false, true, other_names }, { 1, false, false, functions }, { 1, false, false, brackets },
    { 1, false, false, outside }, { 1, false, false, along }, { 1, false, false, overwritten },
    { 1, false, false, early }, { 1, false, false, runs_on }, { 1, false, false, whole }, { 1, true, true,
        places },
    { 1, true, false, stored }, { 1, false, false, doubled }, { 1, false, false, counted },
    { 1, false, false, constants }, { 1, false, false, extra } };
enum { RULES = sizeof rules / sizeof *rules };

static void each_node(int line, int rule)
{
    rule_now = rule;
    for (int i = 0; i < nodes; i++)
        if (at(i)->line == line && (rules[rule].targets || !is_target(i)))
            rules[rule].make(i);
}

/* One nest of loops in C may serve several lines: then a wrong bound is in all sums over a letter, and in the
 * loop that stores the output. how 0: the loop begins at 1; 1: it ends one step early; otherwise: it ends at
 * a different size. */
static void one_loop(int l, uint64_t needs, int how)
{
    struct mistake m = { .swaps = 0 };
    int sums_ = 0;
    for (int i = 0; i < nodes && m.swaps < SWAPS; i++) {
        const struct node x = *at(i);
        int d = 0;
        while (is_target(i) && d < x.n && f->name[x.of].dim[d] != l)
            d++;
        const bool target = is_target(i) && x.of == output && d < x.n, sum = x.kind == OVER && x.of == l;
        if (x.line < 0 || x.line >= f->usual || !(needs >> x.line & 1) || !(target || sum))
            continue;
        const int new = copy(i), size = letter(SIZE, l, i);
        at(new)->divisor = target ? d : x.divisor;
        *(how == 0 ? &at(new)->from : &at(new)->to) = how == 0 ? number(1, i) : how == 1 ? plus(size, -1)
                                                    : letter(SIZE, how - 2, i);
        sums_ += sum;
        m.node[m.swaps] = i;
        m.instead[m.swaps++] = new;
    }
    if (m.swaps < 2 || !sums_ || how == 2 + l)
        return;
    struct mistake *new = add(m.node[0], m.instead[0],
                              how == 0 ? "each loop over %c begins at 1: begin it at 0"
                              : how == 1 ? "each loop over %c ends one step too early"
                              : "each loop over %c ends at %s: end it at %s", CHAR_OF(l),
                                  SIZE_OF(how < 2 ? l : how - 2),
                              SIZE_OF(l));
    new->swaps = m.swaps;
    memcpy(new->node, m.node, sizeof m.node);
    memcpy(new->instead, m.instead, sizeof m.instead);
}

static bool may_be_wrong(int line)
{
    const int name = at(f->line[line].target)->of;
    return !f->name[name].input && (!f->name[name].right || name == output);
}

static void add_special(int s, const char *says, uint64_t needs)
{
    struct mistake *m = NULL;
    for (int k = f->usual; k < f->lines; k++) {
        const int line = f->name[at(f->line[k].target)->of].line;
        if (f->line[k].paragraph != -1 - s || !(needs >> line & 1))
            continue;
        if (m && m->swaps == SWAPS)
            judge_wrong("a special of the judge has too many lines");
        if (m) {
            m->node[m->swaps] = f->line[line].tree;
            m->instead[m->swaps++] = f->line[k].tree;
        } else
            m = add(f->line[line].tree, f->line[k].tree, "%s", says);
        m->special = true;
        for (int i = 0; i < nodes && strchr(says, '%') && m->unknown == NONE; i++)
            if (at(i)->line == k && at(i)->kind == NUMBER)
                m->unknown = i;
    }
}

static int uses_of(int name)
{
    int n = 0;
    for (int i = 0; i < nodes; i++)
        n += at(i)->kind == READ && at(i)->of == name && at(i)->line >= 0 && at(i)->line < f->usual
            && !is_target(i);
    return n;
}

void make_mistakes(struct formula *of, int name, const char *const *says, struct mistakes *to)
{
    f = of, all = to, output = name, use = NONE;
    nodes = f->nodes = f->own;                              /* the nodes of earlier mistakes are gone */
    const int own = f->name[output].line;
    const uint64_t needs = f->line[own].uses;
    for (; to->n > 0; to->n--)
        free((char *)to->all[to->n - 1].says);
    rank = 0, rule_now = NONE;
    for (int s = 0; says[s]; s++)
        add_special(s, says[s], needs);
    /* rank 0, rank 1; lines of earlier outputs, which are right, come last */
    for (int pass = 0; pass < 4; pass++)
        for (int rule = 0; rule < RULES; rule++)
            for (int line = f->usual; line-- > 0 && rules[rule].rank == pass % 2;) {
                const bool earlier = f->line[line].paragraph != f->line[own].paragraph;
                rank = earlier ? 3 : pass;
                if (needs >> line & 1 && may_be_wrong(line) && earlier == (pass >= 2))
                    each_node(line, rule);
            }
    rank = 1;
    for (int l = 0; l < f->letters; l++)
        for (int how = 0; how < 2 + f->letters; how++)
            one_loop(l, needs, how);
    rank = 2;
    for (int u = 0; u < nodes; u++) {                       /* in one of several uses of a line */
        const int line = at(u)->line >= 0 && at(u)->line < f->usual ? line_read(u) : NONE;
        if (line == NONE || reads_itself(line) || !may_be_wrong(line) || !(needs >> at(u)->line & 1)
            || uses_of(at(u)->of) < 2)
            continue;
        use = u;
        for (int rule = 0; rule < RULES; rule++)
            if (rules[rule].uses)
                each_node(line, rule);
        use = NONE;
    }
}

void mistake_turn(struct formula *of, const struct mistake *m, bool on)
{
    uint64_t lines = 0;
    for (int s = 0; s < m->swaps; s++) {
        of->instead[m->node[s]] = on ? m->instead[s] : m->node[s];
        lines |= UINT64_C(1) << of->node[m->node[s]].line;
    }
    formula_forget(of, lines);
}
