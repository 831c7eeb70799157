/* expression_parse: by recursive descent. Each function reads one line of the grammar in the header and
 * returns the step that computes it. An error skips the rest of the text, so that all of them return. */
#include "expression_parse.h"
#include "../lib/utf8.h"
#include <stdarg.h>
#include <stdlib.h>

static int sum(expression *e);

static gra_tensor *same(gra_tape *t, gra_tensor *x)        { return (void)t, x; }
static gra_tensor *softmax(gra_tape *t, gra_tensor *x)     { return gra_softmax(t, x, -1); }
static gra_tensor *log_softmax(gra_tape *t, gra_tensor *x) { return gra_log_softmax(t, x, -1); }

static gra_tensor *largest(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    return gra_where(t, gra_gt(t, a, b), a, b);
}
static gra_tensor *least(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    return gra_where(t, gra_gt(t, a, b), b, a);
}
static gra_tensor *powered(gra_tape *t, gra_tensor *a, gra_tensor *b)   /* of a > 0 */
{
    return gra_exp(t, gra_mul(t, b, gra_log(t, a)));
}

static const struct function {
    const char *name;
    gra_tensor *(*one)(gra_tape *t, gra_tensor *x);
} function[] = {
    { "relu", gra_relu }, { "tanh", gra_tanh }, { "exp", gra_exp }, { "log", gra_log },
    { "sigmoid", gra_sigmoid }, { "sqrt", gra_sqrt }, { "abs", gra_abs }, { "silu", gra_silu },
    { "gelu", gra_gelu }, { "sin", gra_sin }, { "cos", gra_cos }, { "softmax", softmax },
    { "log_softmax", log_softmax }, { "sum", gra_sum }, { "mean", gra_mean }, { "max", gra_max },
    { "min", gra_min }, { "randn", NULL },
};

static const struct function *find_function(const char *name)
{
    for (size_t i = 0; i < sizeof function / sizeof *function; i++)
        if (strcmp(function[i].name, name) == 0)
            return &function[i];
    return NULL;
}

gra_tensor *expression_beside(gra_tape *t, gra_tensor *a, gra_tensor *b)
{
    return a->shape.ndim && b->shape.ndim ? gra_matmul(t, a, b) : gra_mul(t, a, b);
}

/* ---- characters -------------------------------------------------------------------------------------- */

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool is_letter(char c) { return c && strchr(LETTERS, c); }
static int  digits(const char *c) { return (int)strspn(c, DIGITS); }

static const char *here(expression *e)                  /* after blanks */
{
    e->at += (int)strspn(e->text + e->at, " \t\r");
    return e->text + e->at;
}

static int place(expression *e) { return (int)(here(e) - e->text); }

static bool take(expression *e, char c)
{
    if (*here(e) != c)
        return false;
    e->at++;
    return true;
}

static int word_length(const char *c)                   /* of a name; 0: there is none */
{
    return is_letter(*c) ? (int)strspn(c, LETTERS DIGITS) : 0;
}

static int number_length(const char *c)                 /* 2, 0.5, .5, 1e-3; 0: there is none */
{
    int n = digits(c);
    if (c[n] == '.' && n + digits(c + n + 1) > 0)
        n += 1 + digits(c + n + 1);
    if (n > 0 && (c[n] == 'e' || c[n] == 'E')) {
        const int sign = c[n + 1] == '+' || c[n + 1] == '-', more = digits(c + n + 1 + sign);
        n += more ? 1 + sign + more : 0;
    }
    return n;
}

/* ---- errors ------------------------------------------------------------------------------------------ */

static int fail(expression *e, int at, int length, const char *format, ...) GRA_PRINTF(4, 5);
static int fail(expression *e, int at, int length, const char *format, ...)
{
    if (!e->error.why[0]) {
        va_list args;
        va_start(args, format);
        vsnprintf(e->error.why, sizeof e->error.why, format, args);
        va_end(args);
        e->error.at = at;
        e->error.length = length;
    }
    e->at += (int)strlen(e->text + e->at);
    return 0;
}

