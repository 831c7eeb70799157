/* plain_attention.h: attention in plain loops, with which core/ops/attention.c is compared. */
#ifndef TESTS_PLAIN_ATTENTION_H
#define TESTS_PLAIN_ATTENTION_H

#include <stdbool.h>

struct plain_attention {
    int  batch, heads, time, keys;
    int  d, d_v;                        /* columns of a head, in q and k and in v and y */
    bool causal;
    const double *q, *k, *v;    /* (batch, time, heads d), (batch, keys, heads d), (batch, keys, heads d_v) */
    const double *mask, *factor;        /* (batch, heads, time, keys): what is added to the scores, and
                                           dropout's factors, 0 or 1 / (1 - p); NULL: none */
};

/* P, (batch, heads, time, keys), and y, (batch, time, heads d_v) */
void plain_attention_forward(const struct plain_attention *a, double *P, double *y);

/* The gradients of sum(dy y), from that P; each must be zeros beforehand, and dmask may be NULL. */
void plain_attention_backward(const struct plain_attention *a, const double *P, const double *dy, double *dq,
                              double *dk, double *dv, double *dmask);

#endif
