/* page_run: see page_run.h. */
#include "page_run.h"
#include "../look/look.h"
#include "../look/look_model.h"
#include "../lib/row.h"
#include "../lib/sample.h"
#include "../lib/utf8.h"
#include "../lib/message.h"
#include "../lib/training.h"
#include "../lib/validation.h"
#include "broken.h"
#include "export.h"
#include "kept.h"
#include "memory_file.h"
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct page {                   /* all zeros: no run is open */
    training t;
    bool     open, failed;              /* failed: a step failed, and the parameters must not be used */
    int      broken;
    char    *flags, **word;             /* into which t.o points */
    run_row *row;                       /* of the steps so far */
    size_t   rows, told;                /* told: how many rows page_news has given */
    kept     kept;
    struct kept_state now;              /* of the current parameters; values: before the last step */
    out      text;                      /* what the functions return */
} page;
static page the;

/* ---- texts ------------------------------------------------------------------------------------------- */

static out *begin_text(void)
{
    out_clear(&the.text);
    return &the.text;
}

static char *end_text(out *o)
{
    char *text = out_end(o);
    return text ? text : (warn("out of memory"), NULL);
}

static bool is_open(void)
{
    return the.open || (warn("no run is open"), false);
}

/* ---- what a step measures: of each parameter, the norms of its gradient, update and values ------------- */

enum { GRAD, UPDATE, VALUES, MEASURES };

static size_t norms_of(const gra_model *m) { return MEASURES * (size_t)gra_param_count(m); }

static double square(const gra_real *x, const gra_real *y, size_t n)   /* |x - y|^2; y NULL: 0 */
{
    double sum = 0;
    for (size_t i = 0; i < n && x; i++) {
        const double v = y ? (double)x[i] - (double)y[i] : (double)x[i];
        sum += v * v;
    }
    return sum;
}

/* Before the update, or after it. */
static void measure(page *p, bool after)
{
    const gra_real *before = p->now.values;
    double *norms = p->now.norms;
    for (int i = 0; i < gra_param_count(p->t.model); i++, norms += MEASURES) {
        const gra_tensor *x = gra_param_at(p->t.model, i);
        if (!after)
            norms[GRAD] = square(x->grad, NULL, x->size);
        else {
            norms[UPDATE] = square(x->data, before, x->size);
            norms[VALUES] = square(before, NULL, x->size);
        }
        before += x->size;
    }
}

