/* Reading a step: its nodes, their layers, and names. */
#include "core/base/base.h"
#include "layers/layers.h"
#include "lib/fault.h"
#include "lib/folder.h"
#include "lib/suites.h"
#include "lib/tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

static void open_begun(void)
{
    open_all();
    gra_begin(t, GRA_GRAD, NULL);
}

/* ---- nodes by number ---- */

CASE(view, open_begun, close_all, "")

TEST(nodes_in_the_order_of_recording)
{
    ck_assert_int_eq(gra_node_count(t), 0);
    ck_assert_ptr_null(gra_node_at(t, 0));
    gra_tensor *a = gra_scalar(t, 2), *fixed = gra_full(t, 3, GRA_SCALAR), *none = gra_exp(t, fixed);
    gra_tensor *y[] = { gra_mul(t, a, none), gra_exp(t, a), gra_reshape(t, a, GRA_SHAPE(1)) };
    ck_assert_int_eq(gra_node_count(t), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_eq(gra_node_at(t, i), y[i]);
        ck_assert_int_eq(gra_node_number(y[i]), i);
    }
    ck_assert_ptr_null(gra_node_at(t, -1));
    ck_assert_ptr_null(gra_node_at(t, 3));
    ck_assert_int_eq(gra_node_number(a), -1);           /* leaves, */
    ck_assert_int_eq(gra_node_number(fixed), -1);
    ck_assert_int_eq(gra_node_number(NULL), -1);
    ck_assert_int_eq(gra_node_number(none), -1);        /* and a result that needs no gradient */
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_int_eq(gra_node_count(t), 0);
    ck_assert_int_eq(gra_node_number(y[1]), -1);
    gra_begin(t, GRA_EVAL, NULL);
    ck_assert_int_eq(gra_node_number(gra_exp(t, gra_scalar(t, 2))), -1);
    ck_assert_int_eq(gra_node_count(t), 0);
}

/* ---- layers ---- */

/* The path of an op between an op with the parameter p and an op with q; "" if p or q is NULL: no such op. */
static const struct { const char *p, *q, *path; } between[] = {
    { "norm.weight", "norm.weight", "norm" },
    { "att.W_value.weight", "att.out_proj.weight", "att" },
    { "att.W_value.weight", "attic.weight", "" },
    { "a.b.weight", "a.bc.weight", "a" },
    { "a.b.weight", "a.b.c.weight", "a.b" },
    { "a.b.c.weight", "a.b.weight", "a.b" },
    { "blocks.0.ff.2.weight", "blocks.1.norm.weight", "blocks.0" },
    { "blocks.10.ff.2.weight", "norm.weight", "blocks.10" },
    { "blocks.0.ff.0.weight", "blocks.0.ff.2.weight", "blocks.0.ff" },
    { "blocks.0.norm.weight", "blocks.0.ff.2.weight", "blocks.0" },
    { "a.0.b.1.c.weight", "a.1.norm.weight", "a.0" },
    { "0.weight", "1.weight", "" },
    { "w", "fc.weight", "" },
    { "fc.weight", NULL, "" },
    { NULL, "fc.weight", "" },
};

static gra_tensor *param(const char *name)
{
    gra_tensor *p = gra_param_find(model, name);
    return p ? p : gra_param(gra_root(model), name, gra_init_ones(), GRA_SHAPE(1));
}

TESTS(the_layer_of_an_op_without_parameters, LENGTH(between))
{
    char path[GRA_PATH];
    const char *p = between[_i].p, *q = between[_i].q;
    gra_tensor *x = gra_neg(t, gra_scalar(t, 1)), *y = gra_exp(t, p ? gra_mul(t, x, param(p)) : x);
    if (q)
        gra_mul(t, gra_exp(t, gra_mul(t, y, param(q))), param("what.comes.later"));     /* does not count */
    ck_assert_str_eq(gra_node_path(y, path), between[_i].path);
}

