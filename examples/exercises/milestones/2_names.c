/* Milestone 2: a network of your ops learns to spell names.
 * Answers: 06 07 08 09 10 12 13
 *
 *     make milestone N=2
 *
 * From the last three letters of a name the network predicts the next letter (Bengio et al. 2003, Karpathy's
 * makemore):
 *
 *     x = the embeddings of the three letters, side by side               embedding
 *     h = dropout(relu(layer_norm(x W_1)))                                matmul, layer_norm, relu, dropout
 *     loss = cross_entropy(h W_2, the letter that follows)                matmul, cross_entropy
 *
 * and then the network writes new names: softmax turns the scores of the letters into probabilities, and a
 * random number picks a letter. All these functions are yours. The library provides only the tape, which
 * calls the backwards in the right order, and a reshape. */
#include "embed.h"

enum { LETTERS = 27, LAST = 3, DIM = 10, HIDDEN = 80, BATCH = 48, STEPS = 1280, MOST = 2000, NAMES = 12 };

static const char names[] =
    "ada adele agnes alan albert alice alma amelia andrea anna anton arthur astrid barbara basil ben "
    "bertha boris brigitte bruno carl carla carmen cecil celia charles charlotte clara claudia clemens "
    "conrad cora daisy damian daniel daria david delia diana dora edgar edith edmund elena elias elisa "
    "ella elsa emil emilia emma eric erna ernest esther eugene eva fabian felix ferdinand fiona flora "
    "florian frances frank frieda gabriel gavin george gerda gloria grace greta gustav hanna harold "
    "harriet hazel heidi helen henry hilda hugo ida igor ingrid irene iris isaac isabel ivan jacob jane "
    "jasmin joan johanna john jonas josephine judith julia julian karin karl katharina klara konrad "
    "laura leo leonard leonora lewis lilian linda lora lorena louis louisa lucia lucas lydia magnus "
    "marcel maria marian marie marina marlene martha martin mathilda maurice max melissa michael mina "
    "mira miriam monica moritz nadia nathan nelson nicola nina nora norbert olga oliver olivia oscar "
    "otto patricia paul paula pauline peter petra philip pia rachel ralf raymond rebecca regina richard "
    "rita robert roland rosa rosalind rudolf ruth sabina samuel sara sebastian selma silvia simon sofia "
    "sonia stella stephen susan sylvia tamara teresa theodor thomas tobias ursula valentin valeria vera "
    "victor victoria viola vivian walter wanda werner wilma yvonne ";

/* The net reads row i of context, and should predict next[i]. A letter is a number: a 1, b 2, ... z 26; 0
 * comes before and after a name. */
static int context[MOST][LAST], next[MOST], examples;

static void shift(int *letters, int id)
{
    memmove(letters, letters + 1, (LAST - 1) * sizeof *letters);
    letters[LAST - 1] = id;
}

static void read_names(void)
{
    int last[LAST] = { 0 };
    for (const char *s = names; *s; s++) {
        memcpy(context[examples], last, sizeof last);
        next[examples] = *s == ' ' ? 0 : *s - 'a' + 1;
        shift(last, next[examples++]);
        if (*s == ' ')
            memset(last, 0, sizeof last);
    }
}

struct net {
    gra_tensor *table, *W_1, *scale, *shift, *W_2;
};

static void init(struct net *net, gra_scope scope)
{
    net->table = gra_param(scope, "table", gra_init_normal(0, 1), GRA_SHAPE(LETTERS, DIM));
    net->W_1 = gra_param(scope, "W_1", gra_init_linear(LAST * DIM), GRA_SHAPE(LAST * DIM, HIDDEN));
    net->scale = gra_param(scope, "scale", gra_init_ones(), GRA_SHAPE(HIDDEN));
    net->shift = gra_param(scope, "shift", gra_init_zeros(), GRA_SHAPE(HIDDEN));
    net->W_2 = gra_param(scope, "W_2", gra_init_normal(0, 0.01), GRA_SHAPE(HIDDEN, LETTERS));
}

/* The scores of each letter for the rows of ids: (rows, LETTERS). */
static gra_tensor *predict(gra_tape *t, const struct net *net, const int *ids, int rows)
{
    gra_tensor *x = gra_reshape(t, embed(t, net->table, ids, rows * LAST), GRA_SHAPE(rows, LAST * DIM));
    gra_tensor *h = layer_norm(t, matmul(t, x, net->W_1), net->scale, net->shift);
    return matmul(t, dropout(t, my_relu(t, h), 0.1), net->W_2);
}

static void descend(gra_model *m, double lr)
{
    for (int i = 0; i < gra_param_count(m); i++) {
        gra_tensor *p = gra_param_at(m, i);
        for (size_t k = 0; k < p->size; k++)
            p->data[k] -= lr * p->grad[k];
    }
}

static double train(gra_tape *t, gra_model *m, const struct net *net, gra_rng *rng)
{
    double loss = 0;
    for (int step = 0; step < STEPS; step++) {
        int ids[BATCH * LAST], target[BATCH];
        for (int i = 0; i < BATCH; i++) {
            const int at = (int)gra_randint(rng, (uint64_t)examples);
            memcpy(ids + i * LAST, context[at], sizeof context[at]);
            target[i] = next[at];
        }
        gra_begin(t, GRA_TRAIN, rng);
        gra_tensor *y = cross_entropy(t, predict(t, net, ids, BATCH), target);
        gra_zero_grad(m);
        gra_backward(t, y);
        descend(m, step < STEPS / 2 ? 0.2 : 0.05);
        loss = step ? 0.98 * loss + 0.02 * gra_item(y) : gra_item(y);
        if (step % (STEPS / 8) == 0 || step == STEPS - 1)
            printf("step %-4d  loss %.4f, a mean of the last steps\n", step + 1, loss);
    }
    return loss;
}

/* Prints a name, letter by letter, at most ten letters. */
static void write_name(gra_tape *t, const struct net *net, gra_rng *rng)
{
    int last[LAST] = { 0 };
    for (int n = 0; n < 10; n++) {
        double p[LETTERS], u;
        int id = 0;
        gra_begin(t, GRA_EVAL, NULL);
        softmax(predict(t, net, last, 1)->data, p, LETTERS);
        gra_rand(rng, &u, 1);
        while (id < LETTERS - 1 && (u -= p[id]) >= 0)
            id++;
        if (!id)
            break;
        putchar('a' + id - 1);
        shift(last, id);
    }
}

int main(void)
{
    gra_rng rng;
    struct net net;
    gra_manual_seed(&rng, 5);
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, &rng);
    init(&net, gra_root(m));
    read_names();
    printf("%d letters, %zu parameters. A guess among 27 letters has a loss of %.2f.\n\n", examples,
           gra_param_values(m), log(LETTERS));
    const double loss = train(t, m, &net, &rng);
    printf("\nThe loss is now about %.2f: as hard as a guess among %.0f letters. Your network\nwrites:\n",
           loss, exp(loss));
    for (int i = 0; i < NAMES; i++) {
        fputs(i % 6 ? " " : "\n  ", stdout);
        write_name(t, &net, &rng);
    }
    const bool learned = loss < 2.2;
    printf("\n\n%s\n", learned ? "Your network has learned what names look like."
                               : "Your network has not learned: one of your ops computes a wrong gradient.");
    gra_model_close(m);
    gra_close(t);
    return !learned;
}
