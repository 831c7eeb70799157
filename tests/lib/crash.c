/* crash: see crash.h. The handler makes only async-signal-safe calls: it writes, and raises the signal again
 * for the previous handler (the system's, or a sanitizer's, which reports). */
#include "crash.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU };
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct sigaction before[SIGNALS];
static char             text[512];
static size_t           length;

const char *volatile crash_place;

#ifdef GRADUS_COVERAGE
void __gcov_dump(void);
#endif

static void say(const char *what, size_t size)
{
    if (write(STDERR_FILENO, what, size) < 0)
        return;                         /* no reader: the signal is raised again anyway */
}

static void crashed(int number)
{
    static const char last[] = "the last assertion that held: ";
    say(text, length);
    if (crash_place) {
        say(last, sizeof last - 1);
        say(crash_place, strlen(crash_place));
        say("\n", 1);
    }
#ifdef GRADUS_COVERAGE
    if (number == SIGABRT)              /* keeps the counts of a test that is meant to abort */
        __gcov_dump();
#endif
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before[i], NULL);
    raise(number);                      /* delivered when this function returns */
}

void crash_watch(void)
{
    struct sigaction action = { .sa_handler = crashed };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
}

void crash_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    strcat(text, "\n");
    length = strlen(text);
}
