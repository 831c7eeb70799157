/* Loading: files that others write, and what is refused with which sentence. */
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

static void clear(void)
{
    folder_clear(FOLDER);
}

/* ---- what is accepted ---- */

CASE(load, clear, NULL, "")

TEST(test_names)                        /* of any characters, written by us and escaped by others */
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

    unsigned char file[512];
    size_t n = compose(file, "{\"\\u0061\\u0022\\u005C\\/\\u000a\\t\\u0001\\u0020\\u00e9 \\ud83d\\uDE00\":"
                       "{\"d\\u0074ype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "\0\0\0\x40", 4);
    write_bytes(PATH, file, n);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    ck_assert(p->data[0] == 2);
    gra_model_close(m);
}

#define A     "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define B     "\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]}"

TEST(test_accepted)                     /* a = 1, 2 and b = 3, 4, 5, 6, said in many ways */
{
    static const char *const headers[] = {
        "{" A "," B "}", "{" B "," A "}",
        /* values at any place */
        "{" A "," B "} ", "{" A "," B "}  ", "{" A "," B "}   ", "{" A "," B "}    ",
        "{" A "," B "}     ", "{" A "," B "}      ", "{" A "," B "}       ",
        "{" A "," B "} \t\r\n", " {" A "," B "}", "\n\t \r{" A "," B "}",
        "{\"__metadata__\":{}," A "," B "}", "{" A ",\"__metadata__\":{\"x\":\"y\",\"\":\"\"}," B "}",
        " { \"a\" : { \"shape\" : [ 2 ] , \"dtype\" : \"F32\" , \"data_offsets\" : [ 0 , 8 ] } , " B " } ",
        "{\"a\":{\"dtype\":\"\\u00463\\u0032\",\"shape\":[2],\"data_offsets\":[0,8]}," B "}",
    };
    static const unsigned char data[] = {
        0, 0, 0x80, 0x3f,  0, 0, 0, 0x40,  0, 0, 0x40, 0x40,  0, 0, 0x80, 0x40,  0, 0, 0xa0, 0x40,  0, 0,
        0xc0, 0x40,
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        unsigned char file[1024];
        write_bytes(PATH, file, compose(file, headers[i], data, sizeof data));
        gra_model *m = two_params();
        ck_assert_msg(gra_load(m, PATH) == 0, "%s\n%s", headers[i], gra_model_error(m));
        const real *a = gra_param_find(m, "a")->data, *b = gra_param_find(m, "b")->data;
        ck_assert_msg(a[0] == 1 && a[1] == 2 && b[0] == 3 && b[1] == 4 && b[2] == 5 && b[3] == 6, "%s",
                      headers[i]);
        gra_model_close(m);
    }
}

