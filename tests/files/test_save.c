/* Saving: the bytes of a file, the values that come back, and the sentences of refusals. */
#define _XOPEN_SOURCE 700               /* mkfifo, symlink */
#include "core/model/model.h"
#include "core/files/outfile.h"
#include "core/files/safetensors.h"
#include "lib/fault.h"
#include "lib/folder.h"
#include "lib/suites.h"
#include "two_params.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/save"
#define PATH   FOLDER "/model.safetensors"

static void clear(void) { folder_clear(FOLDER); }

/* ---- what is written ---- */

CASE(save, clear, NULL, "")

TEST(test_bytes)
{
    gra_model *m = two_params();
    fill(gra_param_find(m, "b"), (real[]){ 1, -2, (real)0.5, 0 });
    fill(gra_param_find(m, "a"), (real[]){ -1, 3 });
    const gra_meta meta[] = { { "format", "pt" }, { "say", "\"\\/\b\f\n\r\t\x01\x1f\x7f \xc3\xa9" } };
    ck_assert_int_eq(gra_save(m, PATH, meta, 2), 0);

    static const unsigned char data[] = {               /* -1, 3; 1, -2, 0.5, 0 */
#ifdef GRADUS_DOUBLE
        0, 0, 0, 0, 0, 0, 0xf0, 0xbf,  0, 0, 0, 0, 0, 0, 0x08, 0x40,
        0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  0, 0, 0, 0, 0, 0, 0x00, 0xc0,
        0, 0, 0, 0, 0, 0, 0xe0, 0x3f,  0, 0, 0, 0, 0, 0, 0x00, 0x00,
#else
        0, 0, 0x80, 0xbf,  0, 0, 0x40, 0x40,
        0, 0, 0x80, 0x3f,  0, 0, 0x00, 0xc0,  0, 0, 0x00, 0x3f,  0, 0, 0x00, 0x00,
#endif
    };
    unsigned char file[1024], want[1024];
    char header[512];
    const int real_size = sizeof(real);
    snprintf(header, sizeof header, "{'__metadata__':{'format':'pt',"
             "'say':'\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f \xc3\xa9'},"
             "'a':{'dtype':'F%d','shape':[2],'data_offsets':[0,%d]},"
             "'b':{'dtype':'F%d','shape':[2,2],'data_offsets':[%d,%d]}}",
             8 * real_size, 2 * real_size, 8 * real_size, 2 * real_size, 6 * real_size);
    while (strlen(header) % 8)
        strcat(header, " ");
    size_t n = read_bytes(PATH, file, sizeof file), wanted = compose(want, header, data, sizeof data);
    ck_assert_uint_eq(n, wanted);
    ck_assert_msg(memcmp(file, want, n) == 0, "the file is\n%.*s\nwanted\n%.*s", (int)n - 8, (char *)file + 8,
                  (int)n - 8, (char *)want + 8);
    ck_assert_int_eq(folder_entries(FOLDER), 1);
    ck_assert_int_eq(gra_load(m, PATH), 0);     /* with its metadata */
    gra_model_close(m);
}

TEST(test_header_padding)               /* names of all lengths: the values start at a multiple of 8 */
{
    for (size_t i = 1; i <= 16; i++) {
        char name[32] = { 0 };
        memset(name, 'x', i);
        gra_model *m = model_open();
        parameter(m, name, GRA_SCALAR);
        ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
        unsigned char file[256];
        size_t n = read_bytes(PATH, file, sizeof file);
        ck_assert_uint_eq(file[0] % 8, 0);
        ck_assert_uint_eq(n, 8u + file[0] + sizeof(real));
        ck_assert_int_eq(gra_load(m, PATH), 0);
        gra_model_close(m);
    }
}

TEST(test_empty_model)
{
    gra_model *m = model_open();
    unsigned char file[64];
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_uint_eq(read_bytes(PATH, file, sizeof file), 16);
    ck_assert(memcmp(file, "\x08\0\0\0\0\0\0\0{}      ", 16) == 0);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    gra_model_close(m);
}

