/* bench.h: what the parts of the benchmark share, and the parts. */
#ifndef GRADUS_BENCH_H
#define GRADUS_BENCH_H

#include "../../../core/op.h"

/* ---- what was requested, and what the machine can do ---- */

enum { ONE, ALL };                      /* one thread, all threads: index of figures for both */

typedef struct bench {
    int         threads[2];             /* [ONE] is 1 */
    int         kinds;                  /* 2, or 1 if all threads are one */
    bool        quick, tsv;
    double      seconds;                /* how long each figure is measured for */
    const char *configs;                /* comma-separated names, or NULL: all */
    double      peak[2];                /* GFLOP/s */
    double      triad[2], read[2];      /* GB/s, from memory */
} bench;

bool asked_for(const char *list, const char *name);     /* name is in list, or list is NULL */
bool all_known(const char *list, size_t n, const char *const *names);   /* or reports which is not */

void bench_peak(bench *b);              /* fills in peak, triad, read; the others print a table */
void bench_gemm(const bench *b);
void bench_ops(const bench *b);
void bench_attention(const bench *b);
void bench_steps(const bench *b);
void bench_generation(const bench *b);
void bench_growth(const bench *b);

double fma_peak(const bench *b, int threads);           /* GFLOP/s, with the best instruction set */

/* ---- time (samples.c) ----
 * samples s = samples_begin(seconds, 3);
 * while (samples_needed(&s)) { double t = now(); ...; samples_add(&s, now() - t); } */
typedef struct samples {
    int    n, least;
    double begun, seconds, value[1000];
} samples;

double  now(void);                                      /* seconds */
samples samples_begin(double seconds, int least);       /* at least that many */
bool    samples_needed(const samples *s);
void    samples_add(samples *s, double value);
double  samples_fastest(samples *s);                    /* the median of the fastest third */
bool    lasts(double sample, double (*f)(void *arg), void *arg);    /* three times: one may be disturbed */
double  time_of(double seconds, void (*f)(void *arg), void *arg);   /* of a call; a sample is a millisecond */

/* ---- tables (table.c) ---- */
enum { TEXT = -1 };                     /* the digits of a column of text */

typedef struct column {
    const char *key;                    /* its name for machines, */
    const char *title, *group;          /* for readers, and a heading above it and the next ones, or NULL */
    int         width, digits;
} column;

typedef struct table {
    const bench  *b;
    const char   *name;
    const column *column;
    int           columns, at;
} table;

table table_begin(const bench *b, const char *name, const char *sentence, int columns, const column *c);
void  table_text(table *t, const char *format, ...) GRA_PRINTF(2, 3);       /* the next cell of a row */
void  table_number(table *t, double x);                 /* NaN: an empty cell */
const char *thread_text(int threads, char text[32]);    /* "2 threads" */

/* ---- memory (child.c) ---- */
/* Runs f in a process of its own, which fills in result[n] and measures its peak memory in MiB. All are NaN
 * if it failed. */
void in_child(void (*f)(const void *arg, double *result), const void *arg, int n, double *result,
              double *mib);
double peak_mib(void);                                  /* of this process */

/* ---- models (workload.c) ---- */
typedef struct workload {               /* a pre-norm GPT with an untied head, and its inputs */
    char name[64];
    int  vocab, context, batch, width, heads, layers;
} workload;

extern const workload workloads[4];     /* nano, tiny, small, gpt2 */
bool   workload_read(workload *w, const char *text);    /* a name, or six comma-separated numbers */
double workload_flop(const workload *w);                /* of a step's products; all of T x T counted */

typedef struct trainer trainer;         /* a model, AdamW and a tape to train it on */
trainer *trainer_open(const workload *w, int threads, double dropout);  /* NULL: out of memory */
int      trainer_products(trainer *t, gra_number products);             /* as gra_products; 0 or -1 */
double   trainer_step(trainer *t);      /* forward, backward, update on random tokens: the loss */
size_t   trainer_values(const trainer *t);              /* how many parameters, each number counted */
void     trainer_close(trainer *t);

/* ---- a step, timed in a process of its own (steps.c) ---- */
void time_steps(const bench *b, const workload *w, int threads, double dropout, double *seconds,
                double *mib);

/* ---- ops (optime.c) ---- */
typedef struct op_case {
    int   inputs;                       /* how many tensors of random values, */
    gra_shape shape;                    /* all of this shape, */
    gra_tensor *(*make)(gra_tape *t, gra_tensor **x, void *arg);        /* are its arguments; it is timed */
    void *arg;
} op_case;

void time_op(const bench *b, int threads, const op_case *c, double *forward, double *backward);  /* seconds */
real *values_of(size_t n);              /* uninitialised, 64-byte aligned; the caller frees them */
real *random_values(size_t n);          /* in (-1, 1) */
void *need(void *p);                    /* returns p, or ends the program if it is NULL: out of memory */

#endif