/* Reports that the number, name or character that comes next is not what was expected. */
static int expected(expression *e, const char *what)
{
    const char *c = here(e);
    if (*c == '\0' || *c == '\n')
        return fail(e, e->at, 0, "expected %s, got the end of the %s", what, *c ? "line" : "text");
    int bytes = word_length(c) + number_length(c), units = bytes;
    if (bytes == 0) {                                   /* a byte that is not UTF-8 counts as a character */
        bytes = (int)utf8_length((const unsigned char *)c, strlen(c));
        units = bytes == 4 ? 2 : 1;
    }
    return fail(e, e->at, units, "expected %s, got '%.*s'", what, bytes < 1 ? 1 : bytes < 40 ? bytes : 40, c);
}

/* ---- steps and names --------------------------------------------------------------------------------- */

static int add_step(expression *e, expression_step step)
{
    if (e->steps == EXPRESSION_STEPS)
        return fail(e, step.at, step.length, "got more than %d operations, expected fewer", EXPRESSION_STEPS);
    e->step[e->steps] = step;
    return e->steps++;
}

/* The step's text is from `at` to the next character to be read. */
static int add_input(expression *e, expression_input input, int at)
{
    const int length = e->at - at;
    size_t size = 0;
    gra_shape_size(input.shape, &size);
    if (e->inputs == EXPRESSION_INPUTS)
        return fail(e, at, length, "got more than %d inputs, expected fewer", EXPRESSION_INPUTS);
    e->values += size;
    if (e->values > EXPRESSION_VALUES)
        return fail(e, at, length, "got %zu values in all inputs, expected at most %d", e->values,
                    EXPRESSION_VALUES);
    input.step = e->steps;
    e->input[e->inputs] = input;
    return add_step(e, (expression_step){ .kind = EXPRESSION_INPUT, .a = e->inputs++, .at = at,
                                          .length = length });
}

static int find_step(const expression *e, const char *name)     /* the latest of this name, or -1 */
{
    int i = e->steps - 1;
    while (i >= 0 && strcmp(e->step[i].name, name) != 0)
        i--;
    return i;
}

static bool read_name(expression *e, char name[EXPRESSION_NAME])
{
    const int n = word_length(here(e));
    if (n >= EXPRESSION_NAME) {
        fail(e, e->at, n, "got a name of %d characters, expected at most %d", n, EXPRESSION_NAME - 1);
        return false;
    }
    memcpy(name, e->text + e->at, (size_t)n);
    name[n] = '\0';
    e->at += n;
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double number(expression *e, const char *what)
{
    char text[64];
    const int n = number_length(here(e)), most = sizeof text - 1;
    if (n == 0 || n > most)
        return expected(e, n ? "a number of at most 63 characters" : what);
    memcpy(text, e->text + e->at, (size_t)n);
    text[n] = '\0';
    const double value = strtod(text, NULL);
    if (!isfinite(value))
        return fail(e, e->at, n, "the number %s is too large", text);
    e->at += n;
    return value;
}

static int size(expression *e)
{
    const int at = place(e);
    const double n = number(e, "a size");
    if (n >= 1 && n <= EXPRESSION_VALUES && n <= floor(n))
        return (int)n;
    return fail(e, at, e->at - at, "got the size %g, expected one of 1 to %d", n, EXPRESSION_VALUES);
}

static int randn(expression *e, int at)                 /* after the parenthesis */
{
    gra_shape shape = { 1, { size(e) } };
    if (take(e, ','))
        shape.dim[shape.ndim++] = size(e);
    if (!take(e, ')'))
        return expected(e, shape.ndim == 1 ? "',' or ')'" : "')'");
    return add_input(e, (expression_input){ .random = true, .shape = shape }, at);
}

static int closed(expression *e)                        /* a sum, after the parenthesis */
{
    const int x = sum(e);
    return take(e, ')') ? x : expected(e, "an operator or ')'");
}

static int add_free(expression *e, const char *name, int at)
{
    const int step = add_input(e, (expression_input){ .free = true }, at);
    strcpy(e->step[step].name, name);
    return step;
}

/* A function that does not exist: the one that was probably meant, or all that there are. */
static int unknown(expression *e, const char *name, int at, int length)
{
    static const char *const other[][2] = { { "ln", "log" }, { "tan", "tanh" }, { "average", "mean" },
                                            { "maximum", "max" }, { "minimum", "min" } };
    char lower[EXPRESSION_NAME] = "", all[200] = "";
    const char *meant = NULL;
    for (int i = 0; i < length; i++)
        lower[i] = (char)(name[i] | 32);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        meant = strcmp(other[i][0], lower) == 0 ? other[i][1] : meant;
    for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
        meant = strcmp(function[i].name, lower) == 0 ? function[i].name : meant;
        snprintf(all + strlen(all), sizeof all - strlen(all), " %s", function[i].name);
    }
    return meant ? fail(e, at, length, "there is no function %s: did you mean %s?", name, meant)
                 : fail(e, at, length, "there is no function %s: there are%s", name, all);
}

