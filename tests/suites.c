/* suites: see suites.h. */
#include "suites.h"

#include <string.h>

#define SUITE(name) { #name, name##_suite }
const struct suite suites[] = {
    SUITE(tests), SUITE(random), SUITE(shape), SUITE(print), SUITE(tape), SUITE(threads), SUITE(memory),
    SUITE(model), SUITE(check), SUITE(slips), SUITE(verdicts), SUITE(ops), SUITE(large), SUITE(answers),
    SUITE(refusals), SUITE(mutants), SUITE(attention), SUITE(golden), SUITE(layers), SUITE(seeds),
    SUITE(layer_errors), SUITE(book), SUITE(cache), SUITE(trace), SUITE(view), SUITE(optim),
    SUITE(save), SUITE(load), SUITE(npy), SUITE(import), SUITE(faults),
    { NULL, NULL },
};

bool suite_known(const char *name)
{
    for (int i = 0; suites[i].name; i++)
        if (strcmp(suites[i].name, name) == 0)
            return true;
    return false;
}

void list_suites(FILE *f)
{
    for (int i = 0, column = 80; suites[i].name; i++) {
        const int width = (int)strlen(suites[i].name) + 1;
        if (column + width > 76) {
            fputs("\n   ", f);
            column = 3;
        }
        fprintf(f, " %s", suites[i].name);
        column += width;
    }
    fputc('\n', f);
}
