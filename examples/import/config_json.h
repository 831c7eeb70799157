/* config_json: the config.json that Hugging Face writes beside a model's parameters. */
#ifndef EXAMPLES_CONFIG_JSON_H
#define EXAMPLES_CONFIG_JSON_H

#include <stdbool.h>

struct config_json {                    /* a field is 0 if the file does not have it */
    int  n_head, n_embd, n_layer, n_inner, n_positions, vocab_size;
    int  gelu;                      /* 1: "gelu", by erf; 2 and 3: "gelu_new", "gelu_pytorch_tanh", by tanh */
    int  tied;                          /* 1: the head is the token embedding; 2: it is not */
    int  fixed;                         /* settings for which only one value is accepted */
    char why[300];                      /* the error, if the result was false */
};

/* Reads the config.json in the folder of `model`, if there is one. Returns false, and a reason in why, if the
 * file is not a JSON object, or a setting requires a model that a gra_gpt cannot be (a different activation
 * function or norm epsilon, attention not scaled by 1 / sqrt(head size)), or a setting has two values,
 * perhaps under two names (n_head and num_attention_heads). null counts as missing. Settings that do not
 * change the logits (dropout, special tokens ...) are skipped. */
bool config_json_read(struct config_json *c, const char *model);

#endif
