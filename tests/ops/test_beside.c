/* The column of gradus in core/README.md, "Beside others": each cell is computed here, and compared. */
#include "examples/lib/tokenizer/internal.h"
#include "lib/fixture.h"
#include "lib/suites.h"
#include "lib/tensors.h"

#include <stdlib.h>

static const real inf = (real)INFINITY, nan_ = (real)NAN;

/* ---- what is computed ---- */

/* The values of y, or their slope: the gradient of x. */
static void values(char to[128], gra_tensor *y, gra_tensor *x)
{
    const real *value = y->data;
    size_t n = y->size;
    if (x && !gra_error(t)) {
        ck_assert_int_eq(gra_backward(t, gra_sum(t, y)), 0);
        value = gra_grad(x);
        n = x->size;
    }
    if (gra_error(t)) {
        strcpy(to, "refused");
        return;
    }
    *to = 0;
    for (size_t i = 0; i < n; i++)
        snprintf(to + strlen(to), 128 - strlen(to), "%s%g", i ? ", " : "",
                 isnan(value[i]) ? fabs((double)NAN) : (double)value[i] + 0);
}

static gra_tensor *hidden(void)
{
    gra_tensor *v = gra_ones(t, GRA_SHAPE(1, 2, 2)), *mask = gra_full(t, -(double)INFINITY, GRA_SHAPE(1, 2));
    return gra_max(t, gra_attention(t, v, v, v, HOW(.heads = 1, .mask = mask)));
}

static gra_tensor *keys_seen(void)
{
    gra_tensor *q = gra_zeros(t, GRA_SHAPE(1, 2, 1)), *k = gra_ones(t, GRA_SHAPE(1, 4, 1));
    gra_keep_attention(t, true);
    gra_tensor *w = gra_attention_weights(gra_attention(t, q, k, k, HOW(.heads = 1, .causal = true)));
    return gra_reshape(t, gra_sum_dim(t, gra_lt(t, gra_zeros(t, GRA_SCALAR), w), -1, false), GRA_SHAPE(2));
}

static gra_tensor *where_root(gra_tensor *x)
{
    gra_tensor *zero = gra_zeros(t, GRA_SHAPE(1));
    return gra_where(t, gra_lt(t, zero, x), gra_sqrt(t, x), zero);
}

static gra_tensor *clipped(double a, double b, double norm)     /* the gradient (a, b) */
{
    gra_tensor *p = gra_param(gra_root(model), "p", gra_init_zeros(), GRA_SHAPE(2));
    p->grad[0] = (real)a;
    p->grad[1] = (real)b;
    gra_clip_grad_norm(model, norm);
    return gra_constant(t, p->grad, GRA_SHAPE(2));
}

static gra_tensor *norm_of_many(void)
{
    gra_tensor *p = gra_param(gra_root(model), "p", gra_init_zeros(), GRA_SHAPE(1 << 24));
    for (size_t i = 0; i < p->size; i++)
        p->grad[i] = (real)0.1;
    return gra_scalar(t, gra_clip_grad_norm(model, 1e9));
}

static gra_tensor *decayed(void)
{
    gra_adamw opt;
    gra_tensor *p = gra_param(gra_root(model), "p", gra_init_ones(), GRA_SHAPE(1));
    gra_adamw_init(&opt, model, NULL);
    opt.lr = 0.1;
    opt.weight_decay = 0.5;
    gra_adamw_step(&opt);
    return p;
}

static gra_tensor *pieces(const char *text)
{
    int n = 0;
    for (size_t left = strlen(text), m; left; left -= m, text += m, n++)
        m = split(text, left);
    return gra_scalar(t, n);
}

/* ---- the table ---- */

#define PLACE(name, y)     if (strcmp(place, name) == 0) return values(to, y, NULL), true;
#define SLOPE(name, x_, y)                                                                               \
    if (strcmp(place, name) == 0) {                                                                      \
        gra_tensor *x = x_;                                                                              \
        return values(to, y, x), true;                                                                   \
    }
#define NOTHING            gra_zeros(t, GRA_SHAPE(0))
#define MASKED             VECTOR(-inf, -inf)

