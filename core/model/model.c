/* model: the list of named parameters, and the memory that lives as long as the model.
 *
 * Parameters are visited in the order in which they were made, and found by the hash of their name: making a
 * model, and a step, take time proportional to their number. */
#include "model.h"
#include "../kern/widen.h"
#include "../random/random.h"

#include <stdint.h>
#include <stdlib.h>

struct list {                           /* tensors in order */
    gra_tensor **item;
    int          count, room;           /* how many there are, and how many fit: a power of 2 */
    int         *slot;                  /* a hash table of 2 * room places in item: see slot_of */
};

struct gra_model {
    struct list params;
    struct list buffers;                /* saved with the parameters (gra_buffer) */
    struct list aliases;                /* other names of parameters (gra_alias) */
    struct list states;                 /* buffers of optimisers (gra_state): moments */
    gra_arena   arena;
    gra_arena   headers;                /* the tensors, which are kept for a while after closing */
    gra_rng    *rng;
    gra_machine *machine;               /* of the tape on which it was opened */
    bool        unusable;               /* the error is not about a file, and stays */
    bool        bf16;                   /* gra_bfloat16 has rounded some parameters */
    bool        closed;                 /* all other fields but headers are 0 */
    gra_failure error;
};

/* ---- lists ---- */

static size_t hash(const char *name)                    /* FNV-1a */
{
    uint64_t h = 14695981039346656037u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

/* The slot for a name, found by open addressing. The slot contains the tensor's place in `item`, counted from
 * 1, or 0 if there is no such tensor. At least half of the slots are 0, so the search is short. */
static int *slot_of(const struct list *l, const char *name)
{
    const size_t last = 2 * (size_t)l->room - 1;
    size_t i = hash(name) & last;
    while (l->slot[i] && strcmp(l->item[l->slot[i] - 1]->name, name) != 0)
        i = (i + 1) & last;
    return &l->slot[i];
}

static gra_tensor *find(const struct list *l, const char *name)
{
    const int place = l->count ? *slot_of(l, name) : 0;
    return place ? l->item[place - 1] : NULL;
}

/* Doubles the room; false: out of memory, and the list is unchanged. */
static bool grow(struct list *l)
{
    const int room = l->room ? 2 * l->room : 32;
    gra_tensor **item = realloc(l->item, (size_t)room * sizeof *item);
    l->item = item ? item : l->item;
    int *slot = item ? calloc(2 * (size_t)room, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(l->slot);
    l->slot = slot;
    l->room = room;
    for (int i = 0; i < l->count; i++)
        *slot_of(l, l->item[i]->name) = i + 1;
    return true;
}

static void list_free(struct list *l)
{
    free(l->item);
    free(l->slot);
}

/* ---- blocks: the values and the gradient of a parameter ----
 *
 * Each has a separate block, which gra_freeze and gra_bfloat16 can free. Blocks come from calloc: the system
 * provides the pages of a large block when they are first written, so an unused gradient of a frozen
 * parameter costs nothing. */

enum { LINE = 64 };                     /* the values begin on a cache line, after the block's address */

static void *new_block(size_t bytes)
{
    char *block = calloc(1, bytes + LINE + sizeof(void *));
    if (!block)
        return NULL;
    const size_t past = (uintptr_t)(block + sizeof(void *)) % LINE;
    char *values = block + sizeof(void *) + (past ? LINE - past : 0);
    memcpy(values - sizeof(void *), &block, sizeof block);
    return values;
}

static void free_block(const void *values)
{
    void *block = NULL;
    if (values)
        memcpy(&block, (const char *)values - sizeof(void *), sizeof block);
    free(block);
}

/* ---- the model ---- */

gra_model *gra_model_open(gra_tape *t, gra_rng *rng)
{
    gra_model *m = t ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    m->rng = rng;
    m->machine = gra_machine_share(gra_tape_machine(t));
    return m;
}

static void release(void *closed)
{
    gra_model *m = closed;
    gra_arena_free(&m->headers);
    free(m);
}

/* The struct and its parameters, without data, are kept for a while and marked as closed. So a later use,
 * such as an optimiser step, is recognised and reported in a sentence. */
void gra_model_close(gra_model *m)
{
    if (!m)
        return;
    gra_need_model(m, __func__);
    gra_machine *machine = m->machine;
    for (int i = 0; i < gra_saved_count(m); i++) {
        gra_tensor *p = gra_owned_at(m, i);
        if (i < m->params.count) {
            free_block(p->data);
            free_block(p->grad_store);
            free_block(p->panels);
        }
        p->data = p->grad = p->grad_store = NULL;
        p->panels = NULL;
        p->requires_grad = false;
    }
    list_free(&m->params);
    list_free(&m->buffers);
    list_free(&m->aliases);
    list_free(&m->states);
    gra_arena_free(&m->arena);
    *m = (gra_model){ .closed = true, .headers = m->headers };
    gra_machine_free_later(machine, m, release);
    gra_machine_close(machine);
}

void gra_need_model(const gra_model *m, const char *who)
{
    if (!m)
        gra_abort("%s: got NULL for the model, expected an open one: gra_model_open returns NULL when there "
                  "is no memory, or its tape is NULL", who);
    if (m->closed)
        gra_abort("%s: got a model that is closed, expected an open one: call gra_model_close after the last "
                  "use of the model", who);
}

void gra_model_fail(gra_model *m, const char *format, ...)
{
    gra_model unheld = { 0 };
    m = m ? m : &unheld;
    if (m->unusable)
        return;
    va_list args;
    va_start(args, format);
    gra_failure_clear(&m->error);
    gra_failure_set_args(&m->error, format, args);
    va_end(args);
    m->unusable = true;
    if (!m->machine || !gra_machine_keeps_going(m->machine))
        gra_abort("%s", m->error.text);
}

int gra_model_set_io_error(gra_model *m, const char *why)
{
    if (m->unusable)
        return -1;
    if (m->bf16)
        why = "gra_bfloat16: matrices of this model are held as bfloat16: it can be neither saved nor loaded";
    gra_failure_clear(&m->error);
    if (why)
        gra_failure_set(&m->error, "%s", why);
    return why ? -1 : 0;
}

#define GIVEN(m) (gra_need_model(m, __func__), (m))
const char *gra_model_error(const gra_model *m)         { return gra_failure_text(&GIVEN(m)->error); }
gra_machine *gra_model_machine(const gra_model *m)      { return GIVEN(m)->machine; }

static void *alloc_from(gra_model *m, gra_arena *arena, size_t bytes)
{
    void *p = gra_arena_alloc(arena, bytes);
    if (!p)
        gra_model_fail(m, "out of memory: the model needs %zu more bytes", bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void *gra_model_alloc(gra_model *m, size_t bytes) { return alloc_from(m, &GIVEN(m)->arena, bytes); }

/* ---- scopes ---- */

gra_scope gra_root(gra_model *m)
{
    gra_need_model(m, __func__);
    return (gra_scope){ .model = m };
}

static void need_scope(gra_scope s, const char *who)
{
    if (!s.model)
        gra_abort("%s: got a scope without a model, expected one of gra_root(model), or of gra_enter: begin "
                  "with gra_root", who);
    gra_need_model(s.model, who);
}

gra_scope gra_enter(gra_scope s, const char *format, ...)
{
    need_scope(s, __func__);
    if (!format) {
        gra_model_fail(s.model, "gra_enter: got NULL for the name, expected one such as \"att\"");
        return s;
    }
    size_t at = strlen(s.name);
    if (at && at + 1 < sizeof s.name) {
        s.name[at++] = '.';
        s.name[at] = '\0';
    }
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s.name + at, sizeof s.name - at, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof s.name - at)
        gra_model_fail(s.model, "gra_enter: got the name %s..., expected at most %zu characters", s.name,
                       sizeof s.name - 1);
    return s;
}

/* ---- parameters ---- */

static bool append(gra_model *m, struct list *l, gra_tensor *p)
{
    if (l->count == l->room && !grow(l)) {
        gra_model_fail(m, "out of memory: the model needs a list of more than %d parameters", l->room);
        return false;
    }
    l->item[l->count] = p;
    *slot_of(l, p->name) = ++l->count;
    return true;
}

/* A new tensor at the end of a list, which lives as long as the model; NULL: out of memory. Its values are
 * `data`, or new zeros if that is NULL (a parameter's values are in a block). */
static gra_tensor *make(gra_model *m, struct list *l, const char *name, gra_shape shape, real *data)
{
    size_t size = 0;
    gra_shape_size(shape, &size);
    gra_tensor *p = alloc_from(m, &m->headers, sizeof *p + strlen(name) + 1);
    real *block = p && l == &m->params ? new_block(size * sizeof(real)) : NULL;
    if (p && l == &m->params && !block)
        gra_model_fail(m, "out of memory: the model needs %zu more bytes", size * sizeof(real));
    data = m->unusable || data ? data : block ? block : gra_model_alloc(m, size * sizeof(real));
    if (!p || !data)
        return NULL;
    *p = (gra_tensor){ .data = data, .size = size, .shape = shape, .name = strcpy((char *)(p + 1), name) };
    if (append(m, l, p))
        return p;
    free_block(block);
    return NULL;
}

static bool is_new(gra_model *m, const char *function, const char *name)
{
    if (!gra_owned_find(m, name) && !find(&m->aliases, name))
        return true;
    gra_model_fail(m, "%s: got the name %s a second time, expected a new one: give each layer a scope of its "
                   "own, gra_enter(scope, \"fc2\")", function, name);
    return false;
}

/* The scope extended by a parameter's name. */
static gra_scope named(gra_scope s, const char *function, const char *name)
{
    need_scope(s, function);
    if (!name || !*name) {
        gra_model_fail(s.model, "%s: got %s for the name, expected one such as \"weight\"", function,
                       name ? "\"\"" : "NULL");
        return s;
    }
    return gra_enter(s, "%s", name);
}

/* A new parameter or buffer, filled. */
static gra_tensor *make_filled(gra_scope s, const char *function, struct list *list, const char *name,
                               gra_init init, gra_shape shape)
{
    gra_model *m = s.model;
    size_t size = 0;
    char why[GRA_WHY];
    gra_scope full = named(s, function, name);
    if (m->unusable || !is_new(m, function, full.name))
        return NULL;
    if (!init.fill)
        gra_model_fail(m, "%s: %s: got an empty initialiser, expected one such as gra_init_zeros()",
                       function, full.name);
    else if (init.draws && !gra_seeded(m->rng))
        gra_model_fail(m, "%s: %s: got %s for its random values, expected a seeded one: %s", function,
                       full.name, m->rng ? "a generator that was never seeded" : "no generator",
                       m->rng ? "call gra_manual_seed first" : "pass it to gra_model_open");
    else if (shape.ndim > GRA_MAX_DIMS)
        gra_model_fail(m, "%s: %s: got %d dimensions, expected at most %d", function, full.name, shape.ndim,
                       GRA_MAX_DIMS);
    else if (!gra_shape_size(shape, &size) || size == 0)
        gra_model_fail(m, "%s: %s: got the shape %s, expected positive sizes that fit in memory", function,
                       full.name, GRA_SHAPE_STRING(shape));
    else if (!gra_init_fits(&init, shape, why))
        gra_model_fail(m, "%s: %s: %s", function, full.name, why);
    gra_tensor *p = m->unusable ? NULL : make(m, list, full.name, shape, NULL);
    if (p && list == &m->params) {
        p->model = m;
        p->owner = m->machine;          /* p->updates counts optimiser steps of this machine */
        gra_freeze(p, false);
    }
    if (p)
        init.fill(&init, m->rng, p);
    return p;
}

gra_tensor *gra_param(gra_scope s, const char *name, gra_init init, gra_shape shape)
{
    gra_tensor *p = make_filled(s, __func__, s.model ? &s.model->params : NULL, name, init, shape);
    return p && p->grad ? p : NULL;
}

/* A buffer has no model, so gra_freeze makes no gradient for it. */
gra_tensor *gra_buffer(gra_scope s, const char *name, gra_init init, gra_shape shape)
{
    return make_filled(s, __func__, s.model ? &s.model->buffers : NULL, name, init, shape);
}

/* The alias is a tensor that shares the parameter's values, so files treat both alike. */
void gra_alias(gra_scope s, const char *name, gra_tensor *p)
{
    gra_model *m = s.model;
    gra_scope full = named(s, __func__, name);
    if (m->unusable || !is_new(m, "gra_alias", full.name))
        return;
    if (!p || !p->name || find(&m->params, p->name) != p) {
        gra_model_fail(m, "gra_alias: %s: got a tensor that is no parameter of this model, expected one that "
                       "is", full.name);
        return;
    }
    gra_tensor *alias = make(m, &m->aliases, full.name, p->shape, p->data);
    if (alias)
        alias->base = p;
}

int         gra_alias_count(const gra_model *m)         { return m->aliases.count; }
gra_tensor *gra_alias_at(const gra_model *m, int i)     { return m->aliases.item[i]; }
gra_tensor *gra_alias_find(const gra_model *m, const char *name)  { return find(&m->aliases, name); }

gra_tensor *gra_state(gra_model *m, const char *kind, const gra_tensor *p)
{
    char name[2 * sizeof(gra_scope)];                   /* the kind may be as long as the longest name */
    gra_need_model(m, __func__);
    snprintf(name, sizeof name, "%s.%s", kind, p->name);
    gra_tensor *s = m->unusable ? NULL : find(&m->states, name);
    if (!s && !m->unusable && (gra_owned_find(m, name) || find(&m->aliases, name)))
        gra_model_fail(m, "gra_state: got the name %s, expected another: a parameter has it", name);
    return s || m->unusable ? s : make(m, &m->states, name, p->shape, NULL);
}

int gra_param_count(const gra_model *m) { return GIVEN(m)->params.count; }

gra_tensor *gra_param_find(const gra_model *m, const char *name)
{
    gra_need_model(m, __func__);
    return name ? find(&m->params, name) : NULL;
}

gra_tensor *gra_param_at(const gra_model *m, int i)
{
    gra_need_model(m, __func__);
    return i >= 0 && i < m->params.count ? m->params.item[i] : NULL;
}

int gra_saved_count(const gra_model *m) { return m->params.count + m->buffers.count; }
int gra_owned_count(const gra_model *m) { return gra_saved_count(m) + m->states.count; }

gra_tensor *gra_owned_at(const gra_model *m, int i)
{
    const struct list *const lists[] = { &m->params, &m->buffers, &m->states };
    for (int l = 0; i >= 0 && l < 3; i -= lists[l++]->count)
        if (i < lists[l]->count)
            return lists[l]->item[i];
    return NULL;
}

gra_tensor *gra_saved_find(const gra_model *m, const char *name)
{
    gra_tensor *p = find(&m->params, name);
    return p ? p : find(&m->buffers, name);
}

gra_tensor *gra_owned_find(const gra_model *m, const char *name)
{
    gra_tensor *p = gra_saved_find(m, name);
    return p ? p : find(&m->states, name);
}

size_t gra_param_values(const gra_model *m)
{
    size_t n = 0;
    gra_need_model(m, __func__);
    for (int i = 0; i < m->params.count; i++)
        n += m->params.item[i]->size;
    return n;
}

/* During a gradient check p->grad is memory of the check; afterwards p->grad is grad_store again. */
void gra_freeze(gra_tensor *p, bool on)
{
    if (!p)
        return;
    if (p->model)
        gra_need_model(p->model, __func__);
    if (on && p->grad == p->grad_store) {
        free_block(p->grad_store);
        p->grad_store = NULL;
    } else if (!on && p->model && !p->grad_store && !(p->grad_store = new_block(p->size * sizeof(real))))
        gra_model_fail(p->model, "out of memory: the gradient of %s needs %zu more bytes", p->name,
                       p->size * sizeof(real));
    p->grad = on ? NULL : p->grad_store;
    p->requires_grad = p->grad != NULL;
}

/* Frozen for good: without a model, gra_freeze makes no gradient for it. */
void gra_bfloat16(gra_tensor *p)
{
    gra_model *m = p ? p->model : NULL;
    if (m)
        gra_need_model(m, __func__);
    if (!m || m->unusable)
        return;
    if (sizeof(real) == sizeof(double) || p->shape.ndim != 2) {
        gra_model_fail(m, "gra_bfloat16: got the parameter %s%s", GRA_SHAPE_OF(p), p->shape.ndim != 2
                       ? ", expected a matrix" : " in libgradus64, which computes in double: use libgradus");
        return;
    }
    const size_t bytes = gra_panels_words(p->shape) * sizeof(uint32_t);
    uint32_t *panels = new_block(bytes);
    if (!panels) {
        gra_model_fail(m, "out of memory: %s as bfloat16 needs %zu more bytes", p->name, bytes);
        return;
    }
    gra_panels_fill(panels, p->shape, p->data);
    gra_freeze(p, true);
    free_block(p->data);
    p->data = NULL;
    p->panels = panels;
    p->model = NULL;
    m->bf16 = true;
}
