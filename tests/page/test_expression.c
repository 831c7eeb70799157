/* Expressions typed by a reader of the page: their values and gradients, mistakes in their text, and wrong
 * backwards that the gradient check must name. */
#include "examples/page/expression.h"
#include "examples/page/expression_parse.h"
#include "examples/page/expression_slips.h"
#include "lib/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef GRADUS_DOUBLE

/* ---- reading JSON ---- */

static void read_value(gra_json *j)
{
    static const char *const words[] = { "true", "false", "null" };
    const bool object = gra_json_accept(j, '{');
    if (object || gra_json_accept(j, '[')) {
        const char close = object ? '}' : ']';
        if (gra_json_accept(j, close))
            return;
        do {
            if (object)
                gra_json_string(j), gra_json_expect(j, ':');
            read_value(j);
        } while (gra_json_accept(j, ','));
        gra_json_expect(j, close);
    } else if (j->at < j->end && *j->at == '"') {
        gra_json_string(j);
    } else {
        const gra_json word = gra_json_skip(j);
        char *end = word.at;
        if (word.at < word.end && (*word.at == '-' || (*word.at >= '0' && *word.at <= '9')))
            strtod(word.at, &end);
        for (int i = 0; i < 3; i++)
            if (strncmp(word.at, words[i], strlen(words[i])) == 0)
                end = word.at + strlen(words[i]);
        if (end != word.end || end == word.at)
            j->wrong = "expected a number, or a word of JSON";
    }
}

static char *json(char *text)
{
    char *copy = malloc(strlen(text) + 1);      /* the reader decodes in place */
    gra_json j = { .at = strcpy(copy, text), .end = copy + strlen(text) };
    read_value(&j);
    gra_json_finish(&j);
    ck_assert_msg(!j.wrong, "no JSON: %s: %s", j.wrong, text);
    free(copy);
    return text;
}

static char *run(const char *text, const double *values, int n, int slip)
{
    return json(expression_run(text, values, n, slip));
}

/* The text after "key": in the JSON of the input of this name, or in the whole JSON. */
static const char *member(const char *text, const char *input, const char *key)
{
    char part[60];
    snprintf(part, sizeof part, "{\"name\":\"%s\"", input ? input : "");
    text = input ? strstr(text, part) : text;
    ck_assert_msg(text, "there is no input %s", input ? input : "");
    snprintf(part, sizeof part, "\"%s\":", key);
    text = strstr(text, part);
    ck_assert_msg(text, "there is no %s", key);
    return text + strlen(part);
}

static double number(const char *text, const char *input, const char *key)
{
    return atof(member(text, input, key));
}

static bool is(const char *text, const char *input, const char *key, const char *value)
{
    return strncmp(member(text, input, key), value, strlen(value)) == 0;
}

/* ---- values and gradients ---- */

CASE(expression, NULL, NULL, "")

/* The first expression of micrograd's README, with its numbers. */
static const char micrograd[] =
    "c = a + b; d = a*b + b^3; c = c + c + 1; c = c + 1 + c + (-a)\n"
    "d = d + d*2 + relu(b + a); d = d + 3*d + relu(b - a)\n"
    "e = c - d; f = e**2; g = f/2.0; g = g + 10/f";

TEST(the_numbers_of_micrograd)
{
    const char *y = run(micrograd, (double[]){ -4, 2 }, 2, -1);
    const char *nodes = strstr(y, "\"page\":");
    ck_assert(is(y, NULL, "error", "null"));
    ck_assert(is(y, NULL, "warning", "null"));
    ck_assert(is(y, NULL, "passed", "true"));
    for (const char *g; (g = strstr(nodes, "\"name\":\"g\"")); nodes = g + 1) {}
    ck_assert_double_eq_tol(atof(strstr(nodes, "\"x\":[") + 5), 24.70408163265306, 1e-12);
    ck_assert_double_eq_tol(number(y, "a", "grad"), 138.83381924198252, 1e-10);
    ck_assert_double_eq_tol(number(y, "b", "grad"), 645.5772594752186, 1e-10);
    ck_assert_double_eq_tol(number(y, "a", "numeric"), 138.83381924198252, 1e-7);
    ck_assert(number(y, "b", "digits") >= 9);
    ck_assert(is(y, "b", "agrees", "true"));
}

