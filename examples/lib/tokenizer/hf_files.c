/* hf_files: Hugging Face's files vocab.json and merges.txt, and tokenizer.json.
 *
 * In these files each byte is written as a character: itself if it is printable in Latin-1, else the next
 * from U+0100 on, so a blank is Ġ and a newline is Ċ. vocab.json has the id of each token. merges.txt has a
 * merge in each line, in the order of rank: two tokens with a blank between them. tokenizer.json has both. */
#include "../../import/json_members.h"
#include "../files.h"
#include "../json_out.h"
#include "../message.h"
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- bytes as characters ---------------------------------------------------------------------------- */

enum { MOVED = 0x100, SECOND = 33, THIRD = 67, CHARACTERS = MOVED + 68 };      /* 0-32, 127-160, 173 */

static int character_of(unsigned char byte)
{
    return byte <= 32 ? MOVED + byte : byte >= 127 && byte <= 160 ? MOVED + SECOND + byte - 127
           : byte == 173 ? MOVED + THIRD : byte;
}

/* -1: it is no byte's character. */
static int byte_of(int character)
{
    const int i = character - MOVED;
    const int byte = i < 0 ? character : i < SECOND ? i : i < THIRD ? 127 + i - SECOND : 173;
    return character < CHARACTERS && character_of((unsigned char)byte) == character ? byte : -1;
}

/* Replaces the characters by their bytes, in place. Returns the number of bytes; -1: a character stands for
 * no byte. */
static ptrdiff_t to_bytes(char *text, size_t n)
{
    char *to = text;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)text[i];
        if (c >= 0x80)
            c = c >= 0xC2 && c < 0xE0 && i + 1 < n && (text[i + 1] & 0xC0) == 0x80
                ? (c & 0x1F) << 6 | (text[++i] & 0x3F) : CHARACTERS;
        const int byte = byte_of(c);
        if (byte < 0)
            return -1;
        *to++ = (char)byte;
    }
    return to - text;
}

/* Writes the characters of a token; JSON's special characters get a backslash. */
static void write_characters(out *o, const tokenizer *k, int id, bool json)
{
    size_t n;
    const char *bytes = tokenizer_bytes(k, id, &n);
    for (size_t i = 0; i < n; i++) {
        const int c = character_of((unsigned char)bytes[i]);
        if (json && (c == '"' || c == '\\'))
            out_text(o, "\\");
        if (c >= 0x80)
            out_bytes(o, &(char){ (char)(0xC0 | c >> 6) }, 1);
        out_bytes(o, &(char){ (char)(c < 0x80 ? c : 0x80 | (c & 0x3F)) }, 1);
    }
}

int gpt2_bytes(tokenizer *k)
{
    int failed = 0;
    for (int c = 0; c < CHARACTERS && !failed; c++)
        if (byte_of(c) >= 0)
            failed = tokenizer_add(k, &(char){ (char)byte_of(c) }, 1) < 0;
    return failed ? -1 : 0;
}

/* ---- tokens ----------------------------------------------------------------------------------------- */

typedef struct reader {
    tokenizer  *k;
    const char *path;                   /* of the file that is read */
    char       *bytes;                  /* of the file; strings are decoded in place */
    gra_json    text;
    struct entry { const char *bytes; size_t n; bool added; } *entries;         /* the tokens by their ids */
    char       *beside;                 /* of added_tokens.json, likewise */
    int         first;                  /* the token that begins a text, from post_processor; -1: none */
    size_t      most;                   /* how many tokens there may be; 0: there is only a list of merges */
} reader;

static int read_text(reader *r, const char *path)
{
    size_t n = 0;
    r->path = path;
    r->bytes = file_read(path, &n);
    r->text = (gra_json){ .at = r->bytes, .end = r->bytes ? r->bytes + n : NULL };
    return !r->bytes ? -1 : strlen(r->bytes) < n ? warn("%s is not text", path) : 0;
}

static int bad(const reader *r, const char *what, size_t number, const char *why)
{
    return warn("%s: %s %zu: %s", r->path, what, number, why);
}

