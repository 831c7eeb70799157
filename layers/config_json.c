/* config_json: "n_head" of the config.json beside a model, which is one JSON object. Of all else in it only
 * strings, brackets and commas are looked at. */
#include "config_json.h"
#include "../core/infile.h"
#include "../core/json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 65536                      /* bytes; such a file has about a thousand */

static int wrong(char *why, size_t room, const char *what)
{
    snprintf(why, room, "the config.json beside it: %s", what);
    return -1;
}

static bool is_utf8(const char *s, const char *end)
{
    while (s < end)
        if (gra_utf8(&s, end) < 0)
            return false;
    return true;
}

static int parse(const char *text, size_t n, char *why, size_t room)
{
    static const char wanted[] = "n_head";
    gra_json j = { .at = text, .end = text + n };
    uint64_t heads = 0;
    gra_json_expect(&j, '{');
    if (!gra_json_accept(&j, '}')) {
        do {
            gra_json_text key = gra_json_string(&j);
            gra_json_expect(&j, ':');
            if (key.n == sizeof wanted - 1 && memcmp(key.s, wanted, key.n) == 0)
                heads = gra_json_count(&j);
            else
                gra_json_skip(&j);
        } while (gra_json_accept(&j, ','));
        gra_json_expect(&j, '}');
    }
    gra_json_finish(&j);
    if (j.wrong)
        return wrong(why, room, j.wrong);
    return heads <= INT_MAX ? (int)heads : wrong(why, room, "so many heads there cannot be");
}

static int read_and_parse(gra_infile *in, char *why, size_t room)
{
    const size_t n = in->length <= MOST ? (size_t)in->length : 0;
    char *text = malloc(n + 1);
    int heads = in->length > MOST                ? wrong(why, room, "it is too long for one")
              : !text                            ? wrong(why, room, "out of memory")
              : !gra_infile_read(in, 0, text, n) ? wrong(why, room, in->why)
              : !is_utf8(text, text + n)         ? wrong(why, room, "it is not UTF-8")
                                                 : parse(text, n, why, room);
    free(text);
    return heads;
}

int gra_config_json_heads(const char *path, char *why, size_t room)
{
    static const char name[] = "config.json";
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    gra_infile in;
    char *beside = malloc(folder + sizeof name);
    if (!beside)
        return wrong(why, room, "out of memory");
    memcpy(beside, path, folder);
    memcpy(beside + folder, name, sizeof name);
    int heads = 0;
    if (access(beside, F_OK) == 0) {
        heads = gra_infile_open(&in, beside) ? read_and_parse(&in, why, room) : wrong(why, room, in.why);
        gra_infile_close(&in);
    }
    free(beside);
    return heads;
}
