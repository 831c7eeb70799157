/* judge: see judge.h. A judge's process writes records to file descriptor 3: a word,
 * a letter ('p' and a part, 'w' and a finding, 'd': done, all is right), a text, and a zero byte. The runner
 * has put random words into the standard input, and a record counts only with the next word. The judge reads
 * the word when it makes the record: in memory there are only words that have been used, and an answer may
 * call no function that reads (../compile.sh). If the process is started by hand, without an argument, it
 * prints the records. */
#include "judge.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 3, WORD = 16 };

/* ---- records ------------------------------------------------------------------------------------ */

/* the runner started the program, which then has an argument (a descriptor 3 may be open by chance) */
static bool runner;

static void read_word(char word[WORD])
{
    for (ssize_t n = 0, got; n < WORD; n += got)
        if ((got = read(STDIN_FILENO, word + n, (size_t)(WORD - n))) <= 0)
            _exit(1);
}

static void record(char kind, const char *text)
{
    char line[6000];
    const int begin = runner ? WORD : 0;
    int n = snprintf(line + begin, sizeof line - WORD, runner ? "%c%s" : "%c: %s\n", kind, text);
    if (n < 0 || n > (int)sizeof line - WORD - 1)
        n = sizeof line - WORD - 1;
    n += begin + runner;                                        /* the zero byte */
    if (runner)
        read_word(line);
    for (int at = 0; at < n;) {
        const ssize_t wrote = write(runner ? RECORDS : STDOUT_FILENO, line + at, (size_t)(n - at));
        if (wrote < 0)
            _exit(1);
        at += (int)wrote;
    }
}

void judge_part(const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    record('p', text);
}

void judge_wrong(const char *format, ...)
{
    char text[5000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fflush(NULL);
    record('w', text);
    _exit(1);
}

int main(int argc, char **argv)
{
    (void)argv;
    runner = argc > 1;
    judge_exercise();
    fflush(NULL);
    record('d', "");
    _exit(0);
}

/* ---- memory and draws ---------------------------------------------------------------------------- */

enum { GUARDS = 200, IDS_AFTER = 64 };
static const double guard = -987654321e3;       /* so large that a result made from it is recognised */

double *judge_room(size_t n)
{
    double *room = malloc((n + GUARDS) * sizeof *room);
    if (!room)
        judge_wrong("the judge is out of memory");
    for (size_t i = 0; i < n + GUARDS; i++)
        room[i] = i < n ? JUDGE_UNWRITTEN : guard;
    return room;
}

void judge_guarded(const char *name, const double *room, size_t n)
{
    for (size_t i = n; i < n + GUARDS; i++)
        if (room[i] != guard && room[i] != JUDGE_UNWRITTEN)         /* n may be less than the room */
            judge_wrong("%s has %zu number%s, but number %zu was written, past its end", name, n,
                        n == 1 ? "" : "s", i);
}

int *judge_ids(const int *ids, size_t n)
{
    int *copy = calloc(n + IDS_AFTER, sizeof *copy);
    if (!copy)
        judge_wrong("the judge is out of memory");
    return memcpy(copy, ids, n * sizeof *copy);
}

void judge_unchanged(const char *name, const double *now, const double *before, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (now[i] != before[i] && (now[i] == now[i] || before[i] == before[i]))
            judge_wrong("%s was changed, but should only be read: number %zu was %.*g and is now %.*g", name,
                        i, judge_digits(now[i], before[i]), before[i], judge_digits(now[i], before[i]),
                        now[i]);
}

double *judge_draw(uint64_t seed, size_t n, double low, double high)
{
    gra_rng rng;
    double *x = judge_room(n);
    gra_manual_seed(&rng, seed);
    gra_rand_f64(&rng, x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = low + (high - low) * x[i];
    return x;
}

/* ---- tensors ------------------------------------------------------------------------------------- */

gra_tape *judge_tape(gra_mode mode, gra_rng *rng)
{
    gra_tape *t = gra_open(1);
    if (!t)
        judge_wrong("the judge is out of memory");
    gra_keep_going(t, true);
    for (int step = 0; step < 2; step++) {              /* the second step has all memory in one block */
        gra_begin(t, GRA_EVAL, NULL);
        gra_full(t, JUDGE_UNWRITTEN, GRA_SHAPE(1 << 15));
    }
    gra_begin(t, mode, rng);
    return t;
}

gra_model *judge_open(gra_tape **t, gra_mode mode, uint64_t seed)
{
    gra_rng *rng = malloc(sizeof *rng);
    if (!rng)
        judge_wrong("the judge is out of memory");
    gra_manual_seed(rng, seed);
    *t = judge_tape(mode, rng);
    gra_model *m = gra_model_open(*t, rng);
    if (!m)
        judge_wrong("the judge is out of memory");
    return m;
}

void judge_close(gra_tape *t, gra_model *m)
{
    gra_model_close(m);
    gra_close(t);
}

const double *judge_tensor(gra_tape *t, const char *name, const gra_tensor *y, gra_shape shape)
{
    char has[GRA_SHAPE_TEXT], should[GRA_SHAPE_TEXT];
    if (gra_error(t))
        judge_wrong("%s: gradus refused: %s", name, gra_error(t));
    if (!y)
        judge_wrong("%s: got NULL, expected a tensor", name);
    if (!gra_same_shape(y->shape, shape))
        judge_wrong("%s: got the shape %s, expected %s", name, gra_shape_text(y->shape, has),
                    gra_shape_text(shape, should));
    return y->data;
}

void judge_made_by(const gra_tensor *y, const char *op)
{
    if (!y->op || strcmp(y->op->name, op))
        judge_wrong("the result was made by %s%s, not by the op %s:\nfill in the forward and backward of %s, "
                    "and leave the function that records it unchanged", y->op ? "the op " : "no op",
                    y->op ? y->op->name : "", op, op);
}

void judge_without(const gra_tensor *y, const char *op)
{
    for (const gra_tensor *made = y; made; made = made->prev)       /* all nodes recorded before y */
        if (made->op && !strcmp(made->op->name, op))
            judge_wrong("gra_%s is what this exercise asks you to write: do without it", op);
}

void judge_backward(gra_tape *t, gra_tensor *y, const double *dy, int nx, gra_tensor *const *x, double before)
{
    gra_tensor *loss = gra_sum(t, gra_mul(t, y, gra_constant(t, dy, y->shape)));
    for (int i = 0; i < nx; i++)                        /* recorded after y, so swept before it */
        if (x[i]->requires_grad && before != 0)
            loss = gra_add(t, loss, gra_scale(t, gra_sum(t, x[i]), before));
    if (gra_backward(t, loss))
        judge_wrong("backward: gradus refused: %s", gra_error(t));
}

static bool is_expected(const char *name, int n, const struct judge_param *expected)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(name, expected[i].name))
            return true;
    return false;
}

