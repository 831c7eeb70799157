/* Command lines of train and generate, one word a line. */
#define main         generate_main
#define program_name generate_name
int generate_main(int argc, char **argv);
#include "../../examples/generate.c"
#undef main
#include "../../examples/lib/options.h"
#include "lib/fuzz.h"

enum { WORDS = 64 };

static void claims(int how)
{
    fuzz_claim(how == FLAGS_GO_ON || how == 0 || how == 2, "a command line is right, wrong, or asks for "
               "help");
    fuzz_claim((how == 2) == (fuzz_complaints() > 0), "there is a sentence when it is wrong, and else none");
}

static void train_flags(int argc, char **argv)
{
    options o = options_default();
    int how = options_parse(&o, argc, argv);
    if (how == FLAGS_GO_ON && options_complete(&o))
        how = 2;
    claims(how);
    if (how == FLAGS_GO_ON)
        fuzz_claim(o.width % o.heads == 0 && o.batch * o.context * o.accumulate <= 1 << 30 && o.steps > 0 &&
                   (!o.resume || o.out == o.resume), "what was taken is in its range");
}

static void generate_flags(int argc, char **argv)
{
    session s = { .model = LOAD_DEFAULT, .prompt = "", .tokens = 500, .temperature = 0.8, .seed = 1 };
    const int how = parse(&s, argc, argv);
    claims(how);
    if (how == FLAGS_GO_ON)
        fuzz_claim(s.tokens > 0 && s.temperature >= 0 && s.temperature <= 100 && s.top_k >= 0 &&
                   s.top_p >= 0 && s.top_p <= 1 && s.model && s.prompt, "what was taken is in its range");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1), *argv[WORDS + 1] = { text }, name[] = "fuzz";
    int argc = 1;
    fuzz_claim(text != NULL, "there is memory");
    memcpy(text, bytes, n);
    text[n] = '\0';
    argv[0] = name;
    for (char *word = text; word && argc < WORDS;) {
        argv[argc++] = word;
        word = strchr(word, '\n');
        if (word)
            *word++ = '\0';
    }
    argv[argc] = NULL;
    fuzz_begin(n);
    train_flags(argc, argv);
    fuzz_end();
    fuzz_begin(n);
    generate_flags(argc, argv);
    fuzz_end();
    free(text);
    return 0;
}
