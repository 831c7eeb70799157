/* sentences: the nodes of a formula as text, in the notation and with the glosses of names, for rules.c. */
#include "formula.h"
#include "judge.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { TEXT = 300 };

static void put(char *s, const char *format, ...) GRA_PRINTF(2, 3);
static void put(char *s, const char *format, ...)
{
    va_list args;
    const size_t n = strlen(s);
    va_start(args, format);
    vsnprintf(s + n, TEXT - n, format, args);
    va_end(args);
}

static char *empty(void)                /* one of twelve texts: a sentence needs a few at once */
{
    static char text[12][TEXT];
    static int next;
    next = (next + 1) % 12;
    text[next][0] = 0;
    return text[next];
}

const char *formula_name_text(const struct formula *f, int name)
{
    const struct name *a = &f->name[name];
    return a->gloss[0] ? a->gloss : a->text;
}

static void put_node(const struct formula *f, char *s, int i, bool inside);

static void put_list(const struct formula *f, char *s, const struct node *x, const char *between)
{
    for (int c = 0; c < x->n; c++) {
        put(s, "%s", c ? between : "");
        put_node(f, s, x->child[c], false);
    }
}

static void put_terms(const struct formula *f, char *s, const struct node *x)
{
    for (int c = 0; c < x->n; c++) {
        if (x->kind == PLUS)
            put(s, "%s", c ? x->minus[c] ? " - " : " + " : x->minus[c] ? "-" : "");
        else
            put(s, "%s", x->minus[c] ? c ? " / " : "1 / " : c ? " * " : "");
        put_node(f, s, x->child[c], x->kind == TIMES || x->minus[c]);
    }
}

static void put_node(const struct formula *f, char *s, int i, bool inside)
{
    static const char *const compared[] = { "<=", ">=", "!=", "<", ">", "=" };
    const struct node *x = &f->node[i];
    const bool bracket = inside && (x->kind == PLUS || x->kind == TEST || (x->kind == TIMES && x->n > 1));
    put(s, "%s", bracket ? "(" : "");
    switch (x->kind) {
    case NUMBER:
        if (x->number == acos(-1))
            put(s, "pi");
        else
            put(s, "%.6g", x->number);
        break;
    case SIZE:
        put(s, "%s", f->letter[x->of].size);
        break;
    case LETTER:
        put(s, "%c", f->letter[x->of].c);
        break;
    case READ:
    case HERE:
        put(s, "%s", formula_name_text(f, x->of));
        if (x->n && !f->name[x->of].gloss[0]) {
            put(s, "[");
            put_list(f, s, x, ", ");
            put(s, "]");
        }
        break;
    case PLUS:
    case TIMES:
        put_terms(f, s, x);
        break;
    case POWER:
        put_node(f, s, x->child[0], true);
        put(s, "^");
        put_node(f, s, x->child[1], true);
        break;
    case CALL:
        put(s, "%s(", f->function[x->of].name);
        put_list(f, s, x, ", ");
        put(s, ")");
        break;
    case TEST:
        put_node(f, s, x->child[0], false);
        put(s, " %s ", compared[x->of]);
        put_node(f, s, x->child[1], false);
        break;
    case CHOICE:
        put_node(f, s, x->child[1], true);
        put(s, " if ");
        put_node(f, s, x->child[0], false);
        put(s, ", else ");
        put_node(f, s, x->child[2], true);
        break;
    case OVER:
        put(s, "the %s over %c of ", x->largest ? "maximum" : x->divisor != NONE ? "mean" : "sum",
            f->letter[x->of].c);
        put_node(f, s, x->child[0], true);
        break;
    }
    put(s, "%s", bracket ? ")" : "");
}

const char *formula_text(const struct formula *f, int i)
{
    char *s = empty();
    put_node(f, s, i, f->node[i].kind == PLUS);
    return s;
}

/* "k * n + i": the index as C would write it. */
const char *formula_place(const struct formula *f, int i)
{
    char *s = empty();
    const struct node *x = &f->node[i];
    for (int d = 0; d < x->n; d++) {
        if (d) {
            char was[TEXT];
            const int by = x->by[d];
            const bool sum = strpbrk(s, "+-") != NULL;
            snprintf(was, sizeof was, "%s", s);
            s[0] = 0;
            if (by != NONE && f->node[by].kind == NUMBER)
                put(s, "%s + ", was);
            else
                put(s, sum ? "(%s) * %s + " : "%s * %s + ", was, by == NONE
                    ? f->letter[f->name[x->of].dim[d]].size : f->letter[f->node[by].of].size);
        }
        put_node(f, s, x->child[d], false);
    }
    return s;
}
