/* 35 byte_pairs: the judge. Ids, pairs and merges are compared as lists of numbers, in which -1 is "none". */
#include "judge.h"
#include <stdlib.h>

enum { ROOM = 64, MOST = 8, CASES = 40, NONE = -1 };

struct text {
    int ids[ROOM], n;                           /* n ids, and then others, which are not to be read */
};
struct given {
    struct text         text;
    const char         *bytes;
    const struct merge *merges;
    struct merge        pair;
    int                 count;                  /* of merges, or the most that may be learned */
};

/* The texts of a part, and what the answer made of them: they are compared all at once, as one text alone
 * could fit several mistakes. */
static struct {
    struct given in[CASES];
    double       got[CASES * ROOM];
    int          n;
} part;

static struct given *begin(const char *bytes, int behind)
{
    struct given *g = &part.in[part.n++];
    *g = (struct given){ .bytes = bytes, .text.n = (int)strlen(bytes) };
    for (int i = 0; i < ROOM; i++)
        g->text.ids[i] = i < g->text.n ? (unsigned char)bytes[i] : behind;
    return g;
}

static void list(const struct text *t, double *out)
{
    for (int i = 0; i < ROOM; i++)
        out[i] = i < t->n ? t->ids[i] : NONE;
}

static bool is_at(const int *at, struct merge pair)
{
    return at[0] == pair.left && at[1] == pair.right;
}

/* Learning and encoding are judged after their steps: mistakes in these are not what is wrong there. */
static bool steps_are_right;

static bool step(const char *says)
{
    return !steps_are_right && slip(says);
}

/* Is a taken rather than b, if both are equally frequent, and b occurs first? */
static bool preferred(struct merge a, struct merge b)
{
    const int left = a.left - b.left, right = a.right - b.right;
    if (step("of equally frequent pairs the first in the text was taken: take the smallest left id"))
        return false;
    if (step("of equally frequent pairs the last in the text was taken: take the smallest left id"))
        return true;
    if (step("of equally frequent pairs the one with the largest ids was taken: take the smallest left id"))
        return left > 0 || (left == 0 && right > 0);
    if (step("of equally frequent pairs that with the largest left id was taken: take the smallest"))
        return left > 0 || (left == 0 && right < 0);
    if (step("of equally frequent pairs that with the largest right id was taken: take the smallest left id"))
        return right > 0 || (right == 0 && left < 0);
    if (step("of equally frequent pairs that with the smallest right id was taken: compare left ids first"))
        return right < 0 || (right == 0 && left < 0);
    const bool first = step("of equally frequent pairs with one left id the first in the text was taken: "
                            "take that with the smallest right id");
    const bool last = step("of equally frequent pairs with one left id the last in the text was taken: take "
                           "that with the smallest right id");
    const bool larger = step("of equally frequent pairs with one left id that with the largest right id was "
                             "taken: take the smallest");
    if (step("a pair was taken as smaller if either id is: right ids count only if the left ones are equal"))
        return left < 0 || right < 0;
    return left ? left < 0 : first ? false : last ? true : larger ? right > 0 : right < 0;
}

/* The pair to merge, but none of those before, and how often it occurs. */
static int frequent(const struct text *t, struct merge *best, const struct merge *before, int nbefore)
{
    const bool second = step("only every second pair is counted: (ids[1], ids[2]) is one too");
    const bool last = step("the last pair is not counted: it is (ids[n - 2], ids[n - 1])");
    const bool past = step("ids[n], past the end, was read: the last pair is (ids[n - 2], ids[n - 1])");
    const bool apart = step("overlapping pairs were counted once: in aaa the pair (a, a) occurs twice");
    const bool turned = step("(a, b) and (b, a) are counted together: they are two different pairs");
    const bool only_left = step("ids are counted, not pairs: it is the most frequent id, with the next");
    const int begin = step("the pair (ids[0], ids[1]) is counted, but never taken: begin with it");
    const int stop = step("the pair (ids[n - 2], ids[n - 1]) is counted, but never taken: go on to it");
    const int end = t->n - 1 - last + past;
    int most = 0;
    *best = (struct merge){ NONE, NONE };
    for (int i = begin; i < end - stop; i++) {
        const struct merge here = { t->ids[i], t->ids[i + 1] }, back = { here.right, here.left };
        int count = 0, done = 0;
        for (int r = 0; r < nbefore; r++)
            done += is_at(t->ids + i, before[r]);
        for (int j = 0; j < end; j += 1 + second) {
            const int *at = t->ids + j;
            const bool is = only_left ? *at == here.left : is_at(at, here) || (turned && is_at(at, back));
            count += is, j += is && apart;
        }
        if (!done && count && (count > most || (count == most && preferred(here, *best))))
            most = count, *best = here;
    }
    return most;
}