TEST(test_mode_and_link)                /* a new file has the usual mode; a link stays a link */
{
    gra_model *m = two_params();
    struct stat s;
    mode_t mask = umask(022);
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    umask(mask);
    ck_assert(stat(PATH, &s) == 0 && (s.st_mode & 0777) == 0644);

    ck_assert_int_eq(symlink("model.safetensors", FOLDER "/link"), 0);
    gra_param_find(m, "a")->data[0] = 42;
    ck_assert_int_eq(gra_save(m, FOLDER "/link", NULL, 0), 0);
    ck_assert(lstat(FOLDER "/link", &s) == 0 && S_ISLNK(s.st_mode));
    gra_model *back = two_params();
    ck_assert_int_eq(gra_load(back, PATH), 0);
    ck_assert(gra_param_find(back, "a")->data[0] == 42);
    ck_assert_int_eq(folder_entries(FOLDER), 2);
    gra_model_close(back);
    gra_model_close(m);
}

/* Another user's link may point to any file of ours, or to a device: the link is replaced, not its target. */
TEST(test_link_of_another_user)
{
    enum { ANOTHER = 12345 };
    gra_model *m = two_params(), *back = two_params();
    struct stat s;
    unsigned char file[16];
    static const char *const to[] = { "victim", "pipe", "nowhere", "." };
    write_bytes(FOLDER "/victim", "precious", 8);
    ck_assert_int_eq(chmod(FOLDER "/victim", 0600), 0);
    ck_assert_int_eq(mkfifo(FOLDER "/pipe", 0600), 0);
    mode_t mask = umask(022);
    for (int i = 0; i < LENGTH(to); i++) {
        ck_assert_int_eq(symlink(to[i], PATH), 0);
        if (lchown(PATH, ANOTHER, (gid_t)-1)) {         /* only root can */
            unlink(PATH);
            fprintf(stderr, "left out: links of another user, which only root can make\n");
            break;
        }
        ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
        ck_assert(lstat(PATH, &s) == 0 && S_ISREG(s.st_mode) && (s.st_mode & 0777) == 0644);
        ck_assert_int_eq(gra_load(back, PATH), 0);
        ck_assert_int_eq(unlink(PATH), 0);
    }
    umask(mask);
    ck_assert(read_bytes(FOLDER "/victim", file, sizeof file) == 8 && memcmp(file, "precious", 8) == 0);
    ck_assert_int_eq(folder_entries(FOLDER), 2);
    gra_model_close(back);
    gra_model_close(m);
}

/* ---- there and back ---- */

/* Any pattern of bits comes back, even signalling NaNs, in parameters and in optimisers' moments. */
TEST(test_all_of_it)
{
    static gra_rng rng;
    gra_manual_seed(&rng, 7);
    gra_model *m = two_params(), *back = model_open();
    gra_tensor *a = parameter(back, "a", GRA_SHAPE(2));      /* in the other order */
    parameter(back, "b", GRA_SHAPE(2, 2));
    gra_adamw opt, opt_back;
    ck_assert(gra_adamw_init(&opt, m, NULL) == 0 && gra_adamw_init(&opt_back, back, NULL) == 0);
    gra_freeze(a, true);                                /* loading does not train */
    ck_assert_int_eq(gra_owned_count(m), 6);
    for (int i = 0; i < gra_owned_count(m); i++)
        for (size_t j = 0; j < gra_owned_at(m, i)->size; j++) {
            uint64_t bits = gra_random64(&rng);
            if (j % 2)                          /* a signalling NaN with a payload */
                bits = sizeof(real) == 4 ? (bits & 0x803fffff) | 0x7f800001
                                         : (bits & 0x8007ffffffffffff) | 0x7ff0000000000001;
            memcpy(&gra_owned_at(m, i)->data[j], &bits, sizeof(real));
        }
    ck_assert_int_eq(gra_save_all(m, PATH, (gra_meta[]){ { "step", "12" } }, 1), 0);
    ck_assert_int_eq(gra_load_all(back, PATH), 0);
    for (int i = 0; i < gra_owned_count(m); i++) {
        const gra_tensor *x = gra_owned_at(m, i), *y = NULL;
        for (int j = 0; j < gra_owned_count(back); j++)
            if (strcmp(gra_owned_at(back, j)->name, x->name) == 0)
                y = gra_owned_at(back, j);
        ck_assert_ptr_nonnull(y);
        ck_assert_msg(memcmp(x->data, y->data, x->size * sizeof(real)) == 0, "%s came back otherwise",
                      x->name);
    }
    gra_file *f = gra_file_open(PATH);
    ck_assert_int_eq(gra_file_count(f), 6);
    ck_assert(gra_file_find(f, "adamw.exp_avg.a") && gra_file_find(f, "adamw.exp_avg_sq.b"));
    ck_assert_str_eq(gra_file_meta(f, "step"), "12");
    gra_file_close(f);

    ck_assert_int_eq(gra_load(back, PATH), -1);         /* the file holds more than parameters */
    ck_assert_str_eq(gra_model_error(back), PATH ": got a tensor adamw.exp_avg.a, expected only those of "
                                                 "the model");
    gra_model *bare = two_params();
    ck_assert_int_eq(gra_load_all(bare, PATH), -1);     /* there was no optimiser yet */
    ck_assert(untouched(bare));
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load_all(back, PATH), -1);
    ck_assert_str_eq(gra_model_error(back), PATH ": got no tensor adamw.exp_avg.a, expected all of "
                     "the model's (missing: 4)");
    gra_model_close(bare);
    gra_model_close(back);
    gra_model_close(m);
}