void judge_params(const gra_model *m, int n, const struct judge_param *expected)
{
    char has[GRA_SHAPE_TEXT], should[GRA_SHAPE_TEXT];
    const int count = gra_param_count(m);
    if (gra_model_error(m))
        judge_wrong("init: gradus refused: %s", gra_model_error(m));
    for (int i = 0; i < count && count > n; i++)
        if (!is_expected(gra_param_at(m, i)->name, n, expected))
            judge_wrong("init makes the parameter %s, which is not asked for", gra_param_at(m, i)->name);
    for (int i = 0; i < n; i++, expected++) {
        const gra_tensor *p = gra_param_at(m, i);
        if (!p)
            judge_wrong("init: got %d parameters, expected %d: %s is missing", count, n, expected->name);
        const char *end = p->name + strlen(p->name) - strlen(expected->name);
        if (strlen(p->name) > strlen(expected->name) && !strcmp(end, expected->name) && end[-1] == '.')
            judge_wrong("init: got %s as parameter %d, expected %s: the scope is already %.*s, so do not "
                        "enter it again", p->name, i, expected->name, (int)strcspn(expected->name, "."),
                        expected->name);
        if (strcmp(p->name, expected->name))
            judge_wrong("init: got %s as parameter %d, expected %s%s", p->name, i, expected->name,
                        !is_expected(p->name, n - i, expected) ? ""
                            : ": in a different order the same seed gives different numbers");
        if (!gra_same_shape(p->shape, expected->shape))
            judge_wrong("%s: got the shape %s, expected %s%s", p->name, gra_shape_text(p->shape, has),
                        gra_shape_text(expected->shape, should), p->shape.ndim == 2
                        && gra_same_shape(GRA_SHAPE(p->shape.dim[1], p->shape.dim[0]), expected->shape)
                        ? ": a weight is (out_features, in_features), and gra_linear_init takes in_features "
                          "first" : "");
        if (expected->held && expected->held != p)
            judge_wrong("the struct does not point to %s: let init store each parameter in its own member",
                        p->name);
    }
}

void judge_gradients(gra_mode mode, gra_rng *rng, gra_model *m, int nin, const gra_check_in *in,
                     gra_check_fn *f, void *arg)
{
    gra_check_report report;
    gra_tape *t = judge_tape(mode, rng);
    if (gra_check(t, &(gra_check_options){ .rng = mode == GRA_TRAIN ? rng : NULL, .model = m,
                  .nin = nin, .in = in, .f = f, .arg = arg }, &report))
        judge_wrong("%s", report.text);
    gra_close(t);
}
