/* formula: reads and computes the reference of an exercise (see formula.h). Its sections are functions,
 * reading (one function for each level of precedence), and values. f->instead[i] is computed in place of node
 * i; it is i unless a mistake is turned on. rules.c makes the mistakes, search.c finds the mistake that gives
 * the answer's numbers, and sentences.c writes nodes as text. */
#include "formula.h"
#include "judge.h"
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---------------------------------------------------------------------------------------- */

#define UNARY(name, value) static double name(const double *x) { return value; }
UNARY(sqrt_, sqrt(x[0]))
UNARY(exp_, exp(x[0]))
UNARY(log_, log(x[0]))
UNARY(tanh_, tanh(x[0]))
UNARY(abs_, fabs(x[0]))
UNARY(erf_, erf(x[0]))
UNARY(sin_, sin(x[0]))
UNARY(cos_, cos(x[0]))
UNARY(cbrt_, cbrt(x[0]))
UNARY(sigmoid_, 1 / (1 + exp(-x[0])))
UNARY(exp2_, exp2(x[0]))
UNARY(log2_, log2(x[0]))
UNARY(floor_, floor(x[0]))
UNARY(trunc_, trunc(x[0]))
UNARY(float_, (double)(float)x[0])
UNARY(larger, fmax(x[0], x[1]))
UNARY(smaller, fmin(x[0], x[1]))

static const struct judge_function usual_functions[] = {
    { "sqrt", 1, sqrt_ }, { "exp", 1, exp_ }, { "log", 1, log_ }, { "tanh", 1, tanh_ }, { "abs", 1, abs_ },
    { "erf", 1, erf_ }, { "sin", 1, sin_ }, { "cos", 1, cos_ }, { "cbrt", 1, cbrt_ },
    { "sigmoid", 1, sigmoid_ }, { "exp2", 1, exp2_ }, { "log2", 1, log2_ }, { "floor", 1, floor_ },
    { "trunc", 1, trunc_ }, { "float", 1, float_ }, { "max", 2, larger }, { "min", 2, smaller } };

static const char *const comparisons[] = { "<=", ">=", "!=", "<", ">", "=" };

/* ---- reading ------------------------------------------------------------------------------------------ */

static _Noreturn void bad(const struct formula *f, const char *why)
{
    const char *line = f->p;
    while (line > f->text && line[-1] != '\n')
        line--;
    judge_wrong("the judge's formula: %s, at \"%.*s\" in \"%.*s\"", why, (int)strcspn(f->p, "\n"), f->p,
                (int)strcspn(line, "\n"), line);
}

static char next(struct formula *f)
{
    f->p += strspn(f->p, " ");
    return *f->p;
}

static bool eat(struct formula *f, const char *text)
{
    next(f);
    const size_t n = strlen(text);
    const bool is = strncmp(f->p, text, n) == 0;
    f->p += is ? n : 0;
    return is;
}

static void expect(struct formula *f, const char *text)
{
    char why[40];
    snprintf(why, sizeof why, "expected %s", text);
    if (!eat(f, text))
        bad(f, why);
}

static void word(struct formula *f, char *to, size_t room)
{
    size_t n = 0;
    for (next(f); isalnum((unsigned char)*f->p) || *f->p == '_'; f->p++)
        if (n + 1 < room)
            to[n++] = *f->p;
        else
            bad(f, "a name is too long");
    to[n] = 0;
}

static int letter_of(const struct formula *f, const char *text)
{
    for (int l = 0; l < f->letters; l++)
        if (text[0] == f->letter[l].c && !text[1])
            return l;
    return NONE;
}

int formula_name(const struct formula *f, const char *text)
{
    for (int i = 0; i < f->names; i++)
        if (!strcmp(f->name[i].text, text))
            return i;
    return NONE;
}

static int new_node(struct formula *f, struct node like)
{
    if (f->nodes == NODES)
        bad(f, "it has too many nodes");
    f->node[f->nodes] = like;
    f->instead[f->nodes] = f->nodes;
    return f->nodes++;
}

int formula_clone(struct formula *f, int node)
{
    return new_node(f, f->node[node]);
}

static int node(struct formula *f, enum kind kind, unsigned scope)
{
    return new_node(f, (struct node){ .kind = kind, .line = f->reading, .scope = scope, .divisor = NONE,
                                      .from = NONE, .to = NONE, .kept = NONE, .was = NONE, .with = NONE,
                                      .by = { NONE, NONE, NONE, NONE, NONE } });
}

int formula_node(struct formula *f, enum kind kind, int like)
{
    f->reading = f->node[like].line;
    return node(f, kind, f->node[like].scope);
}

