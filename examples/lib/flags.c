/* flags: `--name value`, `--name=value`, `--switch`, `--no-switch`, from a table. */
#include "flags.h"
#include "say.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The place of a word in "adamw|muon|sgd", or -1. */
static int choice(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (int i = 0; words; i++) {
        if (n > 0 && strncmp(words, word, n) == 0 && (words[n] == '|' || words[n] == 0))
            return i;
        words = strchr(words, '|');
        words = words ? words + 1 : NULL;
    }
    return -1;
}

static bool set_int(const flag *f, const char *value)
{
    char *end;
    errno = 0;
    long x = strtol(value, &end, 10);
    if (isspace((unsigned char)*value) || end == value || *end || errno || (double)x < f->low ||
        (double)x > f->high)
        return false;
    *(long *)f->value = x;
    return true;
}

static bool set_real(const flag *f, const char *value)
{
    char *end;
    double x = strtod(value, &end);
    if (isspace((unsigned char)*value) || end == value || *end || !(x >= f->low && x <= f->high))
        return false;
    *(double *)f->value = x;
    return true;
}

static bool set_switch(const flag *f, const char *value)
{
    int i = choice("no|yes", value);
    if (i < 0)
        return false;
    *(bool *)f->value = i;
    return true;
}

static bool set_choice(const flag *f, const char *value)
{
    int i = choice(f->what, value);
    if (i < 0)
        return false;
    *(int *)f->value = i;
    return true;
}

bool flag_set(const flag *f, const char *value)
{
    switch (f->kind) {
    case FLAG_SWITCH: return set_switch(f, value);
    case FLAG_INT:    return set_int(f, value);
    case FLAG_REAL:   return set_real(f, value);
    case FLAG_CHOICE: return set_choice(f, value);
    case FLAG_TEXT:   *(const char **)f->value = value; return true;
    case FLAG_TEXTS: {
        flag_texts *texts = f->value;
        texts->text[texts->n++] = value;
        return true;
    }
    case FLAG_HEADING: break;
    }
    return false;
}

char *flag_wants(const flag *f, char text[160])
{
    switch (f->kind) {
    case FLAG_SWITCH: snprintf(text, 160, "yes or no"); break;
    case FLAG_INT:    snprintf(text, 160, "a whole number from %.0f to %.0f", f->low, f->high); break;
    case FLAG_REAL:   snprintf(text, 160, "a number from %g to %g", f->low, f->high); break;
    case FLAG_CHOICE: snprintf(text, 160, "one of %s", f->what); break;
    default:          snprintf(text, 160, "%s", f->what); break;
    }
    return text;
}

char *flag_value(const flag *f, char text[64])
{
    text[0] = 0;
    switch (f->kind) {
    case FLAG_SWITCH: snprintf(text, 64, "%s", *(const bool *)f->value ? "yes" : "no"); break;
    case FLAG_INT:    snprintf(text, 64, "%ld", *(const long *)f->value); break;
    case FLAG_REAL: {
        double x = *(const double *)f->value;
        for (int digits = 6; digits <= 17; digits++) {  /* as few as read back as the same number */
            snprintf(text, 64, "%.*g", digits, x);
            if (!(strtod(text, NULL) < x || strtod(text, NULL) > x))
                break;
        }
        break;
    }
    case FLAG_CHOICE: {
        const char *word = f->what;
        for (int i = *(const int *)f->value; i > 0; i--)
            word = strchr(word, '|') + 1;
        snprintf(text, 64, "%.*s", (int)strcspn(word, "|"), word);
        break;
    }
    case FLAG_TEXT:
        if (*(const char *const *)f->value)
            snprintf(text, 64, "%s", *(const char *const *)f->value);
        break;
    default: break;
    }
    return text;
}

/* A flag's line of --help. A left part that is longer than its column has a line of its own, and a right part that
 * is longer than the rest of the line goes on in the next one. */
static int help_line(const char *left, const char *right)
{
    enum { LEFT = 27, RIGHT = 50 };
    const bool apart = strlen(left) > LEFT;
    if (say("  %-*s%s%*s", LEFT, left, apart ? "\n" : "", apart ? LEFT + 3 : 1, ""))
        return -1;
    for (size_t n = strlen(right); n > RIGHT; n = strlen(right)) {
        n = RIGHT;
        while (n > 0 && right[n] != ' ')
            n--;
        if (n == 0)
            break;
        if (say("%.*s\n%*s", (int)n, right, LEFT + 3, ""))
            return -1;
        right += n + 1;
    }
    return say("%s\n", right);
}

static int help(const flag *table, int n, const char *about)
{
    if (say("usage: %s [--FLAG VALUE ...]\n%s\n", program_name, about))
        return -1;
    for (int i = 0; i < n; i++) {
        const flag *f = &table[i];
        char left[240], right[400], value[64];
        if (f->kind == FLAG_HEADING) {
            if (say("\n%s\n", f->help))
                return -1;
            continue;
        }
        snprintf(left, sizeof left, "--%s%s %s", f->kind == FLAG_SWITCH ? "[no-]" : "", f->name,
                 f->what ? f->what : "");
        const char *otherwise = f->unset ? f->unset : flag_value(f, value);
        snprintf(right, sizeof right, "%s (%s)", f->help, otherwise);
        if (help_line(left, right))
            return -1;
    }
    return say("\nIn brackets: what holds without the flag. --flag=value is understood too.\n");
}

