/* json_out: a text in memory that grows, and writers of JSON that may be embedded in HTML.
 *
 *     out o = { 0 };
 *     out_text(&o, "{");
 *     out_member(&o, "name", "first");
 *     out_key(&o, "x");
 *     out_reals(&o, x, n);
 *     out_text(&o, "}");               {"name":"first","x":[1,0.5]}
 *
 * Until memory is exhausted nothing fails, so one test of o.failed at the end is enough. */
#ifndef EXAMPLES_JSON_OUT_H
#define EXAMPLES_JSON_OUT_H

#include "../../core/gradus.h"

typedef struct out {                    /* all zeros: empty; free the bytes */
    char  *bytes;
    size_t n, room;
    bool   failed;                      /* out of memory: the rest is missing */
} out;

void  out_clear(out *o);
char *out_end(out *o);                  /* the text, ended by a 0; NULL: out of memory */
void  out_bytes(out *o, const char *bytes, size_t n);
void  out_text(out *o, const char *text);
void  out_format(out *o, const char *format, ...) GRA_PRINTF(2, 3);     /* short texts, numbers */

void  out_comma(out *o);                /* a comma, but not after [ or {, nor at the beginning */
void  out_key(out *o, const char *key);                                 /* a comma, and "key": */
void  out_member(out *o, const char *key, const char *text);            /* a comma, and "key":"text" */

/* Writes a JSON string. Bytes that are not UTF-8 become U+FFFD, and < becomes \u003c, so no text can end the
 * script. */
void  out_string(out *o, const char *text, size_t n);

/* Writes the shortest decimals that read back as x; "nan", "inf", "-inf" are strings, as JSON has no such
 * numbers. out_real_text returns them without quotes. out_number writes as many digits, or null. */
enum { OUT_REAL = 32 };
void  out_real(out *o, gra_real x);
char *out_real_text(gra_real x, char text[OUT_REAL]);
void  out_number(out *o, double x, int digits);

/* Write a JSON array; out_reals, if n is more than 64, a string: base64 of the bytes, little-endian. */
void  out_ints(out *o, const int *x, int n);
void  out_reals(out *o, const gra_real *x, size_t n);
void  out_base64(out *o, const unsigned char *bytes, size_t n);         /* without quotes */

#endif
