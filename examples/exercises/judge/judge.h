/* judge.h: how the judge of an exercise compares numbers, and says what is wrong.
 *
 * Each NN_name.c in this folder is the judge of one exercise: judge_exercise() checks one part after another
 * and returns when all are right. The judge is linked with the answer and runs in a process that the runner
 * (../runner) starts and watches: the answer may crash, print or never end. */
#ifndef EXERCISES_JUDGE_H
#define EXERCISES_JUDGE_H

#include "../exercises.h"

/* What an exercise's judge defines. */
void judge_exercise(void);

/* Names the part that is judged next ("scores of 1e4"): the part is shown with a tick if it is right, and is
 * named if the answer crashes or does not end there. */
void judge_part(const char *format, ...) GRA_PRINTF(1, 2);

/* Reports that the answer is wrong, with the finding in a sentence or two, and ends the process. */
_Noreturn void judge_wrong(const char *format, ...) GRA_PRINTF(1, 2);

/* Numbers that must agree: |got - want| <= tolerance * max(1, largest |want|). If they do not, the finding
 * says where, and how they are related to the right numbers (by a factor, a sign, ...). */
void judge_numbers(const char *name, gra_shape shape, const double *got, const double *want,
                   double tolerance);

/* The precision for %.*g with which the two numbers print differently: 6 digits, or as many as it takes. */
int judge_digits(double got, double want);

/* What the next comparison says if nothing else explains it. The first clue is kept. */
void judge_clue(const char *format, ...) GRA_PRINTF(1, 2);

/* Memory for n numbers of an answer. Each number is JUDGE_UNWRITTEN at first: a number that is never written
 * then differs from a wrong one. After the last number come guards of a different value: judge_guarded
 * reports an answer that wrote there, and a result made from a guard is reported too. Never freed: the
 * process ends soon. */
#define JUDGE_UNWRITTEN (-987654321.0)
double *judge_room(size_t n);
void    judge_guarded(const char *name, const double *room, size_t n);

/* A copy of n ids (tokens, targets) for an answer, never freed. After the last id come zeros, so that an
 * answer that reads past the end does the same in each run. */
int *judge_ids(const int *ids, size_t n);

/* Memory that the answer may only read must be unchanged. */
void    judge_unchanged(const char *name, const double *now, const double *before, size_t n);

/* n random numbers in [low, high], always the same for a seed. */
double *judge_draw(uint64_t seed, size_t n, double low, double high);

/* A tape with one thread that keeps going after an error, and whose memory is JUDGE_UNWRITTEN at first.
 * judge_tensor: an answer must have returned a tensor of this tape, without an error, and of this shape;
 * otherwise the finding says so. Returns its values. */
gra_tape     *judge_tape(gra_mode mode, gra_rng *rng);
const double *judge_tensor(gra_tape *t, const char *name, const gra_tensor *y, gra_shape shape);

/* A tape like judge_tape's, and a model on it that keeps going too. Their generator starts from the seed. */
gra_model *judge_open(gra_tape **t, gra_mode mode, uint64_t seed);
void       judge_close(gra_tape *t, gra_model *m);

/* For exercises that ask for an op. judge_made_by: y must be made by the answer's op of this name, not by the
 * library's op. judge_backward computes the gradients of a loss for which y's gradient is dy (y->size
 * numbers); when y's backward runs, the gradients of the nx tensors x hold `before`, from an earlier use. */
void judge_made_by(const gra_tensor *y, const char *op);
void judge_backward(gra_tape *t, gra_tensor *y, const double *dy, int nx, gra_tensor *const *x,
                    double before);

/* y must be made without the library's op of this name, which the exercise asks for. */
void judge_without(const gra_tensor *y, const char *op);

/* The parameters that an answer's init must make: names, shapes and order. held: the answer's own pointer to
 * the parameter, or NULL. */
struct judge_param {
    const char       *name;
    gra_shape         shape;
    const gra_tensor *held;
};
void judge_params(const gra_model *m, int n, const struct judge_param *expected);

/* gra_check of f: if gradients are wrong, its report is the finding. m and rng may be NULL. */
void judge_gradients(gra_mode mode, gra_rng *rng, gra_model *m, int nin, const gra_check_in *in,
                     gra_check_fn *f, void *arg);

#endif
