/* error.h: the record of an error. A tape, a model and a file have one each: a flag and a sentence. */
#ifndef GRADUS_ERROR_H
#define GRADUS_ERROR_H

#include "gradus.h"
#include <stdarg.h>

typedef struct gra_failure {            /* all zeros: no error */
    bool   failed;
    size_t subject;         /* length of the "model.safetensors: " that stands before the sentence, or 0 */
    char   text[600];                   /* subject and sentence */
} gra_failure;

void        gra_failure_about(gra_failure *e, const char *path);        /* no error; what fails from now on
                                                           begins "path: " */
bool        gra_failure_set(gra_failure *e, const char *format, ...) GRA_PRINTF(2, 3);  /* the first sentence
                                                           stays; false */
void        gra_failure_set_args(gra_failure *e, const char *format, va_list args);
void        gra_failure_clear(gra_failure *e);                          /* no error; the subject stays */
const char *gra_failure_text(const gra_failure *e);                     /* NULL: no error */

_Noreturn void gra_abort(const char *format, ...) GRA_PRINTF(1, 2);     /* prints the sentence first: that of
                                                           an error that was not asked to be held back, or
                                                           that there is no tape or model to keep */

int32_t     gra_utf8(const char **s, const char *end);  /* the next character, and *s moves past it; -1: not
                                                           UTF-8 */
bool        gra_shows(int32_t c);                       /* false: -1, or a character that would control a
                                                           terminal, turn the direction of the text behind
                                                           it, or is not allowed in XML */

#endif