static void replace(struct text *t, struct merge pair, int id, bool one_place)
{
    const bool once = step("only the first occurrence was merged: merge all") || one_place;
    const bool stays = step("the right id of the pair is still there: both ids become one");
    const bool before = step("the left id of the pair is still there: both ids become one");
    const bool only_left = step("only the left id is compared: the right one must match too");
    const bool turned = step("(right, left) was merged too: it is another pair");
    const bool past = step("ids[n], past the end, was read as the right id of the last one");
    const bool kept = step("the old length was returned: return how many ids are left");
    const bool no_last = step("the last pair is not merged: it is (ids[n - 2], ids[n - 1])");
    const bool lost = step("the last id is lost: if it is not part of a pair, copy it");
    const bool skips = step("the id after a merged pair is lost: a pair has two ids");
    const bool backwards = step("merged from right to left: in aaa the first two must become one");
    const struct text of = *t;
    bool done = false;
    t->n = 0;
    for (int from = 0; from < of.n;) {
        const int *at = of.ids + from;
        int same = 0;                                   /* ids of a run from here: aaa */
        while (backwards && pair.left == pair.right && from + same < of.n && at[same] == pair.left)
            same++;
        const bool is = from < of.n - 1 + past - no_last && !(once && done) && same % 2 == 0
            && (is_at(at, pair) || (only_left && *at == pair.left)
                || (turned && *at == pair.right && at[1] == pair.left));
        if (is && before)
            t->ids[t->n++] = *at;
        if (is || !lost || from < of.n - 1)
            t->ids[t->n++] = is ? id : *at;
        from += is && !stays ? 2 + skips : 1;
        done = done || is;
    }
    t->n = kept ? of.n : t->n;
}

/* The count, then the pair. */
static void found(double *out, const struct given *g)
{
    struct merge p;
    int count = frequent(&g->text, &p, NULL, 0);
    count -= count && slip("the count is one too small: the pair at i itself counts");
    count += count && slip("the count is one too large: begin at 0, as the pair at i itself is counted too");
    count = count == 1 && slip("the most frequent pair may occur only once: 1 is its count") ? 0 : count;
    const bool turned = slip("left and right are exchanged");
    p = turned ? (struct merge){ p.right, p.left } : p;
    list(&(struct text){ { count, p.left, p.right }, count ? 3 : 1 }, out);
}

static void merged(double *out, const struct given *g)
{
    struct text t = g->text;
    const int id = slip("the new id is one too large") ? 257 : 256, n = t.n;
    replace(&t, g->pair, id, false);
    for (int i = 0; slip("the new id is not written: the left id of the pair is there") && i < t.n; i++)
        t.ids[i] = t.ids[i] == id ? g->pair.left : t.ids[i];
    t.n = slip("how many pairs were merged was returned: return how many ids are left") ? n - t.n : t.n;
    list(&t, out);
}

