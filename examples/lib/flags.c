/* flags: `--name value`, `--name=value`, `--switch`, `--no-switch`, from a table. */
#include "flags.h"
#include "../../core/base/system.h"
#include "json_out.h"
#include "message.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one value --------------------------------------------------------------------------------------- */

/* The index of a word in "adamw|muon|sgd", or -1. */
static int choice(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (int i = 0; *words; i++) {
        const size_t length = strcspn(words, "|");
        if (length == n && strncmp(words, word, n) == 0)
            return i;
        words += length + (words[length] == '|');
    }
    return -1;
}

/* A switch is a choice too. */
static const char *words_of(const flag *f)
{
    return f->kind == FLAG_SWITCH ? "no|yes" : f->what;
}

/* Sets the flag's variable; false: the text is not a valid value. */
static bool set(const flag *f, char *value)
{
    char *end;
    double number;
    errno = 0;
    switch (f->kind) {
    case FLAG_SWITCH:
    case FLAG_CHOICE:
        return (*(int *)f->value = choice(words_of(f), value)) >= 0;
    case FLAG_INT:
        *(long *)f->value = strtol(value, &end, 10);
        number = (double)*(long *)f->value;
        return end > value && !*end && !errno && !isspace((unsigned char)*value) && number >= f->low &&
            number <= f->high;
    case FLAG_REAL:
        number = *(double *)f->value = strtod(value, &end);
        return end > value && !*end && !isspace((unsigned char)*value) && number >= f->low &&
            number <= f->high;
    case FLAG_TEXT:
        *(const char **)f->value = strcmp(f->what, "TEXT") == 0 ? value : plain_path(value);
        return (double)strlen(value) >= f->low;
    default:
        return false;
    }
}

/* The values that set() accepts: "a whole number from 1 to 100". */
static const char *expected(const flag *f, char text[160])
{
    switch (f->kind) {
    case FLAG_SWITCH:
    case FLAG_CHOICE: snprintf(text, 160, "one of %s", words_of(f)); break;
    case FLAG_INT:    snprintf(text, 160, "a whole number from %.0f to %.0f", f->low, f->high); break;
    case FLAG_REAL:   snprintf(text, 160, "a number from %g to %g", f->low, f->high); break;
    default:          return f->what;
    }
    return text;
}

/* The value as text that set() can read; a real number with the fewest digits that give the same bits. */
static const char *value_of(const flag *f, char text[64])
{
    text[0] = 0;
    switch (f->kind) {
    case FLAG_INT:    snprintf(text, 64, "%ld", *(const long *)f->value); break;
    case FLAG_REAL: {
        const double x = *(const double *)f->value;
        int digits = 6;
        do
            snprintf(text, 64, "%.*g", digits, x);
        while (digits++ < 17 && (strtod(text, NULL) < x || strtod(text, NULL) > x));
        break;
    }
    case FLAG_SWITCH:
    case FLAG_CHOICE: {
        const char *word = words_of(f);
        for (int i = *(const int *)f->value; i > 0; i--)
            word = strchr(word, '|') + 1;
        snprintf(text, 64, "%.*s", (int)strcspn(word, "|"), word);
        break;
    }
    case FLAG_TEXT:   return *(const char *const *)f->value;
    default: break;
    }
    return text;
}

static const flag *find(const flag *table, int n, const char *name, size_t length)
{
    for (int i = 0; i < n; i++)
        if (table[i].kind != FLAG_HEADING && strlen(table[i].name) == length &&
            strncmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static void help(const flag *table, int n, const char *about)
{
    say("usage: %s [--FLAG VALUE ...]\n%s\n", program_name, about);
    for (const flag *f = table; f < table + n; f++) {
        char left[80], value[64];
        if (f->kind == FLAG_HEADING) {
            say("\n%s\n", f->help);
            continue;
        }
        snprintf(left, sizeof left, "--%s%s %s", f->kind == FLAG_SWITCH ? "[no-]" : "", f->name,
                 f->what ? f->what : "");
        say("  %-27s %s (%s)\n", left, f->help, f->unset ? f->unset : value_of(f, value));
    }
    say("\nIn brackets: the default. --flag=value works too.\n");
}

/* Warns about an unknown flag and suggests the first one that begins like it. */
static int unknown(const flag *table, int n, const char *word)
{
    const char *name = word + strspn(word, "-");
    const bool no = strncmp(name, "no-", 3) == 0;
    for (const flag *f = table; f < table + n; f++)
        if (word[0] == '-' && f->kind != FLAG_HEADING && strncmp(f->name, no ? name + 3 : name, 3) == 0)
            return warn("there is no flag '%.60s': did you mean --%s%s?", word,
                        no && f->kind == FLAG_SWITCH ? "no-" : "", f->name);
    return strncmp(word, "--", 2) == 0 ? warn("there is no flag '%.60s': --help lists them", word)
        : warn("got '%.60s', expected a flag, which begins with two dashes: --help lists them", word);
}

/* A flag and its value. Returns how many words of the command line they are, or -1 after a warning. */
static int parse_one(const flag *table, int n, char **argv, bool *given)
{
    char *name = argv[0] + 2, *value = NULL;
    char text[160];
    int used = 1;
    if (strncmp(argv[0], "--", 2) != 0)
        return unknown(table, n, argv[0]);
    const size_t length = strcspn(name, "=");
    const flag *f = find(table, n, name, length);
    if (f && name[length] == '=')
        value = name + length + 1;
    else if (f && f->kind == FLAG_SWITCH)
        value = "yes";
    else if (!f && strncmp(name, "no-", 3) == 0 && (f = find(table, n, name + 3, length - 3)) != NULL)
        value = f->kind == FLAG_SWITCH && !name[length] ? "no" : NULL;
    else if (f)
        value = argv[used++];
    if (!f || (!value && used == 1))
        return unknown(table, n, argv[0]);
    if (!value || (used == 2 && f->kind == FLAG_TEXT && strncmp(value, "--", 2) == 0))
        return warn("--%s needs a value: %s", f->name, expected(f, text));
    if (given)
        given[f - table] = true;
    return set(f, value) ? used : warn("--%s: got '%s', expected %s", f->name, value, expected(f, text));
}

int flags_parse(const flag *table, int n, const char *about, int argc, char **argv, bool *given)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(table, n, about);
            return say_failed();
        }
    for (int i = 1, used; i < argc; i += used)
        if ((used = parse_one(table, n, argv + i, given)) < 0)
            return 2;
    return FLAGS_GO_ON;
}

/* ---- as a text --------------------------------------------------------------------------------------- */

char *flags_write(const flag *table, int n)
{
    char value[64];
    out o = { 0 };
    for (const flag *f = table; f < table + n; f++) {
        const char *text = f->kind == FLAG_HEADING ? NULL : value_of(f, value);
        if (!text)
            continue;
        out_format(&o, "%s\t", f->name);
        out_text(&o, text);
        out_text(&o, "\n");
    }
    char *text = out_end(&o);
    if (!text) {
        free(o.bytes);
        warn("out of memory");
    }
    return text;
}

int flags_read(const flag *table, int n, const char *path, char *text)
{
    for (char *line = text, *end; *line; line = end + 1) {
        const size_t name = strcspn(line, "\t\n");
        end = strchr(line, '\n');
        if (!end || line[name] != '\t')
            return warn("%s is damaged: each line of its flags must be a name, a tab and a value", path);
        line[name] = *end = 0;
        const flag *f = find(table, n, line, name);
        if (!f || !set(f, line + name + 1))
            return warn("%s is damaged: '%.60s' is not a value of --%.60s", path, line + name + 1, line);
    }
    return 0;
}
