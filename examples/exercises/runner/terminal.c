/* terminal: see terminal.h. */
#include "terminal.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool ours;
static char shown[200 * (PAGE_COLUMNS + 40)];                   /* the last screen: it is not drawn again */

static void put(const char *text, size_t n)
{
    while (n) {
        const ssize_t wrote = write(STDOUT_FILENO, text, n);
        if (wrote <= 0)
            return;
        text += wrote, n -= (size_t)wrote;
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

void terminal_end(void)
{
    if (!ours)
        return;
    ours = false;
    put_text("\033[0m\033[?25h\033[?1049l");                   /* plain, cursor shown, the previous screen */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

int terminal_begin(void)
{
    static bool once;
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &raw) < 0)
        return -1;
    if (!once)
        before = raw, atexit(terminal_end);
    once = true;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG | IEXTEN);
    raw.c_cc[VMIN] = 1, raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
        return -1;
    if (!ours)
        put_text("\033[?1049h\033[?25l");                       /* a separate screen, no cursor */
    ours = true;
    shown[0] = 0;
    return 0;
}

void terminal_suspend(void)
{
    terminal_end();
    raise(SIGSTOP);
    terminal_begin();
}

void terminal_size(int *rows, int *columns)
{
    struct winsize w;
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0;
    *rows = known ? w.ws_row : 24;
    *columns = known ? w.ws_col : 80;
}

static bool waits(int milliseconds)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&p, 1, milliseconds) > 0;
}

bool terminal_pressed(void)
{
    return waits(0);
}

static int byte(int milliseconds)
{
    unsigned char c;
    if (!waits(milliseconds))
        return KEY_NONE;
    return read(STDIN_FILENO, &c, 1) == 1 ? c : KEY_INTERRUPT;  /* the terminal is gone */
}

/* Some keys send a sequence, "ESC [ A" or "ESC [ 5 ~", whose bytes arrive together. */
int terminal_key(int milliseconds)
{
    enum { AT_ONCE = 30 };
    const int first = byte(milliseconds);
    if (first != KEY_ESCAPE)
        return first == '\n' ? KEY_ENTER : first == '\b' ? KEY_BACKSPACE : first;
    int c = byte(AT_ONCE), number = 0;
    if (c == KEY_NONE)
        return KEY_ESCAPE;
    if (c != '[' && c != 'O')
        return KEY_OTHER;
    while ((c = byte(AT_ONCE)) && ((c >= '0' && c <= '9') || c == ';'))
        number = number * 10 + c - '0';
    return c == 'A' ? KEY_UP : c == 'B' ? KEY_DOWN : c == '~' && number == 5 ? KEY_PAGE_UP
         : c == '~' && number == 6 ? KEY_PAGE_DOWN : KEY_OTHER;
}

void terminal_draw(const struct page_line *line, int n, int rows, int columns)
{
    static const char *const styles[][4] = { { "", "\033[32m", "\033[31m", "\033[1m" },
                                             { "", "", "", "\033[1m" } };
    const char *no_color = getenv("NO_COLOR");          /* set and not empty: no color (no-color.org) */
    const char *const *style = styles[no_color && *no_color];
    static char screen[sizeof shown];
    size_t at = (size_t)snprintf(screen, sizeof screen, "\033[H");
    for (int i = 0; i < n && i < rows && at + PAGE_COLUMNS + 40 < sizeof screen; i++)
        at += (size_t)snprintf(screen + at, sizeof screen - at, "%s%s%.*s%s\033[K", i ? "\r\n" : "",
                               style[line[i].style], columns > 1 ? columns - 1 : 1, line[i].text,
                               line[i].style == PLAIN ? "" : "\033[0m");
    if (n < rows)
        at += (size_t)snprintf(screen + at, sizeof screen - at, "\033[J");
    if (strcmp(screen, shown))
        put(screen, at);
    memcpy(shown, screen, at + 1);
}
