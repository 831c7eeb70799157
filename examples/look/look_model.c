/* look_model: see look_model.h. */
#include "look_model.h"
#include "../../core/op.h"
#include "../lib/sample.h"
#include "../lib/message.h"
#include <stdlib.h>

/* ---- tokens ------------------------------------------------------------------------------------------ */

/* Without a tokenizer a token is a number. */
static void write_token(out *o, const look_model *m, int id)
{
    char name[TOKENIZER_NAME];
    if (m->tokens)
        tokenizer_name(m->tokens, id, name);
    else
        snprintf(name, sizeof name, "%d", id);
    out_string(o, name, strlen(name));
}

static void write_tokens(out *o, const look_model *m)
{
    out_text(o, ",\n\"tokens\":[");
    for (int i = 0; i < m->n; i++) {
        out_comma(o);
        write_token(o, m, m->ids[i]);
    }
    out_text(o, "]");
}

/* ---- predictions ------------------------------------------------------------------------------------- */

enum { LIKELIEST = 5 };

static void write_guess(out *o, const look_model *m, const gra_real *p, int id)
{
    out_comma(o);
    out_text(o, "[");
    write_token(o, m, id);
    out_text(o, ",");
    out_real(o, p[id]);
    out_text(o, "]");
}

void model_likeliest(out *o, const look_model *m, const gra_real *p, int n)
{
    int best[LIKELIEST];
    const int k = sample_largest(p, n, best, LIKELIEST);
    for (int i = 0; i < k; i++)
        write_guess(o, m, p, best[i]);
}

/* p = softmax(x), not by the op, which would add a node to the step. */
static void softmax(const gra_real *x, gra_real *p, int n)
{
    double sum = 0, most = -HUGE_VAL;
    for (int i = 0; i < n; i++)
        most = fmax(most, (double)x[i]);
    for (int i = 0; i < n; i++)
        sum += exp((double)x[i] - most);
    for (int i = 0; i < n; i++)
        p[i] = (gra_real)(exp((double)x[i] - most) / sum);
}

/* Writes the likeliest tokens, then the token that does follow, or null after the last token. */
static void write_row(out *o, const look_model *m, const gra_real *p, int vocab, int follows)
{
    out_text(o, "[");
    model_likeliest(o, m, p, vocab);
    if (follows >= 0)
        write_guess(o, m, p, follows);
    else
        out_text(o, ",null");
    out_text(o, "]");
}

static void write_predictions(out *o, const look_model *m, const gra_tensor *logits)
{
    const int vocab = m->gpt->config.vocab_size;
    gra_real *p = malloc((size_t)vocab * sizeof *p);
    o->failed |= !p;
    out_text(o, "\"next\":[");
    for (int i = 0; p && i < m->n; i++) {
        softmax(logits->data + (size_t)i * (size_t)vocab, p, vocab);
        out_text(o, i ? ",\n" : "");
        write_row(o, m, p, m->tokens ? m->tokens->size : vocab, i + 1 < m->n ? m->ids[i + 1] : -1);
    }
    free(p);
    out_text(o, "]");
}

/* ---- attention --------------------------------------------------------------------------------------- */

/* For how many tokens weights are written: each layer and head has a triangle of them. */
static int tokens_seen(const look_model *m)
{
    const double most = 100000, panels = (double)m->gpt->config.n_layers * m->gpt->config.n_heads;
    int n = m->n;
    while (n > 2 && panels * n * (n + 1) / 2 > most)
        n--;
    return n;
}

/* Copies the triangle of each head of a layer: row by row, query i's weights of keys 0 ... i. */
static void copy_triangles(gra_real *to, const gra_tensor *w, int seen)
{
    const int heads = gra_dim(w, 1);
    const size_t time = (size_t)gra_dim(w, 2);
    for (int h = 0; h < heads; h++)
        for (size_t i = 0; i < (size_t)seen; i++, to += i)
            memcpy(to, w->data + ((size_t)h * time + i) * time, (i + 1) * sizeof *to);
}

