/* The tokenizer: encoding, decoding and training agree with tests/golden/make_tokenizer.py, which works by
 * brute force; files of all forms are read, and errors in them are named. */
#include "core/gradus.h"
#include "examples/lib/files.h"
#include "examples/lib/message.h"
#include "examples/lib/tokenizer/tokenizer.h"
#include "examples/lib/utf8.h"
#include "lib/folder.h"
#include "lib/suites.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/tokenizer"
#define FOLDER GRADUS_BUILD "/tokenizer"

enum { ROOM = 1 << 20 };

const char *program_name = "test";
static char warned[1024];               /* the last sentence, or "" */

int warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(warned, sizeof warned, format, args);
    va_end(args);
    return -1;
}

static tokenizer k;

static void begin(void)
{
    folder_clear(FOLDER);
    k = (tokenizer){ 0 };
    *warned = '\0';
}

static void end(void) { tokenizer_free(&k); }

static char file[ROOM];                 /* the last one read, with a 0 after it */

static char *text_of(const char *path)
{
    read_text(path, file, ROOM);
    return file;
}

CASE(tokenizer, begin, end, "")

/* ---- encoding and decoding ---- */

/* The string, given in hexadecimal digits, has these tokens, which decode to the string again. */
static void compare_vector(const char *hex, const char *expected, const char *where)
{
    static unsigned char text[ROOM];
    static uint16_t ids[ROOM];
    static int back[ROOM];
    size_t n = 0, size;
    for (; hex[2 * n] != ' ' && hex[2 * n] != '\t' && hex[2 * n] && hex[0] != '-'; n++) {
        unsigned byte;
        ck_assert(n < ROOM && sscanf(hex + 2 * n, "%2x", &byte) == 1);
        text[n] = (unsigned char)byte;
    }
    const ptrdiff_t m = tokenizer_encode(&k, (char *)text, n, ids);
    ck_assert_msg(m >= 0, "%s: %s", where, warned);
    char *end = NULL;
    for (ptrdiff_t i = 0; i < m; i++, expected = end) {
        const long id = strtol(expected, &end, 10);
        ck_assert_msg(end != expected && ids[i] == id, "%s: token %td is %d, expected %ld", where, i, ids[i],
                      id);
        back[i] = ids[i];
    }
    ck_assert_msg(strspn(expected, " \r") == strcspn(expected, "\n"), "%s: got %td tokens, more are expected",
                  where, m);
    char *decoded = tokenizer_decode(&k, back, (size_t)m, &size);
    ck_assert_msg(decoded && size == n && memcmp(decoded, text, n) == 0, "%s: decoded, it is another text",
                  where);
    free(decoded);
}

/* Reads the lines of a file: a string, a space or tab, and its tokens. Returns how many. */
static int compare_vectors(const char *path)
{
    int n = 0;
    for (char *line = text_of(path); *line;) {
        char where[600], *next = strchr(line, '\n');
        ck_assert_ptr_nonnull(next);
        *next = '\0';
        snprintf(where, sizeof where, "%s, %.60s", path, line);
        if (*line != '#') {
            compare_vector(line, line + strcspn(line, " \t") + (line[strcspn(line, " \t")] != '\0'), where);
            n++;
        }
        line = next + 1;
    }
    return n;
}

TEST(encoding_is_that_of_brute_force)
{
    ck_assert_msg(tokenizer_read(&k, GOLDEN) == 0, "%s", warned);
    ck_assert_int_eq(k.size, 630);
    ck_assert_int_ge(compare_vectors(GOLDEN "/vectors.txt"), 260);
}

/* GPT-2's merges are not in the repository: GPT2=FOLDER names a folder with merges.txt or vocab.bpe, and
 * files of vectors, vectors*.txt. */
TEST(encoding_is_gpt2s)
{
    const char *folder = getenv("GPT2");
    int n = 0;
    if (!folder || !*folder) {
        fprintf(stderr, "left out: GPT-2's own tokens: GPT2=FOLDER names none\n");
        return;
    }
    ck_assert_msg(tokenizer_read(&k, folder) == 0, "%s", warned);
    for (listed_file l = { 0 }; next_file(&l, folder, ".txt");)
        if (strncmp(l.name, "vectors", 7) == 0)
            n += compare_vectors(l.path);
    printf("%d tokens, %d vectors\n", k.size, n);
    ck_assert_int_gt(n, 0);
}

