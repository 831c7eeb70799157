/* written: see written.h. */
#include "written.h"
#include "crash.h"
#include "folder.h"

#include <stdio.h>
#include <string.h>

#define MARK "is still the template's"

static char left[8192];                 /* the sentences found so far */

/* Adds the sentences of a file that begin with "NAME: ". */
static void collect(const char *path, const char *name)
{
    static char text[1 << 17];
    char begin[80];
    snprintf(begin, sizeof begin, "%s: ", name);
    read_text(path, text, sizeof text);
    int number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        const char *mark = strstr(line, MARK), *sentence = NULL;
        for (const char *at = strstr(line, begin); mark && at && at < mark; at = strstr(at + 1, begin))
            sentence = at;                      /* the last quote before the mark */
        if (!sentence)
            continue;
        const char *comment = strstr(mark, " */");
        const size_t length = comment ? (size_t)(comment - sentence) : strcspn(sentence, "\""),
                     used = strlen(left);
        snprintf(left + used, sizeof left - used, "\n%s:%d: %.*s", path, number, (int)length, sentence);
    }
}

void expect_written(const char *folder, const char *header, const char *test)
{
    left[0] = '\0';
    for (listed_file l = { 0 }; next_file(&l, folder, ".c");) {
        collect(l.path, l.name);
        collect(header, l.name);
        collect(test, l.name);
    }
    ck_assert_msg(!left[0], "%s", left);
}
