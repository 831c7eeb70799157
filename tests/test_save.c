/* Saving and loading: the bytes of a file, what comes back, and what is refused with which sentence. */
#define _XOPEN_SOURCE 700               /* mkfifo, symlink */
#include "../core/op.h"
#include "suites.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER GRADUS_BUILD "/save"
#define PATH   FOLDER "/model.safetensors"

/* ---- files ---- */

static void clear(void)                 /* an empty folder */
{
    mkdir(FOLDER, 0777);
    DIR *d = opendir(FOLDER);
    ck_assert_msg(d != NULL, "%s cannot be made", FOLDER);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", FOLDER, e->d_name);
        if (e->d_name[0] != '.' && unlink(path) != 0)
            rmdir(path);
    }
    closedir(d);
}

static int entries(void)                /* of the folder */
{
    int n = 0;
    DIR *d = opendir(FOLDER);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

static size_t read_bytes(const char *path, unsigned char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(bytes, 1, room, f);
    ck_assert_msg(n < room, "%s is longer than %zu bytes", path, room);
    fclose(f);
    return n;
}

/* The bytes of a file with that header and n bytes behind it; returns how many. */
static size_t compose(unsigned char *file, const char *header, const void *data, size_t n)
{
    const size_t length = strlen(header);
    for (size_t i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(file + 8, header, length);
    memcpy(file + 8 + length, data, n);
    return 8 + length + n;
}

/* ---- models ---- */

static gra_model *model_open(void)
{
    gra_model *m = gra_model_open(NULL);
    ck_assert_ptr_nonnull(m);
    gra_model_keep_going(m, true);
    return m;
}

static gra_tensor *parameter(gra_model *m, const char *name, int ndim, const int *shape)
{
    gra_tensor *p = gra_param(gra_root(m), name, gra_zeros(), ndim, shape);
    ck_assert_ptr_nonnull(p);
    return p;
}

/* "b" (2, 2) and then "a" (2): in the file a stands first. All values are -1. */
static gra_model *two(void)
{
    gra_model *m = model_open();
    gra_tensor *b = parameter(m, "b", GRA_DIMS(2, 2)), *a = parameter(m, "a", GRA_DIMS(2));
    for (int i = 0; i < 6; i++)
        *(i < 4 ? &b->data[i] : &a->data[i - 4]) = -1;
    return m;
}

static bool untouched(const gra_model *m)
{
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++)
            if (gra_param_at(m, i)->data[j] != -1)
                return false;
    return true;
}

static void fill(gra_tensor *p, const real *values)
{
    memcpy(p->data, values, p->size * sizeof(real));
}

/* ---- what is written ---- */

START_TEST(test_bytes)
{
    clear();
    gra_model *m = two();
    fill(gra_param_find(m, "b"), (real[]){ 1, -2, (real)0.5, 0 });
    fill(gra_param_find(m, "a"), (real[]){ -1, 3 });
    const gra_meta meta[] = { { "format", "pt" }, { "say", "\"\\/\b\f\n\r\t\x01\x1f\x7f \xc3\xa9" } };
    ck_assert_int_eq(gra_save(m, PATH, meta, 2), 0);

    unsigned char file[1024], want[1024];
#ifdef GRADUS_DOUBLE
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\","
        "\"say\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f \xc3\xa9\"},"
        "\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
        "\"b\":{\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[16,48]}}";
    static const unsigned char data[] = {
        0, 0, 0, 0, 0, 0, 0xf0, 0xbf,  0, 0, 0, 0, 0, 0, 0x08, 0x40,
        0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  0, 0, 0, 0, 0, 0, 0x00, 0xc0,
        0, 0, 0, 0, 0, 0, 0xe0, 0x3f,  0, 0, 0, 0, 0, 0, 0x00, 0x00,
    };
#else
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\","
        "\"say\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f \xc3\xa9\"},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]}}";
    static const unsigned char data[] = {
        0, 0, 0x80, 0xbf,  0, 0, 0x40, 0x40,
        0, 0, 0x80, 0x3f,  0, 0, 0x00, 0xc0,  0, 0, 0x00, 0x3f,  0, 0, 0x00, 0x00,
    };
#endif
    char padded[512];
    snprintf(padded, sizeof padded, "%-*s", (int)((sizeof header - 1 + 7) / 8 * 8), header);
    size_t n = read_bytes(PATH, file, sizeof file), wanted = compose(want, padded, data, sizeof data);
    ck_assert_uint_eq(n, wanted);
    ck_assert_msg(memcmp(file, want, n) == 0, "the file is\n%.*s\nwanted\n%.*s", (int)n - 8, (char *)file + 8,
                  (int)n - 8, (char *)want + 8);
    ck_assert_int_eq(entries(), 1);
    ck_assert_int_eq(gra_load(m, PATH), 0);     /* with its metadata */
    gra_model_close(m);
}
END_TEST

START_TEST(test_header_padding)         /* a name of each length: the values start at a multiple of 8 */
{
    clear();
    for (size_t i = 1; i <= 16; i++) {
        char name[32] = { 0 };
        memset(name, 'x', i);
        gra_model *m = model_open();
        parameter(m, name, 0, NULL);
        ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
        unsigned char file[256];
        size_t n = read_bytes(PATH, file, sizeof file);
        ck_assert_uint_eq(file[0] % 8, 0);
        ck_assert_uint_eq(n, 8u + file[0] + sizeof(real));
        ck_assert_int_eq(gra_load(m, PATH), 0);
        gra_model_close(m);
    }
}
END_TEST

START_TEST(test_empty_model)
{
    clear();
    gra_model *m = model_open();
    unsigned char file[64];
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_uint_eq(read_bytes(PATH, file, sizeof file), 16);
    ck_assert(memcmp(file, "\x08\0\0\0\0\0\0\0{}      ", 16) == 0);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    gra_model_close(m);
}
END_TEST

START_TEST(test_mode_and_link)          /* a new file has the usual mode; a link stays a link */
{
    clear();
    gra_model *m = two();
    struct stat s;
    mode_t mask = umask(022);
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    umask(mask);
    ck_assert(stat(PATH, &s) == 0 && (s.st_mode & 0777) == 0644);

    ck_assert_int_eq(symlink("model.safetensors", FOLDER "/link"), 0);
    gra_param_find(m, "a")->data[0] = 42;
    ck_assert_int_eq(gra_save(m, FOLDER "/link", NULL, 0), 0);
    ck_assert(lstat(FOLDER "/link", &s) == 0 && S_ISLNK(s.st_mode));
    gra_model *back = two();
    ck_assert_int_eq(gra_load(back, PATH), 0);
    ck_assert(gra_param_find(back, "a")->data[0] == 42);
    ck_assert_int_eq(entries(), 2);
    gra_model_close(back);
    gra_model_close(m);
}
END_TEST

/* ---- there and back ---- */

START_TEST(test_round_trip)             /* every bit: also of -0, infinities, NaN and the smallest number */
{
    clear();
    static gra_rng rng;
    gra_manual_seed(&rng, 5);
    gra_model *m = gra_model_open(&rng), *back = model_open();
    gra_scope block = gra_enter(gra_root(m), "blocks.%d", 0);
    gra_tensor *w = gra_param(block, "weight", gra_init_normal(0, 1), GRA_DIMS(130, 70));
    gra_tensor *b = gra_param(block, "bias", gra_init_normal(0, 1), GRA_DIMS(7));
    gra_tensor *s = gra_param(gra_root(m), "scalar", gra_init_normal(0, 1), 0, NULL);
    const real smallest = sizeof(real) == 4 ? (real)1e-45 : (real)5e-324;
    fill(b, (real[]){ (real)-0.0, (real)INFINITY, (real)-INFINITY, (real)NAN, smallest, 1, 2 });
    gra_tensor *s2 = parameter(back, "scalar", 0, NULL);        /* in another order */
    gra_tensor *b2 = parameter(back, "blocks.0.bias", GRA_DIMS(7));
    gra_tensor *w2 = parameter(back, "blocks.0.weight", GRA_DIMS(130, 70));
    gra_freeze(w2, true);                                       /* loading is no training */
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    ck_assert_int_eq(gra_load(back, PATH), 0);
    ck_assert_int_eq(memcmp(w->data, w2->data, w->size * sizeof(real)), 0);
    ck_assert_int_eq(memcmp(b->data, b2->data, b->size * sizeof(real)), 0);
    ck_assert_int_eq(memcmp(s->data, s2->data, sizeof(real)), 0);
    ck_assert(w->data[0] != 0 && w->data[1] != w->data[0]);
    gra_model_close(back);
    gra_model_close(m);
}
END_TEST

START_TEST(test_names)                  /* of any characters, written by us and escaped by others */
{
    clear();
    static const char name[] = "a\"\\/\n\t\x01 \xc3\xa9 \xf0\x9f\x98\x80";
    gra_model *m = model_open();
    gra_tensor *p = parameter(m, name, GRA_DIMS(1));
    p->data[0] = 7;
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    p->data[0] = 0;
    ck_assert_int_eq(gra_load(m, PATH), 0);
    ck_assert(p->data[0] == 7);

    unsigned char file[512];
    size_t n = compose(file, "{\"\\u0061\\u0022\\u005C\\/\\u000a\\t\\u0001\\u0020\\u00e9 \\ud83d\\uDE00\":"
                       "{\"d\\u0074ype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "\0\0\0\x40", 4);
    write_bytes(PATH, file, n);
    ck_assert_int_eq(gra_load(m, PATH), 0);
    ck_assert(p->data[0] == 2);
    gra_model_close(m);
}
END_TEST

/* Either precision comes in, in any order of keys, tensors and places, with blanks where JSON has them. */
START_TEST(test_other_writers)
{
    clear();
    unsigned char file[512];
    static const unsigned char              /* 1, 0.1; -2, 0.1, 1, 0 */
        f64[] = { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f },
        f32[] = { 0, 0, 0, 0xc0,  0xcd, 0xcc, 0xcc, 0x3d,  0, 0, 0x80, 0x3f,  0, 0, 0, 0 };
    unsigned char data[32];
    memcpy(data, f32, 16);
    memcpy(data + 16, f64, 16);
    size_t n = compose(file, "{ \"a\" : {\t\"shape\":[ 2 ],\n \"data_offsets\":[16 , 32],\r"
                       "\"dtype\":\"F64\" } ,"
                       "\"b\":{\"data_offsets\":[0,16],\"dtype\":\"F32\",\"shape\":[2, 2]},"
                       "\"__metadata__\":{} } \n", data, sizeof data);
    write_bytes(PATH, file, n);
    gra_model *m = two();
    ck_assert_msg(gra_load(m, PATH) == 0, "%s", gra_model_error(m));
    const real *a = gra_param_find(m, "a")->data, *b = gra_param_find(m, "b")->data;
    ck_assert(a[0] == 1 && a[1] == (real)0.1);
    ck_assert(b[0] == -2 && b[1] == (real)0.1f && b[2] == 1 && b[3] == 0);
    gra_model_close(m);
}
END_TEST

/* ---- what is refused when loading ---- */

#define A     "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define B     "\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]}"
#define A_AS(dtype, shape, offsets) \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}," B "}"
#define NO    "it is no safetensors file: "
#define KEYS  "a tensor has dtype, shape and data_offsets, each once, and nothing else"
#define NEEDS "a tensor needs dtype, shape and data_offsets"
#define ESCAPE "a string holds a \\ that begins no escape"

/* An @ stands before the byte at which the reader must stop, and is not in the file. */
static const struct {
    const char *header, *wrong;
} broken[] = {
    { "@",                              "there should be a {" },
    { " @x{" A "," B "}",               "there should be a {" },
    { "@[]",                            "there should be a {" },
    { "{" A "," B "@",                  "there should be a , or a }" },
    { "{" A "," B ",@}",                "there should be a string" },
    { "{" A "," B "}@}",                "something stands behind its last }" },
    { "{" A "," B "} @x",               "something stands behind its last }" },
    { "{" A " @" B "}",                 "there should be a , or a }" },
    { "{\"a\" @1}",                     "there should be a :" },
    { "{\"a\":@1}",                     "there should be a {" },
    { "{\"a\":{@}}",                    "there should be a string" },
    { "{@a:{}}",                        "there should be a string" },
    { "{\"a@",                          "a string without its end" },
    { "{\"a@\nb\":0}",                  "a string holds a control character" },
    { "{\"a@\\",                        ESCAPE },
    { "{\"a@\\x\":0}",                  ESCAPE },
    { "{\"@\\u00g0\":0}",               ESCAPE },
    { "{\"@\\u00",                      ESCAPE },
    { "{\"@\\ud800\":0}",               ESCAPE },
    { "{\"@\\ud800\\n0041\":0}",       ESCAPE },
    { "{\"@\\ud800\\u0041\":0}",       ESCAPE },
    { "{\"@\\ud800\\ue000\":0}",       ESCAPE },
    { "{\"@\\udc00\":0}",               ESCAPE },
    { "{\"a@\\u0000\":0}",              "a string holds the character \\u0000" },
    { "{\"__metadata__\":{\"@\\u0000\":\"\"}," A "," B "}", "a string holds the character \\u0000" },
    { "{\"@\\udc00\\udc00\":0}",       ESCAPE },
    { "{\"__metadata__\":{\"a\":@1}," A "," B "}",                   "there should be a string" },
    { "{\"__metadata__\":{},\"__metadata__\":@{}," A "," B "}",      "there is a second __metadata__" },

    { A_AS("\"F32\"", "[@-2]", "[0,8]"),                     "there should be a count: 0, 1, 2 ..." },
    { A_AS("\"F32\"", "[02@]", "[0,8]"),                     "there should be a count: 0, 1, 2 ..." },
    { A_AS("\"F32\"", "[2@.0]", "[0,8]"),                    "there should be a , or a ]" },
    { A_AS("\"F32\"", "[2,@]", "[0,8]"),                     "there should be a count: 0, 1, 2 ..." },
    { A_AS("\"F32\"", "[2]", "[0,8@,9]"),                    "there should be a , or a ]" },
    { A_AS("\"F32\"", "[2]", "[0@]"),                        "there should be a ," },
    { A_AS("\"F32\"", "[2]", "[0,1@e1]"),                    "there should be a , or a ]" },
    { A_AS("\"F32\"", "[1844674407370955161@6]", "[0,8]"),   "a number does not fit in 64 bits" },
    { A_AS("\"F32\"", "[9999999999999999999@9]", "[0,8]"),  "a number does not fit in 64 bits" },
    { A_AS("\"F32\"", "[1,1,1,1,1,1,1,1,2@]", "[0,8]"),      "a tensor has more than 8 dimensions" },

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
    { A_AS("\"f32\"", "[2]", "[0,8]"),    24, "tensor a has the dtype f32, which safetensors does not know" },
    { A_AS("\"F\\u00333\"", "[2]", "[0,8]"), 24, "tensor a has the dtype F33, which safetensors does not know" },
    { A_AS("\"\"", "[2]", "[0,8]"),       24, "tensor a has the dtype , which safetensors does not know" },
    { A_AS("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 24,
      "tensor a has the shape (4294967296, 4294967296) of F32: so many values cannot be counted" },
    { A_AS("\"F32\"", "[4294967296,4294967296,0]", "[0,0]"), 24,
      "tensor a has the shape (4294967296, 4294967296, 0) of F32: so many values cannot be counted" },
    { A_AS("\"F32\"", "[4611686018427387904]", "[0,0]"), 24,
      "tensor a has the shape (4611686018427387904) of F32: so many values cannot be counted" },
    { A_AS("\"BOOL\"", "[18446744073709551615]", "[0,0]"), 24,
      "tensor a has the shape (18446744073709551615) of BOOL: so many values cannot be counted" },
    { A_AS("\"F32\"", "[0,2147483648]", "[0,0]"), 24,
      "tensor a has the shape (0, 2147483648) of F32: a dimension here is at most 2147483647" },
    { A_AS("\"F4\"", "[3]", "[0,1]"),     24, "tensor a has the shape (3) of F4: its last value ends within a byte" },
    { A_AS("\"F32\"", "[2]", "[8,0]"),    24, "tensor a ends at byte 0, before it begins at byte 8" },
    { A_AS("\"F32\"", "[2]", "[0,25]"),   24, "tensor a ends at byte 25, but there are 24 behind the header" },
    { A_AS("\"F32\"", "[2]", "[0,18446744073709551615]"), 24,
      "tensor a ends at byte 18446744073709551615, but there are 24 behind the header" },
    { A_AS("\"F32\"", "[2]", "[18446744073709551608,18446744073709551615]"), 24,
      "tensor a ends at byte 18446744073709551615, but there are 24 behind the header" },
    { A_AS("\"F32\"", "[2]", "[0,4]"),    24, "tensor a has 4 bytes, but its shape (2) of F32 needs 8" },
    { A_AS("\"F32\"", "[2]", "[0,0]"),    24, "tensor a has 0 bytes, but its shape (2) of F32 needs 8" },
    { A_AS("\"F32\"", "[]", "[0,8]"),     24, "tensor a has 8 bytes, but its shape () of F32 needs 4" },
    { A_AS("\"F32\"", "[0,3]", "[0,8]"),  24, "tensor a has 8 bytes, but its shape (0, 3) of F32 needs 0" },
    { A_AS("\"F64\"", "[2]", "[0,8]"),    24, "tensor a has 8 bytes, but its shape (2) of F64 needs 16" },
    { A_AS("\"F16\"", "[2]", "[0,8]"),    24, "tensor a has 8 bytes, but its shape (2) of F16 needs 4" },
    { A_AS("\"BOOL\"", "[2]", "[0,8]"),   24, "tensor a has 8 bytes, but its shape (2) of BOOL needs 2" },
    { A_AS("\"I64\"", "[2]", "[0,8]"),    24, "tensor a has 8 bytes, but its shape (2) of I64 needs 16" },

    { "{" A "," A "," B "}",        24, "there are two tensors a" },
    { "{" A ",\"\\u0061\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}," B "}", 24,
      "there are two tensors a" },
    { "{\"x\\u001b[1m\\u0085\":{\"dtype\":\"?\",\"shape\":[2],\"data_offsets\":[0,8]}," B "}", 24,
      "tensor x?[1m?? has the dtype ?, which safetensors does not know" },
    { "{\"__metadata__\":{\"k\":\"1\",\"l\":\"\",\"\\u006b\":\"3\"}," A "," B "}", 24,
      "the metadata have the key k twice" },

    { A_AS("\"F32\"", "[2]", "[4,12]"),   24, "bytes 0 to 4 behind its header are in no tensor: the next is a" },
    { A_AS("\"F32\"", "[2]", "[12,20]"),  24, "bytes 0 to 8 behind its header are in no tensor: the next is b" },
    { A_AS("\"F64\"", "[2]", "[0,16]"),   24, "tensor b begins at byte 8, but tensor a ends at byte 16" },
    { A_AS("\"F32\"", "[2]", "[8,16]"),   24, "bytes 0 to 8 behind its header are in no tensor: the next is a" },
    { A_AS("\"F32\"", "[0]", "[12,12]"),  24, "bytes 0 to 8 behind its header are in no tensor: the next is b" },
    { "{" A "," B ",\"c\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}}", 24,
      "tensor c begins at byte 4, but tensor a ends at byte 8" },
    { "{" A ",\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[12,28]}}", 28,
      "bytes 8 to 12 behind its header are in no tensor: the next is b" },
    { "{" A "," B "}", 25,          "its tensors end at byte 24, but the file has 25 behind its header" },
    { "{}", 1,                      "its tensors end at byte 0, but the file has 1 behind its header" },

    { "{" A "," B ",\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[24,28]}}", 28,
      "the model has no parameter c" },
    { "{" A "," B ",\"\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[24,24]}}", 24,
      "the model has no parameter " },
    { "{" B "}",                    24, "bytes 0 to 8 behind its header are in no tensor: the next is b" },
    { "{" A "}",                     8, "it has no tensor b" },
    { "{}",                          0, "it has no tensor b, and 1 more of the model's are missing" },
    { A_AS("\"F32\"", "[1,2]", "[0,8]"),  24, "tensor a has the shape (1, 2), but in the model it is (2)" },
    { A_AS("\"F64\"", "[]", "[0,8]"),     24, "tensor a has the shape (), but in the model it is (2)" },
    { A_AS("\"I32\"", "[2]", "[0,8]"),    24, "tensor a has the dtype I32: F32, F64, F16 and BF16 can be read" },
};

static void refuses(const char *path, const char *sentence)
{
    char want[1024];
    snprintf(want, sizeof want, "gra_load: %s: %s", path, sentence);
    gra_model *m = two();
    ck_assert_msg(gra_load(m, path) == -1, "this was loaded, though %s", sentence);
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
    snprintf(sentence, sizeof sentence, NO "byte %zu of its header%s", at, wrong);
    write_bytes(PATH, file, compose(file, header, zeros, sizeof zeros));
    refuses(PATH, sentence);
}

START_TEST(test_broken_json)
{
    clear();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char wrong[128];
        snprintf(wrong, sizeof wrong, ": %s", broken[i].wrong);
        refuses_marked(broken[i].header, wrong);
    }
    for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++)
        refuses_marked(not_utf8[i], " is not UTF-8");
}
END_TEST

START_TEST(test_unfit)
{
    clear();
    unsigned char file[1024], zeros[64] = { 0 };
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
        write_bytes(PATH, file, compose(file, unfit[i].header, zeros, unfit[i].n));
        refuses(PATH, unfit[i].sentence);
    }
    write_bytes(PATH, file, compose(file, "{" A "," B "}", zeros, 24));
    gra_model *m = two();
    ck_assert_msg(gra_load(m, PATH) == 0, "without a fault: %s", gra_model_error(m));
    gra_model_close(m);
}
END_TEST