TEST(the_layer_of_a_parameter)
{
    char path[GRA_PATH] = "x";
    gra_tensor *p = param("ff.fc.weight"), *y = gra_add(t, gra_scalar(t, 1), p);
    ck_assert_str_eq(gra_node_path(p, path), "ff.fc");
    ck_assert_str_eq(gra_node_path(y, path), "ff.fc");
    ck_assert_str_eq(gra_node_path(gra_exp(t, y), path), "");           /* nothing comes after it */
    ck_assert_str_eq(gra_node_path(gra_scalar(t, 1), path), "");
    ck_assert_str_eq(gra_node_path(NULL, path), "");
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_str_eq(gra_node_path(y, path), "");
}

/* ---- names ---- */

TEST(a_name)
{
    gra_tensor *x = gra_scalar(t, 1), *p = param("fc.weight");
    ck_assert_ptr_null(x->name);
    ck_assert_ptr_eq(gra_name(x, "head %d", 3), x);
    ck_assert_str_eq(x->name, "head 3");
    ck_assert_str_eq(gra_name(x, "%s", "scores")->name, "scores");
    ck_assert_ptr_null(gra_name(NULL, "x"));
    ck_assert_str_eq(gra_name(p, "x")->name, "fc.weight");
    ck_assert_str_eq(gra_name(x, "%lc", (wint_t)0x10ffff)->name, "scores");    /* not a text in this locale */
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_str_eq(gra_name(x, "y")->name, "scores");
    expect_error("gra_name: got a tensor of another step or tape for input 0, expected one of this step: a "
                 "tensor lives until the next gra_begin of its tape");
}

TEST(a_name_is_no_parameter)            /* in the tracer, or in the search for a layer */
{
    char path[GRA_PATH];
    gra_trace_nan(t, true);
    gra_tensor *x = gra_name(gra_scalar(t, -1), "an.input"), *y = gra_name(gra_scale(t, x, 2), "a.b");
    ck_assert_str_eq(gra_node_path(gra_exp(t, y), path), "");
    gra_log(t, y);
    expect_error("log: made nan from finite inputs, there -2 (forward)");
    gra_begin(t, GRA_GRAD, NULL);
    x = gra_name(gra_scalar(t, (double)NAN), "scores");
    gra_exp(t, x);
    expect_error("exp: input 0 (scores) contains nan, which no op made: it was already nan on input "
                 "(forward)");
    gra_name(x, "%s", "late");                          /* after an error: nothing */
    ck_assert_str_eq(x->name, "scores");
}

static gra_tensor *scores(void)         /* in a new step */
{
    gra_begin(t, GRA_GRAD, NULL);
    return gra_name(gra_zeros(t, GRA_SHAPE(2, 3)), "scores");
}

/* The error begins with this sentence, in which X means x, and P means p. */
static void expect_sentence(const char *pattern)
{
    char expected[600] = "";
    for (; *pattern; pattern++) {
        const char *text = *pattern == 'X' ? "\"scores\" (2, 3)"
                           : *pattern == 'P' ? "\"ff.weight\" (1, 4)" : NULL;
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), text ? "%s" : "%.1s",
                 text ? text : pattern);
    }
    ck_assert_msg(strncmp(or_none(gra_error(t)), expected, strlen(expected)) == 0, "got %s, expected %s",
                  or_none(gra_error(t)), expected);
}
#define SAYS(call, sentence) (x = scores(), (void)(call), expect_sentence(sentence))

