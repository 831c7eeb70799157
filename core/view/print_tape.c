/* print_tape: a tape as a table, at most 80 characters wide. Each column is as wide as its widest text; if
 * the table is too wide, the widest columns become narrower, and texts that do not fit lose their middle. */
#include "view.h"

enum { LINE = GRA_ROW_COLUMNS };

static const struct {
    const char *heading;
    bool right;
    int  narrowed;          /* 0: never; else the factor of its width in finding the widest column */
} column[GRA_ROW] = {
    [GRA_ROW_NUMBER] = { "#", .right = true },      [GRA_ROW_LAYER]  = { "layer", .narrowed = 2 },
    [GRA_ROW_TITLE]  = { "op", .narrowed = 3 },     [GRA_ROW_SHAPE]  = { "shape", .narrowed = 3 },
    [GRA_ROW_INPUTS] = { "inputs", .narrowed = 3 }, [GRA_ROW_VALUE]  = { "value", .right = true },
    [GRA_ROW_GRAD]   = { "gradient", .right = true },
};

struct widths {
    int column[GRA_ROW];                /* 0: the column would be empty, and is omitted */
    int gap;                            /* between columns */
};

static int total(const struct widths *w)
{
    int sum = -w->gap;
    for (int c = 0; c < GRA_ROW; c++)
        sum += w->column[c] ? w->column[c] + w->gap : 0;
    return sum;
}

static void narrow_widest(struct widths *w)
{
    int widest = GRA_ROW_LAYER;
    for (int c = 0; c < GRA_ROW; c++)
        if (column[c].narrowed * w->column[c] > column[widest].narrowed * w->column[widest])
            widest = c;
    w->column[widest]--;
}

static struct widths choose_widths(const gra_listing *l)
{
    struct widths w = { .gap = 2 };
    char text[GRA_COLUMNS_TEXT];
    gra_row cell;
    for (int i = 0; i < l->count; i++) {
        gra_row_text(l, i, cell);
        for (int c = 0; c < GRA_ROW; c++) {
            const int heading = (int)strlen(column[c].heading);
            int n = gra_shortened(cell[c], LINE, text);
            n = n && n < heading ? heading : n;
            w.column[c] = n > w.column[c] ? n : w.column[c];
        }
    }
    w.gap = total(&w) > LINE ? 1 : 2;
    while (total(&w) > LINE)
        narrow_widest(&w);
    return w;
}

static void print_line(FILE *f, const struct widths *w, gra_row cell)
{
    int blanks = 0;                                     /* due before the next text */
    for (int c = 0; c < GRA_ROW; c++) {
        char text[GRA_COLUMNS_TEXT];
        const int width = w->column[c], n = width ? gra_shortened(cell[c], width, text) : 0;
        blanks += column[c].right ? width - n : 0;
        if (n) {
            fprintf(f, "%*s%s", blanks, "", text);
            blanks = 0;
        }
        blanks += (column[c].right ? 0 : width - n) + (width ? w->gap : 0);
    }
    fputc('\n', f);
}

void gra_fprint_tape(FILE *f, const gra_tape *t)
{
    gra_listing l;
    gra_row cell;
    gra_need_tape(t, __func__);
    if (!t->last)
        fprintf(f, "the tape is empty: %s\n", t->mode == GRA_EVAL ? "GRA_EVAL records nothing"
                : "nothing was computed that needs a gradient");
    else if (gra_listing_open(&l, t))
        fprintf(f, "the tape cannot be shown: out of memory\n");
    else {
        const struct widths w = choose_widths(&l);
        for (int c = 0; c < GRA_ROW; c++)
            snprintf(cell[c], sizeof cell[c], "%s", column[c].heading);
        print_line(f, &w, cell);
        for (int i = 0; i < l.count; i++) {
            gra_row_text(&l, i, cell);
            print_line(f, &w, cell);
        }
        gra_listing_close(&l);
    }
}

void gra_print_tape(const gra_tape *t)
{
    gra_need_tape(t, __func__);
    gra_fprint_tape(stdout, t);
}
