/* sentence: text of a report, in lines of at most 80 columns. */
#include "checking.h"
#include <stdarg.h>

enum { COLUMNS = 80 };

/* Whole words as long as they fit, then a new line, set in by two. A word that finds no room in the text, and all
 * behind it, is left out. */
static void wrap(char *text, size_t room, const char *line)
{
    size_t at = strlen(text), column = 0;
    if (at && at + 1 < room)
        text[at++] = '\n';
    while (*line) {
        size_t space = *line == ' ', word = space + strcspn(line + space, " ");
        if (at + word + 4 > room)
            break;
        if (column && column + word > COLUMNS) {
            memcpy(text + at, "\n  ", 3);
            at += 3;
            column = 2;
            line += space;
            word -= space;
        }
        for (; word; word--, column++)
            text[at++] = *line++;
    }
    while (at && (text[at - 1] == '\n' || text[at - 1] == ' '))
        at--;
    text[at] = '\0';
}

/* A fact stands in the finding too, a hint in the text alone. */
void gra_check_say(gra_check_report *report, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    wrap(report->finding, sizeof report->finding, line);
    wrap(report->text, sizeof report->text, line);
}

void gra_check_hint(gra_check_report *report, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    wrap(report->text, sizeof report->text, line);
}

void gra_check_put(gra_check_line *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->s + s->at, sizeof s->s - s->at, format, args);
    va_end(args);
    if (n > 0)
        s->at += (size_t)n < sizeof s->s - s->at ? (size_t)n : sizeof s->s - s->at - 1;
}
