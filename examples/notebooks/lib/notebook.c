/* notebook: see notebook.h. */
#include "notebook.h"
#include "golden.h"
#include "../../../core/op.h"

#include <stdarg.h>
#include <stdlib.h>

static struct {
    const char *name, *folder;
    gra_tape   *t;
    gra_model  *model;
    gra_rng     rng;
    int         digits;
    golden     *file;
    bool        seen[GOLDEN_MAX];       /* which of the file's tensors were compared */
    bool        unseeded, failed;
    long        reproduced, printed, from_inputs, rearranged;
} n;

GRA_PRINTF(1, 2) static void warn(const char *format, ...)
{
    n.failed = true;
    fflush(stdout);
    fprintf(stderr, "%s: ", n.name);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

gra_tape *notebook_open(const char *name, int argc, char **argv)
{
    n.name = name;
    n.folder = argc > 1 ? argv[1] : "examples/notebooks/golden";
    n.digits = 4;
    if (argc > 2 || n.folder[0] == '-') {
        warn("usage: %s [FOLDER OF GOLDEN NUMBERS]", name);
        exit(2);
    }
    n.t = gra_open(1);
    n.model = gra_model_open(n.t, &n.rng);
    if (!n.t || !n.model) {
        warn("out of memory");
        exit(2);
    }
    gra_begin(n.t, GRA_TRAIN, &n.rng);
    printf("%s, computed in float%d\n", name, (int)sizeof(real) * 8);
    return n.t;
}

gra_rng *notebook_rng(void) { return &n.rng; }

gra_scope notebook_scope(const char *name) { return gra_enter(gra_root(n.model), "%s", name); }

void notebook_digits(int digits) { n.digits = digits; }

/* ---- files ---- */

static bool is(const golden_tensor *x, const char *role) { return strcmp(x->role, role) == 0; }

static long known(const golden_tensor *x)               /* how many of its values the notebook printed */
{
    long count = 0;
    for (size_t i = 0; i < x->size; i++)
        if (!isnan(x->values[i]))
            count++;
    return count;
}

static void close_file(void)
{
    for (int i = 0; n.file && i < n.file->tensors; i++)
        if (!n.seen[i] && !is(&n.file->tensor[i], "input"))
            warn("%s: %s %s was not compared", n.file->path, n.file->tensor[i].role, n.file->tensor[i].name);
    golden_close(n.file);
    n.file = NULL;
}

void notebook_file(const char *name)
{
    char path[256], error[GOLDEN_ERROR];
    close_file();
    snprintf(path, sizeof path, "%s/%s.txt", n.folder, name);
    n.file = golden_read(path, error);
    if (!n.file) {
        warn("%s (run it in the repository's root, or name the folder of the numbers)", error);
        exit(2);
    }
    memset(n.seen, 0, sizeof n.seen);
    for (int i = 0; i < n.file->tensors; i++)
        if (is(&n.file->tensor[i], "expect"))
            n.printed += known(&n.file->tensor[i]);
    n.unseeded = false;
    printf("\n---- %s\n", name);
}

void notebook_unseeded(const char *why)
{
    n.unseeded = true;
    printf("(%s)\n", why);
}

static const golden_tensor *find(const char *name)
{
    for (int i = 0; i < n.file->tensors; i++)
        if (strcmp(n.file->tensor[i].name, name) == 0) {
            n.seen[i] = true;
            return &n.file->tensor[i];
        }
    warn("%s has no %s", n.file->path, name);
    exit(2);
}

/* ---- comparing ---- */

/* A value may be within its tolerance and still print a different last digit: if it is close to a rounding
 * boundary, or computed from rounded inputs. Readers would notice, so this is reported. */
static void note_roundings(const golden_tensor *expected, const gra_tensor *x)
{
    const double half = 0.5 * pow(10, -n.digits);
    size_t first = 0, count = 0;
    for (size_t i = x->size; i-- > 0; )
        if (fabs((double)x->data[i] - expected->values[i]) > half) {
            first = i;
            count++;
        }
    if (count)
        printf("    (%zu of %zu %s to another last digit: [%zu] is %.*f, printed %.*f)\n", count,
               x->size, count == 1 ? "rounds" : "round", first, n.digits + 4, (double)x->data[first],
               n.digits, expected->values[first]);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted(const double *values, size_t size)
{
    double *copy = gra_alloc(n.t, size * sizeof *copy);
    memcpy(copy, values, size * sizeof *copy);
    qsort(copy, size, sizeof *copy, by_value);
    return copy;
}

/* Are its numbers those of an input of the file, in any order? Then nothing was computed. */
static bool is_rearranged(const golden_tensor *expected)
{
    const double *numbers = sorted(expected->values, expected->size);
    for (int i = 0; i < n.file->tensors; i++) {
        const golden_tensor *x = &n.file->tensor[i];
        if (is(x, "input") && x->size == expected->size &&
            memcmp(sorted(x->values, x->size), numbers, x->size * sizeof *numbers) == 0)
            return true;
    }
    return false;
}

static void compare(const golden_tensor *expected, const gra_tensor *x)
{
    long reproduced = 0;
    if (!gra_same_shape(x->shape, expected->shape)) {
        warn("%s: %s: got the shape %s, expected %s", n.file->path, expected->name,
             GRA_SHAPE_STRING(x->shape), GRA_SHAPE_STRING(expected->shape));
        return;
    }
    for (size_t i = 0; i < expected->size; i++) {
        if (!golden_agrees(expected, i, (double)x->data[i]))
            warn("%s: %s[%zu]: got %.9g, expected %.9g: off by %.3g, allowed %.3g", n.file->path,
                 expected->name, i, (double)x->data[i], expected->values[i],
                 fabs((double)x->data[i] - expected->values[i]), expected->tol);
        else if (!isnan(expected->values[i]))
            reproduced++;
    }
    if (is(expected, "expect")) {
        note_roundings(expected, x);
        n.reproduced += reproduced;
        if (is_rearranged(expected))
            n.rearranged += reproduced;
        else if (n.unseeded)
            n.from_inputs += reproduced;
    }
}

void agrees(const char *names, ...)
{
    char name[GOLDEN_WORD];
    va_list tensors;
    va_start(tensors, names);
    for (int end = 0; sscanf(names, "%63s%n", name, &end) == 1; names += end)
        compare(find(name), va_arg(tensors, gra_tensor *));
    va_end(tensors);
}

void print(const char *cell, const char *name, gra_tensor *x)
{
    printf("%s, %s\n", cell, name);
    gra_fprint(stdout, x->data, x->shape, n.digits);
}

void show(const char *cell, const char *name, gra_tensor *x)
{
    print(cell, name, x);
    compare(find(name), x);
}

void print_shape(const char *cell, const char *name, const gra_tensor *x)
{
    printf("%s, the shape of %s: %s\n", cell, name, GRA_SHAPE_STRING(x->shape));
}

int notebook_close(void)
{
    close_file();
    gra_model_close(n.model);
    gra_close(n.t);
    putchar('\n');
    printf("computed: %ld, computed from printed inputs: %ld, inputs rearranged: %ld\n",
           n.reproduced - n.from_inputs - n.rearranged, n.from_inputs, n.rearranged);
    printf("%s: %ld of %ld printed numbers reproduced\n", n.name, n.reproduced, n.printed);
    if (fflush(stdout) != 0)
        warn("cannot write to the standard output");
    return n.failed || n.reproduced != n.printed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- tensors ---- */

static gra_tensor *empty(gra_shape shape)    /* filled in later */
{
    return gra_full(n.t, 0, shape);
}

static gra_tensor *from_doubles(gra_tensor *x, const double *values)
{
    for (size_t i = 0; i < x->size; i++)
        x->data[i] = (real)values[i];
    return x;
}

gra_tensor *given(const char *name)
{
    const golden_tensor *x = find(name);
    return from_doubles(empty(x->shape), x->values);
}

gra_tensor *torch_rand(gra_shape shape)
{
    gra_tensor *x = empty(shape);
    gra_rand(&n.rng, x->data, x->size);
    return x;
}

gra_tensor *torch_randn(gra_shape shape)
{
    gra_tensor *x = empty(shape);
    gra_randn(&n.rng, x->data, x->size);
    return x;
}

gra_tensor *np_normal(gra_shape shape)
{
    gra_tensor *x = empty(shape);
    double *values = gra_alloc(n.t, x->size * sizeof *values);
    gra_numpy_normal(&n.rng, values, x->size, 0, 1);
    return from_doubles(x, values);
}
