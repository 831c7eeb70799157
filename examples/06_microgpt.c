/* 06: microgpt, number by number: a GPT that invents names, and what a node of the tape is worth.
 *
 *     make && build/examples/06_microgpt              learns the names below
 *     build/examples/06_microgpt names.txt            learns yours, one per line
 *
 * Karpathy's microgpt (2026) is a GPT of 4192 parameters in two hundred lines of Python, in which every
 * number is a node of the tape. This is the same model from the same seed: from the 32,033 names that
 * microgpt learns (names.txt of Karpathy's makemore) it prints the same 1025 lines, digit for digit.
 *
 * What you will learn: what a node is worth. In microgpt a product of two numbers is a node, and so is a sum;
 * here a product of two matrices is one node. The arithmetic is the same. But each node must be made, must
 * remember its inputs, and is visited again on the way back. That takes one or two microseconds in Python.
 * Here the node of a tensor takes no longer, because its numbers lie side by side, and the processor
 * multiplies several of them at once. So this program, with thousands of times fewer nodes, is thousands of
 * times faster than Python. Without a file the program lists the nodes of the first step, with the number of
 * scalar nodes that each replaces.
 *
 * Python computes in double, and so does this program: it is compiled with -DGRADUS_DOUBLE.
 */
#include "../core/op.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 16, HEADS = 4, DEPTH = WIDTH / HEADS, BLOCK = 16, STEPS = 1000 };
enum { WTE, WPE, HEAD, WQ, WK, WV, WO, FC1, FC2, MATRICES };
enum { MOST = 1 << 22 };                                /* bytes of a file */

static const char *const own[] = {                      /* of mathematicians and programmers */
    "abraham", "ada", "alan", "albert", "alonzo", "amalie", "anders", "andrey", "archimedes", "augusta",
    "barbara", "benoit", "bernhard", "blaise", "brian", "carl", "caroline", "charles", "christiaan", "clara",
    "daniel", "david", "dennis", "donald", "dorothy", "edsger", "eduard", "emilie", "emmy", "eratosthenes",
    "ernst", "erwin", "eugenio", "evariste", "felix", "ferdinand", "francois", "gaspard", "georg",
    "giuseppe", "gottfried", "grace", "gustav", "harald", "hedy", "helena", "henri", "hermann", "hypatia",
    "ingrid", "isaac", "ivan", "jacques", "jakob", "jean", "john", "joseph", "julia", "karen", "katherine",
    "kiyoshi", "kurt", "leonhard", "linus", "margaret", "maria", "marjorie", "maryam", "max", "mikhail",
    "nicolas", "niels", "norbert", "olga", "oliver", "omar", "pafnuty", "paul", "peter", "pierre", "radia",
    "rene", "richard", "robert", "rosa", "simon", "sofia", "sophie", "srinivasa", "stefan", "terence",
    "thales", "ursula", "vera", "wilhelm", "zeno",
};
static const char *names[MOST / 2];                     /* the names of the file */

static int read_names(const char *path)                 /* returns the number of names; 0 after an error */
{
    static char text[MOST + 1];
    FILE *f = fopen(path, "rb");
    const size_t size = f ? fread(text, 1, MOST, f) : 0;
    const char *wrong = !f || ferror(f) ? strerror(errno) : size == MOST ? "got 4 MB or more, expected less" :
                        memchr(text, 0, size) ? "got a byte 0, expected text" : NULL;
    int n = 0;
    for (char *s = strtok(text, "\n"); s && !wrong; s = strtok(NULL, "\n")) {
        char *end = s + strlen(s);
        while (end > s && isspace((unsigned char)end[-1]))
            *--end = 0;
        s += strspn(s, " \t\v\f");
        if (*s)
            names[n++] = s;
    }
    if (f)
        fclose(f);
    if (n == 0)
        fprintf(stderr, "microgpt: %s: %s\n", path, wrong ? wrong : "got no name, expected one per line");
    return n;
}

/* ---- one tensor per node ------------------------------------------------------------------------------ */