/* The value of the text for a = 2 and b = 3, taken from the last node (its sum, if it is a tensor). */
static const struct { const char *text; double y, da; } values[] = {
    { "a + b*2", 8, 1 },                { "a*b - b/a", 4.5, 3.75 },         { "-a^2", -4, -4 },
    { "(-a)^2", 4, 4 },                 { "a - b - 1", -2, 1 },             { "0*a + b/a/2", 0.75, -0.375 },
    { "2 a b", 12, 6 },                 { "a b^2", 18, 9 },                 { "2 (a + b)", 10, 2 },
    { "(a + b) (a - b)", -5, 4 },       { "a -b", -1, 1 },                  { "a*-b", -6, -3 },
    { "a^-1", 0.5, -0.25 },             { "a ** 2 ** 1", 0, 0 },            { "--a", 2, 1 },
    { "1e1 a + .5", 20.5, 10 },         { "a@b + 0 b", 0, 0 },              { "x = a; y = x; x y", 4, 4 },
    { "k = 4; k a", 8, 4 },             { "k = -4; k*a; k = k*a; a k", -16, -16 },
    { "exp(log(a))", 2, 1 },            { "sqrt(a^4)", 4, 4 },              { "tanh(0*a)", 0, 0 },
    { "sum = a + b; sum*sum", 25, 10 }, { "relu(a - b) + abs(a - b)", 1, -1 },
    { "max(a randn(3)) - max(a randn(3)) + a", 0, 0 }, { "sum(a*randn(2, 3)^0)", 12, 6 },
    { "mean(softmax(a randn(4))) + a", 2.25, 1 }, { "\n;;a*a;\r\n;", 4, 4 },
    { "a^b", 8, 12 },                   { "a^(b - 1)", 4, 4 },
    { "2^a / log(2)", 4 / 0.6931471805599453, 4 }, { "max(a, b) + 2*min(a, b)", 7, 2 },
    { "pi a / pi + e^a", 2 + 7.38905609893065, 1 + 7.38905609893065 }, { "e = 3; e a", 6, 3 },
    { "rate = ?; rate a", 6, 2 },
};

TESTS(precedence_and_functions, LENGTH(values))
{
    const char *y = run(values[_i].text, (double[]){ 2, 3 }, 2, -1);
    if (values[_i].y == 0 && values[_i].da == 0)        /* only that it is JSON */
        return;
    ck_assert_msg(is(y, NULL, "error", "null"), "%s", y);
    ck_assert_double_eq_tol(number(y, "a", "grad"), values[_i].da, 1e-12);
    ck_assert_double_eq_tol(number(y, "a", "numeric"), values[_i].da, 1e-8);
    const char *last = strstr(y, "\"page\":");
    for (const char *next; (next = strstr(last, "\"kind\":")); last = next + 1) {}
    ck_assert_double_eq_tol(atof(strstr(last, "\"x\":[") + 5), values[_i].y, 1e-12);
}

TEST(names_in_the_order_of_appearance)
{
    const char *y = run("c = b a2; b = c; _x + relu(b)", NULL, 0, -1), *in = member(y, NULL, "inputs");
    for (int i = 0; i < 3; i++, in++) {
        const char *const names[] = { "b\",\"free\":true", "a2\",\"free\":true", "_x\",\"free\":true" };
        in = member(in, NULL, "name");
        ck_assert_msg(strncmp(in + 1, names[i], strlen(names[i])) == 0, "%d: %s", i, in);
    }
    y = run("k = 3; W = randn(2); k W", NULL, 0, -1);
    ck_assert(is(y, "k", "free", "false") && is(y, "W", "free", "false"));
}

/* x (1, 3) and W (3, 2): the gradient of sum(x W) with respect to W has x in each column. */
TEST(products_of_matrices)
{
    const char *y = run("x = randn(1, 3); W = randn(3, 2); y = x W; z = x @ W; y + z", NULL, 0, -1);
    double x[3], dw[6];
    ck_assert_int_eq(sscanf(member(y, "x", "value"), "[%lf,%lf,%lf]", x, x + 1, x + 2), 3);
    ck_assert_int_eq(sscanf(member(y, "W", "grad"), "[%lf,%lf,%lf,%lf,%lf,%lf]", dw, dw + 1, dw + 2, dw + 3,
                            dw + 4, dw + 5), 6);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(dw[i], 2 * x[i / 2], 1e-12);
    ck_assert(is(y, "W", "shape", "[3,2]"));
    ck_assert(is(y, "W", "agrees", "true"));
    ck_assert(is(y, NULL, "passed", "true"));
}

