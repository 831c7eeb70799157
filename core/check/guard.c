/* guard: looks on while ops work. A forward may write its result and what it saves, a backward the gradients
 * of its inputs, and nothing else. Seen are: a value of an input, of the result or of dy that changed, and
 * bytes written before or behind any piece of the step's memory, or of the parameters'.
 *
 * Memory that an op gets is uninitialised: here it is NaN, so that whoever reads it before writing shows.
 * The room around it holds a number, large enough to show where it is read, and small enough that what is
 * added to it shows too.
 *
 * A value that changed is seen when the op returns. The rooms around all pieces are looked at once, at the end of
 * a step; only where one is spoilt is the step repeated, and they are looked at after each op, which names it. */
#include "checking.h"
#include <stdlib.h>

enum { ROOM = GRA_WATCH_ROOM, FILL = 0x40 };            /* eight of these bytes are the double 32.5 */

static void made(gra_watch *w, void *memory, size_t bytes)
{
    gra_guard *g = (gra_guard *)(void *)w;
    char *p = memory;
    memset(p - ROOM, FILL, ROOM);
    memset(p, 0xff, bytes);                             /* NaN, as doubles */
    memset(p + bytes, FILL, ROOM);
    if (g->count == g->places) {
        const size_t places = 2 * g->places + 64;
        gra_piece_of_memory *piece = realloc(g->piece, places * sizeof *piece);
        if (!piece)
            return;                                     /* not guarded */
        g->piece = piece;
        g->places = places;
    }
    g->piece[g->count++] = (gra_piece_of_memory){ p, bytes };
}

void gra_guard_step(gra_guard *g)
{
    g->count = g->kept;
}

void *gra_guard_memory(gra_guard *g, size_t bytes)
{
    char *memory = malloc(bytes + 2 * ROOM);
    if (!memory)
        return NULL;
    made(&g->watch, memory + ROOM, bytes);
    g->kept = g->count;
    return memory + ROOM;
}

void gra_guard_free(void *memory)
{
    if (memory)
        free((char *)memory - ROOM);
}

/* ---- what went wrong ---- */

static const char *name_of(const gra_guard *g, const gra_tensor *x)
{
    for (int i = 0; i < g->check->nin; i++)
        if (g->check->input[i] == x)
            return g->check->tensor[i].name;
    return x->name;                                     /* NULL: neither an input nor a parameter */
}

static void put_tensor(gra_check_line *s, const gra_guard *g, const gra_tensor *y, const gra_tensor *x)
{
    const char *name = name_of(g, x);
    if (name)
        gra_check_put(s, "%s", name);
    else if (x == y)
        gra_check_put(s, "its result");
    else
        gra_check_put(s, "its input from %s", x->op ? x->op->name : "a constant");
    gra_check_put(s, " %s", GRA_SHAPE_OF(x));
}

static void begin(gra_guard *g, gra_check_line *s, const gra_tensor *y, bool backward)
{
    *s = (gra_check_line){ .at = 0 };
    g->guilty = true;
    gra_check_put(s, "the %s of %s ", backward ? "backward" : "forward", y->op->name);
}

static void end(gra_guard *g, const gra_check_line *s, const char *tensor)
{
    snprintf(g->sentence, sizeof g->sentence, "%s", s->s);
    snprintf(g->tensor, sizeof g->tensor, "%s", tensor ? tensor : "");
}

static void changed(gra_guard *g, const gra_tensor *y, bool backward, const char *what, const gra_tensor *x)
{
    gra_check_line s;
    begin(g, &s, y, backward);
    gra_check_put(&s, "changed %s", what);
    put_tensor(&s, g, y, x);
    gra_check_put(&s, ": it may read these values, not write them");
    end(g, &s, name_of(g, x));
}

