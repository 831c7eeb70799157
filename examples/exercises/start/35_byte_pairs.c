/* 35 byte_pairs: a vocabulary learned from the text.
 *
 * A model that reads single bytes needs many steps for a word, and one that reads whole words cannot spell a
 * new one. Byte-pair encoding lies between them (Sennrich et al. 2016; GPT-2): the ids 0 to 255 are the
 * bytes, and each further id is a pair of neighbours that was frequent in a text. To learn them, repeat:
 *
 *     1. Count each pair of neighbours (ids[i], ids[i + 1]). In "aaa" the pair (a, a) occurs twice.
 *     2. Take the most frequent one. Of equally frequent ones take that with the smallest left id, and of
 *        those the one with the smallest right id (as Hugging Face's tokenizers do).
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
 * Encoding another text counts nothing. Of all pairs in it that are merges, the one with the lowest number is
 * replaced, wherever it occurs, and so on until no pair is a merge: "daab" becomes d 256 b, as merge 0 takes
 * both a before merge 1 can.
 *
 * Write four functions. Texts have some hundred ids, so that loops within loops are fast enough.
 *   most_frequent_pair  finds the pair of steps 1 and 2, and returns how often it occurs; 0 if n < 2.
 *   merge_pair          is step 3: changes ids in place, and returns how many are left.
 *   learn_merges        fills merges[0], merges[1], ... and returns how many there are. Its ids are the bytes
 *                       of a text; they may be changed.
 *   encode_ids          changes the ids of a text in place by `count` merges, and returns how many are left.
 */
#include "exercises.h"

int most_frequent_pair(const int *ids, int n, struct merge *pair)
{
    (void)ids, (void)n, (void)pair;                     /* TO DO: pair->left, pair->right */
    return 0;
}

int merge_pair(int *ids, int n, struct merge pair, int id)
{
    (void)ids, (void)pair, (void)id;                    /* TO DO */
    return n;
}

int learn_merges(int *ids, int n, struct merge *merges, int most)
{
    (void)ids, (void)n, (void)merges, (void)most;       /* TO DO */
    return 0;
}

int encode_ids(int *ids, int n, const struct merge *merges, int count)
{
    (void)ids, (void)merges, (void)count;               /* TO DO */
    return n;
}