TEST(a_name_in_sentences)               /* every op's sentence has the name of a named tensor */
{
    gra_tensor *x, *p = gra_param(gra_root(model), "ff.weight", gra_init_ones(), GRA_SHAPE(1, 4));
    SAYS(gra_matmul(t, x, x), "matmul: got a X and b X: the inner sizes 3 and 2 differ");
    SAYS(gra_linear(t, x, p, NULL), "linear: got x X for weight P");
    SAYS(gra_add(t, gra_zeros(t, GRA_SHAPE(4)), x),
         "add: got shapes (4) and X, expected shapes that broadcast");
    SAYS(gra_softmax(t, x, 2), "softmax: got dimension 2 of a tensor X, expected one of its 2 dimensions");
    SAYS(gra_reshape(t, x, GRA_SHAPE(5)), "reshape: got x X and shape (5)");
    SAYS(gra_concat(t, 2, (gra_tensor *[]){ x, p }, 0), "concat: got tensor 0 X and tensor 1 P");
    SAYS(gra_mse_loss(t, x, p), "mse_loss: got x X and target P");
    SAYS(gra_attention(t, x, p, x, HOW(.heads = 1)), "attention: got q X, k P, v X");
    SAYS(gra_backward(t, x), "gra_backward: got the loss X, expected one value");
    SAYS(gra_grad(x), "gra_grad: got the constant X, which needs no gradient");
    SAYS(gra_item(x), "gra_item: got x X with 6 values, expected one value");
}

/* ---- the text ---- */

static char shown[1 << 20];

static char *shown_of(FILE *f)          /* closes it */
{
    rewind(f);
    shown[fread(shown, 1, sizeof shown - 1, f)] = '\0';
    fclose(f);
    return shown;
}

static const char *printed(void)
{
    FILE *f = tmpfile();
    ck_assert_ptr_nonnull(f);
    gra_fprint_tape(f, t);
    return shown_of(f);
}

TEST(a_parameter_of_another_layer)      /* is shown by its whole name */
{
    gra_mul(t, param("norm.weight"), param("tok_emb.scale"));
    ck_assert_msg(strstr(printed(), "weight, tok_emb.scale") != NULL, "%s", shown);
}

/* Every byte is printable ASCII or part of a character that does not control the text around it. `tidy`:
 * also, every line has at most 80 characters and does not end in a blank. */
static void expect_clean(const char *text, bool tidy)
{
    static const char *const turning[] = { "\xd8\x9c", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xae",
                                           "\xe2\x81\xa6" };
    int line = 0;
    for (const char *s = text, *end = s + strlen(s); s < end;) {
        const char *at = s;
        const int32_t c = gra_utf8(&s, end);
        ck_assert_msg(c == '\n' || (c >= 0x20 && c < 0x7f) || c >= 0xa0, "byte %zu is %d",
                      (size_t)(at - text), c);
        ck_assert_msg(!tidy || c != '\n' || at == text || at[-1] != ' ', "a blank ends a line: %s", text);
        line = c == '\n' ? 0 : line + 1;
        ck_assert_msg(!tidy || line <= 80, "a line is too long: %s", text);
    }
    for (int i = 0; i < LENGTH(turning); i++)
        ck_assert_ptr_null(strstr(text, turning[i]));
}
static void expect_tidy(const char *text)      { expect_clean(text, true); }
static void expect_printable(const char *text) { expect_clean(text, false); }

TEST(an_expression_as_text)
{
    gra_keep_grads(t, true);
    gra_tensor *a = gra_name(gra_scalar(t, 2), "a"), *b = gra_scalar(t, -3);
    gra_tensor *y = gra_add(t, gra_name(gra_mul(t, a, b), "ab"), gra_full(t, 10, GRA_SCALAR));
    ck_assert_str_eq(printed(), "#  op        shape  inputs       value\n"
                                "   a         ()                      2\n"
                                "   input     ()                     -3\n"
                                "0  ab = mul  ()     a, input        -6\n"
                                "   constant  ()                     10\n"
                                "1  add       ()     0, constant      4\n");
    gra_backward(t, gra_mul(t, y, y));
    ck_assert_str_eq(printed(), "#  op        shape  inputs       value  gradient\n"
                                "   a         ()                      2       -24\n"
                                "   input     ()                     -3        16\n"
                                "0  ab = mul  ()     a, input        -6         8\n"
                                "   constant  ()                     10\n"
                                "1  add       ()     0, constant      4         8\n"
                                "2  mul       ()     1, 1            16         1\n");
}

