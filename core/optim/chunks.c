/* chunks: the values of all parameters as one long row, cut into chunks that threads share. A chunk may
 * contain the end of one parameter, all of the next and the beginning of a third, so many small tensors cost
 * no more than a few large tensors. */
#include "../model/model.h"

struct row {
    gra_model         *m;
    gra_tensor *const *only;
    void              *arg;
    size_t             chunk;           /* values in a chunk */
    gra_work          *f;
};

static size_t values(const struct row *r, int i)  /* how many values parameter i has in the row */
{
    const gra_tensor *p = gra_param_at(r->m, i);
    return p->grad && (!r->only || r->only[i]) ? p->size : 0;
}

static void visit(void *arg, size_t from, size_t to, int worker)
{
    const struct row *r = arg;
    for (size_t i = 0, begin = 0, end; begin < to; i++, begin = end) {
        end = begin + values(r, (int)i);
        if (end <= from || end == begin)
            continue;
        gra_chunk s = { gra_param_at(r->m, (int)i), (int)i, from / r->chunk, r->arg };
        r->f(&s, (from > begin ? from : begin) - begin, (to < end ? to : end) - begin, worker);
    }
}

void gra_param_kernel(gra_model *m, gra_tensor *const *only, void *arg, size_t cost,
                      gra_work *const variant[GRA_ISAS])
{
    static const size_t worth = 1 << 15;                /* additions in a chunk, at least */
    gra_machine *machine = gra_model_machine(m);
    struct row r = { m, only, arg, 0, gra_variant(machine, variant) };
    size_t n = 0, line = 64 / sizeof(real);
    for (int i = 0; i < gra_param_count(m); i++)
        n += values(&r, i);
    r.chunk = worth / cost > n / GRA_CHUNKS ? worth / cost : n / GRA_CHUNKS + 1;
    r.chunk = (r.chunk + line - 1) / line * line;
    if (n < 2 * r.chunk)                                /* one chunk, not worth a thread */
        r.chunk = n;
    gra_parallel(machine, n, r.chunk, visit, &r);
}
