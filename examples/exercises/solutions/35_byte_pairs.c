/* 35 byte_pairs, solved.
 *
 * Counting in two loops is slow, n^2 for each merge, but short. What a real tokenizer does instead is count
 * once, and after a merge correct only the counts of pairs beside it; the merges are the same.
 *
 * The number of a merge is its rank. Its pair consists of bytes and of ids that older merges made, so a merge
 * can create only pairs of higher rank. Hence "always the lowest rank in the text" is the same as going
 * through the merges once in order, replacing each wherever it occurs. Merging the leftmost pair first would
 * be something else: "daab" would then depend on what is before it, and the ids would not be those which
 * learning has left in such a text.
 */
#include "exercises.h"

static bool is_pair(const int *ids, struct merge pair)
{
    return ids[0] == pair.left && ids[1] == pair.right;
}

static bool smaller(struct merge a, struct merge b)
{
    return a.left < b.left || (a.left == b.left && a.right < b.right);
}

int most_frequent_pair(const int *ids, int n, struct merge *pair)
{
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
    int r = 0;
    for (; r < most && most_frequent_pair(ids, n, &merges[r]) >= 2; r++)
        n = merge_pair(ids, n, merges[r], 256 + r);
    return r;
}

int encode_ids(int *ids, int n, const struct merge *merges, int count)
{
    for (int r = 0; r < count; r++)
        n = merge_pair(ids, n, merges[r], 256 + r);
    return n;
}
