/* zeros: explanations in which some entries are zero that should not be, or the other way round. */
#include "explaining.h"

bool gra_all_zero(gra_wrong *w)
{
    for (size_t e = 0; e < w->size; e++)
        if (!gra_none(w, w->a[e]))
            return false;
    gra_fits(w, "all zero: the backward adds nothing here");
    return true;
}

bool gra_should_be_zero(gra_wrong *w)
{
    for (size_t e = 0; e < w->size; e++)
        if (!gra_none(w, w->n[e]))
            return false;
    gra_fits(w, "it should be zero: the loss does not depend on %s", w->x->name);
    return true;
}

/* Does the set treat all entries of a column (or of a row) alike, as far as they are in `of`? */
static bool whole_lines(const gra_wrong *w, bool columns)
{
    const size_t lines = columns ? w->cols : w->rows, length = columns ? w->rows : w->cols;
    for (size_t l = 0; l < lines; l++) {
        size_t in = 0, all = 0;
        for (size_t i = 0; i < length; i++) {
            const size_t e = columns ? i * w->cols + l : l * w->cols + i;
            in += w->of[e] && w->in[e];
            all += w->of[e];
        }
        if (in && in < all)
            return false;
    }
    return true;
}

/* Of the outputs that an element of x feeds, is the last (first) alone left? */
static bool one_left(const gra_wrong *w, bool last)
{
    for (size_t i = 0; i < w->cols; i++) {
        size_t left = w->rows;
        for (size_t j = 0; j < w->rows; j++)
            if (w->of[j * w->cols + i] && (last || left == w->rows))
                left = j;
        for (size_t j = 0; j < w->rows; j++)
            if (w->of[j * w->cols + i] && w->in[j * w->cols + i] != (j != left))
                return false;
    }
    return true;
}

/* The outputs that are left have one index along some dimensions, and no other output has: names it. */
static bool put_left(gra_check_line *s, const gra_wrong *w)
{
    size_t index[GRA_MAX_DIMS];
    bool one[GRA_MAX_DIMS], first = true;
    const gra_checking *k = w->check;
    for (size_t e = 0; e < w->size; e++)
        if (w->of[e] && !w->in[e]) {
            for (int d = 0; d < k->shape.ndim; d++) {
                const size_t i = gra_index_along(w, true, d, e / w->cols);
                one[d] = first || (one[d] && index[d] == i);
                index[d] = i;
            }
            first = false;
        }
    for (size_t e = 0; !first && e < w->size; e++) {    /* and nothing else is what the lost ones lack */
        bool left = true;
        for (int d = 0; d < k->shape.ndim; d++)
            left &= !one[d] || gra_index_along(w, true, d, e / w->cols) == index[d];
        if (w->of[e] && w->in[e] == left)
            return false;
    }
    for (int d = 0; !first && d < k->shape.ndim; d++)
        if (one[d] && k->shape.dim[d] > 1)
            gra_check_put(s, "%sindex %zu of dimension %d", s->at ? " and " : "", index[d], d);
    return s->at > 0;
}

/* In each row of x, along its last dimension, as far as it has a gradient: is one element missing, or all but one? */
static const char *one_of_each_row(const gra_wrong *w)
{
    const size_t n = w->x->shape.ndim ? (size_t)w->x->shape.dim[w->x->shape.ndim - 1] : 1;
    bool one = n > 2, others = n > 2;
    for (size_t start = 0; start < w->size && (one || others); start += n) {
        size_t in = 0, all = 0;
        for (size_t e = start; e < start + n; e++) {
            in += w->in[e];
            all += w->of[e];
        }
        one &= in == (all > 0);
        others &= in == all - (all > 0);
    }
    return one ? "zero in one element of each row" : others ? "zero but for one element of each row" : NULL;
}

static void tell_missing(gra_wrong *w, const char *rest)
{
    gra_check_line s = { .at = 0 };
    size_t first = 0;
    if (whole_lines(w, true)) {
        if (gra_put_where(&s, w))
            gra_fits(w, "zero %s; %s", s.s, rest);
        else if (one_of_each_row(w))
            gra_fits(w, "%s (the target's?); %s", one_of_each_row(w), rest);
        else {
            size_t columns = 0;
            for (size_t i = 0; i < w->cols; i++) {
                bool in = false;
                for (size_t j = 0; j < w->rows; j++)
                    in |= w->in[j * w->cols + i];
                if (in && columns++ == 0)
                    first = i;
            }
            gra_fits(w, "zero in %zu of %zu elements, the first of them %zu; %s", columns, w->cols, first, rest);
        }
    } else if (whole_lines(w, false) && put_left(&s, w)) {
        if (w->overwrites)
            gra_fits(w, "only %s of the output is left, since each overwrites the one before", s.s);
        else
            gra_fits(w, "only %s of the output was added: %s needs the sum over all of them", s.s, w->x->name);
    } else if (one_left(w, true) || one_left(w, false))
        gra_fits(w, "where several outputs use one element of %s, only the %s of them counts: add all of them up (+=)",
                 w->x->name, one_left(w, true) ? "last" : "first");
    else {
        gra_put_places(&s, w);
        gra_fits(w, "nothing arrives %s; %s", s.s, rest);
    }
}

