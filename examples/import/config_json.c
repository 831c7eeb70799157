/* config_json: see config_json.h. Each setting that changes what a GPT-2 computes has a row in the table; all
 * other settings are skipped. */
#include "config_json.h"
#include "json_members.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TO(member) offsetof(struct config_json, member)
#define COUNT      { NULL }, "a whole number, 1 or more"

static const struct setting {
    const char *name;
    size_t      to;                 /* offset of an int in the result: the number, or 1 + index in among */
    const char *among[4];           /* the allowed values, as in the file, then NULL; none: a whole number */
    const char *expected;
} settings[] = {
    { "activation_function",     TO(gelu), { "\"gelu\"", "\"gelu_new\"", "\"gelu_pytorch_tanh\"" },
      "gelu, gelu_new or gelu_pytorch_tanh" },
    { "tie_word_embeddings",     TO(tied), { "true", "false" }, "true or false" },
    { "n_head",                  TO(n_head),      COUNT },
    { "num_attention_heads",     TO(n_head),      COUNT },      /* what Hugging Face calls it in all models */
    { "n_embd",                  TO(n_embd),      COUNT },
    { "hidden_size",             TO(n_embd),      COUNT },
    { "n_layer",                 TO(n_layer),     COUNT },
    { "num_hidden_layers",       TO(n_layer),     COUNT },
    { "n_inner",                 TO(n_inner),     COUNT },
    { "n_positions",             TO(n_positions), COUNT },
    { "max_position_embeddings", TO(n_positions), COUNT },
    { "vocab_size",              TO(vocab_size),  COUNT },
    { "model_type",              TO(fixed), { "\"gpt2\"" }, "gpt2" },
    { "layer_norm_epsilon",      TO(fixed), { "1e-05" }, "1e-05, as in a gra_gpt" },
    { "scale_attn_weights",      TO(fixed), { "true" }, "true, as in a gra_gpt" },
    { "scale_attn_by_inverse_layer_idx", TO(fixed), { "false" }, "false, as in a gra_gpt" },
};

/* Are two JSON values the same, as text or as numbers (1e-05 and 0.00001)? */
static bool same(const char *a, const char *b)
{
    char *end_a, *end_b;
    const double x = strtod(a, &end_a), y = strtod(b, &end_b);
    return strcmp(a, b) == 0 || (end_a > a && end_b > b && !*end_a && x == y);
}

/* The value as a number, 1 or more; 0: this setting cannot have that value. */
static int read_value(const struct setting *s, const char *value)
{
    char *end;
    const long long n = strtoll(value, &end, 10);
    for (int i = 0; s->among[i]; i++)
        if (same(value, s->among[i]))
            return i + 1;
    return !s->among[0] && *value >= '1' && *value <= '9' && !*end && n <= INT_MAX ? (int)n : 0;
}

/* Keeps a setting; name and value as in the file. */
static bool keep(struct config_json *c, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings && strcmp(value, "null") != 0; i++) {
        const struct setting *s = &settings[i];
        if (strcmp(s->name, name) != 0)
            continue;
        int *to = (int *)(void *)((char *)c + s->to);
        const int before = *to;
        *to = read_value(s, value);
        if (*to && (!before || before == *to))
            return true;
        snprintf(c->why, sizeof c->why, "the config.json beside it: got %s: %s, expected %s", name, value,
                 *to ? "the same value as before in the file" : s->expected);
        return false;
    }
    return true;
}

static bool parse(struct config_json *c, char *text)
{
    char name[JSON_SHOWN], value[JSON_SHOWN];
    struct json j = json_open((gra_json){ .at = text, .end = text + strlen(text) }, '{');
    while (json_next(&j)) {
        json_show(name, j.name.at + 1, j.name.end - 1);
        json_show(value, j.value.at, j.value.end);
        if (!keep(c, name, value))
            return false;
    }
    gra_json_finish(&j.rest);
    if (!j.rest.wrong)
        return true;
    snprintf(c->why, sizeof c->why, "the config.json beside it is not a JSON object");
    return false;
}

bool config_json_read(struct config_json *c, const char *model)
{
    enum { MOST = 65536 };              /* bytes; a typical file has about a thousand */
    char path[4096];
    const char *slash = strrchr(model, '/');
    *c = (struct config_json){ 0 };
    snprintf(path, sizeof path, "%.*sconfig.json", slash ? (int)(slash + 1 - model) : 0, model);
    const char *why;
    char *text = json_read_file(path, MOST, &why);
    if (why && errno == ENOENT)
        return true;
    if (why)
        snprintf(c->why, sizeof c->why, "the config.json beside it: %s", why);
    const bool ok = !why && parse(c, text);
    free(text);
    return ok;
}
