/* sample: token ~ softmax(logits / temperature), among the k likeliest.
 *
 * The model sees at most `context` tokens. When they are full it goes on from the last half of them, so
 * that a long text moves through the window in strides. */
#include "sample.h"
#include "../../core/op.h"
#include <math.h>
#include <string.h>

void sample_see(sampler *s, const int *ids, size_t n)
{
    size_t keep = n < (size_t)s->context ? n : (size_t)s->context;
    memcpy(s->ids, ids + n - keep, keep * sizeof *ids);
    s->used = (int)keep;
}

/* How many are likelier than i; of equals the first is. */
static int rank_of(const gra_real *logits, int n, int i)
{
    int rank = 0;
    for (int j = 0; j < n; j++)
        rank += logits[j] > logits[i] || (j < i && !(logits[j] < logits[i]));
    return rank;
}

static int likeliest(const gra_real *logits, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static int draw(sampler *s, const gra_real *logits, int n)
{
    int best = likeliest(logits, n), last = best;
    double p[256], sum = 0, u;
    if (s->temperature <= 0)
        return best;
    for (int i = 0; i < n; i++) {
        bool out = s->top_k > 0 && s->top_k < n && rank_of(logits, n, i) >= s->top_k;
        p[i] = out ? 0 : exp(((double)logits[i] - (double)logits[best]) / s->temperature);
        sum += p[i];
    }
    gra_rand_f64(&s->rng, &u, 1);
    u *= sum;
    for (int i = 0; i < n; i++) {
        if (p[i] <= 0)
            continue;
        last = i;
        if ((u -= p[i]) < 0)
            break;
    }
    return last;
}

/* A full window makes room: of the text with its new token, the last half stays. */
static void append(sampler *s, int id)
{
    if (s->used == s->context) {
        int keep = s->context > 1 ? s->context / 2 - 1 : 0;
        memmove(s->ids, s->ids + s->used - keep, (size_t)keep * sizeof *s->ids);
        s->used = keep;
    }
    s->ids[s->used++] = id;
}

int sample_next(sampler *s)
{
    gra_begin(s->tape, GRA_EVAL, NULL);
    gra_tensor *logits = gra_gpt_forward(s->tape, s->gpt, s->ids, 1, s->used);  /* (1, used, vocab) */
    if (gra_error(s->tape))
        return -1;
    int vocab = gra_dim(logits, -1);
    for (int i = 0; i < vocab; i++)
        if (!isfinite(logits->data[(size_t)(s->used - 1) * (size_t)vocab + (size_t)i])) {
            gra_fail(s->tape, "the model's logits are not finite: its parameters are spoilt");
            return -1;
        }
    int id = draw(s, logits->data + (size_t)(s->used - 1) * (size_t)vocab, vocab);
    append(s, id);
    return id;
}