static void tell_extra(gra_wrong *w, const char *rest)
{
    gra_check_line s = { .at = 0 };
    size_t columns = 0;
    bool whole = true;                  /* the output does not depend on these elements of x at all */
    for (size_t i = 0; i < w->cols; i++) {
        bool used = false, given = false;
        for (size_t e = i; e < w->size; e += w->cols) {
            used |= !gra_none(w, w->n[e]);
            given |= w->in[e];
        }
        columns += given;
        whole &= !(used && given);
    }
    if (whole) {
        const bool named = gra_put_where(&s, w);
        gra_fits(w, "the loss does not depend on %zu of %zu elements of %s%s%s%s, but the backward gives them a "
                 "gradient: a mask is forgotten; %s", columns, w->cols, w->x->name, named ? " (those " : "", s.s,
                 named ? ")" : "", rest);
        return;
    }
    gra_put_extra(&s, w);
    gra_fits(w, "%s; %s", s.s, rest);
}

/* Some elements are masked that should not be, and the other way round: the outputs that too much comes from
 * depend on nothing. */
static bool another_mask(gra_wrong *w, bool both)
{
    for (size_t e = 0; e < w->size; e++)
        w->in[e] = gra_none(w, w->a[e]) != gra_none(w, w->n[e]);
    if (!whole_lines(w, true))
        return false;
    for (size_t e = 0; e < w->size; e++) {              /* what gets too much, and from where, is masked */
        const double *row = w->n + e / w->cols * w->cols;
        if (!w->in[e] || gra_none(w, w->a[e]))
            continue;
        for (size_t i = 0; i < w->cols; i++)
            if (!gra_none(w, row[i]))
                return false;
        for (size_t i = e % w->cols; i < w->size; i += w->cols)
            if (!gra_none(w, w->n[i]))
                return false;
    }
    gra_fits(w, both ? "zero where it should not be, and not zero where it should: the mask is not that of the forward"
                     : "zero exactly where it should not be: the mask is the wrong way round");
    return true;
}

/* Entries that are zero in one Jacobian alone; elsewhere the two agree, or but for a factor. */
bool gra_zeros_and_masks(gra_wrong *w)
{
    size_t both = 0, missing = 0, extra = 0;
    double an = 0, nn = 0;
    gra_check_line rest = { .at = 0 };
    for (size_t e = 0; e < w->size; e++) {
        const bool a = !gra_none(w, w->a[e]), n = !gra_none(w, w->n[e]);
        both += a && n;
        missing += n && !a;
        extra += a && !n;
        an += a && n ? w->a[e] * w->n[e] : 0;
        nn += a && n ? w->n[e] * w->n[e] : 0;
        w->of[e] = a || n;
    }
    double k = both ? an / nn : 1;
    if (fabs(k - 1) <= 1e-4)
        k = 1;
    for (size_t e = 0; e < w->size; e++)
        if (!gra_none(w, w->a[e]) && !gra_none(w, w->n[e]) && !gra_fit(w, w->a[e], k * w->n[e]))
            return false;
    if (missing && extra)
        return another_mask(w, both > 0);
    if (!missing == !extra || (k != 1 && both < 2))
        return false;
    if (k == 1)
        gra_check_put(&rest, "it is right elsewhere");
    else {
        gra_check_put(&rest, "elsewhere: ");
        gra_put_factor(&rest, w, k);
    }
    for (size_t e = 0; e < w->size; e++)
        w->in[e] = gra_none(w, w->a[e]) != gra_none(w, w->n[e]);
    if (missing)
        tell_missing(w, rest.s);
    else
        tell_extra(w, rest.s);
    return true;
}


/* On the diagonal alone is anything: the term with a sum over dy, which all but ops of single elements have, is
 * missing. */
bool gra_diagonal_alone(gra_wrong *w)
{
    size_t beside = 0;
    bool right = true;
    for (size_t e = 0; e < w->size; e++)
        if (e / w->cols == e % w->cols)
            right &= gra_fit(w, w->a[e], w->n[e]);
        else {
            beside += !gra_none(w, w->n[e]);
            if (!gra_none(w, w->a[e]))
                return false;
        }
    if (beside < 2 || !gra_same_shapes(w))
        return false;
    gra_fits(w, "only the diagonal: %s_i gets something from dy_i alone, but other outputs depend on %s_i too: the term "
             "with a sum over dy is missing%s", w->x->name, w->x->name, right ? "; what dy_i gives is right" : "");
    return true;
}
