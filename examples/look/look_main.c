/* look: shows a step as a page: every node of the tape, its values and gradients, and the attention.
 *
 *     build/look --model build/run --prompt "static int"  a model that train has trained
 *     build/look --model gpt2.safetensors --ids "464 3290"   a model of another program
 *
 * Open page.html in a browser. In your own program: look_write(t, "page.html") after a backward (look.h).
 *
 * What you will learn: a tape is a list that a program can read, and after a backward it contains all there
 * is to see of a step. look.c reads it; tape.js draws it.
 */
#include "../lib/begin.h"
#include "../lib/flags.h"
#include "../lib/load.h"
#include "../lib/message.h"
#include "trained.h"
#include <stddef.h>

const char *program_name = "look";

int main(int argc, char **argv)
{
    const char *path = "page.html";
    trained_flags trained = { .special = -1 };
    const flag table[] = {
        { "model", FLAG_TEXT, &trained.model, 1, 0, "DIR|FILE", "train's folder or a .safetensors file",
          .unset = LOAD_DEFAULT },
        { "prompt", FLAG_TEXT, &trained.prompt, 0, 0, "TEXT", "what the model reads",
          .unset = "\"static int\"" },
        { "ids", FLAG_TEXT, &trained.ids, 0, 0, "\"N N N\"", "its tokens as numbers, without a vocabulary",
          .unset = "none" },
        { "special", FLAG_SWITCH, &trained.special, .help = "<|endoftext|> is that token",
          .unset = "as in the run" },
        { "heads", FLAG_INT, &trained.heads, 0, 1e6, "N", "attention heads of --model FILE",
          .unset = "from the file" },
        { "out", FLAG_TEXT, &path, 1, 0, "FILE", .help = "the page" },
        { "threads", FLAG_INT, &trained.threads, 0, 1024, "N",
          .help = "threads, 0 = all cores, within the quota" },
    };
    begin_program(argv);
    program_name = argc > 0 ? say_last(argv[0]) : program_name;
    const int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                                "Writes a page that shows a step: every value, every gradient.", argc, argv,
                                NULL);
    if (how != FLAGS_GO_ON)
        return how;
    if (trained.prompt && trained.ids) {
        warn("got both --ids (tokens as numbers) and --prompt (text): give only one of them");
        return 2;
    }
    trained.model = trained.model ? trained.model : LOAD_DEFAULT;
    trained.prompt = trained.prompt ? trained.prompt : "static int";
    const int failed = trained_page(&trained, path);
    if (!failed)
        say("open %s in a browser\n", path);
    return failed || say_failed() ? 1 : 0;
}