static void add_child(struct formula *f, int to, int child, bool minus)
{
    struct node *x = &f->node[to];
    if (x->n == CHILDREN)
        bad(f, "too many terms, factors or indices: give a part a line of its own");
    x->minus[x->n] = minus;
    x->child[x->n++] = child;
}

static int sum(struct formula *f, unsigned scope);

static int read_name(struct formula *f, const char *text, unsigned scope)
{
    const int name = formula_name(f, text), i = node(f, READ, scope);
    if (name == NONE)
        bad(f, "an unknown name");
    f->node[i].of = name;
    if (f->name[name].dims) {
        expect(f, "[");
        do
            add_child(f, i, sum(f, scope), false);
        while (eat(f, ","));
        expect(f, "]");
    }
    if (f->node[i].n != f->name[name].dims)
        bad(f, "the number of indices differs from where the name is defined");
    return i;
}

/* sum(i, x), mean(i, x), max(i, x) */
static int read_over(struct formula *f, const char *text, unsigned scope)
{
    char name[16];
    const char *start = f->p;
    word(f, name, sizeof name);
    const int l = letter_of(f, name);
    if (l == NONE || !eat(f, ",")) {
        f->p = start;                                   /* max(a, b) */
        return NONE;
    }
    const int i = node(f, OVER, scope);
    f->node[i].of = l;
    f->node[i].largest = !strcmp(text, "max");
    add_child(f, i, sum(f, scope | 1u << l), false);
    expect(f, ")");
    if (!strcmp(text, "mean")) {
        f->node[i].divisor = node(f, SIZE, scope);
        f->node[f->node[i].divisor].of = l;
    }
    return i;
}

static int read_call(struct formula *f, int function, unsigned scope)
{
    const int i = node(f, CALL, scope);
    f->node[i].of = function;
    do
        add_child(f, i, sum(f, scope), false);
    while (eat(f, ","));
    expect(f, ")");
    if (f->node[i].n != f->function[function].n)
        bad(f, "the number of arguments is not that of the function");
    return i;
}

static int read_test(struct formula *f, unsigned scope)
{
    const int i = node(f, TEST, scope);
    add_child(f, i, sum(f, scope), false);
    const int count = sizeof comparisons / sizeof *comparisons;
    while (f->node[i].of < count && !eat(f, comparisons[f->node[i].of]))
        f->node[i].of++;
    if (f->node[i].of == count)
        bad(f, "expected a comparison");
    add_child(f, i, sum(f, scope), false);
    expect(f, "]");
    return i;
}

static int value(struct formula *f, unsigned scope)
{
    char text[16];
    int i;
    if (isdigit((unsigned char)next(f))) {
        const size_t digits = strspn(f->p, "0123456789");
        const bool range = strncmp(f->p + digits, "..", 2) == 0;        /* 0..1 */
        i = node(f, NUMBER, scope);
        f->node[i].number = strtod(f->p, range ? NULL : (char **)&f->p);
        f->p += range ? digits : 0;
        return i;
    }
    if (eat(f, "["))
        return read_test(f, scope);
    if (eat(f, "(")) {
        i = sum(f, scope);
        expect(f, ")");
        return i;
    }
    word(f, text, sizeof text);
    if (!text[0])
        bad(f, "expected a value");
    if (eat(f, "(")) {
        const bool over = !strcmp(text, "sum") || !strcmp(text, "mean") || !strcmp(text, "max");
        if (over && (i = read_over(f, text, scope)) != NONE)
            return i;
        for (int k = 0; k < f->functions; k++)
            if (!strcmp(text, f->function[k].name))
                return read_call(f, k, scope);
        bad(f, "an unknown function");
    }
    const int l = letter_of(f, text);
    if (l != NONE && scope >> l & 1 && next(f) != '[') {
        i = node(f, LETTER, scope);
        f->node[i].of = l;
        return i;
    }
    for (int k = 0; k < f->letters; k++)
        if (!strcmp(text, f->letter[k].size) && next(f) != '[') {
            i = node(f, SIZE, scope);
            f->node[i].of = k;
            return i;
        }
    if (!strcmp(text, "pi")) {
        i = node(f, NUMBER, scope);
        f->node[i].number = acos(-1);
        return i;
    }
    return read_name(f, text, scope);
}

static int power(struct formula *f, unsigned scope)
{
    const int base = value(f, scope);
    if (!eat(f, "^"))
        return base;
    const int i = node(f, POWER, scope);
    add_child(f, i, base, false);
    add_child(f, i, value(f, scope), false);
    return i;
}

