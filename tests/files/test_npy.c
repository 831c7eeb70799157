/* .npy: the bytes that are written, the files that are read, and the sentences of refused files; also
 * together with NumPy (tests/files/npy.py), if it is installed. */
#include "core/tape/tape.h"
#include "lib/fault.h"
#include "lib/fixture.h"
#include "lib/folder.h"
#include "lib/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/npy"
#define PATH   FOLDER "/x.npy"
#define MAGIC  "\x93NUMPY"

static void open_npy(void)
{
    open_all();
    folder_clear(FOLDER);
    gra_begin(t, GRA_GRAD, NULL);
}

/* Loads in a new step; NULL: the tape has an error. */
static gra_tensor *load(const char *path)
{
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_load_npy(t, path);
    return gra_error(t) ? NULL : x;
}

/* ---- files that are written ---- */

/* Are these the bytes of the values, each with the lowest byte first, whatever this machine's byte order? */
static bool little_endian(const unsigned char *bytes, const real *values, size_t n)
{
    const uint16_t one = 1;
    unsigned char lowest, of_value[sizeof(real)];
    memcpy(&lowest, &one, 1);
    for (size_t i = 0; i < n * sizeof(real); i++) {
        memcpy(of_value, &values[i / sizeof(real)], sizeof(real));
        const size_t j = i % sizeof(real);
        if (bytes[i] != of_value[lowest == 1 ? j : sizeof(real) - 1 - j])
            return false;
    }
    return true;
}

CASE(npy, open_npy, close_all, "")

TEST(test_bytes)
{
    static const struct {
        gra_shape   shape;
        const char *text;
    } cases[] = {
        { { 0, { 0 } }, "()" }, { { 1, { 3 } }, "(3,)" }, { { 2, { 2, 3 } }, "(2, 3)" },
        { { 2, { 4, 0 } }, "(4, 0)" },
        { { 8, { 1, 2, 1, 1, 1, 1, 1, 2 } }, "(1, 2, 1, 1, 1, 1, 1, 2)" },
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        real values[6] = { 1, 2, 3, 4, 5, (real)-0.5 };
        gra_tensor x = { .data = values, .shape = cases[i].shape };
        ck_assert(gra_shape_size(x.shape, &x.size) && x.size <= 6);
        ck_assert_int_eq(gra_save_npy(PATH, &x), 0);

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
        ck_assert(little_endian(file + 128, values, x.size));
        ck_assert_int_eq(folder_entries(FOLDER), 1);

        gra_tensor *y = load(PATH);
        ck_assert_msg(y != NULL, "%s", gra_error(t));
        ck_assert(gra_same_shape(x.shape, y->shape) && y->size == x.size &&
                  memcmp(y->data, x.data, x.size * sizeof(real)) == 0);
    }
}

/* A loaded tensor is a constant of the step, which ops accept. */
TEST(test_in_a_step)
{
    gra_tensor *a = gra_input(t, (real[]){ 1, 2, 3, 4 }, GRA_SHAPE(2, 2));
    ck_assert_int_eq(gra_save_npy(PATH, gra_scale(t, a, 2)), 0);
    gra_tensor *x = load(PATH);
    ck_assert(x && !x->requires_grad);
    gra_tensor *b = gra_input(t, (real[]){ 1, 1, 1, 3 }, GRA_SHAPE(2, 2));
    gra_tensor *loss = gra_sum(t, gra_mul(t, x, b));
    ck_assert(gra_item(loss) == 2 + 4 + 6 + 24);
    ck_assert_int_eq(gra_backward(t, loss), 0);
    ck_assert(gra_grad(b)[3] == 8);

    gra_begin(t, GRA_GRAD, NULL);
    ck_assert(gra_save_npy(PATH, b) == -1 && errno == EINVAL);  /* the tensor ended with its step */
    ck_assert_msg(strncmp(gra_error(t), "gra_save_npy: got a tensor of another step", 42) == 0, "%s",
                  gra_error(t));
    ck_assert_ptr_eq(gra_load_npy(t, PATH), gra_scalar(t, 1));  /* the empty tensor, as from any op */
    ck_assert(gra_save_npy(PATH, NULL) == -1 && errno == EINVAL);
}

/* ---- files that are read ---- */

