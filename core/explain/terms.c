/* terms: explanations in which the analytic gradient is the numeric one and something: a term of the formula
 * is missing, too many, or wrong. */
#include "explaining.h"

/* ---- a number ----------------------------------------------------------------------------------- */

/* The entries that are off by `by`, among those that are not zero in both. */
static void choose(gra_wrong *w, double by)
{
    for (size_t e = 0; e < w->size; e++) {
        w->of[e] = !gra_zero(w, e);
        w->in[e] = w->of[e] && gra_fit(w, w->a[e] - w->n[e], by);
    }
}

/* Two numbers, of which the backward takes the one, or minus that, where the other is right? */
static bool exchanged_numbers(const gra_wrong *w, double p[2])
{
    size_t count[2] = { 0 };
    for (size_t e = 0; e < w->size; e++) {
        const double a = fabs(w->a[e]), n = fabs(w->n[e]);
        if (gra_zero(w, e))
            continue;
        if (!count[0]) {
            p[0] = n;
            p[1] = a;
        }
        const bool second = count[0] && !gra_fit(w, n, p[0]);
        if (!gra_fit(w, n, p[second]) || !gra_fit(w, a, p[!second]))
            return false;
        count[second]++;
    }
    return count[0] >= 2 && count[1] >= 2;
}

/* What is off is one number, or one of two, each in at least two places. */
static bool off_by(gra_wrong *w, int most)
{
    double by[3] = { 0 }, p[2];
    size_t count[3] = { 0 }, all = 0;                   /* those that are right, off by by[1], by by[2] */
    int numbers = 0;
    gra_check_line where[3] = { { .at = 0 } };
    for (size_t e = 0; e < w->size; e++) {
        int is = 0;
        if (gra_none(w, w->a[e]) != gra_none(w, w->n[e]))
            return false;
        if (gra_zero(w, e))
            continue;
        while (is <= numbers && !gra_fit(w, w->a[e] - w->n[e], by[is]))
            is++;
        if (is > most)
            return false;
        if (is > numbers)
            by[numbers = is] = w->a[e] - w->n[e];
        count[is]++;
        all++;
    }
    if (numbers == 0 || count[1] < 2 || (numbers == 2 && count[2] < 2) || all < (numbers == 1 ? 3 : 6))
        return false;
    for (int i = 1; i <= numbers; i++) {
        choose(w, by[i]);
        gra_put_places(&where[i], w);
    }
    const char *const rest = count[0] ? "; it is right elsewhere" : "";
    const bool balanced = w->rows == 1 && gra_fit(w, by[1] * (double)count[1] + by[2] * (double)count[2], 0);
    if (exchanged_numbers(w, p))
        gra_fits(w, "two constants of the formula are exchanged: %.6g, by which dy is multiplied in one "
                 "branch, and %.6g, in the other (but for the sign)", p[0], p[1]);
    else if (count[1] == all)
        gra_fits(w, "what dy is multiplied by is off by the same number everywhere, %+.6g: a constant term "
                 "of the formula, or a mean, is missing or wrong", by[1]);
    else if (numbers == 2)
        gra_fits(w, "what dy is multiplied by is off by %+.6g %s, and by %+.6g %s: %s%s", by[1], where[1].s,
                 by[2], where[2].s, balanced ? "all that is off sums to 0, as where the targets of the "
                 "backward are not those of the forward" : "a constant of the formula, or where it belongs, "
                 "is wrong", rest);
    else
        gra_fits(w, "%s what dy is multiplied by is off by the same number, %+.6g: a term of the formula is "
                 "missing there, or has the wrong sign%s", where[1].s, by[1], rest);
    return true;
}

bool gra_same_number(gra_wrong *w)      { return off_by(w, 1); }
bool gra_two_numbers(gra_wrong *w)      { return off_by(w, 2); }

/* ---- one term ----------------------------------------------------------------------------------- */

