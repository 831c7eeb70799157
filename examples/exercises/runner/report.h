/* report: a verdict for people, and for programs. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include "page.h"
#include "verdict.h"
#include <stdio.h>

/* Adds what was looked at, then what is wrong, or the praise, and at most `printed` lines that the answer
 * printed. */
void report_page(struct page *p, const struct verdict *v, const char *praise, int printed);

/* One JSON object. A byte that is not ASCII is written as the character of its number, \u0080 to \u00ff. */
void report_json(FILE *f, const struct verdict *v, const char *name, const char *file);

#endif
