/* fixture.h: what most suites open before each test and close after it: a tape of one thread, a model, and
 * the generator that its layers draw from. Both keep going after an error, so that a test can look at its
 * sentence.
 *
 *     CASE(name, open_all, close_all, "") */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "core/op.h"

extern gra_tape  *t;
extern gra_model *model;
extern gra_rng    rng;                  /* of seed 123 */

void open_all(void);
void close_all(void);
void another_model(void);               /* an empty one in the place of `model` */

const char *or_none(const char *error); /* "no error" for NULL */
void expect_error(const char *want);            /* of the tape: this sentence, or "no error" */
void expect_model_error(const char *want);      /* of the model */
void expect_part(const char *want);             /* the tape's sentence has these words */
void expect_model_part(const char *want);       /* the model's */

#endif
