/* answer: judges an answer by its formula (see answer.h). A trial is one call of the answer, with the numbers
 * of a case. If an output is wrong, a second trial is made with telling numbers, and the finding names the
 * mistake that gives the numbers of both trials (search.c). */
#include "answer.h"
#include "comparison.h"
#include "rules.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trial {
    struct numbers numbers;
    double        *in[MOST_IN], *out[MOST_OUT];
    int           *ids[MOST_IN];
    int            size[LETTERS];
    struct judge_call call;
    gra_tape      *tape;
    gra_tensor    *tensor[MOST_IN], *y;
    int            tensors;
};

static struct formula formula;          /* of the answer */
static const struct judge_answer *read; /* whose it is */
static int given[MOST_IN], output[MOST_OUT], held[MOST_OUT], dy, ins, outs;

/* ---- the formula -------------------------------------------------------------------------------------- */

/* The part of a declaration before its brackets, comment or +=, prefixed with some letters. */
static char *name_in(const char *before, const char *is)
{
    static char text[8][24];
    static int next;
    next = (next + 1) % 8;
    is += strncmp(is, "int ", 4) ? 0 : 4;
    snprintf(text[next], sizeof *text, "%s%.*s", before, (int)strcspn(is, "[ +"), is);
    return text[next];
}

static int declare(const char *format, const char *is, const char *gloss)
{
    char text[120];
    snprintf(text, sizeof text, format, (int)strcspn(is, "["), is, (int)(strcspn(is, "+#") - strcspn(is,
        "[")),
             is + strcspn(is, "["));
    if (!strchr(is, '['))
        snprintf(text, sizeof text, format, (int)strcspn(is, " +#"), is, 0, "");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", gloss);
    return formula_given(&formula, text);
}

static void read_formula(const struct judge_answer *a)
{
    char gloss[60];
    if (read == a)
        return;
    read = a;
    formula_start(&formula, a->functions);
    for (int k = 0; a->sizes[k]; k++)
        formula_size(&formula, a->sizes[k]);
    for (ins = 0; a->in[ins]; ins++)
        given[ins] = strchr(a->in[ins], '=') ? NONE : formula_given(&formula, a->in[ins]);
    for (outs = 0; a->out[outs]; outs++) {
        const char *is = a->out[outs];
        snprintf(gloss, sizeof gloss, "%s%s  # the old %s", a->held[outs] ? " in " : "",
                 a->held[outs] ? a->held[outs] : "", name_in("", is));
        held[outs] = strstr(is, "+=") ? declare("%.*s0%.*s", is, gloss) : NONE;
    }
    dy = a->f ? declare("d%.*s%.*s", a->out[0], "") : NONE;
    formula.tensors = a->f != NULL;
    formula.ops = a->f && !a->op;
    formula_lines(&formula, a->lines, NONE);
    for (int s = 0; a->special[s].says; s++)
        formula_lines(&formula, a->special[s].lines, s);
    for (int k = 0; k < ins; k++)
        if (given[k] == NONE) {
            if ((given[k] = formula_name(&formula, name_in("", a->in[k]))) == NONE)
                judge_wrong("the judge's formula has no line for %s", a->in[k]);
            formula.name[given[k]].input = true;
        }
    for (int k = 0; k < outs; k++)
        if ((output[k] = formula_name(&formula, name_in("", a->out[k]))) == NONE)
            judge_wrong("the judge's formula has no line for %s", a->out[k]);
}

/* ---- a trial ------------------------------------------------------------------------------------------ */

static uint64_t seed_of(const char *text, int which)
{
    uint64_t seed = 14695981039346656037u;
    for (; *text; text++)
        seed = (seed ^ (unsigned char)*text) * 1099511628211u;
    return (seed >> 20) + (uint64_t)which;
}

static gra_shape shape_of(int name, const struct numbers *numbers)
{
    gra_shape s = { .ndim = formula.name[name].dims };
    for (int d = 0; d < s.ndim; d++)
        s.dim[d] = numbers->size[formula.name[name].dim[d]];
    return s;
}

static double *draw(int name, const struct judge_case *c, int which)
{
    const struct name *a = &formula.name[name];
    const bool usual = c->low == 0 && c->high == 0;
    const double low = a->low != NONE ? formula_value(&formula, a->low) : usual ? -2 : c->low;
    const double high = a->high != NONE ? formula_value(&formula, a->high) : usual ? 2 : c->high;
    const size_t n = formula.now->count[name];
    double *x = judge_draw(seed_of(c->part, which), n, low, a->whole ? high + 1 : high);
    for (size_t i = 0; i < n && a->whole; i++)
        x[i] = floor(x[i]);
    return x;
}

