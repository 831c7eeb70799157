/* message: see message.h. */
#include "message.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool failed;                     /* a write to stdout has failed */

const char *say_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool say_failed(void)
{
    return failed;
}

size_t say_fitting(const char *text, size_t n, size_t columns)
{
    size_t blank = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == ' ')
            blank = i;
        used += ((unsigned char)text[i] & 0xC0) != 0x80;        /* the first byte of a UTF-8 character */
        if (used > columns && blank)
            return blank;
    }
    return n;
}

/* Breaks the text at blanks, in place, into lines of at most 80 columns. */
static void wrap(char *text)
{
    for (size_t n = strlen(text), fits; (fits = say_fitting(text, n, SAY_COLUMNS)) < n; n -= fits + 1) {
        text[fits] = '\n';
        text += fits + 1;
    }
}

int warn(const char *format, ...)
{
    char text[4096];
    fflush(stdout);
    int n = snprintf(text, sizeof text, "%s: ", program_name);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    if (isatty(STDERR_FILENO))
        wrap(text);
    fprintf(stderr, "%s\n", text);
    return -1;
}

static void check(bool well)
{
    if (well && fflush(stdout) == 0)
        return;
    failed = true;
    warn("cannot write to the standard output: %s", strerror(errno));
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!failed)
        check(vprintf(format, args) >= 0);
    va_end(args);
}

/* A model's output may contain control sequences, which could change the terminal's settings. */
void say_bytes(const char *bytes, size_t n)
{
    const bool terminal = isatty(STDOUT_FILENO);
    for (size_t i = 0; i < n && !failed; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        const bool harmless = c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7F);
        if (fwrite(!terminal || harmless ? bytes + i : ".", 1, 1, stdout) != 1)
            check(false);
    }
    if (!failed)
        check(true);
}
