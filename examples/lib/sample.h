/* sample: samples tokens from a model, one at a time. */
#ifndef EXAMPLES_SAMPLE_H
#define EXAMPLES_SAMPLE_H

#include "forward.h"

typedef struct sampler {
    gra_tape      *tape;
    const struct gra_gpt *gpt;
    gra_kv_cache  *cache;               /* open, owned by the caller; NULL: no key-value cache */
    forward_fn    *forward;             /* without a cache; NULL: gra_gpt_forward */
    int            tokens;              /* only the first `tokens` ids are drawn; 0: all */
    int            context;             /* the model's context length */
    double         temperature;         /* 0: always the most likely token */
    long           top_k;               /* only the k most likely tokens, and any equal ones; 0: all */
    double         top_p;               /* then only the fewest with this share of the probability; 1: all */
    gra_rng        rng;
    int           *ids;         /* the tokens that the model sees, at most context; caller's buffer */
    int            used;
} sampler;

void sample_see(sampler *s, const int *ids, size_t n);  /* reads a prompt: its last context tokens */
int  sample_largest(const gra_real *x, int n, int *best, int k);        /* k ids, descending; how many */
int  sample_next(sampler *s);               /* samples and appends a token; -1: see gra_error */
int  sample_shares(sampler *s, gra_real *p);/* each token's probability to be next; returns how many; -1 */

#endif
