/* text_files: files -> the bytes of a text. */
#include "files.h"
#include "json_out.h"
#include "message.h"
#include "tokens.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The sources in a folder, sorted by name, and, if it is deep, those in its folders. */
static int append_sources(out *s, const char *folder, bool deep)
{
    char *name[400], path[FILE_PATH];
    int n = 0, failed = 0;
    DIR *dir = opendir(folder);
    if (!dir && errno != ENOTDIR)
        failed = warn("cannot list the folder %s: %s", folder, strerror(errno));
    for (struct dirent *e; dir && !failed && n < 400 && (e = readdir(dir)) != NULL; n += !failed)
        if (!(name[n] = strdup(e->d_name)))
            failed = warn("out of memory");
    if (dir)
        closedir(dir);
    qsort(name, (size_t)n, sizeof name[0], by_name);
    for (int i = 0; i < n && !failed; i++)
        if (file_ends_in(name[i], ".c") || file_ends_in(name[i], ".h"))
            failed = append(s, file_path(path, folder, name[i]));
    for (int i = 0; i < n; free(name[i++]))
        if (deep && !failed && !strchr(name[i], '.'))
            failed = append_sources(s, file_path(path, folder, name[i]), false);
    return failed;
}

/* The project's own sources. */
static int append_own(out *s)
{
    char path[FILE_PATH];
    if (!file_is_there(path, "core", "gradus.h"))
        return warn("cannot find the project's own sources: run this in the project's folder, or give "
                    "--data FILE");
    return append(s, "README.md") || append_sources(s, "core", true) || append_sources(s, "examples", true) ||
        append_sources(s, "layers", false);
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