/* The model is not what a step made: it is new, or was loaded. */
static void forget_norms(page *p)
{
    for (size_t i = 0; i < norms_of(p->t.model); i++)
        p->now.norms[i] = (double)NAN;
    free(p->now.sample);
    p->now.sample = NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

static gra_tensor *forward(gra_tape *t, const struct gra_gpt *g, const int *ids, int rows, int time)
{
    return broken_forward(t, g, the.broken, ids, rows, time);
}

/* Divides the flags at blanks. Returns how many words there are, with the program's name, or -1. */
static int divide(page *p, const char *flags)
{
    int n = 1;
    p->flags = strdup(flags);
    p->word = calloc(strlen(flags) / 2 + 3, sizeof *p->word);
    if (!p->flags || !p->word)
        return warn("out of memory");
    p->word[0] = (char *)program_name;
    for (char *s = p->flags; *(s += strspn(s, " \t\n")); n++) {
        p->word[n] = s;
        s += strcspn(s, " \t\n");
        if (*s)
            *s++ = 0;
    }
    return n;
}

static int parse(page *p, const char *flags)
{
    options *o = &p->t.o;
    const int n = divide(p, flags);
    p->t = (training){ .o = options_default(), .best = HUGE_VAL,
                       .forward = p->broken ? forward : gra_gpt_forward };
    const int how = n < 0 ? 1 : options_parse(o, n, p->word);
    if (how != FLAGS_GO_ON)
        return how ? -1 : warn("--help: build/train --help lists the flags");
    if (o->from || o->resume || o->tokenizer || o->layout)
        return warn("--from, --resume, --tokenizer bpe and --layout huggingface need files, which a page "
                    "does not have");
    return options_complete(o);
}

static int make_model(page *p)
{
    training *t = &p->t;
    const gra_gpt_config config = options_model(&t->o, t->text.tokens.size);
    gra_gpt_init(&t->gpt, gra_root(t->model), &config);
    if (gra_model_error(t->model) || optimizer_init(&t->optimizer, &t->o, t->model))
        return warn("%s", gra_model_error(t->model));
    broken_init(t->model, &t->rng, p->broken);
    p->now.values = kept_copy(t->model, NULL);
    p->now.norms = malloc(norms_of(t->model) * sizeof *p->now.norms);
    if (!p->now.values || !p->now.norms)
        return warn("out of memory");
    forget_norms(p);
    kept_add(&p->kept, t->model, 0, p->now.norms, norms_of(t->model));
    return 0;
}

static int open_run(page *p, const char *flags, const char *text, int n)
{
    if (parse(p, flags))
        return -1;
    char *bytes = malloc((size_t)n + 1);
    if (!bytes)
        return warn("out of memory");
    memcpy(bytes, text, (size_t)n);
    return text_take(&p->t.text, &p->t.o, bytes, (size_t)n) || training_begin(&p->t, 1) || make_model(p);
}

static void close_run(page *p)
{
    training_close(&p->t);
    kept_free(&p->kept);
    free(p->flags);
    free(p->word);
    free(p->row);
    free(p->now.values);
    free(p->now.norms);
    free(p->now.sample);
    free(p->text.bytes);
    *p = (page){ 0 };
}

PAGE_EXPORT(run_open) int page_open(const char *flags, const char *text, int n, int broken)
{
    page *p = &the;
    close_run(p);
    p->broken = broken;
    p->open = open_run(p, flags, text, n) == 0;
    if (!p->open)
        close_run(p);
    return p->open ? 0 : -1;
}

/* ---- training ---------------------------------------------------------------------------------------- */

static int add_row(page *p, const run_row *row)
{
    run_row *more = one_more(p->row, p->rows, sizeof *more);
    if (!more)
        return warn("out of memory");
    p->row = more;
    p->row[p->rows++] = *row;
    return 0;
}

/* A step of train's loop, which is measured if it is the last of a slice, or may be kept. 0, or -1 after a
 * warning. */
static int step(page *p, bool last)
{
    training *t = &p->t;
    const bool measures = last || p->kept.distance == 0 || (t->step + 1) % p->kept.distance == 0;
    run_row row = { .step = ++t->step, .tokens_per_s = (double)NAN };
    p->now.step = t->step;
    free(p->now.sample);
    p->now.sample = NULL;
    training_draw(t, &t->rng);
    row.train_loss = training_backward(t, &t->rng, t->o.accumulate);
    if (measures) {
        measure(p, false);
        kept_copy(t->model, p->now.values);
    }
    if (training_update(t, &row))
        return -1;
    if (measures)
        measure(p, true);
    if (validation_of_step(t, &row))
        return -1;
    kept_add(&p->kept, t->model, t->step, p->now.norms, norms_of(t->model));
    return add_row(p, &row);
}

PAGE_EXPORT(run_train) int page_train(int steps)
{
    page *p = &the;
    int n = 0;
    if (!is_open())
        return -1;
    for (; n < steps && !training_ended(&p->t) && !p->failed; n++)
        p->failed = step(p, n + 1 == steps || p->t.step + 1 == p->t.o.steps) != 0;
    return p->failed ? -1 : n;
}

PAGE_EXPORT(run_change) int page_change(double lr, int rows)
{
    training *t = &the.t;
    if (!is_open())
        return -1;
    if (!(lr > 0) || rows < 1)
        return warn("--lr or --batch: got %g and %d, expected more than 0", lr, rows);
    t->o.min_lr *= lr / t->o.lr;
    t->o.lr = lr;
    t->o.batch = rows;
    batch_close(t->batch);
    return batch_open(t->batch, rows, (int)t->o.context);
}

/* ---- news -------------------------------------------------------------------------------------------- */

static void write_row(out *o, const run_row *row)
{
    const double number[] = { row->train_loss, row->val_loss, row->grad_norm, row->lr };
    out_format(o, "[%ld", row->step);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        out_comma(o);
        out_number(o, number[i], 9);
    }
    out_text(o, "]");
}

/* How long a parameter's layer is: "trf_blocks.0" of "trf_blocks.0.att.W_query.weight". */
static size_t layer_of(const char *name)
{
    const size_t n = strcspn(name, ".");
    return name[n] && isdigit((unsigned char)name[n + 1]) ? n + 1 + strcspn(name + n + 1, ".") : n;
}

/* The parameters of a layer follow each other. */
static void write_norms(out *o, const gra_model *m, const double *norms)
{
    for (int i = 0, next; i < gra_param_count(m); i = next) {
        const char *name = gra_param_at(m, i)->name;
        const size_t n = layer_of(name);
        double sum[MEASURES] = { 0 };
        for (next = i; next < gra_param_count(m) && layer_of(gra_param_at(m, next)->name) == n &&
                       strncmp(gra_param_at(m, next)->name, name, n) == 0; next++)
            for (int k = 0; k < MEASURES; k++)
                sum[k] += norms[MEASURES * next + k];
        out_comma(o);
        out_text(o, "{\"name\":");
        out_string(o, name, n);
        out_key(o, "grad");
        out_number(o, sqrt(sum[GRAD]), 9);
        out_key(o, "ratio");
        out_number(o, sqrt(sum[UPDATE] / sum[VALUES]), 9);
        out_text(o, "}");
    }
}

