/* 37 gru: the judge. */
#include "answer.h"

CALLS(forward, gru_cell(c->in[0], c->in[1], c->in[2], c->out[0], c->out[1], c->size[0]))
CALLS(cell_backward, gru_cell_backward(c->in[0], c->in[1], c->in[2], c->in[3], c->out[0], c->out[1],
      c->out[2], c->size[0]))

static const struct judge_answer cell = {
    .sizes = { "i hidden", "g three" }, .telling = { 5, 3 }, .call = forward,
    .in = { "gi[g,i]", "gh[g,i]", "h[i]" }, .out = { "gates[g,i]", "next[i]" }, .lines =
        "gi_r[i] = gi[0,i]\ngi_z[i] = gi[1,i]\ngi_n[i] = gi[2,i]\n"
        "gh_r[i] = gh[0,i]\ngh_z[i] = gh[1,i]\ngh_n[i] = gh[2,i]\n"
        "r[i] = sigmoid(gi_r[i] + gh_r[i])\n"
        "z[i] = sigmoid(gi_z[i] + gh_z[i])\n"
        "n[i] = tanh(gi_n[i] + r[i] * gh_n[i])\n"
        "gates[g,i] = [g = 0] ? r[i] : [g = 1] ? z[i] : n[i]\n\n"
        "next[i] = (1 - z[i]) * n[i] + z[i] * h[i]\n", .special = {
        { "r and z are exchanged: r comes first", "gates[g,i] = [g = 0] ? z[i] : [g = 1] ? r[i] : n[i]" },
        { "r multiplies h in n, as in the paper: multiply gh_n by it here",
          "n[i] = tanh(gi_n[i] + gh_n[i] * h[i] * r[i])" },
        { "z and 1 - z are exchanged: z is how much of h is kept",
          "next[i] = z[i] * n[i] + (1 - z[i]) * h[i]" } } };

static const struct judge_answer back = {
    .sizes = { "i hidden", "g three" }, .telling = { 5, 3 }, .call = cell_backward,
    .in = { "gates[g,i] in 0.1..0.9", "gh[g,i]", "h[i]", "dnext[i]" },
    .out = { "dgi[g,i]", "dgh[g,i]", "dh[i]" }, .lines =
        "r[i] = gates[0,i]\nz[i] = gates[1,i]\nn[i] = gates[2,i]\ngh_n[i] = gh[2,i]\n"
        "dgi_n[i] = dnext[i] * (1 - z[i]) * (1 - n[i]^2)\n"
        "dgi_r[i] = dgi_n[i] * gh_n[i] * r[i] * (1 - r[i])\n"
        "dgi_z[i] = dnext[i] * (h[i] - n[i]) * z[i] * (1 - z[i])\n"
        "dgi[g,i] = [g = 0] ? dgi_r[i] : [g = 1] ? dgi_z[i] : dgi_n[i]\n"
        "dh[i] = dnext[i] * z[i]\n\n"
        "dgh[g,i] = [g = 2] ? dgi_n[i] * r[i] : dgi[g,i]\n", .special = {
        { "the slope of tanh is computed as 1 - tanh(n)^2: use 1 - n^2, as n is tanh(...) already",
          "dgi_n[i] = dnext[i] * (1 - z[i]) * (1 - tanh(n[i])^2)" } } };

static void through_time(const struct judge_call *c)
{
    double *const *in = c->in, *const *out = c->out;
    const struct gru g = { c->size[3], c->size[0], in[0], in[1], in[2], in[3] };
    gru_backward(&g, in[4], in[9], in[8], in[7], in[6],
                 &(struct gru_gradients){ out[3], out[4], out[0], out[1], out[2], out[5] }, c->size[2]);
}

