/* reports: see reports.h. Only one op exists at a time, in static memory, since a struct formula is large. */
#include "reports.h"
#include "lib/suites.h"

#ifdef GRADUS_DOUBLE

#include "examples/exercises/judge/formula.h"
#include "examples/exercises/judge/judge.h"
#include <stdarg.h>
#include <stdlib.h>

/* ---- reports ---- */

gra_check_report report;

bool says(const char *phrase)
{
    char text[sizeof report.text];
    size_t n = 0;
    for (const char *p = report.text; *p; p++) {
        text[n++] = *p == '\n' ? ' ' : *p;
        if (strncmp(p, "\n  ", 3) == 0)
            p += 2;
    }
    text[n] = '\0';
    const char *at = text;
    while (at && *phrase) {
        const char *end = strstr(phrase, " ... ");
        n = end ? (size_t)(end - phrase) : strlen(phrase);
        char part[256];
        snprintf(part, sizeof part, "%.*s", (int)n, phrase);
        at = strstr(at, part);
        at += at ? n : 0;
        phrase += end ? n + 5 : n;
    }
    return at != NULL;
}

int checked(gra_check_fn *f, void *arg, int nin, const gra_check_in *in)
{
    return gra_check(t, &(gra_check_options){ .nin = nin, .in = in, .f = f, .arg = arg }, &report);
}

void expect(int status, int wanted, const char *phrase)
{
    ck_assert_msg(status == wanted, "%d, wanted %d: %s", status, wanted, report.text);
    ck_assert_msg(says(phrase), "\"%s\" is missing:\n%s", phrase, report.text);
}

/* ---- ops ---- */

enum { INPUTS = 3 };

static struct formula f;
static struct numbers numbers;
static int            inputs, x[INPUTS], dx[INPUTS], dx0[INPUTS], dy, y_;
static gra_check_in   in[INPUTS];
static char           name[INPUTS][17];

/* The functions of a judge that the formula calls. */
void judge_wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    abort();
}

double *judge_room(size_t n)
{
    return calloc(n + 1, sizeof(double));
}

static double inverse_cosine(const double *v) { return acos(v[0]); }
static double inverse_tangent(const double *v) { return atan(v[0]); }
static double angle(const double *v) { return atan2(v[0], v[1]); }

static const struct judge_function functions[] = {
    { "acos", 1, inverse_cosine }, { "atan", 1, inverse_tangent }, { "atan2", 2, angle }, { NULL, 0, NULL } };

static gra_shape shape_of(int of)
{
    gra_shape shape = { .ndim = f.name[of].dims };
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = numbers.size[f.name[of].dim[d]];
    return shape;
}

/* "d" + "x[k,i]" + "": a gradient, or its previous value, with the indices of the tensor */
static int given(const char *before, const char *text, const char *after)
{
    char is[64];
    const int n = (int)strcspn(text, "[ ,=");
    snprintf(is, sizeof is, "%s%.*s%s%.*s", before, n, text, after,
             text[n] == '[' ? (int)strcspn(text + n, "]") + 1 : 0, text + n);
    return formula_given(&f, is);
}

static void read_sizes(const char *text, int *size)
{
    char is[32];
    for (int n = 0, used; sscanf(text, "%31[^=]= %d%n", is, size + n, &used) == 2; n++, text += used) {
        formula_size(&f, is);
        used += (int)strspn(text + used, ", ");
    }
}

