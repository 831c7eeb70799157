/* terminal: runs a program in a pseudo-terminal, and checks what is on its screen.
 *
 *     terminal ROWS COLUMNS PROGRAM ARGUMENTS <SCRIPT
 *
 * The script's lines are run in order; every wait must end within a minute:
 *
 *     wait TEXT      until the screen has the text            keys TEXT     presses keys; ^X is a control key
 *     gone TEXT      until the text is gone                   run COMMAND   runs a shell command
 *     size R C       resizes the window                       signal N      sends a signal to the program
 *     show           prints the screen                        stopped       until the program has stopped
 *     colors N       1: the program has written a color, 0: none
 *     status N       until it exits with N, or by signal N - 128; the terminal must be restored
 *
 * `terminal` prints the screen and exits with 1 if a wait fails, or if the program writes past the last
 * column; each byte counts as a column. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { ROWS = 100, COLUMNS = 200, TICK = 20, TICKS = 60 * 1000 / TICK };

static char screen[ROWS][COLUMNS];
static int  rows, columns, row, column, terminal, colors;
static pid_t pid;
static struct termios before;

static void show(void)
{
    static const char line[] =
        "--------------------------------------------------------------------------------"
        "--------------------------------------------------------------------------------";
    printf("+%.*s+\n", columns, line);
    for (int i = 0; i < rows; i++)
        printf("|%.*s|\n", columns, screen[i]);
    printf("+%.*s+\n", columns, line);
    fflush(stdout);
}

static void fail(const char *what, const char *text)
{
    printf("FAILED: %s %s; the screen:\n", what, text);
    show();
    kill(pid, SIGKILL);
    exit(1);
}

/* ---- the screen --------------------------------------------------------------------------------- */

static void clear(int from_row, int from_column)
{
    for (int i = from_row; i < ROWS; i++)
        for (int j = i == from_row ? from_column : 0; j < COLUMNS; j++)
            screen[i][j] = ' ';
}

/* The end of a sequence "ESC [ ... c". */
static void sequence(char c, const char *between)
{
    if (c == 'H')
        row = column = 0;
    else if (c == 'J')
        clear(row, column);
    else if (c == 'K')
        memset(&screen[row][column], ' ', (size_t)(COLUMNS - column));
    else if (c == 'm' && *between == '3')
        colors = 1;
    else if (!strcmp(between, "?1049"))
        clear(0, 0);
    else if (!strchr("mhl", c))
        fail("a sequence unknown here:", between);
}

static void write_byte(char c)
{
    static char between[20];
    static int  state, n;               /* 1: after ESC, 2: after ESC [ */
    if (state == 2 && (c < '@' || c > '~')) {
        if (n < 19)
            between[n++] = c;
    } else if (state == 2) {
        between[n] = 0;
        sequence(c, between);
        state = 0;
    } else if (state == 1)
        state = c == '[' ? 2 : 0, n = 0;
    else if (c == '\033')
        state = 1;
    else if (c == '\r')
        column = 0;
    else if (c == '\n') {
        if (++row >= rows)
            row = rows - 1;             /* a real terminal would scroll */
    } else if ((unsigned char)c < ' ')
        fail("a control character", "on the screen");
    else {
        if (column >= columns)
            fail("it writes past the last column,", "a line would be broken");
        screen[row][column++] = c;
    }
}

/* Reads the program's output for a moment. */
static void take(void)
{
    char buffer[4096];
    struct pollfd p = { .fd = terminal, .events = POLLIN };
    if (poll(&p, 1, TICK) <= 0)
        return;
    const ssize_t n = read(terminal, buffer, sizeof buffer);
    for (ssize_t i = 0; i < n; i++)
        write_byte(buffer[i]);
    if (n <= 0)
        poll(NULL, 0, TICK);            /* the program has closed its terminal */
}

static bool holds(const char *text)
{
    char line[COLUMNS + 1];
    for (int i = 0; i < rows; i++) {
        snprintf(line, sizeof line, "%.*s", columns, screen[i]);
        if (strstr(line, text))
            return true;
    }
    return false;
}

/* ---- the program -------------------------------------------------------------------------------- */

static void resize(void)
{
    struct winsize w = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };
    ioctl(terminal, TIOCSWINSZ, &w);
}

static void start(char **argv)
{
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        perror("terminal"), exit(77);
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY); /* kept: its settings outlive the program */
    tcgetattr(other, &before);
    resize();
    pid = fork();
    if (pid == 0) {
        setsid();
        ioctl(other, TIOCSCTTY, 0);
        dup2(other, 0), dup2(other, 1), dup2(other, 2);
        close(other), close(terminal);
        execvp(argv[0], argv);
        _exit(127);
    }
}

static void same_settings(void)
{
    struct termios after;
    tcgetattr(terminal, &after);
    if (after.c_lflag != before.c_lflag || after.c_iflag != before.c_iflag || after.c_oflag != before.c_oflag)
        fail("the terminal's settings", "are not as they were");
}

/* Waits until the program has ended, or stopped. */
static void await(bool stopped, int expected)
{
    char text[40];
    int status = 0, ticks = 0;
    while (waitpid(pid, &status, WNOHANG | WUNTRACED) != pid) {
        take();
        if (ticks++ > TICKS)
            fail("it does not", stopped ? "stop" : "end");
    }
    take();
    same_settings();
    const int is = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    snprintf(text, sizeof text, "%d, expected %d", is, expected);
    if (stopped ? !WIFSTOPPED(status) : is != expected)
        fail("it ended with", text);
}

static void press(const char *keys)
{
    for (; *keys; keys++) {
        const bool control = *keys == '^' && keys[1];
        const char c = control ? (char)(*++keys & 31) : *keys;
        if (write(terminal, &c, 1) != 1)
            fail("keys", "cannot be pressed");
    }
}

static void await_text(bool there, const char *text)
{
    for (int ticks = 0; holds(text) != there; ticks++) {
        take();
        if (ticks > TICKS)
            fail(there ? "it does not say" : "it still says", text);
    }
}

static void command(const char *what, const char *text)
{
    if (!strcmp(what, "wait") || !strcmp(what, "gone"))
        await_text(*what == 'w', text);
    else if (!strcmp(what, "keys"))
        press(text);
    else if (!strcmp(what, "run")) {
        if (system(text))
            fail("the command failed:", text);
    } else if (!strcmp(what, "signal"))
        kill(pid, atoi(text));
    else if (!strcmp(what, "status"))
        await(false, atoi(text));
    else if (!strcmp(what, "stopped"))
        await(true, 0);
    else if (!strcmp(what, "show"))
        show();
    else if (!strcmp(what, "colors")) {
        if (colors != atoi(text))
            fail("the colors are not", text);
    } else if (!strcmp(what, "size") && sscanf(text, "%d %d", &rows, &columns) == 2)
        resize();
    else
        fail("no such command:", what);
}

int main(int argc, char **argv)
{
    char line[1000];
    if (argc < 4)
        return 2;
    rows = atoi(argv[1]), columns = atoi(argv[2]);
    clear(0, 0);
    start(argv + 3);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        const size_t n = strcspn(line, " ");
        const char *text = line[n] ? line + n + 1 : "";
        line[n] = 0;
        if (line[0] && line[0] != '#')
            command(line, text);
    }
    return 0;
}