/* Terms, some of which are subtracted; or factors, some of which divide. */
static int list(struct formula *f, enum kind kind, unsigned scope, const char *same, const char *other,
                int (*part)(struct formula *, unsigned))
{
    bool minus = kind == PLUS && eat(f, "-");
    const int first = part(f, scope);
    if (!minus && next(f) != *same && next(f) != *other)
        return first;
    const int i = node(f, kind, scope);
    add_child(f, i, first, minus);
    while (next(f) == *same || next(f) == *other) {
        minus = *f->p++ == *other;
        add_child(f, i, part(f, scope), minus);
    }
    return i;
}

static int product(struct formula *f, unsigned scope)
{
    return list(f, TIMES, scope, "*", "/", power);
}

static int sum(struct formula *f, unsigned scope)
{
    const int first = list(f, PLUS, scope, "+", "-", product);
    if (f->node[first].kind != TEST || !eat(f, "?"))
        return first;
    const int i = node(f, CHOICE, scope);
    add_child(f, i, first, false);
    add_child(f, i, sum(f, scope), false);
    expect(f, ":");
    add_child(f, i, sum(f, scope), false);
    return i;
}

/* A name and its letters. The bits of the letters are the scope of the rest of the line. */
static int define(struct formula *f, bool new, unsigned *scope)
{
    char text[16], index[16];
    word(f, text, sizeof text);
    int i = formula_name(f, text);
    if (new != (i == NONE) || f->names == NAMES)
        bad(f, new ? "too many names, or this one is defined already" : "an unknown name");
    if (new) {
        i = f->names++;
        f->name[i] = (struct name){ .line = NONE, .low = NONE, .high = NONE, .held = NONE };
        strcpy(f->name[i].text, text);
    }
    struct name *a = &f->name[i];
    int dims = 0;
    if (eat(f, "[")) {
        do {
            word(f, index, sizeof index);
            const int l = letter_of(f, index);
            if (l == NONE || dims == DIMS || (!new && (dims >= a->dims || a->dim[dims] != l)))
                bad(f, "expected declared indices, the same ones on each line for this name");
            a->dim[dims++] = l;
            *scope |= 1u << l;
        } while (eat(f, ","));
        expect(f, "]");
    }
    a->dims = dims;
    return i;
}

static void read_gloss(struct formula *f, struct name *a)
{
    if (eat(f, "#")) {
        next(f);
        const int n = (int)strcspn(f->p, "\n");
        snprintf(a->gloss, sizeof a->gloss, "%.*s", n, f->p);
        f->p += n;
    }
}

static int target_of(struct formula *f, int name, unsigned scope)
{
    const int target = node(f, READ, scope);
    f->node[target].of = name;
    for (int d = 0; d < f->name[name].dims; d++) {
        const int index = node(f, LETTER, scope);
        f->node[index].of = f->name[name].dim[d];
        add_child(f, target, index, false);
    }
    return target;
}

/* Which lines does this line need, directly or not? */
static void find_uses(struct formula *f, int line)
{
    f->line[line].uses = UINT64_C(1) << line;
    for (int i = 0; i < f->nodes; i++)
        if (f->node[i].line == line && f->node[i].kind == READ && f->name[f->node[i].of].line != NONE)
            f->line[line].uses |= UINT64_C(1) << f->name[f->node[i].of].line;
}

void formula_lines(struct formula *f, const char *lines, int special)
{
    int paragraph = 0;
    f->text = f->p = lines;
    const int first = f->lines;
    for (int pass = 0; pass < 2; pass++, f->p = lines)      /* first the names: a line may read a later one */
        for (int k = first; *f->p; f->p += *f->p == '\n') {
            unsigned scope = 0;
            if (*f->p == '\n') {
                paragraph += pass;
                continue;
            }
            if (k == LINES)
                bad(f, "too many lines");
            f->reading = k;
            const int name = define(f, special == NONE && pass == 0, &scope);
            if (pass == 1) {
                expect(f, "=");
                f->line[k].target = target_of(f, name, scope);
                f->line[k].tree = sum(f, scope);
                f->line[k].paragraph = special == NONE ? paragraph : -1 - special;
                if (*f->p && *f->p != '\n' && *f->p != '#')
                    bad(f, "expected the end of the line");
            }
            if (special == NONE)
                f->name[name].line = k;
            f->p += strcspn(f->p, pass == 0 ? "\n#" : "\n");
            if (pass == 0)
                read_gloss(f, &f->name[name]);
            k++;
            f->lines = k;
        }
    for (int k = first; k < f->lines; k++)
        find_uses(f, k);
    for (int again = 0; again < f->lines; again++)          /* and the lines that those lines need */
        for (int k = 0; k < f->lines; k++)
            for (int j = 0; j < f->lines; j++)
                f->line[k].uses |= f->line[k].uses >> j & 1 ? f->line[j].uses : 0;
    f->usual = special == NONE ? f->lines : f->usual;
    f->own = f->nodes;
}