/* Decodes a string, which may be of `characters`. NULL: it is not a string, or is empty. */
static char *decode(gra_json s, bool characters, size_t *n)
{
    char *to = gra_json_string(&s);
    ptrdiff_t size = to ? (ptrdiff_t)strlen(to) : -1;
    if (size > 0 && characters)
        size = to_bytes(to, (size_t)size);
    *n = size > 0 ? (size_t)size : 0;
    return size > 0 ? to : NULL;
}

/* added: its text stands for itself, and no merge makes it. */
static int add_entry(reader *r, gra_json string, gra_json number, bool added)
{
    size_t n;
    const uint64_t given = gra_json_count(&number);
    const size_t id = !number.wrong && given < r->most ? (size_t)given : r->most;
    const char *bytes = decode(string, !added, &n);
    if (id >= r->most)
        return warn("%s: got a token with an invalid id, expected 0 <= id < %zu", r->path, r->most);
    struct entry *e = &r->entries[id];
    if (!bytes)
        return bad(r, "token", id, "expected characters that each stand for a byte");
    if (e->bytes && (e->n != n || memcmp(e->bytes, bytes, n) != 0))
        return bad(r, "token", id, "two tokens have this id");
    *e = (struct entry){ bytes, n, added || e->added };
    return 0;
}

/* The added_tokens.json beside the file, or nothing. */
static gra_json read_beside(reader *r)
{
    const char *slash = strrchr(r->path, '/');
    char folder[FILE_PATH], path[FILE_PATH];
    size_t n = 0;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - r->path) : 1, slash ? r->path : ".");
    if (!file_is_there(path, folder, "added_tokens.json"))
        return (gra_json){ 0 };
    r->beside = file_read(path, &n);
    return (gra_json){ .at = r->beside, .end = r->beside ? r->beside + n : NULL };
}

static size_t count(gra_json value, char bracket)
{
    struct json j = json_open(value, bracket);
    size_t n = 0;
    while (json_next(&j))
        n++;
    return j.rest.wrong ? 0 : n;
}

/* Adds the tokens of `vocab`, an object of names and ids; of `added`, a list of {"id", "content"} or nothing;
 * and of the folder's added_tokens.json, which is an object too, if it exists. */
static int read_tokens(reader *r, gra_json vocab, gra_json added)
{
    int failed = 0;
    const gra_json beside = read_beside(r);
    const size_t n = count(vocab, '{');
    r->most = n + count(added, '[') + count(beside, '{');
    if (n == 0 || r->most > TOKENIZER_MOST)
        return warn("%s: expected a vocabulary, an object of 1 to %d tokens and their ids", r->path,
                    TOKENIZER_MOST);
    r->entries = calloc(r->most, sizeof *r->entries);
    if (!r->entries)
        return warn("out of memory");
    for (struct json j = json_open(added, '['); !failed && json_next(&j);) {
        r->k->strips = r->k->strips || json_is(json_member(j.value, "lstrip"), "true") ||
                       json_is(json_member(j.value, "rstrip"), "true") ||
                       json_is(json_member(j.value, "single_word"), "true");
        failed = add_entry(r, json_member(j.value, "content"), json_member(j.value, "id"), true);
    }
    for (struct json j = json_open(beside, '{'); !failed && json_next(&j);)
        failed = add_entry(r, j.name, j.value, true);
    for (struct json j = json_open(vocab, '{'); !failed && json_next(&j);)
        failed = add_entry(r, j.name, j.value, false);
    while (r->most > n && !r->entries[r->most - 1].bytes)
        r->most--;
    for (size_t id = 0; id < r->most && !failed; id++) {
        const struct entry *e = &r->entries[id];
        if (!e->bytes)
            return bad(r, "token", id, "it is missing, but a token has a higher id");
        const int made = tokenizer_add(r->k, e->bytes, e->n);
        failed = made < 0 ? warn("out of memory") : made == (int)id ? 0
                 : bad(r, "token", id, "two tokens have these bytes");
    }
    return failed;
}

/* ---- merges ----------------------------------------------------------------------------------------- */

