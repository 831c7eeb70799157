/* page_run: see page_run.h. */
#include "page_run.h"
#include "../look/look.h"
#include "../look/look_model.h"
#include "../lib/row.h"
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

enum { NEWS, SAMPLE, LOOK, LOSS, TEXTS };

typedef struct page {                   /* all zeros: no run is open */
    training t;
    bool     open, failed;              /* failed: a step did, and the parameters are not to be used */
    int      broken;
    char    *flags, **word;             /* into which t.o points */
    run_row *row;                       /* of the steps so far */
    size_t   rows, told;                /* told: how many of them page_news has given */
    double  *norm;                      /* of each parameter's gradient at the last step of a slice */
    kept     kept;
    out      text[TEXTS];               /* what the functions return */
} page;
static page the;

/* ---- texts ------------------------------------------------------------------------------------------- */

static out *begin_text(int which)
{
    out_clear(&the.text[which]);
    return &the.text[which];
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

/* ---- opening ----------------------------------------------------------------------------------------- */

static gra_tensor *forward(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time)
{
    return broken_forward(t, g, the.broken, ids, batch, time);
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
    p->norm = calloc((size_t)gra_param_count(t->model), sizeof *p->norm);
    return p->norm ? 0 : warn("out of memory");
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
    free(p->norm);
    for (int i = 0; i < TEXTS; i++)
        free(p->text[i].bytes);
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
    else
        kept_add(&p->kept, p->t.model, 0);
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

static void measure_norms(page *p)
{
    for (int i = 0; i < gra_param_count(p->t.model); i++) {
        const gra_tensor *x = gra_param_at(p->t.model, i);
        double sum = 0;
        for (size_t j = 0; j < x->size && x->grad; j++)
            sum += (double)x->grad[j] * (double)x->grad[j];
        p->norm[i] = sqrt(sum);
    }
}

/* A step of train's loop. last: of a slice. 0, or -1 after a warning. */
static int step(page *p, bool last)
{
    training *t = &p->t;
    run_row row = { .step = ++t->step, .tokens_per_s = (double)NAN };
    training_draw(t, &t->rng);
    row.train_loss = training_backward(t, &t->rng, t->o.accumulate);
    if (last)
        measure_norms(p);
    if (training_update(t, &row) || validation_of_step(t, &row))
        return -1;
    kept_add(&p->kept, t->model, t->step);
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
static void write_norms(out *o, const page *p)
{
    const gra_model *m = p->t.model;
    for (int i = 0, next; i < gra_param_count(m); i = next) {
        const char *name = gra_param_at(m, i)->name;
        const size_t n = layer_of(name);
        double sum = 0;
        for (next = i; next < gra_param_count(m) && layer_of(gra_param_at(m, next)->name) == n &&
                       strncmp(gra_param_at(m, next)->name, name, n) == 0; next++)
            sum += p->norm[next] * p->norm[next];
        out_comma(o);
        out_text(o, "{\"name\":");
        out_string(o, name, n);
        out_key(o, "grad");
        out_number(o, sqrt(sum), 9);
        out_text(o, "}");
    }
}

PAGE_EXPORT(run_news) char *page_news(void)
{
    page *p = &the;
    out *o = begin_text(NEWS);
    if (!is_open())
        return NULL;
    out_format(o, "{\"step\":%zu,\"steps\":%ld,\"rows\":[", p->rows, p->t.o.steps);
    for (size_t first = p->told; p->told < p->rows; p->told++) {
        out_text(o, p->told > first ? ",\n" : "");
        write_row(o, &p->row[p->told]);
    }
    out_text(o, "],\n\"norms\":[");
    write_norms(o, p);
    out_text(o, "],\n\"kept\":[");
    for (int i = 0; i < p->kept.n; i++)
        out_format(o, i ? ",%ld" : "%ld", p->kept.state[i].step);
    if (p->kept.n == 0 || p->kept.state[p->kept.n - 1].step < p->t.step)
        out_format(o, p->kept.n ? ",%ld" : "%ld", p->t.step);
    out_format(o, "],\n\"vocab\":%d,\"parameters\":%zu}", p->t.text.tokens.size,
               gra_param_values(p->t.model));
    return end_text(o);
}

/* ---- sample ------------------------------------------------------------------------------------------ */

PAGE_EXPORT(run_sample) char *page_sample(void)
{
    size_t size = 0;
    out *o = begin_text(SAMPLE);
    char *text = is_open() ? training_sample(&the.t, &size) : NULL;
    if (!text)
        return NULL;
    out_format(o, "{\"step\":%ld,\"text\":", the.t.step);
    out_string(o, text, size);
    out_text(o, "}");
    free(text);
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

static void add_curve(const page *p, look_model *shown)
{
    const size_t every = p->rows / 500 + 1;
    for (const run_row *row = p->row; row < p->row + p->rows; row++)
        if ((size_t)row->step % every == 0 || !isnan(row->val_loss))
            model_loss(shown, row->step, row->train_loss, row->val_loss);
}

/* With the parameters that the model has now. */
static char *look(page *p, long at, const int *ids, int n)
{
    training *t = &p->t;
    char title[40], about[160];
    out *o = begin_text(LOOK);
    const gra_gpt_config *c = &t->gpt.config;
    look_model shown = { .tape = t->tape, .gpt = &t->gpt, .forward = t->forward, .tokens = &t->text.tokens,
                         .ids = ids, .n = n };
    snprintf(title, sizeof title, "after step %ld", at);
    snprintf(about, sizeof about, "A GPT of %d layers, %d heads, width %d: %zu parameters.", c->n_layers,
             c->n_heads, c->emb_dim, gra_param_values(t->model));
    add_curve(p, &shown);
    const int failed = model_last(&shown, t->model, at);
    gra_keep_grads(t->tape, false);
    if (!failed)
        look_json(o, t->tape, &(look_more){ .title = title, .about = about, .model = model_json,
                                            .arg = &shown });
    model_free(&shown);
    return failed ? NULL : end_text(o);
}

static char *look_at(page *p, long at, const int *ids, int n)
{
    const struct kept_state *then = kept_near(&p->kept, at);
    if (!then || labs(p->t.step - at) <= labs(then->step - at))
        return look(p, p->t.step, ids, n);
    gra_real *now = kept_copy(p->t.model);
    if (!now)
        return warn("out of memory"), NULL;
    kept_restore(p->t.model, then->values);
    char *text = look(p, then->step, ids, n);
    kept_restore(p->t.model, now);
    free(now);
    return text;
}

PAGE_EXPORT(run_look) char *page_look(int step, const char *prompt)
{
    page *p = &the;
    if (!is_open())
        return NULL;
    const size_t n = strlen(prompt);
    int *ids = calloc(n + 2, sizeof *ids);
    if (!ids)
        return warn("out of memory"), NULL;
    const int used = read_prompt(&p->t, prompt, n, ids), most = p->t.gpt.config.context_length;
    const int shown = used < most ? used : most;
    char *text = used < 0 ? NULL : look_at(p, step, ids + used - shown, shown);
    free(ids);
    return text;
}

/* ---- files ------------------------------------------------------------------------------------------- */

PAGE_EXPORT(run_loss_tsv) char *page_loss_tsv(void)
{
    page *p = &the;
    char line[ROW_TEXT];
    out *o = begin_text(LOSS);
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
    return memory_file_get().bytes;
}

PAGE_EXPORT(run_saved_size) int page_saved_size(void)
{
    return (int)memory_file_get().n;
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
    memory_file_put(file, (size_t)n);
    int failed = check_heads(t->gpt.config.n_heads);
    if (!failed && gra_load(t->model, "the file"))
        failed = warn("%s", gra_model_error(t->model));
    memory_file_put(NULL, 0);
    return failed;
}
