/* json.h: the JSON reader of gradus.h, and how a caller reports what is wrong. */
#ifndef GRADUS_JSON_H
#define GRADUS_JSON_H

#include "../base/base.h"

void gra_json_fail(gra_json *j, const char *wrong);     /* the first one is kept */

#endif