/* Adds the next merge. left, right NULL: they are no tokens. */
static int add_merge(reader *r, const char *left, size_t n, const char *right, size_t m)
{
    tokenizer *k = r->k;
    const size_t number = k->n_merges + 1;
    const int a = left ? tokenizer_find(k, left, n) : -1, b = right ? tokenizer_find(k, right, m) : -1;
    const int size = k->size;
    if (a < 0 || b < 0)
        return bad(r, "merge", number, "expected two tokens, a blank between: is an earlier merge missing?");
    if (map_find(&k->ranks, merge_key(a, b)) >= 0)
        return bad(r, "merge", number, "an earlier merge is the same");
    if (size == TOKENIZER_MOST)
        return bad(r, "merge", number, "there are too many tokens");
    const int id = tokenizer_merge(k, a, b);
    if (id < 0)
        return warn("out of memory");
    return id == size && r->most ? bad(r, "merge", number, "the token that it makes has no id") : 0;
}

/* "left right" */
static int read_merge(reader *r, char *text, size_t n)
{
    char *blank = memchr(text, ' ', n);
    if (!blank)
        return add_merge(r, NULL, 0, NULL, 0);
    const ptrdiff_t left = to_bytes(text, (size_t)(blank - text));
    const ptrdiff_t right = to_bytes(blank + 1, n - (size_t)(blank + 1 - text));
    return add_merge(r, left > 0 ? text : NULL, (size_t)left, right > 0 ? blank + 1 : NULL, (size_t)right);
}

/* The lines of merges.txt; the first may be a comment. */
static int read_lines(reader *r)
{
    int failed = 0;
    char *line = r->bytes;
    if (strncmp(line, "#version", 8) == 0)
        line += strcspn(line, "\n");
    for (line += *line == '\n'; *line && !failed;) {
        const size_t n = strcspn(line, "\n"), next = n + (line[n] == '\n');
        failed = read_merge(r, line, n - (n > 0 && line[n - 1] == '\r'));
        line += next;
    }
    return failed;
}

/* The list in tokenizer.json: of "left right" or of ["left", "right"]. */
static int read_list(reader *r, gra_json list)
{
    int failed = 0;
    for (struct json j = json_open(list, '['); !failed && json_next(&j);) {
        size_t n = 0, m = 0;
        struct json two = json_open(j.value, '[');
        if (two.rest.wrong) {
            char *text = decode(j.value, false, &n);
            failed = read_merge(r, text ? text : r->bytes, n);
            continue;
        }
        const char *left = json_next(&two) ? decode(two.value, true, &n) : NULL;
        const char *right = json_next(&two) ? decode(two.value, true, &m) : NULL;
        failed = add_merge(r, left, n, right, m);
    }
    return failed;
}

/* The first token from `id` on that only the list of added tokens explains: it is special, and a merge makes
 * it, or it does not look like <|endoftext|> or [PAD]. k->size: none. */
static int next_odd(const tokenizer *k, int id)
{
    for (; id < k->size; id++) {
        size_t n;
        const char *s = tokenizer_bytes(k, id, &n);
        if (k->special[id] == ALSO_SPECIAL || (k->special[id] && !(s[0] == '<' && s[n - 1] == '>') &&
                                               !(s[0] == '[' && s[n - 1] == ']')))
            break;
    }
    return id;
}

static int find_hole(const reader *r)
{
    int id = tokenizer_ready(r->k) ? -1 : next_odd(r->k, 0);
    while (id >= 0 && id < r->k->size && r->entries[id].added)
        id = next_odd(r->k, id + 1);
    return id < 0 ? -1 : id == r->k->size ? 0
           : bad(r, "token", (size_t)id, "no merge makes this token: is a merge missing?");
}

/* ---- the files -------------------------------------------------------------------------------------- */

static int close_reader(reader *r, int failed)
{
    failed = failed || tokenizer_ready(r->k);
    for (int id = 0; !failed && r->entries && id < r->k->size; id++)
        if (r->entries[id].added)
            tokenizer_make_special(r->k, id);
    free(r->entries);
    free(r->bytes);
    free(r->beside);
    if (!failed && !r->k->n_merges)
        failed = warn("%s has no merges", r->path);
    return failed ? -1 : 0;
}