/* A piece of a million letters needs a heap: with a scan for each merge, it would take minutes. */
TEST(a_long_piece)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    uint16_t *ids = malloc(N * sizeof *ids);
    int *back = malloc(N * sizeof *back);
    size_t size;
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    for (int i = 0; i < N; i++)
        text[i] = "abxyz"[gra_randint(&rng, 5)];
    ck_assert_int_eq(tokenizer_read(&k, GOLDEN), 0);
    const ptrdiff_t n = tokenizer_encode(&k, text, N, ids);
    ck_assert(n > 0 && n < N);
    for (ptrdiff_t i = 0; i < n; i++)
        back[i] = ids[i];
    char *decoded = tokenizer_decode(&k, back, (size_t)n, &size);
    ck_assert(decoded && size == N && memcmp(decoded, text, N) == 0);
    free(decoded), free(text), free(ids), free(back);
}

/* ---- training ---- */

static void same_file(const char *a, const char *b)
{
    static unsigned char one[ROOM], other[ROOM];
    const size_t n = read_bytes(a, one, ROOM), m = read_bytes(b, other, ROOM);
    ck_assert_msg(n == m && memcmp(one, other, n) == 0, "%s is not %s", a, b);
}

TEST(training_is_that_of_brute_force)
{
    const char *text = text_of(GOLDEN "/text.txt");
    ck_assert_msg(tokenizer_train(&k, text, strlen(text), 700) == 0, "%s", warned);
    ck_assert_int_eq(tokenizer_write(&k, FOLDER), 0);
    same_file(FOLDER "/vocab.json", GOLDEN "/vocab.json");
    same_file(FOLDER "/merges.txt", GOLDEN "/merges.txt");
}

TEST(fewer_tokens_are_the_first_merges)
{
    const char *text = text_of(GOLDEN "/text.txt");
    tokenizer all = { 0 };
    ck_assert_int_eq(tokenizer_train(&all, text, strlen(text), 700), 0);
    ck_assert_int_eq(tokenizer_train(&k, text, strlen(text), 300), 0);
    ck_assert_int_eq(k.size, 300);
    ck_assert_uint_eq(k.n_merges, 44);
    ck_assert(memcmp(k.merges, all.merges, k.n_merges * sizeof *k.merges) == 0);
    tokenizer_free(&all);
}

/* ---- special tokens ---- */

static void encodes(const char *text, int special, const char *expected)
{
    uint16_t ids[64];
    char got[200] = "";
    ck_assert_msg(tokenizer_read_special(&k, special, text, strlen(text)) == 0, "%s", warned);
    const ptrdiff_t n = tokenizer_encode(&k, text, strlen(text), ids);
    for (ptrdiff_t i = 0; i < n; i++)
        sprintf(got + strlen(got), "%d ", ids[i]);
    ck_assert_str_eq(got, expected);
}

TEST(special_tokens)                    /* the longest one at a place wins, as in Hugging Face's library */
{
    static const char json[] = "{\"added_tokens\": [{\"id\": 5, \"content\": \"<b>\", \"lstrip\": true},"
        "{\"id\": 6, \"content\": \"<b>a\"}], \"pre_tokenizer\": {\"type\": \"ByteLevel\"},"
        "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"aa\": 1, \"b\": 2, \"<\": 3, \">\": 4},"
        "\"merges\": [\"a a\"]}}";
    write_bytes(FOLDER "/tokenizer.json", json, strlen(json));
    ck_assert_msg(tokenizer_read(&k, FOLDER) == 0, "%s", warned);
    ck_assert_int_eq(tokenizer_read_special(&k, true, "a", 1), -1);
    *warned = k.strips = false;
    encodes("aa<b>aaa<b>b<b", true, "1 6 1 5 2 3 2 ");
    encodes("<ba", false, "3 2 0 ");
    ck_assert_str_eq(warned, "");
    encodes("aa<b>aaa", false, "1 3 2 4 1 0 ");
    ck_assert_str_eq(warned, "the text contains <b>a, which is read as ordinary characters: --special reads "
                     "it as the token");
    tokenizer_free(&k);
    k.reads_special = true;
    ck_assert_int_eq(tokenizer_train(&k, "<|endoftext|>\n\n<|endoftext|>ab ab", 33, 300), 0);
    encodes("ab<|endoftext|>\nab", true, "257 256 198 257 ");
}