PAGE_EXPORT(run_news) char *page_news(void)
{
    page *p = &the;
    out *o = begin_text();
    if (!is_open())
        return NULL;
    out_format(o, "{\"step\":%zu,\"steps\":%ld,\"rows\":[", p->rows, p->t.o.steps);
    for (size_t first = p->told; p->told < p->rows; p->told++) {
        out_text(o, p->told > first ? ",\n" : "");
        write_row(o, &p->row[p->told]);
    }
    out_text(o, "],\n\"kept\":[");
    for (int i = 0; i < p->kept.n; i++)
        out_format(o, i ? ",%ld" : "%ld", p->kept.state[i].step);
    if (p->kept.n == 0 || p->kept.state[p->kept.n - 1].step < p->t.step)
        out_format(o, p->kept.n ? ",%ld" : "%ld", p->t.step);
    out_format(o, "],\n\"vocab\":%d,\"parameters\":%zu}", p->t.text.tokens.size,
               gra_param_values(p->t.model));
    return end_text(o);
}

/* ---- look -------------------------------------------------------------------------------------------- */

/* The prompt's tokens, with --lines after the end token. Returns how many, or -1 after a warning. */
static int read_prompt(const training *t, const char *prompt, size_t n, int *ids)
{
    const int used = (int)tokenizer_prompt(&t->text.tokens, prompt, n, t->o.lines, ids);
    if (used < 0 || used > 1)
        return used;
    return warn("got %d token%s, expected 2 or more: the loss is for predicting each from those before it",
                used, used == 1 ? "" : "s");
}

/* With the parameters that the model has now. */
static void look(page *p, out *o, long at, const int *ids, int n)
{
    training *t = &p->t;
    look_model shown = { .tape = t->tape, .gpt = &t->gpt, .forward = t->forward, .tokens = &t->text.tokens,
                         .ids = ids, .n = n };
    const int failed = model_last(&shown, t->model, at);
    gra_keep_grads(t->tape, false);
    if (failed)
        out_text(o, "null");
    else
        look_json(o, t->tape, &(look_more){ .model = model_json, .arg = &shown });
    model_free(&shown);
}

static void write_moment(page *p, out *o, struct kept_state *m, const int *ids, int n)
{
    out_format(o, "{\"step\":%ld,\"norms\":[", m->step);
    write_norms(o, p->t.model, m->norms);
    if (!m->sample)
        m->sample = training_sample(&p->t, &m->sample_size);
    out_text(o, "],\n\"sample\":");
    out_string(o, m->sample ? m->sample : "", m->sample ? m->sample_size : 0);
    out_text(o, ",\n\"page\":");
    if (n >= 2)
        look(p, o, m->step, ids, n);
    else
        out_text(o, "null");
    out_text(o, "}");
}

/* The moment nearest to a step; the model has that moment's parameters until come_back. NULL: out of memory.
 * now: a copy of the model's current parameters, or NULL. */
static struct kept_state *go_to(page *p, long at, gra_real **now)
{
    struct kept_state *then = kept_near(&p->kept, at);
    *now = NULL;
    if (!then || labs(p->t.step - at) <= labs(then->step - at))
        return &p->now;
    if (!(*now = kept_copy(p->t.model, NULL)))
        return warn("out of memory"), NULL;
    kept_restore(p->t.model, then->values);
    return then;
}

static void come_back(page *p, gra_real *now)
{
    if (now)
        kept_restore(p->t.model, now);
    free(now);
}

PAGE_EXPORT(run_look) char *page_look(int step, const char *prompt)
{
    page *p = &the;
    gra_real *now;
    if (!is_open())
        return NULL;
    out *o = begin_text();
    const size_t n = strlen(prompt);
    int *ids = calloc(n + 2, sizeof *ids);
    struct kept_state *m = ids ? go_to(p, step, &now) : NULL;
    if (m) {
        const int used = read_prompt(&p->t, prompt, n, ids), most = p->t.gpt.config.context_length;
        write_moment(p, o, m, used > most ? ids + used - most : ids, used > most ? most : used);
        come_back(p, now);
    }
    free(ids);
    return m ? end_text(o) : NULL;
}

/* ---- writing on -------------------------------------------------------------------------------------- */