/* A name that nothing was assigned to. A word is probably not a name: import torch would be a product. */
static int unassigned(expression *e, const char *name, int at, int length)
{
    const bool pi = strcmp(name, "pi") == 0;
    if (pi || strcmp(name, "e") == 0)
        return add_step(e, (expression_step){ .kind = EXPRESSION_NUMBER, .number = pi ? 3.14159265358979323846
                        : 2.71828182845904523536, .at = at, .length = length });
    if (strcmp(name, "nan") == 0 || strcmp(name, "inf") == 0)
        return fail(e, at, length, "%s is not a number: what is computed from it has no gradient", name);
    if (strspn(name, LETTERS) > 1 && name[0] != '_' && name[1] != '_')
        return fail(e, at, length, "%s was not assigned: a new slider called %s?", name, name);
    return add_free(e, name, at);
}

static int named(expression *e)
{
    char name[EXPRESSION_NAME];
    const int at = e->at, length = word_length(e->text + at);
    if (!read_name(e, name))
        return 0;
    const struct function *f = find_function(name);
    const int step = find_step(e, name);
    if (*here(e) != '(') {
        if (e->text[e->at] == '.' && is_letter(e->text[e->at + 1]))
            return fail(e, e->at, 1, "a function comes before its value: mean(%s), not %s.mean()", name,
                        name);
        if (step >= 0)
            return step;
        if (f)
            return expected(e, "'(' after the name of a function");
        e->at = at + length;
        return unassigned(e, name, at, length);
    }
    if (!f && step >= 0)
        return fail(e, at, length, "%s is not a function: for a product write %s * (...)", name, name);
    if (!f)
        return unknown(e, name, at, length);
    e->at++;
    if (!f->one)
        return randn(e, at);
    expression_step s = { .kind = EXPRESSION_ONE, .one = f->one, .a = sum(e), .at = at, .length = length };
    s.two = f->one == gra_max ? largest : f->one == gra_min ? least : NULL;
    if (s.two && take(e, ',')) {
        s.kind = EXPRESSION_TWO;
        s.b = sum(e);
    }
    return take(e, ')') ? add_step(e, s) : expected(e, "an operator or ')'");
}

static int value(expression *e)
{
    const int at = place(e);
    if (take(e, '('))
        return closed(e);
    if (is_letter(*here(e)))
        return named(e);
    const double x = number(e, "a number or a name");
    return add_step(e, (expression_step){ .kind = EXPRESSION_NUMBER, .number = x, .at = at,
                                          .length = e->at - at });
}

/* ---- operators --------------------------------------------------------------------------------------- */

static int power(expression *e)
{
    const int x = value(e), at = place(e);
    const int length = *here(e) == '^' ? 1 : strncmp(here(e), "**", 2) == 0 ? 2 : 0;
    if (length == 0)
        return x;
    e->at += length;
    expression_step s = { .kind = EXPRESSION_POWER, .a = x, .at = at };
    if (is_letter(*here(e)) || *here(e) == '(') {
        s.kind = EXPRESSION_TWO;
        s.two = powered;
        s.b = value(e);
    } else {
        s.number = take(e, '-') ? -1 : 1;
        s.number *= number(e, "a number or a name as the exponent");
    }
    s.length = e->at - at;
    return add_step(e, s);
}

