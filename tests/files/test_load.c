/* Loading: files by other programs, and the sentences of refused files. In headers ' is a " and $ a byte
 * 0. */
#define _XOPEN_SOURCE 700               /* mkfifo, truncate */
#include "core/op.h"
#include "lib/fault.h"
#include "lib/folder.h"
#include "lib/suites.h"
#include "two_params.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/load"
#define PATH   FOLDER "/model.safetensors"

static void clear(void) { folder_clear(FOLDER); }

/* The file with this header and n bytes after it; NULL: zeros. */
static void put(const char *header, const void *data, size_t n)
{
    unsigned char *zeros = calloc(n + 1, 1), *file = malloc(strlen(header) + 8 + n);
    ck_assert(zeros && file);
    write_bytes(PATH, file, compose(file, header, data ? data : zeros, n));
    free(zeros);
    free(file);
}

/* ---- what is accepted ---- */

CASE(load, clear, NULL, "")

TEST(test_names)                        /* any characters, written by us, escaped by other programs */
{
    static const char name[] = "a\"\\/\n\t\x01 \xc3\xa9 \xf0\x9f\x98\x80";
    gra_model *m = model_open();
    gra_tensor *p = parameter(m, name, GRA_SHAPE(1));
    p->data[0] = 7;
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    p->data[0] = 0;
    ck_assert_int_eq(gra_load(m, PATH), 0);
    ck_assert(p->data[0] == 7);
    gra_file *f = gra_file_open(PATH);
    ck_assert(!gra_file_error(f) && !gra_file_meta(f, "format") && !gra_file_meta(f, ""));
    gra_file_close(f);

    put("{'\\u0061\\u0022\\u005C\\/\\u000a\\t\\u0001\\u0020\\u00e9 \\ud83d\\uDE00':"
        "{'d\\u0074ype':'F32','shape':[1],'data_offsets':[0,4]}}", "\0\0\0\x40", 4);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    ck_assert(p->data[0] == 2);
    gra_model_close(m);
}

#define A "'a':{'dtype':'F32','shape':[2],'data_offsets':[0,8]}"
#define B "'b':{'dtype':'F32','shape':[2,2],'data_offsets':[8,24]}"

TEST(test_accepted)                     /* a = 1, 2 and b = 3, 4, 5, 6, written in many ways */
{
    static const char *const headers[] = {
        "{" A "," B "}", "{" B "," A "}",
        /* values at any place */
        "{" A "," B "} ", "{" A "," B "}  ", "{" A "," B "}   ", "{" A "," B "}    ",
        "{" A "," B "}     ", "{" A "," B "}      ", "{" A "," B "}       ",
        "{" A "," B "} \t\r\n", " {" A "," B "}", "\n\t \r{" A "," B "}",
        "{'__metadata__':{}," A "," B "}", "{" A ",'__metadata__':{'x':'y','':''}," B "}",
        " { 'a' : { 'shape' : [ 2 ] , 'dtype' : 'F32' , 'data_offsets' : [ 0 , 8 ] } , " B " } ",
        "{'a':{'dtype':'\\u00463\\u0032','shape':[2],'data_offsets':[0,8]}," B "}",
    };
    static const unsigned char data[] = {
        0, 0, 0x80, 0x3f,  0, 0, 0, 0x40,  0, 0, 0x40, 0x40,  0, 0, 0x80, 0x40,  0, 0, 0xa0, 0x40,  0, 0,
        0xc0, 0x40,
    };
    for (int i = 0; i < LENGTH(headers); i++) {
        put(headers[i], data, sizeof data);
        gra_model *m = two_params();
        ck_assert_msg(gra_load(m, PATH) == 0, "%s\n%s", headers[i], gra_model_error(m));
        const real *a = gra_param_find(m, "a")->data, *b = gra_param_find(m, "b")->data;
        ck_assert_msg(a[0] == 1 && a[1] == 2 && b[0] == 3 && b[1] == 4 && b[2] == 5 && b[3] == 6, "%s",
                      headers[i]);
        gra_model_close(m);
    }
}

