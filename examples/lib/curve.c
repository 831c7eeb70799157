/* curve: the loss curve as characters.
 *
 * A character holds several points: with UTF-8 2 x 4 of them as a Braille pattern, else 1 x 2 as ' or
 * . or both, which is : . The training loss is a mean over the steps around a column of points, joined
 * by a line; the first column is step 1 alone, where a mean would hide from how high it came. */
#include "curve.h"
#include "say.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 15, COLUMNS = 68, ACROSS = 2, DOWN = 4 };     /* characters, at most; points in one */

typedef struct canvas {
    int           columns;                      /* characters in a row */
    int           across, down;                 /* points in a character */
    unsigned char points[ROWS][COLUMNS];        /* of each: bit y * across + x */
    bool          mark[ROWS][COLUMNS];          /* a validation loss stands there */
    double        low, high;                    /* the loss at the bottom and at the top */
} canvas;

void curve_add(curve *c, long step, double train, double val)
{
    int b = (int)((double)(step - 1) * CURVE_BINS / (double)c->steps);
    if (!isnan(train)) {
        c->sum[b] += train;
        c->count[b]++;
    }
    if (!isnan(val)) {
        c->val[b] = val;
        c->has_val[b] = true;
    }
    if (step == 1)
        c->first = train;
    c->last = step;
}

/* The bins of which the run filled some part. */
static int used_bins(const curve *c)
{
    return (int)ceil((double)c->last * CURVE_BINS / (double)c->steps);
}

/* Means of the bins under and beside each of n columns of points, after that of step 1; NaN where there
 * was no step. */
static void column_means(const curve *c, int n, double *mean)
{
    int used = used_bins(c);
    double sum[COLUMNS * ACROSS] = { 0 };
    long count[COLUMNS * ACROSS] = { 0 };
    for (int b = 0; b < used; b++) {
        int i = (int)((long)b * n / used);
        sum[i] += c->sum[b];
        count[i] += c->count[b];
    }
    for (int i = 0; i < n; i++) {
        double total = 0;
        long steps = 0;
        for (int j = i > 2 ? i - 2 : 0; j <= i + 2 && j < n && count[i]; j++) {
            total += sum[j];
            steps += count[j];
        }
        mean[i] = steps ? total / (double)steps : (double)NAN;
    }
    mean[0] = c->first;
}

static void find_range(canvas *v, const curve *c, const double *mean, int n)
{
    v->low = HUGE_VAL;
    v->high = -HUGE_VAL;
    for (int i = 0; i < n; i++) {
        v->low = fmin(v->low, mean[i]);         /* fmin and fmax pass over NaN */
        v->high = fmax(v->high, mean[i]);
    }
    for (int b = 0; b < CURVE_BINS; b++) {
        v->low = c->has_val[b] ? fmin(v->low, c->val[b]) : v->low;
        v->high = c->has_val[b] ? fmax(v->high, c->val[b]) : v->high;
    }
    double margin = 0.02 * (v->high - v->low) + 1e-3;
    v->low -= margin;
    v->high += margin;
}

/* The row of points, counted from the top, of a loss. */
static int row_of(const canvas *v, double loss, int rows)
{
    int row = (int)((v->high - loss) / (v->high - v->low) * rows);
    return row < 0 ? 0 : row >= rows ? rows - 1 : row;
}

static void set_point(canvas *v, int x, int y)
{
    int bit = y % v->down * v->across + x % v->across;
    v->points[y / v->down][x / v->across] |= (unsigned char)(1 << bit);
}

static void draw_training(canvas *v, const double *mean, int n)
{
    int before = -1, y0 = 0;
    for (int i = 0; i < n; i++) {
        if (isnan(mean[i]))
            continue;
        int y1 = row_of(v, mean[i], ROWS * v->down);
        for (int x = before < 0 ? i : before + 1; x <= i; x++) {       /* across columns without a step */
            int from = before < 0 ? y1 : y0 + (y1 - y0) * (x - 1 - before) / (i - before);
            int to = before < 0 ? y1 : y0 + (y1 - y0) * (x - before) / (i - before);
            for (int y = from < to ? from : to; y <= (from < to ? to : from); y++)
                set_point(v, x, y);
        }
        before = i;
        y0 = y1;
    }
}

static void draw_validation(canvas *v, const curve *c)
{
    int used = used_bins(c);
    for (int b = 0; b < used; b++)
        if (c->has_val[b])
            v->mark[row_of(v, c->val[b], ROWS)][(int)((long)b * v->columns / used)] = true;
}

/* Braille numbers its points down the left column, then the right, and the lowest row last. */
static int braille(unsigned points, char *out)
{
    static const unsigned char dot[8] = { 0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80 };
    unsigned code = 0x2800;
    for (int i = 0; i < 8; i++)
        code |= points >> i & 1 ? dot[i] : 0u;
    return sprintf(out, "%c%c%c", (int)(0xE0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3F)),
                   (int)(0x80 | (code & 0x3F)));
}

static int print_row(const canvas *v, int row, bool utf8)
{
    char line[COLUMNS * 3 + 1];
    int at = 0;
    for (int i = 0; i < v->columns; i++) {
        unsigned points = v->points[row][i];
        if (v->mark[row][i])
            at += sprintf(line + at, "%s", utf8 ? "\xE2\x97\x8F" : "o");
        else if (utf8 && points)
            at += braille(points, line + at);
        else
            line[at++] = " '.:"[points & 3];
    }
    line[at] = 0;
    double loss = v->high - (v->high - v->low) * (row + 0.5) / ROWS;
    if (row % 2 == 0)
        return say("%8.2f %s%s\n", loss, utf8 ? "\xE2\x94\xA4" : "+", line);
    return say("%8s %s%s\n", "", utf8 ? "\xE2\x94\x82" : "|", line);
}

static int print_axis(const curve *c, int columns, bool utf8)
{
    char axis[COLUMNS * 3 + 1] = "", first[8] = "1", middle[32], last[24];
    for (int i = 0, at = 0; i < columns; i++)
        at += sprintf(axis + at, "%s", utf8 ? "\xE2\x94\x80" : "-");
    snprintf(middle, sizeof middle, "step %ld", (c->last + 1) / 2);
    snprintf(last, sizeof last, "%ld", c->last);
    int half = columns / 2 + (int)strlen(middle) / 2;
    return say("%8s %s%s\n%10s%s%*s%*s\n", "", utf8 ? "\xE2\x94\x94" : "+", axis, "", first,
               half - (int)strlen(first), middle, columns - half, last);
}

int curve_print(const curve *c, bool utf8)
{
    canvas v = { .columns = say_columns() - 12, .across = utf8 ? ACROSS : 1, .down = utf8 ? DOWN : 2 };
    double mean[COLUMNS * ACROSS];
    int n = v.columns * v.across;
    column_means(c, n, mean);
    find_range(&v, c, mean, n);
    draw_training(&v, mean, n);
    draw_validation(&v, c);
    if (say("\n%8s   %s training   %s validation\n", "loss", utf8 ? "\xE2\xA0\xA4\xE2\xA0\xA4" : "..",
            utf8 ? "\xE2\x97\x8F" : "o"))
        return -1;
    for (int row = 0; row < ROWS; row++)
        if (print_row(&v, row, utf8))
            return -1;
    return print_axis(c, v.columns, utf8);
}
