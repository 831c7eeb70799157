/* hints: what an explanation reports. It fits where it agrees with all numbers; a clue is a fact that
 * narrows the search, and is reported only where nothing fits. */
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
    say(w, "likely", format, args);
    va_end(args);
    w->fits++;
}

void gra_clue(gra_wrong *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->clues_asked)
        say(w, "a clue", format, args);
    va_end(args);
    w->clues++;
}

size_t gra_worst(const gra_wrong *w)
{
    size_t worst = 0;
    for (size_t e = 0; e < w->size; e++)
        if (fabs(w->a[e] - w->n[e]) > fabs(w->a[worst] - w->n[worst]))
            worst = e;
    return worst;
}