/* Writes a file of this version, with this header and n bytes after it. */
static void put_version(int version, const char *header, const void *data, size_t n)
{
    unsigned char file[512] = MAGIC;
    const size_t length = strlen(header), at = version > 1 ? 12 : 10;
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)length;
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + at, header, length);
    memcpy(file + at + length, data, n);
    write_bytes(PATH, file, at + length + n);
}

static void put(const char *header, const void *data, size_t n)
{
    put_version(1, header, data, n);
}

#define F4(order, shape) "{'descr': '<f4', 'fortran_order': " order ", 'shape': " shape ", }"
#define OF(shape)        F4("False", shape)
#define ONE(descr)       "{'descr': '" descr "', 'fortran_order': False, 'shape': (1,)}"

TEST(test_accepted)
{
    static const unsigned char
        f4[] = { 0, 0, 0x80, 0x3f,  0, 0, 0, 0x40,  0, 0, 0x40, 0x40,  0, 0, 0x80, 0x40,  0, 0, 0xa0, 0x40,
                 0, 0, 0xc0, 0x40 };
    static const char *const headers[] = {
        OF("(2, 3)") "\n", OF("(2, 3)") "            \n", OF("(2,3,)"),
        "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
        " { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) } ",
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n",      /* the keys may have any order */
        "{'fortran_order': False, 'shape': (2, 3), 'descr': '<f4', }",
        "{\"descr\": \"<f4\", \"shape\": (2L, 3L,), \"fortran_order\": False,\n}\t",
    };
    for (int i = 0; i < 3 * LENGTH(headers); i++) {
        put_version(1 + i / LENGTH(headers), headers[i % LENGTH(headers)], f4, sizeof f4);
        const gra_tensor *x = load(PATH);
        ck_assert_msg(x != NULL, "%s\n%s", headers[i % LENGTH(headers)], gra_error(t));
        ck_assert(x->shape.ndim == 2 && x->shape.dim[0] == 2 && x->shape.dim[1] == 3 && x->size == 6);
        for (int j = 0; j < 6; j++)
            ck_assert_msg(x->data[j] == (real)(j + 1), "%s: value %d is %g", headers[i % LENGTH(headers)], j,
                          (double)x->data[j]);
    }
}

/* ---- refused files ---- */

static void refuses(const char *path, const char *sentence)
{
    char want[1024];
    struct stat s = { 0 };
    stat(path, &s);
    snprintf(want, sizeof want, "gra_load_npy: %s: %s", path, sentence);
    fault_largest();
    ck_assert_msg(load(path) == NULL, "this was loaded, though %s", sentence);
    const size_t largest = fault_largest();
    ck_assert_str_eq(gra_error(t), want);
    ck_assert_uint_le(largest, 8 * (size_t)s.st_size + 65536);
}

#define ARRAY "got a header that is not of one array of up to 8 dimensions, each at most 2147483647: "
#define VALUES(of) "got values of " of ", expected <f4 or <f8 in C order: in Python, numpy.save(path, " \
                   "numpy.asarray(x, dtype='<f4', order='C')) writes such"
#define BYTES(n, expected, shape) \
    "got " n " bytes of values, expected " expected " for the shape " shape " of <f4"
#define FEWER(shape) "got the shape " shape ", expected fewer values"
#define BROKEN(header) { header, 8, NULL }

