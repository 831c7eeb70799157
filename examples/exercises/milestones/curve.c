/* curve: see curve.h. Each character has two places for a dot, an upper one (') and a lower one (.), so that
 * CURVE_ROWS lines show twice as many levels. */
#include "curve.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void curve_begin(struct curve *c, int steps)
{
    *c = (struct curve){ .steps = steps };
}

static double mean(const struct curve *c, int column)
{
    return c->count[column] ? c->sum[column] / c->count[column] : 0;
}

/* What is drawn in a row of a column, if the losses from low to high fill all rows. */
static char dot(const struct curve *c, int column, int row, double low, double high)
{
    const double share = high > low ? (mean(c, column) - low) / (high - low) : 1;
    const int level = (int)(share * (2 * CURVE_ROWS - 1) + 0.5);
    return !c->count[column] || level / 2 != row ? ' ' : level % 2 ? '\'' : '.';
}

static void draw(const struct curve *c)
{
    double low = mean(c, 0), high = low;
    for (int i = 0; i < CURVE_COLUMNS && c->count[i]; i++) {
        low = mean(c, i) < low ? mean(c, i) : low;
        high = mean(c, i) > high ? mean(c, i) : high;
    }
    for (int row = CURVE_ROWS - 1; row >= 0; row--) {
        char line[CURVE_COLUMNS + 1] = "";
        for (int i = 0; i < CURVE_COLUMNS; i++)
            line[i] = dot(c, i, row, low, high);
        if (row == CURVE_ROWS - 1 || row == 0)
            printf("%7.2f |%s\n", row ? high : low, line);
        else
            printf("%7s |%s\n", row == CURVE_ROWS / 2 ? "loss" : "", line);
    }
    printf("%7s +", "");
    for (int i = 0; i < CURVE_COLUMNS; i++)
        putchar('-');
    printf("\n%9sstep 1%*d\n", "", CURVE_COLUMNS - 6, c->steps);
    fflush(stdout);
}

static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

void curve_add(struct curve *c, double loss)
{
    const int column = c->done * CURVE_COLUMNS / c->steps;
    c->sum[column] += loss;
    c->count[column]++;
    c->done++;
    const bool full = c->done * CURVE_COLUMNS / c->steps > column;
    if (c->done < c->steps && !(full && is_terminal()))
        return;
    if (c->drawn)
        printf("\033[%dA", CURVE_ROWS + 2);             /* over the one that was drawn before */
    draw(c);
    c->drawn = true;
}
