/* base.h: what all other files need: the memory of a step, the record of an error, and texts. */
#ifndef GRADUS_BASE_H
#define GRADUS_BASE_H

#include "../op.h"
#include <stdarg.h>

/* ---- arena.c: memory that is allocated piece by piece and freed all at once -----------------------------
 */
typedef struct gra_arena {
    struct gra_block *first, *at;    /* blocks, in the order in which they are filled; `at` is being filled */
} gra_arena;
void  *gra_arena_alloc(gra_arena *a, size_t bytes);  /* 64-byte aligned, uninitialised; NULL: out of memory */
bool   gra_arena_reserve(gra_arena *a, size_t bytes);   /* after a rewind, this many bytes need no malloc */
typedef struct gra_arena_mark {
    struct gra_block *at;
    size_t            used;
} gra_arena_mark;
gra_arena_mark gra_arena_here(const gra_arena *a);
void   gra_arena_back(gra_arena *a, gra_arena_mark to); /* forgets the pieces since gra_arena_here */
size_t gra_arena_used(const gra_arena *a);              /* bytes */
void   gra_arena_rewind(gra_arena *a);                  /* forgets all pieces and keeps the blocks */
void   gra_arena_merge(gra_arena *a);                   /* rewinds, and merges the blocks into one */
void   gra_arena_free(gra_arena *a);

/* ---- precision.c ----------------------------------------------------------------------------------------
 */
void gra_refuse_both_precisions(void);  /* aborts in a program linked with both libgradus and libgradus64 */

/* ---- error.c: the record of an error. A tape, a model and a file each have a record -------------------- */
typedef struct gra_failure {            /* all zeros: no error */
    bool   failed;
    size_t subject;                     /* length of the "model.safetensors: " before the sentence, or 0 */
    char   text[600];                   /* subject and sentence */
} gra_failure;

/* Only the first sentence is kept. gra_failure_set returns false, for use in a return statement.
 * gra_failure_about clears the record, and later sentences begin with "path: "; gra_failure_clear keeps this
 * prefix. gra_failure_text is NULL if there is no error. */
void        gra_failure_about(gra_failure *e, const char *path);
bool        gra_failure_set(gra_failure *e, const char *format, ...) GRA_PRINTF(2, 3);
void        gra_failure_set_args(gra_failure *e, const char *format, va_list args);
void        gra_failure_clear(gra_failure *e);
const char *gra_failure_text(const gra_failure *e);

/* Prints a sentence and aborts: without gra_keep_going, or if no tape or model can keep the error. */
_Noreturn void gra_abort(const char *format, ...) GRA_PRINTF(1, 2);

/* ---- shape.c: the indices of element i, as a shape, which GRA_SHAPE_STRING writes ---------------------- */
gra_shape gra_place_of(gra_shape s, size_t i);

/* ---- text.c: names may contain any bytes; only printable text is shown --------------------------------- */

/* gra_utf8 reads the next character and moves *s past it, or returns -1 for invalid UTF-8. gra_is_printable
 * is false for -1 and for characters that control a terminal, change the direction of text, or are invalid in
 * XML. */
int32_t gra_utf8(const char **s, const char *end);
bool    gra_is_printable(int32_t c);

/* Writes s to text, without the middle if s has more than `columns` characters (3 <= columns <= 99), and
 * returns the number of characters written. text has room for GRA_COLUMNS_TEXT bytes. */
#define GRA_COLUMNS_TEXT 400
int     gra_shortened(const char *s, int columns, char *text);

void    gra_decimal_point(char *number);                /* replaces a locale's decimal comma */

typedef struct gra_line {               /* a short text that grows: begin with { .at = 0 } */
    char   s[512];
    size_t at;
} gra_line;
void    gra_line_put(gra_line *s, const char *format, ...) GRA_PRINTF(2, 3);     /* or cuts it off */

typedef struct gra_text {               /* a text that grows: begin with { 0 }, end with free(t.s) */
    char  *s;
    size_t n, room;
    bool   failed;                      /* out of memory: nothing more is added */
} gra_text;
void    gra_text_put(gra_text *t, const char *format, ...) GRA_PRINTF(2, 3);

#endif