static const struct {
    const char *header;
    size_t      n;                      /* bytes after it */
    const char *sentence;               /* NULL: ARRAY, and the header */
} unfit[] = {
    BROKEN(""), BROKEN("[]"), BROKEN("{}"), BROKEN("{'shape': (2,)}"), BROKEN("{'descr"),
    BROKEN("{'descr': '<f4"), BROKEN("{'descr': '<f4', 'fortran_order': Fals"), BROKEN("{'descr': '<f4'"),
    BROKEN("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }"),
    BROKEN("{'descr': '<f4' 'fortran_order': False, 'shape': (2,), }"),
    BROKEN("{'descr': '<f4', 'shape': (2,), 'fortran_order': False"),
    BROKEN("{'descr': '<f4', 'shape': (2,), 'shape': (2,), 'fortran_order': False}"),
    BROKEN("{'descr': '<f4', 'shape': (2,),, 'fortran_order': False}"),
    BROKEN("{'descr': '<f4\", 'shape': (2,), 'fortran_order': False}"),
    BROKEN("{, 'descr': '<f4', 'shape': (2,), 'fortran_order': False}"),
    BROKEN("{'descr': '<f4', 'fortran_order': False, 'size': (2,), }"),
    BROKEN("{'descr': '<f4', 'fortran_order': False, 'shape' (2,), }"),
    BROKEN("{'descr': '<f4', 'fortran_order' False, 'shape': (2,), }"),
    BROKEN("{'descr': '<f4', 'fortran_order': False 'shape': (2,), }"),
    BROKEN("{'descr': <f4', 'fortran_order': False, 'shape': (2,), }"),
    BROKEN("{'descr' '<f4', 'fortran_order': False, 'shape': (2,), }"),
    BROKEN(F4("0", "(2,)")), BROKEN(F4("", "(2,)")), BROKEN(OF("2")), BROKEN(OF("(2 3)")),
    BROKEN(OF("(2, 3 4)")), BROKEN(OF("(,)")), BROKEN(OF("(-1,)")), BROKEN(OF("(+1,)")),
    BROKEN(OF("(2.5,)")), BROKEN(OF("(2")), BROKEN(OF("(2,)") " x"),
    BROKEN(OF("(2,)") "}"), BROKEN(OF("(2,), 'more': 1")), BROKEN(OF("(1,1,1,1,1,1,1,1,2)")),
    BROKEN(OF("(2147483648, 0)")), BROKEN(OF("(99999999999999999999,)")),

    { ONE("<i8"), 8, VALUES("<i8") },           { ONE(">f4"), 4, VALUES(">f4") },
    { ONE("<f2"), 2, VALUES("<f2") },           { ONE("<f"), 4, VALUES("<f") },
    { ONE(""), 4, VALUES("") },                 { ONE("<f44"), 4, VALUES("<f44") },
    { F4("True", "(2, 1)"), 8, VALUES("<f4 in Fortran order") },
    { "{'descr': '>f8', 'fortran_order': True, 'shape': (1,)}", 8, VALUES(">f8 in Fortran order") },
    { ONE("\xc3\xa9\xe2\x82\xac"), 4, VALUES("\xc3\xa9\xe2\x82\xac") },
    { ONE("0123456789012345678901234567890123456789 and more"), 4,
      VALUES("0123456789012345678901234567890123456789") },
    { ONE("\x1b[1m\xff"), 4, VALUES("?[1m?") },
    { OF("(2,)"), 4, BYTES("4", "8", "(2)") },  { OF("(2,)"), 9, BYTES("9", "8", "(2)") },
    { OF("()"), 0, BYTES("0", "4", "()") },     { OF("(0, 7)"), 1, BYTES("1", "0", "(0, 7)") },
    { OF("(2147483647, 65536)"), 8, ADDRESSES_OF_32_BITS ? FEWER("(2147483647, 65536)")
      : BYTES("8", "562949953159168", "(2147483647, 65536)") },
    { OF("(2147483647, 2147483647)"), 0, FEWER("(2147483647, 2147483647)") },
    { OF("(2147483647, 2147483647, 0)"), 0, FEWER("(2147483647, 2147483647, 0)") },
};

TEST(test_unfit)
{
    static const char zeros[16];
    for (int i = 0; i < LENGTH(unfit); i++) {
        char sentence[512];
        snprintf(sentence, sizeof sentence, ARRAY "%.100s", unfit[i].header);
        put(unfit[i].header, zeros, unfit[i].n);
        refuses(PATH, unfit[i].sentence ? unfit[i].sentence : sentence);
    }
    put("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), ", zeros, 9);
    unsigned char file[128];            /* a 0 instead of the last }: the header is one byte longer */
    const size_t n = read_bytes(PATH, file, sizeof file);
    file[8]++;
    write_bytes(PATH, file, n);
    refuses(PATH, ARRAY "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), ");
}

#define VERSION(v) "got version " v " of the .npy format, expected 1.0, 2.0 or 3.0"
#define HEADER(n, most) "got a header of " n " bytes, expected at most " most

