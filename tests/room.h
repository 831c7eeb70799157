/* room: tapes and models whose memory ends after so many lines of 64 bytes, so that a test may let it end at
 * each of the pieces that something takes. Where no call can be made to fail (see fault.h) there is no room
 * at all. */
#ifndef TESTS_ROOM_H
#define TESTS_ROOM_H

#include "../core/op.h"

size_t room_of(gra_tape *t);            /* how many lines a step of t has before it asks for more */

/* gra_begin with so many of them taken, at most room_of, and no more to be had until fault_disarm. */
void room_begin(gra_tape *t, gra_mode mode, gra_rng *rng, size_t taken);

/* A new model with so many lines left, and the same; NULL: it would have more from the beginning. It has one
 * parameter, "first" (2, 3), so that its lists are made. */
gra_model *room_model(gra_rng *rng, size_t lines);

#endif
