/* ladder: the list of exercises, and their files in examples/exercises. */
#ifndef RUNNER_LADDER_H
#define RUNNER_LADDER_H

#include <stdbool.h>
#include <stddef.h>

#define LADDER_FOLDER "examples/exercises/"
enum { LADDER_MOST = 99, LADDER_PATH = 200 };

struct ladder {
    int n;
    struct exercise {
        char name[64];                  /* "08_softmax" */
        char title[100];                /* "08 softmax: from scores to probabilities" */
    } at[LADDER_MOST];
};

/* Reads the list, in order. 0; -1: there are none here. */
int ladder_read(struct ladder *l);

/* The index of the exercise "8", "08", "softmax" or "08_softmax"; -1: there is none. */
int ladder_find(const struct ladder *l, const char *which);

/* The learner's file. ladder_begin copies the start file there if there is no answer yet, ladder_reset in any
 * case. 0; -1 with errno. */
void ladder_answer(const struct exercise *e, char path[LADDER_PATH]);
int  ladder_begin(const struct exercise *e);
int  ladder_reset(const struct exercise *e);

/* Whether this folder has solutions: a handout has none. */
bool ladder_has_solutions(void);

/* Texts, which the caller frees; NULL: there is no such text. A hint, 1 or 2, is one long line. */
char *ladder_hint(const struct exercise *e, int number);
char *ladder_solution(const struct exercise *e);

#endif