static void read_inputs(const char *text)
{
    char is[64];
    for (inputs = 0; *text; inputs++) {
        const char *end = strstr(text, ", ");
        snprintf(is, sizeof is, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
        x[inputs] = formula_given(&f, is);
        dx0[inputs] = given("d", is, "0");
        text = end ? end + 2 : "";
    }
}

static void make(const struct formula_op *op, const char *wrong)
{
    int size[LETTERS] = { 0 };
    for (int k = 0; k < NAMES; k++) {                       /* of the previous op */
        free(numbers.made[k]);
        free(numbers.state[k]);
    }
    formula_start(&f, functions);
    read_sizes(op->sizes, size);
    read_inputs(op->in);
    const int fixed = op->fixed ? formula_given(&f, op->fixed) : NONE;
    dy = given("d", *op->lines == 'y' ? op->lines : strstr(op->lines, "\ny") + 1, "");
    formula_lines(&f, op->lines, NONE);
    const int usual = f.lines;
    if (wrong)
        formula_lines(&f, wrong, 0);
    for (int k = usual; k < f.lines; k++)
        f.instead[f.line[f.name[f.node[f.line[k].target].of].line].tree] = f.line[k].tree;
    formula_case(&f, &numbers, size);
    f.now = &numbers;
    y_ = formula_name(&f, "y");
    if (fixed != NONE)
        numbers.data[fixed] = op->numbers;
    for (int i = 0; i < inputs; i++) {
        const struct name *a = &f.name[x[i]];
        snprintf(name[i], sizeof name[i], "d%s", a->text);
        dx[i] = formula_name(&f, name[i]);
        in[i] = (gra_check_in){ .name = name[i] + 1, .shape = shape_of(x[i]),
                                .data = i == 0 ? op->data : NULL };
        if (a->low != NONE) {
            in[i].low = formula_value(&f, a->low);
            in[i].high = formula_value(&f, a->high);
        }
    }
}

static void forward(gra_tensor *y)
{
    for (int i = 0; i < inputs; i++)
        numbers.data[x[i]] = y->in[i]->data;
    formula_forget(&f, UINT64_MAX);
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = formula_element(&f, y_, i);
}

static void backward(gra_tensor *y)
{
    for (int i = 0; i < inputs; i++) {
        numbers.data[x[i]] = y->in[i]->data;
        numbers.data[dx0[i]] = y->in[i]->grad;
    }
    numbers.data[dy] = y->grad;
    formula_forget(&f, UINT64_MAX);
    for (int add = 0; add < 2; add++)     /* all are computed first: two inputs may share a gradient */
        for (int i = 0; i < inputs; i++)
            for (size_t k = 0; y->in[i]->grad && k < y->in[i]->size; k++) {
                const double d = formula_element(&f, dx[i], k);
                y->in[i]->grad[k] += add ? d : 0;
            }
}

static gra_tensor *run(gra_tape *tape, gra_tensor **of, void *arg)
{
    static const gra_op op = { .name = "formula", .forward = forward, .backward = backward };
    (void)arg;
    return gra_run(gra_result_n(tape, &op, shape_of(y_), inputs, of));
}

int formula_check(const struct formula_op *op, const char *wrong)
{
    make(op, wrong);
    return checked(run, NULL, inputs, in);
}

/* First the facts, then at most three hints, without a clue if a guess fits, in lines of 80 columns. */
static void hints_are_few_and_short(void)
{
    size_t fits = 0, clues = 0;
    const char *finding = report.finding, *text = report.text;
    ck_assert_msg(strncmp(finding, "gradient check FAILED: ", 23) == 0, "%s", finding);
    ck_assert_msg(strncmp(text, finding, strlen(finding)) == 0, "%s\n%s", text, finding);
    ck_assert(!strstr(finding, "likely") && !strstr(finding, "a clue"));
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        ck_assert_msg(strcspn(line, "\n") <= 80, "%s", text);
        fits += strncmp(line, "likely", 6) == 0;
        clues += strncmp(line, "a clue", 6) == 0;
    }
    ck_assert_msg(fits + clues >= 1 && fits + clues <= 3 && !(fits && clues), "%s", text);
}

void formula_rows(const struct formula_op *op)
{
    ck_assert_msg(formula_check(op, NULL) == 0 && !says("likely") && !says("a clue"), "%s: %s", op->name,
                  report.text);
    for (int i = 0; op->wrong[i].lines; i++) {
        const char *lines = op->wrong[i].lines, *words = op->wrong[i].says, *unsaid = op->wrong[i].unsaid;
        ck_assert_msg(formula_check(op, lines) == 1, "%s, %s: %s", op->name, lines, report.text);
        ck_assert_msg(says(words), "%s, %s: \"%s\" is missing:\n%s", op->name, lines, words, report.text);
        ck_assert_msg(!unsaid || !says(unsaid), "%s, %s: \"%s\" is said:\n%s", op->name, lines, unsaid,
                      report.text);
        hints_are_few_and_short();
    }
}

#endif
