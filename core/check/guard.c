/* guard: watches what the ops write. A forward may write its result and what it saves, a backward the
 * gradients of its inputs, and nothing else. The guard detects two kinds of mistakes: a value of an input, of
 * the result or of dy that changed, and bytes written before the start or past the end of a tensor's memory.
 *
 * The memory that an op gets is uninitialised. The guard fills it with NaN, which reveals an op that reads
 * before it writes. ROOM bytes around each piece of memory hold a number. This number is so large that
 * reading it has an effect, and so small that adding to it has an effect too; each piece has a different
 * number, so copies can be recognised. After each op, the guard compares the room around the op's tensors
 * with this number; at the end of a step, the room around all memory.
 *
 * Reading these numbers affects only results computed from them: beyond.c runs a step again and changes some
 * numbers. */
#include "checking.h"
#include <stdlib.h>

enum { ROOM = GRA_WATCH_ROOM };
static const real other_number = (real)2.3e6;

/* ---- the memory -------------------------------------------------------------------------------- */

/* The number around piece i. */
static real number_around(size_t i)
{
    return (real)32.5 + (real)(i % 1024) / 1024;
}

/* Fills the room around piece i with the numbers from i GRA_ROOM_OF_PIECE on. */
static void fill_room(const gra_guard *g, size_t i, char *start, size_t bytes)
{
    const real usual = number_around(i);
    for (size_t j = 0; j < GRA_ROOM_OF_PIECE; j++) {
        const size_t at = j * sizeof(real);
        memcpy(at < ROOM ? start - ROOM + at : start + bytes + (at - ROOM),
               i * GRA_ROOM_OF_PIECE + j < g->changed ? &other_number : &usual, sizeof(real));
    }
}

static void on_alloc(void *watcher, void *memory, size_t bytes)
{
    gra_guard *g = watcher;
    fill_room(g, g->count, memory, bytes);
    memset(memory, 0xff, bytes);                        /* NaN, as doubles */
    if (g->count == g->places) {
        const size_t places = 2 * g->places + 64;
        gra_guarded *piece = realloc(g->piece, places * sizeof *piece);
        if (!piece)
            return;                                     /* not guarded */
        g->piece = piece;
        g->places = places;
    }
    g->piece[g->count++] = (gra_guarded){ memory, bytes };
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
    on_alloc(g, memory + ROOM, bytes);
    g->kept = g->count;
    return memory + ROOM;
}

void gra_guard_free(void *memory)
{
    if (memory)
        free((char *)memory - ROOM);
}

static bool filled(const char *room, real number)
{
    for (size_t at = 0; at < ROOM; at += sizeof number)
        if (memcmp(room + at, &number, sizeof number) != 0)
            return false;
    return true;
}

/* Is the room before and after piece i unchanged? */
static bool intact_before(const gra_guard *g, size_t i)
{
    return filled(g->piece[i].start - ROOM, number_around(i));
}

static bool intact(const gra_guard *g, size_t i)
{
    return intact_before(g, i) && filled(g->piece[i].start + g->piece[i].bytes, number_around(i));
}

/* ---- what went wrong --------------------------------------------------------------------------- */

static const char *name_of(const gra_guard *g, const gra_tensor *x)
{
    for (int i = 0; i < g->check->nin; i++)
        if (g->check->input[i] == x)
            return g->check->tensor[i].name;
    return x->name;                                     /* NULL: not an input or a parameter */
}

/* "the backward of NAME changed its input x (3, 4)": what the op y did to x, or to y->saved if x is NULL */
static void report_violation(gra_guard *g, const gra_tensor *y, bool backward, const char *did,
                             const gra_tensor *x, const char *why)
{
    gra_line s = { .at = 0 };
    const char *name = x ? name_of(g, x) : NULL;
    gra_line_put(&s, "the %s of %s %s", backward ? "backward" : "forward", y->op->name, did);
    if (name)
        gra_line_put(&s, "%s %s", name, GRA_SHAPE_STRING(x->shape));
    else if (x == y)
        gra_line_put(&s, "its result %s", GRA_SHAPE_OF(x));
    else if (x)
        gra_line_put(&s, "its input from %s %s", x->op ? x->op->name : "a constant", GRA_SHAPE_OF(x));
    gra_line_put(&s, "%s", why);
    g->violated = true;
    snprintf(g->sentence, sizeof g->sentence, "%s", s.s);
    snprintf(g->tensor, sizeof g->tensor, "%s", name ? name : "");
}

/* ---- watching one op --------------------------------------------------------------------------- */

/* Checks the room around a tensor: the op may have written past its ends. */
static void look_around(gra_guard *g, const gra_tensor *y, bool backward, const void *memory,
                        const char *what, const gra_tensor *x)
{
    for (size_t i = 0; i < g->count && !g->violated; i++) {
        if (g->piece[i].start != memory || intact(g, i))
            continue;
        char did[64];
        snprintf(did, sizeof did, "wrote %s of %s", intact_before(g, i) ? "past the end"
                                                                        : "before the start", what);
        report_violation(g, y, backward, did, x, "");
    }
}

/* Keeps a copy of the values that y's op may not change, or compares them with the copy: the values of its
 * inputs and, in a backward, the values of its result and dy. */