/* All of the reader: kinds of values, a scalar, no values at all, metadata, what is not there. */
TEST(test_look_inside)
{
    static const char header[] = "{\"half\":{\"dtype\":\"F16\",\"shape\":[1,3],\"data_offsets\":[5,11]},"
        "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[5],\"data_offsets\":[0,5]},"
        "\"none\":{\"dtype\":\"F64\",\"shape\":[3,0,7],\"data_offsets\":[11,11]},"
        "\"one\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[11,19]},"
        "\"six\":{\"dtype\":\"F6_E2M3\",\"shape\":[2,2],\"data_offsets\":[19,22]},"
        "\"br\\u00e9in\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[22,24]},"
        "\"count\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[24,32]},"
        "\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
        "\"__metadata__\":{\"z\":\"\\u007a\\n\",\"a\":\"\",\"\":\"empty\",\"\\uD834\\uDD1E\":\"clef\"}}";
    static const unsigned char data[32] = {
        1, 0, 1, 0, 1,  0, 0x3c, 1, 0, 0, 0xfc,  0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f,  1, 2, 3,
        0x80, 0xc0, 9,
    };
    static const char *const names[] = { "", "mask", "half", "none", "one", "six", "br\xc3\xa9in", "count" };
    unsigned char bytes[1024];
    real x[3] = { 0 };
    write_bytes(PATH, bytes, compose(bytes, header, data, sizeof data));
    gra_file *f = gra_file_open(PATH);
    ck_assert_msg(!gra_file_error(f), "%s", gra_file_error(f));

    ck_assert_int_eq(gra_file_count(f), 8);
    for (int i = 0; i < 8; i++) {               /* in their order in the file */
        ck_assert_str_eq(gra_file_at(f, i)->name, names[i]);
        ck_assert_ptr_eq(gra_file_find(f, names[i]), gra_file_at(f, i));
    }
    ck_assert(!gra_file_at(f, 8) && !gra_file_at(f, -1) && !gra_file_find(f, "hal") &&
              !gra_file_find(f, "halff"));

    const gra_file_tensor *half = gra_file_find(f, "half"), *none = gra_file_find(f, "none"),
                          *one = gra_file_find(f, "one");
    ck_assert(half->shape.ndim == 2 && half->shape.dim[0] == 1 && half->shape.dim[1] == 3 &&
              half->size == 3 && half->begin == 5);
    ck_assert(none->shape.ndim == 3 && none->shape.dim[0] == 3 && none->shape.dim[1] == 0 &&
              none->shape.dim[2] == 7 && none->size == 0);
    ck_assert(one->shape.ndim == 0 && one->size == 1 && one->end == 19);
    ck_assert_str_eq(half->dtype, "F16");
    ck_assert_int_eq(gra_file_read(f, half, x), 0);
    ck_assert(x[0] == 1 && x[1] == (real)ldexp(1, -24) && x[2] == (real)-INFINITY);
    ck_assert(gra_file_read(f, one, x) == 0 && x[0] == (real)0.1);
    ck_assert(gra_file_read(f, none, x) == 0 && x[0] == (real)0.1);
    ck_assert(gra_file_read(f, gra_file_find(f, "br\xc3\xa9in"), x) == 0 && x[0] == -4);
    ck_assert_ptr_null(gra_file_error(f));
    ck_assert_int_eq(gra_file_read(f, gra_file_find(f, "count"), x), -1);
    ck_assert_str_eq(gra_file_error(f), PATH ": tensor count: got the dtype I64, expected F32, F64, F16 or "
                                             "BF16");
    ck_assert(gra_file_read(f, one, x) == 0 && !gra_file_error(f));    /* errors are of the last read */
    ck_assert_int_eq(gra_file_read(f, gra_file_find(f, "count"), x), -1);
    ck_assert_int_eq(gra_file_read(f, gra_file_find(f, "hal"), x), -1);
    ck_assert_str_eq(gra_file_error(f), PATH ": gra_file_read: got NULL for the tensor, expected one of "
                                             "the file: gra_file_find returns NULL for an unknown name");

    ck_assert_str_eq(gra_file_meta(f, "z"), "z\n");
    ck_assert_str_eq(gra_file_meta(f, "a"), "");
    ck_assert_str_eq(gra_file_meta(f, ""), "empty");
    ck_assert_str_eq(gra_file_meta(f, "\xf0\x9d\x84\x9e"), "clef");
    ck_assert_ptr_null(gra_file_meta(f, "b"));
    gra_file_close(f);

    f = gra_file_open(PATH);
    ck_assert_int_eq(truncate(PATH, (off_t)strlen(header) + 8 + 10), 0);
    ck_assert_int_eq(gra_file_read(f, gra_file_find(f, "half"), x), -1);
    ck_assert_str_eq(gra_file_error(f), PATH ": the file ended while it was being read");
    gra_file_close(f);
    f = gra_file_open(PATH);                    /* nothing is found in a file that is refused */
    ck_assert_str_eq(gra_file_error(f), PATH ": tensor half: got bytes 5 to 11, expected a range within 0 "
                                             "to 10");
    ck_assert(gra_file_count(f) == 0 && !gra_file_at(f, 0) && !gra_file_find(f, "half"));
    ck_assert(!gra_file_meta(f, "z"));
    ck_assert_int_eq(gra_file_read(f, NULL, x), -1);
    ck_assert_str_eq(gra_file_error(f), PATH ": tensor half: got bytes 5 to 11, expected a range within 0 "
                                             "to 10");
    gra_file_close(f);
    ck_assert_str_eq(gra_file_error(NULL), "out of memory");
    ck_assert(gra_file_count(NULL) == 0 && !gra_file_at(NULL, 0) && !gra_file_find(NULL, "") &&
              !gra_file_meta(NULL, ""));
    ck_assert_int_eq(gra_file_read(NULL, NULL, x), -1);
    gra_file_close(NULL);
}

