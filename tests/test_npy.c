/* .npy: the bytes that are written, what is read, what is refused with which sentence; and all of it with
 * NumPy (tests/npy.py), where there is one. */
#include "alone.h"
#include "../core/internal.h"
#include "fault.h"
#include "folder.h"
#include "suites.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/npy"
#define PATH   FOLDER "/x.npy"
#define MAGIC  "\x93NUMPY"

static gra_model *m;

static void open_model(void)
{
    folder_clear(FOLDER);
    m = model_alone(NULL);
    ck_assert_ptr_nonnull(m);
    gra_model_keep_going(m, true);
}

static void close_model(void)
{
    gra_model_close(m);
}

/* ---- what is written ---- */

START_TEST(test_bytes)
{
    static const struct {
        gra_shape   shape;
        const char *text;
    } cases[] = {
        { { 0, { 0 } }, "()" }, { { 1, { 3 } }, "(3,)" }, { { 2, { 2, 3 } }, "(2, 3)" }, { { 2, { 4, 0 } }, "(4, 0)" },
        { { 8, { 1, 2, 1, 1, 1, 1, 1, 2 } }, "(1, 2, 1, 1, 1, 1, 1, 2)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        real values[6] = { 1, 2, 3, 4, 5, (real)-0.5 };
        gra_tensor x = { .data = values, .shape = cases[i].shape };
        ck_assert(gra_shape_size(x.shape, &x.size) && x.size <= 6);
        ck_assert_int_eq(gra_save_npy(m, PATH, &x), 0);

        unsigned char file[512];
        char header[256];
        size_t n = read_bytes(PATH, file, sizeof file);
        snprintf(header, sizeof header, "{'descr': '<f%d', 'fortran_order': False, 'shape': %s, }",
                 (int)sizeof(real), cases[i].text);
        ck_assert_uint_eq(n, 128 + x.size * sizeof(real));
        ck_assert_msg(memcmp(file, MAGIC "\x01\x00\x76\x00", 10) == 0, "it begins otherwise");
        ck_assert_msg(memcmp(file + 10, header, strlen(header)) == 0, "%.*s", 118, (char *)file + 10);
        for (size_t j = 10 + strlen(header); j < 127; j++)
            ck_assert_int_eq(file[j], ' ');
        ck_assert_int_eq(file[127], '\n');
        ck_assert(memcmp(file + 128, values, x.size * sizeof(real)) == 0);    /* on a little-endian machine */
        ck_assert_int_eq(folder_entries(FOLDER), 1);

        gra_tensor *y = gra_load_npy(m, PATH);
        ck_assert_msg(y != NULL, "%s", gra_model_error(m));
        ck_assert(gra_same_shape(x.shape, y->shape) && y->size == x.size &&
                  memcmp(y->data, x.data, x.size * sizeof(real)) == 0);
    }
}
END_TEST

START_TEST(test_every_bit)              /* also of NaN that signal */
{
    enum { N = 5000 };
    static gra_rng rng;
    static real values[N];
    gra_manual_seed(&rng, 8);
    for (size_t i = 0; i < N; i++) {
        const uint64_t bits = gra_random64(&rng) | (i % 2 ? 0 : sizeof(real) == 4 ? 0x7f800000 : 0x7ff0000000000000);
        memcpy(&values[i], &bits, sizeof(real));
    }
    const gra_tensor x = { .data = values, .shape = { 1, { N } }, .size = N };
    ck_assert_int_eq(gra_save_npy(m, PATH, &x), 0);
    const gra_tensor *y = gra_load_npy(m, PATH);
    ck_assert_msg(y && memcmp(y->data, values, sizeof values) == 0, "other bits came back");
}
END_TEST

/* What is loaded lives as long as the model, is no parameter of it, and goes into ops. */
START_TEST(test_in_a_step)
{
    gra_tape *t = gra_open(1);
    gra_keep_going(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_input(t, (real[]){ 1, 2, 3, 4 }, GRA_SHAPE(2, 2));
    gra_tensor *y = gra_scale(t, a, 2);
    ck_assert_int_eq(gra_save_npy(m, PATH, y), 0);
    gra_tensor *x = gra_load_npy(m, PATH);
    ck_assert_ptr_nonnull(x);
    ck_assert(gra_param_count(m) == 0 && gra_owned_count(m) == 0);

    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *b = gra_input(t, (real[]){ 1, 1, 1, 3 }, GRA_SHAPE(2, 2));
    gra_tensor *loss = gra_sum(t, gra_mul(t, x, b));
    ck_assert(gra_item(loss) == 2 + 4 + 6 + 24);
    ck_assert_int_eq(gra_backward(t, loss), 0);
    ck_assert(gra_grad(b)[3] == 8);

    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_int_eq(gra_save_npy(m, PATH, b), -1);     /* it is gone with its step */
    const char *error = gra_model_error(m);
    ck_assert_msg(error && strstr(error, "gra_save_npy: " PATH ": gra_save_npy: ") == error, "%s",
                  error ? error : "");
    ck_assert_int_eq(gra_save_npy(m, PATH, NULL), -1);
    ck_assert_str_eq(gra_model_error(m), "gra_save_npy: " PATH ": there is no tensor: it is NULL");
    gra_close(t);
}
END_TEST

/* ---- what is read ---- */

/* The bytes of a file of version 1.0; returns how many. */
static size_t compose(unsigned char *file, const char *header, const void *data, size_t n)
{
    const size_t length = strlen(header);
    memcpy(file, MAGIC "\x01\x00", 8);
    file[8] = (unsigned char)length;
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, data, n);
    return 10 + length + n;
}

#define F4(order, shape) "{'descr': '<f4', 'fortran_order': " order ", 'shape': " shape ", }"

START_TEST(test_accepted)
{
    static const unsigned char
        little[] = { 0, 0, 0x80, 0x3f,  0, 0, 0, 0x40,  0, 0, 0x40, 0x40,  0, 0, 0x80, 0x40,  0, 0, 0xa0, 0x40,  0, 0, 0xc0, 0x40 },
        big[]    = { 0x3f, 0x80, 0, 0,  0x40, 0, 0, 0,  0x40, 0x40, 0, 0,  0x40, 0x80, 0, 0,  0x40, 0xa0, 0, 0,  0x40, 0xc0, 0, 0 },
        turned[] = { 0, 0, 0x80, 0x3f,  0, 0, 0x80, 0x40,  0, 0, 0, 0x40,  0, 0, 0xa0, 0x40,  0, 0, 0x40, 0x40,  0, 0, 0xc0, 0x40 },
        half[]   = { 0, 0x3c,  0, 0x40,  0, 0x42,  0, 0x44,  0, 0x45,  0, 0x46 };
    static const struct {
        const char          *header;
        const unsigned char *data;
        size_t               n;
    } cases[] = {
        { F4("False", "(2, 3)") "\n",                                             little, 24 },
        { F4("False", "(2, 3)") "            \n",                                 little, 24 },
        { F4("False", "(2,3,)"),                                                  little, 24 },
        { "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}",          little, 24 },
        { " { 'shape' : ( 2 , 3 ) , 'descr' : '<f4' , 'fortran_order' : False } ", little, 24 },
        { "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",          big,    24 },
        { "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }",          half,   12 },
        { F4("True", "(2, 3)"),                                                   turned, 24 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[512];
        write_bytes(PATH, file, compose(file, cases[i].header, cases[i].data, cases[i].n));
        const gra_tensor *x = gra_load_npy(m, PATH);
        ck_assert_msg(x != NULL, "%s\n%s", cases[i].header, gra_model_error(m));
        ck_assert(x->shape.ndim == 2 && x->shape.dim[0] == 2 && x->shape.dim[1] == 3 && x->size == 6);
        for (int j = 0; j < 6; j++)
            ck_assert_msg(x->data[j] == (real)(j + 1), "%s: value %d is %g", cases[i].header, j,
                          (double)x->data[j]);
        ck_assert_ptr_null(gra_model_error(m));
    }
}
END_TEST

/* ---- what is refused ---- */

static void refuses(const char *path, const char *sentence)
{
    char want[1024];
    struct stat s = { 0 };
    stat(path, &s);
    snprintf(want, sizeof want, "gra_load_npy: %s: %s", path, sentence);
    fault_largest();
    ck_assert_msg(gra_load_npy(m, path) == NULL, "this was loaded, though %s", sentence);
    const size_t largest = fault_largest();
    ck_assert_str_eq(gra_model_error(m), want);
    ck_assert_uint_le(largest, 8 * (size_t)s.st_size + 65536);
}

#define NO   "it is no .npy file: "
#define KEYS "a header has descr, fortran_order and shape, each once, and nothing else"

/* An @ stands before the byte at which the reader must stop, and is not in the file. */
static const struct {
    const char *header, *wrong;
} broken[] = {
    { "@",                                           "there should be a {" },
    { "@[]",                                         "there should be a {" },
    { "{}@",                                         "a header needs descr, fortran_order and shape" },
    { "{@1: 2}",                                     "there should be a string" },
    { "{'descr@",                                    "a string without its end" },
    { "{'descr@\\'",                                 "a string without its end" },
    { "{'descr' @'<f4'}",                            "there should be a :" },
    { "{'descr': @[('x', '<f4')], 'shape': (2,)}",   "there should be a string" },
    { "{'descr': '<f4' @'shape': (2,)}",             "there should be a , or a }" },
    { "{'descr': '<f4', 'descr':@ '<f4'}",           KEYS },
    { F4("False", "(2,), 'shape':@ (2,)"),           KEYS },
    { "{'more':@ 1}",                                KEYS },
    { "{'descr': '<f4', 'shape': (2,)}@",            "a header needs descr, fortran_order and shape" },
    { "{'descr': '<f4', 'fortran_order': False}@",   "a header needs descr, fortran_order and shape" },
    { "{'shape': (2,), 'fortran_order': False}@",    "a header needs descr, fortran_order and shape" },
    { F4("@Truth", "(2,)"),                          "there should be True or False" },
    { F4("@0", "(2,)"),                              "there should be True or False" },
    { F4("@", "(2,)"),                               "there should be True or False" },
    { "{'fortran_order': @T",                        "there should be True or False" },
    { F4("False", "@2"),                             "there should be a (" },
    { F4("False", "(2)@"),                           "there should be a ," },
    { F4("False", "(2 @3)"),                         "there should be a ," },
    { F4("False", "(2, 3 @4)"),                      "there should be a ," },
    { "{'shape': (2, @",                              "there should be a count: 0, 1, 2 ..." },
    { F4("False", "(@,)"),                           "there should be a count: 0, 1, 2 ..." },
    { F4("False", "(@-1,)"),                         "there should be a count: 0, 1, 2 ..." },
    { F4("False", "(2@.5,)"),                        "there should be a ," },
    { F4("False", "(2@L,)"),                         "there should be a ," },
    { F4("False", "(1,1,1,1,1,1,1,1,1@)"),           "the array has more than 8 dimensions" },
    { F4("False", "(1844674407370955161@6,)"),       "a number does not fit in 64 bits" },
    { F4("False", "(2,)") " @x",                     "something stands behind its last }" },
};

START_TEST(test_broken)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char header[256], sentence[256];
        unsigned char file[512], zeros[8] = { 0 };
        const char *mark = strchr(broken[i].header, '@');
        ck_assert_ptr_nonnull(mark);
        const size_t at = (size_t)(mark - broken[i].header);
        snprintf(header, sizeof header, "%.*s%s", (int)at, broken[i].header, mark + 1);
        snprintf(sentence, sizeof sentence, NO "byte %zu of its header: %s", at, broken[i].wrong);
        write_bytes(PATH, file, compose(file, header, zeros, sizeof zeros));
        refuses(PATH, sentence);
    }
}
END_TEST

