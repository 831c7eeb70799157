/* gnuplot: see gnuplot.h. gnuplot runs without a shell, reads its script from one unnamed file and writes the
 * picture to a second: no path has to be quoted, and no file has to be removed afterwards. */
#include "gnuplot.h"
#include "../../core/base/system.h"
#include "files.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_FOUND = 127 };

#ifndef run_program                     /* the system has none */
#include <sys/wait.h>

/* Replaces the child process by the program. */
static void become(char *const arguments[], int in, int out, const char *folder)
{
    const int null = open("/dev/null", O_RDWR);
    signal(SIGXFSZ, SIG_DFL);           /* gnuplot does not check for failed writes */
    if (null < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0 || (folder && chdir(folder)))
        _exit(1);
    execvp(arguments[0], arguments);
    _exit(NOT_FOUND);
}

/* Returns the program's exit status, or -1: errno is set. */
static int run_program(char *const arguments[], int in, int out, const char *folder)
{
    int status;
    signal(SIGCHLD, SIG_DFL);           /* if SIGCHLD is ignored, waitpid fails */
    const pid_t pid = fork();
    if (pid == 0)
        become(arguments, in, out, folder);
    if (pid < 0)
        return -1;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
#endif

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
    static char name[] = "gnuplot", option[] = "-d";    /* without the user's settings */
    char *arguments[] = { name, option, NULL };
    FILE *picture = script ? tmpfile() : NULL;
    const bool ready = picture && !fflush(script) && !ferror(script) &&
        lseek(fileno(script), 0, SEEK_SET) == 0;
    const int status = ready ? run_program(arguments, fileno(script), fileno(picture), folder) : -1;
    const char *why = status < 0 ? strerror(errno) :
        status == NOT_FOUND ? "gnuplot is missing: install it (make deps)" :
        status > 0 ? "gnuplot failed" : keep(picture, path);
    if (picture)
        fclose(picture);
    if (script)
        fclose(script);
    return why;
}
