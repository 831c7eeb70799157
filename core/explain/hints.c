/* hints: what an explanation says. It fits where it agrees with all numbers; a clue is a fact that narrows the search,
 * and is told only where nothing fits. */
#include "explaining.h"

static void say(const gra_wrong *w, const char *what, const char *format, va_list args)
{
    char line[512];
    vsnprintf(line, sizeof line, format, args);
    gra_check_hint(w->check->report, "%s%s%.80s: %s%s", what, w->other ? ", for " : "",
                   w->other ? w->x->name : "", w->part ? w->part : "", line);
}

void gra_fits(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(w, "it fits", format, args);
    va_end(args);
    w->fits++;
}

void gra_clue(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->wants_clues)
        say(w, "a clue", format, args);
    va_end(args);
    w->clues++;
}
