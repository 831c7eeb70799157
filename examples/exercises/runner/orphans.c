/* orphans: see orphans.h. */
#include "orphans.h"

#ifdef __linux__
#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5000 };                 /* of a millisecond or more: some processes resist */

/* The parent of a process, from /proc/PID/stat: "PID (name) state parent ...". 0: the process is gone. */
static long parent_of(const char *pid)
{
    char path[300], line[500] = "";
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    const char *after = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (after && sscanf(after, ") %*c %ld", &parent) != 1)
        parent = 0;
    fclose(f);
    return parent;
}

/* Sends a signal to each child of this process (0: none is sent); returns how many there are. */
static int signal_children(int number)
{
    DIR *d = opendir("/proc");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]) && parent_of(e->d_name) == (long)getpid())
            n++, kill((pid_t)atol(e->d_name), number);
    if (d)
        closedir(d);
    return n;
}

static bool adopts;

void orphans_come_to_me(void)
{
    static bool asked;                  /* children from before the first answer are left alone */
    if (!asked)
        adopts = signal_children(0) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    asked = true;
}

/* An orphan that dies may leave children of its own, which then become ours: go on until there are none. */
void orphans_end(void)
{
    for (int round = 0; round < ROUNDS && adopts && signal_children(SIGKILL); round++) {
        poll(NULL, 0, 1);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}

void orphans_die_with_me(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

#else
void orphans_come_to_me(void) { }
void orphans_end(void) { }
void orphans_die_with_me(void) { }
#endif
