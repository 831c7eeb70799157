/* bench: how fast the library is on this machine, and how close to what the machine can do.
 *
 *     make bench                          everything; some minutes
 *     make bench ARGS="--only gemm,steps --config tiny --quick"
 *
 * The first table is the machine's own peak, and the others give their share of it. This is no test:
 * nothing here fails because it is slow. tests/bench/against_pytorch compares with PyTorch,
 * tests/bench/against_openblas with OpenBLAS.
 */
#include "lib/bench.h"
#include <stdlib.h>

static const struct part {
    const char *name;
    void      (*run)(const bench *b);
} parts[] = {
    { "gemm", bench_gemm },           { "ops", bench_ops },         { "attention", bench_attention },
    { "steps", bench_steps },         { "growth", bench_growth },   { "generation", bench_generation },
};
enum { PARTS = sizeof parts / sizeof *parts };

static const char usage[] =
    "usage: bench [flags]\n"
    "  --only PARTS     of peak, gemm, ops, attention, steps, generation, growth;\n"
    "                   several with commas between; peak is always measured\n"
    "  --config NAMES   of nano, tiny, small, gpt2, for steps and generation\n"
    "  --threads N      what `all threads` are; 0: as many as there are cores\n"
    "  --quick          shorter, and less sure\n"
    "  --tsv            for machines: tabs, and each row begins with its table's name\n";

#if defined(__GNUC__) && !defined(__clang__)
static const char compiler[] = "gcc ";
#else
static const char compiler[] = "";      /* clang's version begins with its name */
#endif

static int refuse(void)
{
    fputs(usage, stderr);
    return 2;
}

/* 0: go on; 1: help was requested; 2: refused. */
static int parse(bench *b, const char **only, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end = NULL;
        if (strcmp(flag, "--help") == 0) {
            fputs(usage, stdout);
            return 1;
        }
        if (strcmp(flag, "--quick") == 0)
            b->quick = true;
        else if (strcmp(flag, "--tsv") == 0)
            b->tsv = true;
        else if (!value)
            return refuse();
        else if (i++, strcmp(flag, "--only") == 0)
            *only = value;
        else if (strcmp(flag, "--config") == 0)
            b->configs = value;
        else if (strcmp(flag, "--threads") == 0) {
            long n = strtol(value, &end, 10);
            if (end == value || *end || n < 0 || n > 1024)
                return refuse();
            b->threads[ALL] = (int)n;
        } else
            return refuse();
    }
    const char *part_names[PARTS + 1] = { "peak" }, *configs[4];
    for (int i = 0; i < PARTS; i++)
        part_names[i + 1] = parts[i].name;
    for (int i = 0; i < 4; i++)
        configs[i] = workloads[i].name;
    return all_known(*only, PARTS + 1, part_names) && all_known(b->configs, 4, configs) ? 0 : 2;
}

/* Every part runs in a process of its own, so that its memory does not affect the next. */
static void measure_peak(const void *arg, double *result)
{
    bench b = *(const bench *)arg;
    bench_peak(&b);
    for (int k = 0; k < 2; k++) {
        result[k] = b.peak[k];
        result[2 + k] = b.triad[k];
        result[4 + k] = b.read[k];
    }
}

struct job {
    const bench       *b;
    const struct part *part;
};

static void run_part(const void *arg, double *result)
{
    const struct job *j = arg;
    (void)result;
    j->part->run(j->b);
}

int main(int argc, char **argv)
{
    bench b = { .threads = { 1, 0 } };
    const char *only = NULL;
    char threads[32];
    int status = parse(&b, &only, argc, argv);
    if (status)
        return status == 1 ? 0 : status;
    gra_tape *t = need(gra_open(b.threads[ALL]));
    b.threads[ALL] = gra_threads(t);
    b.kinds = b.threads[ALL] > 1 ? 2 : 1;
    b.seconds = b.quick ? 0.03 : 0.3;
    printf("%sgradus, %s, %s, up to %s, compiled by %s%s\n", b.tsv ? "# " : "",
           sizeof(real) == sizeof(float) ? "float32" : "float64", gra_isa_name(t),
           thread_text(b.threads[ALL], threads), compiler, __VERSION__);
    printf("%seach figure: the median of the fastest third of its runs%s\n", b.tsv ? "# " : "",
           b.quick ? "; a quick run: few of them" : "");
    gra_close(t);

    double result[6], mib;
    in_child(measure_peak, &b, 6, result, &mib);
    if (isnan(mib)) {
        fprintf(stderr, "bench: the peak could not be measured\n");
        return 1;
    }
    memcpy(b.peak, result, sizeof b.peak);
    memcpy(b.triad, result + 2, sizeof b.triad);
    memcpy(b.read, result + 4, sizeof b.read);
    for (int i = 0; i < PARTS; i++)
        if (asked_for(only, parts[i].name)) {
            in_child(run_part, &(struct job){ &b, &parts[i] }, 0, result, &mib);
            if (isnan(mib)) {
                fprintf(stderr, "bench: %s failed\n", parts[i].name);
                status = 1;
            }
        }
    return status;
}
