/* 37 gru: the judge. */
#include "answer.h"
#include <string.h>

/* The three rows of an array of gates, and back. */
static double *rows(double *const *from, int n)
{
    double *all = judge_room((size_t)(3 * n));
    for (int g = 0; g < 3; g++)
        memcpy(all + g * n, from[g], (size_t)n * sizeof *all);
    return all;
}

static void into(double *const *to, const double *all, int n)
{
    for (int g = 0; g < 3; g++)
        memcpy(to[g], all + g * n, (size_t)n * sizeof *all);
}

static void forward(const struct judge_call *c)
{
    const int n = c->size[0];
    double *gates = judge_room((size_t)(3 * n));
    gru_cell(rows(c->in, n), rows(c->in + 3, n), c->in[6], gates, c->out[3], n);
    judge_guarded("gates", gates, (size_t)(3 * n));
    into(c->out, gates, n);
}

static const struct judge_answer cell = {
    .sizes = { "i hidden" }, .telling = { 5 }, .call = forward,
    .in = { "gi_r[i]", "gi_z[i]", "gi_n[i]", "gh_r[i]", "gh_z[i]", "gh_n[i]", "h[i]" },
    .out = { "r[i]", "z[i]", "n[i]", "next[i]" }, .lines =
        "r[i] = sigmoid(gi_r[i] + gh_r[i])\n"
        "z[i] = sigmoid(gi_z[i] + gh_z[i])\n"
        "n[i] = tanh(gi_n[i] + r[i] * gh_n[i])\n"
        "\n"
        "next[i] = (1 - z[i]) * n[i] + z[i] * h[i]\n",
    .special = {
        { "r and z are exchanged: r comes first", "r[i] = sigmoid(gi_z[i] + gh_z[i])\nz[i] = sigmoid(gi_r[i] + gh_r[i])" },
        { "r multiplies h in n, as in the paper: here it multiplies gh_n", "n[i] = tanh(gi_n[i] + gh_n[i] * h[i] * r[i])" },
        { "z and 1 - z are exchanged: z is how much of h is kept", "next[i] = z[i] * n[i] + (1 - z[i]) * h[i]" } } };

static void cell_backward(const struct judge_call *c)
{
    const int n = c->size[0];
    double *dgi = judge_room((size_t)(3 * n)), *dgh = judge_room((size_t)(3 * n));
    gru_cell_backward(rows(c->in, n), rows(c->in + 3, n), c->in[6], c->in[7], dgi, dgh, c->out[6], n);
    judge_guarded("dgi", dgi, (size_t)(3 * n));
    judge_guarded("dgh", dgh, (size_t)(3 * n));
    into(c->out, dgi, n);
    into(c->out + 3, dgh, n);
}

static const struct judge_answer back = {
    .sizes = { "i hidden" }, .telling = { 5 }, .call = cell_backward,
    .in = { "r[i] in 0.1..0.9", "z[i] in 0.1..0.9", "n[i] in -0.9..0.9", "gh_r[i]", "gh_z[i]", "gh_n[i]", "h[i]",
            "dnext[i]" },
    .out = { "dgi_r[i]", "dgi_z[i]", "dgi_n[i]", "dgh_r[i]", "dgh_z[i]", "dgh_n[i]", "dh[i]" }, .lines =
        "dgi_n[i] = dnext[i] * (1 - z[i]) * (1 - n[i]^2)\n"
        "dgi_r[i] = dgi_n[i] * gh_n[i] * r[i] * (1 - r[i])\n"
        "dgi_z[i] = dnext[i] * (h[i] - n[i]) * z[i] * (1 - z[i])\n"
        "dh[i] = dnext[i] * z[i]\n"
        "\n"
        "dgh_r[i] = dgi_r[i]\n"
        "dgh_z[i] = dgi_z[i]\n"
        "dgh_n[i] = dgi_n[i] * r[i]\n",
    .special = {
        { "the slope of tanh was taken at n: it is 1 - n^2, as n is tanh(...) already",
          "dgi_n[i] = dnext[i] * (1 - z[i]) * (1 - tanh(n[i])^2)" } } };

static void through_time(const struct judge_call *c)
{
    double *const *in = c->in, *const *out = c->out;
    const struct gru g = { c->size[3], c->size[0], in[0], in[1], in[2], in[3] };
    gru_backward(&g, in[4], in[9], in[8], in[7], in[6],
                 &(struct gru_gradients){ out[3], out[4], out[0], out[1], out[2], out[5] }, c->size[2]);
}

