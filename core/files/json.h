/* json.h: reads the JSON of a safetensors header, which is objects, strings and counts.
 *
 * The text must be valid UTF-8: check it first (gra_utf8). It is read once from its beginning to its end. At
 * the first thing that is not as expected the reader stops: `wrong` says what it is, `at` where. All later
 * calls do nothing, so that one test at the end is enough. */
#ifndef GRADUS_JSON_H
#define GRADUS_JSON_H

#include "../base/base.h"

typedef struct gra_json {
    char       *at, *end;
    const char *wrong;                  /* "expected a string", or NULL */
} gra_json;

void     gra_json_fail(gra_json *j, const char *wrong);         /* the first one is kept */
bool     gra_json_accept(gra_json *j, char c);                  /* past blanks and c, if c comes next */
void     gra_json_expect(gra_json *j, char c);                  /* as accept, and anything else is wrong */
void     gra_json_finish(gra_json *j);                          /* nothing but blanks may follow */
uint64_t gra_json_count(gra_json *j);                           /* 0, 1, 2 ...: no sign, no fraction */

/* A string, decoded in place and ended by a 0. NULL: it is wrong, as is one with a \u0000. */
char    *gra_json_string(gra_json *j);

#endif