int merges_read(tokenizer *k, const char *vocab, const char *merges)
{
    reader r = { .k = k };
    int failed = vocab ? read_text(&r, vocab) || read_tokens(&r, r.text, (gra_json){ 0 })
                 : gpt2_bytes(k) ? warn("out of memory") : 0;
    if (failed)
        return close_reader(&r, failed);
    free(r.bytes);
    failed = read_text(&r, merges) || read_lines(&r) || (vocab && find_hole(&r));
    if (!failed && !vocab)
        failed = k->size == TOKENIZER_MOST || tokenizer_add(k, END_OF_TEXT, strlen(END_OF_TEXT)) < 0
                 ? warn("%s: no room for %s", merges, END_OF_TEXT) : 0;
    return close_reader(&r, failed);
}

/* The settings that tokenizer.json must have to be like GPT-2's; only a string may not be missing. */
static const struct setting {
    const char *object, *name, *allowed[2];
} settings[] = {
    { "model",         "type",                      { "\"BPE\"" } },
    { "model",         "dropout",                   { "null" } },
    { "model",         "continuing_subword_prefix", { "null", "\"\"" } },
    { "model",         "end_of_word_suffix",        { "null", "\"\"" } },
    { "model",         "byte_fallback",             { "false" } },
    { "model",         "ignore_merges",             { "false" } },
    { "pre_tokenizer", "type",                      { "\"ByteLevel\"" } },
    { "pre_tokenizer", "add_prefix_space",          { "false" } },
    { "pre_tokenizer", "use_regex",                 { "true" } },
    { NULL,            "normalizer",                { "null" } },
};

/* What is added to the tokens of a text: nothing, or <|endoftext|> before it. */
static int read_template(reader *r)
{
    char got[JSON_SHOWN] = "";
    const gra_json post = json_member(r->text, "post_processor"), type = json_member(post, "type");
    struct json j = json_open(json_member(post, "single"), '[');
    const gra_json first = json_next(&j) ? json_member(json_member(j.value, "SpecialToken"), "id") : j.rest;
    const bool text = json_next(&j) && json_member(j.value, "Sequence").at && !json_next(&j) && !j.rest.wrong;
    if (!type.at || json_is(type, "\"ByteLevel\""))
        return 0;
    r->k->begins = json_is(type, "\"TemplateProcessing\"") && text && json_is(first, "\"" END_OF_TEXT "\"");
    const gra_json special = json_member(json_member(post, "special_tokens"), END_OF_TEXT);
    struct json ids = json_open(json_member(special, "ids"), '[');
    const uint64_t id = json_next(&ids) ? gra_json_count(&ids.value) : TOKENIZER_MOST;
    r->first = id < TOKENIZER_MOST && !json_next(&ids) ? (int)id : -1;
    json_show(got, type.at, type.end);
    return r->k->begins ? 0 : warn("%s: post_processor.type: got %s, expected \"ByteLevel\", or "
                                   "\"TemplateProcessing\" with only " END_OF_TEXT " before a text", r->path,
                                   got);
}

static int check_settings(const reader *r)
{
    char got[JSON_SHOWN] = "nothing";
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *s = &settings[i];
        const gra_json value = json_member(s->object ? json_member(r->text, s->object) : r->text, s->name);
        if (value.at ? json_is(value, s->allowed[0]) || (s->allowed[1] && json_is(value, s->allowed[1]))
                     : *s->allowed[0] != '"')
            continue;
        if (value.at)
            json_show(got, value.at, value.end);
        return warn("%s: %s%s%s: got %s, expected %s, as GPT-2 has it", r->path, s->object ? s->object : "",
                    s->object ? "." : "", s->name, got, s->allowed[0]);
    }
    return 0;
}