/* A frozen parameter is saved without moments, and only a model in which it is frozen too loads the file. */
TEST(frozen_parameters_have_no_moments)
{
    gra_model *m = two_params(), *back = two_params(), *thawed = two_params();
    gra_adamw opt[3];
    gra_model *all[] = { m, back, thawed };
    for (int i = 0; i < 3; i++) {
        gra_freeze(gra_param_find(all[i], "a"), all[i] != thawed);
        ck_assert_int_eq(gra_adamw_init(&opt[i], all[i], NULL), 0);
    }
    gra_param_find(m, "a")->data[0] = 7;
    ck_assert_int_eq(gra_owned_count(m), 4);
    ck_assert_int_eq(gra_save_all(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load_all(back, PATH), 0);
    ck_assert(gra_param_find(back, "a")->data[0] == 7);
    ck_assert_int_eq(gra_load_all(thawed, PATH), -1);
    ck_assert_str_eq(gra_model_error(thawed), PATH ": got no tensor adamw.exp_avg.a, expected all of the "
                     "model's (missing: 2)");
    gra_freeze(gra_param_find(m, "a"), false);          /* after a step it has moments */
    opt[0].lr = 1;
    gra_adamw_step(&opt[0]);
    ck_assert_int_eq(gra_save_all(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load_all(thawed, PATH), 0);
    for (int i = 0; i < 3; i++)
        gra_model_close(all[i]);
}

/* ---- what is refused ---- */

static void cannot_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta, const char *sentence)
{
    char want[1024];
    snprintf(want, sizeof want, "%s: %s", path, sentence);
    int before = folder_entries(FOLDER);
    ck_assert_int_eq(gra_save(m, path, meta, nmeta), -1);
    ck_assert_str_eq(gra_model_error(m), want);
    ck_assert_int_eq(folder_entries(FOLDER), before);        /* nothing is left behind */
    gra_model_close(m);
}

static void cannot_write(const char *path, int number)
{
    cannot_save(two_params(), path, NULL, 0, strerror(number));
}

static void check_pipe(void)            /* is written to and not replaced */
{
    unsigned char bytes[1024];
    struct stat s;
    gra_model *m = two_params();
    ck_assert_int_eq(mkfifo(FOLDER "/pipe", 0600), 0);
    int fd = open(FOLDER "/pipe", O_RDWR);      /* both ends, so nobody waits */
    ck_assert(fd >= 0);
    ck_assert_int_eq(gra_save(m, FOLDER "/pipe", NULL, 0), 0);
    ck_assert(lstat(FOLDER "/pipe", &s) == 0 && S_ISFIFO(s.st_mode));
    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ck_assert(read(fd, bytes, sizeof bytes) > 8 && bytes[8] == '{');
    close(fd);
    gra_model_close(m);
}

TEST(test_unwritable)
{
    check_pipe();                               /* before the device is touched */
    write_bytes(FOLDER "/file", "x", 1);
    cannot_write(FOLDER "/none/model", ENOENT);
    cannot_write(FOLDER "/file/model", ENOTDIR);
    cannot_write(FOLDER, EISDIR);
    gra_model *m = two_params();
    ck_assert(gra_save(m, NULL, NULL, 0) == -1 && gra_save(m, "", NULL, 0) == -1);
    ck_assert_str_eq(gra_model_error(m), "a file without a name: No such file or directory");
    gra_model_close(m);
    ck_assert_int_eq(mkdir(FOLDER "/locked", 0555), 0);
    if (geteuid() != 0)                         /* root may write anywhere */
        cannot_write(FOLDER "/locked/model", EACCES);
    if (access("/dev/full", W_OK) == 0)         /* a device of Linux: the disk that is full */
        cannot_write("/dev/full", ENOSPC);
}

/* Answers of the system that are no failure, or a second failure. */
TEST(test_other_answers)
{
    static const struct {
        fault_call call;
        long       n;
        int        error;
        bool       ever;
        const char *path;
        int        status;              /* -1: with errno's sentence */
    } answers[] = {
        { FAULT_OPEN, 1, EEXIST, true, PATH, -1 },              /* no name is free */
        { FAULT_OPEN, 2, EACCES, false, PATH, 0 },              /* a folder that cannot be read, */
        { FAULT_OPEN, 2, EMFILE, false, PATH, 0 },              /* or synced: the file is complete */
        { FAULT_SYNC, 2, EIO, false, PATH, 0 },
        { FAULT_OPEN, 1, EINTR, false, "/dev/null", 0 },
        { FAULT_SYNC, 1, EINVAL, true, PATH, 0 },               /* a file system that cannot sync */
        { FAULT_SYNC, 1, ENOTSUP, true, PATH, 0 },
        { FAULT_CLOSE, 1, EIO, false, "/dev/full", -1 },        /* after a write that failed */
    };
    for (int i = 0; fault_wrapped() && i < LENGTH(answers); i++) {
        const bool full = strcmp(answers[i].path, "/dev/full") == 0;
        if (full && access("/dev/full", W_OK) != 0)
            continue;
        gra_model *m = two_params();
        fault_arm(answers[i].call, answers[i].n, answers[i].error, answers[i].ever);
        const int status = gra_save(m, answers[i].path, NULL, 0);
        ck_assert_int_gt((int)fault_disarm(), 0);
        ck_assert_int_eq(status, answers[i].status);
        if (status)
            ck_assert_ptr_nonnull(strstr(gra_model_error(m), strerror(full ? ENOSPC : answers[i].error)));
        gra_model_close(m);
    }
}

TEST(test_in_this_folder)               /* a path that names no folder */
{
    char here[1024];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(chdir(FOLDER), 0);
    gra_model *m = two_params();
    const int status = gra_save(m, "model.safetensors", NULL, 0);
    ck_assert_int_eq(chdir(here), 0);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(folder_entries(FOLDER), 1);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    gra_model_close(m);
}

TEST(test_name_taken)                   /* by a directory, during the writing */
{
    gra_outfile out;
    ck_assert(gra_outfile_open(&out, PATH));
    gra_outfile_write(&out, "x", 1);
    ck_assert_int_eq(folder_entries(FOLDER), 1);
    ck_assert_int_eq(mkdir(PATH, 0777), 0);
    ck_assert(!gra_outfile_close(&out));
    ck_assert_int_eq(errno, EISDIR);
    ck_assert_int_eq(folder_entries(FOLDER), 1);        /* the directory alone */
}

/* If names were compared one by one, each of these loops would take minutes: the time limit decides. */
TEST(test_very_many_tensors)
{
    enum { MANY = SLOWED ? 20000 : 200000 };
    gra_adamw opt;
    gra_model *m = model_open();
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "blocks.%d.weight", i);
        gra_tensor *p = parameter(m, name, GRA_SHAPE(1));
        gra_alias(gra_enter(gra_root(m), "again.%d", i), "weight", p);
        p->data[0] = (real)i;
    }
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_adamw_init(&opt, m, NULL), 0);
    ck_assert(gra_alias_count(m) == MANY && gra_owned_count(m) == 3 * MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert_ptr_eq(gra_param_find(m, gra_param_at(m, i)->name), gra_param_at(m, i));
        gra_param_at(m, i)->data[0] = -1;
    }
    ck_assert_int_eq(gra_load(m, PATH), 0);
    for (int i = 0; i < MANY; i++)
        ck_assert(gra_param_at(m, i)->data[0] == (real)i);
    gra_model_close(m);
}