START_TEST(test_header_length)
{
    static const struct {
        unsigned char file[16];
        size_t        n;
        const char   *sentence;
    } cases[] = {
        { { 0 },                      0, NO "it has 0 bytes, and the length of a header alone takes 8" },
        { { 2, 0, 0, 0, 0, 0, 0 },    7, NO "it has 7 bytes, and the length of a header alone takes 8" },
        { { 0, 0, 0, 0, 0, 0, 0, 0 }, 8, NO "byte 0 of its header: there should be a {" },
        { { 3, 0, 0, 0, 0, 0, 0, 0, '{', '}' }, 10, NO "its header would have 3 bytes, and there are 2" },
        { { 255, 255, 255, 255, 255, 255, 255, 255, '{', '}' }, 10,
          NO "its header would have 18446744073709551615 bytes, and 100000000 are allowed" },
    };
    clear();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes(PATH, cases[i].file, cases[i].n);
        refuses(PATH, cases[i].sentence);
    }
}
END_TEST

/* The limit itself: a sparse file that is long enough, with a header of one byte too many. */
START_TEST(test_header_limit)
{
    clear();
    static const unsigned char length[8] = { 0x01, 0xe1, 0xf5, 0x05 };
    write_bytes(PATH, length, sizeof length);
    ck_assert_int_eq(truncate(PATH, 100000100), 0);
    refuses(PATH, NO "its header would have 100000001 bytes, and 100000000 are allowed");
    unlink(PATH);
}
END_TEST

