/* gra_check: the check, with explanations. A port without this folder defines gra_check itself, with NULL
 * instead of gra_explain: then reports have no hints. */
#include "explaining.h"

int gra_check(gra_tape *t, const gra_check_options *options, gra_check_report *report)
{
    return gra_check_with(t, options, report, gra_explain);
}
