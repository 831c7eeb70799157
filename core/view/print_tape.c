/* print_tape: a tape as a table, at most 80 characters wide. Each column is as wide as its widest text; if
 * the sum is too large, the widest columns are narrowed, and texts that do not fit lose their middle. */
#include "view.h"

enum { LINE = 80 };
enum { NUMBER, LAYER, TITLE, SHAPE, INPUTS, VALUE, GRAD, COLUMNS };

static const struct {
    const char *heading;
    bool right;
    int  narrowed;          /* 0: never; else the factor of its width when the widest is chosen */
} column[COLUMNS] = {
    [NUMBER] = { "#", .right = true },     [LAYER] = { "layer", .narrowed = 2 },
    [TITLE] = { "op", .narrowed = 3 },     [SHAPE] = { "shape", .narrowed = 3 },
    [INPUTS] = { "inputs", .narrowed = 3 }, [VALUE] = { "value", .right = true },
    [GRAD] = { "gradient", .right = true },
};

struct widths {
    int column[COLUMNS];                /* 0: it would be empty, and is left out */
    int gap;                            /* between columns */
};
typedef char cells[COLUMNS][GRA_COLUMNS_TEXT];

/* "3, weight, bias"; if there are more than 5, the first 3 and the last. */
static void inputs_text(const gra_tensor *y, const char *path, char *text)
{
    const int n = y->nin;
    char all[5 * GRA_COLUMNS_TEXT], label[GRA_COLUMNS_TEXT];
    size_t at = 0;
    all[0] = '\0';
    for (int k = 0; k < n; k++) {
        const char *comma = at ? ", " : "";
        if (!y->in[k])
            continue;
        if (n > 5 && k == 3) {
            comma = ", ... ";
            k = n - 1;
        }
        gra_label_text(y->in[k], path, label);
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", comma, label);
    }
    gra_shortened(all, LINE, text);
}

static void row_text(const gra_listing *l, int row, cells cell)
{
    const gra_tensor *x = l->row[row].x;
    const int number = gra_node_number(x);
    char path[GRA_PATH], text[GRA_COLUMNS_TEXT];
    memset(cell, 0, sizeof(cells));
    if (number >= 0)
        snprintf(cell[NUMBER], sizeof cell[NUMBER], "%d", number);
    gra_shortened(gra_listing_path(l, row, path), LINE, cell[LAYER]);
    gra_title_text(x, text);
    gra_shortened(text, LINE, cell[TITLE]);
    gra_shortened(GRA_SHAPE_STRING(x->shape), LINE, cell[SHAPE]);
    if (number >= 0)
        inputs_text(x, path, cell[INPUTS]);
    gra_size_text(x, x->data, cell[VALUE]);
    gra_size_text(x, gra_kept_grad(x), cell[GRAD]);
}

static int total(const struct widths *w)
{
    int sum = -w->gap;
    for (int c = 0; c < COLUMNS; c++)
        sum += w->column[c] ? w->column[c] + w->gap : 0;
    return sum;
}

static void narrow_widest(struct widths *w)
{
    int widest = LAYER;
    for (int c = 0; c < COLUMNS; c++)
        if (column[c].narrowed * w->column[c] > column[widest].narrowed * w->column[widest])
            widest = c;
    w->column[widest]--;
}

static struct widths choose_widths(const gra_listing *l)
{
    struct widths w = { .gap = 2 };
    char text[GRA_COLUMNS_TEXT];
    cells cell;
    for (int i = 0; i < l->count; i++) {
        row_text(l, i, cell);
        for (int c = 0; c < COLUMNS; c++) {
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

static void print_line(FILE *f, const struct widths *w, cells cell)
{
    int blanks = 0;                                     /* due before the next text */
    for (int c = 0; c < COLUMNS; c++) {
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
    cells cell;
    gra_need_tape(t, __func__);
    if (!t->last)
        fprintf(f, "the tape is empty: %s\n", t->mode == GRA_EVAL ? "GRA_EVAL records nothing"
                : "nothing was computed that needs a gradient");
    else if (gra_listing_open(&l, t))
        fprintf(f, "the tape cannot be shown: out of memory\n");
    else {
        const struct widths w = choose_widths(&l);
        for (int c = 0; c < COLUMNS; c++)
            snprintf(cell[c], sizeof cell[c], "%s", column[c].heading);
        print_line(f, &w, cell);
        for (int i = 0; i < l.count; i++) {
            row_text(&l, i, cell);
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