void formula_start(struct formula *f, const struct judge_function *functions)
{
    f->nodes = f->names = f->lines = f->usual = f->letters = f->functions = 0;
    f->work = 0;
    f->now = NULL;
    f->reading = NONE;
    for (size_t i = 0; i < sizeof usual_functions / sizeof *usual_functions; i++)
        f->function[f->functions++] = usual_functions[i];
    for (; functions && functions->name && f->functions < FUNCTIONS; functions++)
        f->function[f->functions++] = *functions;
}

void formula_size(struct formula *f, const char *is)
{
    f->text = f->p = is;
    if (f->letters == LETTERS)
        bad(f, "too many sizes");
    f->letter[f->letters].c = next(f);
    f->p++;
    word(f, f->letter[f->letters].size, sizeof f->letter->size);
    f->letters++;
}

int formula_given(struct formula *f, const char *is)
{
    unsigned scope = 0;
    f->text = f->p = is;
    f->reading = NONE;
    const bool whole = eat(f, "int ");
    const int i = define(f, true, &scope);
    f->name[i].whole = whole;
    if (eat(f, "in ")) {
        f->name[i].low = sum(f, 0);
        expect(f, "..");
        f->name[i].high = sum(f, 0);
    }
    read_gloss(f, &f->name[i]);
    if (next(f))
        bad(f, "expected the end");
    return i;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static double eval(struct formula *f, int i);

void formula_case(struct formula *f, struct numbers *of, const int *size)
{
    memset(of, 0, sizeof *of);
    memcpy(of->size, size, (size_t)f->letters * sizeof *size);
    for (int k = 0; k < f->names; k++) {
        of->count[k] = 1;
        for (int d = 0; d < f->name[k].dims; d++)
            of->count[k] *= (size_t)size[f->name[k].dim[d]];
        if (f->name[k].line != NONE) {
            of->made[k] = judge_room(of->count[k]);
            of->state[k] = calloc(of->count[k] + 1, 1);
            if (!of->state[k])
                judge_wrong("the judge is out of memory");
        }
    }
}

void formula_forget(struct formula *f, uint64_t lines)
{
    for (int k = 0; k < f->names; k++)
        if (f->name[k].line != NONE && f->line[f->name[k].line].uses & lines)
            memset(f->now->state[k], 0, f->now->count[k]);
}

/* The place of x's element in memory, as in C: (i * rows + j) * columns + k. Before j is added, i is
 * multiplied by the size of j's dimension; in a mistake the node `by` replaces this size. */
static long at_place(struct formula *f, const struct node *x)
{
    long at = 0;
    for (int d = 0; d < x->n; d++) {
        const double index = eval(f, x->child[d]);
        if (!(fabs(index) < 1e6))                       /* computed from a number that is no index */
            return -1;
        at = at * (x->by[d] == NONE ? f->now->size[f->name[x->of].dim[d]] : (long)eval(f, x->by[d]))
           + lround(index);
    }
    return at;
}

/* Stores all elements of a line with a changed target: at different places, or only as far as the loop over
 * dimension `divisor` runs, from `from` to `to`. */
static void fill(struct formula *f, int line)
{
    const struct node *x = &f->node[f->instead[f->line[line].target]];
    const struct name *a = &f->name[x->of];
    const size_t count = f->now->count[x->of];
    const double *held = a->held == NONE ? NULL : f->now->data[a->held];
    double *to = f->now->made[x->of];
    for (size_t i = 0; i < count; i++)
        to[i] = held ? held[i] : a->adds ? 0 : f->unwritten;
    memset(f->now->state[x->of], 2, count);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i;
        bool runs = true;
        for (int d = a->dims; d-- > 0; rest /= (size_t)f->now->size[a->dim[d]])
            f->at[a->dim[d]] = (int)(rest % (size_t)f->now->size[a->dim[d]]);
        for (int d = 0; d < a->dims; d++)
            if (x->divisor == d)
                runs = (x->from == NONE || f->at[a->dim[d]] >= eval(f, x->from))
                    && (x->to == NONE || f->at[a->dim[d]] < eval(f, x->to));
        if (!runs)
            continue;
        const double v = eval(f, f->line[line].tree);
        const long at = at_place(f, x);
        if (at >= 0 && (size_t)at < count)
            to[at] = held ? to[at] + v - held[i] : a->adds ? to[at] + v : v;
    }
}