static void learned(double *out, const struct given *g)
{
    const bool never = slip("the pair is not merged before the next one is counted");
    const bool old_n = slip("the text is counted with its old length: use the one that merge_pair returned");
    const bool at_once = slip("all merges come from the counts of the first text: count again after each");
    const bool alike = slip("every merge got the id 256: merge r makes 256 + r");
    const int first = slip("the ids of merges begin at 257: merge r makes 256 + r") ? 257
        : slip("the ids of merges begin at 255, which is a byte: merge r makes 256 + r") ? 255
        : slip("the ids of merges begin at 0, which is a byte: merge r makes 256 + r") ? 0 : 256;
    const int least = slip("a pair that occurs once was merged: stop when none occurs twice") ? 1
        : slip("a pair that occurs twice was not merged: stop when none occurs twice") ? 3 : 2;
    const int few = slip("it stops one merge too early: up to `most` merges are made"), most = g->count - few;
    struct text t = g->text;
    struct merge made[MOST];
    int r = 0;
    steps_are_right = true;
    for (; r < most && frequent(&t, &made[r], made, at_once ? r : 0) >= least; r++) {
        const int n = t.n;
        if (!never && !at_once)
            replace(&t, made[r], alike ? 256 : first + r, false);
        t.n = old_n ? n : t.n;
    }
    steps_are_right = false;
    struct text merges = { .n = 2 * r };
    for (int i = 0; i < merges.n; i++)
        merges.ids[i] = i % 2 ? made[i / 2].right : made[i / 2].left;
    list(&merges, out);
}

/* How many of the n ids at the beginning are those of which token `id` is made; 0: they are others. */
static int begins_with(const int *ids, int n, const struct given *g, int id)
{
    const struct merge *m = id >= 256 && id < 256 + g->count ? &g->merges[id - 256] : NULL;
    const int left = m ? begins_with(ids, n, g, m->left) : n > 0 && *ids == id;
    const int right = m && left ? begins_with(ids + left, n - left, g, m->right) : 0;
    return !m ? left : right ? left + right : 0;
}

/* A mistake: at each place the longest token. */
static void longest(struct text *t, const struct given *g)
{
    const struct text from = *t;
    t->n = 0;
    for (int at = 0, most; at < from.n; at += most, t->n++) {
        t->ids[t->n] = from.ids[at], most = 1;
        for (int id = 256; id < 256 + g->count; id++) {
            const int n = begins_with(from.ids + at, from.n - at, g, id);
            if (n > most)
                t->ids[t->n] = id, most = n;
        }
    }
}

/* The number of the merge that is applied next, after `last` (-1: it is the first); -1: none. */
static int next(const struct text *t, const struct given *g, int last)
{
    const bool leftmost =
        slip("the leftmost pair that is a merge was replaced first: the one with the lowest number comes "
             "first")
        || slip("the leftmost pair that is a merge was replaced first, wherever it occurs: the one with the "
                "lowest number comes first");
    const bool rightmost =
        slip("the rightmost pair that is a merge was replaced first, wherever it occurs: the one with "
             "the lowest number comes first");
    const bool counts = slip("the most frequent pair that is a merge was replaced first: the one with the "
                             "lowest number comes first");
    const bool highest = slip("the merges were applied from the last to the first: begin with merge 0");
    const bool once = slip("each merge was applied to one place only: apply it wherever it occurs");
    const bool stops = slip("it stops at a merge that the text does not have: go on with the next one");
    const int from = slip("merge 0 was not applied"), to = g->count - slip("the last merge was not applied");
    int best = NONE, most = 0;
    for (int r = once ? last + 1 : from; r < (highest && last != NONE ? last : to); r++)
        for (int i = 0, count = 0; i + 1 < t->n; i++) {
            if (!is_at(t->ids + i, g->merges[r]))
                continue;
            const int rank = leftmost ? t->n - i : rightmost ? i + 1 : counts ? ++count
                           : highest ? r + 1 : g->count - r;
            if (rank > most)
                best = r, most = rank;
        }
    return stops && best > last + 1 ? NONE : best;
}

