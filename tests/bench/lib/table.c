/* table: rows of figures, aligned for readers or separated by tabs for machines. For machines each row begins
 * with the name of its table, and the row of column names with a # before it. */
#include "bench.h"
#include <stdarg.h>

/* Titles stand over the right end of numbers and the left end of text. */
static int pad(const column *c)
{
    return c->digits == TEXT ? -c->width : c->width;
}

static void print_groups(const table *t)
{
    int at = 0, start = 0;
    for (int i = 0; i < t->columns; i++) {
        const column *c = &t->column[i];
        const int title = start + c->width - (int)strlen(c->title);     /* where the title begins */
        if (c->group)
            at += printf("%*s%s", title - at, "", c->group);
        start += c->width;
    }
    if (at)
        printf("\n");
}

table table_begin(const bench *b, const char *name, const char *sentence, int columns, const column *c)
{
    table t = { .b = b, .name = name, .column = c, .columns = columns };
    if (b->tsv) {
        printf("#%s", name);
        for (int i = 0; i < columns; i++)
            printf("\t%s", c[i].key);
        printf("\n");
        return t;
    }
    printf("\n%s: %s\n", name, sentence);
    print_groups(&t);
    for (int i = 0; i < columns; i++)
        printf("%*s", pad(&c[i]), c[i].title);
    printf("\n");
    return t;
}

static void cell(table *t, const char *text)
{
    const column *c = &t->column[t->at];
    if (t->b->tsv)
        printf("%s\t%s", t->at ? "" : t->name, text);
    else
        printf("%*s", pad(c), text);
    if (++t->at == t->columns) {
        t->at = 0;
        printf("\n");
        fflush(stdout);
    }
}

void table_text(table *t, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cell(t, text);
}

void table_number(table *t, double x)
{
    if (isnan(x))
        table_text(t, "%s", t->b->tsv ? "" : "-");
    else if (t->b->tsv)
        table_text(t, "%.6g", x);
    else
        table_text(t, "%.*f", t->column[t->at].digits, x);
}

const char *thread_text(int threads, char text[32])
{
    snprintf(text, 32, threads == 1 ? "1 thread" : "%d threads", threads);
    return text;
}