static void keep(gra_guard *g, const gra_tensor *y, bool backward, bool compare, real *was)
{
    const int nin = y->nin, all = nin + (backward ? 2 : 0);
    for (int i = 0; i < all; i++) {
        const gra_tensor *x = i < nin ? y->in[i] : y;
        const bool is_dy = i > nin;
        if (!x || x->size == 0)
            continue;
        const real *now = is_dy ? y->grad : x->data;
        if (!compare)
            memcpy(was, now, x->size * sizeof(real));
        else if (!g->violated && memcmp(was, now, x->size * sizeof(real)) != 0)
            report_violation(g, y, backward, is_dy ? "changed dy, the gradient of "
                   : i < nin && name_of(g, x) ? "changed its input " : "changed ", x,
                   ": it may read these values, but not write them");
        was += x->size;
    }
}

/* The line to print if y's backward crashes: the usual cause is an input without a gradient. */
static gra_line crash_line(const gra_guard *g, const gra_tensor *y)
{
    gra_line s = { .at = 0 };
    int constants = 0, last = 0;
    gra_line_put(&s, "the backward of %.80s crashed", y->op->name);
    for (int i = 0; i < y->nin; i++) {
        if (!y->in[i] || y->in[i]->grad)
            continue;
        const char *name = name_of(g, y->in[i]);
        gra_line_put(&s, constants++ ? " and input %d" : " while input %d", last = i);
        if (name)
            gra_line_put(&s, " (%.80s)", name);
    }
    if (constants == 1)
        gra_line_put(&s, " was a constant, whose gradient is NULL: test y->in[%d]->grad before adding to it",
                     last);
    else if (constants)
        gra_line_put(&s, " were constants, whose gradients are NULL: test each y->in[i]->grad before adding "
                     "to it");
    else
        gra_line_put(&s, ", though no gradient was NULL: does it go past an end of a tensor?");
    return s;
}

/* Copies the values that y's forward or backward may not change, for a later comparison. */
static void before_run(void *watcher, gra_tensor *y, bool backward)
{
    gra_guard *g = watcher;
    size_t values = 2 * y->size;
    for (int i = 0; i < y->nin; i++)
        values += y->in[i] ? y->in[i]->size : 0;
    g->copy = g->violated ? NULL : malloc((values + 1) * sizeof(real));
    if (g->copy)
        keep(g, y, backward, false, g->copy);
    if (backward)
        g->crash = gra_crash_begin(crash_line(g, y).s);
}

static void after_run(void *watcher, gra_tensor *y, bool backward)
{
    gra_guard *g = watcher;
    if (backward)
        gra_crash_end(g->crash);
    if (!g->copy)
        return;
    keep(g, y, backward, true, g->copy);
    free(g->copy);
    g->copy = NULL;
    for (int i = -1; i < y->nin; i++) {
        const gra_tensor *x = i < 0 ? y : y->in[i];
        if (x) {
            look_around(g, y, backward, x->data, "the values of ", x);
            look_around(g, y, backward, x->grad, "the gradient of ", x);
        }
    }
    look_around(g, y, backward, y->saved, "y->saved", NULL);
}

void gra_guard_look(gra_guard *g)
{
    for (size_t i = 0; i < g->count && !g->violated; i++) {
        if (intact(g, i))
            continue;
        g->violated = true;
        g->tensor[0] = '\0';
        snprintf(g->sentence, sizeof g->sentence, "something wrote past an end of memory that no running op "
                 "used: f itself, or an op far outside its own tensors?");
    }
}

void gra_guard_watch(gra_guard *g, bool on)
{
    static const gra_watch watch = { .on_alloc = on_alloc, .before_run = before_run, .after_run = after_run };
    gra_tape_watch(g->check->tape, GRA_WATCH_CHECK, on ? &watch : NULL, g);
}

/* ---- reads beyond an end: see beyond.c ------------------------------------------------------------- */

/* Names the piece of memory next to the last changed number, if y's op uses that piece. */
static void describe_memory(void *watcher, gra_tensor *y, bool backward)
{
    gra_guard *g = watcher;
    const size_t piece = (g->changed - 1) / GRA_ROOM_OF_PIECE;
    (void)backward;
    if (g->changed == 0 || piece >= g->count)
        return;
    const char *start = g->piece[piece].start;
    for (int i = -1; i < y->nin; i++) {
        const gra_tensor *x = i < 0 ? y : y->in[i];
        if (!x || (start != (char *)x->data && start != (char *)x->grad))
            continue;
        const char *name = name_of(g, x);
        snprintf(g->sentence, sizeof g->sentence, "%s%s%.80s %s",
                 start == (char *)x->data ? "" : "the gradient of ",
                 name || !x->op ? "" : "the result of ", name ? name : x->op ? x->op->name : "a constant",
                 GRA_SHAPE_STRING(x->shape));
    }
    if (start == (char *)y->saved)
        snprintf(g->sentence, sizeof g->sentence, "what the forward of %.80s saved", y->op->name);
}

void gra_guard_change(gra_guard *g, bool on, size_t changed)
{
    static const gra_watch watch = { .on_alloc = on_alloc, .before_run = describe_memory };
    g->changed = changed;
    for (size_t i = 0; i < g->kept; i++)
        fill_room(g, i, g->piece[i].start, g->piece[i].bytes);
    gra_tape_watch(g->check->tape, GRA_WATCH_CHECK, on ? &watch : NULL, g);
}

void gra_guard_begin(gra_guard *g, gra_checking *k)
{
    *g = (gra_guard){ .check = k };
}

void gra_guard_end(gra_guard *g)
{
    free(g->piece);
}
