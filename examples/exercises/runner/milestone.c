/* milestone: see milestone.h. The first lines of a program are
 *     / * Milestone 1: your scalar tape learns XOR.
 *      * Answers: 04 */
#include "milestone.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is exercise `at` in a list of numbers, and are all exercises of the list solved? */
static bool is_open(const char *numbers, const struct progress *p, const struct ladder *l, int at)
{
    bool is_in = false;
    for (char number[3]; sscanf(numbers, "%2s", number) == 1; numbers += strspn(numbers, " ") + 2) {
        const int i = ladder_find(l, number);
        if (i < 0 || !p->solved[i])
            return false;
        is_in = is_in || i == at;
    }
    return is_in;
}

void milestone_offer(char *text, size_t room, const struct progress *p, const struct ladder *l, int at)
{
    char title[100], numbers[100];
    glob_t found = { 0 };
    *text = 0;
    if (glob(LADDER_FOLDER "milestones/[1-9]_*.c", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            FILE *f = fopen(found.gl_pathv[i], "r");
            if (f && fscanf(f, "/* %99[^\n] * Answers: %99[^\n]", title, numbers) == 2 &&
                is_open(numbers, p, l, at))
                snprintf(text, room, "%s `make milestone N=%c` runs it.", title, title[10]);
            if (f)
                fclose(f);
        }
    globfree(&found);
}
