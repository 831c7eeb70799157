/* gnuplot: see gnuplot.h.
 *
 * It runs without a shell, reads its script from an unnamed file and writes the picture to another, so there is no
 * path to quote, nothing that somebody else could exchange, and nothing to clean up. It has a process group of its
 * own, so that Ctrl-C does not reach it. */
#include "gnuplot.h"
#include "files.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char gnuplot_missing[] = "there is no gnuplot: install it (make deps)";

/* The program of that name in PATH, as an absolute path: it is to run in another folder. To free. */
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

const char *gnuplot_open(gnuplot *g)
{
    gnuplot_close(g);
    *g = (gnuplot){ .script = file_stream(NULL, NULL), .picture = file_stream(NULL, NULL) };
    return g->script && g->picture ? NULL : strerror(errno);
}

/* The child, until it is gnuplot: nothing here but what is safe after a fork in a program with threads. */
static void become_gnuplot(const gnuplot *g, const char *program, const char *folder)
{
    static char name[] = "gnuplot", option[] = "-d";    /* not the user's settings */
    char *arguments[] = { name, option, NULL };
    int null = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    if (null < 0 || dup2(fileno(g->script), 0) < 0 || dup2(fileno(g->picture), 1) < 0 || dup2(null, 2) < 0 ||
        (folder && chdir(folder)))
        _exit(126);
    signal(SIGINT, SIG_DFL);
    execv(program, arguments);
    _exit(127);
}

const char *gnuplot_start(gnuplot *g, const char *folder)
{
    char *program = find_program("gnuplot");
    if (!program)
        return gnuplot_missing;
    const bool ready = !fflush(g->script) && !ferror(g->script) && !fseek(g->script, 0, SEEK_SET);
    signal(SIGCHLD, SIG_DFL);           /* where it is ignored, as the parent may have left it, nobody can be waited for */
    pid_t pid = ready ? fork() : -1;
    if (pid == 0)
        become_gnuplot(g, program, folder);
    free(program);
    if (pid < 0)
        return strerror(errno);
    setpgid(pid, pid);                  /* here too: whoever comes first */
    g->pid = pid;
    return NULL;
}

bool gnuplot_draws(gnuplot *g, double seconds)
{
    int status = 0;
    for (double until = seconds_now() + seconds; g->pid;) {
        const pid_t ended = waitpid(g->pid, &status, WNOHANG);
        if (ended == g->pid || (ended < 0 && errno != EINTR)) {         /* or it is no child any more */
            g->failed = ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
            g->pid = 0;
        } else if (seconds_now() >= until)
            return true;
        else
            nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
    }
    return false;
}

/* Ends with the last chunk of a PNG: on a full disk gnuplot cuts a picture short and is content. */
static bool is_whole(const char *bytes, size_t n)
{
    static const unsigned char last[] = { 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82 };
    return n >= sizeof last && memcmp(bytes + n - sizeof last, last, sizeof last) == 0;
}

const char *gnuplot_keep(gnuplot *g, const char *path, bool png)
{
    struct stat about;
    if (g->failed || fstat(fileno(g->picture), &about) || about.st_size == 0)
        return "gnuplot failed";
    const size_t n = (size_t)about.st_size;
    char *bytes = malloc(n);
    if (!bytes)
        return "out of memory";
    const char *why = lseek(fileno(g->picture), 0, SEEK_SET) || file_some(fileno(g->picture), bytes, n) != n ||
                      (png && !is_whole(bytes, n)) ? "gnuplot failed" : NULL;
    if (!why && file_write(path, bytes, n))
        why = "";
    free(bytes);
    return why;
}

void gnuplot_close(gnuplot *g)
{
    int status;
    if (g->pid) {
        kill(-g->pid, SIGKILL);         /* the group: what it started goes with it */
        kill(g->pid, SIGKILL);
        while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (g->script)
        fclose(g->script);
    if (g->picture)
        fclose(g->picture);
    *g = (gnuplot){ 0 };
}
