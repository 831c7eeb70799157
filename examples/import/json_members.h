/* json_members: the members of a JSON object or array, one after another; gradus.h reads them. */
#ifndef EXAMPLES_JSON_H
#define EXAMPLES_JSON_H

#include "../../core/gradus.h"

/* A walk through an object or an array:
 *
 *     struct json j = json_open(text, '{');
 *     while (json_next(&j))
 *         ... j.name, j.value ...      texts, from their first character to their last
 *     ... j.rest                       what follows the object, or what is wrong
 */
struct json {
    gra_json name, value;               /* the name, with its quotes; none in an array */
    gra_json rest;
    bool     object, first;
};

struct json json_open(gra_json text, char bracket);     /* a different bracket is wrong */
bool        json_next(struct json *j);
gra_json    json_member(gra_json object, const char *name);     /* the first member's value; at NULL: none */
bool        json_is(gra_json value, const char *text);          /* is it written like this? */

/* A file of at most `most` bytes, and a 0 after them; free it. NULL: *why is a sentence; if the file does not
 * exist, it is ENOENT's sentence. */
char *json_read_file(const char *path, size_t most, const char **why);

/* Copies a part of the text for an error message: control characters become ?, and a long part is cut. */
enum { JSON_SHOWN = 64 };
void json_show(char to[JSON_SHOWN], const char *from, const char *end);

#endif