static const flag *find(const flag *table, int n, const char *name, size_t length)
{
    for (int i = 0; i < n; i++)
        if (table[i].kind != FLAG_HEADING && strlen(table[i].name) == length &&
            strncmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

enum { NAME = 40 };                     /* bytes of a flag's name, with no- before it and its 0 */

/* How many slips make one name of the other: a letter changed, added or taken away, or two neighbours swapped.
 * cost[i][j] is that of the first i letters of a and the first j of b. */
static int distance(const char a[NAME], const char b[NAME])
{
    int cost[NAME][NAME];
    const int m = (int)strlen(a), n = (int)strlen(b);
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = least_of(cost[i - 1][j], cost[i][j - 1]) + 1;
            cost[i][j] = least_of(cost[i][j], cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least_of(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[m][n];
}

/* The flag that was probably meant; its name is empty where none is near. */
static void find_nearest(const flag *table, int n, const char *name, int length, char nearest[NAME])
{
    char wrong[NAME], name_of[NAME];
    int least = 3;
    nearest[0] = 0;
    snprintf(wrong, sizeof wrong, "%.*s", length, name);
    for (int i = 0; i < n; i++)
        for (int no = 0; table[i].kind != FLAG_HEADING && no <= (table[i].kind == FLAG_SWITCH); no++) {
            snprintf(name_of, sizeof name_of, "%s%s", no ? "no-" : "", table[i].name);
            const int d = distance(wrong, name_of);
            if (d < least && d < (int)strlen(name_of) / 2) {
                least = d;
                memcpy(nearest, name_of, sizeof name_of);
            }
        }
}

static int unknown(const flag *table, int n, const char *name, int length)
{
    char nearest[NAME];
    find_nearest(table, n, name, length, nearest);
    if (nearest[0])
        complain("there is no flag --%.*s: did you mean --%s?", length, name, nearest);
    else
        complain("there is no flag --%.*s: --help lists those there are", length, name);
    return -1;
}

/* What does not begin with two dashes. last: the flag before it. */
static int no_flag(const flag *table, int n, const char *word, const flag *last)
{
    const bool more = last && last->kind == FLAG_TEXTS;
    const int length = (int)strcspn(word, "=");
    char nearest[NAME] = "";
    if (word[0] == '-' && length > 1)
        find_nearest(table, n, word + 1, length - 1, nearest);
    if (nearest[0])
        complain("'%.*s' is not a flag: did you mean --%s?", length, word, nearest);
    else
        complain("'%s' is not a flag: flags begin with two dashes, and --help lists them%s%s", word,
                 more ? "; to give several texts repeat --" : "", more ? last->name : "");
    return -1;
}

/* One argument, and the next where that is its value. How many were used, or -1 after a complaint.
 * *last is the flag before it, and then its own. */
static int parse_one(const flag *table, int n, char **argv, const flag **last)
{
    char wants[160];
    if (strncmp(argv[0], "--", 2) != 0 || !argv[0][2])
        return no_flag(table, n, argv[0], *last);
    const char *name = argv[0] + 2, *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    const flag *f = find(table, n, name, length);
    if (!f && length > 3 && strncmp(name, "no-", 3) == 0) {
        f = find(table, n, name + 3, length - 3);
        if (f && f->kind == FLAG_SWITCH && !value) {
            *(bool *)f->value = false;
            *last = f;
            return 1;
        }
        f = NULL;
    }
    if (!f)
        return unknown(table, n, name, (int)length);
    *last = f;
    if (f->kind == FLAG_SWITCH && !value) {
        *(bool *)f->value = true;
        return 1;
    }
    int used = value ? 1 : 2;
    value = value ? value + 1 : argv[1];
    bool text = f->kind == FLAG_TEXT || f->kind == FLAG_TEXTS;
    if (!value || (used == 2 && text && strncmp(value, "--", 2) == 0)) {
        complain("--%s lacks its value: %s", f->name, flag_wants(f, wants));
        return -1;
    }
    if (!flag_set(f, value)) {
        complain("--%s wants %s, not '%s'", f->name, flag_wants(f, wants), value);
        return -1;
    }
    return used;
}

int flags_parse(const flag *table, int n, const char *about, int argc, char **argv, bool *given)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return help(table, n, about) ? 2 : 1;
    const flag *last = NULL;
    for (int i = 1; i < argc;) {
        int used = parse_one(table, n, argv + i, &last);
        if (used < 0)
            return -1;
        if (given)
            given[last - table] = true;
        i += used;
    }
    return 0;
}

int flags_status(int how)
{
    return how < 0 ? 2 : how > 1 ? 1 : 0;
}
