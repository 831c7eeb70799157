/* 35 byte_pairs: a vocabulary learned from the text.
 *
 * A model that reads single bytes needs many steps for a word, and a model that reads whole words cannot
 * spell a new word. Byte-pair encoding lies between them (Sennrich et al. 2016; GPT-2): the ids 0 to 255 are
 * the bytes, and each further id is a pair of neighbours that was frequent in a text. To learn them, repeat:
 *
 *     1. Count each pair of neighbours (ids[i], ids[i + 1]). In "aaa" the pair (a, a) occurs twice.
 *     2. Take the most frequent pair. Of equally frequent pairs, take the one with the smallest left id,
 *        and of several with this id the one with the smallest right id (as Hugging Face's tokenizers do).
 *     3. Replace it by a new id wherever it occurs, from left to right. Merge number r = 0, 1, ... makes the
 *        id 256 + r. If (a, a) is 256, "aaa" becomes 256 a.
 *
 * until there are `most` merges, or no pair occurs twice. An example:
 *
 *     a a a b d a a a b a c      (a, a) occurs 4 times                                 256 = a a
 *     256 a b d 256 a b a c      (a, b) and (256, a) both twice: a = 97 is smaller     257 = a b
 *     256 257 d 256 257 a c      (256, 257) twice                                      258 = 256 257
 *     258 d 258 a c              every pair occurs once: three merges
 *
 * Encoding a different text needs no counting. Of all pairs in it that are merges, the one with the lowest
 * number is replaced, wherever it occurs, and so on until no pair is a merge: "daab" becomes d 256 b, as
 * merge 0 takes both a's before merge 1 can take one.
 *
 * Write four functions. Texts have a few hundred ids, so loops within loops are fast enough.
 *   most_frequent_pair  finds the pair of steps 1 and 2, and returns how often it occurs; 0 if n < 2.
 *   merge_pair          is step 3: changes ids in place, and returns how many are left.
 *   learn_merges        fills merges[0], merges[1], ... and returns how many there are. Its ids are the bytes
 *                       of a text; they may be changed.
 *   encode_ids          changes the ids of a text in place by `count` merges, and returns how many are left.
 */
/* 35 byte_pairs, solved.
 *
 * Counting in two loops is slow, n^2 for each merge, but short. A real tokenizer counts only once, and after
 * a merge corrects only the counts of the pairs beside it; the merges are the same.
 *
 * The number of a merge is its rank. Its pair consists of bytes and of ids that older merges made, so a merge
 * can create only pairs of higher rank. Hence "always the lowest rank in the text" is the same as going
 * through the merges once in order, replacing each wherever it occurs. Merging the leftmost pair first would
 * be different: the ids of "daab" would then depend on the text before it, and would differ from the ids that
 * learning leaves in this text.
 */
#include "exercises.h"

//{
static bool is_pair(const int *ids, struct merge pair)
{
    return ids[0] == pair.left && ids[1] == pair.right;
}

static bool smaller(struct merge a, struct merge b)
{
    return a.left < b.left || (a.left == b.left && a.right < b.right);
}

//}
int most_frequent_pair(const int *ids, int n, struct merge *pair)
{
//| (void)ids, (void)n, (void)pair;                     /* TO DO: pair->left, pair->right */
//| return 0;
    int most = 0;
    for (int i = 0; i + 1 < n; i++) {
        const struct merge here = { ids[i], ids[i + 1] };
        int count = 0;
        for (int j = 0; j + 1 < n; j++)
            count += is_pair(ids + j, here);
        if (count > most || (count == most && smaller(here, *pair)))
            most = count, *pair = here;
    }
    return most;
}

int merge_pair(int *ids, int n, struct merge pair, int id)
{
//| (void)ids, (void)pair, (void)id;                    /* TO DO */
//| return n;
    int to = 0;
    for (int from = 0; from < n; to++)
        if (from + 1 < n && is_pair(ids + from, pair)) {
            ids[to] = id;
            from += 2;
        } else
            ids[to] = ids[from++];
    return to;
}

int learn_merges(int *ids, int n, struct merge *merges, int most)
{
//| (void)ids, (void)n, (void)merges, (void)most;       /* TO DO */
//| return 0;
    int r = 0;
    for (; r < most && most_frequent_pair(ids, n, &merges[r]) >= 2; r++)
        n = merge_pair(ids, n, merges[r], 256 + r);
    return r;
}

int encode_ids(int *ids, int n, const struct merge *merges, int count)
{
//| (void)ids, (void)merges, (void)count;               /* TO DO */
//| return n;
    for (int r = 0; r < count; r++)
        n = merge_pair(ids, n, merges[r], 256 + r);
    return n;
}
