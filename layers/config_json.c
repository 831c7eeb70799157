/* config_json: the config.json beside a model, which is one JSON object. Each of its settings that changes what a
 * GPT-2 computes has a row in the table below; the values of all others are passed over unread. */
#include "config_json.h"
#include "../core/files/infile.h"
#include "../core/files/json.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 65536                      /* bytes; such a file has about a thousand */

/* ---- what a setting may be ---- */

#define TO(member) offsetof(gra_config_json, member)
#define COUNT      { NULL }, "a whole number from 1 on is wanted"

static const struct setting {
    const char *name;
    size_t      to;                     /* an int of the result: the number, or the place among these, from 1 on: */
    const char *among[4];               /* what it may be, as it stands in the file; none: a whole number */
    const char *wanted;
} settings[] = {
    { "activation_function",     TO(gelu), { "\"gelu\"", "\"gelu_new\"", "\"gelu_pytorch_tanh\"" },
      "only gelu, gelu_new and gelu_pytorch_tanh are known" },
    { "tie_word_embeddings",     TO(tied), { "true", "false" }, "true or false is wanted" },
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
    { "model_type",              TO(fixed), { "\"gpt2\"" }, "only gpt2 is known" },
    { "layer_norm_epsilon",      TO(fixed), { "1e-05" }, "the norms of a gra_gpt have 1e-05" },
    { "scale_attn_weights",      TO(fixed), { "true" }, "a gra_gpt always scales by 1 / sqrt(head size)" },
    { "scale_attn_by_inverse_layer_idx", TO(fixed), { "false" }, "a gra_gpt scales all layers alike" },
};

static int digits(const char **s, double *x)    /* how many came; *x goes on with them */
{
    int n = 0;
    for (; **s >= '0' && **s <= '9'; ++*s, n++)
        *x = 10 * *x + (**s - '0');
    return n;
}

/* A number of JSON without a sign; strtod would want the decimal point of the locale. NAN: it is none. The
 * quotient is rounded once, and so is the same for 1e-05, 1.0E-5 and 0.00001. */
static double number(const char *s)
{
    double x = 0, power = 0;
    int places = 0;
    bool is = digits(&s, &x) > 0;
    if (*s == '.') {
        s++;
        places = digits(&s, &x);
        is &= places > 0;
    }
    if (*s == 'e' || *s == 'E') {
        const bool minus = *++s == '-';
        s += minus || *s == '+';
        is &= digits(&s, &power) > 0;
        power = minus ? -power : power;
    }
    power -= places;
    return !is || *s ? (double)NAN : power < 0 ? x / pow(10, -power) : x * pow(10, power);
}

/* The value, from 1 on, as it is kept in the result; 0: it may not be this. */
static int read_value(const struct setting *s, const char *value)
{
    char *end;
    const long n = strtol(value, &end, 10);
    for (int i = 0; i < 4 && s->among[i]; i++)
        if (strcmp(value, s->among[i]) == 0 || number(value) == number(s->among[i]))
            return i + 1;
    return !s->among[0] && *value >= '1' && *value <= '9' && !*end && n <= INT_MAX ? (int)n : 0;
}

/* ---- reading ---- */

static bool wrong(gra_config_json *c, const char *what)
{
    snprintf(c->why, sizeof c->why, "the config.json beside it: %s", what);
    return false;
}

static const struct setting *find(gra_json_text key)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strlen(settings[i].name) == key.n && memcmp(settings[i].name, key.s, key.n) == 0)
            return &settings[i];
    return NULL;
}

/* The text of the value that comes next, as it stands there; of a long one the beginning. */
static void next_value(gra_json *j, char value[64])
{
    while (j->at < j->end && *j->at && strchr(" \t\n\r", *j->at))
        j->at++;
    const char *from = j->at;
    gra_json_skip(j);
    snprintf(value, 64, "%.*s", (int)(j->at - from < 63 ? j->at - from : 63), from);
}

static bool next_setting(gra_config_json *c, gra_json *j)
{
    char value[64];
    const gra_json_text key = gra_json_string(j);
    gra_json_expect(j, ':');
    next_value(j, value);
    const struct setting *s = j->wrong ? NULL : find(key);
    if (!s || strcmp(value, "null") == 0)
        return true;
    int *to = (int *)(void *)((char *)c + s->to);
    const int before = *to;
    *to = read_value(s, value);
    if (*to && (!before || before == *to))
        return true;
    gra_legible(value);
    snprintf(c->why, sizeof c->why, "the config.json beside it says %s: %s, but %s", s->name, value,
             *to ? "another value of this setting came before" : s->wanted);
    return false;
}

static bool parse(gra_config_json *c, const char *text, size_t n)
{
    gra_json j = { .at = text, .end = text + n };
    gra_json_expect(&j, '{');
    if (!gra_json_accept(&j, '}')) {
        do
            if (!next_setting(c, &j))
                return false;
        while (gra_json_accept(&j, ','));
        gra_json_expect(&j, '}');
    }
    gra_json_finish(&j);
    return !j.wrong || wrong(c, j.wrong);
}

static bool is_utf8(const char *s, const char *end)
{
    while (s < end)
        if (gra_utf8(&s, end) < 0)
            return false;
    return true;
}

static bool read_and_parse(gra_config_json *c, gra_infile *in)
{
    const size_t n = in->length <= MOST ? (size_t)in->length : 0;
    char *text = malloc(n + 1);
    const bool ok = in->length > MOST                ? wrong(c, "it is too long for one")
                    : !text                          ? wrong(c, "out of memory")
                    : !gra_infile_read(in, 0, text, n) ? wrong(c, in->why)
                    : !is_utf8(text, text + n)       ? wrong(c, "it is not UTF-8")
                                                     : parse(c, text, n);
    free(text);
    return ok;
}

bool gra_config_json_read(gra_config_json *c, const char *path)
{
    static const char name[] = "config.json";
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    gra_infile in;
    *c = (gra_config_json){ 0 };
    char *beside = malloc(folder + sizeof name);
    if (!beside)
        return wrong(c, "out of memory");
    memcpy(beside, path, folder);
    memcpy(beside + folder, name, sizeof name);
    bool ok = true;
    if (access(beside, F_OK) == 0) {
        ok = gra_infile_open(&in, beside) ? read_and_parse(c, &in) : wrong(c, in.why);
        gra_infile_close(&in);
    }
    free(beside);
    return ok;
}
