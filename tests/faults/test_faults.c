/* Faults: a whole run (train, save, load, generate; a tensor to .npy and back; the gradient check) is
 * repeated, each time with a different call of the C library failing. After each run there must be a sentence
 * if something failed, nothing may still be held, and the file must be complete, old or new. */
#define _XOPEN_SOURCE 700               /* symlink */
#include "core/machine/threads.h"
#include "lib/alone.h"
#include "layers/gpt.h"
#include "lib/fault.h"
#include "lib/folder.h"
#include "lib/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/faults"
#define PATH   FOLDER "/model.safetensors"

enum { VOCAB = 11, TIME = 8, BATCH = 2 };

/* ---- the run ---- */

/* the last run's error; "" if it succeeded */
static char sentence[sizeof((gra_check_report *)0)->text];

static bool fails(const char *error, const char *otherwise)
{
    snprintf(sentence, sizeof sentence, "%s", error ? error : otherwise);
    return false;
}

struct run {
    gra_tape  *tape;
    gra_model *model;
    struct gra_gpt    gpt;
    gra_rng    rng;
    gra_muon   muon;
    gra_adamw  adamw;
    gra_sgd    sgd;
};

static bool open_run(struct run *r, uint64_t seed)
{
    static const gra_gpt_config config = { .vocab_size = VOCAB, .context_length = TIME, .emb_dim = 12,
                                           .n_heads = 3, .n_layers = 2, .drop_rate = 0.1, .bias = true,
                                           .recompute = true };
    gra_manual_seed(&r->rng, seed);
    r->tape = gra_open(2);
    r->model = gra_model_open(r->tape, &r->rng);
    if (!r->tape || !r->model)
        return fails(NULL, "NULL, which is out of memory");
    gra_keep_going(r->tape, true);
    gra_keep_attention(r->tape, true);
    gra_gpt_init(&r->gpt, gra_root(r->model), &config);
    if (gra_model_error(r->model))
        return fails(gra_model_error(r->model), "");
    if (gra_muon_init(&r->muon, r->model, gra_filter_matrices) ||
        gra_adamw_init(&r->adamw, r->model, gra_filter_vectors) ||
            gra_sgd_init(&r->sgd, r->model, gra_filter_vectors))
        return fails(gra_model_error(r->model), "");
    r->muon.lr = r->adamw.lr = r->sgd.lr = 0.01;
    r->sgd.momentum = 0.9;
    return true;
}

static void close_run(struct run *r)
{
    gra_model_close(r->model);
    gra_close(r->tape);
}

static bool train(struct run *r)
{
    for (int step = 0; step < 3; step++) {
        int ids[BATCH * TIME], next[BATCH * TIME];
        for (int i = 0; i < BATCH * TIME; i++) {
            ids[i] = (int)gra_randint(&r->rng, VOCAB);
            next[i] = (int)gra_randint(&r->rng, VOCAB);
        }
        gra_begin(r->tape, GRA_TRAIN, &r->rng);
        gra_tensor *loss = gra_cross_entropy(r->tape, gra_gpt_forward(r->tape, &r->gpt, ids, BATCH, TIME),
                                             next);
        gra_zero_grad(r->model);
        if (gra_backward(r->tape, loss))
            return fails(gra_error(r->tape), "");
        gra_clip_grad_norm(r->model, 1);
        gra_muon_step(&r->muon);
        gra_adamw_step(&r->adamw);
        gra_sgd_step(&r->sgd);
    }
    return true;
}

static bool generate(struct run *r)
{
    int ids[TIME] = { 1 };
    for (int i = 0; i < gra_param_count(r->model) && sizeof(gra_real) == sizeof(float); i++)
        if (gra_param_at(r->model, i)->shape.ndim == 2 && gra_param_at(r->model, i) != r->gpt.pos_emb.weight)
            gra_bfloat16(gra_param_at(r->model, i));
    if (gra_model_error(r->model))
        return fails(gra_model_error(r->model), "");
    for (int n = 1; n < TIME; n++) {
        gra_begin(r->tape, GRA_EVAL, NULL);
        gra_tensor *logits = gra_gpt_forward(r->tape, &r->gpt, ids, 1, n);      /* (1, n, VOCAB) */
        if (gra_error(r->tape))
            return fails(gra_error(r->tape), "");
        const gra_real *last = logits->data + (n - 1) * VOCAB;
        for (int i = 0; i < VOCAB; i++)
            ids[n] = last[i] > last[ids[n]] ? i : ids[n];
    }
    return true;
}

static bool saved;                      /* by the last run */

static bool keep(gra_model *m, int status)
{
    saved = status == 0;
    return saved || fails(gra_model_error(m), "");
}

