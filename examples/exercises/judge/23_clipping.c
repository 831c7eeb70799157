/* 23 clipping: the judge. Each gradient is a row of g; row k has size[k] numbers that are the parameter's. */
#include "answer.h"
#include <string.h>

/* After the last parameter comes an array that is no parameter. */
static void call(const struct judge_call *c)
{
    const int count = c->size[0], room = c->size[1];
    double *g[8], *none = g[count] = judge_room(2);
    int size[8];
    for (int k = 0; k < count; k++) {
        size[k] = c->ids[0][k];
        g[k] = memcpy(judge_room((size_t)size[k]), c->out[1] + k * room, (size_t)size[k] * sizeof *none);
    }
    size[count] = 2;
    c->out[0][0] = clip_norm(g, size, count, c->in[1][0]);
    for (int k = 0; k <= count; k++)
        judge_guarded("a gradient", g[k], k < count ? (size_t)size[k] : 0);
    for (int k = 0; k < count; k++)
        memcpy(c->out[1] + k * room, g[k], (size_t)size[k] * sizeof *none);
}

static const struct judge_answer answer = {
    .sizes = { "k count", "i room" }, .telling = { 3, 5 }, .call = call,
    .in = { "int size[k] in 1..room-1", "max_norm in 1..2" }, .out = { "norm", "g[k,i] +=" }, .lines =
        "total = sum(k, sum(i, [i < size[k]] * g0[k,i]^2))   # the sum of squares\n"
        "norm = sqrt(total)\n\n"
        "factor = [norm > max_norm] ? max_norm / norm : 1\n"
        "g[k,i] = [i < size[k]] ? g0[k,i] * factor : g0[k,i]\n", .special = {
        { "the norms of the parameters are added: sum the squares of all, and take one root",
          "norm = sum(k, sqrt(sum(i, [i < size[k]] * g0[k,i]^2)))" },
        { "this is the norm after clipping: return the norm before", "norm = min(max_norm, sqrt(total))" },
        { "0 is returned where nothing is clipped: return the norm then too",
          "norm = [total > max_norm^2] ? sqrt(total) : 0" },
        { "each parameter was clipped by its own norm: use one norm, and one factor, for all",
          "g[k,i] = [i < size[k]] ? g0[k,i] * min(1, max_norm / sqrt(sum(i, [i < size[k]] * g0[k,i]^2))) : "
          "g0[k,i]" },
        { "each element was clipped to max_norm, which changes the direction: multiply all by one factor",
          "g[k,i] = [i < size[k]] ? max(-max_norm, min(max_norm, g0[k,i])) : g0[k,i]" },
        { "the sum of the squares was compared with max_norm: compare its root, the norm",
          "factor = [norm^2 > max_norm] ? max_norm / norm : 1" } } };

void judge_exercise(void)
{
    const double sizes[] = { 3, 8, 2, 6 }, empty[] = { 1, 0, 4 };
    const double two = 2, eight = 8, half = 0.5, zero[32] = { 0 };
    CASES(&answer,
        CASE("four parameters, a large gradient", { 4, 8 }, .in = { sizes, &two }, .low = -9, .high = 9,
             .tolerance = 2e-6, .apart = true),
        CASE("four parameters, a small gradient", { 4, 8 }, .in = { sizes, &two }, .low = -0.3, .high = 0.3),
        CASE("a norm of 5, and 8 allowed", { 4, 8 }, .in = { sizes, &eight }),
        CASE("a norm below 1, and 0.5 allowed", { 4, 8 }, .in = { sizes, &half }, .low = -0.3, .high = 0.3,
             .tolerance = 2e-6),
        CASE("a parameter without elements", { 3, 4 }, .in = { empty, &half }, .low = -5, .high = 5,
             .tolerance = 2e-6),
        CASE("a gradient of 0", { 4, 8 }, .in = { sizes, &two }, .held = { NULL, zero }));
}
