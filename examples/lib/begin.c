/* begin: see begin.h. */
#include "begin.h"
#include "../../core/base/system.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* open returns the lowest free number, which in this order is the stream's own number. */
static void open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            perror("/dev/null");
            exit(1);
        }
}

void begin_program(char **argv)
{
    begin_system(argv[0]);
    open_streams();
    signal(SIGXFSZ, SIG_IGN);
}
