/* settings: a table of flags as text and back. */
#include "settings.h"
#include "say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const flag *f, char room[64])
{
    return f->kind == FLAG_TEXT ? *(const char *const *)f->value : flag_value(f, room);
}

char *settings_write(const flag *table, int n, size_t *size)
{
    char value[64], *text;
    size_t room = 1, at = 0;
    for (int i = 0; i < n; i++)
        room += strlen(table[i].name) + strlen(value_of(&table[i], value)) + 2;
    if (!(text = malloc(room))) {
        complain("out of memory");
        return NULL;
    }
    text[0] = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "%s\t%s\n", table[i].name, value_of(&table[i], value));
    *size = at;
    return text;
}

/* Cuts "name\tvalue\n" off the front of *text. False at its end, or where there is no such line. */
static bool next_line(char **text, char **name, char **value)
{
    char *end = strchr(*text, '\n'), *tab = strchr(*text, '\t');
    if (!end || !tab || tab > end)
        return false;
    *end = *tab = 0;
    *name = *text;
    *value = tab + 1;
    *text = end + 1;
    return true;
}

static int find(const flag *table, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

int settings_read(const char *path, char *text, size_t size, const flag *table, int n)
{
    char *name, *value, wants[160];
    const char *end = text + size;
    bool seen[SETTINGS_MOST] = { false };
    for (int line = 1; next_line(&text, &name, &value); line++) {
        int i = find(table, n, name);
        if (i < 0 || seen[i]) {
            complain("%s, line %d: '%s' %s", path, line, name,
                     i < 0 ? "is not the name of a setting" : "stands there twice");
            return -1;
        }
        seen[i] = true;
        if (!flag_set(&table[i], value)) {
            complain("%s, line %d: %s is %s, not '%s'", path, line, name, flag_wants(&table[i], wants),
                     value);
            return -1;
        }
    }
    if (text != end) {
        complain("%s is damaged: each line must be a name, a tab and a value", path);
        return -1;
    }
    for (int i = 0; i < n; i++)
        if (!seen[i]) {
            complain("%s lacks the line '%s'", path, table[i].name);
            return -1;
        }
    return 0;
}