static void expect_unread(gra_file *f, const char *name, const char *sentence)
{
    real x[8];
    ck_assert_int_eq(gra_file_read(f, name ? gra_file_find(f, name) : NULL, x), -1);
    ck_assert_str_eq(gra_file_error(f), sentence);
}

/* The whole reader: kinds of values, a scalar, no values at all, metadata, missing names. */
TEST(test_look_inside)
{
    static const char header[] = "{'half':{'dtype':'F16','shape':[1,3],'data_offsets':[5,11]},"
        "'mask':{'dtype':'BOOL','shape':[5],'data_offsets':[0,5]},"
        "'none':{'dtype':'F64','shape':[3,0,7],'data_offsets':[11,11]},"
        "'one':{'dtype':'F64','shape':[],'data_offsets':[11,19]},"
        "'six':{'dtype':'F6_E2M3','shape':[2,2],'data_offsets':[19,22]},"
        "'br\\u00e9in':{'dtype':'BF16','shape':[1],'data_offsets':[22,24]},"
        "'count':{'dtype':'I64','shape':[1],'data_offsets':[24,32]},"
        "'':{'dtype':'U8','shape':[0],'data_offsets':[0,0]},"
        "'__metadata__':{'z':'\\u007a\\n','a':'','':'empty','\\uD834\\uDD1E':'clef'}}";
    static const unsigned char data[32] = {
        1, 0, 1, 0, 1,  0, 0x3c, 1, 0, 0, 0xfc,  0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f,  1, 2, 3,
        0x80, 0xc0, 9,
    };
    static const struct {               /* in their order in the file */
        const char *name, *dtype;
        gra_shape   shape;
        size_t      size;
        uint64_t    begin, end;
    } tensors[] = {
        { "",             "U8",      { 1, { 0 } },       0, 0,  0 },
        { "mask",         "BOOL",    { 1, { 5 } },       5, 0,  5 },
        { "half",         "F16",     { 2, { 1, 3 } },    3, 5,  11 },
        { "none",         "F64",     { 3, { 3, 0, 7 } }, 0, 11, 11 },
        { "one",          "F64",     { 0, { 0 } },       1, 11, 19 },
        { "six",          "F6_E2M3", { 2, { 2, 2 } },    4, 19, 22 },
        { "br\xc3\xa9in", "BF16",    { 1, { 1 } },       1, 22, 24 },
        { "count",        "I64",     { 1, { 1 } },       1, 24, 32 },
    };
    real x[3] = { 0 };
    put(header, data, sizeof data);
    gra_file *f = gra_file_open(PATH);
    ck_assert_msg(!gra_file_error(f), "%s", gra_file_error(f));
    ck_assert_int_eq(gra_file_count(f), LENGTH(tensors));
    for (int i = 0; i < LENGTH(tensors); i++) {
        const gra_file_tensor *at = gra_file_at(f, i);
        ck_assert_str_eq(at->name, tensors[i].name);
        ck_assert_str_eq(at->dtype, tensors[i].dtype);
        ck_assert_ptr_eq(gra_file_find(f, tensors[i].name), at);
        ck_assert(gra_same_shape(at->shape, tensors[i].shape) && at->size == tensors[i].size &&
                  at->begin == tensors[i].begin && at->end == tensors[i].end);
    }
    ck_assert(!gra_file_at(f, 8) && !gra_file_at(f, -1) && !gra_file_find(f, "hal") &&
              !gra_file_find(f, "halff"));

    const gra_file_tensor *one = gra_file_find(f, "one");
    ck_assert_int_eq(gra_file_read(f, gra_file_find(f, "half"), x), 0);
    ck_assert(x[0] == 1 && x[1] == (real)ldexp(1, -24) && x[2] == (real)-INFINITY);
    ck_assert(gra_file_read(f, one, x) == 0 && x[0] == (real)0.1);
    ck_assert(gra_file_read(f, gra_file_find(f, "none"), x) == 0 && x[0] == (real)0.1);
    ck_assert(gra_file_read(f, gra_file_find(f, "br\xc3\xa9in"), x) == 0 && x[0] == -4);
    ck_assert_ptr_null(gra_file_error(f));
    expect_unread(f, "count", PATH ": tensor count: got the dtype I64, expected F32, F64, F16 or BF16");
    ck_assert(gra_file_read(f, one, x) == 0 && !gra_file_error(f));    /* errors belong to the last read */
    expect_unread(f, "count", PATH ": tensor count: got the dtype I64, expected F32, F64, F16 or BF16");
    expect_unread(f, "hal", PATH ": gra_file_read: got NULL for the tensor, expected one of the file: "
                                 "gra_file_find returns NULL for an unknown name");
    ck_assert_int_eq(gra_file_read(f, one, NULL), -1);
    ck_assert_str_eq(gra_file_error(f), PATH ": gra_file_read: got NULL for the values of one, expected room "
                     "for 1");
    ck_assert(!gra_file_find(f, NULL) && !gra_file_meta(f, NULL));
    ck_assert_str_eq(gra_file_meta(f, "z"), "z\n");
    ck_assert_str_eq(gra_file_meta(f, "a"), "");
    ck_assert_str_eq(gra_file_meta(f, ""), "empty");
    ck_assert_str_eq(gra_file_meta(f, "\xf0\x9d\x84\x9e"), "clef");
    ck_assert_ptr_null(gra_file_meta(f, "b"));
    gra_file_close(f);

    f = gra_file_open(PATH);
    ck_assert_int_eq(truncate(PATH, (off_t)strlen(header) + 8 + 10), 0);
    expect_unread(f, "half", PATH ": the file ended while it was being read");
    gra_file_close(f);
    f = gra_file_open(PATH);                    /* a refused file has no tensors */
    expect_unread(f, NULL, PATH ": tensor half: got bytes 5 to 11, expected a range within 0 to 10");
    ck_assert(gra_file_count(f) == 0 && !gra_file_at(f, 0) && !gra_file_find(f, "half"));
    ck_assert(!gra_file_meta(f, "z"));
    gra_file_close(f);
    expect_unread(NULL, NULL, "out of memory");
    ck_assert(gra_file_count(NULL) == 0 && !gra_file_at(NULL, 0) && !gra_file_find(NULL, "") &&
              !gra_file_meta(NULL, ""));
    gra_file_close(NULL);
}