static gra_tensor *forward(gra_tape *t, gra_tensor **w, const int *ids, int n)      /* -> (1, n, vocab) */
{
    gra_tensor *x = gra_embedding(t, w[WTE], ids, GRA_SHAPE(1, n));                 /* (1, n, width) */
    x = gra_rms_norm(t, gra_add(t, x, gra_slice(t, w[WPE], 0, 0, n)), NULL, 1e-5);
    gra_tensor *y = gra_rms_norm(t, x, NULL, 1e-5);
    gra_tensor *q = gra_linear(t, y, w[WQ], NULL), *k = gra_linear(t, y, w[WK], NULL);
    gra_tensor *v = gra_linear(t, y, w[WV], NULL);
    y = gra_attention(t, q, k, v, &(gra_attention_options){ .heads = HEADS, .causal = true });
    x = gra_add(t, gra_linear(t, y, w[WO], NULL), x);
    y = gra_relu(t, gra_linear(t, gra_rms_norm(t, x, NULL, 1e-5), w[FC1], NULL));   /* (1, n, hidden) */
    x = gra_add(t, gra_linear(t, y, w[FC2], NULL), x);
    return gra_linear(t, x, w[HEAD], NULL);
}

/* ---- one scalar per node ------------------------------------------------------------------------------ */

/* How many scalar nodes give y: one for each product, sum, quotient, power, exponential and logarithm. */
static int scalars(const gra_tensor *y)
{
    const gra_tensor *x = y->in[0];
    const char *op = y->op->name;
    const int in = gra_dim(x, -1), size = (int)y->size, rows = (int)x->size / in;
    const int pairs = rows * (rows + 1) / 2;            /* of a query and a key that it sees */
    if (strcmp(op, "linear") == 0)                      /* a dot product: in products, in - 1 sums */
        return size * (2 * in - 1);
    if (strcmp(op, "rms_norm") == 0)                    /* x x, its mean, + eps, ^ -1/2, and a product */
        return rows * ((2 * in - 1) + 3 + in);
    if (strcmp(op, "attention") == 0)                   /* a score, the softmax, its product with a value */
        return HEADS * (pairs * (2 * DEPTH + 4 + 2 * DEPTH) - rows * (1 + DEPTH));
    if (strcmp(op, "cross_entropy") == 0)               /* softmax: - max, exp, sum, quotient; log, mean */
        return rows * ((4 * in - 1) + 1) + rows;
    return strcmp(op, "add") == 0 || strcmp(op, "relu") == 0 ? size : 0;        /* else a copy of rows */
}

static void list_nodes(const gra_tape *t)
{
    const int n = gra_node_count(t);
    int all = 0;
    printf("\n #  the first step  result          scalar nodes\n");
    for (int i = 0; i < n; i++) {
        const gra_tensor *y = gra_node_at(t, i);
        printf("%2d  %-14s  %-14s  %12d\n", i, y->op->name, GRA_SHAPE_STRING(y->shape), scalars(y));
        all += scalars(y);
    }
    printf("%d nodes instead of %d\n\n", n, all);
}

/* ---- the program -------------------------------------------------------------------------------------- */

static void normal(const gra_init *how, gra_rng *rng, gra_tensor *p)
{
    gra_python_gauss(rng, p->data, p->size, how->a, how->b);
}

static gra_tensor *matrix(gra_model *m, const char *name, int out, int in)
{
    const gra_init init = { .fill = normal, .a = 0, .b = 0.08, .draws = true };
    return gra_param(gra_root(m), name, init, GRA_SHAPE(out, in));
}

/* begin, the letters of the name, begin: ids[1], ids[2] ... follow ids[0], ids[1] ... */
static int encode(const char *name, const int *id, int begin, int *ids)     /* returns how many to predict */
{
    int n = 0;
    for (ids[0] = begin; n < BLOCK && name[n]; n++)
        ids[n + 1] = id[(unsigned char)name[n]];
    ids[n + 1] = begin;
    return n < BLOCK ? n + 1 : n;
}