static int sign(expression *e)                          /* on the way to every deeper level */
{
    const int at = place(e);
    if (e->depth == EXPRESSION_DEPTH)
        return fail(e, at, 1, "got more than %d parentheses or signs within each other, expected fewer",
                    EXPRESSION_DEPTH);
    e->depth++;
    const bool minus = take(e, '-');
    const int x = minus ? sign(e) : power(e);
    e->depth--;
    return !minus ? x : add_step(e, (expression_step){ .kind = EXPRESSION_ONE, .one = gra_neg, .a = x,
                                                       .at = at, .length = 1 });
}

/* One of the operators, between x and what `operand` reads; -1: a different character comes next. */
static int operation(expression *e, const char *operators, int x, int (*operand)(expression *e))
{
    static const struct {
        char c;
        gra_tensor *(*two)(gra_tape *t, gra_tensor *a, gra_tensor *b);
    } operator[] = { { '+', gra_add }, { '-', gra_sub }, { '*', gra_mul }, { '/', gra_div },
                     { '@', gra_matmul } };
    const int at = place(e);
    if (!*here(e) || !strchr(operators, *here(e)))
        return -1;
    int i = 0;
    while (operator[i].c != e->text[at])
        i++;
    e->at++;
    return add_step(e, (expression_step){ .kind = EXPRESSION_TWO, .two = operator[i].two, .a = x,
                                          .b = operand(e), .at = at, .length = 1 });
}

static int product(expression *e)
{
    for (int x = sign(e);;) {
        const int next = operation(e, "*/@", x, sign), at = place(e);
        if (next >= 0) {
            x = next;
            continue;
        }
        if (!is_letter(*here(e)) && *here(e) != '(')
            return x;
        const int b = power(e);
        x = add_step(e, (expression_step){ .kind = EXPRESSION_TWO, .two = expression_beside, .a = x, .b = b,
                                           .at = at, .length = e->at - at });
    }
}

static int sum(expression *e)
{
    int x = product(e);
    for (int next; (next = operation(e, "+-", x, product)) >= 0;)
        x = next;
    return x;
}

/* ---- statements -------------------------------------------------------------------------------------- */

/* The statement's steps, from `first` on, compute a value that gets a name: a number becomes an input. */
static int assign(expression *e, const char *name, int first, int step, int at)
{
    const expression_step *s = &e->step[step];
    const bool minus = s->kind == EXPRESSION_ONE && s->one == gra_neg && s->a == first;
    if (e->step[first].kind == EXPRESSION_NUMBER && step == first + minus) {
        const double x = e->step[first].number;
        e->steps = first;
        step = add_input(e, (expression_input){ .value = minus ? -x : x }, at);
    } else if (s->name[0])                              /* b = a: another name of a */
        step = add_step(e, (expression_step){ .kind = EXPRESSION_ONE, .one = same, .a = step, .at = at,
                                              .length = e->at - at });
    strcpy(e->step[step].name, name);
    return step;
}

static void statement(expression *e)
{
    char name[EXPRESSION_NAME];
    const int at = place(e), n = word_length(here(e)), first = e->steps;
    e->at += n;
    const bool assigns = n > 0 && take(e, '=');
    e->at = at;
    if (assigns && read_name(e, name))
        take(e, '=');
    const bool is_free = assigns && take(e, '?');
    e->result = is_free ? add_free(e, name, at) : sum(e);
    if (assigns && !is_free && !e->error.why[0])
        e->result = assign(e, name, first, e->result, at);
    if (!take(e, ';') && !take(e, '\n') && *here(e))
        expected(e, "an operator or ';'");
}

int expression_parse(expression *e, const char *text)
{
    e->text = text;
    e->at = e->depth = e->steps = e->inputs = e->result = 0;
    e->values = 0;
    e->error = (expression_error){ .at = 0 };
    if (strlen(text) > EXPRESSION_TEXT)
        fail(e, 0, 0, "got a text of %zu bytes, expected at most %d", strlen(text), EXPRESSION_TEXT);
    while (*here(e))
        if (!take(e, ';') && !take(e, '\n'))
            statement(e);
    if (e->steps == 0)
        expected(e, "an expression, such as a*b + b^3");
    return e->error.why[0] ? -1 : 0;
}