static bool train_save_load_generate(void)
{
    static const gra_meta meta[] = { { "format", "pt" } };
    struct run trained = { 0 }, loaded = { 0 };
    const bool ok = open_run(&trained, 1) && train(&trained) &&
                    keep(trained.model, gra_save_all(trained.model, PATH, meta, 1)) && open_run(&loaded, 2) &&
                    (gra_load_all(loaded.model, PATH) == 0 || fails(gra_model_error(loaded.model), "")) &&
                    generate(&loaded);
    close_run(&trained);
    close_run(&loaded);
    return ok;
}

static bool npy_there_and_back(void)
{
    gra_tape *t = gra_open(1);
    if (!t)
        return fails(NULL, "NULL, which is out of memory");
    gra_keep_going(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    const gra_tensor *x = gra_ones(t, GRA_SHAPE(30, 40));
    bool ok = !gra_error(t) || fails(gra_error(t), "");
    saved = ok && gra_save_npy(PATH, x) == 0;
    ok = ok && (saved || fails(strerror(errno), ""));
    if (ok)
        gra_load_npy(t, PATH);
    ok = ok && (!gra_error(t) || fails(gra_error(t), ""));
    gra_close(t);
    return ok;
}

/* ---- its files ---- */

enum { ROOM = 1 << 18 };
static unsigned char old_file[ROOM], new_file[ROOM];
static size_t        old_size, new_size;

static size_t read_file(unsigned char *bytes)           /* the bytes of PATH; 0: there is no file */
{
    return access(PATH, F_OK) == 0 ? read_bytes(PATH, bytes, ROOM) : 0;
}

/* Another model's file, which exists before every run, and the file that an undisturbed run leaves. */
static void undisturbed(bool run(void))
{
    struct run r = { 0 };
    folder_clear(FOLDER);
    ck_assert(open_run(&r, 3) && gra_save(r.model, PATH, NULL, 0) == 0);
    close_run(&r);
    old_size = read_file(old_file);
    ck_assert_msg(run(), "%s", sentence);
    new_size = read_file(new_file);
    ck_assert(old_size > 1000 && new_size > 1000);
    ck_assert(old_size != new_size || memcmp(old_file, new_file, new_size) != 0);
}

static bool file_is(const unsigned char *bytes, size_t size)
{
    static unsigned char now[ROOM];
    return read_file(now) == size && memcmp(now, bytes, size) == 0;
}

/* ---- the faults ---- */

static const struct fault {
    const char *name;
    fault_call  call;
    int         error;
    bool        ever;                   /* not only the n-th */
    bool        survived;               /* the run must succeed nevertheless */
} faults[] = {
    { "an allocation fails", FAULT_ALLOC, ENOMEM, false, false },
    { "allocations fail from then on", FAULT_ALLOC, ENOMEM, true, false },
    { "a thread is refused", FAULT_THREAD, EAGAIN, false, true },
    { "threads are refused from then on", FAULT_THREAD, EAGAIN, true, true },
    { "open: EMFILE", FAULT_OPEN, EMFILE, false, false },
    { "open: EIO from then on", FAULT_OPEN, EIO, true, false },
    { "open: ENOSPC", FAULT_OPEN, ENOSPC, false, false },
    { "open: EINTR", FAULT_OPEN, EINTR, false, true },
    { "read: EIO", FAULT_READ, EIO, false, false },
    { "read: EIO from then on", FAULT_READ, EIO, true, false },
    { "read: EINTR", FAULT_READ, EINTR, false, true },
    { "read: one byte", FAULT_READ, FAULT_SHORT, false, true },
    { "read: one byte from then on", FAULT_READ, FAULT_SHORT, true, true },
    { "read: the file has become shorter", FAULT_READ, FAULT_END, true, false },
    { "write: ENOSPC", FAULT_WRITE, ENOSPC, false, false },
    { "write: ENOSPC from then on", FAULT_WRITE, ENOSPC, true, false },
    { "write: EIO", FAULT_WRITE, EIO, false, false },
    { "write: EINTR", FAULT_WRITE, EINTR, false, true },
    { "write: one byte", FAULT_WRITE, FAULT_SHORT, false, true },
    { "write: one byte from then on", FAULT_WRITE, FAULT_SHORT, true, true },
    { "write: nothing is taken", FAULT_WRITE, FAULT_END, true, false },
    { "fsync: EIO", FAULT_SYNC, EIO, false, false },
    { "fsync: ENOSPC from then on", FAULT_SYNC, ENOSPC, true, false },
    { "fsync: EINTR", FAULT_SYNC, EINTR, false, true },
    { "close: EIO", FAULT_CLOSE, EIO, false, false },
    { "close: ENOSPC", FAULT_CLOSE, ENOSPC, false, false },
    { "close: EINTR", FAULT_CLOSE, EINTR, false, true },
    { "rename: EIO", FAULT_RENAME, EIO, false, false },
    { "rename: ENOSPC", FAULT_RENAME, ENOSPC, false, false },
    { "fstat or realpath: EIO", FAULT_STAT, EIO, false, false },
};

/* Runs with the n-th call failing, n = 1, 2 ..., until no call fails. FAULT_STEP=7 tries every 7th call after
 * the tenth: there are few calls except those for memory. */
static void sweep(const struct fault *f, bool run(void), bool files)
{
    const char *given = getenv("FAULT_STEP");
    const int step = given ? atoi(given) : 1;
    int failures = 0;
    gra_cores();                        /* its first call opens files */
    for (long n = 1, struck = 1; struck; n += n < 10 ? 1 : step) {
        ck_assert_msg(n < 20000, "%s: it never ends", f->name);
        if (files) {
            folder_clear(FOLDER);
            write_bytes(PATH, old_file, old_size);
        }
        sentence[0] = '\0';
        saved = false;
        const long held = fault_held();
        fault_arm(f->call, n, f->error, f->ever);
        const bool ok = run();
        struck = fault_disarm();
        const long left = fault_held() - held;
        const bool is_old = files && file_is(old_file, old_size),
                   is_new = files && file_is(new_file, new_size);
        const int entries = files ? folder_entries(FOLDER) : 1;

        failures += !ok;
        ck_assert_msg(ok || sentence[0], "%s, n = %ld: it failed without an error", f->name, n);
        ck_assert_msg(ok || struck, "%s, n = %ld: no call failed, but got: %s", f->name, n, sentence);
        ck_assert_msg(ok || !f->survived, "%s, n = %ld: not survived: %s", f->name, n, sentence);
        ck_assert_msg(left == 0, "%s, n = %ld: %ld blocks or files are still held (%s)", f->name, n, left,
                      sentence);
        ck_assert_msg(entries == 1, "%s, n = %ld: %d files, not 1 (%s)", f->name, n, entries, sentence);
        if (files)
            ck_assert_msg(saved ? is_new : is_old, "%s, n = %ld: the file is %s, saved: %d (%s)",
                          f->name, n, is_old ? "the old one" : "neither old nor new", saved, sentence);
    }
    ck_assert_msg(f->survived || failures > 0 || !files, "%s: nothing ever failed", f->name);
}

static void survives(const struct fault *f, bool run(void))
{
    if (!fault_wrapped())
        return;
    undisturbed(run);
    sweep(f, run, true);
}

TESTS(a_run_survives, LENGTH(faults)) { survives(&faults[_i], train_save_load_generate); }
TESTS(npy_survives, LENGTH(faults))   { survives(&faults[_i], npy_there_and_back); }

TEST(a_link_stays)                      /* if the link's target cannot be found, the link is not replaced */
{
    static const int error[] = { EACCES, EIO, ENOMEM };
    if (!fault_wrapped())
        return;
    folder_clear(FOLDER);
    ck_assert_int_eq(symlink("other", PATH), 0);
    gra_model *m = model_alone(NULL);
    for (int i = 0; i < 3; i++) {
        struct stat about;
        fault_arm(FAULT_STAT, 1, error[i], false);
        const int status = gra_save(m, PATH, NULL, 0);
        ck_assert_int_eq((int)fault_disarm(), 1);
        ck_assert_int_eq(status, -1);
        ck_assert_ptr_nonnull(strstr(gra_model_error(m), strerror(error[i])));
        ck_assert(lstat(PATH, &about) == 0 && S_ISLNK(about.st_mode));
    }
    gra_model_close(m);
}

#ifdef GRADUS_DOUBLE                    /* gra_check needs double */
static gra_tensor *wrong_mul(gra_tape *t, gra_tensor **in, void *c)     /* gives much to explain */
{
    return gra_add(t, gra_add(t, gra_mul(t, in[0], gra_detach(t, in[1])), c),
                   gra_sum_dim(t, gra_sqrt(t, gra_exp(t, in[1])), 0, true));
}

static bool check_gradients(void)
{
    static const gra_check_in in[] = { { .name = "a", .shape = { 2, { 3, 4 } } },
                                       { .name = "b", .shape = { 2, { 3, 4 } } } };
    gra_check_report report = { 0 };
    gra_tape *t = gra_open(1);
    if (t)
        gra_keep_going(t, true);
    gra_model *m = gra_model_open(t, NULL);
    bool ok = m || fails(NULL, "NULL, which is out of memory");
    if (m) {
        gra_tensor *c = gra_param(gra_root(m), "c", gra_init_zeros(), GRA_SHAPE(3, 4));
        ok = !gra_model_error(m) || fails(gra_model_error(m), "");
        const int result = ok ? gra_check(t, &(gra_check_options){ .model = m, .nin = 2, .in = in,
                                          .f = wrong_mul, .arg = c }, &report) : 1;
        ok = ok && (result == 1 || fails(report.text, "")); /* 1: the check found the mistake */
    }
    gra_model_close(m);
    gra_close(t);
    return ok;
}

TESTS(the_check_survives, 2)            /* _i: a fault of malloc */
{
    if (!fault_wrapped())
        return;
    ck_assert_msg(check_gradients(), "%s", sentence);
    sweep(&faults[_i], check_gradients, false);
}
#endif