START_TEST(test_every_length)           /* a file cut short anywhere is refused, and changes nothing */
{
    clear();
    gra_model *m = two();
    fill(gra_param_find(m, "a"), (real[]){ 5, 6 });
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    gra_model_close(m);
    unsigned char file[1024];
    size_t n = read_bytes(PATH, file, sizeof file);
    for (size_t i = 0; i < n; i++) {
        write_bytes(PATH, file, i);
        m = two();
        ck_assert_msg(gra_load(m, PATH) == -1 && untouched(m), "%zu of %zu bytes were enough", i, n);
        gra_model_close(m);
    }
}
END_TEST

START_TEST(test_no_file)
{
    clear();
    refuses(FOLDER "/none", strerror(ENOENT));
    refuses(FOLDER, "it is a directory");
    refuses("/dev/null", "it is not a regular file");
    ck_assert_int_eq(mkfifo(FOLDER "/pipe", 0600), 0);
    refuses(FOLDER "/pipe", "it is not a regular file");
}
END_TEST

/* ---- what is refused when saving ---- */

static void cannot_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta, const char *sentence)
{
    char want[1024];
    snprintf(want, sizeof want, "gra_save: %s: %s", path, sentence);
    int before = entries();
    ck_assert_int_eq(gra_save(m, path, meta, nmeta), -1);
    ck_assert_str_eq(gra_model_error(m), want);
    ck_assert_int_eq(entries(), before);        /* nothing is left behind */
    gra_model_close(m);
}

