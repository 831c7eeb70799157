/* reference: see reference.h. */
#include "reference.h"
#include "crash.h"

#include <string.h>

reference reference_open(const char *name, bool writes)
{
    char path[512];
    snprintf(path, sizeof path, "%.*sf64/%s", (int)strlen(GRADUS_BUILD) - 3, GRADUS_BUILD, name);
    reference r = { .file = fopen(path, writes ? "w" : "r"), .writes = writes };
    ck_assert_msg(r.file || !writes, "%s cannot be written", path);
    r.same = r.file;
    return r;
}

bool reference_close(reference *r, const char *what)
{
    if (r->file)
        ck_assert_int_eq(fclose(r->file), 0);
    if (!r->same && what)
        fprintf(stderr, "left out: %s in double: the file is missing or of another table. build/f64/test "
                "writes it\n", what);
    return r->same;
}

void reference_title(reference *r, const char *title)
{
    char found[128] = "";
    if (r->writes)
        fprintf(r->file, "\n%s\n", title);
    else
        r->same = r->same && fscanf(r->file, " %127[^\n]", found) == 1 && strcmp(found, title) == 0;
}

double reference_number(reference *r, double x)
{
    if (r->writes)
        fprintf(r->file, "%.17g ", x);
    else
        r->same = r->same && fscanf(r->file, "%lf", &x) == 1;
    return x;
}

double reference_off(reference *r, const real *x, size_t n, size_t step, double floor)
{
    static double want[4096];
    double largest = floor, worst = 0;
    ck_assert_uint_le(n, sizeof want / sizeof *want);
    r->same = r->same && reference_number(r, (double)n) == (double)n;
    for (size_t i = 0; r->same && i < n; i++) {
        want[i] = reference_number(r, x ? (double)x[i * step] : 0);
        largest = fmax(largest, fabs(want[i]));
    }
    for (size_t i = 0; r->same && i < n; i++) {
        const double got = x ? (double)x[i * step] : 0, off = fabs(got - want[i]);
        if (off == 0 || off / largest <= worst)
            continue;
        worst = isnan(off) ? (double)INFINITY : off / largest;
        snprintf(r->place, sizeof r->place, "value %zu is %.9g, in float64 %.9g: %.2g of the largest",
                 i * step, got, want[i], worst);
    }
    return worst;
}