TEST(test_beginning)
{
    static const struct {
        const char *file;
        size_t      n;
        const char *sentence;
    } cases[] = {
        { "", 0, "got only 0 bytes, expected a .npy file" },
        { MAGIC "\x01", 7, "got only 7 bytes, expected a .npy file" },
        { "PK\x03\x04 a .npz file", 17,
          "got a file that does not begin with \\x93NUMPY, expected a .npy file" },
        { MAGIC "\x00\x00\x01\x00{}", 12, VERSION("0.0") },
        { MAGIC "\x04\x00\x01\x00{}", 12, VERSION("4.0") },
        { MAGIC "\x02\x00\x01\x00\x00\x00", 12, HEADER("1", "0") },
        { MAGIC "\x03\x00\x01\x00\x00\x01{}", 14, HEADER("16777217", "2") },
        { MAGIC "\x01\x01\x01\x00{}", 12, VERSION("1.1") },
        { MAGIC "\x01\x00\x03\x00{}", 12, HEADER("3", "2") },
        { MAGIC "\x01\x00\xff\xff{}", 12, HEADER("65535", "2") },
        { MAGIC "\x01\x00\x00\x00", 10, "got only 10 bytes, expected a .npy file" },
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        write_bytes(PATH, cases[i].file, cases[i].n);
        refuses(PATH, cases[i].sentence);
    }
    refuses(FOLDER "/none", strerror(ENOENT));
    refuses(FOLDER, "got a directory, expected a regular file");
    refuses("/dev/null", "got a device or pipe, expected a regular file");
}

/* ---- integers ---- */

#define INTS(descr, n) "{'descr': '" descr "', 'fortran_order': False, 'shape': (" #n ", 1)}"

TEST(test_integers)
{
    static const struct {
        const char *header, *values;
        size_t      n;                  /* bytes */
        int         x, y;
        const char *sentence;           /* NULL: the file is read */
    } cases[] = {
        { INTS("|b1", 2), "\0\1", 2, 0, 1, NULL },        { INTS("|i1", 2), "\x7f\x80", 2, 127, -128, NULL },
        { INTS("|u1", 2), "\x80\xff", 2, 128, 255, NULL }, { INTS("<u4", 0), "", 0, 0, 0, NULL },
        { INTS("<i2", 2), "\1\2\xff\xff", 4, 513, -1, NULL },
        { INTS("<u2", 2), "\1\2\xff\xff", 4, 513, 65535, NULL },
        { INTS("<i4", 2), "\xff\xff\xff\x7f\0\0\0\x80", 8, INT_MAX, INT_MIN, NULL },
        { INTS("<i8", 2), "\xff\xff\xff\x7f\0\0\0\0\0\0\0\x80\xff\xff\xff\xff", 16, INT_MAX, INT_MIN, NULL },
        { INTS("<u4", 1), "\0\0\0\x80", 4, 0, 0, "got the value 2147483648 at index 0, expected one that" },
        { INTS("<i8", 1), "\0\0\0\0\0\0\0\x80", 8, 0, 0, "got the value -9223372036854775808 at index 0" },
        { INTS("<i4", 3), "\0\0\0\0", 4, 0, 0, "got 4 bytes of values, expected 12 for the shape (3, 1)" },
        { INTS("<u8", 1), "\0\0\0\0\0\0\0\0", 8, 0, 0, "got values of <u8, expected integers (b1, i1 to i8, "
          "u1 to u4) in C order: in Python, numpy.save(path, numpy.asarray(x, dtype='<i4', order='C'))" },
    };
    const long held = fault_held();
    for (int i = 0; i < 3 * LENGTH(cases); i++) {   /* the first or second allocation fails, or none */
        const int row = i / 3;
        gra_shape s = { 0 };
        put(cases[row].header, cases[row].values, cases[row].n);
        gra_begin(t, GRA_GRAD, NULL);
        fault_arm(FAULT_ALLOC, i % 3, ENOMEM, false);
        int *x = gra_load_npy_ints(t, PATH, &s);
        const char *why = fault_disarm() ? "out of memory" : cases[row].sentence;
        ck_assert_msg(!x == !!why, "%s: %s", cases[row].header, gra_error(t));
        ck_assert_msg(x || strstr(gra_error(t), why), "%s: %s", cases[row].header, gra_error(t));
        ck_assert(!x || (s.ndim == 2 && s.dim[1] == 1));
        ck_assert(!x || !s.dim[0] || (x[0] == cases[row].x && x[1] == cases[row].y));
        free(x);
    }
    ck_assert_int_eq(fault_held(), held);
    ck_assert_ptr_null(gra_load_npy_ints(t, FOLDER, &(gra_shape){ 0 }));   /* the tape already has an error */
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_ptr_null(gra_load_npy_ints(t, PATH, NULL));
    ck_assert(strstr(gra_error(t), "got NULL for the shape"));
}