static double *copy_of(const double *x, size_t n)
{
    return memcpy(judge_room(n), x, n * sizeof *x);
}

static double *right_numbers(struct trial *k, int name)
{
    const size_t n = k->numbers.count[name];
    double *x = judge_room(n);
    formula.now = &k->numbers;
    for (size_t i = 0; i < n; i++)
        x[i] = formula_element(&formula, name, i);
    return x;
}

/* Numbers for all given names: the case's numbers, or drawn ones. */
static struct trial *prepared(const struct judge_answer *a, const struct judge_case *c)
{
    struct trial *k = calloc(1, sizeof *k);
    if (!k)
        judge_wrong("the judge is out of memory");
    read_formula(a);
    memcpy(k->size, c->size, sizeof k->size);
    formula_case(&formula, &k->numbers, k->size);
    formula.now = &k->numbers;
    for (int i = 0; i < ins; i++) {
        const size_t n = k->numbers.count[given[i]];
        k->in[i] = formula.name[given[i]].input ? right_numbers(k, given[i])
                 : c->in[i] ? copy_of(c->in[i], n) : draw(given[i], c, i);
        k->numbers.data[given[i]] = copy_of(k->in[i], n);
        if (formula.name[given[i]].whole) {
            int *ids = calloc(n + 1, sizeof *ids);
            if (!ids)
                judge_wrong("the judge is out of memory");
            for (size_t j = 0; j < n; j++)
                ids[j] = (int)k->in[i][j];
            k->ids[i] = judge_ids(ids, n);
            free(ids);
        }
    }
    for (int i = 0; i < outs && !a->f; i++) {
        const size_t n = k->numbers.count[output[i]];
        if (held[i] != NONE)
            k->numbers.data[held[i]] = c->held[i] ? copy_of(c->held[i], n) : draw(held[i], c, MOST_IN + i);
        k->out[i] = held[i] != NONE ? copy_of(k->numbers.data[held[i]], n) : judge_room(n);
    }
    if (a->f)
        k->numbers.data[dy] = draw(dy, c, MOST_IN);
    k->call = (struct judge_call){ k->size, k->in, k->ids, k->out };
    return k;
}

/* Calls the answer; constant: the input whose gradient is NULL, or NONE. */
static struct trial *try_case(const struct judge_answer *a, const struct judge_case *c, int constant)
{
    struct trial *k = prepared(a, c);
    if (!a->f) {
        a->call(&k->call);
        for (int i = 0; i < outs; i++)
            judge_guarded(name_in("", a->out[i]), k->out[i], k->numbers.count[output[i]]);
    } else {
        k->tape = judge_tape(GRA_GRAD, NULL);
        for (int i = 0; i < ins && !formula.name[given[i]].whole; i++)
            k->tensor[k->tensors++] = (i == constant ? gra_constant : gra_input)(k->tape, k->in[i],
                shape_of(given[i], &k->numbers));
        k->y = a->f(k->tape, k->tensor, &k->call);
        judge_tensor(k->tape, "y", k->y, shape_of(output[0], &k->numbers));
        k->out[0] = k->y->data;
        if (a->op)
            judge_made_by(k->y, a->op);
        if (a->without)
            judge_without(k->y, a->without);
    }
    for (int i = 0; i < ins; i++) {
        for (size_t j = 0; j < k->numbers.count[given[i]] && k->ids[i]; j++)
            k->in[i][j] = k->ids[i][j];
        judge_unchanged(name_in("", a->in[i]), a->f && i < k->tensors ? k->tensor[i]->data : k->in[i],
                        k->numbers.data[given[i]], k->numbers.count[given[i]]);
    }
    return k;
}

static void backward(struct trial *k)
{
    judge_backward(k->tape, k->y, k->numbers.data[dy], k->tensors, k->tensor, 0);
}

static void gradient_check(const struct judge_answer *a)
{
    const struct judge_case c = { .part = "gradient check" };
    struct judge_case telling = c;
    gra_check_in in[MOST_IN] = { { .name = NULL } };
    memcpy(telling.size, a->telling, sizeof telling.size);
    struct trial *k = prepared(a, &telling);
    int n = 0;
    for (; n < ins && !formula.name[given[n]].whole; n++)
        in[n] = (gra_check_in){ .name = strdup(name_in("", a->in[n])), .shape = shape_of(given[n],
            &k->numbers),
                                .data = k->in[n] };
    judge_gradients(GRA_GRAD, NULL, NULL, n, in, a->f, &k->call);
}

/* ---- comparisons -------------------------------------------------------------------------------------- */

