/* broken: gra_gpt_forward, made of the same layers, with switches that leave parts out. */
#include "broken.h"

/* y = norm(x) */
static gra_tensor *norm(gra_tape *t, const struct gra_layer_norm *l, gra_tensor *x, int broken)
{
    return broken & NO_NORM ? x : gra_layer_norm_forward(t, l, x);
}

/* y = x + branch */
static gra_tensor *residual(gra_tape *t, gra_tensor *x, gra_tensor *branch, int broken)
{
    return broken & NO_RESIDUAL ? branch : gra_add(t, x, branch);
}

/* x = x + drop(att(norm1(x))); y = x + drop(ff(norm2(x))) */
static gra_tensor *block(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x, int broken)
{
    struct gra_multi_head_attention att = b->att;
    att.config.bidirectional = broken & NO_MASK;
    gra_tensor *y = gra_multi_head_attention_forward(t, &att, norm(t, &b->norm1, x, broken));
    x = residual(t, x, gra_dropout_forward(t, &b->drop_shortcut, y), broken);

    y = gra_feed_forward_forward(t, &b->ff, norm(t, &b->norm2, x, broken));
    return residual(t, x, gra_dropout_forward(t, &b->drop_shortcut, y), broken);
}

gra_tensor *broken_forward(gra_tape *t, const struct gra_gpt *g, int broken, const int *ids, int batch,
                           int time)
{
    gra_tensor *x = gra_embedding_forward(t, &g->tok_emb, ids, GRA_SHAPE(batch, time));
    if (!(broken & NO_POSITIONS))
        x = gra_positional_embedding_forward(t, &g->pos_emb, x);
    x = gra_dropout_forward(t, &g->drop_emb, x);
    for (int i = 0; i < g->config.n_layers; i++)
        x = block(t, &g->trf_blocks[i], x, broken);
    return gra_linear_forward(t, &g->out_head, norm(t, &g->final_norm, x, broken));
}

void broken_init(gra_model *m, gra_rng *rng, int broken)
{
    for (int i = 0; i < gra_param_count(m) && (broken & INIT_ONE); i++) {
        gra_tensor *p = gra_param_at(m, i);
        if (gra_filter_matrices(p))
            gra_normal(rng, p->data, p->size, 0, 1);
    }
}