TEST(test_unwritable)
{
    const gra_tensor x = { .data = (real[]){ 1 }, .size = 1 };
    ck_assert(gra_save_npy(FOLDER "/none/x.npy", &x) == -1 && errno == ENOENT);
    if (access("/dev/full", W_OK) == 0)
        ck_assert(gra_save_npy("/dev/full", &x) == -1 && errno == ENOSPC);
    ck_assert(gra_save_npy(NULL, &x) == -1 && errno == ENOENT);
    ck_assert_int_eq(gra_save_npy(PATH, &x), 0);
}

/* ---- NumPy ---- */

static const gra_shape shapes[] = {                          /* as in tests/files/npy.py */
    { 0, { 0 } }, { 1, { 1 } }, { 1, { 3 } }, { 1, { 0 } }, { 2, { 2, 3 } }, { 3, { 3, 0, 2 } },
    { 3, { 2, 3, 4 } }, { 8, { 1, 2, 1, 3, 1, 2, 1, 2 } },
};

/* Runs tests/files/npy.py by a Python with NumPy, or returns false if there is none. */
static bool numpy(const char *what)
{
    static const char *const known[] = { "python3", "/usr/bin/python3" };
    char command[256];
    for (int i = 0; i < LENGTH(known); i++) {
        snprintf(command, sizeof command, "%s -c 'import numpy' >" FOLDER "/said 2>&1", known[i]);
        if (system(command) != 0)
            continue;
        snprintf(command, sizeof command, "%s tests/files/npy.py %s " FOLDER " f%d >" FOLDER "/said",
                 known[i], what, (int)sizeof(real));
        ck_assert_msg(system(command) == 0, "tests/files/npy.py %s failed", what);
        return true;
    }
    printf("npy: no python3 with NumPy: .npy files were not compared with NumPy's\n");
    return false;
}

/* The values of the array number k. */
static real value_of(int k, size_t i) { return (real)(k + 0.5 * (double)i); }

TEST(test_numpy_writes)
{
    if (!numpy("write"))
        return;
    unsigned char said[64];
    said[read_bytes(FOLDER "/said", said, sizeof said)] = '\0';
    const int n = atoi((char *)said);
    ck_assert_int_eq(n, 2 * LENGTH(shapes));
    for (int k = 0; k < n; k++) {
        char path[256];
        snprintf(path, sizeof path, FOLDER "/%d.npy", k);
        const gra_tensor *x = load(path);
        ck_assert_msg(x != NULL, "%s", gra_error(t));
        ck_assert(gra_same_shape(x->shape, shapes[k % LENGTH(shapes)]));
        for (size_t i = 0; i < x->size; i++)
            ck_assert_msg(x->data[i] == value_of(k, i), "%s: value %zu is %g", path, i,
                          (double)x->data[i]);
    }
    ck_assert_msg(load(FOLDER "/version.npy") != NULL, "%s", gra_error(t));     /* 2.0 */
    const gra_tensor *x = load(FOLDER "/converted.npy");        /* from Fortran order, as VALUES tells */
    ck_assert_msg(x && x->shape.dim[1] == 3 && x->data[2] == 1 && x->data[3] == (real)1.5, "%s",
                  gra_error(t));
}

TEST(test_numpy_reads)
{
    real values[64];
    for (int k = 0; k < LENGTH(shapes); k++) {
        char path[256];
        gra_tensor x = { .data = values, .shape = shapes[k] };
        ck_assert(gra_shape_size(x.shape, &x.size) && x.size <= 64);
        for (size_t i = 0; i < x.size; i++)
            values[i] = value_of(k, i);
        snprintf(path, sizeof path, FOLDER "/%d.npy", k);
        ck_assert_int_eq(gra_save_npy(path, &x), 0);
    }
    numpy("check");
}