TEST(numbers_are_random_but_the_same_each_time)
{
    static char first[2000];
    const char text[] = "W = randn(2, 2); mean(W)";
    snprintf(first, sizeof first, "%.1999s", run(text, NULL, 0, -1));
    ck_assert(strncmp(first, run(text, NULL, 0, -1), sizeof first - 1) == 0);
}

/* ---- where gradients are hard to compare ---- */

TEST(a_kink_is_no_error)
{
    const char *y = run("relu(a - b)", (double[]){ 2, 2 }, 2, -1);
    ck_assert(is(y, "a", "kink", "true"));
    ck_assert(is(y, "a", "agrees", "true"));
    ck_assert_double_eq_tol(number(y, "a", "numeric"), 0.5, 1e-9);
    ck_assert_double_eq(number(y, "a", "value"), 2);
    ck_assert(is(y, NULL, "passed", "true"));
    ck_assert_ptr_nonnull(strstr(y, "The slope jumps at these values, so the check is made beside them: "
                                 "a = 2.00"));
    y = run("relu(a - b)", (double[]){ 2, 1.5 }, 2, -1);
    ck_assert(is(y, "a", "kink", "false"));
    y = run("abs(a)^3 + tanh(9*a)", (double[]){ 0 }, 1, -1);
    ck_assert(is(y, "a", "kink", "false"));
}

/* Values at which a fixed difference step fails. */
static const struct { const char *text; double a; } steep[] = {
    { "log(a)", 1e-8 }, { "a^2", 1e8 }, { "sin(a)", 1e6 }, { "1/a", 1e-5 }, { "exp(a)", 1e-9 },
    { "sqrt(a)", 1e-7 }, { "tanh(1000*a)", 1e-3 }, { "exp(-a^2)", 5 }, { "a^3", 0 }, { "relu(a)", 1e-7 },
    { "1e-6*a + 1000", 1 },
    { "cos(a)", -1e8 }, { "abs(a) + sqrt(abs(a))", -1e-4 }, { "sigmoid(a)", 30 },
};

TESTS(steps_follow_the_value, LENGTH(steep))
{
    const char *y = run(steep[_i].text, &steep[_i].a, 1, -1);
    ck_assert_msg(is(y, "a", "agrees", "true") && is(y, "a", "kink", "false"), "%s", y);
}

TEST(what_is_not_a_number_is_pointed_at)
{
    const char *y = run("b = 2 + log(a); b*b", (double[]){ -1 }, 1, -1);
    ck_assert(is(y, NULL, "warning", "{\"at\":8,\"length\":3,\"text\":\"log of -1 is nan\"}"));
    ck_assert(is(y, NULL, "passed", "null,\"text\":\"not checked: log of -1 is nan\""));
    ck_assert(is(y, "a", "grad", "null,\"numeric\":null,\"digits\":null,\"agrees\":null"));
    ck_assert_ptr_null(strstr(y, "\"grad\":{"));        /* the tape has no gradient either */
    ck_assert(is(run("1/(a - 1)", NULL, 0, -1), NULL, "warning",
                 "{\"at\":1,\"length\":1,\"text\":\"div is infinite\"}"));
}

TEST(what_takes_too_long_is_not_checked)
{
    const char *y = run("W = randn(64, 64); sum(W W)", NULL, 0, -1);
    ck_assert(is(y, NULL, "error", "null"));
    ck_assert(is(y, NULL, "passed", "null,\"text\":\"not checked: that would take too long\""));
}

/* ---- mistakes in the text ---- */

