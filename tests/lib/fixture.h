/* fixture.h: objects that most suites open before each test and close after it: a tape of one thread, a
 * model, and the generator for its layers. Tape and model keep going after an error, so a test can compare
 * the sentence.
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
void another_model(void);               /* replaces `model` by an empty model */

const char *or_none(const char *error); /* "no error" for NULL */
void expect_error(const char *expected);        /* the tape's sentence, or "no error" */
void expect_model_error(const char *expected);  /* the model's */
void expect_part(const char *expected);         /* the tape's sentence contains these words */
void expect_model_part(const char *expected);   /* the model's does */

#endif
