/* chunks: see chunks.h. */
#include "chunks.h"
#include "crash.h"
#include "../core/check/checking.h"

#include <stdlib.h>

struct place {                          /* an array that a kernel may write */
    int     input;                      /* the gradient of this input, or a special place: */
    real   *x;
    size_t  size;
    real   *before;                     /* its values when the kernel began, */
    real   *after;                      /* and when all its chunks were done */
    size_t *writer;                     /* 1 + the chunk that wrote it; 0: none */
};
enum { DATA = -1, SAVED = -2 };

static gra_check_report fault;          /* only the text is used, wrapped as in a gradient check */

const char *chunks_fault(void) { return fault.text[0] ? fault.text : NULL; }

static void *copy_of(const void *x, size_t bytes)
{
    void *copy = calloc(bytes + 1, 1);
    return x ? memcpy(copy, x, bytes) : copy;
}

static int add_place(struct place *p, int n, int input, real *x, size_t size)
{
    for (int i = 0; i < n; i++)
        if (p[i].x == x)                /* mul(x, x), or a tensor and its view: one gradient */
            return n;
    if (!x || size == 0)
        return n;
    p[n] = (struct place){ input, x, size, copy_of(x, size * sizeof *x), copy_of(x, size * sizeof *x),
                           copy_of(NULL, size * sizeof(size_t)) };
    return n + 1;
}

static int list_places(const gra_tensor *y, struct place *p)
{
    int n = add_place(p, 0, DATA, y->data, y->size);
    n = add_place(p, n, SAVED, y->saved, y->op->saved ? y->op->saved(y) : 0);
    for (int i = 0; i < y->nin; i++)
        if (y->in[i])
            n = add_place(p, n, i, y->in[i]->grad, y->in[i]->size);
    return n;
}

static bool same(const real *a, const real *b, size_t n) { return memcmp(a, b, n * sizeof *a) == 0; }

static void run_chunk(gra_tensor *y, gra_work *f, size_t chunk, const struct place *p, int n)
{
    for (int i = 0; i < n; i++)
        memcpy(p[i].x, p[i].before, p[i].size * sizeof(real));
    f(y, chunk, chunk + 1, 0);
}

/* Reports that chunks a and b (b ran last) both write element j of a place. */
static void explain(gra_tensor *y, gra_work *f, size_t a, size_t b, const struct place *p, int n,
                    const struct place *at, size_t j)
{
    const char *pass = y->grad ? "backward" : "forward";
    char where[64] = "its result";
    if (at->input == SAVED)
        snprintf(where, sizeof where, "what it saves");
    if (at->input >= 0)
        snprintf(where, sizeof where, "the gradient of input %d", at->input);

    for (int i = 0; i < n; i++)
        memcpy(p[i].after, p[i].x, p[i].size * sizeof(real));
    run_chunk(y, f, a, p, n);
    bool whole = true;                  /* both chunks computed the same values */
    for (int i = 0; i < n; i++)
        whole &= same(p[i].x, p[i].after, p[i].size);

    if (whole) {
        gra_check_hint(&fault,
                       "%s: its %s does the whole tensor in every chunk: a large one is cut into chunks that "
                       "threads share, so all of it would be done many times over. Loop over the units "
                       "of this call:", y->op->name, pass);
        gra_check_hint(&fault, "    for (size_t i = from; i < to; i++)");
    } else if (at->input >= 0 && y->in[at->input]->size < y->size) {
        gra_check_hint(&fault, "%s: two chunks of its %s add to the same place (element %zu of %s, which is "
                       "stretched): on a large tensor two threads would do so at once, and one sum would be "
                       "lost. Index its gradient as y, and let the macro sum it:", y->op->name, pass, j,
                       where);
        gra_check_hint(&fault, "    GRA_BROADCAST_KERNEL(..., %s, y, ...)", pass);
    } else {
        gra_check_hint(&fault,
                       "%s: two chunks of its %s, [%zu, %zu) and [%zu, %zu), write the same place (element "
                       "%zu of %s): on a large tensor two threads would do so at once. Let each unit write "
                       "places of its own, or give GRA_KERNEL the cost GRA_SERIAL", y->op->name, pass, a,
                       a + 1, b, b + 1, j, where);
    }
}

/* Notes what the last chunk wrote. */
static void note(gra_tensor *y, gra_work *f, size_t chunk, const struct place *p, int n)
{
    for (int i = 0; i < n; i++)
        for (size_t j = 0; j < p[i].size; j++) {
            if (same(&p[i].x[j], &p[i].before[j], 1))
                continue;
            if (p[i].writer[j] && !fault.text[0]) {
                explain(y, f, p[i].writer[j] - 1, chunk, p, n, &p[i], j);
                return;
            }
            p[i].writer[j] = chunk + 1;
            p[i].after[j] = p[i].x[j];
        }
}

void chunks_alone(void *what, size_t n, gra_work *f)
{
    gra_tensor *y = what;
    struct place *p = calloc((size_t)y->nin + 2, sizeof *p);
    const int places = list_places(y, p);
    for (size_t chunk = 0; chunk < n && !fault.text[0]; chunk++) {
        run_chunk(y, f, chunk, p, places);
        note(y, f, chunk, p, places);
    }
    for (int i = 0; i < places; i++) {
        memcpy(p[i].x, p[i].after, p[i].size * sizeof(real));
        free(p[i].before);
        free(p[i].after);
        free(p[i].writer);
    }
    free(p);
}

void chunks_on_threads(void *what, size_t n, gra_work *f)
{
    gra_tensor *y = what;
    gra_parallel(gra_tape_machine(y->tape), n, 1, f, y);
}

void chunks_begin(gra_tape *t)
{
    enum { BYTES = 1 << 18 };
    fault.text[0] = '\0';
    gra_begin(t, GRA_EVAL, NULL);
    void *memory = gra_alloc(t, BYTES);
    ck_assert_ptr_nonnull(memory);
    memset(memory, 0xff, BYTES);
}
