/* dtype: see dtype.h. F16 is IEEE 754's half precision (1 bit of sign, 5 of exponent, 10 of fraction); BF16
 * is the upper half of an F32. Both widen exactly. Numbers in the library's precision keep every bit, even
 * the bits of a NaN. */
#include "dtype.h"

#include <string.h>

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
    /* subnormal as F16, normal as F32: shift up to 1.fraction */
    for (; fraction < 1024; fraction <<= 1)
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

static const gra_dtype types[] = {
    { "F64", 64, read_f64 }, { "F32", 32, read_f32 }, { "F16", 16, read_f16 }, { "BF16", 16, read_bf16 },
    { "BOOL", 8, NULL },     { "U8", 8, NULL },       { "I8", 8, NULL },       { "U16", 16, NULL },
    { "I16", 16, NULL },     { "U32", 32, NULL },     { "I32", 32, NULL },     { "U64", 64, NULL },
    { "I64", 64, NULL },     { "C64", 64, NULL },     { "F8_E5M2", 8, NULL },  { "F8_E4M3", 8, NULL },
    { "F8_E8M0", 8, NULL },  { "F6_E2M3", 6, NULL },  { "F6_E3M2", 6, NULL },  { "F4", 4, NULL },
};

const gra_dtype *gra_dtype_named(const char *name)
{
    for (const gra_dtype *d = types; d < types + sizeof types / sizeof *types; d++)
        if (strcmp(d->name, name) == 0)
            return d;
    return NULL;
}

/* ---- files: a buffer's worth at a time ---- */

enum { BUFFER = 16384 };                /* bytes, a multiple of the size of every number */

bool gra_read_values(gra_infile *in, uint64_t at, const gra_dtype *type, size_t n, gra_real *to)
{
    unsigned char buffer[BUFFER];
    const size_t bytes = type->bits / 8, most = BUFFER / bytes;
    for (size_t done = 0; done < n; done += most) {
        const size_t some = n - done < most ? n - done : most;
        if (!gra_infile_read(in, at + done * bytes, buffer, some * bytes))
            return false;
        type->to_reals(buffer, some, to + done);
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

void gra_write_values(gra_outfile *out, const gra_real *from, size_t n)
{
    unsigned char buffer[BUFFER];
    const size_t bytes = sizeof *from, most = BUFFER / bytes;
    for (size_t done = 0; done < n; done += most) {
        const size_t some = n - done < most ? n - done : most;
        for (size_t i = 0; i < some; i++)
            gra_put_little_endian(buffer + i * bytes, bits_of(&from[done + i]), bytes);
        gra_outfile_write(out, buffer, some * bytes);
    }
}