static void tell_term(gra_wrong *w, const gra_source *p, const gra_source *q, double by)
{
    gra_check_line term = { .at = 0 }, at = { .at = 0 }, times = { .at = 0 };
    gra_put_number(&times, w, fabs(by));
    const char *const value = strstr(times.s, "the value of");
    if (!gra_equal(fabs(by), 1))
        gra_check_put(&term, value ? "%.6g (%s) times " : "%.6g times ", fabs(by), value);
    if (p->kind != GRA_ONE) {
        gra_put_source(&term, w, p, w->example);
        gra_check_put(&term, " times ");
    }
    gra_put_source(&term, w, q, w->example);
    gra_put_entry(&at, w, w->example);
    if (by > 0)
        gra_fits(w, "a term is missing: %s lacks %s, and so elsewhere; or half of that has the wrong "
                 "sign", at.s, term.s);
    else
        gra_fits(w, "a term too many, or one that is counted twice: %s has %s too much, and so elsewhere; or "
                 "minus that is missing, or half of it has the wrong sign", at.s, term.s);
}

static void tell_exchanged(gra_wrong *w, const gra_source *p, const gra_source *q, double by)
{
    gra_check_line has = { .at = 0 }, expected = { .at = 0 }, times = { .at = 0 }, at = { .at = 0 };
    gra_put_source(&expected, w, by > 0 ? p : q, w->example);
    gra_put_source(&has, w, by > 0 ? q : p, w->example);
    gra_put_in(&at, w, w->example);
    if (!gra_equal(fabs(by), 1))
        gra_check_put(&times, ", times %.6g", fabs(by));
    gra_fits(w, "a wrong term: the backward has %s where %s is expected or, in a term with a minus, %s where "
             "%s is expected%s%s", has.s, expected.s, expected.s, has.s, times.s, at.s);
}

/* Of one tensor a product of functions may be another formula of the same value, so it is none here, but at
 * last. */
enum { ELEMENTS, FUNCTIONS = 1, EXCHANGED = 2, OF_ONE = 4 };

static bool likely(const gra_wrong *w, const gra_source *p, const gra_source *q, int how)
{
    const bool one = p->kind == GRA_ONE, same = gra_same_source(p, q);
    if (!(one || p->kind == GRA_VALUE) || q->kind != GRA_VALUE || p->less || q->less)
        return false;
    if (how & FUNCTIONS &&
        ((p->derived && q->derived) || (p->row < 0 && p->rows > 1) || (q->row < 0 && q->rows > 1) ||
         (p->column < 0 && p->columns > 1) || (q->column < 0 && q->columns > 1)))
        return false;                                   /* too many, and unlikely */
    return how & EXCHANGED
               ? one || (p->row == q->row && p->column == q->column)
               : one || !(how & FUNCTIONS) || (how & OF_ONE ? same : w->check->count > 1 && !same);
}

/* n - a is a product of two values, or a difference. */
static bool by_pairs(gra_wrong *w, int how)
{
    enum { MANY = 8 };
    gra_pair pair = { .form = how & EXCHANGED ? GRA_DIFFERENCE : GRA_PRODUCT, .functions = how & FUNCTIONS,
                      .likely = likely, .how = how };
    size_t off = 0;
    w->example = gra_worst(w);
    for (size_t e = 0; e < w->size; e++)
        off += !gra_fit(w, w->a[e], w->n[e]);
    pair.any_constant = gra_distinct(w, false) >= (pair.functions ? 4 : 3) && (off >= MANY || w->rows == 1);
    if (off < (pair.functions ? MANY : 4) || !gra_find_pair(w, &pair))
        return false;
    (how & EXCHANGED ? tell_exchanged : tell_term)(w, &pair.p, &pair.q, pair.k);
    return true;
}

bool gra_one_term(gra_wrong *w)
{
    return by_pairs(w, ELEMENTS);
}

bool gra_exchanged(gra_wrong *w)
{
    return by_pairs(w, EXCHANGED) || by_pairs(w, FUNCTIONS) || by_pairs(w, EXCHANGED | FUNCTIONS) ||
           by_pairs(w, FUNCTIONS | OF_ONE);
}

/* ---- a term of its own for each row --------------------------------------------------------------- */

