/* 35 byte_pairs: the judge. An answer turns the texts of a part into lists of ids. The judge compares them
 * with the right lists, and with the lists that known mistakes give. */
#include "judge.h"

enum { ROOM = 64, MOST = 8, TEXTS = 40, NONE = -1 };
enum stage { FIND, MERGE, LEARN, ENCODE };
enum mistake { RIGHT, FIRST, LAST, LARGEST, BY_RIGHT, RIGHT_LARGEST, PAST, SHORT, APART, STAYS, LEFT,
               READS_PAST,
               OLD_N, LEAST_1, NOT_MERGED, LEFTMOST, BACKWARDS, ALIKE, MISTAKES };
#define EQUAL "of equally frequent pairs "
static const struct { enum stage in; const char *says; } known[] = {
    [FIRST] = { FIND, EQUAL "the first in the text was taken: take the smallest left id" },
    [LAST] = { FIND, EQUAL "the last in the text was taken: take the smallest left id" },
    [LARGEST] = { FIND, EQUAL "the one with the largest ids was taken: take the smallest left id" },
    [BY_RIGHT] = { FIND, EQUAL "the one with the smallest right id was taken: compare left ids first" },
    [RIGHT_LARGEST] = { FIND, EQUAL "with the same left id, the one with the largest right id was taken: "
                              "take the smallest right id" },
    [PAST] = { FIND, "ids[n], past the end, was read: the last pair is (ids[n - 2], ids[n - 1])" },
    [SHORT] = { FIND, "the last pair is not counted: it is (ids[n - 2], ids[n - 1])" },
    [APART] = { FIND, "overlapping pairs were counted once: in aaa the pair (a, a) occurs twice" },
    [STAYS] = { MERGE, "the right id of the pair is still there: replace both ids by one" },
    [LEFT] = { MERGE, "only the left id is compared: compare the right one too" },
    [READS_PAST] = { MERGE, "ids[n], past the end, was read as the right id of the last one" },
    [OLD_N] = { MERGE, "the old length was returned: return how many ids are left" },
    [LEAST_1] = { LEARN, "a pair that occurs once was merged: stop when no pair occurs twice" },
    [NOT_MERGED] = { LEARN, "a pair is not merged before the next pair is counted" },
    [LEFTMOST] = { ENCODE, "the leftmost pair that is a merge was replaced first: begin with the merge of "
                           "the lowest number" },
    [BACKWARDS] = { ENCODE, "the merges were applied from the last to the first: begin with merge 0" },
    [ALIKE] = { ENCODE, "every merge got the id 256, but merge r should make 256 + r" } };

struct list {
    int ids[ROOM], n;                           /* n ids, and after them ids that must not be read */
};

static bool is_at(const int *at, struct merge pair)
{
    return at[0] == pair.left && at[1] == pair.right;
}

/* b occurs first, and as often as a: is a taken instead? */
static bool preferred(struct merge a, struct merge b, enum mistake m)
{
    const int left = a.left - b.left, right = m == RIGHT_LARGEST ? b.right - a.right : a.right - b.right;
    return m == FIRST ? false : m == LAST ? true : m == BY_RIGHT ? right < 0 || (right == 0 && left < 0)
         : (left ? left < 0 : right < 0) != (m == LARGEST && (left || right));
}

static int frequent(const struct list *t, struct merge *best, enum mistake m)
{
    const int end = t->n - 1 + (m == PAST);
    int most = 0;
    for (int i = 0; i < end; i++) {
        const struct merge here = { t->ids[i], t->ids[i + 1] };
        int count = 0;
        for (int j = 0; j < end - (m == SHORT); j++)
            if (is_at(t->ids + j, here))
                count++, j += m == APART;
        if (count > most || (count && count == most && preferred(here, *best, m)))
            most = count, *best = here;
    }
    return most;
}

static void replace(struct list *t, struct merge pair, int id, enum mistake m)
{
    const struct list of = *t;
    t->n = 0;
    for (int from = 0; from < of.n; t->n++) {
        const int *at = of.ids + from;
        const bool is = from + 1 < of.n + (m == READS_PAST)
                     && (is_at(at, pair) || (m == LEFT && *at == pair.left));
        t->ids[t->n] = is ? id : *at;
        from += is && m != STAYS ? 2 : 1;
    }
    t->n = m == OLD_N ? of.n : t->n;
}

