/* gnuplot: see gnuplot.h. It runs without a shell, reads its script from an unnamed file and writes the
 * picture to another: no path has to be quoted, no file removed afterwards. */
#include "gnuplot.h"
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

/* Replaces the child process by gnuplot. */
static void become_gnuplot(FILE *script, FILE *picture, const char *folder)
{
    static char name[] = "gnuplot", option[] = "-d";    /* without the user's settings */
    char *arguments[] = { name, option, NULL };
    const int null = open("/dev/null", O_RDWR);
    signal(SIGXFSZ, SIG_DFL);           /* gnuplot does not check for failed writes */
    if (null < 0 || dup2(fileno(script), 0) < 0 || dup2(fileno(picture), 1) < 0 || dup2(null, 2) < 0 ||
        (folder && chdir(folder)))
        _exit(1);
    execvp(name, arguments);
    _exit(NOT_FOUND);
}

/* NULL if gnuplot succeeded, else what went wrong. */
static const char *wait_for(pid_t pid)
{
    int status;
    const bool ended = waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    if (ended && WEXITSTATUS(status) == NOT_FOUND)
        return "gnuplot is missing: install it (make deps)";
    return ended && WEXITSTATUS(status) == 0 ? NULL : "gnuplot failed";
}

/* On a full disk gnuplot truncates the picture without an error. A complete PNG ends with this chunk. */
static bool is_whole(const char *bytes, size_t n)
{
    static const char last[] = "\0\0\0\0IEND\xAE\x42\x60\x82";
    const size_t m = sizeof last - 1;
    return n >= m && memcmp(bytes + n - m, last, m) == 0;
}

static const char *keep(FILE *picture, const char *path)
{
    struct stat about;
    const size_t n = fstat(fileno(picture), &about) == 0 ? (size_t)about.st_size : 0;
    char *bytes = n > 0 ? malloc(n) : NULL;
    const char *why = "gnuplot failed";
    if (bytes && fseek(picture, 0, SEEK_SET) == 0 && fread(bytes, 1, n, picture) == n &&
        (!file_ends_in(path, ".png") || is_whole(bytes, n)))
        why = file_replace(path, bytes, n) ? strerror(errno) : NULL;
    free(bytes);
    return why;
}

const char *gnuplot_draw(FILE *script, const char *folder, const char *path)
{
    FILE *picture = script ? tmpfile() : NULL;
    const bool ready = picture && !fflush(script) && !ferror(script) &&
        lseek(fileno(script), 0, SEEK_SET) == 0;
    signal(SIGCHLD, SIG_DFL);           /* if it is ignored, waitpid fails */
    const pid_t pid = ready ? fork() : -1;
    if (pid == 0)
        become_gnuplot(script, picture, folder);
    const char *why = pid < 0 ? strerror(errno) : wait_for(pid);
    if (!why)
        why = keep(picture, path);
    if (picture)
        fclose(picture);
    if (script)
        fclose(script);
    return why;
}
