/* milestone: the programs of ../milestones, which train what the learner has written. */
#ifndef RUNNER_MILESTONE_H
#define RUNNER_MILESTONE_H

#include "solved.h"

/* Writes a sentence that offers a milestone if exercise `at` belongs to it and all its exercises are solved;
 * otherwise "". Of several milestones it offers the last. */
void milestone_offer(char *text, size_t room, const struct progress *p, const struct ladder *l, int at);

#endif