static void cannot_write(const char *path, const char *what, int number)
{
    char sentence[256];
    snprintf(sentence, sizeof sentence, "%s: %s", what, strerror(number));
    cannot_save(two(), path, NULL, 0, sentence);
}

/* A pipe is written to and not replaced. The test below relies on it before it touches a device. */
static void check_pipe(void)
{
    unsigned char bytes[1024];
    struct stat s;
    gra_model *m = two();
    ck_assert_int_eq(mkfifo(FOLDER "/pipe", 0600), 0);
    int fd = open(FOLDER "/pipe", O_RDWR);      /* both ends, so that nobody waits */
    ck_assert(fd >= 0);
    ck_assert_int_eq(gra_save(m, FOLDER "/pipe", NULL, 0), 0);
    ck_assert(lstat(FOLDER "/pipe", &s) == 0 && S_ISFIFO(s.st_mode));
    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ck_assert(read(fd, bytes, sizeof bytes) > 8 && bytes[8] == '{');
    close(fd);
    gra_model_close(m);
}

START_TEST(test_unwritable)
{
    clear();
    check_pipe();
    write_bytes(FOLDER "/file", "x", 1);
    cannot_write(FOLDER "/none/model", "cannot be written", ENOENT);
    cannot_write(FOLDER "/file/model", "cannot be written", ENOTDIR);
    cannot_write(FOLDER, "cannot be written", EISDIR);
    cannot_save(two(), "", NULL, 0, "this is no name of a file");
    ck_assert_int_eq(mkdir(FOLDER "/locked", 0555), 0);
    if (geteuid() != 0)                         /* root may write anywhere */
        cannot_write(FOLDER "/locked/model", "cannot be written", EACCES);
    if (access("/dev/full", W_OK) == 0)         /* a device of Linux: the disk that is full */
        cannot_write("/dev/full", "writing failed", ENOSPC);
}
END_TEST