static void tell_multiples(gra_wrong *w, const gra_division *v, const gra_source *s)
{
    gra_check_line whose = { .at = 0 }, of = { .at = 0 };
    gra_source plain = *s;
    size_t e = 0;
    while (gra_fit(w, w->a[e], w->n[e]))
        e++;
    plain.f = GRA_PLAIN;
    gra_put_parts(&whose, w, v);
    gra_put_source(&of, w, &plain, e);
    if (s->kind == GRA_ONE)
        gra_fits(w, "what is off is one number for each %s: a mean or a sum over it is missing or wrong",
                 whose.s);
    else if (s->f == GRA_REST)
        gra_fits(w, "for each %s what is off is a number times 1 - v for v = %s, and so elsewhere: the term "
                 "without a sum has a 1 where v is expected, or the reverse", whose.s, of.s);
    else
        gra_fits(w, "for each %s what is off is a number times %s, and so elsewhere: a term with this factor "
                 "is missing or wrong%s", whose.s, of.s, s->data == w->x->data ? ", as a projection on it" :
                 s->data == w->check->y ? ", as the sum over dy y that the derivative of a softmax has" : "");
}

/* As where the mean that is subtracted is forgotten, or a projection. On the diagonal of a norm a multiple of
 * 1 - w says that the term without a sum lacks w. */
bool gra_own_terms(gra_wrong *w)
{
    for (int i = 0; i < 2 * w->sources; i++) {
        const bool rest = i >= w->sources;
        gra_source s = w->source[i % w->sources];
        if (s.kind == GRA_RIGHT || s.kind == GRA_BOTH || s.less || (rest && !w->part))
            continue;
        s.f = rest ? GRA_REST : GRA_PLAIN;
        for (size_t e = 0; e < w->size; e++) {
            w->part_a[e] = w->a[e] - w->n[e];
            w->part_n[e] = gra_value(w, &s, e);
        }
        for (gra_division v = { 0 }; gra_next_division(w, &v);)
            if (gra_has_list(&v) && v.parts * 3 <= w->size &&
                gra_multiples(w, &v, w->part_a, w->part_n, 3, w->scratch)) {
                tell_multiples(w, &v, &s);
                return true;
            }
    }
    return false;
}

/* ---- a term with a sum over dy ------------------------------------------------------------------ */

/* In each row of dy, is what is off a multiple u_i of a sum over dy with some weights v_j, those of v if it
 * is given? A sum of at least three, that three elements of x get something from. */
static bool one_sum(const gra_wrong *w, const gra_source *v)
{
    const size_t length = gra_columns(&w->check->shape), block = length * w->cols;
    bool enough = false;
    for (size_t first = 0; first < w->size; first += block) {
        size_t top = first, of_u = 0, of_v = 0;
        for (size_t e = first; e < first + block; e++)
            if (fabs(w->a[e] - w->n[e]) > fabs(w->a[top] - w->n[top]))
                top = e;
        const double off = w->a[top] - w->n[top];
        for (size_t e = first; off != 0 && e < first + block; e++) {
            const size_t at_u = top / w->cols * w->cols + e % w->cols,
                at_v = e / w->cols * w->cols + top % w->cols;
            const double u = w->a[at_u] - w->n[at_u], of = w->a[at_v] - w->n[at_v];
            if (!gra_fit(w, w->a[e] - w->n[e], u * of / off) ||
                (v && !gra_fit(w, of, off * gra_value(w, v, at_v) / gra_value(w, v, top))))
                return false;
            of_u += e == at_u && !gra_fit(w, u, 0);
            of_v += e == at_v && !gra_fit(w, of, 0);
        }
        enough |= (of_u >= 3) & (of_v >= 3);
    }
    return enough;
}

bool gra_row_term(gra_wrong *w)
{
    const int d = w->check->shape.ndim - 1;
    if (!w->whole || gra_columns(&w->check->shape) < 3 || !one_sum(w, NULL))
        return false;
    for (int i = 0; i < w->sources; i++) {
        const gra_source *const v = &w->source[i];
        const bool output = v->kind == GRA_VALUE && v->column == GRA_COLUMN_OF_DY &&
                            (v->row == -1 || v->row == GRA_ROW_OF_DY);
        if (!(v->kind == GRA_ONE || output) || !one_sum(w, v))
            continue;
        gra_fits(w, "a term with the sum (or mean) over dimension %d of dy%s%s is missing or wrong; the "
                 "other terms are right", d, output ? " " : "", output ? v->name : "");
        return true;
    }
    gra_fits(w, "one sum over dimension %d of dy is missing or wrong, or its weights are: in each row all "
             "that is off is a multiple of one such sum", d);
    return true;
}
