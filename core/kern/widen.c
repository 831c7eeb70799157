/* widen: see widen.h. */
#include "widen.h"
#include "gemv.h"

enum { LINE = 16, PANEL = 2 * LINE };   /* words of a line, rows of a panel */

struct product {
    gra_mat         x, y;
    const uint32_t *panels;
    const real     *bias;
};

/* Converts between bfloat16 and float as bits. In libgradus64 no matrix is held as bfloat16. */
static inline real widened(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (real)x;
}

static uint32_t rounded(real value)
{
    const float x = (float)value;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? bits >> 16 | 0x40 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

size_t gra_panels_words(gra_shape w)
{
    return ((size_t)w.dim[0] + PANEL - 1) / PANEL * LINE * (size_t)w.dim[1];
}

/* The word of (row, 0), and the shift of its half: 0, or 16 for the upper half. A row's words are LINE
 * apart. */
static size_t place_of(gra_shape w, int row, int *shift)
{
    *shift = row % PANEL < LINE ? 0 : 16;
    return (size_t)(row / PANEL) * LINE * (size_t)w.dim[1] + (size_t)(row % LINE);
}

void gra_panels_fill(uint32_t *panels, gra_shape w, const real *values)
{
    int shift;
    memset(panels, 0, gra_panels_words(w) * sizeof *panels);
    for (int i = 0; i < w.dim[0]; i++) {
        uint32_t *at = panels + place_of(w, i, &shift);
        for (int j = 0; j < w.dim[1]; j++, at += LINE)
            *at |= rounded(*values++) << shift;
    }
}

void gra_panels_row(const uint32_t *panels, gra_shape w, int row, real *to)
{
    int shift;
    const uint32_t *at = panels + place_of(w, row, &shift);
    for (int j = 0; j < w.dim[1]; j++, at += LINE)
        to[j] = widened(*at >> shift << 16);
}

/* Adds the products of n columns to the sums of a panel's rows, which stay in registers meanwhile. */
static inline __attribute__((always_inline))
void add(int n, const real *restrict x, const uint32_t *restrict w, real *restrict sum)
{
    for (int l = 0; l < LINE; l++)
        for (int p = 0; p < n; p++) {
            sum[l] += x[p] * widened(w[p * LINE + l] << 16);
            sum[LINE + l] += x[p] * widened(w[p * LINE + l] & 0xFFFF0000);
        }
}

/* Multiplies row x by one panel, which holds `rows` rows of w, in pieces of GRA_DEPTH, as in gemm. */
static inline void row_of(const real *x, int k, const uint32_t *w, int rows, const real *bias, real *y)
{
    for (int p = 0, end; p < k; p = end) {
        real sum[PANEL] = { 0 };
        const real *to = p > 0 ? y : bias;
        end = k - p < GRA_DEPTH ? k : p + GRA_DEPTH;
        for (; p + 4 <= end; p += 4)
            add(4, x + p, w + p * LINE, sum);
        for (; p < end; p++)
            add(1, x + p, w + p * LINE, sum);
        for (int j = 0; j < rows; j++)
            y[j] = to ? sum[j] + to[j] : sum[j];
    }
}

static inline void multiply(struct product *s, size_t from, size_t to)          /* panels */
{
    const int k = s->x.cols;
    for (int j = (int)from * PANEL; j < s->y.cols && j < (int)to * PANEL; j += PANEL)
        for (int i = 0; i < s->x.rows; i++)             /* row after row: the panel is still cached */
            row_of(s->x.p + i * s->x.row, k, s->panels + (size_t)j / PANEL * LINE * (size_t)k,
                   s->y.cols - j < PANEL ? s->y.cols - j : PANEL, s->bias ? s->bias + j : NULL,
                   s->y.p + i * s->y.row + j);
}

GRA_VARIANTS(multiply_on, multiply, struct product)

void gra_panels_linear(gra_machine *machine, gra_mat x, const uint32_t *panels, const real *bias,
                       gra_mat y)
{
    struct product s = { x, y, panels, bias };
    gra_kernel(machine, &s, ((size_t)y.cols + PANEL - 1) / PANEL, (size_t)x.rows * (size_t)x.cols * 8,
               multiply_on);
}