static bool compute(const char *place, char to[128])
{
    SLOPE("abs at 0, slope", VECTOR(0), gra_abs(t, x))
    SLOPE("relu at 0, slope", VECTOR(0), gra_relu(t, x))
    PLACE("relu of NaN", gra_relu(t, VECTOR(nan_)))
    SLOPE("clip to (-1, 1) at 1, slope", VECTOR(1), gra_clamp(t, x, -1, 1))
    SLOPE("max of (2, 2), slope", VECTOR(2, 2), gra_max(t, x))
    SLOPE("where(x > 0, sqrt x, 0) at 0, slope", VECTOR(0), where_root(x))
    SLOPE("sqrt at 0, slope", VECTOR(0), gra_sqrt(t, x))
    SLOPE("x^0 at 0, slope", VECTOR(0), gra_pow(t, x, 0))
    SLOPE("x^2 at 0, slope", VECTOR(0), gra_pow(t, x, 2))
    PLACE("softmax of (-inf, -inf)", gra_softmax(t, MASKED, 0))
    PLACE("log_softmax of (-inf, -inf)", gra_log_softmax(t, MASKED, 0))
    PLACE("max of an empty row", gra_max(t, NOTHING))
    PLACE("mean of nothing", gra_mean(t, NOTHING))
    PLACE("attention of a row without a key", hidden())
    PLACE("causal, 2 queries and 4 keys: keys seen", keys_seen())
    PLACE("layer norm of 768 times 100.1, largest",
          gra_max(t, gra_abs(t, gra_layer_norm(t, gra_full(t, 100.1, GRA_SHAPE(1, 768)), NULL, NULL, 1e-5))))
    PLACE("RMS norm of 1e20", gra_rms_norm(t, VECTOR((real)1e20), NULL, 1e-6))
    PLACE("var of one value", gra_var(t, VECTOR(5), 1))
    PLACE("GELU of 1, its default form", gra_gelu(t, VECTOR(1)))
    PLACE("cross entropy with logit 20, sure and right",
          gra_binary_cross_entropy_with_logits(t, VECTOR(20), VECTOR(1)))
    PLACE("sigmoid at -30", gra_sigmoid(t, VECTOR(-30)))
    PLACE("AdamW of an unused parameter of 1, decay 0.05", decayed())
    PLACE("gradient (3, 4), clipped to norm 0", clipped(3, 4, 0))
    PLACE("gradient (inf, 1), clipped to norm 1", clipped((double)INFINITY, 1, 1))
    PLACE("gradient (3e20, 4e20), clipped to norm 1", clipped(3e20, 4e20, 1))
    PLACE("norm of 2^24 times 0.1", norm_of_many())
    PLACE("GPT-2's pieces of \"a \", U+0085, \"b\"", pieces("a \xC2\x85" "b"))
    PLACE("GPT-2's pieces of \"a \", U+FEFF, \"b\"", pieces("a \xEF\xBB\xBF" "b"))
    return false;
}

CASE(beside, NULL, NULL, "")

/* The column is for float: in double some cells differ. */
TEST(the_column_of_gradus)
{
    enum { ROWS = 31 };
    char line[1024], got[128];
    bool in = false;
    int rows = 0;
    FILE *f = fopen("core/README.md", "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        in = in ? strncmp(line, "##", 2) != 0 : strcmp(line, "### Beside others\n") == 0;
        if (!in || strncmp(line, "| ", 2) != 0 || strncmp(line, "| place ", 8) == 0)
            continue;
        char *place = line + 2, *end = strstr(line, " |"), *last = strrchr(line, '|');
        *last = 0;
        *end = last[-1] = 0;
        const char *cell = strrchr(end + 1, '|') + 2;
        open_all();
        gra_begin(t, GRA_GRAD, &rng);
        const bool known = compute(place, got);
        close_all();
        ck_assert_msg(known || strcmp(cell, "-") == 0, "core/README.md, \"%s\": it is not computed", place);
        if (known && (sizeof(real) == 4 || strcmp(place, "RMS norm of 1e20") != 0))
            ck_assert_msg(strcmp(cell, got) == 0, "core/README.md, \"%s\": got %s, the table has %s", place,
                          got, cell);
        rows++;
    }
    fclose(f);
    ck_assert_int_eq(rows, ROWS);
}