/* ids: a prompt of n tokens, and room for `more` behind them. 0 or -1 */
static int write_on(out *o, sampler *s, const tokenizer *k, int *ids, int n, int more)
{
    gra_real *p = calloc((size_t)k->size, sizeof *p);
    size_t size = 0;
    sample_see(s, ids, (size_t)n);
    int failed = p ? sample_shares(s, p) < 0 : -1;
    out_text(o, "{\"next\":[");
    if (!failed)
        model_likeliest(o, &(look_model){ .tokens = k }, p, k->size);
    free(p);
    for (int i = 0; i < more && !failed; i++)
        failed = (ids[n + i] = sample_next(s)) < 0;
    char *text = failed ? NULL : tokenizer_decode(k, ids + n, (size_t)more, &size);
    out_text(o, "],\"text\":");
    out_string(o, text ? text : "", text ? size - utf8_unfinished(text, size) : 0);
    out_text(o, "}");
    free(text);
    return text ? 0 : -1;
}

PAGE_EXPORT(run_write) char *page_write(int step, const char *prompt, int more, double temperature, int top_k,
                                        double top_p, int seed)
{
    page *p = &the;
    training *t = &p->t;
    gra_real *now = NULL;
    if (!is_open())
        return NULL;
    out *o = begin_text();
    const size_t n = strlen(prompt);
    int *ids = calloc(n + (size_t)more + 2, sizeof *ids), failed = -1;
    const int used = ids ? (int)tokenizer_prompt(&t->text.tokens, prompt, n, t->o.lines || n == 0, ids) : -1;
    sampler s = { .tape = t->tape, .gpt = &t->gpt, .forward = t->forward, .tokens = t->text.tokens.size,
                  .context = (int)t->o.context, .temperature = temperature, .top_k = top_k, .top_p = top_p,
                  .ids = t->batch->ids };
    gra_manual_seed(&s.rng, (uint64_t)seed);
    if (used > 0 && go_to(p, step, &now))
        failed = write_on(o, &s, &t->text.tokens, ids, used, more);
    come_back(p, now);
    free(ids);
    if (failed && gra_error(t->tape))
        warn("%s", gra_error(t->tape));
    return failed ? NULL : end_text(o);
}

/* ---- files ------------------------------------------------------------------------------------------- */

PAGE_EXPORT(run_loss_tsv) char *page_loss_tsv(void)
{
    page *p = &the;
    char line[ROW_TEXT];
    out *o = begin_text();
    if (!is_open())
        return NULL;
    out_text(o, ROW_COLUMNS);
    for (const run_row *row = p->row; row < p->row + p->rows; row++)
        out_bytes(o, line, (size_t)row_text(row, &p->t.text, line));
    return end_text(o);
}

PAGE_EXPORT(run_vocab_tsv) char *page_vocab_tsv(void)
{
    static char text[TOKENIZER_VOCAB];
    if (!is_open())
        return NULL;
    tokenizer_vocab(&the.t.text.tokens, text);
    return text;
}

PAGE_EXPORT(run_save) unsigned char *page_save(void)
{
    gra_meta meta[TRAINING_META];
    char heads[24];
    if (!is_open())
        return NULL;
    const int n = training_meta(&the.t, meta, heads);
    if (gra_save(the.t.model, "the file", meta, n))
        return warn("%s", gra_model_error(the.t.model)), NULL;
    return (unsigned char *)memory_file_get()->bytes;
}

PAGE_EXPORT(run_saved_size) int page_saved_size(void)
{
    return (int)memory_file_get()->n;
}

/* The shapes of the parameters do not show the heads. */
static int check_heads(int heads)
{
    gra_file *f = gra_file_open("the file");
    const char *why = gra_file_error(f), *got = gra_file_meta(f, "n_heads");
    int failed = why ? warn("%s", why) : 0;
    if (!failed && got && atoi(got) != heads)
        failed = warn("the file: got a model of %.20s heads, expected %d", got, heads);
    gra_file_close(f);
    return failed;
}

PAGE_EXPORT(run_load) int page_load(const unsigned char *file, int n)
{
    training *t = &the.t;
    if (!is_open())
        return -1;
    uint64_t header = UINT64_MAX;
    memcpy(&header, file, n < 8 ? 0 : 8);
    if (header > (uint64_t)n - 8)
        return warn("this is not a model.safetensors, of the kind that build/train or this page writes");
    memory_file_put(file, (size_t)n);
    int failed = check_heads(t->gpt.config.n_heads);
    if (!failed && gra_load(t->model, "the file"))
        failed = warn("%s", gra_model_error(t->model));
    memory_file_put(NULL, 0);
    if (!failed)
        forget_norms(&the);
    return failed;
}
