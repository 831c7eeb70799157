/* json_members: see json_members.h. */
#include "json_members.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json json_open(gra_json text, char bracket)
{
    struct json j = { .rest = text, .object = bracket == '{', .first = true };
    gra_json_expect(&j.rest, bracket);
    return j;
}

bool json_next(struct json *j)
{
    if (gra_json_accept(&j->rest, j->object ? '}' : ']'))
        return false;
    if (!j->first)
        gra_json_expect(&j->rest, ',');
    j->first = false;
    if (j->object) {
        j->name = gra_json_skip(&j->rest);
        if (!j->rest.wrong && *j->name.at != '"')
            j->rest.wrong = "expected a string";
        gra_json_expect(&j->rest, ':');
    }
    j->value = gra_json_skip(&j->rest);
    return !j->rest.wrong;
}

gra_json json_member(gra_json object, const char *name)
{
    struct json j = json_open(object, '{');
    while (json_next(&j))
        if (json_is((gra_json){ .at = j.name.at + 1, .end = j.name.end - 1 }, name))
            return j.value;
    return (gra_json){ 0 };
}

bool json_is(gra_json value, const char *text)
{
    const size_t n = strlen(text);
    return value.at && (size_t)(value.end - value.at) == n && memcmp(value.at, text, n) == 0;
}

void json_show(char to[JSON_SHOWN], const char *from, const char *end)
{
    size_t n = (size_t)(end - from) < JSON_SHOWN - 1 ? (size_t)(end - from) : JSON_SHOWN - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[n] = 0;
}

char *json_read_file(const char *path, size_t most, const char **why)
{
    size_t n = 0, room = 1 << 14;
    errno = 0;
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(room + 1) : NULL;
    *why = !f ? strerror(errno) : !text ? "out of memory" : NULL;
    for (size_t got; !*why && (got = fread(text + n, 1, room - n, f)) > 0;) {
        n += got;
        char *more = n < room ? text : n >= most ? NULL : realloc(text, 2 * room + 1);
        if (!more)
            *why = n >= most ? "it is too long" : "out of memory";
        else if (n == room)
            room *= 2;
        text = more ? more : text;
    }
    if (f && !*why && ferror(f))
        *why = strerror(errno);
    if (f)
        fclose(f);
    if (text)
        text[n] = 0;
    if (!*why && strlen(text) < n)
        *why = "it is not text";
    if (*why) {
        free(text);
        text = NULL;
    }
    return text;
}
