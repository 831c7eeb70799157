/* train_mpi: the training of build/train on several MPI processes (ranks), on one machine or several.
 *
 *     make mpi RANKS=2 ARGS="--steps 200"             (mpirun -n 2 build/train-mpi --steps 200)
 *
 * Data-parallel: each rank has the whole model and takes its share of every batch; between backward and the
 * optimiser's step MPI_Allreduce adds the gradients of all ranks, so that all make the same step. The flags
 * are train's, and the default is one thread per rank.
 *
 * A batch is cut into 4 shards, or --shards N; their number must be a multiple of the number of ranks. A rank
 * adds the gradients of its shards pair by pair, as a tree, so that one rank and two add in the same order
 * and compute the same bits; with more ranks the order is MPI's, and losses agree to rounding. Random numbers
 * depend on the seed, the step and the shard, never on the rank. Only rank 0 writes files.
 *
 * The code needs only gra_param_count, gra_param_at and the fields grad and size of a parameter. */
#include "../lib/begin.h"
#include "../lib/checkpoint.h"
#include "../lib/files.h"
#include "../lib/hash.h"
#include "../lib/message.h"
#include "../lib/step.h"
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

const char *program_name = "train-mpi";

#define SHARDS_FILE "shards.tsv"        /* the number of shards, for --resume */

typedef struct job {
    int       argc;
    char    **argv;
    training  t;
    run       run;
    int       rank, ranks, shards;
    size_t    values;                   /* in all parameters */
    gra_real *sum;                      /* the gradients of all parameters, then the loss: values + 1 */
    gra_real *other;                    /* a stack of such rows, for the tree */
} job;

#define MPI_REAL_TYPE (sizeof(gra_real) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE)

/* ---- gradients ----------------------------------------------------------------------------------- */

/* The targets that count in these rows of a batch. */
static size_t tokens_of(const batch *b, int from, int to)
{
    size_t n = 0;
    for (int i = from * b->time; i < to * b->time; i++)
        n += b->next[i] != GRA_IGNORE_INDEX;
    return n;
}

/* Writes the gradient of one shard of the batch, times its share of the batch's tokens, to row[values + 1].
 * 0, or -1 after a warning. */
static int shard_gradient(job *j, int shard, gra_real *row)
{
    training *t = &j->t;
    const batch *b = t->batch;
    const int from = b->rows * shard / j->shards, to = b->rows * (shard + 1) / j->shards, at = from * b->time;
    const gra_real part = (gra_real)tokens_of(b, from, to) / (gra_real)b->tokens;
    gra_rng dropout;
    gra_manual_seed(&dropout, ((uint64_t)t->o.seed * 1000003 + (uint64_t)t->step) * 1009 + (uint64_t)shard);
    const batch rows = { .rows = to - from, .time = b->time, .ids = b->ids + at, .next = b->next + at };
    gra_zero_grad(t->model);
    const double loss = step_backward(t->tape, &dropout, t->forward, &t->gpt, &rows, 1);
    if (gra_error(t->tape))
        return warn("rank %d, step %ld: %s", j->rank, t->step, gra_error(t->tape));
    for (int i = 0; i < gra_param_count(t->model); i++) {
        const gra_tensor *p = gra_param_at(t->model, i);
        for (size_t k = 0; k < p->size; k++)
            *row++ = part * p->grad[k];
    }
    *row = part * (gra_real)loss;
    return 0;
}

/* Sums over the shards from <= i < to as a tree: the first half plus the second. room: a row of j->other for
 * each level. */
static int add_shards(job *j, int from, int to, gra_real *row, gra_real *room)
{
    if (to - from == 1)
        return shard_gradient(j, from, row);
    if (add_shards(j, from, (from + to) / 2, row, room) ||
        add_shards(j, (from + to) / 2, to, room, room + j->values + 1))
        return -1;
    for (size_t i = 0; i <= j->values; i++)
        row[i] += room[i];
    return 0;
}

/* Writes the gradient of the whole batch to the parameters of every rank. Returns the loss. */
static double batch_gradient(job *j)
{
    const int each = j->shards / j->ranks;
    if (add_shards(j, j->rank * each, (j->rank + 1) * each, j->sum, j->other))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allreduce(MPI_IN_PLACE, j->sum, (int)(j->values + 1), MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD);
    const gra_real *row = j->sum;
    for (int i = 0; i < gra_param_count(j->t.model); i++) {
        gra_tensor *p = gra_param_at(j->t.model, i);
        memcpy(p->grad, row, p->size * sizeof *row);
        row += p->size;
    }
    return (double)*row;
}