/* Compares each of the 65536 numbers of 16 bits with its definition. */
static double half_of(unsigned bits, int exponent_bits, int fraction_bits)
{
    const int most = (1 << exponent_bits) - 1, bias = most / 2;
    const int exponent = (int)(bits >> fraction_bits) & most;
    const int fraction = (int)bits & ((1 << fraction_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == most)
        return fraction ? copysign((double)NAN, sign) : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

TEST(test_16_bits)
{
    enum { ALL = 65536 };
    static const struct {
        const char *dtype;
        int         exponent, fraction;
    } kind[] = { { "F16", 5, 10 }, { "BF16", 8, 7 } };
    static unsigned char data[2 * ALL];
    static real x[ALL];
    for (unsigned i = 0; i < ALL; i++) {
        data[2 * i]     = (unsigned char)i;
        data[2 * i + 1] = (unsigned char)(i >> 8);
    }
    for (int k = 0; k < 2; k++) {
        char header[256];
        snprintf(header, sizeof header,
                 "{'x':{'dtype':'%s','shape':[65536],'data_offsets':[0,131072]}}", kind[k].dtype);
        put(header, data, sizeof data);
        gra_file *f = gra_file_open(PATH);
        ck_assert_ptr_null(gra_file_error(f));
        ck_assert_int_eq(gra_file_read(f, gra_file_at(f, 0), x), 0);
        for (unsigned i = 0; i < ALL; i++) {
            const double want = half_of(i, kind[k].exponent, kind[k].fraction), got = (double)x[i];
            ck_assert_msg((got == want || (isnan(got) && isnan(want))) && !signbit(got) == !signbit(want),
                          "%s %04x is %a, and was read as %a", kind[k].dtype, i, want, got);
        }
        gra_file_close(f);
    }
}

/* A header may have many short entries: their memory must not outgrow the file. */
TEST(test_memory_for_a_header)
{
    enum { MANY = 20000, ROOM = MANY * 80 };
    static const char *const entry[] = { "%s'%x':''",
                                         "%s'%x':{'dtype':'U8','shape':[0],'data_offsets':[0,0]}" };
    char *header = malloc(ROOM);
    ck_assert_ptr_nonnull(header);
    for (int k = 0; k < 2; k++) {
        char *at = header + sprintf(header, k == 0 ? "{'__metadata__':{" : "{");
        for (unsigned i = 0; i < MANY; i++)
            at += sprintf(at, entry[k], i ? "," : "", i);
        strcpy(at, k == 0 ? "}}" : "}");
        put(header, NULL, 0);
        fault_largest();
        gra_file *f = gra_file_open(PATH);
        const size_t largest = fault_largest(), n = strlen(header) + 8;
        ck_assert_msg(!gra_file_error(f), "%s", gra_file_error(f));
        ck_assert_int_eq(gra_file_count(f), k == 0 ? 0 : MANY);
        ck_assert(k == 0 ? gra_file_meta(f, "4e1f") != NULL : gra_file_find(f, "4e1f") != NULL);
        ck_assert_msg(largest <= 4 * n, "%zu bytes were asked for at once, for a file of %zu", largest, n);
        gra_file_close(f);
    }
    free(header);
}

static gra_model *with_alias(void)      /* two parameters, and z, another name of a */
{
    gra_model *m = two_params();
    gra_alias(gra_root(m), "z", gra_param_find(m, "a"));
    return m;
}

/* A file with more than a = 8, 9 and b. */
static const struct { const char *name, *sentence; int size, last; } beside[] = {
    { NULL, NULL, 0, 0 },
    { "z", NULL, 2, 9 },
    { "z", "tensors z and a: got different values, expected the same: in the model they are one parameter",
      2, 7 },
    { "z", "tensor z: got the shape (3), expected (2) as in the model", 3, 0 },
    { "y", "got a tensor y, expected only those of the model", 2, 9 },
};

/* A parameter with two names is in the file twice; a file to read may lack the second, but not change it. */
TESTS(test_further_name, LENGTH(beside))
{
    gra_model *m = with_alias(), *plain = two_params();
    fill(gra_param_find(plain, "a"), (real[]){ 8, 9 });
    if (beside[_i].name)
        fill(parameter(plain, beside[_i].name, GRA_SHAPE(beside[_i].size)),
             (real[]){ 8, (real)beside[_i].last, 0 });
    ck_assert_int_eq(gra_save(plain, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(m, PATH), beside[_i].sentence ? -1 : 0);
    if (beside[_i].sentence)
        ck_assert_str_eq(gra_model_error(m) + strlen(PATH ": "), beside[_i].sentence);
    ck_assert_int_eq(untouched(m), beside[_i].sentence != NULL);
    ck_assert(beside[_i].sentence || gra_param_find(m, "a")->data[1] == 9);
    gra_model_close(plain);
    gra_model_close(m);
}

TESTS(test_both_names, 2)               /* write, and read into each kind of model: each call fails in turn */
{
    gra_model *m = with_alias(), *plain = two_params();
    gra_tensor *z = parameter(plain, "z", GRA_SHAPE(2));
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(plain, PATH), 0);
    ck_assert(z->data[0] == -1 && z->data[1] == -1);
    for (long n = 1, struck = 1; struck && fault_wrapped(); n++) {     /* reads both values, to compare */
        fault_arm(_i ? FAULT_READ : FAULT_ALLOC, n, _i ? EIO : ENOMEM, false);
        const int status = gra_load(m, PATH);
        struck = fault_disarm();
        ck_assert_int_eq(status, struck ? -1 : 0);
        ck_assert(untouched(m) && !gra_model_error(m) == !struck);
    }
    gra_model_close(plain);
    gra_model_close(m);
}

/* ---- what is refused ---- */

#define AS(dtype, shape, offsets) \
    "{'a':{'dtype':'" dtype "','shape':[" shape "],'data_offsets':[" offsets "]}," B "}"
#define NO     "not a safetensors file: "
#define WHOLE  "expected a whole number: 0, 1, 2 ..."
#define KEYS   "expected dtype, shape and data_offsets, each once, and nothing else"
#define NEEDS  "expected dtype, shape and data_offsets"
#define ESCAPE "got an invalid escape in a string"
#define NO_DTYPE(name) ": got the dtype " name ", expected one of safetensors, such as F32"
#define BYTES(n, expected, of) "tensor a: got " n " bytes, expected " expected " for the shape " of
#define GAP(name, at, expected) "tensor " name ": got a beginning at byte " at ", expected byte " expected \
    ": tensors follow each other without gaps"

/* An @ in the header is not written to the file: it marks the byte at which the reader must stop, and which
 * the sentence names. After the header come 24 bytes, the values of a and b, or as many bytes as the number
 * after a # tells. */
static const struct { const char *header, *sentence; } refused[] = {
    /* texts that are no JSON of tensors */
    { "@", "expected {" },                              { " @x{" A "," B "}", "expected {" },
    { "@[]", "expected {" },                            { "{'a':@1}", "expected {" },
    { "{" A "," B "@", "expected , or }" },             { "{" A " @" B "}", "expected , or }" },
    { "{" A "@$," B "}", "expected , or }" },           { "{'a' @1}", "expected :" },
    { "{" A "," B ",@}", "expected a string" },         { "{'a':{@}}", "expected a string" },
    { "{@a:{}}", "expected a string" },                 { "{'a@", "expected the end of a string" },
    { "{" A "," B "}@}", "expected nothing after the last }" },
    { "{" A "," B "} @x", "expected nothing after the last }" },
    { "{'a@\nb':0}", "got a control character in a string" },
    { "{'a@\\", ESCAPE },             { "{'a@\\x':0}", ESCAPE },          { "{'@\\u00g0':0}", ESCAPE },
    { "{'@\\u00", ESCAPE },           { "{'@\\ud800':0}", ESCAPE },       { "{'@\\udc00':0}", ESCAPE },
    { "{'@\\ud800", ESCAPE },         { "{'@\\ud800\\", ESCAPE },        { "{'@\\ud800\\n0041':0}", ESCAPE },
    { "{'@\\ud800\\u0041':0}", ESCAPE },    { "{'@\\ud800\\ue000':0}", ESCAPE },
    { "{'@\\udc00\\udc00':0}", ESCAPE },    { "{'a@\\u0000':0}", "got \\u0000 in a string" },
    { "{'__metadata__':{'@\\u0000':''}," A "," B "}", "got \\u0000 in a string" },
    { "{'__metadata__':{'a':@1}," A "," B "}", "expected a string" },
    { "{'__metadata__':{},'__metadata__':@{}," A "," B "}", "got a second __metadata__, expected one" },
    { "{'a':{'shape':[2@", "expected , or ]" },         { AS("F32", "2@.0", "0,8"), "expected , or ]" },
    { AS("F32", "2", "0,8@,9"), "expected , or ]" },    { AS("F32", "2", "0,1@e1"), "expected , or ]" },
    { AS("F32", "2", "0@"), "expected ," },             { AS("F32", "@-2", "0,8"), WHOLE },
    { AS("F32", "02@", "0,8"), WHOLE },                 { AS("F32", "2,@", "0,8"), WHOLE },
    { AS("F32", "1844674407370955161@6", "0,8"), "expected a number of at most 64 bits" },
    { AS("F32", "9999999999999999999@9", "0,8"), "expected a number of at most 64 bits" },
    { AS("F32", "0,2147483648@", "0,0"), "expected a dimension of at most 2147483647" },
    { AS("F32", "1,1,1,1,1,1,1,1,2@", "0,8"), "expected at most 8 dimensions" },
    { AS("F32','dtype':@'F32", "2", "0,8"), KEYS },     { AS("F32", "2],'shape':@[2", "0,8"), KEYS },
    { AS("F32", "2],'more':@[2", "0,8"), KEYS },        { AS("F32", "2", "0,8],'data_offsets':@[0,8"), KEYS },
    { "{'a':{'dtype':'F32','shape':[2]@}," B "}", NEEDS },
    { "{'a':{'dtype':'F32','data_offsets':[0,8]@}," B "}", NEEDS },
    { "{'a':{'shape':[2],'data_offsets':[0,8]@}," B "}", NEEDS },

    /* invalid UTF-8 */
    { "{'@\xff':0}", " is not UTF-8" },                 { "{'@\x80':0}", " is not UTF-8" },
    { "{'@\xc0\x80':0}", " is not UTF-8" },             { "{'@\xe0\x9f\xbf':0}", " is not UTF-8" },
    { "{'@\xed\xa0\x80':0}", " is not UTF-8" },         { "{'@\xf4\x90\x80\x80':0}", " is not UTF-8" },
    { "{'@\xf5\x80\x80\x80':0}", " is not UTF-8" },     { "{'@\xe2\x82':0}", " is not UTF-8" },
    { "{'@\xe2\x82", " is not UTF-8" },                 { "{'@\xf0", " is not UTF-8" },
    { "@\xef", " is not UTF-8" },                       { "{" A "," B "}@\x80", " is not UTF-8" },

    /* impossible tensors */
    { AS("f32", "2", "0,8"), "tensor a" NO_DTYPE("f32") },
    { AS("F\\u00333", "2", "0,8"), "tensor a" NO_DTYPE("F33") },
    { AS("", "2", "0,8"), "tensor a" NO_DTYPE("") },
    { "{'\\ue000\xc3\xa9':{'dtype':'F33','shape':[2],'data_offsets':[0,8]}," B "}",
      "tensor \xee\x80\x80\xc3\xa9" NO_DTYPE("F33") },
    { "{'x\\u001b[1m\\u0085':{'dtype':'?','shape':[2],'data_offsets':[0,8]}," B "}",
      "tensor x?[1m??" NO_DTYPE("?") },
    { AS("F32", "2147483647,2147483647,2147483647", "0,0"),
      "tensor a: got the shape (2147483647, 2147483647, 2147483647) of F32, expected fewer values" },
    { AS("F32", "2147483647,2147483647,2147483647,0", "0,0"),
      "tensor a: got the shape (2147483647, 2147483647, 2147483647, 0) of F32, expected fewer values" },
    { AS("I64", "2147483647,536870912", "0,0"),
      "tensor a: got the shape (2147483647, 536870912) of I64, expected fewer values" },
    { AS("F4", "3", "0,1"), "tensor a: got the shape (3) of F4, expected whole bytes" },
    { AS("F32", "2", "8,0"), "tensor a: got bytes 8 to 0, expected a range within 0 to 24" },
    { AS("F32", "2", "0,25"), "tensor a: got bytes 0 to 25, expected a range within 0 to 24" },
    { AS("F32", "2", "0,18446744073709551615"),
      "tensor a: got bytes 0 to 18446744073709551615, expected a range within 0 to 24" },
    { AS("F32", "2", "18446744073709551608,18446744073709551615"),
      "tensor a: got bytes 18446744073709551608 to 18446744073709551615, expected a range within 0 to 24" },
    { AS("F32", "2", "0,4"), BYTES("4", "8", "(2) of F32") },
    { AS("F32", "2", "0,0"), BYTES("0", "8", "(2) of F32") },
    { AS("F32", "", "0,8"), BYTES("8", "4", "() of F32") },
    { AS("F32", "0,3", "0,8"), BYTES("8", "0", "(0, 3) of F32") },
    { AS("F64", "2", "0,8"), BYTES("8", "16", "(2) of F64") },
    { AS("F16", "2", "0,8"), BYTES("8", "4", "(2) of F16") },
    { AS("BOOL", "2", "0,8"), BYTES("8", "2", "(2) of BOOL") },
    { AS("I64", "2", "0,8"), BYTES("8", "16", "(2) of I64") },

    /* names that occur twice */
    { "{" A "," A "," B "}", "got two tensors a, expected one" },
    { "{" A ",'\\u0061':{'dtype':'F32','shape':[2],'data_offsets':[0,8]}," B "}",
      "got two tensors a, expected one" },
    { "{'__metadata__':{'k':'1','l':'','\\u006b':'3'}," A "," B "}",
      "got the metadata key k twice, expected it once" },

    /* gaps between tensors */
    { AS("F32", "2", "4,12"), GAP("a", "4", "0") },     { AS("F32", "2", "12,20"), GAP("b", "8", "0") },
    { AS("F64", "2", "0,16"), GAP("b", "8", "16") },    { AS("F32", "2", "8,16"), GAP("a", "8", "0") },
    { AS("F32", "0", "12,12"), GAP("b", "8", "0") },    { "{" B "}", GAP("b", "8", "0") },
    { "{" A "," B ",'c':{'dtype':'F32','shape':[0],'data_offsets':[4,4]}}", GAP("c", "4", "8") },
    { "{" A ",'b':{'dtype':'F32','shape':[2,2],'data_offsets':[12,28]}}#28", GAP("b", "12", "8") },
    { "{" A "," B "}#25", "got 25 bytes after the header, expected 24, where the last tensor ends" },
    { "{}#1", "got 1 bytes after the header, expected 0, where the last tensor ends" },

    /* another model's tensors */
    { "{" A "," B ",'c':{'dtype':'F32','shape':[],'data_offsets':[24,28]}}#28",
      "got a tensor c, expected only those of the model" },
    { "{" A "," B ",'':{'dtype':'F32','shape':[0],'data_offsets':[24,24]}}",
      "got a tensor , expected only those of the model" },
    { "{" A "}#8", "got no tensor b, expected all of the model's (missing: 1)" },
    { "{}#0", "got no tensor b, expected all of the model's (missing: 2)" },
    { AS("F32", "1,2", "0,8"), "tensor a: got the shape (1, 2), expected (2) as in the model" },
    { AS("F32", "2,1", "0,8"), "tensor a: got the shape (2, 1), expected (2) as in the model" },
    { AS("F64", "", "0,8"), "tensor a: got the shape (), expected (2) as in the model" },
    { AS("I32", "2", "0,8"), "tensor a: got the dtype I32, expected F32, F64, F16 or BF16" },
};

static void refuses(const char *path, const char *sentence)
{
    char want[1024];
    snprintf(want, sizeof want, "%s: %s", path, sentence);
    gra_model *m = two_params();
    struct stat s = { 0 };
    stat(path, &s);
    fault_largest();
    ck_assert_msg(gra_load(m, path) == -1, "this was loaded, though %s", sentence);
    ck_assert_uint_le(fault_largest(), 8 * (size_t)s.st_size + 1024);
    ck_assert_str_eq(gra_model_error(m), want);
    ck_assert_msg(untouched(m), "half of it was loaded, though %s", sentence);
    gra_model_close(m);
}

TEST(test_refused)
{
    for (int i = 0; i < LENGTH(refused); i++) {
        char header[512], sentence[512];
        const char *wrong = refused[i].sentence, *rest = refused[i].header, *mark = strchr(rest, '@');
        const int at = mark ? (int)(mark - rest) : 0;
        snprintf(header, sizeof header, "%.*s%s", at, rest, rest + at + (mark != NULL));
        char *bytes = strchr(header, '#');
        if (bytes)
            *bytes++ = '\0';
        if (mark)
            snprintf(sentence, sizeof sentence, NO "byte %d of the header%s%s", at, *wrong == ' ' ? "" : ": ",
                     wrong);
        put(header, NULL, bytes ? (size_t)atoi(bytes) : 24);
        refuses(PATH, mark ? sentence : wrong);
    }
    put("{" A "," B "}", NULL, 24);
    gra_model *m = two_params();
    ck_assert_msg(gra_load(m, PATH) == 0, "without a fault: %s", gra_model_error(m));
    gra_model_close(m);
}

TEST(test_header_length)
{
    static const struct {
        const char *file, *sentence;
        size_t      n;
    } cases[] = {
        { "",                    NO "got 0 bytes, expected 8 or more", 0 },
        { "\2\0\0\0\0\0\0",     NO "got 7 bytes, expected 8 or more", 7 },
        { "\0\0\0\0\0\0\0\0",   NO "byte 0 of the header: expected {", 8 },
        { "\3\0\0\0\0\0\0\0{}", NO "got a header of 3 bytes, expected at most 2", 10 },
        { "\xff\xff\xff\xff\xff\xff\xff\xff{}",
          NO "got a header of 18446744073709551615 bytes, expected at most 2", 10 },
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        write_bytes(PATH, cases[i].file, cases[i].n);
        refuses(PATH, cases[i].sentence);
    }
}

/* The limit itself: a sparse file that is long enough, with a header one byte too long. */
TEST(test_header_limit)
{
    static const unsigned char length[8] = { 0x01, 0xe1, 0xf5, 0x05 };
    write_bytes(PATH, length, sizeof length);
    ck_assert_int_eq(truncate(PATH, 100000100), 0);
    refuses(PATH, NO "got a header of 100000001 bytes, expected at most 100000000");
    unlink(PATH);
}

TEST(test_long_name)                    /* the sentence has its first 100 bytes, in whole characters */
{
    char name[128] = "", header[512], sentence[512];
    memset(name, 'x', 99);
    snprintf(header, sizeof header, "{'%s\xc3\xa9y':{'dtype':'F','shape':[],'data_offsets':[0,0]}}", name);
    snprintf(sentence, sizeof sentence, "tensor %s?" NO_DTYPE("F"), name);
    put(header, NULL, 0);
    refuses(PATH, sentence);
}

TEST(test_no_file)
{
    refuses(FOLDER "/none", strerror(ENOENT));
    for (int i = 0; i < 2; i++) {       /* like argv[1] without arguments */
        gra_file *f = gra_file_open(i ? NULL : "");
        ck_assert_str_eq(gra_file_error(f), "a file without a name: No such file or directory");
        gra_file_close(f);
    }
    char path[512], want[512];          /* the sentence has the end of a long path, with the name */
    memset(path, '/', sizeof path);
    strcpy(path + 400, "none.safetensors");
    snprintf(want, sizeof want, "...%s: %s", path + 116, strerror(ENOENT));
    gra_file *f = gra_file_open(path);
    ck_assert_str_eq(gra_file_error(f), want);
    gra_file_close(f);
    refuses(FOLDER, "got a directory, expected a regular file");
    refuses("/dev/null", "got a device or pipe, expected a regular file");
    ck_assert_int_eq(mkfifo(FOLDER "/pipe", 0600), 0);
    refuses(FOLDER "/pipe", "got a device or pipe, expected a regular file");
}