int main(int argc, char **argv)
{
    static int order[MOST / 2];
    const char *const *docs = argc > 1 ? names : own;
    const int n_docs = argc > 1 ? read_names(argv[1]) : (int)(sizeof own / sizeof *own);
    int id[256] = { 0 }, letter[256], vocab = 0, ids[BLOCK + 2];
    if (n_docs == 0)
        return 1;
    for (int i = 0; i < n_docs; i++) {
        order[i] = i;
        for (const char *c = docs[i]; *c; c++)
            id[(unsigned char)*c] = 1;                  /* this letter occurs */
    }
    for (int c = 0; c < 256; c++)
        if (id[c]) {
            letter[vocab] = c;
            id[c] = vocab++;
        }
    const int begin = vocab++;                          /* the token that begins a name, and ends it */

    gra_rng rng;
    gra_python_seed(&rng, 42);
    gra_python_shuffle(&rng, order, n_docs);
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, &rng);
    gra_tensor *w[MATRICES] = { [WTE] = matrix(m, "wte", vocab, WIDTH) };       /* in the order of microgpt */
    w[WPE] = matrix(m, "wpe", BLOCK, WIDTH);
    w[HEAD] = matrix(m, "lm_head", vocab, WIDTH);
    w[WQ] = matrix(m, "attn_wq", WIDTH, WIDTH);
    w[WK] = matrix(m, "attn_wk", WIDTH, WIDTH);
    w[WV] = matrix(m, "attn_wv", WIDTH, WIDTH);
    w[WO] = matrix(m, "attn_wo", WIDTH, WIDTH);
    w[FC1] = matrix(m, "mlp_fc1", 4 * WIDTH, WIDTH);
    w[FC2] = matrix(m, "mlp_fc2", WIDTH, 4 * WIDTH);
    printf("num docs: %d\nvocab size: %d\nnum params: %zu\n", n_docs, vocab, gra_param_values(m));

    gra_adamw adam;
    gra_adamw_init(&adam, m, NULL);
    adam.beta1 = 0.85, adam.beta2 = 0.99, adam.weight_decay = 0;
    const clock_t start = clock();
    for (int step = 0; step < STEPS; step++) {
        const int n = encode(docs[order[step % n_docs]], id, begin, ids);
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *loss = gra_cross_entropy(t, forward(t, w, ids, n), ids + 1);
        if (argc == 1 && step == 0)
            list_nodes(t);
        gra_zero_grad(m);
        gra_backward(t, loss);
        adam.lr = 0.01 * (1 - (double)step / STEPS);
        gra_adamw_step(&adam);
        if (argc > 1 || step == 0 || (step + 1) % 100 == 0)
            printf("step %4d / %4d | loss %.4f\n", step + 1, STEPS, gra_item(loss));
    }
    if (argc == 1)
        printf("%.0f microseconds per step\n", 1e6 / STEPS * (double)(clock() - start) / CLOCKS_PER_SEC);

    printf("\n--- inference (new, hallucinated names) ---\n");
    for (int sample = 1; sample <= 20; sample++) {
        printf("sample %2d: ", sample);
        for (int n = 1; n <= BLOCK; n++) {              /* ids[0] is begin */
            gra_begin(t, GRA_EVAL, NULL);
            gra_tensor *last = gra_slice(t, forward(t, w, ids, n), 1, -1, n);       /* (1, 1, vocab) */
            ids[n] = gra_python_choices(&rng, gra_softmax(t, gra_scale(t, last, 1 / 0.5), -1)->data, vocab);
            if (ids[n] == begin)
                break;
            putchar(iscntrl(letter[ids[n]]) ? '?' : letter[ids[n]]);
        }
        printf("\n");
    }
    gra_model_close(m);
    gra_close(t);
}

/* Try: a file of a dozen names. The model recites them: its 4192 parameters are enough to learn so few by
 * heart.
 * Try: 1 / 0.1 in place of 1 / 0.5, a lower temperature. The names become alike. */