/* The numbers of output `name`: of out[which], or the gradient of input `which`. */
static const double *got_by(const struct trial *k, int which, bool gradient)
{
    return gradient ? gra_grad(k->tensor[which]) : k->out[which];
}

/* If an answer gives different numbers when it is called again, it has kept a number, or has not set one. */
static void compare_with_second_call(const struct judge_answer *a, const struct judge_case *c,
                                     struct trial *k,
                                     int which)
{
    struct trial *again = try_case(a, c, NONE);
    for (size_t i = 0; i < k->numbers.count[output[which]]; i++)
        if (k->out[which][i] != again->out[which][i] && k->out[which][i] == k->out[which][i])
            judge_wrong("%s: called twice with the same numbers, it gives %.6g and then %.6g\nlikely: a "
                        "variable is static, or is not set before it is added to or read", name_in("",
                            a->out[which]),
                        k->out[which][i], again->out[which][i]);
}

/* Records what the rules need to know about name `of`: it is out[which], or the gradient of in[which]. */
static void is_output(int of, int which, bool gradient)
{
    formula.name[of].adds = gradient;
    formula.name[of].held = gradient ? NONE : held[which];
    formula.unwritten = JUDGE_UNWRITTEN;
}

static void compare(const struct judge_answer *a, const struct judge_case *c, struct trial *k, int which,
                    bool gradient)
{
    static struct mistakes mistakes;
    char name[24];
    snprintf(name, sizeof name, "%s", gradient ? name_in("d", a->in[which]) : name_in("", a->out[which]));
    const int of = formula_name(&formula, name);
    if (of == NONE)
        judge_wrong("the judge's formula has no line for %s", name);
    const struct comparison first = judge_comparison(shape_of(of, &k->numbers), got_by(k, which, gradient),
        right_numbers(k, of), c->tolerance == 0 ? gradient ? 1e-11 : 1e-12 : c->tolerance);
    const char *found = NULL;
    if (!judge_agrees(&first)) {
        struct judge_case telling = { .part = "telling", .low = c->low, .high = c->high };
        struct seen seen[2] = { { &k->numbers, first.got, first.want, first.tolerance, true } };
        const char *specials[MOST_SPECIALS + 1] = { NULL };
        if (!gradient)
            compare_with_second_call(a, c, k, which);
        memcpy(telling.size, a->telling, sizeof telling.size);
        struct trial *more = try_case(a, &telling, NONE);
        if (gradient)
            backward(more);
        const struct comparison second = judge_comparison(shape_of(of, &more->numbers),
            got_by(more, which, gradient), right_numbers(more, of), c->tolerance == 0 ? 1e-10 : c->tolerance);
        seen[1] = (struct seen){ &more->numbers, second.got, second.want, second.tolerance,
                                !judge_agrees(&second) };
        for (int s = 0; a->special[s].says; s++)
            specials[s] = a->special[s].says;
        is_output(of, which, gradient);
        make_mistakes(&formula, of, specials, &mistakes);
        found = search_mistake(&formula, of, seen, 2, &mistakes);
        if (!found && c->says)
            judge_wrong("%s", c->says);
        if (a->f && gradient && (!found || !found[0]))
            gradient_check(a);
    }
    judge_finding(&first, name, found);
    formula.name[of].right = true;
}

void judge_case(const struct judge_answer *a, struct judge_case c)
{
    judge_part("%s%s%s", c.part, c.apart ? ": " : "", c.apart ? name_in("", a->out[0]) : "");
    struct trial *k = try_case(a, &c, NONE);
    for (int i = 0; i < formula.names; i++)
        formula.name[i].right = false;
    for (int i = 0; i < outs; i++) {
        if (c.apart && i)
            judge_part("%s: %s", c.part, name_in("", a->out[i]));
        compare(a, &c, k, i, false);
    }
    if (c.gradients)
        backward(k);
    for (int i = k->tensors; c.gradients && i-- > 0;)
        compare(a, &c, k, i, true);
}

void judge_cases(const struct judge_answer *a, const struct judge_case *cases)
{
    for (; cases->part; cases++)
        judge_case(a, *cases);
}

void judge_end(const struct judge_answer *a)
{
    struct judge_case c = { .part = "constants" };
    memcpy(c.size, a->telling, sizeof c.size);
    read_formula(a);
    int tensors = 0;
    while (tensors < ins && !formula.name[given[tensors]].whole)
        tensors++;
    for (int i = 0; i < tensors && a->op && tensors > 1; i++) {
        judge_part("no crash where %s is a constant, whose grad is NULL", name_in("", a->in[i]));
        backward(try_case(a, &c, i));
    }
    judge_part("the gradient check");
    gradient_check(a);
}
