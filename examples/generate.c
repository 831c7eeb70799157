/* generate: continues a prompt with a model that train left.
 *
 *     build/generate --prompt "static int " --tokens 300
 *
 * What you will learn: generation is the model run again and again on its own output, and temperature
 * and top-k are all that stands between its probabilities and the text. What the model looks at, token by
 * token, when it reads the prompt:
 *
 *     build/generate --prompt "static int " --attention attention.png
 */
#include "../layers/layers.h"
#include "lib/flags.h"
#include "lib/heatmap.h"
#include "lib/options.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "generate";

typedef struct session {
    const char *folder, *prompt, *attention;    /* the flags */
    long        tokens, top_k, seed, threads;
    double      temperature;
    options     o;                      /* how the model was trained */
    vocabulary  vocab;
    gra_rng     rng;
    gra_tape   *tape;
    gra_model  *model;
    gra_gpt     gpt;
    int        *prompt_ids, *window;
} session;

static int parse(session *s, int argc, char **argv)
{
    const flag table[] = {
        { "model", FLAG_TEXT, &s->folder, 0, 0, "DIR", "what train left", NULL, false },
        { "prompt", FLAG_TEXT, &s->prompt, 0, 0, "TEXT", "the text to continue", "a line break", false },
        { "tokens", FLAG_INT, &s->tokens, 1, 1e9, "N", "how many to write", NULL, false },
        { "temperature", FLAG_REAL, &s->temperature, 0, 100, "T",
          "0: always the likeliest, may go in circles", NULL, false },
        { "top-k", FLAG_INT, &s->top_k, 0, 256, "K", "only among the K likeliest; 0: among all", NULL,
          false },
        { "seed", FLAG_INT, &s->seed, 0, 4294967295.0, "N", "another one, another text", NULL, false },
        { "threads", FLAG_INT, &s->threads, 0, 1024, "N", "0: as many as there are cores", NULL, false },
        { "attention", FLAG_TEXT, &s->attention, 0, 0, "FILE",
          "attention weights to .png, .svg or .tsv", "none", false },
    };
    int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                          "Writes the prompt and what a trained model makes of it.", argc, argv);
    return how == 0 && s->attention && !heatmap_knows(s->attention) ? -1 : how;
}

static int load(session *s)
{
    if (run_read(s->folder, &s->o, &s->vocab) || run_fits(s->folder, &s->o, &s->vocab))
        return -1;
    gra_manual_seed(&s->rng, (uint64_t)s->seed);
    s->tape = gra_open((int)s->threads);
    s->model = gra_model_open(&s->rng);
    s->window = malloc((size_t)s->o.context * sizeof *s->window);
    s->prompt_ids = malloc((strlen(s->prompt) + 1) * sizeof *s->prompt_ids);
    if (!s->tape || !s->model || !s->window || !s->prompt_ids) {
        complain("out of memory");
        return -1;
    }
    gra_keep_going(s->tape, true);
    gra_model_keep_going(s->model, true);
    gra_gpt_config config = options_model(&s->o, s->vocab.size);
    gra_gpt_init(&s->gpt, gra_root(s->model), &config);
    if (gra_model_error(s->model)) {
        complain("%s", gra_model_error(s->model));
        return -1;
    }
    return run_load(s->folder, s->model);
}

static int generate(session *s)
{
    sampler writer = { .tape = s->tape,
                       .gpt = &s->gpt,
                       .context = (int)s->o.context,
                       .temperature = s->temperature,
                       .top_k = s->top_k,
                       .ids = s->window };
    size_t n = strlen(s->prompt);
    char byte = 0;
    if (vocabulary_encode(&s->vocab, s->prompt, n, s->prompt_ids))
        return -1;
    if (n == 0)                         /* a model needs something to start from: a new line */
        s->prompt_ids[0] = s->vocab.id['\n'] < 0 ? 0 : s->vocab.id['\n'];
    sample_see(&writer, s->prompt_ids, n ? n : 1);
    if (s->attention && heatmap_write(s->attention, s->tape, &s->gpt, &s->vocab, writer.ids, writer.used))
        return -1;
    if (say_bytes(s->prompt, n))
        return -1;
    gra_manual_seed(&writer.rng, (uint64_t)s->seed);
    for (long i = 0; i < s->tokens; i++) {
        int id = sample_next(&writer);
        if (id < 0) {
            complain("%s", gra_error(s->tape));
            return -1;
        }
        byte = (char)s->vocab.byte[id];
        if (say_bytes(&byte, 1))
            return -1;
    }
    return byte != '\n' && isatty(STDOUT_FILENO) ? say("\n") : 0;
}

int main(int argc, char **argv)
{
    session s = { .folder = "build/run", .prompt = "", .tokens = 500, .temperature = 0.8, .seed = 1,
                  .o = options_default() };
    int how = parse(&s, argc, argv);
    int status = how ? flags_status(how) : load(&s) || generate(&s) ? 1 : 0;
    gra_model_close(s.model);
    gra_close(s.tape);
    free(s.prompt_ids);
    free(s.window);
    return status;
}
