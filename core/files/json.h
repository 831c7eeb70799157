/* json.h: reading the JSON of a safetensors header, which is objects, strings and counts.
 *
 * The text must be UTF-8: whoever reads it looks first (gra_utf8). A reader goes through it once. The first
 * thing that is not as it should be stops it: `wrong` says what, `at` where, and from there on every call
 * gives nothing, so one look at the end is enough. */
#ifndef GRADUS_JSON_H
#define GRADUS_JSON_H

#include "../error.h"

typedef struct gra_json {
    const char *at, *end;
    const char *wrong;                  /* "a string has no end", or NULL */
} gra_json;

typedef struct gra_json_text {          /* a string in the text, between its quotes, escapes as they stand */
    const char *s;                      /* NULL: there was none */
    size_t      n;
} gra_json_text;

void          gra_json_fail(gra_json *j, const char *wrong);    /* keeps the first */
bool          gra_json_accept(gra_json *j, char c);             /* past blanks and c, if c comes next */
void          gra_json_expect(gra_json *j, char c);             /* as accept, and anything else is wrong */
void          gra_json_finish(gra_json *j);                     /* nothing but blanks may come */
gra_json_text gra_json_string(gra_json *j);                     /* a zero character (\u0000) is wrong: C's strings end there */
uint64_t      gra_json_count(gra_json *j);                      /* 0, 1, 2 ...: no sign, no fraction */
void          gra_json_skip(gra_json *j);                       /* past a value of any kind; words and numbers are not
                                                                   looked at closely */
void          gra_json_decode(gra_json_text t, char *to);       /* its escapes read, and a 0 behind: at most t.n + 1
                                                                   bytes, which may be those of t.s itself */

#endif
