/* export: see export.h. */
#include "export.h"
#include "tensor_names.h"
#include "../../core/op.h"

/* GPT-2's tensor that begins with parameter i. */
static void put(gra_model *to, const gra_model *m, const gra_gpt_config *c, int i)
{
    const names_row *r = names_at(i);
    names_text ours, theirs;
    gra_scope scope = gra_root(to);
    scope = r->group == HEAD ? scope : gra_enter(scope, "transformer");
    gra_tensor *x = gra_param(scope, names_of(i, true, theirs), gra_init_zeros(),
                              names_shape(i, c, true, true));
    gra_freeze(x, true);                                        /* it needs no gradient */
    for (int k = i; x && k < i + (r->part ? 3 : 1); k++) {
        const gra_tensor *p = gra_param_find(m, names_of(k, false, ours));
        if (p)                                                  /* NULL: a bias that the GPT does not have */
            names_copy(k, true, true, p, x->data, false);
    }
}

int export_gpt(gra_tape *t, const gra_model *m, const struct gra_gpt *g, const char *path,
               const gra_meta *meta, int nmeta, char why[IMPORT_WHY])
{
    const gra_gpt_config *c = &g->config;
    gra_model *to = gra_model_open(t, NULL);
    for (int i = 0; to && i < OUTSIDE + c->n_layers * BLOCK && !gra_model_error(to); i++)
        if (names_at(i)->part <= 1 && (i != OUT_HEAD || !c->tied))
            put(to, m, c, i);
    const int failed = !to || gra_model_error(to) || gra_save(to, path, meta, nmeta);
    if (failed)
        snprintf(why, IMPORT_WHY, "%s", to ? gra_model_error(to) : "out of memory");
    gra_model_close(to);
    return failed ? -1 : 0;
}

void export_config(const gra_gpt_config *c, int end, char json[EXPORT_JSON])
{
    char id[24];
    snprintf(id, sizeof id, end < 0 ? "null" : "%d", end);
    snprintf(json, EXPORT_JSON,
             "{\n"
             "  \"activation_function\": \"%s\",\n"
             "  \"architectures\": [\"GPT2LMHeadModel\"],\n"
             "  \"attn_pdrop\": %g,\n"
             "  \"bos_token_id\": %s,\n"
             "  \"embd_pdrop\": %g,\n"
             "  \"eos_token_id\": %s,\n"
             "  \"layer_norm_epsilon\": 1e-05,\n"
             "  \"model_type\": \"gpt2\",\n"
             "  \"n_embd\": %d,\n"
             "  \"n_head\": %d,\n"
             "  \"n_inner\": null,\n"
             "  \"n_layer\": %d,\n"
             "  \"n_positions\": %d,\n"
             "  \"resid_pdrop\": %g,\n"
             "  \"scale_attn_weights\": true,\n"
             "  \"tie_word_embeddings\": %s,\n"
             "  \"torch_dtype\": \"float%d\",\n"
             "  \"vocab_size\": %d\n"
             "}\n",
             c->gelu == GRA_GELU_TANH ? "gelu_new" : "gelu", c->drop_rate, id, c->drop_rate, id, c->emb_dim,
             c->n_heads, c->n_layers, c->context_length, c->drop_rate, c->tied ? "true" : "false",
             8 * (int)sizeof(gra_real), c->vocab_size);
}