/* nmeta: the number of pairs in meta; without a key the file has no list of metadata. */
static const struct {
    const char *name;                   /* of a third parameter */
    gra_meta    meta[3];
    int         nmeta;
    const char *sentence;
} unsaid[] = {
    { "\xff", { { 0 } }, 0, "got the parameter name ?, expected UTF-8" },
    { "__metadata__", { { 0 } }, 0,
      "got the parameter name __metadata__, expected another: safetensors reserves it" },
    { "c", { { "k", "\x80" } }, 1, "got the metadata k, expected UTF-8" },
    { "c", { { "\x80", "v" } }, 1, "got the metadata ?, expected UTF-8" },
    { "c", { { 0 } }, 1, "got NULL for the metadata, expected 1 of them (nmeta)" },
    { "c", { { "k", "v" } }, -1, "got -1 for nmeta, expected 0 or more: how many metadata there are" },
    { "c", { { "k", "v" }, { "l", NULL } }, 2, "got NULL for the value of metadata 1, expected a text" },
    { "c", { { NULL, "v" } }, 1, "got NULL for the key of metadata 0, expected a text" },
    { "c", { { "k", "1" }, { "l", "2" }, { "k", "3" } }, 3,
      "got the metadata key k twice, expected it once" },
};

TESTS(test_what_a_header_cannot_say, LENGTH(unsaid))
{
    const gra_meta *meta = unsaid[_i].meta;
    gra_model *m = two_params();
    parameter(m, unsaid[_i].name, GRA_SHAPE(1));
    cannot_save(m, PATH, meta->key || meta->value ? meta : NULL, unsaid[_i].nmeta, unsaid[_i].sentence);
}