double formula_element(struct formula *f, int name, size_t i)
{
    const struct name *a = &f->name[name];
    struct numbers *now = f->now;
    if (i >= now->count[name]) {                        /* also a negative place */
        f->past_end = true;
        return 1e3 * JUDGE_UNWRITTEN;                   /* what judge_room has there */
    }
    if (a->line == NONE)
        return now->data[name][i];
    if (now->state[name][i] == 1)
        return NAN;                                     /* it needs itself */
    if (now->state[name][i] == 0) {
        int was[LETTERS];
        memcpy(was, f->at, sizeof was);
        if (f->instead[f->line[a->line].target] != f->line[a->line].target)
            fill(f, a->line);
        else {
            size_t rest = i;
            for (int d = a->dims; d-- > 0; rest /= (size_t)now->size[a->dim[d]])
                f->at[a->dim[d]] = (int)(rest % (size_t)now->size[a->dim[d]]);
            now->state[name][i] = 1;
            now->made[name][i] = eval(f, f->line[a->line].tree);
            now->state[name][i] = 2;
        }
        memcpy(f->at, was, sizeof was);
    }
    return now->made[name][i];
}

/* The value of a line where it is read, with one node of the line replaced. */
static double here(struct formula *f, const struct node *x)
{
    const struct name *a = &f->name[x->of];
    int was[LETTERS], index[DIMS];
    const int instead = f->instead[x->was];
    for (int d = 0; d < x->n; d++)
        index[d] = (int)lround(eval(f, x->child[d]));
    memcpy(was, f->at, sizeof was);
    for (int d = 0; d < x->n; d++)
        f->at[a->dim[d]] = index[d];
    f->instead[x->was] = x->with;
    const double v = eval(f, f->line[a->line].tree);
    f->instead[x->was] = instead;
    memcpy(f->at, was, sizeof was);
    return v;
}

static double over(struct formula *f, const struct node *x)
{
    const int l = x->of, was = f->at[l];
    const double by = x->divisor == NONE ? 1 : eval(f, x->divisor);
    const int from = x->from == NONE ? 0 : (int)eval(f, x->from);
    const int to = x->to == NONE ? f->now->size[l] : (int)eval(f, x->to);
    double sum = x->largest ? -INFINITY : 0;
    for (f->at[l] = from; f->at[l] < to; f->at[l]++) {
        const double v = eval(f, x->child[0]) / by, s = x->largest ? fmax(sum, v) : sum + v;
        sum = x->kept == NONE ? s : f->function[x->kept].f(&s);
    }
    f->at[l] = was;
    return sum;
}

static bool compares(int how, double a, double b)
{
    const bool is[] = { a <= b, a >= b, a != b, a < b, a > b, a == b };
    return is[how];
}

/* A factor [...] that is 0 makes the product 0, whatever the other factors are. */
static double times(struct formula *f, const struct node *x)
{
    double v = 1;
    for (int c = 0; c < x->n; c++)
        if (f->node[f->instead[x->child[c]]].kind == TEST && eval(f, x->child[c]) == 0)
            return 0;
    for (int c = 0; c < x->n; c++)
        if (x->minus[c])
            v /= eval(f, x->child[c]);
        else
            v *= eval(f, x->child[c]);
    return v;
}

static double eval(struct formula *f, int i)
{
    const struct node *x = &f->node[f->instead[i]];
    double v = 0, arg[CHILDREN];
    f->work++;
    switch (x->kind) {
    case NUMBER:
        return x->number;
    case SIZE:
        return f->now->size[x->of];
    case LETTER:
        return f->at[x->of];
    case READ:
        return formula_element(f, x->of, (size_t)at_place(f, x));
    case HERE:
        return here(f, x);
    case OVER:
        return over(f, x);
    case TEST:
        v = eval(f, x->child[0]);
        return compares(x->of, v, eval(f, x->child[1]));
    case CHOICE:
        return eval(f, x->child[eval(f, x->child[0]) != 0 ? 1 : 2]);
    case POWER:
        v = eval(f, x->child[0]);
        arg[1] = eval(f, x->child[1]);
        return arg[1] == 2 ? v * v : pow(v, arg[1]);
    case CALL:
        for (int c = 0; c < x->n; c++)
            arg[c] = eval(f, x->child[c]);
        return f->function[x->of].f(arg);
    case TIMES:
        return times(f, x);
    case PLUS:
        for (int c = 0; c < x->n; c++)
            v += x->minus[c] ? -eval(f, x->child[c]) : eval(f, x->child[c]);
        return v;
    }
    return v;
}

double formula_value(struct formula *f, int node)
{
    return eval(f, node);
}