TEST(layers_as_text)                    /* parameters; values not kept; a result without a gradient */
{
    struct gra_linear l;
    gra_linear_init(&l, gra_enter(gra_root(model), "fc"), 2, 2, true);
    for (int i = 0; i < 4; i++)
        l.weight->data[i] = 1;
    l.bias->data[0] = l.bias->data[1] = 0;
    gra_tensor *x = gra_abs(t, gra_constant(t, (const real[]){ 3, -3, 4, -4 }, GRA_SHAPE(2, 2)));
    gra_tensor *y = gra_linear(t, gra_linear_forward(t, &l, x), l.weight, NULL);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_layer_norm(t, y, NULL, l.bias, 1e-5))), 0);
    ck_assert_str_eq(printed(), "#  layer  op          shape   inputs             value  gradient\n"
                                "          abs         (2, 2)                      3.54\n"
                                "   fc     weight      (2, 2)                         1         0\n"
                                "   fc     bias        (2)                            0         2\n"
                                "0  fc     linear      (2, 2)  abs, weight, bias   7.07\n"
                                "1  fc     linear      (2, 2)  0, weight           14.1\n"
                                "2  fc     layer_norm  (2, 2)  1, bias                0\n"
                                "3         sum         ()      2                      0\n");
}

TEST(empty_tapes_as_text)
{
    ck_assert_str_eq(printed(), "the tape is empty: nothing was computed that needs a gradient\n");
    gra_begin(t, GRA_EVAL, NULL);
    gra_exp(t, gra_scalar(t, 1));
    ck_assert_str_eq(printed(), "the tape is empty: GRA_EVAL records nothing\n");
}

TEST(many_inputs_as_text)
{
    gra_tensor *x = VECTOR(1), *part[1000];
    for (int i = 0; i < 1000; i++)
        part[i] = gra_scale(t, x, i);
    gra_concat(t, 1000, part, 0);
    ck_assert_ptr_nonnull(strstr(printed(), "1000  concat  (1000)  0, 1, 2, ... 999  "));
}

static const struct { double a, b; const char *text; } means[] = {         /* root mean squares */
    { 1e30, 1e30, "1e+30" }, { 3, 4, "3.54" }, { 0, 0, "0" }, { (double)NAN, (double)INFINITY, "nan" },
    { (double)INFINITY, 1, "inf" }, { -(double)INFINITY, 1, "inf" },
};

TESTS(root_mean_squares_as_text, LENGTH(means))
{
    char line[80];
    snprintf(line, sizeof line, "reshape  (1, 2)  input   %5s\n", means[_i].text);
    gra_reshape(t, VECTOR((real)means[_i].a, (real)means[_i].b), GRA_SHAPE(1, 2));
    ck_assert_msg(strstr(printed(), line) != NULL, "expected %s, got %s", line, shown);
    gra_begin(t, GRA_GRAD, NULL);
    gra_scale(t, gra_scalar(t, means[_i].a), 1);
    ck_assert_ptr_nonnull(printed());
    expect_tidy(shown);
}

TEST(no_values_as_text)
{
    gra_tensor *p = param("fc.weight"), *none = gra_constant(t, NULL, GRA_SHAPE(0, 1));
    gra_add(t, none, p);
    ck_assert_ptr_nonnull(strstr(printed(), "0  fc     add       (0, 1)  constant, weight\n"));
}

/* ---- the constants of an op ---- */