/* A file that may not grow: the write that fails comes after some that succeed, and the old file stays. */
START_TEST(test_disk_fills_up)
{
    clear();
    write_bytes(PATH, "old", 3);
    gra_model *m = model_open();
    parameter(m, "w", GRA_DIMS(100, 100));
    struct rlimit limit, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 20001;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = gra_save(m, PATH, NULL, 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, handler);
    ck_assert_int_eq(status, -1);
    ck_assert_ptr_nonnull(strstr(gra_model_error(m), strerror(EFBIG)));
    unsigned char file[16];
    ck_assert_uint_eq(read_bytes(PATH, file, sizeof file), 3);
    ck_assert_int_eq(memcmp(file, "old", 3), 0);
    ck_assert_int_eq(entries(), 1);
    gra_model_close(m);
}
END_TEST

START_TEST(test_what_a_header_cannot_say)
{
    clear();
    gra_model *m = model_open();
    parameter(m, "\xff", GRA_DIMS(1));
    cannot_save(m, PATH, NULL, 0, "the name of a parameter is not UTF-8: \xff");
    m = model_open();
    parameter(m, "__metadata__", GRA_DIMS(1));
    cannot_save(m, PATH, NULL, 0, "in a safetensors file a parameter cannot be named __metadata__");
    cannot_save(two(), PATH, (gra_meta[]){ { "k", "\x80" } }, 1, "the metadata are not UTF-8: k");
    cannot_save(two(), PATH, (gra_meta[]){ { "k", "1" }, { "l", "2" }, { "k", "3" } }, 3,
                "the metadata have the key k twice");
}
END_TEST