#define KINDS ": <f2, <f4, <f8 and the same with > can be read (in Python, x.astype('float32') makes such)"

START_TEST(test_unfit)
{
    static const struct {
        const char *header;
        size_t      n;                  /* bytes behind it */
        const char *sentence;
    } cases[] = {
        { "{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}",  8, "its values are <i8" KINDS },
        { "{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}",  1, "its values are |b1" KINDS },
        { "{'descr': '=f4', 'fortran_order': False, 'shape': (1,)}",  4, "its values are =f4" KINDS },
        { "{'descr': '<f',  'fortran_order': False, 'shape': (1,)}",  4, "its values are <f" KINDS },
        { "{'descr': '',    'fortran_order': False, 'shape': (1,)}",  4, "its values are " KINDS },
        { "{'descr': '<f44','fortran_order': False, 'shape': (1,)}",  4, "its values are <f44" KINDS },
        { "{'descr': '\xc3\xa9\xe2\x82\xac', 'fortran_order': False, 'shape': (1,)}", 4, "its values are \xc3\xa9\xe2\x82\xac" KINDS },
        { "{'descr': '0123456789012345678901234567890123456789 and more', 'fortran_order': False, 'shape': (1,)}", 4,
          "its values are 0123456789012345678901234567890123456789" KINDS },
        { "{'descr': '\x1b[1m\xff', 'fortran_order': False, 'shape': (1,)}",  4, "its values are ?[1m?" KINDS },
        { F4("False", "(2,)"), 4, "its shape (2) of <f4 needs 8 bytes, but the file has 4 behind its header" },
        { F4("False", "(2,)"), 9, "its shape (2) of <f4 needs 8 bytes, but the file has 9 behind its header" },
        { F4("False", "()"),   0, "its shape () of <f4 needs 4 bytes, but the file has 0 behind its header" },
        { F4("True", "(0, 7)"), 1, "its shape (0, 7) of <f4 needs 0 bytes, but the file has 1 behind its header" },
        { F4("False", "(1000000000000,)"), 8,
          "it has the shape (1000000000000): a dimension here is at most 2147483647" },
        { F4("False", "(2147483647, 65536)"), 8, "its shape (2147483647, 65536) of <f4 needs 562949953159168 bytes, but the "
          "file has 8 behind its header" },
        { F4("False", "(4294967296, 4294967296)"), 8,
          "it has the shape (4294967296, 4294967296): so many values cannot be counted" },
        { F4("False", "(18446744073709551615,)"), 8,
          "it has the shape (18446744073709551615): so many values cannot be counted" },
        { F4("False", "(2147483647, 2147483647, 0)"), 0,
          "a tensor of its shape (2147483647, 2147483647, 0) cannot be made" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[512], zeros[16] = { 0 };
        write_bytes(PATH, file, compose(file, cases[i].header, zeros, cases[i].n));
        refuses(PATH, cases[i].sentence);
    }
}
END_TEST

START_TEST(test_beginning)
{
    static const struct {
        const char *file;
        size_t      n;
        const char *sentence;
    } cases[] = {
        { "",                                    0, NO "it does not begin with \\x93NUMPY" },
        { MAGIC,                                 5, NO "it does not begin with \\x93NUMPY" },
        { "PK\x03\x04 a .npz file",             17, NO "it does not begin with \\x93NUMPY" },
        { MAGIC "\x01",                          7, NO "it ends after 7 bytes" },
        { MAGIC "\x01\x00\x01\x00{",            11, NO "it ends after 11 bytes" },
        { MAGIC "\x00\x00\x01\x00{}",           12, "it has version 0.0 of the format: 1.0, 2.0 and 3.0 can be read" },
        { MAGIC "\x04\x00\x01\x00{}",           12, "it has version 4.0 of the format: 1.0, 2.0 and 3.0 can be read" },
        { MAGIC "\x01\x01\x01\x00{}",           12, "it has version 1.1 of the format: 1.0, 2.0 and 3.0 can be read" },
        { MAGIC "\x01\x00\x03\x00{}",           12, NO "its header would have 3 bytes, and there are 2" },
        { MAGIC "\x02\x00\xff\xff\xff\xff{}",   14, NO "its header would have 4294967295 bytes, and there are 2" },
        { MAGIC "\x03\x00\x01\x00\x00\x00",     12, NO "its header would have 1 bytes, and there are 0" },
        { MAGIC "\x03\x00\x02\x00\x00\x00[]",   14, NO "byte 0 of its header: there should be a {" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes(PATH, cases[i].file, cases[i].n);
        refuses(PATH, cases[i].sentence);
    }
    refuses(FOLDER "/none", strerror(ENOENT));
    refuses(FOLDER, "it is a directory");
    refuses("/dev/null", "it is not a regular file");
}
END_TEST

START_TEST(test_every_length)           /* a file cut short anywhere is refused */
{
    const gra_tensor x = { .data = (real[]){ 1, 2 }, .shape = { 1, { 2 } }, .size = 2 };
    unsigned char file[512];
    ck_assert_int_eq(gra_save_npy(m, PATH, &x), 0);
    const size_t n = read_bytes(PATH, file, sizeof file);
    for (size_t i = 0; i < n; i++) {
        write_bytes(PATH, file, i);
        ck_assert_msg(!gra_load_npy(m, PATH), "%zu of %zu bytes were enough", i, n);
    }
}
END_TEST

START_TEST(test_unwritable)
{
    char want[256];
    const gra_tensor x = { .data = (real[]){ 1 }, .size = 1 };
    ck_assert_int_eq(gra_save_npy(m, FOLDER "/none/x.npy", &x), -1);
    snprintf(want, sizeof want, "gra_save_npy: " FOLDER "/none/x.npy: %s", strerror(ENOENT));
    ck_assert_str_eq(gra_model_error(m), want);
    if (access("/dev/full", W_OK) == 0) {
        ck_assert_int_eq(gra_save_npy(m, "/dev/full", &x), -1);
        snprintf(want, sizeof want, "gra_save_npy: /dev/full: %s", strerror(ENOSPC));
        ck_assert_str_eq(gra_model_error(m), want);
    }
    ck_assert_int_eq(gra_save_npy(m, PATH, &x), 0);
    ck_assert_ptr_null(gra_model_error(m));
}
END_TEST

/* ---- NumPy ---- */

static const gra_shape shapes[] = {                          /* as in tests/npy.py */
    { 0, { 0 } }, { 1, { 1 } }, { 1, { 3 } }, { 1, { 0 } }, { 2, { 2, 3 } }, { 3, { 3, 0, 2 } }, { 3, { 2, 3, 4 } },
    { 8, { 1, 2, 1, 3, 1, 2, 1, 2 } },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *python(void)         /* one with NumPy, or NULL */
{
    static const char *const known[] = { "python3", "/usr/bin/python3" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char command[128];
        snprintf(command, sizeof command, "%s -c 'import numpy' >" FOLDER "/said 2>&1", known[i]);
        if (system(command) == 0)
            return known[i];
    }
    return NULL;
}

static int numpy(const char *what)      /* tests/npy.py; its status */
{
    char command[256];
    const char *name = python();
    if (!name) {
        printf("npy: no python3 with NumPy: .npy files were not compared with NumPy's\n");
        return -1;
    }
    snprintf(command, sizeof command, "%s tests/npy.py %s " FOLDER " f%d >" FOLDER "/said", name, what,
             (int)sizeof(real));
    ck_assert_msg(system(command) == 0, "tests/npy.py %s failed", what);
    return 0;
}

/* Column-major values wait in memory of their own. */
START_TEST(test_turned_and_unread)
{
    unsigned char file[512], zeros[24] = { 0 };
    const gra_tensor *x = NULL;
    write_bytes(PATH, file, compose(file, F4("True", "(0, 3)"), zeros, 0));
    ck_assert_msg((x = gra_load_npy(m, PATH)) && x->size == 0 && x->shape.dim[1] == 3, "%s", gra_model_error(m));
    if (!fault_wrapped())
        return;
    write_bytes(PATH, file, compose(file, F4("True", "(2, 3)"), zeros, 24));
    static const fault_call call[] = { FAULT_ALLOC, FAULT_READ };
    for (int i = 0; i < 2; i++) {
        int failures = 0;
        for (long n = 1, struck = 1; struck; n++) {
            const long held = fault_held();
            fault_arm(call[i], n, i ? EIO : ENOMEM, false);
            x = gra_load_npy(m, PATH);
            struck = fault_disarm();
            ck_assert(struck ? !x && gra_model_error(m) : x && !gra_model_error(m));
            ck_assert_int_eq((int)(fault_held() - held), 0);
            failures += !x;
        }
        ck_assert_int_ge(failures, 2);
    }
}
END_TEST

START_TEST(test_numpy_writes)
{
    if (numpy("write") != 0)
        return;
    unsigned char said[64];
    said[read_bytes(FOLDER "/said", said, sizeof said)] = '\0';
    const int n = atoi((char *)said);
    ck_assert_int_eq(n, 6 * 3 * 2 * SHAPES);
    for (int k = 0; k < n; k++) {
        char path[256];
        snprintf(path, sizeof path, FOLDER "/%d.npy", k);
        const gra_tensor *x = gra_load_npy(m, path);
        ck_assert_msg(x != NULL, "%s", gra_model_error(m));
        ck_assert_int_eq(x->shape.ndim, shapes[k % SHAPES].ndim);
        for (int d = 0; d < x->shape.ndim; d++)
            ck_assert_int_eq(x->shape.dim[d], shapes[k % SHAPES].dim[d]);
        for (size_t i = 0; i < x->size; i++)
            ck_assert_msg(x->data[i] == (real)(k + 0.5 * (double)i), "%s: value %zu is %g", path, i,
                          (double)x->data[i]);
    }
    static const char *const others[] = { "ints", "bools", "complex", "text", "records" };
    for (int i = 0; i < 5; i++) {
        char path[256];
        snprintf(path, sizeof path, FOLDER "/%s.npy", others[i]);
        ck_assert_msg(!gra_load_npy(m, path), "%s was loaded", path);
        ck_assert_msg(strstr(gra_model_error(m), i < 4 ? "its values are " : "there should be a string") != NULL, "%s",
                      gra_model_error(m));
    }
}
END_TEST

START_TEST(test_numpy_reads)
{
    real values[64];
    for (int k = 0; k < SHAPES; k++) {
        char path[256];
        gra_tensor x = { .data = values, .shape = shapes[k] };
        ck_assert(gra_shape_size(x.shape, &x.size) && x.size <= 64);
        for (size_t i = 0; i < x.size; i++)
            values[i] = (real)(k + 0.5 * (double)i);
        snprintf(path, sizeof path, FOLDER "/%d.npy", k);
        ck_assert_int_eq(gra_save_npy(m, path, &x), 0);
    }
    numpy("check");
}
END_TEST

Suite *npy_suite(void)
{
    Suite *s = suite_create("npy");
    TCase *c = tcase_create("npy");
    tcase_add_checked_fixture(c, open_model, close_model);
    tcase_add_test(c, test_bytes);
    tcase_add_test(c, test_every_bit);
    tcase_add_test(c, test_in_a_step);
    tcase_add_test(c, test_accepted);
    tcase_add_test(c, test_broken);
    tcase_add_test(c, test_unfit);
    tcase_add_test(c, test_beginning);
    tcase_add_test(c, test_every_length);
    tcase_add_test(c, test_unwritable);
    tcase_add_test(c, test_turned_and_unread);
    tcase_add_test(c, test_numpy_writes);
    tcase_add_test(c, test_numpy_reads);
    suite_add_tcase(s, c);
    return s;
}
