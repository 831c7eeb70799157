/* json: reads a JSON text, which ends in a 0 byte, a part at a time. */
#ifndef EXAMPLES_JSON_H
#define EXAMPLES_JSON_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_BLANKS " \t\r\n"

/* A walk through an object or an array:
 *
 *     json_open(&j, text, '{');
 *     while (json_next(&j))
 *         ... j.name, j.value ...      both in the text, from their first character on
 *     ... j.at                         NULL: the text is wrong; else what follows the object
 */
struct json {
    const char *name, *value;           /* the name, with its quotes; NULL in an array */
    const char *at;                     /* what follows the value */
    char        close;                  /* } or ] */
};

bool json_open(struct json *j, const char *text, char bracket);         /* does the text begin with it? */
bool json_next(struct json *j);         /* of a value that is an object or array, only brackets are checked */
bool json_is(const char *s, const char *word);          /* is s this string, written without escapes? */

/* Writes the string at s, whose end is known to be there, to `to`, which may be s: it only becomes shorter.
 * Returns how many bytes of UTF-8; -1: an escape is invalid. */
ptrdiff_t json_string(const char *s, char *to);

/* Copies a part of the text for an error message: control characters become ?, and a long part is cut. */
enum { JSON_SHOWN = 64 };
void json_show(char to[JSON_SHOWN], const char *from, const char *end);

#endif
