/* row: see row.h. */
#include "row.h"
#include <math.h>
#include <stdio.h>

/* A number, or nothing for NaN. */
static void cell(char text[32], const char *format, double x)
{
    text[0] = 0;
    if (!isnan(x))
        snprintf(text, 32, format, x);
}

int row_text(const run_row *row, const corpus *x, char text[ROW_TEXT])
{
    char val[32], bits[32], speed[32];
    cell(val, "%.9g", row->val_loss);
    cell(bits, "%.9g", text_bits(x, row->val_loss));
    cell(speed, "%.0f", row->tokens_per_s);
    return snprintf(text, ROW_TEXT, "%ld\t%.9g\t%s\t%.9g\t%.9g\t%s\t%s\n", row->step, row->train_loss, val,
                    row->lr, row->grad_norm, speed, bits);
}