/* Tensors under foreign names: one under two names, and one that no model has. */
TEST(test_other_names)
{
    gra_failure error;
    gra_model *m = two_params();
    const gra_tensor *a = gra_param_find(m, "a");
    const gra_tensor none = { .shape = { 2, { 0, 3 } } };
    gra_named x[] = { { "tail", a }, { "none", &none }, { "head", a } };
    gra_param_find(m, "a")->data[1] = 5;
    ck_assert(gra_file_write(PATH, 3, x, NULL, 0, &error));
    gra_file *f = gra_file_open(PATH);
    ck_assert_int_eq(gra_file_count(f), 3);
    ck_assert_str_eq(gra_file_at(f, 0)->name, "head");
    ck_assert(gra_file_find(f, "none")->shape.dim[1] == 3 && gra_file_find(f, "none")->size == 0);
    real values[2];
    ck_assert(gra_file_read(f, gra_file_find(f, "tail"), values) == 0 && values[0] == -1 && values[1] == 5);
    ck_assert_int_eq(gra_file_fail(f, "%d is no colour", 7), -1);
    ck_assert_int_eq(gra_file_fail(f, "%d is no colour", 8), -1);
    ck_assert_str_eq(gra_file_error(f), PATH ": 7 is no colour");
    gra_file_close(f);

    gra_named twice[] = { { "w", a }, { "v", a }, { "w", &none } };
    ck_assert(!gra_file_write(PATH, 3, twice, NULL, 0, &error));
    ck_assert_str_eq(error.text, PATH ": got two tensors w, expected one");
    gra_model_close(m);
}