TEST(constants_as_text)
{
    static const real value[24];
    char text[GRA_ARGS_TEXT];
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x = gra_input(t, value, GRA_SHAPE(2, 3, 4)), *w = gra_input(t, value, GRA_SHAPE(4, 4)),
               *one = gra_input(t, value, GRA_SHAPE(1, 5));
    const struct { gra_tensor *y; const char *text; } ops[] = {
        { gra_scale(t, x, 0.1), "by 0.1" },             { gra_add_scalar(t, x, -3), "-3" },
        { gra_pow(t, x, 3), "3" },                      { gra_clamp(t, x, 0, 6), "to 0 ... 6" },
        { gra_slice(t, x, -1, 1, -1), "1:3 in dimension 2" },
        { gra_sum(t, x), "over all" },                  { gra_sum_dim(t, x, 1, false), "over dimension 1" },
        { gra_sum(t, one), "over all" },                { gra_sum_dim(t, one, 1, true), "over dimension 1" },
        { gra_max(t, x), "over all" },                  { gra_min_dim(t, x, 0, true), "over dimension 0" },
        { gra_mean(t, x), "by 0.04166667" },            { gra_transpose(t, x, 1, 2), "0, 2, 1" },
        { gra_var_dim(t, x, 2, 1, true), "over dimension 2, correction 1" },
        { gra_matmul(t, w, w), "a b" },                 { gra_matmul_nt(t, w, w), "a b^T" },
        { gra_dropout(t, x, 0.25), "p 0.25" },          { gra_masked_fill(t, x, x, -1), "with -1" },
        { gra_layer_norm(t, x, NULL, NULL, 1e-5), "eps 1e-05" },
        { gra_rms_norm(t, x, NULL, 1e-6), "eps 1e-06" },
        { gra_concat(t, 2, (gra_tensor *[]){ x, x }, 2), "in dimension 2" },
        { gra_exp(t, x), "" },                          { x, "" },
    };
    for (int i = 0; i < LENGTH(ops); i++)
        ck_assert_str_eq(gra_args_text(ops[i].y, text), ops[i].text);
}

/* ---- names of any bytes ---- */

#define LONG 10000

/* they change the direction of text, or end a line */
#define BIDI "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6"

static char *hostile_name(int which)
{
    static char name[LONG + 1];
    static const char *const bad[] = { "\n\t\033[2J\177\302\205", BIDI, "\xff\xc0\x80\xed\xa0\x80",
                                       "\"];}\\N|{<>}",
                                       "</script>", "\xef\xbf\xbf", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80",
                                       "&lt;%s%n", "" };
    const size_t n = strlen(bad[which]);
    memset(name, 'x', LONG);
    name[LONG] = '\0';
    for (size_t at = 0; n && at + n <= LONG; at += n)
        memcpy(name + at, bad[which], n);
    return name;
}
#define HOSTILE 9

static const char dot[] = GRADUS_BUILD "/tape.dot";

static char *dot_text(void)
{
    ck_assert_int_eq(gra_write_dot(t, dot), 0);
    read_text(dot, shown, sizeof shown);
    unlink(dot);
    return shown;
}

/* Like expect_tidy, except for the length of lines. Each line has one of these forms, in which only the label
 * may hold outside text, without the bytes that would end a string, a record or a page. */
static void expect_tidy_dot(char *text)
{
    static const char opening[] = "digraph tape {\nnode [shape=record, fontname=\"sans-serif\"];\n"
                                  "graph [fontname=\"sans-serif\", style=rounded, color=gray];\n";
    int depth = 1, number, to, n;
    expect_printable(text);
    ck_assert_int_eq(strncmp(text, opening, strlen(opening)), 0);
    for (char *line = strtok(text + strlen(opening), "\n"); line; line = strtok(NULL, "\n")) {
        char *label = strstr(line, "label=\""), *end = label ? strchr(label + 7, '"') : NULL;
        n = 0;
        ck_assert_int_gt(depth, 0);
        if (label) {
            ck_assert_ptr_nonnull(end);
            ck_assert(strcmp(end, "\";") == 0 || strcmp(end, "\"];") == 0 ||
                      strcmp(end, "\", style=rounded];") == 0 || strcmp(end, "\", style=filled];") == 0);
            *end = '\0';
            for (char *field; (field = strstr(label, " | ")) != NULL;)
                field[1] = '/';
            ck_assert_msg(strcspn(label + 7, "\"<>{}|\\\t\r\033\177") == strlen(label + 7), "%s", line);
        } else if (strcmp(line, "}") == 0)
            depth--;
        else if (sscanf(line, "subgraph cluster_%d {%n", &number, &n) == 1 && n == (int)strlen(line))
            depth++;
        else
            ck_assert_msg((sscanf(line, "leaf%d -> n%d;%n", &number, &to, &n) == 2 ||
                           sscanf(line, "n%d -> n%d;%n", &number, &to, &n) == 2) && n == (int)strlen(line),
                           "%s", line);
    }
    ck_assert_int_eq(depth, 0);
}