TEST(special_tokens_that_are_made)      /* that a merge makes, or that are a byte; also written */
{
    static const char json[] = "{\"added_tokens\": [{\"id\": 1, \"content\": \"aa\"},"
        "{\"id\": 4, \"content\": \">\"}], \"pre_tokenizer\": {\"type\": \"ByteLevel\"},"
        "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"aa\": 1, \"b\": 2, \"<\": 3,"
        "\">\": 4, \"ba\": 5, \">>\": 6}, \"merges\": [\"b a\", \"a a\", \"> >\"]}}";
    write_bytes(FOLDER "/tokenizer.json", json, strlen(json));
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(tokenizer_read(&k, FOLDER) == 0, "%s", warned);
        encodes("baa>>", true, "2 1 4 4 ");
        encodes("baa>>", false, "5 0 6 ");
        ck_assert_int_eq(tokenizer_write(&k, FOLDER), 0);
        tokenizer_free(&k);
    }
}

/* ---- files ---- */

static void put(const char *name, const char *bytes)
{
    char path[256];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    write_bytes(path, bytes, strlen(bytes));
}

/* tokenizer.json of the golden merges: each merge a string, or an array of two. */
static void put_json(bool arrays)
{
    static char json[2 * ROOM];
    char *to = json;
    to += sprintf(to, "{ \"version\": \"1.0\", \"added_tokens\": [], \"normalizer\": null,\n"
                  " \"pre_tokenizer\": { \"type\": \"ByteLevel\", \"add_prefix_space\": false },\n"
                  " \"model\": { \"type\": \"BPE\", \"vocab\": %s, \"merges\": [",
                  text_of(GOLDEN "/vocab.json"));
    for (char *line = strchr(text_of(GOLDEN "/merges.txt"), '\n') + 1, *next; *line; line = next) {
        next = strchr(line, '\n') + 1;
        *to++ = arrays ? '[' : ' ';
        *to++ = '"';
        for (; *line != '\n'; line++)
            if (*line == ' ' && arrays)
                to += sprintf(to, "\", \"");
            else {
                if (*line == '"' || *line == '\\')
                    *to++ = '\\';
                *to++ = *line;
            }
        to += sprintf(to, "\"%s%s", arrays ? "]" : "", *next ? "," : "");
    }
    sprintf(to, "] } }\n");
    put("tokenizer.json", json);
}

TESTS(each_form_of_its_files_is_read, 5)
{
    tokenizer golden = { 0 };
    char one[17], other[17];
    ck_assert_int_eq(tokenizer_read(&golden, GOLDEN), 0);
    if (_i < 2)
        put(_i ? "vocab.bpe" : "merges.txt", text_of(GOLDEN "/merges.txt"));
    else if (_i < 4)
        put_json(_i == 3);
    else
        ck_assert_int_eq(tokenizer_write(&golden, FOLDER), 0);
    ck_assert_msg(tokenizer_read(&k, FOLDER) == 0, "%s", warned);
    ck_assert(k.n_merges == golden.n_merges &&
              memcmp(k.merges, golden.merges, k.n_merges * sizeof *k.merges) == 0);
    if (_i < 2) {                       /* without a vocabulary there is <|endoftext|>, as in GPT-2 */
        ck_assert_int_eq(k.size, golden.size + 1);
        ck_assert(tokenizer_is_end_of_text(&k, golden.size) && k.end == golden.size);
    } else {
        tokenizer_hash(&golden, one);
        tokenizer_hash(&k, other);
        ck_assert_str_eq(one, other);
        ck_assert_int_eq(k.end, golden.end);
    }
    tokenizer_free(&golden);
}