/* ---- are all ranks alike? ------------------------------------------------------------------------ */

static uint64_t hash_parameters(const gra_model *m)
{
    uint64_t h = HASH_START;
    for (int i = 0; i < gra_param_count(m); i++)
        h = hash(h, gra_param_at(m, i)->data, gra_param_at(m, i)->size * sizeof(gra_real));
    return h;
}

static bool differs(uint64_t mine)
{
    uint64_t least, most;
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least != most;
}

static void compare_ranks(const job *j)
{
    if (!differs(hash_parameters(j->t.model)))
        return;
    if (j->rank == 0)
        warn("step %ld: the parameters differ between ranks: are all machines alike?", j->t.step);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Before the first step, compares the text, the parameters and the flags that determine the run; the path of
 * the text and the like may differ. */
static int compare_starts(const job *j)
{
    options o = j->t.o;
    o.data = NULL;
    o.threads = o.sample = o.checkpoint_every = o.snapshot_every = o.quiet = 0;
    char *flags = options_write(&o);
    uint64_t h = hash_parameters(j->t.model);
    h = hash(h, flags ? flags : "", flags ? strlen(flags) : 0);
    h = hash(h, j->t.text.hash, sizeof j->t.text.hash);
    h = hash(h, &j->shards, sizeof j->shards);
    free(flags);
    if (!differs(h))
        return FLAGS_GO_ON;
    if (j->rank == 0)
        warn("the ranks were not started alike: flags, text or parameters differ between them");
    return 2;
}

/* ---- the run ------------------------------------------------------------------------------------- */

/* Runs a part of the preparation on rank 0, then on the others, so a warning that all ranks share is printed
 * once. Returns FLAGS_GO_ON, or the status that all exit with. */
static int on_all(job *j, int (*part)(job *))
{
    int first = j->rank == 0 ? part(j) : 0, worst;
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const int mine = j->rank > 0 && first == FLAGS_GO_ON ? part(j) : first;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* Opens the text and the model, new or resumed, the same on every rank. */
static int prepare(job *j)
{
    training *t = &j->t;
    if (training_open(t, t->o.threads ? (int)t->o.threads : 1))
        return 1;
    j->values = gra_param_values(t->model);
    if (j->values >= INT_MAX) {
        warn("got %zu parameters, but MPI_Allreduce sends at most %d numbers at once", j->values, INT_MAX);
        return 1;
    }
    size_t levels = 1;
    for (int n = j->shards / j->ranks; n > 1; n = (n + 1) / 2)
        levels++;
    j->sum = malloc((j->values + 1) * sizeof *j->sum);
    j->other = malloc((j->values + 1) * levels * sizeof *j->other);
    if (j->sum && j->other)
        return FLAGS_GO_ON;
    warn("out of memory");
    return 1;
}

/* Rank 0 makes the folder and its first files. */
static int begin(job *j)
{
    training *t = &j->t;
    char text[32];
    const int n = snprintf(text, sizeof text, "shards\t%d\n", j->shards);
    if (j->rank > 0)
        return FLAGS_GO_ON;
    if (run_open(&j->run, t))
        return 1;
    if (!t->o.resume && (checkpoint_save(t) || run_write(t, SHARDS_FILE, text, (size_t)n)))
        return 1;
    if (run_begin(&j->run, t))
        return 1;
    if (!t->o.quiet)
        say("ranks %d, shards %d, parameters %zu; %.1f MB of gradients a step; out %s\n", j->ranks, j->shards,
            j->values, (double)((j->values + 1) * sizeof(gra_real)) / 1e6, t->o.out);
    return FLAGS_GO_ON;
}

/* On rank 0, writes a row of loss.tsv after each step, and a checkpoint every hundred steps or as
 * --checkpoint-every says. */
static int record(job *j, const run_row *row)
{
    const training *t = &j->t;
    const long every = t->o.checkpoint_every ? t->o.checkpoint_every : 100;
    const bool last = t->step == t->o.steps;
    if (run_log(&j->run, row))
        return -1;
    if (!t->o.quiet && (last || t->step % 10 == 0))
        say("step %ld/%ld  loss %.6f  %.0f tokens/s\n", row->step, t->o.steps, row->train_loss,
            row->tokens_per_s);
    if (run_snapshot(t))
        return -1;
    return last || t->step % every == 0 ? run_sync(&j->run) || checkpoint_save(t) : 0;
}

static int train(job *j)
{
    training *t = &j->t;
    while (t->step < t->o.steps) {
        const double begun = MPI_Wtime();
        run_row row = { .step = ++t->step, .val_loss = (double)NAN };
        training_draw(t, &t->rng);
        row.train_loss = batch_gradient(j);
        if (training_update(t, &row))
            return -1;
        row.tokens_per_s = (double)t->tokens / (MPI_Wtime() - begun);
        if (t->step == t->o.steps || t->step % 100 == 0)
            compare_ranks(j);
        if (j->rank == 0 && record(j, &row))
            return -1;
    }
    return 0;
}

/* ---- flags --------------------------------------------------------------------------------------- */

/* Removes --shards N, the only flag that train lacks, from argv. 0, or -1 after a warning. */
static int take_shards(job *j, bool *given)
{
    int kept = 1;
    for (int i = 1; i < j->argc; i++) {
        const char *value = NULL;
        if (strcmp(j->argv[i], "--shards") == 0)
            value = i + 1 < j->argc ? j->argv[++i] : "";
        else if (strncmp(j->argv[i], "--shards=", 9) == 0)
            value = j->argv[i] + 9;
        else
            j->argv[kept++] = j->argv[i];
        if (!value)
            continue;
        char *end;
        const long n = strtol(value, &end, 10);
        if (end == value || *end || n < 1 || n > INT_MAX)
            return warn("--shards: got '%s', expected a whole number, 1 or more", value);
        j->shards = (int)n;
        *given = true;
    }
    j->argc = kept;
    return 0;
}

/* Reads the shards of a resumed run; a run of build/train has no such file and gets the default. */
static void read_shards(job *j)
{
    char path[FILE_PATH];
    FILE *f = fopen(file_path(path, j->t.o.resume, SHARDS_FILE), "r");
    if (f && fscanf(f, "shards %d", &j->shards) != 1)
        j->shards = 0;                                  /* refused below */
    if (f)
        fclose(f);
}

static void help(void)
{
    say("\nonly in train-mpi\n"
        "  --shards N                  parts of a batch, a multiple of the ranks (4)\n\n"
        "Here --threads defaults to 1 and --checkpoint-every to 100, and there is no\n"
        "validation and no sample.\n");
}

static int read_flags(job *j)
{
    const options *o = &j->t.o;
    bool given = false;
    j->shards = 4;
    if (take_shards(j, &given))
        return 2;
    const int status = training_flags(&j->t, j->argc, j->argv);
    if (status == 0)
        help();
    if (status != FLAGS_GO_ON)
        return status;
    if (o->resume && given) {
        warn("--shards cannot be given with --resume: the run in %s keeps its flags", o->resume);
        return 2;
    }
    if (o->accumulate > 1) {
        warn("--accumulate: got %ld, expected 1: a rank computes the shards of a batch one after another, so "
             "give %ld times the --batch, and more --shards", o->accumulate, o->accumulate);
        return 2;
    }
    if (o->patience) {
        warn("--patience: got %ld, expected 0: train-mpi has no validation", o->patience);
        return 2;
    }
    if (o->resume)
        read_shards(j);
    if (j->shards < 1 || j->shards % j->ranks || j->shards > o->batch) {
        warn("got %d shards, expected a multiple of the ranks (%d), at most the batch size (%ld)", j->shards,
             j->ranks, o->batch);
        return 2;
    }
    return FLAGS_GO_ON;
}

int main(int argc, char **argv)
{
    begin_program(argv);
    MPI_Init(&argc, &argv);
    job j = { .argc = argc, .argv = argv };
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
    int status = on_all(&j, read_flags);
    if (status == FLAGS_GO_ON)
        status = on_all(&j, prepare);
    if (status == FLAGS_GO_ON)
        status = compare_starts(&j);
    if (status == FLAGS_GO_ON)
        status = on_all(&j, begin);
    if (status == FLAGS_GO_ON) {
        if (train(&j) || (j.rank == 0 && run_save(&j.t, MODEL_FILE)))
            MPI_Abort(MPI_COMM_WORLD, 1);               /* the others wait for this rank */
        if (j.rank == 0)
            say("parameters %016llx, the same on all ranks (%d)\n",
                (unsigned long long)hash_parameters(j.t.model), j.ranks);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
