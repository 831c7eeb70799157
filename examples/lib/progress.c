/* progress: what one sees while it trains. */
#include "progress.h"
#include "say.h"
#include <math.h>
#include <string.h>

void progress_begin(progress *p, const training *t)
{
    *p = (progress){ .quiet = t->o.quiet, .live = !t->o.quiet && say_to_terminal(), .steps = t->o.steps, .from = t->step,
                     .begun = seconds_now(), .val = (double)NAN };
}

static char *as_clock(double seconds, char text[24])
{
    const long s = (long)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, 24, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(text, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

char *progress_clock(const progress *p, char text[24])
{
    return as_clock(seconds_now() - p->begun, text);
}

static void live_line(progress *p, long step)
{
    char text[160], passed[24], left[24], val[16] = "-";
    const double seconds = seconds_now() - p->begun;
    if (!isnan(p->val))
        snprintf(val, sizeof val, "%.3f", p->val);
    snprintf(text, sizeof text, "step %ld/%ld  loss %.3f  val %s  %.0f tokens/s  %s, %s left", step, p->steps,
             p->loss / p->weight, val, p->rate / p->weight, as_clock(seconds, passed),
             as_clock(seconds / (double)(step - p->from) * (double)(p->steps - step), left));
    say("\r%.*s\033[K", say_columns() - 3, text);       /* behind it fits the ^C that one types */
    p->shown = seconds_now();
}

void progress_step(progress *p, const run_row *row)
{
    const bool validated = !isnan(row->val_loss);
    char passed[24];
    p->loss += (row->train_loss - p->loss) / 10;        /* over about 10 steps, */
    p->rate += (row->tokens_per_s - p->rate) / 10;
    p->weight += (1 - p->weight) / 10;                  /* and divided by this a true mean from the first one on */
    if (validated)
        p->val = row->val_loss;
    if (p->live && (validated || seconds_now() - p->shown >= 0.1))
        live_line(p, row->step);
    else if (!p->live && !p->quiet && validated)
        say("step %*ld/%ld  loss %.3f  val %.3f  lr %.5f  %.0f tokens/s  %s\n", snprintf(NULL, 0, "%ld", p->steps),
            row->step, p->steps, p->loss / p->weight, row->val_loss, row->lr, p->rate / p->weight,
            progress_clock(p, passed));
}

void progress_end(const progress *p)
{
    if (p->live)
        say("\r\033[K");
}