static const struct {
    const char *name, *text;            /* a file, beside the golden merges.txt if it is vocab.json */
    const char *expected;               /* words of the sentence */
} wrong[] = {
    { "vocab.json", "", "vocab.json" },
    { "vocab.json", "[1, 2]", "expected a vocabulary, an object of 1 to 65536 tokens" },
    { "vocab.json", "{\"a\": 0, \"b\": 2}", "got a token with an invalid id, expected 0 <= id < 2" },
    { "vocab.json", "{\"a\": 0, \"b\": -1}", "got a token with an invalid id, expected 0 <= id < 2" },
    { "vocab.json", "{\"a\": 0, \"b\": 0}", "vocab.json" },
    { "vocab.json", "{\"a\": 0, \"a\": 1}", "vocab.json" },
    { "vocab.json", "{\"a\": 0, \"b\": 1", "vocab.json" },
    { "merges.txt", "#version: 0.2\na\n", "merges.txt: merge 1" },
    { "merges.txt", "#version: 0.2\na b\n\nc d\n", "merges.txt: merge 2" },
    { "merges.txt", "#version: 0.2\na b\nabc d\n", "merges.txt: merge 2" },
    { "merges.txt", "#version: 0.2\na b\na b\n", "merges.txt: merge 2" },
    { "merges.txt", "#version: 0.2\n", "merges.txt" },
    { "merges.txt", "a \xff\n", "merges.txt: merge 1" },
    { "tokenizer.json", "{}", "model.type: got nothing, expected \"BPE\", as GPT-2 has it" },
    { "tokenizer.json", "{\"model\": {\"type\": \"WordPiece\"}}",
      "model.type: got \"WordPiece\", expected \"BPE\"" },
    { "tokenizer.json", "{\"model\": {\"type\": \"BPE\"}, \"pre_tokenizer\": {\"type\": \"Metaspace\"}}",
      "pre_tokenizer.type: got \"Metaspace\", expected \"ByteLevel\"" },
    { "tokenizer.json", "{\"normalizer\": {\"type\": \"NFC\"}, \"model\": {\"type\": \"BPE\"}, "
      "\"pre_tokenizer\": {\"type\": \"ByteLevel\"}}", "normalizer" },
};

TESTS(what_is_wrong_with_a_file_is_named, sizeof wrong / sizeof *wrong)
{
    put(wrong[_i].name, wrong[_i].text);
    if (strcmp(wrong[_i].name, "vocab.json") == 0)
        put("merges.txt", text_of(GOLDEN "/merges.txt"));
    ck_assert_int_eq(tokenizer_read(&k, FOLDER), -1);
    ck_assert_msg(strstr(warned, wrong[_i].expected), "%s: it says \"%s\"", wrong[_i].text, warned);
    ck_assert_msg(strstr(warned, FOLDER), "it does not name the file: %s", warned);
}

TEST(a_folder_without_a_tokenizer)
{
    ck_assert_int_eq(tokenizer_read(&k, FOLDER), 1);
    ck_assert_str_eq(warned, "");
}

/* ---- names, and characters ---- */

TEST(names)
{
    static const char *const named[][2] = {
        { "a", "a" }, { " the", "·the" }, { "\n\t", "↵→" }, { "\xE4\xB8", "\\xE4\\xB8" },
        { "\x01\x7F", "\\x01\\x7F" },
        { "\xC3\xA9", "é" }, { "\xC2\x85", "\\xC2\\x85" },
    };
    for (int i = 0; i < LENGTH(named); i++) {
        char name[TOKENIZER_NAME], often[64] = "";
        bool found = false;
        for (int j = 0; j < 4; j++)
            strcat(often, named[i][0]);
        ck_assert_int_eq(tokenizer_train(&k, often, strlen(often), 300), 0);
        for (int id = 0; id < k.size; id++) {
            size_t n;
            const char *bytes = tokenizer_bytes(&k, id, &n);
            if (n != strlen(named[i][0]) || memcmp(bytes, named[i][0], n) != 0)
                continue;
            ck_assert_str_eq(tokenizer_name(&k, id, name), named[i][1]);
            found = true;
        }
        ck_assert(found);
        tokenizer_free(&k);
    }
}

TEST(unfinished_characters)
{
    static const struct { const char *bytes; size_t n; } all[] = {
        { "", 0 }, { "a", 0 }, { "a\xC3", 1 }, { "\xC3\xA9", 0 }, { "\xE4\xB8", 2 }, { "\xE4\xB8\xAD", 0 },
        { "\xF0\x9F\x98", 3 }, { "\xF0\x9F\x98\x80", 0 }, { "\x80", 0 }, { "\xFF", 0 }, { "\xE4\xE4", 1 },
        { "\xC1", 0 }, { "\xE4z", 0 },
    };
    for (int i = 0; i < LENGTH(all); i++)
        ck_assert_uint_eq(utf8_unfinished(all[i].bytes, strlen(all[i].bytes)), all[i].n);
}
