/* say: how a program speaks to its user: sentences to stderr, results to stdout, and every failed
 * write noticed. */
#define _DEFAULT_SOURCE                 /* TIOCGWINSZ, the size of a terminal: */
#define _DARWIN_C_SOURCE                /* where there is none, lines have 80 columns */
#include "say.h"
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* The width of the terminal behind a descriptor. */
static int columns_of(int fd)
{
    int columns = 80;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 && size.ws_col < 80)
        columns = size.ws_col;
#endif
    return columns;
}

int say_columns(void)
{
    return columns_of(STDOUT_FILENO);
}

/* Breaks the text's lines at blanks, in place, where they would be longer. */
static void wrap(char *text, int columns)
{
    char *blank = NULL;
    for (int at = 0; *text; text++) {
        if (*text == ' ')
            blank = text;
        at = *text == '\n' ? 0 : at + (((unsigned char)*text & 0xC0) != 0x80);     /* UTF-8 goes on */
        if (at > columns && blank) {
            *blank = '\n';
            at = (int)(text - blank);
            blank = NULL;
        }
    }
}

void complain(const char *format, ...)
{
    char text[4096];
    const bool terminal = isatty(STDERR_FILENO);
    fflush(stdout);
    if (say_to_terminal() && terminal)
        fputs("\r\033[K", stderr);              /* a live line may stand there */
    int n = snprintf(text, sizeof text, "%s: ", program_name);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    if (terminal)
        wrap(text, columns_of(STDERR_FILENO));
    fprintf(stderr, "%s\n", text);
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