static void encoded(double *out, const struct given *g)
{
    struct text t = g->text;
    struct merge best;
    const bool one = slip("each merge was applied to one place only: apply it wherever it occurs")
        || slip("the leftmost pair that is a merge was replaced first: the one with the lowest number comes "
                "first");
    const bool again = slip("merges were learned from this text: apply those that are given");
    const int first = slip("the ids of merges begin at 0, which is a byte: merge r makes 256 + r") ? 0
        : slip("the ids of merges begin at 257: merge r makes 256 + r") ? 257 : 256;
    const bool alike = slip("every merge got the id 256: merge r makes 256 + r");
    const bool pass = slip("the text was gone through once, with all merges: go through it for each merge");
    const bool twice = slip("a pair that occurs once was not merged: encoding does not count");
    const bool nothing = slip("nothing was merged");
    const bool only = slip("it stops after the first merge that the text has: go on with the next one");
    steps_are_right = true;
    const bool old_n = slip("the old length was used: go on with the one that merge_pair returned");
    const bool back =
        slip("the merge with the highest number was applied first: the one with the lowest comes first");
    const bool greedy = slip("at each place the longest token that fits was taken: replace pairs instead, "
                             "first those of the merge with the lowest number");
    const bool grows = slip("an id was merged with the next as long as they are a pair: all of the text "
                            "comes first, by the lowest number");
    if (greedy)
        longest(&t, g);
    for (int r = 0; again && r < g->count && frequent(&t, &best, NULL, 0) >= 2; r++)
        replace(&t, best, 256 + r, false);
    for (int r = 0; r < g->count && old_n; r++) {
        const int n = t.n;
        replace(&t, g->merges[r], first + r, false);
        t.n = n;
    }
    for (int n = NONE; back && n != t.n;) {
        n = t.n;
        for (int r = g->count - 1; r >= 0; r--)
            replace(&t, g->merges[r], first + r, false);
    }
    for (int i = 0; i + 1 < t.n && grows; i++)
        for (int r = 0; r < g->count && i + 1 < t.n; r++)
            if (is_at(t.ids + i, g->merges[r])) {
                t.ids[i] = first + r, t.n--;
                memmove(t.ids + i + 1, t.ids + i + 2, (ROOM - 2 - (size_t)i) * sizeof *t.ids);
                r = -1;
            }
    for (int i = 0; i + 1 < t.n && pass; i++)
        for (int r = 0, hit = 0; r < g->count && !hit; r++)
            if ((hit = is_at(t.ids + i, g->merges[r]))) {
                t.ids[i] = first + r, t.n--;
                memmove(t.ids + i + 1, t.ids + i + 2, (ROOM - 2 - (size_t)i) * sizeof *t.ids);
            }
    for (int r = 0; r < g->count && (twice || alike || only); r++) {
        int count = 0;
        for (int i = 0; i + 1 < t.n; i++)
            count += is_at(t.ids + i, g->merges[r]);
        if (count > twice)
            replace(&t, g->merges[r], first + (alike ? 0 : r), false);
        r = only && count ? g->count : r;
    }
    const bool other = greedy || again || nothing || old_n || back || grows || pass || twice || alike || only;
    for (int r = NONE, k = 0; k < ROOM && !other && (r = next(&t, g, r)) != NONE; k++)
        replace(&t, g->merges[r], first + r, one);
    steps_are_right = false;
    list(&t, out);
}

static const char *shown(const double *x, char *text, size_t room)
{
    size_t at = (size_t)snprintf(text, room, "%s", x[0] == NONE ? "none" : "");
    for (int i = 0; i < ROOM && x[i] != NONE && at < room - 12; i++)
        at += (size_t)snprintf(text + at, room - at, x[i] >= 'a' && x[i] <= 'z' ? "%s%c" : "%s%d",
                               i ? " " : "", (int)x[i]);
    return text;
}

/* "\nthe merges are 256 = a b, 257 = 256 c", if the text is encoded with some. */
static const char *numbered(const struct given *g, char *text, size_t room)
{
    size_t at = (size_t)snprintf(text, room, "%s", g->merges && g->count ? "\nthe merges are " : "");
    for (int r = 0; g->merges && r < g->count && at < room; r++) {
        char pair[40];
        const double ids[] = { g->merges[r].left, g->merges[r].right, NONE };
        at += (size_t)snprintf(text + at, room - at, "%s%d = %s", r ? ", " : "", 256 + r,
                               shown(ids, pair, sizeof pair));
    }
    return text;
}