static void wrote_past(gra_guard *g, const gra_tensor *y, bool backward, const gra_piece_of_memory *piece,
                       bool before)
{
    gra_check_line s;
    const gra_tensor *of = NULL;
    const char *what = NULL;
    for (int i = -1; i < y->nin && !what; i++) {
        const gra_tensor *x = i < 0 ? y : y->in[i];
        if (!x)
            continue;
        what = (char *)x->grad == piece->start ? "the gradient of " : (char *)x->data == piece->start
                                                                      ? "the values of " : NULL;
        of = x;
    }
    begin(g, &s, y, backward);
    gra_check_put(&s, "wrote %s of ", before ? "before the start" : "past the end");
    if (what) {
        gra_check_put(&s, "%s", what);
        put_tensor(&s, g, y, of);
    } else if ((char *)y->saved == piece->start) {
        gra_check_put(&s, "y->saved");
    } else {
        gra_check_put(&s, "memory that is none of its tensors'");
    }
    end(g, &s, what ? name_of(g, of) : NULL);
}

/* ---- looking on ---- */

static bool filled(const char *room)
{
    for (size_t i = 0; i < ROOM; i++)
        if (room[i] != FILL)
            return false;
    return true;
}

/* A piece whose room was written to; NULL: there is none. */
static const gra_piece_of_memory *spoilt(const gra_guard *g, bool *before)
{
    for (size_t i = 0; i < g->count; i++) {
        const gra_piece_of_memory *p = &g->piece[i];
        *before = !filled(p->start - ROOM);
        if (*before || !filled(p->start + p->bytes))
            return p;
    }
    return NULL;
}

static void look_around(gra_guard *g, const gra_tensor *y, bool backward)
{
    bool before;
    const gra_piece_of_memory *p = g->guilty ? NULL : spoilt(g, &before);
    if (p)
        wrote_past(g, y, backward, p, before);
}

bool gra_guard_repeat(gra_guard *g)
{
    bool before;
    if (g->guilty || !spoilt(g, &before))
        return false;
    if (g->closely) {                                   /* this is the repeated step, and no op was seen */
        const gra_check_line s = { .s = "something wrote past an end of its memory outside of any op's forward or "
                                        "backward: f itself?" };
        g->guilty = true;
        end(g, &s, NULL);
        return false;
    }
    g->closely = true;
    for (size_t i = 0; i < g->kept; i++) {
        memset(g->piece[i].start - ROOM, FILL, ROOM);
        memset(g->piece[i].start + g->piece[i].bytes, FILL, ROOM);
    }
    return true;
}

static bool differs(const real *a, const real *b, size_t n)
{
    return n && memcmp(a, b, n * sizeof(real)) != 0;
}

static void work(gra_watch *w, gra_tensor *y, void (*f)(gra_tensor *y))
{
    gra_guard *g = (gra_guard *)(void *)w;
    const bool backward = y->grad;
    size_t values = backward ? 2 * y->size : 0;
    for (int i = 0; i < y->nin; i++)
        values += y->in[i] ? y->in[i]->size : 0;
    real *copy = malloc((values + 1) * sizeof(real)), *at = copy;
    if (!copy || g->guilty) {
        f(y);
        free(copy);
        return;
    }
    for (int i = 0; i < y->nin; i++)
        if (y->in[i] && y->in[i]->size) {
            memcpy(at, y->in[i]->data, y->in[i]->size * sizeof(real));
            at += y->in[i]->size;
        }
    if (backward && y->size) {
        memcpy(at, y->data, y->size * sizeof(real));
        memcpy(at + y->size, y->grad, y->size * sizeof(real));
    }

    f(y);

    at = copy;
    for (int i = 0; i < y->nin; i++)
        if (y->in[i]) {
            if (!g->guilty && differs(at, y->in[i]->data, y->in[i]->size))
                changed(g, y, backward, "its input ", y->in[i]);
            at += y->in[i]->size;
        }
    if (backward && !g->guilty && differs(at, y->data, y->size))
        changed(g, y, backward, "", y);
    if (backward && !g->guilty && differs(at + y->size, y->grad, y->size))
        changed(g, y, backward, "dy, the gradient of ", y);
    free(copy);
    if (g->closely)
        look_around(g, y, backward);
}

void gra_guard_begin(gra_guard *g, gra_checking *k)
{
    *g = (gra_guard){ .watch = { made, work }, .check = k };
}

void gra_guard_end(gra_guard *g)
{
    free(g->piece);
}
