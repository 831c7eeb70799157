/* out: a text in memory that grows at its end, and what a page is made of: JSON that may stand in HTML. */
#ifndef EXAMPLES_LOOK_OUT_H
#define EXAMPLES_LOOK_OUT_H

#include "../../core/gradus.h"

typedef struct out {
    char  *bytes;                       /* n of them; free it */
    size_t n, room;
    bool   failed;                      /* out of memory: what came later is missing */
} out;

void out_bytes(out *o, const char *bytes, size_t n);
void out_text(out *o, const char *text);
void out_format(out *o, const char *format, ...) GRA_PRINTF(2, 3);      /* short texts, numbers */
void out_string(out *o, const char *text, size_t n);    /* a JSON string. What is no UTF-8 becomes U+FFFD, and
                                                           < is written as \u003c: no text ends the script */
void out_real(out *o, gra_real x);      /* the shortest decimals that read back as x; "nan", "inf", "-inf" are
                                           strings, as JSON has no such numbers */
enum { OUT_REAL = 32 };
char *out_real_text(gra_real x, char text[OUT_REAL]);   /* the same without the quotes */
char *out_decimal(double x, int digits, char text[OUT_REAL]);   /* as %.*g, with a point in any locale */
void out_reals(out *o, const gra_real *x, size_t n);    /* a JSON array; of more than 64 a string, base64 of
                                                           their bytes, the lowest first */
void out_base64(out *o, const unsigned char *bytes, size_t n);          /* without quotes */

#endif