static void reference_of(double *out, void (*of)(double *out, const struct given *g))
{
    for (int i = 0; i < part.n; i++)
        of(out + i * ROOM, &part.in[i]);
}

static void all_found(double *out, void *arg)   { (void)arg, reference_of(out, found); }
static void all_merged(double *out, void *arg)  { (void)arg, reference_of(out, merged); }
static void all_learned(double *out, void *arg) { (void)arg, reference_of(out, learned); }
static void all_encoded(double *out, void *arg) { (void)arg, reference_of(out, encoded); }

/* As judge_against, but the finding shows whole lists. */
static void compare(const char *what, judge_reference *reference)
{
    char a[400], b[400], made[200];
    double *want = judge_room((size_t)(part.n * ROOM)), *got = part.got;
    reference(want, NULL);
    for (int i = 0; i < part.n; i++, want += ROOM, got += ROOM)
        if (memcmp(got, want, ROOM * sizeof *want)) {
            const char *why = judge_slip(GRA_SHAPE(part.n, ROOM), part.got, 0, reference, NULL);
            why = why && !strncmp(why, "two", 3) ? NULL : why;      /* two are too many to guess here */
            judge_wrong("in \"%s\": got %s %s, expected %s%s%s%s", part.in[i].bytes, what,
                        shown(got, a, sizeof a), shown(want, b, sizeof b),
                        numbered(&part.in[i], made, sizeof made), why ? "\nlikely: " : "",
                        why ? why : "");
        }
    judge_against(what, GRA_SHAPE(part.n, ROOM), part.got, 0, reference, NULL);
    part.n = 0;
}

/* The answer's function has changed the ids of the last text, and says that n are left. */
static void ids_left(const char *function, struct text *t, int n)
{
    const struct given *g = &part.in[part.n - 1];
    if (n < 0 || n > t->n)
        judge_wrong("in \"%s\": %s returned %d, but of %d ids at most %d are left", g->bytes, function, n,
                    t->n,
                    t->n);
    for (int i = t->n; i < ROOM; i++)
        if (t->ids[i] != g->text.ids[i])
            judge_wrong("in \"%s\": %s wrote to ids[%d], past the end: there are %d ids", g->bytes, function,
                        i,
                        t->n);
    t->n = n;
    list(t, part.got + (part.n - 1) * ROOM);
}

static void finds(const char *bytes, int behind)
{
    struct given *g = begin(bytes, behind);
    struct text t = g->text;
    struct merge pair = { NONE, NONE };
    const int count = most_frequent_pair(t.ids, t.n, &pair);
    if (memcmp(t.ids, g->text.ids, sizeof t.ids))
        judge_wrong("most_frequent_pair changed the ids: only read them");
    if (count && (pair.left == NONE || pair.right == NONE))
        judge_wrong("in \"%s\": most_frequent_pair returned %d, but did not set pair->%s", bytes, count,
                    pair.left == NONE ? "left" : "right");
    list(&(struct text){ { count, pair.left, pair.right }, count ? 3 : 1 }, part.got + (part.n - 1) * ROOM);
}

static void merges(const char *bytes, int behind, char left, char right)
{
    struct given *g = begin(bytes, behind);
    struct text t = g->text;
    g->pair = (struct merge){ left, right };
    ids_left("merge_pair", &t, merge_pair(t.ids, t.n, g->pair, 256));
}

static void learns(const char *bytes, int most)
{
    struct given *g = begin(bytes, 'a');
    struct text t = g->text, got = { .n = 0 };
    struct merge made[MOST + 1];
    g->count = most;
    memset(made, NONE, sizeof made);
    const int n = learn_merges(t.ids, t.n, made, most);
    if (n < 0 || n > most || made[most].left != NONE)
        judge_wrong("in \"%s\": at most %d merges were asked for, but learn_merges %s %d", bytes, most,
                    n < 0 || n > most ? "returned" : "wrote number", n < 0 || n > most ? n : most);
    for (; got.n < 2 * n; got.n++)
        got.ids[got.n] = got.n % 2 ? made[got.n / 2].right : made[got.n / 2].left;
    list(&got, part.got + (part.n - 1) * ROOM);
}

