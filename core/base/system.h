/* system: the POSIX functions that gradus uses. Functions that Windows lacks are declared here and defined in
 * system.c. No other file includes windows.h, which defines short words as macros. Paths are UTF-8 in a
 * program whose manifest says so (examples/windows), as in gradus's programs. */
#ifndef GRADUS_SYSTEM_H
#define GRADUS_SYSTEM_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef _WIN32
#ifndef __wasm__
#include <sys/resource.h>
#endif
#define free_aligned free               /* of aligned_alloc */
#define begin_system(program) ((void)(program))
#define plain_path(path) (path)
#else
#include <direct.h>
#include <io.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory, cores ---- */
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#define free_aligned                   _aligned_free
#define sysconf                        gra_sysconf
enum { _SC_NPROCESSORS_ONLN, _SC_PHYS_PAGES, _SC_PAGESIZE };
#define _SC_PHYS_PAGES _SC_PHYS_PAGES
long gra_sysconf(int what);

/* ---- files: bytes, not text ---- */
struct gra_stat {
    unsigned  st_mode, st_dev, st_uid;
    long long st_ino, st_size;
};
int     gra_stat(const char *path, struct gra_stat *s);
int     gra_fstat(int fd, struct gra_stat *s);
ssize_t gra_read(int fd, void *to, size_t n);
ssize_t gra_write(int fd, const void *from, size_t n);
ssize_t gra_pread(int fd, void *to, size_t n, long long at);
int     gra_rename(const char *from, const char *to);
FILE   *gra_tmpfile(void);
#define stat               gra_stat
#define lstat              gra_stat
#define fstat              gra_fstat
#define read               gra_read
#define write              gra_write
#define pread              gra_pread
#define rename             gra_rename
#define tmpfile            gra_tmpfile
#define fsync              _commit
#define mkdir(path, mode)  _mkdir(path)
#define realpath(path, to) _fullpath(to, path, 0)
#define fchmod(fd, mode)   ((void)0)
#define geteuid()          0u
#define S_ISLNK(mode)      0
#define O_CLOEXEC          (_O_BINARY | _O_NOINHERIT)
#define O_NONBLOCK         0
#define O_NOFOLLOW         0

struct flock { short l_type, l_whence; };
enum { F_GETFD, F_SETLK, F_WRLCK };
int     gra_fcntl(int fd, int what, ...);
#define fcntl gra_fcntl

/* ---- programs ---- */
struct sigaction {                      /* Windows' signal() behaves as these flags say */
    void (*sa_handler)(int);
    int  sa_flags, sa_mask;
};
enum { SA_RESETHAND = 1, SA_RESTART = 2 };
#define sigemptyset(set)               ((void)(set))
#define sigaction(number, action, was) ((void)signal(number, (action)->sa_handler))
#define SIGXFSZ                        25

void    gra_begin_system(char *program);        /* streams then carry bytes, and the screen shows UTF-8 */
char   *gra_plain_path(char *path);             /* with / for \, in place */
int     gra_run_program(char *const arguments[], int in, int out, const char *folder);
#define begin_system gra_begin_system
#define plain_path   gra_plain_path
#define run_program  gra_run_program
#endif

#endif