static const struct { const char *text; int at, length; const char *why; } wrong[] = {
    { "", 0, 0, "expected an expression, such as a*b + b^3, got the end of the text" },
    { " ; \n", 4, 0, "expected an expression" },
    { ")", 0, 1, "expected a number or a name, got ')'" },
    { "a +", 3, 0, "expected a number or a name, got the end of the text" },
    { "a +\nb", 3, 0, "expected a number or a name, got the end of the line" },
    { "(a", 2, 0, "expected an operator or ')', got the end of the text" },
    { "(a]", 2, 1, "expected an operator or ')', got ']'" },
    { "a)", 1, 1, "expected an operator or ';', got ')'" },
    { "a 12.5e3", 2, 6, "expected an operator or ';', got '12.5e3'" },
    { "1.2.3", 3, 2, "expected an operator or ';', got '.3'" },
    { "a^", 2, 0, "expected a number or a name as the exponent, got the end of the text" },
    { "a^2^3", 3, 1, "expected an operator or ';', got '^'" },
    { "= 3", 0, 1, "expected a number or a name, got '='" },
    { "a = = 3", 4, 1, "expected a number or a name, got '='" },
    { "a + b = 3", 6, 1, "expected an operator or ';', got '='" },
    { "relu", 4, 0, "expected '(' after the name of a function, got the end of the text" },
    { "relu(a, b)", 6, 1, "expected an operator or ')', got ','" },
    { "a*foo(b)", 2, 3, "there is no function foo: there are relu tanh exp log " },
    { "ln(a)", 0, 2, "there is no function ln: did you mean log?" },
    { "Relu(a)", 0, 4, "there is no function Relu: did you mean relu?" },
    { "tan(a)", 0, 3, "there is no function tan: did you mean tanh?" },
    { "a = 2; a (3)", 7, 1, "a is not a function: for a product write a * (...)" },
    { "a.mean()", 1, 1, "a function comes before its value: mean(a), not a.mean()" },
    { "a*nan", 2, 3, "nan is not a number: what is computed from it has no gradient" },
    { "import torch", 0, 6, "import was not assigned: a new slider called import?" },
    { "y = ?", 0, 5, "nothing is differentiated yet" },
    { "randn", 5, 0, "expected '(' after the name of a function" },
    { "randn(0)", 6, 1, "got the size 0, expected one of 1 to 4096" },
    { "randn(2.5)", 6, 3, "got the size 2.5" },
    { "randn(2, 3, 4)", 10, 1, "expected ')', got ','" },
    { "randn(2; 3)", 7, 1, "expected ',' or ')', got ';'" },
    { "W = randn(64, 65)", 4, 13, "got 4160 values in all inputs, expected at most 4096" },
    { "1e999*a", 0, 5, "the number 1e999 is too large" },
    { "a \xc3\x97 b", 2, 1, "expected an operator or ';', got '\xc3\x97'" },
    { "a + \xf0\x9f\x98\x80", 4, 2, "expected a number or a name, got '\xf0\x9f\x98\x80'" },
    { "a\xff", 1, 1, "expected an operator or ';', got '\\ufffd'" },
    { "abcdefghijklmnopqrstuvwxyz", 0, 26, "got a name of 26 characters, expected at most 23" },
    { "<script>", 0, 1, "expected a number or a name, got '\\u003c'" },
    { "3", 0, 1, "nothing is differentiated yet" },
    { "2*3 + 4", 4, 1, "nothing is differentiated yet" },
    { "W = randn(2, 3); a + W W", 23, 1, "matmul: got a \\u0022W\\u0022 (2, 3) and b \\u0022W\\u0022 (2, 3): "
      "the inner sizes 3 and 2 differ" },
    { "randn(2) + randn(3)", 9, 1, "add: got shapes (2) and (3)" },
    { "softmax(a)", 0, 7, "softmax: " },
    { "randn(2048, 1) - randn(1, 2048)", 15, 1, "got (2048, 1) and (1, 2048), whose result has more than" },
    { "x = randn(2048, 1); y = randn(1, 2048); x y", 42, 1,
      "got \\u0022x\\u0022 (2048, 1) and \\u0022y\\u0022 (1, 2048), whose result" },
};

TESTS(a_mistake_is_pointed_at, LENGTH(wrong))
{
    char *y = run(wrong[_i].text, NULL, 0, -1);
    ck_assert_msg(is(y, NULL, "at", "") && (int)number(y, NULL, "at") == wrong[_i].at &&
                  (int)number(y, NULL, "length") == wrong[_i].length, "expected %d, %d: %s", wrong[_i].at,
                  wrong[_i].length, y);
    ck_assert_msg(strncmp(member(y, NULL, "text") + 1, wrong[_i].why, strlen(wrong[_i].why)) == 0, "%s", y);
}

