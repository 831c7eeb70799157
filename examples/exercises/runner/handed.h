/* handed: the files that a student has handed in. */
#ifndef RUNNER_HANDED_H
#define RUNNER_HANDED_H

#include "ladder.h"

struct handed {
    int n;
    struct handed_file {
        char *path;                     /* in the student's folder */
        int   exercise;                 /* the exercise that it answers; -1: it is not judged */
        bool  renamed;                  /* as browsers rename it: "08_softmax (1).c" */
        char  why[200];                 /* why it is not judged */
    } *file;                            /* sorted by exercise, then by path */
};

/* Finds the answers in a folder at any depth, and the files of C and the links that cannot be judged. Where
 * the folder is a copy of gradus, gradus' own files are skipped. handed_free frees the result. */
void handed_find(struct handed *h, const struct ladder *l, const char *folder);
void handed_free(struct handed *h);

#endif
