/* json_out: see json_out.h. */
#include "json_out.h"
#include "utf8.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(out *o, size_t n)
{
    if (!o->failed && o->room - o->n < n) {
        size_t room = o->room ? o->room : 1 << 16;
        while (room - o->n < n)
            room *= 2;
        char *bytes = realloc(o->bytes, room);
        o->failed = !bytes;
        o->bytes = bytes ? bytes : o->bytes;
        o->room = bytes ? room : o->room;
    }
    return !o->failed;
}

void out_bytes(out *o, const char *bytes, size_t n)
{
    if (n > 0 && make_room(o, n)) {
        memcpy(o->bytes + o->n, bytes, n);
        o->n += n;
    }
}

void out_text(out *o, const char *text) { out_bytes(o, text, strlen(text)); }

void out_clear(out *o)
{
    o->n = 0;
    o->failed = false;
}

char *out_end(out *o)
{
    out_bytes(o, "", 1);
    return o->failed ? NULL : o->bytes;
}

void out_format(out *o, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_bytes(o, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* ---- members and strings ----------------------------------------------------------------------------- */

void out_comma(out *o)
{
    if (o->n > 0 && !strchr("[{", o->bytes[o->n - 1]))
        out_text(o, ",");
}

void out_key(out *o, const char *key)
{
    out_comma(o);
    out_format(o, "\"%s\":", key);
}

void out_member(out *o, const char *key, const char *text)
{
    out_key(o, key);
    out_string(o, text, strlen(text));
}

void out_string(out *o, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    out_text(o, "\"");
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        length = utf8_length(s + i, n - i);
        if (length == 0)
            out_text(o, "\\ufffd");
        else if (s[i] < ' ' || s[i] == '"' || s[i] == '\\' || s[i] == '<' || s[i] == 0x7f)
            out_format(o, "\\u%04x", s[i]);
        else
            out_bytes(o, text + i, length);
    }
    out_text(o, "\"");
}

/* ---- numbers ----------------------------------------------------------------------------------------- */

static gra_real read_back(const char *text)
{
    return sizeof(gra_real) == sizeof(float) ? (gra_real)strtof(text, NULL) : (gra_real)strtod(text, NULL);
}

static char *decimal_point(char *text)                  /* replaces a locale's decimal comma */
{
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    return text;
}

void out_number(out *o, double x, int digits)
{
    char text[OUT_REAL] = "null";
    if (isfinite(x))
        snprintf(text, sizeof text, "%.*g", digits, x);
    out_text(o, decimal_point(text));
}

char *out_real_text(gra_real x, char text[OUT_REAL])
{
    if (isnan(x) || isinf(x)) {
        snprintf(text, OUT_REAL, "%s", isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, OUT_REAL, "%.*g", digits, (double)x);
        if (!(read_back(text) < x) && !(read_back(text) > x))
            break;
    }
    return decimal_point(text);
}

void out_real(out *o, gra_real x)
{
    char text[OUT_REAL];
    const char *quote = isnan(x) || isinf(x) ? "\"" : "";
    out_format(o, "%s%s%s", quote, out_real_text(x, text), quote);
}

void out_base64(out *o, const unsigned char *b, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const unsigned more = (unsigned)(n - i - 1),    /* bytes after this one */
            x = (unsigned)b[i] << 16 | (more > 0 ? (unsigned)b[i + 1] << 8 : 0) | (more > 1 ? b[i + 2] : 0);
        const char four[4] = { digit[x >> 18], digit[x >> 12 & 63], more > 0 ? digit[x >> 6 & 63] : '=',
                               more > 1 ? digit[x & 63] : '=' };
        out_bytes(o, four, 4);
    }
}

/* The bytes of x, little-endian on every machine. */
static void put_bytes(gra_real x, unsigned char *to)
{
    uint64_t bits = 0;
    uint32_t bits32;
    if (sizeof x == sizeof bits32) {
        memcpy(&bits32, &x, sizeof bits32);
        bits = bits32;
    } else
        memcpy(&bits, &x, sizeof bits < sizeof x ? sizeof bits : sizeof x);
    for (size_t i = 0; i < sizeof x; i++)
        to[i] = (unsigned char)(bits >> 8 * i & 255);
}

void out_ints(out *o, const int *x, int n)
{
    out_text(o, "[");
    for (int i = 0; i < n; i++) {
        out_comma(o);
        out_format(o, "%d", x[i]);
    }
    out_text(o, "]");
}

void out_reals(out *o, const gra_real *x, size_t n)
{
    enum { SMALL = 64, AT_ONCE = 3 * 64 };              /* a multiple of 3: only the last piece is padded */
    unsigned char bytes[AT_ONCE * sizeof(gra_real)];
    out_text(o, n <= SMALL ? "[" : "\"");
    for (size_t i = 0; n <= SMALL && i < n; i++) {
        out_comma(o);
        out_real(o, x[i]);
    }
    for (size_t i = 0, some; n > SMALL && i < n; i += some) {
        some = n - i < AT_ONCE ? n - i : AT_ONCE;
        for (size_t j = 0; j < some; j++)
            put_bytes(x[i + j], bytes + j * sizeof *x);
        out_base64(o, bytes, some * sizeof *x);
    }
    out_text(o, n <= SMALL ? "]" : "\"");
}
