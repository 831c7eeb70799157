/* say: how a program speaks to its user: sentences to stderr, results to stdout, and every failed
 * write noticed. */
#include "say.h"
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void complain(const char *format, ...)
{
    fflush(stdout);
    if (say_to_terminal() && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);              /* a live line may stand there */
    fprintf(stderr, "%s: ", program_name);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static int written(bool well)
{
    if (well && fflush(stdout) == 0)
        return 0;
    complain("cannot write to the standard output: %s", strerror(errno));
    return -1;
}

int say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vprintf(format, args);
    va_end(args);
    return written(n >= 0);
}

bool say_to_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool say_utf8(void)
{
    setlocale(LC_CTYPE, "");                    /* the characters alone: numbers keep their decimal point */
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* What a model writes may be anything, the sequences that reprogram a terminal among it. */
static bool harmless(unsigned char c)
{
    return c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7F);
}

int say_bytes(const char *bytes, size_t n)
{
    if (!isatty(STDOUT_FILENO))
        return written(fwrite(bytes, 1, n, stdout) == n);
    for (size_t i = 0; i < n; i++)
        putchar(harmless((unsigned char)bytes[i]) ? bytes[i] : '.');
    return written(!ferror(stdout));
}

char *commas(size_t n, char text[COMMAS])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%ju", (uintmax_t)n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
