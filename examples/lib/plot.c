/* plot: loss.png from loss.tsv, by gnuplot in the background.
 *
 * gnuplot runs without a shell, in the run's own folder, on a script in which nothing comes from the
 * user: there is no path in it to quote. It draws into another file, which takes the place of the picture
 * once it is whole. It has a process group of its own, so that Ctrl-C does not reach it, and nothing waits
 * for it but the end of the program. */
#include "plot.h"
#include "files.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char script[] =
    "# The loss curve of this run: in this folder, gnuplot loss.gp draws loss.png.\n"
    "reset\n"
    "if (!exists('picture')) picture = 'loss.png'\n"
    "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) \\\n"
    "    set terminal pngcairo noenhanced size 1000,600 font 'sans,13'; \\\n"
    "else \\\n"
    "    set terminal png noenhanced size 1000,600\n"
    "set output picture\n"
    "set datafile separator \"\\t\"\n"
    "set xlabel 'training step'\n"
    "set ylabel 'loss (nats per token)'\n"
    "set grid lc rgb '#d8d8d8' lt 1 lw 1\n"
    "set border 3 lc rgb '#606060'\n"
    "set tics nomirror\n"
    "set tmargin 4\n"                   /* above: within the axes it would cut the grid */
    "set key above center horizontal Left reverse maxrows 1 samplen 3 width -2 spacing 1.4 \\\n"
    "    title 'Cross-entropy of the next token'\n"
    "set autoscale xfixmax\n"
    "set rmargin 9\n"
    "set offsets 0, 0, graph 0.03, graph 0.02\n"
    "\n"
    "# The training loss jumps from batch to batch: over it, its running mean m over about n steps.\n"
    "stats 'loss.tsv' every ::1 using 1:2 nooutput\n"
    "n = STATS_records > 5000 ? 50.0 : STATS_records > 400 ? STATS_records / 100.0 : 4.0\n"
    "m = 0.0; w = 0.0\n"
    "mean(y) = (m = m + (y - m) / n, w = w + (1 - w) / n, m / w)\n"
    "\n"
    "# The last validation, with its value: rows without one leave x and y as they are.\n"
    "x = 0; y = 0; has = 0\n"
    "last(a, b) = (b == b) ? (x = a, y = b, has = 1, b) : b\n"
    "stats 'loss.tsv' every ::1 using (last(column(1), column(3))) nooutput\n"
    "if (has) set label 1 sprintf('%.3f', y) at x, y left offset 0.8, 0.1 tc rgb '#b03000'\n"
    "\n"
    "plot 'loss.tsv' every ::1 using 1:2 with lines lw 1 lc rgb '#a9c9e8' title 'training, each step', \\\n"
    "     '' every ::1 using 1:(mean($2)) with lines lw 2.5 lc rgb '#2060a0' \\\n"
    "         title 'training, running mean', \\\n"
    "     '' every ::1 using 1:3 with linespoints lw 2 pt 7 ps 1.1 lc rgb '#e06020' title 'validation'\n"
    "set output\n";

/* The program of that name in PATH, as an absolute path: it is to run in another folder. */
static char *find_program(const char *name)
{
    char here[4096], *path = NULL;
    struct stat about;
    if (!getcwd(here, sizeof here))
        return NULL;
    for (const char *from = getenv("PATH"); from && *from; from += *from == ':') {
        size_t n = strcspn(from, ":");
        char *part = strndup(from, n), *folder = part && *part != '/' ? file_path(here, part) : part;
        path = folder ? file_path(folder, name) : NULL;
        if (folder != part)
            free(folder);
        free(part);
        if (path && stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0)
            return path;
        free(path);
        from += n;
    }
    return NULL;
}

int plot_open(plot *p, const char *folder)
{
    *p = (plot){ .folder = folder, .gnuplot = find_program("gnuplot") };
    char *path = file_path(folder, "loss.gp");
    int failed = !path || file_write(path, script, sizeof script - 1);
    free(path);
    return failed ? -1 : 0;
}

/* The child, until it is gnuplot: nothing here but what is safe after a fork in a program with threads. */
static void become_gnuplot(const plot *p)
{
    static char name[] = "gnuplot", option[] = "-e", set[] = "picture = 'loss.png.tmp'", file[] = "loss.gp";
    char *arguments[] = { name, option, set, file, NULL };
    int null = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || chdir(p->folder))
        _exit(126);
    signal(SIGINT, SIG_DFL);
    execv(p->gnuplot, arguments);
    _exit(127);
}

/* Ends with the last chunk of a PNG: on a full disk gnuplot cuts a picture short and is content. */
static bool is_whole(const char *path)
{
    static const unsigned char last[] = { 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82 };
    unsigned char end[sizeof last];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool whole = fd >= 0 && lseek(fd, -(off_t)sizeof end, SEEK_END) >= 0 &&
                 file_some(fd, end, sizeof end) == sizeof end && memcmp(end, last, sizeof end) == 0;
    if (fd >= 0)
        close(fd);
    return whole;
}

/* Ends the bookkeeping of one drawing: the picture is renamed when gnuplot was content and it is whole. */
static void collect(plot *p, int status)
{
    p->pid = 0;
    p->drawn = false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return;
    char *fresh = file_path(p->folder, "loss.png.tmp"), *path = file_path(p->folder, "loss.png");
    p->drawn = fresh && path && is_whole(fresh) && rename(fresh, path) == 0;
    free(fresh);
    free(path);
}

/* True when none draws any more. */
static bool idle(plot *p)
{
    int status = 0;
    if (p->pid > 0 && waitpid(p->pid, &status, WNOHANG) == p->pid)
        collect(p, status);
    return p->pid == 0;
}

static void end(plot *p)
{
    int status;
    if (p->pid == 0)
        return;
    kill(-p->pid, SIGKILL);             /* the group: what it started goes with it */
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    p->drawn = false;
    file_forget(p->folder, "loss.png.tmp");
}

void plot_draw(plot *p)
{
    if (!p->gnuplot || !idle(p))
        return;
    p->drawn = false;
    pid_t pid = fork();
    if (pid == 0)
        become_gnuplot(p);
    if (pid < 0)
        return;
    setpgid(pid, pid);                  /* here too: whoever comes first */
    p->pid = pid;
}

const char *plot_finish(plot *p)
{
    if (!p->gnuplot)
        return "no picture, for there is no gnuplot: install it (make deps)";
    idle(p);
    end(p);                             /* an unfinished picture is out of date now */
    plot_draw(p);
    for (double until = seconds_now() + 10; !idle(p) && seconds_now() < until;)
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
    if (p->pid) {
        end(p);
        return "no picture, for gnuplot did not finish within ten seconds";
    }
    file_forget(p->folder, "loss.png.tmp");
    return p->drawn ? NULL : "no picture, for gnuplot failed";
}

void plot_close(plot *p)
{
    end(p);
    free(p->gnuplot);
    p->gnuplot = NULL;
}
