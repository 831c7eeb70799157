/* values: see values.h. F16 is a half of IEEE 754 (a sign, 5 bits of exponent, 10 of fraction); BF16 is the
 * upper half of an F32. Both widen exactly. Numbers of our own precision pass bit for bit. */
#include "values.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define PIECE 16384                     /* bytes at a time, a multiple of the size of each kind */

uint64_t gra_little_endian(const unsigned char *from, size_t bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes; i++)
        bits |= (uint64_t)from[i] << 8 * i;
    return bits;
}

void gra_put_little_endian(unsigned char *to, uint64_t bits, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

/* ---- one number ---- */

static void put_f32(uint32_t bits, gra_real *to)
{
#ifdef GRADUS_DOUBLE
    float x;
    memcpy(&x, &bits, sizeof x);
    *to = (gra_real)x;
#else
    memcpy(to, &bits, sizeof bits);
#endif
}

static void put_f64(uint64_t bits, gra_real *to)
{
#ifdef GRADUS_DOUBLE
    memcpy(to, &bits, sizeof bits);
#else
    double x;
    memcpy(&x, &bits, sizeof x);
    *to = (gra_real)x;
#endif
}

static uint32_t f32_of_f16(uint32_t half)
{
    const uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t fraction = half & 1023, shift = 0;
    if (exponent == 31)                                 /* an infinity or a NaN */
        return sign | 0x7f800000 | fraction << 13;
    if (exponent > 0)
        return sign | (exponent + 127 - 15) << 23 | fraction << 13;
    if (fraction == 0)
        return sign;
    for (; fraction < 1024; fraction <<= 1)             /* a subnormal, which F32 can write as 1.fraction */
        shift++;
    return sign | (1 + 127 - 15 - shift) << 23 | (fraction & 1023) << 13;
}

/* ---- many ---- */

static void read_f32(const unsigned char *from, size_t n, gra_real *to)
{
    for (size_t i = 0; i < n; i++)
        put_f32((uint32_t)gra_little_endian(from + 4 * i, 4), &to[i]);
}

static void read_f64(const unsigned char *from, size_t n, gra_real *to)
{
    for (size_t i = 0; i < n; i++)
        put_f64(gra_little_endian(from + 8 * i, 8), &to[i]);
}

static void read_f16(const unsigned char *from, size_t n, gra_real *to)
{
    for (size_t i = 0; i < n; i++)
        put_f32(f32_of_f16((uint32_t)gra_little_endian(from + 2 * i, 2)), &to[i]);
}

static void read_bf16(const unsigned char *from, size_t n, gra_real *to)
{
    for (size_t i = 0; i < n; i++)
        put_f32((uint32_t)gra_little_endian(from + 2 * i, 2) << 16, &to[i]);
}

static const gra_values kinds[] = {
    { "F64", 64, read_f64 }, { "F32", 32, read_f32 }, { "F16", 16, read_f16 }, { "BF16", 16, read_bf16 },
    { "BOOL", 8, NULL },     { "U8", 8, NULL },       { "I8", 8, NULL },       { "U16", 16, NULL },
    { "I16", 16, NULL },     { "U32", 32, NULL },     { "I32", 32, NULL },     { "U64", 64, NULL },
    { "I64", 64, NULL },     { "C64", 64, NULL },     { "F8_E5M2", 8, NULL },  { "F8_E4M3", 8, NULL },
    { "F8_E8M0", 8, NULL },  { "F6_E2M3", 6, NULL },  { "F6_E3M2", 6, NULL },  { "F4", 4, NULL },
};

const gra_values *gra_values_named(const char *name)
{
    for (const gra_values *v = kinds; v < kinds + sizeof kinds / sizeof *kinds; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

/* ---- shapes ---- */

bool gra_extent_add(gra_extent *e, uint64_t size)
{
    if (e->ndim == GRA_MAX_DIMS)
        return false;
    e->sizes[e->ndim++] = size;
    return true;
}

/* false: it is beyond 2^64, be it times 0 in the end */
static bool product(const gra_extent *e, uint64_t *values)
{
    *values = 1;
    for (int d = 0; d < e->ndim; d++) {
        if (e->sizes[d] != 0 && *values > UINT64_MAX / e->sizes[d])
            return false;
        *values *= e->sizes[d];
    }
    return true;
}

const char *gra_extent_wrong(const gra_extent *e, const gra_values *kind)
{
    uint64_t values;
    if (!product(e, &values) || values > UINT64_MAX / kind->bits || values > SIZE_MAX)
        return "so many values cannot be counted";
    for (int d = 0; d < e->ndim; d++)
        if (e->sizes[d] > INT_MAX)
            return "a dimension here is at most 2147483647";
    return values * kind->bits % 8 != 0 ? "its last value ends within a byte" : NULL;
}

uint64_t gra_extent_bytes(const gra_extent *e, const gra_values *kind)
{
    uint64_t values;
    product(e, &values);
    return values * kind->bits / 8;
}

size_t gra_extent_shape(const gra_extent *e, gra_shape *shape)
{
    uint64_t values;
    product(e, &values);
    *shape = (gra_shape){ .ndim = e->ndim };
    for (int d = 0; d < e->ndim; d++)
        shape->dim[d] = (int)e->sizes[d];
    return (size_t)values;
}

char *gra_extent_text(const gra_extent *e, char *text)
{
    char *at = text;
    *at++ = '(';
    for (int d = 0; d < e->ndim; d++)
        at += sprintf(at, "%s%" PRIu64, d ? ", " : "", e->sizes[d]);
    strcpy(at, ")");
    return text;
}

/* ---- files ---- */

static void swap_bytes(unsigned char *numbers, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++, numbers += bytes)
        for (size_t low = 0, high = bytes - 1; low < high; low++, high--) {
            unsigned char b = numbers[low];
            numbers[low]  = numbers[high];
            numbers[high] = b;
        }
}

bool gra_values_read(const gra_values *kind, gra_infile *in, uint64_t at, bool big_endian, size_t n,
                     gra_real *to)
{
    unsigned char piece[PIECE];
    const size_t bytes = kind->bits / 8, fit = PIECE / bytes;
    for (size_t from = 0; from < n; from += fit) {
        const size_t some = n - from < fit ? n - from : fit;
        if (!gra_infile_read(in, at + from * bytes, piece, some * bytes))
            return false;
        if (big_endian)
            swap_bytes(piece, some, bytes);
        kind->to_reals(piece, some, to + from);
    }
    return true;
}

static uint64_t bits_of(const gra_real *x)
{
#ifdef GRADUS_DOUBLE
    uint64_t bits;
#else
    uint32_t bits;
#endif
    memcpy(&bits, x, sizeof bits);
    return bits;
}

void gra_values_write(gra_outfile *out, const gra_real *from, size_t n)
{
    unsigned char piece[PIECE];
    const size_t bytes = sizeof *from, fit = PIECE / bytes;
    for (size_t done = 0; done < n; done += fit) {
        const size_t some = n - done < fit ? n - done : fit;
        for (size_t i = 0; i < some; i++)
            gra_put_little_endian(piece + i * bytes, bits_of(&from[done + i]), bytes);
        gra_outfile_write(out, piece, some * bytes);
    }
}
