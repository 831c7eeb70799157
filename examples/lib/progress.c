/* progress: what one sees while it trains. */
#include "progress.h"
#include "say.h"
#include <math.h>
#include <string.h>

enum { BAR = 24 };

/* Into the curve and the running mean. */
static void count(progress *p, const run_row *row)
{
    curve_add(&p->curve, row->step, row->train_loss, row->val_loss);
    p->loss += (row->train_loss - p->loss) / 10;        /* over about 10 steps, */
    p->weight += (1 - p->weight) / 10;                  /* and from the first on a true mean */
    if (!isnan(row->val_loss))
        p->val = row->val_loss;
}

void progress_begin(progress *p, const options *o, const run_row *rows, long n)
{
    memset(p, 0, sizeof *p);
    p->quiet = o->quiet;
    p->live = !o->quiet && say_to_terminal();
    p->utf8 = p->live && say_utf8();
    p->steps = p->curve.steps = o->steps;
    p->begun = seconds_now();
    p->from = n;
    p->val = (double)NAN;
    for (long i = 0; i < n; i++)
        count(p, &rows[i]);
}

double progress_seconds(const progress *p)
{
    return seconds_now() - p->begun;
}

char *progress_clock(double seconds, char text[24])
{
    long s = (long)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, 24, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(text, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

static void bar(const progress *p, long step, int width, char *out)
{
    const char *done = p->utf8 ? "\xE2\x96\x88" : "#", *open = p->utf8 ? "\xE2\x96\x91" : ".";
    int full = (int)((double)step * width / (double)p->steps);
    *out = 0;
    for (int i = 0; i < width; i++)
        out += sprintf(out, "%s", i < full ? done : open);
}

static int live_line(progress *p, long step)
{
    char text[160], drawn[BAR * 3 + 1], passed[24], left[24], val[16] = "-";
    double seconds = progress_seconds(p);
    if (!isnan(p->val))
        snprintf(val, sizeof val, "%.3f", p->val);
    int n = snprintf(text, sizeof text, "%ld/%ld  loss %.3f  val %s  %.0f tok/s  %s, %s left", step, p->steps,
                     p->loss / p->weight, val, p->rate, progress_clock(seconds, passed),
                     progress_clock(seconds / (double)(step - p->from) * (double)(p->steps - step), left));
    const int room = say_columns() - 3;         /* behind it fits the ^C that one types */
    int width = room - n - 1 < BAR ? room - n - 1 : BAR;
    bar(p, step, width > 0 ? width : 0, drawn);
    p->shown = seconds_now();
    return say("\r%s %.*s\033[K", drawn, room - 1, text);
}

static int plain_line(const progress *p, const run_row *row)
{
    char passed[24];
    return say("step %*ld/%ld  loss %.3f  val %.3f  lr %.5f  %.0f tok/s  %s\n",
               (int)snprintf(NULL, 0, "%ld", p->steps), row->step, p->steps, p->loss / p->weight,
               row->val_loss, row->lr, p->rate, progress_clock(progress_seconds(p), passed));
}

int progress_step(progress *p, const run_row *row)
{
    count(p, row);
    p->rate = p->rate > 0 ? p->rate + (row->tokens_per_s - p->rate) / 20 : row->tokens_per_s;
    bool validated = !isnan(row->val_loss);
    if (p->quiet)
        return 0;
    if (p->live && (validated || seconds_now() - p->shown >= 0.1))
        return live_line(p, row->step);
    return !p->live && validated ? plain_line(p, row) : 0;
}

int progress_end(progress *p)
{
    if (!p->live)
        return 0;
    return say("\r\033[K") || curve_print(&p->curve, p->utf8) ? -1 : 0;
}
