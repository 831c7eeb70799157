/* memory_file: see memory_file.h. */
#include "memory_file.h"
#include "../../core/files/infile.h"
#include "../../core/files/outfile.h"
#include <errno.h>
#include <string.h>

static out written;
static struct {
    const unsigned char *bytes;
    size_t n;
} given;

/* ---- writing ---- */

bool gra_outfile_open(gra_outfile *file, const char *path)
{
    (void)path;
    *file = (gra_outfile){ .fd = -1 };
    out_clear(&written);
    return true;
}

void gra_outfile_write(gra_outfile *file, const void *data, size_t n)
{
    out_bytes(&written, data, n);
    file->error = written.failed ? ENOMEM : 0;
}

bool gra_outfile_close(gra_outfile *file)
{
    if (file->error)
        written.n = 0;
    errno = file->error;
    return !file->error;
}

const out *memory_file_get(void) { return &written; }

/* ---- reading ---- */

void memory_file_put(const unsigned char *bytes, size_t n)
{
    given.bytes = bytes;
    given.n = n;
}

bool gra_infile_open(gra_infile *in, const char *path, gra_failure *error)
{
    (void)path;
    *in = (gra_infile){ .fd = -1, .length = given.n, .error = error };
    return true;
}

bool gra_infile_read(gra_infile *in, uint64_t at, void *to, size_t n)
{
    if (at > given.n || n > given.n - at)
        return gra_failure_set(in->error, "the file ended while it was being read");
    memcpy(to, given.bytes + at, n);
    return true;
}

void gra_infile_close(gra_infile *in)
{
    (void)in;
}