/* ---- writes that are cut short ---- */

struct reader {
    pthread_t      writer;
    unsigned char *bytes;
    size_t         n, room;
};

static void ignore(int number)
{
    (void)number;
}

/* Reads a pipe piece by piece, and sends the writer a signal before each. */
static void *read_slowly(void *arg)
{
    struct reader *r = arg;
    int fd = open(FOLDER "/pipe", O_RDONLY);
    for (ssize_t got = 1; fd >= 0 && got > 0 && r->n < r->room;) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        pthread_kill(r->writer, SIGUSR1);
        got = read(fd, r->bytes + r->n, r->room - r->n < 4096 ? r->room - r->n : 4096);
        r->n += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

START_TEST(test_interrupted_writes)
{
    enum { ROOM = 4 << 20 };
    clear();
    static gra_rng rng;
    gra_manual_seed(&rng, 6);
    gra_model *m = gra_model_open(&rng);
    gra_param(gra_root(m), "w", gra_init_normal(0, 1), GRA_DIMS(250, 1000));
    unsigned char *want = malloc(ROOM);
    struct reader r = { .writer = pthread_self(), .bytes = malloc(ROOM), .room = ROOM };
    ck_assert(want && r.bytes);
    ck_assert_int_eq(gra_save(m, PATH, NULL, 0), 0);
    size_t n = read_bytes(PATH, want, ROOM);

    struct sigaction action = { .sa_handler = ignore }, old;   /* without SA_RESTART: calls are interrupted */
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &old);
    ck_assert_int_eq(mkfifo(FOLDER "/pipe", 0600), 0);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, read_slowly, &r), 0);
    int fd = open(FOLDER "/pipe", O_WRONLY);    /* waits for the reader, so that gra_save need not */
    ck_assert_int_eq(gra_save(m, FOLDER "/pipe", NULL, 0), 0);
    close(fd);
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &old, NULL);
    ck_assert_uint_eq(r.n, n);
    ck_assert_int_eq(memcmp(r.bytes, want, n), 0);
    free(want);
    free(r.bytes);
    gra_model_close(m);
}
END_TEST

Suite *save_suite(void)
{
    Suite *s = suite_create("save");
    TCase *c = tcase_create("save");
    tcase_add_test(c, test_bytes);
    tcase_add_test(c, test_header_padding);
    tcase_add_test(c, test_empty_model);
    tcase_add_test(c, test_mode_and_link);
    tcase_add_test(c, test_round_trip);
    tcase_add_test(c, test_names);
    tcase_add_test(c, test_other_writers);
    tcase_add_test(c, test_broken_json);
    tcase_add_test(c, test_unfit);
    tcase_add_test(c, test_header_length);
    tcase_add_test(c, test_header_limit);
    tcase_add_test(c, test_every_length);
    tcase_add_test(c, test_no_file);
    tcase_add_test(c, test_unwritable);
    tcase_add_test(c, test_disk_fills_up);
    tcase_add_test(c, test_what_a_header_cannot_say);
    tcase_add_test(c, test_interrupted_writes);
    suite_add_tcase(s, c);
    return s;
}