static void encodes(const char *bytes, const struct merge *merges, int count)
{
    struct given *g = begin(bytes, 'a');
    struct text t = g->text;
    g->merges = merges, g->count = count;
    ids_left("encode_ids", &t, encode_ids(t.ids, t.n, merges, count));
}

/* Letters a, b, c, ... at random. */
static const char *drawn(int seed, int letters, int n)
{
    char *bytes = calloc((size_t)n + 1, 1);
    const double *x = judge_draw((uint64_t)seed, (size_t)n, 0, letters);
    for (int i = 0; bytes && i < n; i++)
        bytes[i] = (char)('a' + fmin(x[i], letters - 1));
    return bytes ? bytes : "";
}

void judge_exercise(void)
{
    const struct merge three[] = { { 'a', 'a' }, { 'a', 'b' }, { 256, 257 } };
    const struct merge apart[] = { { 'a', 'b' }, { 'b', 'c' }, { 'a', 257 } };     /* "abc" is not 258 */
    const struct merge five[] = { { 'b', 'c' }, { 'a', 'b' }, { 'x', 'y' }, { 256, 'd' }, { 257, 257 } };
    judge_part("the most frequent pair");       /* no two are equally frequent, so no slip in ties fits */
    finds("xabcabdabeab", 'a'), finds("abxabyba", 'b'), finds("bbaaaac", 'c'), finds("zyabxab", 'a');
    compare("the count and the pair", all_found);
    judge_part("the most frequent pair: equally frequent ones");
    finds("cdxcdyabzab", 'b'), finds("bcbcbbab", 'c'), finds("bdxbdycazca", 'a'), finds("xbxayaxbxa", 'a');
    finds("ba", 'a');
    for (int i = 0; i < 30; i++)
        finds(drawn(i, 3 + i % 3, 6 + i), 'a');
    compare("the count and the pair", all_found);
    judge_part("the most frequent pair of one id, and of none");
    finds("a", 'a'), finds("", 'a');
    compare("the count", all_found);
    judge_part("a merge");
    merges("xabyabxba", 'x', 'a', 'b'), merges("abcab", 'x', 'a', 'b'), merges("xxabxa", 'b', 'a', 'b');
    compare("the ids", all_merged);
    judge_part("a merge of overlapping pairs");
    merges("aaabaaaa", 'x', 'a', 'a'), merges("aaa", 'a', 'a', 'a');
    compare("the ids", all_merged);
    judge_part("a merge in a text of one id, and of none");
    merges("a", 'b', 'a', 'b'), merges("", 'a', 'a', 'a');
    compare("the ids", all_merged);
    judge_part("learning: the example");
    learns("aaabdaaabac", 1), learns("aaabdaaabac", 2), learns("aaabdaaabac", 3);
    learns("aaabdaaabac", MOST), learns("abc", 4), learns("", 4);
    compare("the merges", all_learned);
    judge_part("learning: random texts");
    for (int i = 0; i < 20; i++)
        learns(drawn(100 + i, 2 + i % 3, 10 + 2 * i), 1 + i % MOST);
    compare("the merges", all_learned);
    judge_part("encoding: the merge with the lowest number first");
    encodes("daab", three, 3), encodes("aaabdaaabac", three, 3), encodes("abcdababx", five, 5);
    encodes("abcab", apart, 3), encodes("abcabab", five, 5), encodes("bcbcababd", five, 5);
    for (int i = 0; i < 20; i++)
        encodes(drawn(200 + i, 4, 5 + 2 * i), five, 5);
    compare("the ids", all_encoded);
    judge_part("encoding without merges, and without a text");
    encodes("abab", five, 0), encodes("", five, 5);
    compare("the ids", all_encoded);
}