static void write_weights(out *o, const gra_real *w, size_t n, bool exact)
{
    unsigned char *byte = exact ? NULL : malloc(n + 1);
    out_format(o, ",\"exact\":%s,\"attention\":", exact ? "true" : "false");
    if (exact) {
        out_reals(o, w, n);
        return;
    }
    o->failed |= !byte;
    for (size_t i = 0; byte && i < n; i++)
        byte[i] = (unsigned char)lrint(255 * fmin(fmax((double)w[i], 0), 1));
    out_text(o, "\"");
    if (byte)
        out_base64(o, byte, n);
    out_text(o, "\"");
    free(byte);
}

/* The list of nodes begins with the last, and so the last layer: w is filled from its end. */
static void write_attention(out *o, const look_model *m, gra_tensor *last, bool exact)
{
    const size_t seen = (size_t)m->seen, layers = (size_t)m->gpt->config.n_layers,
        of_layer = (size_t)m->gpt->config.n_heads * seen * (seen + 1) / 2;
    gra_real *w = malloc(layers * of_layer * sizeof *w);
    size_t layer = layers;
    o->failed |= !w;
    for (gra_tensor *y = last; w && y && layer > 0; y = y->prev)
        if (strcmp(y->op->name, "attention") == 0)
            copy_triangles(w + --layer * of_layer, gra_attention_weights(y), m->seen);
    if (w && layer == 0)
        write_weights(o, w, layers * of_layer, exact);
    free(w);
}

/* ---- states ------------------------------------------------------------------------------------------ */

/* Returns the loss; NULL: out of memory, or see gra_error. */
static gra_tensor *forward(const look_model *m, gra_tensor **logits)
{
    int *target = malloc((size_t)m->n * sizeof *target);
    if (!target)
        return NULL;
    for (int i = 0; i < m->n; i++)
        target[i] = i + 1 < m->n ? m->ids[i + 1] : GRA_IGNORE_INDEX;
    forward_fn *const run = m->forward ? m->forward : gra_gpt_forward;
    gra_keep_attention(m->tape, true);
    gra_begin(m->tape, GRA_GRAD, NULL);
    *logits = gra_name(run(m->tape, m->gpt, m->ids, 1, m->n), "logits");
    gra_tensor *loss = gra_name(gra_cross_entropy(m->tape, *logits, target), "loss");
    gra_keep_attention(m->tape, false);
    free(target);
    return gra_error(m->tape) ? NULL : loss;
}

int model_state(look_model *m, long step, bool last)
{
    gra_tensor *logits;
    out *o = &m->states;
    m->seen = tokens_seen(m);
    m->loss = forward(m, &logits);
    if (!m->loss)
        return warn("%s", gra_error(m->tape) ? gra_error(m->tape) : "out of memory");
    out_format(o, "%s{\"step\":%ld,\"loss\":", o->n ? ",\n" : "", step);
    out_real(o, m->loss->data[0]);
    write_attention(o, m, m->loss, last);
    out_text(o, ",");
    write_predictions(o, m, logits);
    out_text(o, "}");
    return 0;
}

int model_last(look_model *m, gra_model *params, long step)
{
    gra_keep_grads(m->tape, true);
    gra_zero_grad(params);
    if (model_state(m, step, true))
        return -1;
    return gra_backward(m->tape, m->loss) ? warn("%s", gra_error(m->tape)) : 0;
}

void model_loss(look_model *m, long step, double train, double val)
{
    if (!isfinite(train))
        return;
    out_comma(&m->curve);
    out_format(&m->curve, "[%ld,", step);
    out_number(&m->curve, train, 6);
    out_text(&m->curve, ",");
    out_number(&m->curve, val, 6);
    out_text(&m->curve, "]");
}

/* ---- the page ---------------------------------------------------------------------------------------- */

void model_json(out *o, void *arg)
{
    const look_model *m = arg;
    write_tokens(o, m);
    out_format(o, ",\"layers\":%d,\"heads\":%d,\"seen\":%d", m->gpt->config.n_layers,
               m->gpt->config.n_heads, m->seen);
    if (m->sample_size > 0) {
        out_text(o, ",\n\"sample\":");
        out_string(o, m->sample, m->sample_size);
    }
    out_text(o, ",\n\"states\":[");
    out_bytes(o, m->states.bytes, m->states.n);
    out_text(o, "],\n\"curve\":[");
    out_bytes(o, m->curve.bytes, m->curve.n);
    out_text(o, "]");
    o->failed |= m->states.failed || m->curve.failed;
}

void model_free(look_model *m)
{
    free(m->states.bytes);
    free(m->curve.bytes);
}
