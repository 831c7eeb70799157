/* system: see system.h. */
#include "system.h"

#ifdef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <process.h>
#include <stdbool.h>
#include <string.h>
#include <windows.h>

/* ---- memory, cores ---- */

long gra_sysconf(int what)
{
    SYSTEM_INFO s;
    MEMORYSTATUSEX m = { .dwLength = sizeof m };
    DWORD_PTR mine = 0, all;
    GetSystemInfo(&s);
    GlobalMemoryStatusEx(&m);
    if (what == _SC_NPROCESSORS_ONLN && GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) && mine)
        return __builtin_popcountll(mine);
    return (long)(what == _SC_PHYS_PAGES ? m.ullTotalPhys / s.dwPageSize :
                  what == _SC_PAGESIZE ? s.dwPageSize : s.dwNumberOfProcessors);
}

/* ---- files ---- */

static int failed(void)
{
    static const struct { DWORD code; int is; } known[] = {
        { ERROR_FILE_NOT_FOUND, ENOENT },    { ERROR_PATH_NOT_FOUND, ENOENT },
        { ERROR_INVALID_NAME, ENOENT },      { ERROR_ACCESS_DENIED, EACCES },
        { ERROR_SHARING_VIOLATION, EACCES }, { ERROR_LOCK_VIOLATION, EACCES },
        { ERROR_WRITE_PROTECT, EROFS },      { ERROR_DISK_FULL, ENOSPC },
    };
    const DWORD code = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == code)
            errno = known[i].is;
    return -1;
}

/* A file's number comes from NTFS; a device or a pipe has no number. */
static int about(HANDLE file, struct gra_stat *s)
{
    BY_HANDLE_FILE_INFORMATION i;
    if (file == INVALID_HANDLE_VALUE)
        return failed();
    *s = (struct gra_stat){ .st_mode = S_IFCHR };
    if (GetFileInformationByHandle(file, &i))
        *s = (struct gra_stat){
            .st_mode = i.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR : S_IFREG,
            .st_dev = i.dwVolumeSerialNumber, .st_ino = (long long)i.nFileIndexHigh << 32 | i.nFileIndexLow,
            .st_size = (long long)i.nFileSizeHigh << 32 | i.nFileSizeLow };
    return 0;
}

int gra_fstat(int fd, struct gra_stat *s) { return about((HANDLE)_get_osfhandle(fd), s); }

int gra_stat(const char *path, struct gra_stat *s)
{
    const HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    const int status = about(file, s);
    if (status == 0)
        CloseHandle(file);
    return status;
}

static unsigned at_most(size_t n)       { return n < 1 << 30 ? (unsigned)n : 1 << 30; }
ssize_t gra_read(int fd, void *to, size_t n)            { return _read(fd, to, at_most(n)); }
ssize_t gra_write(int fd, const void *from, size_t n)   /* _write to a full disk may set EINVAL */
{
    DWORD wrote = 0;
    return WriteFile((HANDLE)_get_osfhandle(fd), from, at_most(n), &wrote, NULL) ? (ssize_t)wrote : failed();
}
ssize_t gra_pread(int fd, void *to, size_t n, long long at)
{
    return _lseeki64(fd, at, SEEK_SET) < 0 ? -1 : gra_read(fd, to, n);
}

/* This call waits until the new name is on the disk. */
int gra_rename(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0 : failed();
}

/* The C library's tmpfile would need permission to write to the root of the disk. The flags T and D make the
 * file temporary, and delete it on closing. */
FILE *gra_tmpfile(void)
{
    char *name = _tempnam(NULL, "gradus");
    FILE *f = name ? fopen(name, "w+bTD") : NULL;
    free(name);
    return f;
}

/* A lock also keeps other programs from reading, so a byte past the end of the file is locked. */
int gra_fcntl(int fd, int what, ...)
{
    const HANDLE file = (HANDLE)_get_osfhandle(fd);
    return what != F_SETLK || LockFile(file, 0, 1u << 30, 1, 0) ? 0 : failed();
}

/* ---- programs ---- */

void gra_begin_system(char *program)
{
    gra_plain_path(program);
    _fmode = _O_BINARY;
    for (int fd = 0; fd < 3; fd++)
        _setmode(fd, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
}

char *gra_plain_path(char *path)
{
    for (char *c = path; *c; c++)
        if (*c == '\\')
            *c = '/';
    return path;
}

/* Returns the program's exit status; 127: there is no such program. The program's errors are not shown. */
int gra_run_program(char *const arguments[], int in, int out, const char *folder)
{
    const int stream[] = { in, out, _open("NUL", _O_RDWR) };
    int kept[3];
    char here[MAX_PATH];
    _getcwd(here, sizeof here);
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = _dup(fd);
        _dup2(stream[fd], fd);
    }
    const bool there = !folder || _chdir(folder) == 0;
    const intptr_t status = there ? _spawnvp(_P_WAIT, arguments[0], (const char *const *)arguments) : 1;
    for (int fd = 0; fd < 3; fd++) {
        _dup2(kept[fd], fd);
        _close(kept[fd]);
    }
    _chdir(here);
    _close(stream[2]);
    return status == -1 ? 127 : (int)status;
}
#else
typedef int gra_system;                 /* other systems need no definitions, but C forbids an empty file */
#endif
