/* judge.h: with what the judge of an exercise compares, and says what is wrong.
 *
 * Each NN_name.c in this folder is the judge of one exercise: judge_exercise() looks at one part after the
 * other and returns when all are right. It is linked with the answer and runs as a process of its own, which
 * the runner (../runner) starts and watches: the answer may crash, print or never end. */
#ifndef EXERCISES_JUDGE_H
#define EXERCISES_JUDGE_H

#include "../exercises.h"

/* What an exercise's judge defines. */
void judge_exercise(void);

/* What comes next is about ("softmax of logits of 1e4"): shown with a tick when it was right, and named when
 * the answer crashes or does not end there. */
void judge_part(const char *format, ...) GRA_PRINTF(1, 2);

/* Not solved: the finding, in a sentence or two. Ends the process. */
_Noreturn void judge_wrong(const char *format, ...) GRA_PRINTF(1, 2);

/* Numbers that must agree: |got - want| <= tolerance * max(1, largest |want|). If they do not, the finding
 * says where, and what they have in common with the right ones (a factor, a sign, a transpose, ...). */
void judge_numbers(const char *name, gra_shape shape, const double *got, const double *want,
                   double tolerance);

/* Numbers that must be those of a reference, which writes them to out. It contains the known mistakes too:
 * each is a slip("what is wrong"), which is true in the run in which that mistake is tried, and which
 * registers itself at its first evaluation; the same sentence at two places is one mistake. First the
 * reference runs plainly; if the numbers got are others, it runs with each slip, then with each two. The
 * finding is the first slip whose numbers were got, else what judge_numbers says.
 *
 *     static void reference(double *out, void *arg)
 *     {
 *         const struct square *s = arg;
 *         const double power = slip("x is not squared") ? 1 : slip("this is x^3: it should be x^2") ? 3 : 2;
 *         for (int i = 0; i < s->n; i++)
 *             out[i] = pow(s->x[i], power) * (slip("the sign is wrong") ? -1 : 1);
 *     }
 *     judge_against("y", GRA_SHAPE(n), y, 1e-12, reference, &s);
 *
 * Of two slips that fit the one that was evaluated first is said. So no two slips may be arguments of one
 * call or operands of one +, whose order C leaves open; ?:, && and || have one. JUDGE_ANY in out is what
 * comes of memory past the end of an array, and fits what is far off. */
#define JUDGE_ANY (-987654322.5)
typedef void judge_reference(double *out, void *arg);
void judge_against(const char *name, gra_shape shape, const double *got, double tolerance,
                   judge_reference *reference, void *arg);
bool slip(const char *says);
bool slip_of(const char *format, ...) GRA_PRINTF(1, 2);

/* Only the sentence of the slip whose numbers were got, or NULL: no finding. */
const char *judge_slip(gra_shape shape, const double *got, double tolerance, judge_reference *reference,
                       void *arg);

/* What is said of the next comparison if nothing else explains it. The first clue remains. */
void judge_clue(const char *format, ...) GRA_PRINTF(1, 2);

/* got = a x + b y for one a and one b, for all n numbers? So a wrong factor of any size is told. */
bool judge_combination(const double *got, const double *x, const double *y, size_t n, double *a, double *b);

/* Memory for an answer to write its n numbers to. Each is JUDGE_UNWRITTEN, so that one that it leaves out is
 * told from one that is wrong; behind the last are guards of another value (judge_guarded: the answer wrote
 * past the end, so it is wrong; a result made of one is told as read from there). Never freed: the process
 * ends soon. */
#define JUDGE_UNWRITTEN (-987654321.0)
double *judge_room(size_t n);
void    judge_guarded(const char *name, const double *room, size_t n);

/* What the answer was given to read must be as it was. */
void    judge_unchanged(const char *name, const double *now, const double *before, size_t n);

/* n numbers in [low, high], always the same for a seed, spread so that no two are alike. */
double *judge_draw(uint64_t seed, size_t n, double low, double high);

/* A tape that keeps going after an error, of one thread, whose memory is JUDGE_UNWRITTEN at first.
 * judge_tensor: what an answer returned must be a tensor of this tape without an error, and of this shape;
 * else the finding says so. Returns its values. */
gra_tape     *judge_tape(gra_mode mode, gra_rng *rng);
const double *judge_tensor(gra_tape *t, const char *name, const gra_tensor *y, gra_shape shape);

/* Such a tape, and a model on it that keeps going too; their generator begins with the seed. */
gra_model *judge_open(gra_tape **t, gra_mode mode, uint64_t seed);
void       judge_close(gra_tape *t, gra_model *m);

/* Of exercises that ask for an op. judge_made_by: y was made by the answer's op of this name, not by the library's
 * own. judge_backward: the gradients of a loss for which y's gradient is dy (y->size numbers); before y's backward
 * runs, each number of the gradients of the nx tensors x is `before`, from another use of x. */
void judge_made_by(const gra_tensor *y, const char *op);
void judge_backward(gra_tape *t, gra_tensor *y, const double *dy, int nx, gra_tensor *const *x,
                    double before);

/* y was made without the library's op of this name: that is what the exercise asks for. */
void judge_without(const gra_tensor *y, const char *op);

/* The parameters that an answer's init should have made: names, shapes and order. held: the answer's own
 * pointer to it, or NULL. */
struct judge_param {
    const char       *name;
    gra_shape         shape;
    const gra_tensor *held;
};
void judge_params(const gra_model *m, int n, const struct judge_param *expected);

/* gra_check of f: where gradients are wrong its report is the finding. m and rng may be NULL. */
void judge_gradients(gra_mode mode, gra_rng *rng, gra_model *m, int nin, const gra_check_in *in,
                     gra_check_fn *f, void *arg);

#endif
