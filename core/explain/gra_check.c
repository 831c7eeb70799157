/* gra_check: the check, with explanations. A port that leaves this folder out defines gra_check itself,
 * with NULL for gra_explain: its reports then have no hints. */
#include "explaining.h"

int gra_check(gra_tape *t, const gra_check_options *options, gra_check_report *report)
{
    return gra_check_with(t, options, report, gra_explain);
}