TESTS(names_of_any_bytes, HOSTILE)
{
    const char *name = hostile_name(_i);
    gra_tensor *p = gra_param(gra_enter(gra_enter(gra_root(model), "%.30s", name), "%.30s", name), "w",
                              gra_init_ones(), GRA_SHAPE(1, 1, 1, 1, 1, 1, 1, 1));
    gra_op op = { .name = name, .view = true };
    gra_tensor *y = gra_add(t, gra_name(gra_scalar(t, 1), "%s", name), p);
    ck_assert_str_eq(y->in[0]->name, name);
    gra_name(gra_run(gra_result_like(t, &op, y)), "%s", name);
    ck_assert_int_eq(gra_node_count(t), 2);
    expect_tidy(printed());
    ck_assert_uint_lt(strlen(shown), 2000);
    expect_tidy_dot(dot_text());
    ck_assert_uint_lt(strlen(shown), 4000);
}

TESTS(names_of_any_bytes_in_sentences, HOSTILE)
{
    const char *name = hostile_name(_i);
    gra_tensor *x = gra_name(gra_zeros(t, GRA_SHAPE(2, 3)), "%s", name);
    gra_attention(t, x, x, x, &(gra_attention_options){ .heads = 1 });
    snprintf(shown, sizeof shown, "%s", or_none(gra_error(t)));
    ck_assert_ptr_nonnull(strstr(shown, "\" (2, 3), k \""));
    ck_assert_ptr_nonnull(strstr(shown, *name ? "..." : "q \"\" ("));
    expect_printable(shown);
    gra_begin(t, GRA_GRAD, NULL);
    gra_trace_nan(t, true);
    gra_exp(t, gra_name(gra_scalar(t, (double)NAN), "%s", name));
    snprintf(shown, sizeof shown, "%s", or_none(gra_error(t)));
    ck_assert_ptr_nonnull(strstr(shown, ") contains nan"));
    expect_printable(shown);
}

/* ---- the graph ---- */

TEST(layers_as_a_graph)                /* a constant inside a block does not split its box in two */
{
    gra_tensor *x = gra_mul(t, param("a.0.b.w"), gra_ones(t, GRA_SHAPE(2)));
    x = gra_add(t, gra_exp(t, x), gra_ones(t, GRA_SCALAR));
    gra_sum(t, gra_mul(t, x, param("a.0.c.w")));
    const char *text = dot_text(), *box = text;
    int boxes = 0;
    for (; (box = strstr(box, "subgraph")) != NULL; box++)
        boxes++;
    ck_assert_int_eq(boxes, 4);
    ck_assert_ptr_nonnull(strstr(text,
                                 "subgraph cluster_0 {\nlabel=\"a\";\nsubgraph "
                                 "cluster_1 {\nlabel=\"a.0\";\nsubgraph cluster_2 {\nlabel=\"a.0.b\";\nleaf0 "
                                 "[label=\"w | (1) | data 1 | grad 0\", style=filled];\n"
                                 "n0 [label=\"mul | (2) | data 1\"];\n}\nn1 [label=\"exp | (2) "
                                 "| data 2.72\"];\n"
                                 "n2 [label=\"add | (2) | data 3.72\"];\nsubgraph "
                                 "cluster_3 {\nlabel=\"a.0.c\";\n"));
    expect_tidy_dot(shown);
    gra_begin(t, GRA_GRAD, NULL);       /* a layer after another with the same first letters */
    gra_mul(t, gra_exp(t, param("att.w")), param("attic.w"));
    ck_assert_msg(strstr(dot_text(), "}\nsubgraph cluster_1 {\nlabel=\"attic\"") != NULL, "%s", shown);
}

