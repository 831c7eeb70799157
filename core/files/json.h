/* json.h: the JSON reader of gradus.h, and a function with which its callers report errors. */
#ifndef GRADUS_JSON_H
#define GRADUS_JSON_H

#include "../base/base.h"

void gra_json_fail(gra_json *j, const char *wrong);     /* the first error is kept */

#endif
