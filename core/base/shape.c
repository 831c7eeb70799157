/* shape: sizes with overflow checks, shapes as text, dimensions, NumPy's broadcasting. */
#include "base.h"

bool gra_shape_size(gra_shape s, size_t *size)
{
    if (s.ndim < 0 || s.ndim > GRA_MAX_DIMS)
        return false;
    size_t n = 1;
    bool empty = false;
    for (int d = 0; d < s.ndim; d++) {
        if (s.dim[d] < 0)
            return false;
        if (s.dim[d] == 0)
            empty = true;
        else if (n > (size_t)PTRDIFF_MAX / sizeof(real) / (size_t)s.dim[d])
            return false;
        else
            n *= (size_t)s.dim[d];
    }
    *size = empty ? 0 : n;
    return true;
}

char *gra_shape_text(gra_shape s, char *text)
{
    size_t at = (size_t)snprintf(text, GRA_SHAPE_TEXT, "(");
    for (int d = 0; d < s.ndim; d++)
        at += (size_t)snprintf(text + at, GRA_SHAPE_TEXT - at, "%s%d", d ? ", " : "", s.dim[d]);
    snprintf(text + at, GRA_SHAPE_TEXT - at, ")");
    return text;
}

bool gra_same_shape(gra_shape a, gra_shape b)
{
    return a.ndim == b.ndim && memcmp(a.dim, b.dim, (size_t)a.ndim * sizeof(int)) == 0;
}

int gra_wrap_dim(gra_shape s, int d)
{
    if (d < 0)
        d += s.ndim;
    return d >= 0 && d < s.ndim ? d : -1;
}

int gra_dim(const gra_tensor *x, int d)
{
    d = x ? gra_wrap_dim(x->shape, d) : -1;
    return d < 0 ? 0 : x->shape.dim[d];
}

gra_shape gra_shape_without(gra_shape s, int d, bool keepdim)
{
    gra_shape less = { 0 };
    for (int i = 0; i < s.ndim; i++)
        if (i != d || keepdim)
            less.dim[less.ndim++] = i == d ? 1 : s.dim[i];
    return less;
}

gra_dim_split gra_split_dim(gra_shape s, int d)
{
    gra_dim_split a = { 1, (size_t)s.dim[d], 1 };
    for (int i = 0; i < d; i++)
        a.outer *= (size_t)s.dim[i];
    for (int i = d + 1; i < s.ndim; i++)
        a.inner *= (size_t)s.dim[i];
    return a;
}

gra_shape gra_place_of(gra_shape s, size_t i)
{
    for (int d = s.ndim - 1; d >= 0; d--) {
        const size_t n = (size_t)s.dim[d];
        s.dim[d] = (int)(i % n);
        i /= n;
    }
    return s;
}

/* ---- broadcasting: aligned at the right, two sizes agree or one is 1 ---- */

/* Size of the d-th dimension from the right, d = 1, 2, ...; a missing dimension counts as 1. */
static int from_right(gra_shape s, int d)
{
    return d <= s.ndim ? s.dim[s.ndim - d] : 1;
}

bool gra_broadcast(gra_shape a, gra_shape b, gra_shape *both)
{
    *both = (gra_shape){ .ndim = a.ndim > b.ndim ? a.ndim : b.ndim };
    for (int d = 1; d <= both->ndim; d++) {
        const int na = from_right(a, d), nb = from_right(b, d);
        if (na != nb && na != 1 && nb != 1)
            return false;
        both->dim[both->ndim - d] = na == 1 ? nb : na;
    }
    return true;
}

/* Strides of x in each of y's dimensions: 0 where x is stretched. */
static void strides_in(gra_shape y, gra_shape x, size_t *stride)
{
    size_t step = 1;
    for (int d = 1; d <= y.ndim; d++) {
        const int n = from_right(x, d);
        stride[y.ndim - d] = n == 1 ? 0 : step;
        step *= (size_t)n;
    }
}

gra_walk gra_walk_begin(gra_shape y, gra_shape a, gra_shape b, size_t from, size_t to)
{
    gra_walk w = { .y = from, .end = to };
    size_t sa[GRA_MAX_DIMS], sb[GRA_MAX_DIMS];
    strides_in(y, a, sa);
    strides_in(y, b, sb);
    for (int d = 0; d < y.ndim; d++) {          /* merge neighbours in which both operands are contiguous */
        size_t n = (size_t)y.dim[d];
        if (n == 1)
            continue;
        int l = w.ndim - 1;
        if (l >= 0 && w.stride_a[l] == n * sa[d] && w.stride_b[l] == n * sb[d]) {
            w.dim[l] *= n;
            w.stride_a[l] = sa[d];
            w.stride_b[l] = sb[d];
        } else {
            w.dim[w.ndim] = n;
            w.stride_a[w.ndim] = sa[d];
            w.stride_b[w.ndim] = sb[d];
            w.ndim++;
        }
    }
    if (w.ndim == 0) {                          /* y is one value */
        w.dim[0] = 1;
        w.ndim = 1;
    }
    if (from >= to)
        return w;
    size_t rest = from;
    for (int d = w.ndim - 1; d >= 0; d--) {
        w.at[d] = rest % w.dim[d];
        rest /= w.dim[d];
        w.a += w.at[d] * w.stride_a[d];
        w.b += w.at[d] * w.stride_b[d];
    }
    int l = w.ndim - 1;
    w.step_a = w.stride_a[l];
    w.step_b = w.stride_b[l];
    w.n = w.dim[l] - w.at[l] < to - from ? w.dim[l] - w.at[l] : to - from;
    return w;
}

void gra_walk_next(gra_walk *w)
{
    int d = w->ndim - 1;
    w->y += w->n;
    if (w->y >= w->end) {
        w->n = 0;
        return;
    }
    /* the end of the row: back to its first element */
    w->a -= w->at[d] * w->stride_a[d];
    w->b -= w->at[d] * w->stride_b[d];
    w->at[d] = 0;
    for (d--; d >= 0; d--) {
        w->a += w->stride_a[d];
        w->b += w->stride_b[d];
        if (++w->at[d] < w->dim[d])
            break;
        w->a -= w->dim[d] * w->stride_a[d];
        w->b -= w->dim[d] * w->stride_b[d];
        w->at[d] = 0;
    }
    size_t row = w->dim[w->ndim - 1], left = w->end - w->y;
    w->n = row < left ? row : left;
}
