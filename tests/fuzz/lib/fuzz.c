/* fuzz: see fuzz.h. warn() and say() print nothing: they replace the functions of examples/lib/message.c. */
#include "fuzz.h"
#include "../../../core/gradus.h"
#include "../../../examples/lib/message.h"
#include "../../lib/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int  complaints;
static long held;

void fuzz_claim(int that, const char *what)
{
    if (that)
        return;
    fprintf(stderr, "fuzz: this does not hold: %s\n", what);
    abort();
}

gra_model *fuzz_model(void)
{
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, NULL);
    gra_close(t);
    return m;
}

/* The memory that every tape and model allocates on opening, whatever the file. */
static void learn_opening(void)
{
    static bool learnt;
    if (learnt)
        return;
    fault_usual(true);
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    gra_scalar(t, 1);
    gra_model_close(gra_model_open(t, NULL));
    gra_close(t);
    fault_usual(false);
    learnt = true;
}

void fuzz_begin(size_t n)
{
    learn_opening();
    complaints = 0;
    held = fault_held();
    fault_limit(8 * n + (64 << 10));
}

void fuzz_end(void)
{
    fault_limit(0);
    fuzz_claim(fault_held() == held, "all that was taken is given back");
}

int fuzz_complaints(void) { return complaints; }

void fuzz_told(int failed, int told)
{
    fuzz_claim(!failed == !told, "there is a sentence when it failed, and else none");
}

size_t fuzz_part(const uint8_t **bytes, size_t *left, const uint8_t **part)
{
    static const char mark[] = "====\n";
    const size_t m = sizeof mark - 1;
    size_t n = 0;
    *part = *bytes;
    while (n < *left && (*left - n < m || memcmp(*bytes + n, mark, m) != 0))
        n++;
    const size_t used = n + (*left - n < m ? *left - n : m);
    *bytes += used;
    *left -= used;
    return n;
}

/* ---- files: in memory if the system has such a folder ---- */

static char folder[64];

static void forget(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "fuzz: %s is left\n", folder);
}

const char *fuzz_folder(void)
{
    if (!folder[0]) {
        const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/gradus-fuzz-%ld", where, (long)getpid());
        fuzz_claim(mkdir(folder, 0700) == 0, "a folder can be made");
        atexit(forget);
    }
    return folder;
}

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t n)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE *f = fopen(path, "wb");
    fuzz_claim(f && fwrite(bytes, 1, n, f) == n, "a file can be written");
    fclose(f);
    return path;
}

/* ---- the programs' messages ---- */

const char *program_name = "fuzz";

const char *say_last(const char *path) { return path; }

static void format_only(const char *format, va_list args)
{
    char text[4096];
    fuzz_claim(vsnprintf(text, sizeof text, format, args) >= 0, "a sentence can be put into words");
}

int warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    format_only(format, args);
    va_end(args);
    complaints++;
    return -1;
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    format_only(format, args);
    va_end(args);
}

void   say_bytes(const char *bytes, size_t n)   { fuzz_claim(bytes || !n, "there is something to say"); }
bool   say_failed(void)                         { return false; }

/* ---- without libFuzzer ---- */

#ifndef GRADUS_FUZZER
int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        fuzz_claim(f != NULL, argv[i]);
        const size_t n = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        uint8_t *exact = malloc(n + !n);        /* of exact size, to detect reads past the end */
        fuzz_claim(exact != NULL, "there is memory");
        memcpy(exact, bytes, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
#endif