/* n times `part`, between two texts. */
static char *repeated(const char *before, const char *part, int n, const char *after)
{
    static char text[20000];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", before);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, part, i);
    snprintf(text + at, sizeof text - at, "%s", after);
    return text;
}

static const struct { const char *before, *part; int most; const char *why; } limits[] = {
    { "a*a", " ", 4093, "got a text of 4097 bytes, expected at most 4096" },
    { "a*a", "-a", 998, "got more than 1000 operations, expected fewer" },
    { "v*w", "+v%d", 62, "got more than 64 inputs, expected fewer" },
};

TESTS(sizes_are_limited, LENGTH(limits))
{
    const char *y = run(repeated(limits[_i].before, limits[_i].part, limits[_i].most, ""), NULL, 0, -1);
    ck_assert_msg(is(y, NULL, "error", "null"), "%.300s", y);
    y = run(repeated(limits[_i].before, limits[_i].part, limits[_i].most + 1, ""), NULL, 0, -1);
    ck_assert_msg(strstr(y, limits[_i].why), "%.300s", y);
}

TEST(depth_is_limited)
{
    static const char *const deep[] = { "(", "-", "relu(", "a*(" };
    for (int i = 0; i < LENGTH(deep); i++) {
        const char *y = run(repeated("a*", deep[i], 700, "a"), NULL, 0, -1);
        ck_assert_msg(strstr(y, "got more than 100 parentheses or signs within each other"), "%s", y);
    }
    static char text[1000] = "a*";
    strcat(text, repeated("", "(", 97, "a"));
    strcat(text, repeated("", ")", 97, ""));
    ck_assert(is(run(text, NULL, 0, -1), NULL, "error", "null"));
}

/* ---- texts that nobody would type ---- */

static void random_byte(char *text, gra_rng *g) { *text = (char)gra_randint(g, 256); }

static void random_word(char *text, gra_rng *g)
{
    static const char *const word[] = {
        "a", "b", "x", "W", "W", "2", "0.5", "-", "+", "*", "/", "@", "^2", "**-1", "(", ")", ")", "=", ";",
        "\n", " ", "relu(", "log(", "softmax(", "mean(", "sum(", "max(", "randn(2,3)", "randn(3,2)",
        "randn(3)", "W=", "y=", "1e308", "randn(", "sqrt(a)", ",", "\xc3\xa9" };
    strcpy(text, word[gra_randint(g, LENGTH(word))]);
}

static const struct {
    void  (*append)(char *text, gra_rng *g);
    uint64_t most;                      /* of them in a text */
    int     good;                       /* at least this many texts are expressions */
} kinds[] = { { random_byte, 198, 0 }, { random_word, 12, 300 } };

TESTS(random_texts, LENGTH(kinds))
{
    const double some[] = { -1, 0, 1e300, (double)NAN };
    int good = 0;
    gra_rng g;
    gra_manual_seed(&g, 1 + (uint64_t)_i);
    for (int i = 0; i < 5000; i++) {
        char text[400] = "";
        for (uint64_t n = 1 + gra_randint(&g, kinds[_i].most); n > 0; n--)
            kinds[_i].append(text + strlen(text), &g);
        crash_note("%s", text);
        static expression e;                    /* a word that asks for something is not a mistake */
        good += expression_parse(&e, text) == 0 || strstr(e.error.why, ": a new slider called ");
        run(text, some, (int)gra_randint(&g, 5), (int)gra_randint(&g, 25) - 1);
    }
    ck_assert_int_ge(good, kinds[_i].good);
}

/* ---- wrong backwards ---- */

