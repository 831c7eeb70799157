/* solved: see solved.h. The file has lines "solved 08_softmax" and "current 08_softmax"; other lines are
 * skipped. */
#include "solved.h"
#include "../../lib/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = LADDER_FOLDER ".progress";

void progress_read(struct progress *p, const struct ladder *l)
{
    char line[200], what[20], name[100];
    int at, current = -1;
    memset(p, 0, sizeof *p);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%19s %99s", what, name) == 2 && (at = ladder_find(l, name)) >= 0) {
            if (!strcmp(what, "solved"))
                p->solved[at] = true;
            else if (!strcmp(what, "current"))
                current = at;
        }
    if (f)
        fclose(f);
    while (p->current < l->n - 1 && p->solved[p->current])
        p->current++;
    if (current >= 0)
        p->current = current;
}

int progress_write(const struct progress *p, const struct ladder *l)
{
    char text[LADDER_MOST * 80 + 80] = "";
    size_t at = 0;
    for (int i = 0; i < l->n; i++)
        if (p->solved[i])
            at += (size_t)snprintf(text + at, sizeof text - at, "solved %s\n", l->at[i].name);
    at += (size_t)snprintf(text + at, sizeof text - at, "current %s\n", l->at[p->current].name);
    return file_replace(path, text, at);
}

int progress_count(const struct progress *p, const struct ladder *l)
{
    int n = 0;
    for (int i = 0; i < l->n; i++)
        n += p->solved[i];
    return n;
}

void progress_bar(const struct progress *p, const struct ladder *l, char *text, size_t room)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    const int solved = progress_count(p, l), full = solved * WIDTH / l->n;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '-', (size_t)(WIDTH - full));
    bar[WIDTH] = 0;
    snprintf(text, room, "[%s] %d of %d", bar, solved, l->n);
}
