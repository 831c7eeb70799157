/* progress: see progress.h. */
#include "progress.h"
#include "clock.h"
#include "message.h"
#include <math.h>

void progress_begin(progress *p, const training *t)
{
    const double now = seconds_now();
    *p = (progress){ .first = t->step, .begun = now, .last_log = now };
}

char *progress_time(double seconds, char text[32])
{
    const long s = (long)(seconds + 0.5);
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

void progress_print(progress *p, const training *t, const run_row *row)
{
    const double now = seconds_now(),
        left = (now - p->begun) / (double)(row->step - p->first) * (double)(t->o.steps - row->step);
    char val[40] = "", text[32];
    /* Running means over about ten steps. The means start at 0, so they are divided by weight, the sum of the
     * factors so far. */
    p->loss += (row->train_loss - p->loss) / 10;
    p->rate += (row->tokens_per_s - p->rate) / 10;
    p->weight += (1 - p->weight) / 10;
    if (t->o.quiet || (isnan(row->val_loss) && now - p->last_log < 10))
        return;
    if (!isnan(row->val_loss))
        snprintf(val, sizeof val, "  val %.3f (%.2f bpb)", row->val_loss,
                 text_bits(&t->text, row->val_loss));
    say("step %*ld/%ld  loss %.3f%-22s  %.0f tokens/s  %s left\n", snprintf(NULL, 0, "%ld", t->o.steps),
        row->step, t->o.steps, p->loss / p->weight, val, p->rate / p->weight, progress_time(left, text));
    p->last_log = now;
}