/* An expression that reveals each mistake, and the check's words about it. */
static const struct { const char *op, *text, *says; } slips[] = {
    { "add", "a + b", "likely: all zero: the backward adds nothing here" },
    { "add", "a + b", "the gradient's previous values are lost: the backward has dx[i] = ..." },
    { "sub", "a - b", "likely: the sign is flipped" },
    { "neg", "-a", "likely: the sign is flipped" },
    { "mul", "a*b", "likely: all zero: the backward adds nothing here" },
    { "mul", "a b", "likely" },
    { "mul", "a*b", "the gradient's previous values are lost: the backward has dx[i] = ..." },
    { "div", "a/b", "likely: a factor too many: b" },
    { "pow", "a^3", "likely: the wrong factor: the backward has y where x^2 is expected" },
    { "pow", "a^3", "likely: a constant factor of 0.333333: a forgotten 3" },
    { "exp", "exp(a)", "likely: the wrong factor: the backward has x where y is expected" },
    { "log", "log(a)", "likely: the wrong factor: the backward has x where 1/x is expected" },
    { "sqrt", "sqrt(a)", "likely: a constant factor of 2: counted twice, or a forgotten 1/2" },
    { "tanh", "tanh(a)", "likely: the wrong factor: the backward has 1 - y where 1 - y^2 is expected" },
    { "tanh", "tanh(a)", "the gradient's previous values are lost: the backward has dx[i] = ..." },
    { "sigmoid", "sigmoid(a)", "likely: the wrong factor: the backward has y where y (1 - y) is expected" },
    { "relu", "relu(a)", "the mask is the wrong way round" },
    { "relu", "relu(-a) + a", "a mask is missing" },
    { "abs", "abs(-a)", "likely: where x < 0: the sign is flipped" },
    { "silu", "silu(a)", "has sigmoid(x) where the derivative of silu at x is expected" },
    { "softmax", "x = randn(1, 4); sum(softmax(x)^2)", "the term with a sum): all zero" },
};

/* Is the text in the report? Its lines may be broken anywhere, and < is \u003c. */
static bool says(const char *report, const char *phrase)
{
    for (; *report; report++) {
        const char *r = report, *p = phrase;
        while (*p && (*r == *p || (*p == ' ' && strncmp(r, "\\u000a", 6) == 0) ||
                      (*p == '<' && strncmp(r, "\\u003c", 6) == 0))) {
            r += *r == *p ? 1 : 6;
            while (*p == ' ' && *r == ' ')
                r++;
            p++;
        }
        if (!*p)
            return true;
    }
    return false;
}

TESTS(the_check_names_a_wrong_backward, LENGTH(slips))
{
    char id[80];
    const expression_slip *s = &expression_slip_table[_i];
    ck_assert_str_eq(s->op, slips[_i].op);
    snprintf(id, sizeof id, "{\"id\":%d,\"op\":\"%s\",", _i, s->op);
    const char *y = run(slips[_i].text, (double[]){ 1.5, 2.5 }, 2, _i);
    ck_assert_ptr_nonnull(strstr(y, id));
    ck_assert(is(y, NULL, "passed", "false"));
    ck_assert_msg(says(y, slips[_i].says), "%s", y);
    ck_assert_msg(s->stores || strstr(y, "\"agrees\":false"), "%s", y);
    y = run(slips[_i].text, (double[]){ 1.5, 2.5 }, 2, -1);
    ck_assert(is(y, NULL, "passed", "true"));
}

TEST(all_slips_are_tested)
{
    ck_assert_ptr_null(expression_slip_table[LENGTH(slips)].op);
}

/* In a larger expression, and where an operand is stretched. */
TEST(the_check_sees_all_of_the_expression)
{
    for (int i = 0; expression_slip_table[i].op; i++) {
        char id[40];
        snprintf(id, sizeof id, "\"id\":%d,", i);
        const bool used = strstr(run(micrograd, NULL, 0, -1), id);
        ck_assert(is(run(micrograd, (double[]){ -4, 2 }, 2, i), NULL, "passed", used ? "false" : "true"));
    }
    ck_assert(is(run("x = randn(2, 3); b = randn(1, 3); sum((x*b)^2)", NULL, 0, 4), NULL, "passed", "false"));
}

/* = instead of += does no harm if each operand is used once. */
TEST(the_op_alone_is_checked_too)
{
    const char *y = run("exp(a) + exp(b)", (double[]){ 1, 2 }, 2, 1);
    ck_assert(is(y, "a", "agrees", "true"));
    ck_assert(is(y, NULL, "passed", "false,\"text\":\"gradient check passed: "));
    ck_assert_ptr_nonnull(strstr(y, "add alone, on random values:\\u000agradient check FAILED: "));
}

#endif