TEST(odd_nodes_as_a_graph)      /* an input that is NULL, no values, a name of code points that XML forbids */
{
    gra_tensor *x = gra_name(gra_input(t, (const gra_real[]){ 1, 2, 3 }, GRA_SHAPE(1, 3)),
                             "a\xef\xbf\xbe\xef\xbf\xbf");
    gra_layer_norm(t, x, NULL, NULL, 1e-5);
    gra_add(t, gra_constant(t, NULL, GRA_SHAPE(0, 1)), param("fc.weight"));
    const char *text = dot_text();
    ck_assert_msg(strstr(text, "[label=\"a&#63;&#63; | (1, 3) | data 2.16\"") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "n1 [label=\"add | (0, 1)\"];") != NULL, "%s", text);
    expect_tidy_dot(shown);
}

TEST(a_graph_that_cannot_be_written)    /* and a tape without nodes, which can be shown */
{
    expect_tidy_dot(dot_text());
    gra_exp(t, gra_scalar(t, 1));
    ck_assert_int_eq(gra_write_dot(t, "/nowhere/tape.dot"), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(gra_write_dot(t, NULL), -1);
}

TEST(an_expression_as_a_graph)
{
    gra_keep_grads(t, true);
    gra_tensor *a = gra_name(gra_scalar(t, 2), "a\\\"b|c");
    gra_backward(t, gra_mul(t, a, a));
    ck_assert_str_eq(dot_text(), "digraph tape {\n"
                                 "node [shape=record, fontname=\"sans-serif\"];\n"
                                 "graph [fontname=\"sans-serif\", style=rounded, color=gray];\n"
                                 "leaf0 [label=\"a&#92;&#92;&#34;b&#124;c | data 2 | grad 4\", "
                                 "style=rounded];\nn0 [label=\"mul | data 4 | grad 1\"];\nleaf0 -> "
                                 "n0;\nleaf0 -> n0;\n}\n");
}

/* ---- no memory ---- */

TEST(no_memory_for_a_name)
{
    gra_tensor *x = gra_name(gra_scalar(t, 1), "x");
    if (!fault_wrapped())
        return;
    fault_arm(FAULT_ALLOC, 1, ENOMEM, true);
    gra_name(x, "%1000000d", 1);
    fault_disarm();
    ck_assert_str_eq(x->name, "x");
    expect_error("out of memory: this step needs 1000001 more bytes");
}

TEST(no_memory_to_look)                 /* once at each allocation */
{
    gra_exp(t, gra_scalar(t, 1));
    static unsigned char file[4096];
    write_bytes(dot, "", 0);
    const long held = fault_held();
    for (long n = 1, struck = 1; fault_wrapped() && struck; n++) {
        fault_arm(FAULT_ALLOC, n, ENOMEM, false);
        errno = 0;
        const int status = gra_write_dot(t, dot), why = errno;
        struck = fault_disarm();
        ck_assert(struck ? status == -1 && why == ENOMEM && !read_bytes(dot, file, sizeof file)
                         : n > 5 && status == 0);
    }
    ck_assert(!fault_wrapped() || read_bytes(dot, file, sizeof file) > 100);
    unlink(dot);
    for (long n = 1; fault_wrapped() && n <= 3; n++) {
        FILE *f = tmpfile();
        fault_arm(FAULT_ALLOC, n, ENOMEM, false);
        gra_fprint_tape(f, t);
        ck_assert_int_eq(fault_disarm(), 1);
        ck_assert_str_eq(shown_of(f), "the tape cannot be shown: out of memory\n");
    }
    ck_assert_int_eq(fault_held(), held);
}
