/* out: a text in memory that grows, and writers of JSON that may be embedded in HTML. */
#ifndef EXAMPLES_LOOK_OUT_H
#define EXAMPLES_LOOK_OUT_H

#include "../../core/gradus.h"

typedef struct out {
    char  *bytes;                       /* n of them; free it */
    size_t n, room;
    bool   failed;                      /* out of memory: the rest is missing */
} out;

void out_bytes(out *o, const char *bytes, size_t n);
void out_text(out *o, const char *text);
void out_format(out *o, const char *format, ...) GRA_PRINTF(2, 3);      /* short texts, numbers */

/* Writes a JSON string. Bytes that are not UTF-8 become U+FFFD, and < becomes \u003c, so no text can end the
 * script. */
void out_string(out *o, const char *text, size_t n);

/* Writes the shortest decimals that read back as x; "nan", "inf", "-inf" are strings, as JSON has no such
 * numbers. out_real_text returns them without quotes. */
enum { OUT_REAL = 32 };
void out_real(out *o, gra_real x);
char *out_real_text(gra_real x, char text[OUT_REAL]);
char *out_decimal(double x, int digits, char text[OUT_REAL]);   /* as %.*g, with a point in any locale */

/* Writes a JSON array; if n is more than 64, a string: base64 of the bytes, little-endian. */
void out_reals(out *o, const gra_real *x, size_t n);
void out_base64(out *o, const unsigned char *bytes, size_t n);          /* without quotes */

#endif