/* The list to compare, if a function returns n: the ids, or for FIND the count and the pair, or for LEARN all
 * pairs. */
static struct list compared(enum stage in, struct list t, int n, const struct merge *made)
{
    struct list pairs = { { n }, in == FIND };
    for (int r = 0; (in == FIND || in == LEARN) && r < (in == FIND ? n > 0 : n); r++)
        pairs.ids[pairs.n++] = made[r].left, pairs.ids[pairs.n++] = made[r].right;
    t.n = n;
    return in == FIND || in == LEARN ? pairs : t;
}

static struct list expected(enum stage in, struct list t, const struct merge *merges, int count,
                            enum mistake m)
{
    struct merge made[MOST + 1];
    int n = in == FIND ? frequent(&t, made, m) : 0;
    for (; in == LEARN && n < count && frequent(&t, &made[n], RIGHT) >= (m == LEAST_1 ? 1 : 2); n++)
        if (m != NOT_MERGED)
            replace(&t, made[n], 256 + n, RIGHT);
    for (int i = 0; i + 1 < t.n && m == LEFTMOST; i++)
        for (int r = 0; r < count; r++)
            if (is_at(t.ids + i, merges[r])) {
                replace(&t, merges[r], 256 + r, RIGHT);
                i = r = -1;
            }
    for (int k = 0; k < count && (in == MERGE || in == ENCODE); k++) {
        const int r = m == BACKWARDS ? count - 1 - k : k;
        replace(&t, merges[r], m == ALIKE ? 256 : 256 + r, m);
    }
    return compared(in, t, in == FIND || in == LEARN ? n : t.n, made);
}

static struct list answered(enum stage in, struct list t, const struct merge *merges, int count,
                            const char *text)
{
    static const char *const name[] = { "most_frequent_pair", "merge_pair", "learn_merges", "encode_ids" };
    const struct list given = t;
    const int most = in == LEARN ? count : t.n;
    struct merge made[MOST + 1];
    memset(made, NONE, sizeof made);
    const int n = in == FIND ? most_frequent_pair(t.ids, t.n, made) : in == MERGE ? merge_pair(t.ids, t.n,
        *merges, 256)
                : in == LEARN ? learn_merges(t.ids, t.n, made, count) : encode_ids(t.ids, t.n, merges, count);
    if (n < 0 || n > most)
        judge_wrong("in \"%.*s\": %s returned %d: expected 0 to %d", given.n, text, name[in], n, most);
    const int from = in == FIND ? 0 : t.n;
    if (in == LEARN ? made[count].left != NONE
                    : memcmp(t.ids + from, given.ids + from, (size_t)(ROOM - from) * sizeof *t.ids))
        judge_wrong("in \"%.*s\": %s wrote %s", given.n, text, name[in], in == FIND ? "to ids: only read them"
                    : in == LEARN ? "more merges than were asked for" : "past the end of the ids");
    return compared(in, t, n, made);
}

static bool same(struct list a, struct list b)
{
    return a.n == b.n && !memcmp(a.ids, b.ids, (size_t)a.n * sizeof *a.ids);
}

static const char *shown(struct list t)         /* "a b 256" */
{
    static char text[12][400];
    static int next;
    char *to = text[next = (next + 1) % 12];
    int at = snprintf(to, sizeof *text, "%s", t.n ? "" : "none");
    for (int i = 0; i < t.n; i++)
        at += snprintf(to + at, 8, t.ids[i] >= 'a' && t.ids[i] <= 'z' ? "%s%c" : "%s%d", i ? " " : "",
                       t.ids[i]);
    return to;
}

