/* look: shows a step as a page: every node of the tape, its values and gradients, where the model looks.
 *
 *     build/look --example scalar                         lesson 01's expression
 *     build/look --example next-token                     lesson 05's model
 *     build/look --model build/run --prompt "static int"  a model that train has trained
 *
 * Open page.html in a browser. From a program of yours: look_write(t, "page.html") after a backward (look.h).
 *
 * What you will learn: a tape is a list that a program can read, and what stands in it after a backward is
 * all there is to see of a step. look.c reads it; page.js draws it.
 */
#include "../lib/flags.h"
#include "../lib/say.h"
#include "examples.h"
#include "trained.h"
#include <stddef.h>

const char *program_name = "look";

int main(int argc, char **argv)
{
    const char *model = NULL, *prompt = NULL, *path = "page.html";
    int example = -1;
    long threads = 0;
    const flag table[] = {
        { "model", FLAG_TEXT, &model, 0, 0, "DIR", "a folder of train", .unset = "build/run" },
        { "prompt", FLAG_TEXT, &prompt, 0, 0, "TEXT", "what the model reads", .unset = "\"static int\"" },
        { "example", FLAG_CHOICE, &example, 0, 0, "scalar|next-token", "a lesson in place of a model",
          .unset = "none" },
        { "out", FLAG_TEXT, &path, 0, 0, "FILE", .help = "the page" },
        { "threads", FLAG_INT, &threads, 0, 1024, "N", .help = "threads, 0 = one for each core" },
    };
    program_name = argc > 0 ? say_last(argv[0]) : program_name;
    const int how = flags_parse(table, (int)(sizeof table / sizeof table[0]),
                                "Writes a page that shows a step: every value, every gradient.", argc, argv,
                                NULL);
    if (how != FLAGS_GO_ON)
        return how;
    if (example >= 0 && (model || prompt)) {
        complain("--example needs neither --model nor --prompt");
        return 2;
    }
    const int failed = example == 0 ? example_scalar(path) : example == 1 ? example_next_token(path)
                       : trained_page(model ? model : "build/run", prompt ? prompt : "static int",
                                      (int)threads, path);
    if (!failed)
        say("open %s in a browser\n", path);
    return failed || say_failed() ? 1 : 0;
}
