/* sample: text from a model, a token at a time. */
#ifndef EXAMPLES_SAMPLE_H
#define EXAMPLES_SAMPLE_H

#include "../../layers/gpt.h"

typedef struct sampler {
    gra_tape      *tape;
    const struct gra_gpt *gpt;
    gra_kv_cache  *cache;               /* the key-value cache, open, the caller's; NULL: every token is
                                           computed from all before it */
    int            context;             /* the model's */
    double         temperature;         /* 0: always the likeliest token */
    long           top_k;               /* only among this many likeliest (of equals, all); 0: among all */
    gra_rng        rng;
    int           *ids;         /* the tokens that the model sees, at most context; the caller's buffer */
    int            used;
} sampler;

void sample_see(sampler *s, const int *ids, size_t n);  /* a prompt; of a long one the last context tokens */
int  sample_next(sampler *s);               /* the next token, which it then sees too; -1: the tape's error */

#endif