static const struct judge_answer time_ = {
    .sizes = { "i hidden", "j hidden", "t time", "e in", "g three", "s states" }, .telling = { 3, 3, 4, 5, 3, 5 },
    .call = through_time,
    .in = { "w_ih[g,i,e] in -1..1", "w_hh[g,i,j] in -1..1", "b_ih[g,i]", "b_hh[g,i]", "x[t,e]", "first[i]", "dy[t,i]",
            "gh[t,g,i] =", "gates[t,g,i] =", "h[s,i] =" },
    .out = { "db_ih[g,i] +=", "db_hh[g,i] +=", "dx[t,e] +=", "dw_ih[g,i,e] +=", "dw_hh[g,i,j] +=", "dh0[i] +=" }, .lines =
        "gi[t,g,i] = b_ih[g,i] + sum(e, w_ih[g,i,e] * x[t,e])\n"
        "gh[t,g,i] = b_hh[g,i] + sum(j, w_hh[g,i,j] * h[t,j])\n"
        "r[t,i] = sigmoid(gi[t,0,i] + gh[t,0,i])\n"
        "z[t,i] = sigmoid(gi[t,1,i] + gh[t,1,i])\n"
        "n[t,i] = tanh(gi[t,2,i] + r[t,i] * gh[t,2,i])\n"
        "gates[t,g,i] = [g = 0] ? r[t,i] : [g = 1] ? z[t,i] : n[t,i]\n"
        "h[s,i] = [s = 0] ? first[i] : (1 - z[s - 1,i]) * n[s - 1,i] + z[s - 1,i] * h[s - 1,i]\n"
        "a[t,i] = dnext[t,i] * (1 - z[t,i]) * (1 - n[t,i]^2)\n"
        "dgi[t,g,i] = [g = 0] ? a[t,i] * gh[t,2,i] * r[t,i] * (1 - r[t,i])"
        " : [g = 1] ? dnext[t,i] * (h[t,i] - n[t,i]) * z[t,i] * (1 - z[t,i]) : a[t,i]\n"
        "dgh[t,g,i] = [g = 2] ? dgi[t,g,i] * r[t,i] : dgi[t,g,i]\n"
        "\n"
        "dnext[t,i] = dy[t,i] + dh[t + 1,i]                   # dnext\n"
        "past[t,i] = sum(g, sum(j, dgh[t,g,j] * w_hh[g,j,i])) # what gh passes on to h\n"
        "dh[s,i] = [s = time] ? 0 : dnext[s,i] * z[s,i] + past[s,i]\n"
        "db_ih[g,i] = db_ih0[g,i] + sum(t, dgi[t,g,i])\n"
        "db_hh[g,i] = db_hh0[g,i] + sum(t, dgh[t,g,i])\n"
        "dx[t,e] = dx0[t,e] + sum(g, sum(i, dgi[t,g,i] * w_ih[g,i,e]))\n"
        "dw_ih[g,i,e] = dw_ih0[g,i,e] + sum(t, dgi[t,g,i] * x[t,e])\n"
        "dw_hh[g,i,j] = dw_hh0[g,i,j] + sum(t, dgh[t,g,i] * h[t,j])\n"
        "dh0[i] = dh00[i] + dh[0,i]\n",
    .special = {
        { "only dy is in dnext: step t + 1 uses h[t + 1] too", "dnext[t,i] = dy[t,i]" },
        { "what a step passes on is added to what all later steps had passed: dh is that of one step",
          "dh[s,i] = [s = time] ? 0 : dnext[s,i] * z[s,i] + past[s,i] + dh[s + 1,i]" },
        { "h[t + 1] is used: gh is made of the state before the step, h[t]",
          "dw_hh[g,i,j] = dw_hh0[g,i,j] + sum(t, dgh[t,g,i] * h[t + 1,j])" } } };

/* The numbers (a i + b) mod m, made small. */
static const double *pattern(int n, int a, int b, int m, double by)
{
    double *x = judge_room((size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = ((a * i + b) % m - (m - 1) / 2) * by;
    return x;
}

void judge_exercise(void)
{
    static const double zero[90], first[] = { 0.5, -0.25 };
    struct judge_case torch = CASE("through time: PyTorch's numbers", { 2, 2, 4, 3, 3, 5 }, .in = {
        pattern(18, 7, 5, 11, 0.125), pattern(12, 7, 8, 11, 0.125), pattern(6, 7, 11, 11, 0.125),
        pattern(6, 7, 14, 11, 0.125), pattern(12, 5, 2, 9, 0.25), first, pattern(8, 4, 1, 7, 0.5) },
        .held = { zero, zero, zero, zero, zero, zero }, .tolerance = 1e-10);
    judge_cases(&cell, (const struct judge_case[]){ CASE("the cell, 4 numbers", { 4 }), CASE("the cell, 1 number", { 1 }),
                                                    { NULL } });
    judge_cases(&back, (const struct judge_case[]){ CASE("the cell's backward, 4 numbers", { 4 }),
                                                    CASE("the cell's backward, 1 number", { 1 }), { NULL } });
    judge_cases(&time_, (const struct judge_case[]){
        CASE("through time: one step", { 2, 2, 1, 3, 3, 2 }, .held = { zero, zero, zero, zero, zero, zero }),
        CASE("through time: four steps", { 3, 3, 4, 5, 3, 5 }, .held = { zero, zero, zero, zero, zero, zero }),
        CASE("the gradients had other uses before", { 3, 3, 4, 5, 3, 5 }),
        CASE("a state of one number", { 1, 1, 3, 1, 3, 4 }), { NULL } });
    judge_case(&time_, torch);
}