int tokenizer_json_read(tokenizer *k, const char *path)
{
    reader r = { .k = k };
    if (read_text(&r, path) || check_settings(&r) || read_template(&r))
        return close_reader(&r, -1);
    const gra_json model = json_member(r.text, "model"), vocab = json_member(model, "vocab");
    const gra_json added = json_member(r.text, "added_tokens"), merges = json_member(model, "merges");
    int failed = read_tokens(&r, vocab, added) || read_list(&r, merges) || find_hole(&r);
    const int first = tokenizer_find(k, END_OF_TEXT, strlen(END_OF_TEXT));
    if (!failed && k->begins && (first < 0 || first != r.first))
        failed = warn("%s: post_processor.special_tokens: expected the id of " END_OF_TEXT, path);
    return close_reader(&r, failed);
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static int write_file(out *o, const char *path)
{
    const int failed = o->failed ? warn("out of memory") : file_write(path, o->bytes, o->n);
    free(o->bytes);
    return failed;
}

/* An object of tokens and ids; of the special tokens only those that `added` does not explain. */
static void write_ids(out *o, const tokenizer *k, bool added)
{
    out_text(o, "{");
    for (int id = 0; id < k->size; id++) {
        if (added && k->special[id] == SPECIAL)
            continue;
        out_comma(o);
        out_text(o, "\"");
        write_characters(o, k, id, true);
        out_format(o, "\":%d", id);
    }
    out_text(o, "}");
}

static const char byte_level[] = "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
                                 "\"use_regex\":true}";

static void write_added(out *o, const tokenizer *k)
{
    for (int id = 0; id < k->size; id++) {
        if (!k->special[id])
            continue;
        size_t n;
        const char *bytes = tokenizer_bytes(k, id, &n);
        out_comma(o);
        out_format(o, "{\"id\":%d,\"content\":", id);
        out_string(o, bytes, n);
        out_text(o, ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,"
                 "\"special\":true}");
    }
}

static void write_post_processor(out *o, const tokenizer *k)
{
    if (!k->begins)
        out_text(o, byte_level);
    else
        out_format(o, "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"" END_OF_TEXT
                   "\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{"
                   "\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],"
                   "\"special_tokens\":{\"" END_OF_TEXT "\":{\"id\":\"" END_OF_TEXT "\",\"ids\":[%d],"
                   "\"tokens\":[\"" END_OF_TEXT "\"]}}}", k->end);
}

/* The list of merges, each as a JSON string. */
static void write_list(out *o, const tokenizer *k)
{
    for (size_t i = 0; i < k->n_merges; i++) {
        out_text(o, i ? ",\"" : "\"");
        write_characters(o, k, k->merges[i].left, true);
        out_text(o, " ");
        write_characters(o, k, k->merges[i].right, true);
        out_text(o, "\"");
    }
}

/* Tokens of several bytes that no merge makes are added tokens. */
int tokenizer_json_write(const tokenizer *k, const char *path, const char *config)
{
    out o = { 0 }, c = { 0 };
    out_text(&o, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[");
    write_added(&o, k);
    out_format(&o, "],\"normalizer\":null,\"pre_tokenizer\":%s,\"post_processor\":", byte_level);
    write_post_processor(&o, k);
    out_format(&o, ",\"decoder\":%s,\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
               "\"continuing_subword_prefix\":\"\",\"end_of_word_suffix\":\"\",\"fuse_unk\":false,"
               "\"byte_fallback\":false,\"ignore_merges\":false,\"vocab\":", byte_level);
    write_ids(&o, k, true);
    out_text(&o, ",\"merges\":[");
    write_list(&o, k);
    out_text(&o, "]}}\n");
    out_text(&c, "{\"tokenizer_class\":\"GPT2Tokenizer\"");
    if (tokenizer_is_end_of_text(k, k->end))
        out_text(&c, ",\"bos_token\":\"" END_OF_TEXT "\",\"eos_token\":\"" END_OF_TEXT "\"");
    out_text(&c, "}\n");
    if (write_file(&o, path) == 0)
        return write_file(&c, config);
    free(c.bytes);
    return -1;
}

bool tokenizer_needs_json(const tokenizer *k)
{
    return k->begins || next_odd(k, 0) < k->size;
}

int merges_write(const tokenizer *k, const char *vocab, const char *merges)
{
    out ids = { 0 }, pairs = { 0 };
    write_ids(&ids, k, false);
    out_text(&ids, "\n");
    if (write_file(&ids, vocab))
        return -1;
    out_text(&pairs, "#version: 0.2\n");
    for (size_t i = 0; i < k->n_merges; i++) {
        write_characters(&pairs, k, k->merges[i].left, false);
        out_text(&pairs, " ");
        write_characters(&pairs, k, k->merges[i].right, false);
        out_text(&pairs, "\n");
    }
    return write_file(&pairs, merges);
}
