/* config_json.h: the file config.json that Hugging Face writes beside a model's parameters. */
#ifndef LAYERS_CONFIG_JSON_H
#define LAYERS_CONFIG_JSON_H

#include <stddef.h>

/* Its "n_head", for a model at `path`. 0: there is no such file, or it does not say; -1: why[room] says what
 * is wrong with it. */
int gra_config_json_heads(const char *path, char *why, size_t room);

#endif
