/* tried: replaces a judge's answer.c, and prints for each case the results of each mistake: the formula and
 * output, whether it is a special of the judge, a hash of its numbers, and the sentence. The right numbers
 * have no sentence. From these lines check.sh finds mistakes that no case reveals or distinguishes. */
#include "examples/exercises/judge/answer.h"

void plain_case(const struct judge_answer *a, struct judge_case c);
void plain_cases(const struct judge_answer *a, const struct judge_case *cases);
#define judge_case(a, c)      plain_case(a, c)
#define judge_cases(a, cases) plain_cases(a, cases)
#include "examples/exercises/judge/answer.c"
#undef judge_case
#undef judge_cases

static uint64_t hash_of(struct trial *k, int name)
{
    const size_t n = k->numbers.count[name];
    uint64_t hash = 14695981039346656037u;
    formula.now = &k->numbers;
    for (size_t i = 0; i < n; i++) {
        char text[40];
        const double x = formula_element(&formula, name, i);
        snprintf(text, sizeof text, "%.9e", fabs(x) < 1e-12 ? 0 : x);
        for (const char *c = text; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    }
    return hash;
}

static void print(const struct judge_answer *a, const char *name, const char *kind, struct trial *k, int of,
                  const char *says)
{
    fprintf(stderr, "%p %s\t%s\t%016llx\t%s\n", (const void *)a->lines, name, kind,
            (unsigned long long)hash_of(k, of), says);
}

static void try_each(const struct judge_answer *a, const struct judge_case *c, int which, bool gradient,
                     bool telling)
{
    static struct mistakes mistakes;
    const char *specials[MOST_SPECIALS + 1] = { NULL };
    const char *name = gradient ? name_in("d", a->in[which]) : name_in("", a->out[which]);
    const int of = formula_name(&formula, name);
    char copy[24], kind[4] = { telling ? 't' : 'c', 0 };
    if (of == NONE || formula.name[of].line == NONE)
        return;
    snprintf(copy, sizeof copy, "%s", name);
    struct trial *k = prepared(a, c);
    for (int s = 0; a->special[s].says; s++)
        specials[s] = a->special[s].says;
    formula.now = &k->numbers;
    print(a, copy, kind, k, of, "");
    is_output(of, which, gradient);
    make_mistakes(&formula, of, specials, &mistakes);
    for (int i = 0; i < mistakes.n; i++) {
        const struct mistake *m = &mistakes.all[i];
        if (m->unknown != NONE || m->rank > 1)
            continue;
        kind[1] = m->special ? 's' : 'r';
        mistake_turn(&formula, m, true);
        print(a, copy, kind, k, of, m->says);
        mistake_turn(&formula, m, false);
    }
    formula.name[of].right = true;
}

void judge_case(const struct judge_answer *a, struct judge_case c)
{
    struct judge_case telling = { .part = "telling", .low = c.low, .high = c.high };
    plain_case(a, c);
    memcpy(telling.size, a->telling, sizeof telling.size);
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < formula.names; i++)
            formula.name[i].right = false;
        for (int i = 0; a->out[i]; i++)
            try_each(a, t ? &telling : &c, i, false, t);
        for (int i = ins; i-- > 0 && a->f && (c.gradients || t);)
            try_each(a, t ? &telling : &c, i, true, t);
    }
}

void judge_cases(const struct judge_answer *a, const struct judge_case *cases)
{
    for (; cases->part; cases++)
        judge_case(a, *cases);
}