static const struct judge_answer time_ = {
    .sizes = { "i hidden", "j hidden", "t time", "e in", "g three", "s states" },
    .telling = { 2, 2, 4, 6, 3, 5 }, .call = through_time,
    .in = { "w_ih[g,i,e] in -1..1", "w_hh[g,i,j] in -1..1", "b_ih[g,i]", "b_hh[g,i]", "x[t,e]", "first[i]",
            "dy[t,i]", "gh[t,g,i] =", "gates[t,g,i] =", "h[s,i] =" },
    .out = { "db_ih[g,i] +=", "db_hh[g,i] +=", "dx[t,e] +=", "dw_ih[g,i,e] +=", "dw_hh[g,i,j] +=",
             "dh0[i] +=" }, .lines =
        "gi[t,g,i] = b_ih[g,i] + sum(e, w_ih[g,i,e] * x[t,e])\n"
        "gh[t,g,i] = b_hh[g,i] + sum(j, w_hh[g,i,j] * h[t,j])\n"
        "r[t,i] = sigmoid(gi[t,0,i] + gh[t,0,i])\nz[t,i] = sigmoid(gi[t,1,i] + gh[t,1,i])\n"
        "n[t,i] = tanh(gi[t,2,i] + r[t,i] * gh[t,2,i])\n"
        "gates[t,g,i] = [g = 0] ? r[t,i] : [g = 1] ? z[t,i] : n[t,i]\n"
        "h[s,i] = [s = 0] ? first[i] : (1 - z[s - 1,i]) * n[s - 1,i] + z[s - 1,i] * h[s - 1,i]\n"
        "a[t,i] = dnext[t,i] * (1 - z[t,i]) * (1 - n[t,i]^2)\n"
        "dgi[t,g,i] = [g = 0] ? a[t,i] * gh[t,2,i] * r[t,i] * (1 - r[t,i])"
        " : [g = 1] ? dnext[t,i] * (h[t,i] - n[t,i]) * z[t,i] * (1 - z[t,i]) : a[t,i]\n"
        "dgh[t,g,i] = [g = 2] ? dgi[t,g,i] * r[t,i] : dgi[t,g,i]\n\n"
        "dnext[t,i] = dy[t,i] + dh[t + 1,i]                   # dnext\n"
        "past[t,i] = sum(g, sum(j, dgh[t,g,j] * w_hh[g,j,i])) # the gradient through gh\n"
        "dh[s,i] = [s = time] ? 0 : dnext[s,i] * z[s,i] + past[s,i]\n"
        "db_ih[g,i] = db_ih0[g,i] + sum(t, dgi[t,g,i])\n"
        "db_hh[g,i] = db_hh0[g,i] + sum(t, dgh[t,g,i])\n"
        "dx[t,e] = dx0[t,e] + sum(g, sum(i, dgi[t,g,i] * w_ih[g,i,e]))\n"
        "dw_ih[g,i,e] = dw_ih0[g,i,e] + sum(t, dgi[t,g,i] * x[t,e])\n"
        "dw_hh[g,i,j] = dw_hh0[g,i,j] + sum(t, dgh[t,g,i] * h[t,j])\n"
        "dh0[i] = dh00[i] + dh[0,i]\n", .special = {
        { "the dh of all later steps are added up: dh should be that of the next step alone",
          "dh[s,i] = [s = time] ? 0 : dnext[s,i] * z[s,i] + past[s,i] + dh[s + 1,i]" } } };

void judge_exercise(void)
{
    static const double zero[90];
#define NONE_HELD .held = { zero, zero, zero, zero, zero, zero }
    CASES(&cell, CASE("the cell, 4 numbers", { 4, 3 }), CASE("the cell, 1 number", { 1, 3 }));
    CASES(&back, CASE("the cell's backward, 4 numbers", { 4, 3 }));
    CASES(&time_,
        CASE("through time: one step", { 2, 2, 1, 3, 3, 2 }, NONE_HELD),
        CASE("through time: four steps", { 3, 3, 4, 5, 3, 5 }, NONE_HELD),
        CASE("the gradients had other uses before", { 3, 3, 4, 5, 3, 5 }),
        CASE("a state of one number", { 1, 1, 3, 1, 3, 4 }));
}
