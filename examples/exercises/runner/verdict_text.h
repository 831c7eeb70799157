/* verdict_text: shows a verdict to people, and to programs. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include "screen_text.h"
#include "verdict.h"
#include <stdio.h>

/* Adds the judged parts, the finding or the praise, and at most `printed` lines of the answer's output. */
void report_page(struct page *p, const struct verdict *v, const char *praise, int printed);

/* How many parts were judged, and how many of them are right. */
void report_parts(const struct verdict *v, int *passed, int *judged);

/* One JSON object. */
void report_json(FILE *f, const struct verdict *v, const char *name, const char *file);

#endif