/* texts: after each comes a dot and a letter, which is in the array after the text: "abab.a ba.c " */
static void judge(const char *part, enum stage in, const char *texts, const struct merge *merges, int count)
{
    static struct list given[TEXTS], got[TEXTS];
    const char *text[TEXTS], *why = "";
    char made[300] = "";
    int n = 0, wrong = NONE;
    judge_part("%s", part);
    for (const char *p = texts; *p; p += given[n++].n + 3) {
        given[n].n = (int)strcspn(text[n] = p, ".");
        for (int i = 0; i < ROOM; i++)
            given[n].ids[i] = p[i < given[n].n ? i : given[n].n + 1];
        got[n] = answered(in, given[n], merges, count, p);
        if (wrong == NONE && !same(got[n], expected(in, given[n], merges, count, RIGHT)))
            wrong = n;
    }
    for (int m = RIGHT + 1; m < MISTAKES && wrong != NONE && !*why; m++) {
        int fit = known[m].in == in ? 0 : n + 1;
        while (fit < n && same(got[fit], expected(in, given[fit], merges, count, (enum mistake)m)))
            fit++;
        why = fit == n ? known[m].says : "";
    }
    for (int r = 0; r < count && in == ENCODE; r++)
        snprintf(made + strlen(made), sizeof made - strlen(made),
                 "%s%d = %s", r ? ", " : "\nthe merges are ", 256 + r,
                 shown((struct list){ { merges[r].left, merges[r].right }, 2 }));
    if (wrong != NONE)
        judge_wrong("in \"%.*s\": got %s %s, expected %s%s%s%s", given[wrong].n, text[wrong], in == FIND
                    ? "the count and the pair" : in == LEARN ? "the merges" : "the ids", shown(got[wrong]),
                    shown(expected(in, given[wrong], merges, count, RIGHT)), made, *why ? "\nlikely: " : "",
                        why);
}

/* Twenty random texts of three to five letters. */
static const char *drawn(uint64_t seed)
{
    static char text[TEXTS * ROOM];
    const double *x = judge_draw(seed, TEXTS * ROOM, 0, 1);
    char *to = text;
    for (int k = 0; k < 20; k++, to += sprintf(to, ".a "))
        for (int i = 0; i < 6 + 2 * k; i++)
            *to++ = (char)('a' + (3 + k % 3) * *x++);
    return text;
}

void judge_exercise(void)
{
    static const struct merge three[] = { { 'a', 'a' }, { 'a', 'b' }, { 256, 257 } };
    /* "abc" is not 258 */
    static const struct merge apart[] = { { 'a', 'b' }, { 'b', 'c' }, { 'a', 257 } };
    static const struct merge five[] = { { 'b', 'c' }, { 'a', 'b' }, { 'x', 'y' }, { 256, 'd' }, { 257,
        257 } };
    judge("the most frequent pair", FIND, "xabcabdabeab.a abxabyba.b bbaaaac.c zyabxab.a ", NULL, 0);
    judge("the most frequent pair: equally frequent ones", FIND,
          "cdxcdyabzab.b bcbcbbab.c bdxbdycazca.a xbxayaxbxa.a "
          "eadcecab.a ", NULL, 0);
    judge("the most frequent pair: random texts", FIND, drawn(1), NULL, 0);
    judge("the most frequent pair of one id, of two, and of none", FIND, "ba.a a.a .a ", NULL, 0);
    judge("a merge", MERGE, "xabyabxba.x abcab.x xxabxa.b ", apart, 1);
    judge("a merge of overlapping pairs", MERGE, "aaabaaaa.x aaa.a ", three, 1);
    judge("a merge in a text of one id, and of none", MERGE, "a.b .a ", apart, 1);
    judge("learning: one merge", LEARN, "aaabdaaabac.a ", NULL, 1);
    judge("learning: the example", LEARN, "aaabdaaabac.a abc.a .a ", NULL, MOST);
    judge("learning: three merges of random texts", LEARN, drawn(2), NULL, 3);
    judge("learning: random texts", LEARN, drawn(3), NULL, MOST);
    judge("encoding: the merge with the lowest number first", ENCODE, "daab.a aaabdaaabac.a ", three, 3);
    judge("encoding: a merge whose pair never occurs", ENCODE, "abcab.a ", apart, 3);
    judge("encoding: random texts", ENCODE, drawn(4), five, 5);
    judge("encoding without merges, and without a text", ENCODE, "abab.a .a ", five, 0);
}