/* Each of the 65536 numbers of 16 bits against its definition. */
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
    static unsigned char file[2 * ALL + 256], data[2 * ALL];
    static real x[ALL];
    for (unsigned i = 0; i < ALL; i++) {
        data[2 * i]     = (unsigned char)i;
        data[2 * i + 1] = (unsigned char)(i >> 8);
    }
    for (int k = 0; k < 2; k++) {
        char header[256];
        snprintf(header, sizeof header,
                 "{\"x\":{\"dtype\":\"%s\",\"shape\":[65536],\"data_offsets\":[0,131072]}}", kind[k].dtype);
        write_bytes(PATH, file, compose(file, header, data, sizeof data));
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

/* A header may be nothing but entries: what is kept of them must not outgrow the file. */
TEST(test_memory_for_a_header)
{
    enum { MANY = 20000, ROOM = MANY * 80 };
    static const char *const entry[] = { "%s\"%x\":\"\"",
                                         "%s\"%x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}" };
    char *header = malloc(ROOM);
    unsigned char *file = malloc(ROOM + 8);
    ck_assert(header && file);
    for (int k = 0; k < 2; k++) {
        char *at = header + sprintf(header, k == 0 ? "{\"__metadata__\":{" : "{");
        for (unsigned i = 0; i < MANY; i++)
            at += sprintf(at, entry[k], i ? "," : "", i);
        strcpy(at, k == 0 ? "}}" : "}");
        const size_t n = compose(file, header, "", 0);
        write_bytes(PATH, file, n);
        fault_largest();
        gra_file *f = gra_file_open(PATH);
        const size_t largest = fault_largest();
        ck_assert_msg(!gra_file_error(f), "%s", gra_file_error(f));
        ck_assert_int_eq(gra_file_count(f), k == 0 ? 0 : MANY);
        ck_assert(k == 0 ? gra_file_meta(f, "4e1f") != NULL : gra_file_find(f, "4e1f") != NULL);
        ck_assert_msg(largest <= 4 * n, "%zu bytes were asked for at once, for a file of %zu", largest, n);
        gra_file_close(f);
    }
    free(header);
    free(file);
}

/* A parameter with two names is in the file twice; read back, the second may be missing but not differ. */
TESTS(test_further_name, 2)
{
    gra_model *m = two_params(), *plain = two_params();
    gra_alias(gra_root(m), "z", gra_param_find(m, "a"));
    gra_tensor *z = parameter(plain, "z", GRA_SHAPE(2));
    fill(gra_param_find(m, "a"), (real[]){ 5, 6 });
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(plain, PATH), 0);
    ck_assert(z->data[0] == 5 && z->data[1] == 6);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    gra_model_close(m);

    m = two_params();
    gra_alias(gra_root(m), "z", gra_param_find(m, "a"));
    z->data[1] = 7;
    ck_assert_int_eq(gra_save(plain, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(m, PATH), -1);
    ck_assert_str_eq(gra_model_error(m), PATH ": tensors z and a: got different values, expected the same: "
                                              "in the model they are one");
    ck_assert(untouched(m));
    gra_model_close(plain);

    plain = two_params();
    fill(gra_param_find(plain, "a"), (real[]){ 8, 9 });
    ck_assert_int_eq(gra_save(plain, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    ck_assert(gra_param_find(m, "a")->data[1] == 9);
    gra_model_close(m);

    m = two_params();
    gra_alias(gra_root(m), "z", gra_param_find(m, "a"));
    parameter(plain, "z", GRA_SHAPE(3));
    ck_assert_int_eq(gra_save(plain, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(m, PATH), -1);
    ck_assert_str_eq(gra_model_error(m), PATH ": tensor z: got the shape (3), expected (2) as in the model");
    ck_assert(untouched(m));
    gra_model_close(plain);

    plain = two_params();
    parameter(plain, "y", GRA_SHAPE(2));
    ck_assert_int_eq(gra_save(plain, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(m, PATH), -1);
    ck_assert_str_eq(gra_model_error(m), PATH ": got a tensor y, expected only those of the model");
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    /* both of its values are read, to compare */
    for (long n = 1, struck = 1; struck && fault_wrapped(); n++) {
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

#define A_AS(dtype, shape, offsets) \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}," B "}"
#define NO    "not a safetensors file: "
#define KEYS  "expected dtype, shape and data_offsets, each once, and nothing else"
#define NEEDS "expected dtype, shape and data_offsets"
#define ESCAPE "got an invalid escape in a string"

/* An @ stands before the byte at which the reader must stop, and is not in the file. */
static const struct {
    const char *header, *wrong;
} broken[] = {
    { "@",                              "expected {" },
    { " @x{" A "," B "}",               "expected {" },
    { "@[]",                            "expected {" },
    { "{" A "," B "@",                  "expected , or }" },
    { "{" A "," B ",@}",                "expected a string" },
    { "{" A "," B "}@}",                "expected nothing after the last }" },
    { "{" A "," B "} @x",               "expected nothing after the last }" },
    { "{" A " @" B "}",                 "expected , or }" },
    { "{\"a\" @1}",                     "expected :" },
    { "{\"a\":@1}",                     "expected {" },
    { "{\"a\":{@}}",                    "expected a string" },
    { "{@a:{}}",                        "expected a string" },
    { "{\"a@",                          "expected the end of a string" },
    { "{\"a@\nb\":0}",                  "got a control character in a string" },
    { "{\"a@\\",                        ESCAPE },
    { "{\"a@\\x\":0}",                  ESCAPE },
    { "{\"@\\u00g0\":0}",               ESCAPE },
    { "{\"@\\u00",                      ESCAPE },
    { "{\"@\\ud800\":0}",               ESCAPE },
    { "{\"@\\ud800\\n0041\":0}",       ESCAPE },
    { "{\"@\\ud800\\u0041\":0}",       ESCAPE },
    { "{\"@\\ud800\\ue000\":0}",       ESCAPE },
    { "{\"@\\udc00\":0}",               ESCAPE },
    { "{\"a@\\u0000\":0}",              "got \\u0000 in a string" },
    { "{\"__metadata__\":{\"@\\u0000\":\"\"}," A "," B "}", "got \\u0000 in a string" },
    { "{\"@\\udc00\\udc00\":0}",       ESCAPE },
    { "{\"@\\ud800",                     ESCAPE },
    { "{\"@\\ud800\\",                   ESCAPE },
    { "{\"__metadata__\":{\"a\":@1}," A "," B "}",                   "expected a string" },
    { "{\"__metadata__\":{},\"__metadata__\":@{}," A "," B "}",      "got a second __metadata__, expected "
                                                                     "one" },

    { "{\"a\":{\"shape\":[2@",             "expected , or ]" },
    { A_AS("\"F32\"", "[@-2]", "[0,8]"),                     "expected a whole number: 0, 1, 2 ..." },
    { A_AS("\"F32\"", "[02@]", "[0,8]"),                     "expected a whole number: 0, 1, 2 ..." },
    { A_AS("\"F32\"", "[2@.0]", "[0,8]"),                    "expected , or ]" },
    { A_AS("\"F32\"", "[2,@]", "[0,8]"),                     "expected a whole number: 0, 1, 2 ..." },
    { A_AS("\"F32\"", "[2]", "[0,8@,9]"),                    "expected , or ]" },
    { A_AS("\"F32\"", "[2]", "[0@]"),                        "expected ," },
    { A_AS("\"F32\"", "[2]", "[0,1@e1]"),                    "expected , or ]" },
    { A_AS("\"F32\"", "[1844674407370955161@6]", "[0,8]"),   "expected a number of at most 64 bits" },
    { A_AS("\"F32\"", "[9999999999999999999@9]", "[0,8]"),  "expected a number of at most 64 bits" },
    { A_AS("\"F32\"", "[0,2147483648@]", "[0,0]"),          "expected a dimension of at most 2147483647" },
    { A_AS("\"F32\"", "[1,1,1,1,1,1,1,1,2@]", "[0,8]"),      "expected at most 8 dimensions" },

    { A_AS("\"F32\",\"dtype\":@\"F32\"", "[2]", "[0,8]"),            KEYS },
    { A_AS("\"F32\"", "[2],\"shape\":@[2]", "[0,8]"),                KEYS },
    { A_AS("\"F32\"", "[2],\"more\":@[2]", "[0,8]"),                 KEYS },
    { A_AS("\"F32\"", "[2]", "[0,8],\"data_offsets\":@[0,8]"),       KEYS },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2]@}," B "}",          NEEDS },
    { "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]@}," B "}", NEEDS },
    { "{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]@}," B "}",     NEEDS },
};

/* The same, where the byte is no UTF-8. */
static const char *const not_utf8[] = {
    "{\"@\xff\":0}",             "{\"@\x80\":0}",             "{\"@\xc0\x80\":0}", "{\"@\xe0\x9f\xbf\":0}",
    "{\"@\xed\xa0\x80\":0}",     "{\"@\xf4\x90\x80\x80\":0}", "{\"@\xf5\x80\x80\x80\":0}",
    "{\"@\xe2\x82\":0}",         "{\"@\xe2\x82",              "{\"@\xf0",
    "@\xef",                     "{" A "," B "}@\x80",
};

static const struct {
    const char *header;
    size_t      n;                      /* bytes behind it */
    const char *sentence;
} unfit[] = {
    { A_AS("\"f32\"", "[2]", "[0,8]"),    24,
      "tensor a: got the dtype f32, expected one of safetensors, such as F32" },
    { A_AS("\"F\\u00333\"", "[2]", "[0,8]"), 24,
      "tensor a: got the dtype F33, expected one of safetensors, such as F32" },
    { "{\"\\ue000\xc3\xa9\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}," B "}", 24,
      "tensor \xee\x80\x80\xc3\xa9: got the dtype F33, expected one of safetensors, such as F32" },
    { A_AS("\"\"", "[2]", "[0,8]"),       24,
      "tensor a: got the dtype , expected one of safetensors, such as F32" },
    { A_AS("\"F32\"", "[2147483647,2147483647,2147483647]", "[0,0]"), 24,
      "tensor a: got the shape (2147483647, 2147483647, 2147483647) of F32, expected fewer values" },
    { A_AS("\"F32\"", "[2147483647,2147483647,2147483647,0]", "[0,0]"), 24,
      "tensor a: got the shape (2147483647, 2147483647, 2147483647, 0) of F32, expected fewer values" },
    { A_AS("\"I64\"", "[2147483647,536870912]", "[0,0]"), 24,
      "tensor a: got the shape (2147483647, 536870912) of I64, expected fewer values" },
    { A_AS("\"F4\"", "[3]", "[0,1]"),     24, "tensor a: got the shape (3) of F4, expected whole bytes" },
    { A_AS("\"F32\"", "[2]", "[8,0]"),    24, "tensor a: got bytes 8 to 0, expected a range within 0 to 24" },
    { A_AS("\"F32\"", "[2]", "[0,25]"),   24,
      "tensor a: got bytes 0 to 25, expected a range within 0 to 24" },
    { A_AS("\"F32\"", "[2]", "[0,18446744073709551615]"), 24,
      "tensor a: got bytes 0 to 18446744073709551615, expected a range within 0 to 24" },
    { A_AS("\"F32\"", "[2]", "[18446744073709551608,18446744073709551615]"), 24,
      "tensor a: got bytes 18446744073709551608 to 18446744073709551615, expected a range within 0 to 24" },
    { A_AS("\"F32\"", "[2]", "[0,4]"),    24, "tensor a: got 4 bytes, expected 8 for the shape (2) of F32" },
    { A_AS("\"F32\"", "[2]", "[0,0]"),    24, "tensor a: got 0 bytes, expected 8 for the shape (2) of F32" },
    { A_AS("\"F32\"", "[]", "[0,8]"),     24, "tensor a: got 8 bytes, expected 4 for the shape () of F32" },
    { A_AS("\"F32\"", "[0,3]", "[0,8]"),  24,
      "tensor a: got 8 bytes, expected 0 for the shape (0, 3) of F32" },
    { A_AS("\"F64\"", "[2]", "[0,8]"),    24, "tensor a: got 8 bytes, expected 16 for the shape (2) of F64" },
    { A_AS("\"F16\"", "[2]", "[0,8]"),    24, "tensor a: got 8 bytes, expected 4 for the shape (2) of F16" },
    { A_AS("\"BOOL\"", "[2]", "[0,8]"),   24, "tensor a: got 8 bytes, expected 2 for the shape (2) of BOOL" },
    { A_AS("\"I64\"", "[2]", "[0,8]"),    24, "tensor a: got 8 bytes, expected 16 for the shape (2) of I64" },

    { "{" A "," A "," B "}",        24, "got two tensors a, expected one" },
    { "{" A ",\"\\u0061\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}," B "}", 24,
      "got two tensors a, expected one" },
    { "{\"x\\u001b[1m\\u0085\":{\"dtype\":\"?\",\"shape\":[2],\"data_offsets\":[0,8]}," B "}", 24,
      "tensor x?[1m??: got the dtype ?, expected one of safetensors, such as F32" },
    { "{\"__metadata__\":{\"k\":\"1\",\"l\":\"\",\"\\u006b\":\"3\"}," A "," B "}", 24,
      "got the metadata key k twice, expected it once" },

    { A_AS("\"F32\"", "[2]", "[4,12]"),   24,
      "tensor a: got a beginning at byte 4, expected byte 0: tensors follow each other without gaps" },
    { A_AS("\"F32\"", "[2]", "[12,20]"),  24,
      "tensor b: got a beginning at byte 8, expected byte 0: tensors follow each other without gaps" },
    { A_AS("\"F64\"", "[2]", "[0,16]"),   24,
      "tensor b: got a beginning at byte 8, expected byte 16: tensors follow each other without gaps" },
    { A_AS("\"F32\"", "[2]", "[8,16]"),   24,
      "tensor a: got a beginning at byte 8, expected byte 0: tensors follow each other without gaps" },
    { A_AS("\"F32\"", "[0]", "[12,12]"),  24,
      "tensor b: got a beginning at byte 8, expected byte 0: tensors follow each other without gaps" },
    { "{" A "," B ",\"c\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}}", 24,
      "tensor c: got a beginning at byte 4, expected byte 8: tensors follow each other without gaps" },
    { "{" A ",\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[12,28]}}", 28,
      "tensor b: got a beginning at byte 12, expected byte 8: tensors follow each other without gaps" },
    { "{" A "," B "}", 25, "got 25 bytes after the header, expected 24, where the last tensor ends" },
    { "{}", 1,             "got 1 bytes after the header, expected 0, where the last tensor ends" },

    { "{" A "," B ",\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[24,28]}}", 28,
      "got a tensor c, expected only those of the model" },
    { "{" A "," B ",\"\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[24,24]}}", 24,
      "got a tensor , expected only those of the model" },
    { "{" B "}",                    24,
      "tensor b: got a beginning at byte 8, expected byte 0: tensors follow each other without gaps" },
    { "{" A "}",                     8, "got no tensor b, expected all of the model's (missing: 1)" },
    { "{}",                          0, "got no tensor b, expected all of the model's (missing: 2)" },
    { A_AS("\"F32\"", "[1,2]", "[0,8]"),  24,
      "tensor a: got the shape (1, 2), expected (2) as in the model" },
    { A_AS("\"F32\"", "[2,1]", "[0,8]"),  24,
      "tensor a: got the shape (2, 1), expected (2) as in the model" },
    { A_AS("\"F64\"", "[]", "[0,8]"),     24, "tensor a: got the shape (), expected (2) as in the model" },
    { A_AS("\"I32\"", "[2]", "[0,8]"),    24, "tensor a: got the dtype I32, expected F32, F64, F16 or BF16" },
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

static void refuses_marked(const char *marked, const char *wrong)
{
    char header[512], sentence[256];
    unsigned char file[1024], zeros[24] = { 0 };
    const char *mark = strchr(marked, '@');
    ck_assert_ptr_nonnull(mark);
    const size_t at = (size_t)(mark - marked);
    snprintf(header, sizeof header, "%.*s%s", (int)at, marked, mark + 1);
    snprintf(sentence, sizeof sentence, NO "byte %zu of the header%s", at, wrong);
    write_bytes(PATH, file, compose(file, header, zeros, sizeof zeros));
    refuses(PATH, sentence);
}

TEST(test_broken_json)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char wrong[128];
        snprintf(wrong, sizeof wrong, ": %s", broken[i].wrong);
        refuses_marked(broken[i].header, wrong);
    }
    for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++)
        refuses_marked(not_utf8[i], " is not UTF-8");
    unsigned char file[512], zeros[24] = { 0 };
    const size_t n = compose(file, "{" A " " "," B "}", zeros, sizeof zeros), at = strlen("{" A);
    file[8 + at] = '\0';                        /* where a blank may be */
    write_bytes(PATH, file, n);
    char sentence[128];
    snprintf(sentence, sizeof sentence, NO "byte %zu of the header: expected , or }", at);
    refuses(PATH, sentence);
}

TEST(test_unfit)
{
    unsigned char file[1024], zeros[64] = { 0 };
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
        write_bytes(PATH, file, compose(file, unfit[i].header, zeros, unfit[i].n));
        refuses(PATH, unfit[i].sentence);
    }
    write_bytes(PATH, file, compose(file, "{" A "," B "}", zeros, 24));
    gra_model *m = two_params();
    ck_assert_msg(gra_load(m, PATH) == 0, "without a fault: %s", gra_model_error(m));
    gra_model_close(m);
}

TEST(test_header_length)
{
    static const struct {
        unsigned char file[16];
        size_t        n;
        const char   *sentence;
    } cases[] = {
        { { 0 },                      0, NO "got 0 bytes, expected 8 or more" },
        { { 2, 0, 0, 0, 0, 0, 0 },    7, NO "got 7 bytes, expected 8 or more" },
        { { 0, 0, 0, 0, 0, 0, 0, 0 }, 8, NO "byte 0 of the header: expected {" },
        { { 3, 0, 0, 0, 0, 0, 0, 0, '{', '}' }, 10, NO "got a header of 3 bytes, expected at most 2" },
        { { 255, 255, 255, 255, 255, 255, 255, 255, '{', '}' }, 10,
          NO "got a header of 18446744073709551615 bytes, expected at most 2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes(PATH, cases[i].file, cases[i].n);
        refuses(PATH, cases[i].sentence);
    }
}

/* The limit itself: a sparse file that is long enough, with a header of one byte too many. */
TEST(test_header_limit)
{
    static const unsigned char length[8] = { 0x01, 0xe1, 0xf5, 0x05 };
    write_bytes(PATH, length, sizeof length);
    ck_assert_int_eq(truncate(PATH, 100000100), 0);
    refuses(PATH, NO "got a header of 100000001 bytes, expected at most 100000000");
    unlink(PATH);
}

TEST(test_every_length)                 /* a file cut short anywhere is refused, and changes nothing */
{
    gra_model *m = two_params();
    fill(gra_param_find(m, "a"), (real[]){ 5, 6 });
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    gra_model_close(m);
    unsigned char file[1024];
    size_t n = read_bytes(PATH, file, sizeof file);
    for (size_t i = 0; i < n; i++) {
        write_bytes(PATH, file, i);
        m = two_params();
        ck_assert_msg(gra_load(m, PATH) == -1 && untouched(m), "%zu of %zu bytes were enough", i, n);
        gra_model_close(m);
    }
}

TEST(test_long_name)                    /* its first 100 bytes are said, and no half of a character */
{
    char name[128] = "", header[512], sentence[512];
    unsigned char file[512];
    memset(name, 'x', 99);
    snprintf(header, sizeof header, "{\"%s\xc3\xa9y\":{\"dtype\":\"F\",\"shape\":[],\"data_offsets\":[0,0]}}",
             name);
    snprintf(sentence, sizeof sentence, "tensor %s?: got the dtype F, expected one of safetensors, such as "
                                        "F32", name);
    write_bytes(PATH, file, compose(file, header, "", 0));
    refuses(PATH, sentence);
}

TEST(test_no_file)
{
    refuses(FOLDER "/none", strerror(ENOENT));
    for (int i = 0; i < 2; i++) {       /* as argv[1] is where nothing was given */
        gra_file *f = gra_file_open(i ? NULL : "");
        ck_assert_str_eq(gra_file_error(f), "a file without a name: No such file or directory");
        gra_file_close(f);
    }
    char path[512], want[512];          /* of a long path the end is said, where the name stands */
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
