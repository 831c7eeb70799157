/* text_files: files -> the bytes of a text. */
#include "files.h"
#include "json_out.h"
#include "message.h"
#include "tokens.h"
#include <glob.h>
#include <stdlib.h>

static int append(out *s, const char *path)
{
    size_t n;
    char *bytes = file_read(path, &n);
    if (!bytes)
        return -1;
    out_bytes(s, bytes, n);
    free(bytes);
    if (n > 0 && !s->failed)
        return 0;
    return warn("cannot learn from %s: %s", path, n > 0 ? "out of memory" : "it is empty");
}

/* The project's own sources, sorted by name within each pattern. */
static int append_own(out *s)
{
    static const char *const own[] = { "README.md", "core/*.[ch]", "core/*/*.[ch]", "examples/*.[ch]",
                                       "examples/*/*.[ch]", "layers/*.[ch]" };
    glob_t found;
    int failed = 0, why = 0;
    for (size_t i = 0; i < sizeof own / sizeof own[0] && !why; i++)
        why = glob(own[i], GLOB_ERR | (i ? GLOB_APPEND : 0), NULL, &found);
    if (why)
        warn("cannot find the project's own sources: run this in the project's folder, or give --data FILE");
    for (size_t i = 0; i < found.gl_pathc && !why && !failed; i++)
        failed = append(s, found.gl_pathv[i]);
    globfree(&found);
    return why || failed ? -1 : 0;
}

/* The tokenizer that a run, or the model of --from, has in its folder. */
static int read_tokenizer(tokenizer *k, const char *folder)
{
    const int none = tokenizer_read(k, folder);
    return none > 0 ? warn("%s has no tokenizer, expected %s and %s", folder, VOCAB_JSON, MERGES_TXT) : none;
}

int text_read(corpus *x, const options *o, const char *folder)
{
    out s = { 0 };                      /* the bytes of all files, one after another */
    if ((o->data ? append(&s, o->data) : append_own(&s)) || (folder && read_tokenizer(&x->tokens, folder))) {
        free(s.bytes);
        return -1;
    }
    return text_take(x, o, s.bytes, s.n);
}
