/* say: the lines of a report, of at most 79 columns. A fact is a line of the report's finding and text; a
 * hint, which explains, is a line of the text only. */
#include "checking.h"

enum { COLUMNS = 79 };

/* Adds whole words while they fit, then begins a new line, indented by two. If the text has no room for a
 * word, it is omitted. */
static void wrap(char *text, size_t room, const char *line)
{
    size_t at = strlen(text), column = 0;
    if (at)
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

static void add(gra_check_report *report, bool fact, const char *format, va_list args)
{
    char line[1024];
    vsnprintf(line, sizeof line, format, args);
    if (fact)
        wrap(report->finding, sizeof report->finding, line);
    wrap(report->text, sizeof report->text, line);
}

void gra_check_say(gra_check_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(report, true, format, args);
    va_end(args);
}

void gra_check_hint(gra_check_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(report, false, format, args);
    va_end(args);
}
