/* 39 cost: the judge. A case is a list of GPTs. */
#include "answer.h"

enum { BATCH = 8, TIME, BYTES };
static int now;                         /* the function that is judged */
static void call(const struct judge_call *c)
{
    for (int k = 0; k < c->size[0]; k++) {
        int *const *n = c->ids, batch = n[BATCH][k], time = n[TIME][k];
        const gra_gpt_config g = { .vocab_size = n[0][k], .context_length = n[1][k], .emb_dim = n[2][k],
            .n_heads = n[3][k], .n_layers = n[4][k], .bias = n[5][k], .qkv_bias = n[6][k], .tied = n[7][k] };
        c->out[0][k] = now == 0 ? parameter_count(&g) : now == 1 ? state_bytes(&g)
                     : now == 2 ? activation_count(&g, batch, time)
                     : now == 3 ? attention_weight_count(&g, batch, time)
                     : now == 4 ? operation_count(&g, batch, time) : largest_batch(&g, time, c->in[BYTES][k]);
    }
}

#define GPTS .sizes = { "k models" }, .telling = { 8 }, .call = call, .in = { \
    "int V[k] in 50..90  # V", "int C[k] in 20..40  # C", "int D[k] in 5..16  # D", "int H[k] in 1..4  # H", \
    "int L[k] in 2..6  # L", "int bias[k] in 0..1  # bias", "int qkv_bias[k] in 0..1  # qkv_bias", \
    "int tied[k] in 0..1  # tied", "int batch[k] in 2..9  # batch", "int time[k] in 3..19  # time", \
    "bytes[k] in 2e5..9e5  # bytes" }
#define PARAMETERS \
    "block[k] = 12 * D[k]^2 + 2 * D[k] + bias[k] * 8 * D[k] + qkv_bias[k] * 3 * D[k] # a block\n" \
    "norm[k] = D[k] + bias[k] * D[k]                      # final_norm\n" \
    "head[k] = [tied[k] = 0] ? V[k] * D[k] : 0            # out_head\n" \
    "parameters[k] = V[k] * D[k] + C[k] * D[k] + L[k] * block[k] + norm[k] + head[k]\n"
#define ACTIVATIONS "tokens[k] = batch[k] * time[k]\n" \
    "activations[k] = tokens[k] * (L[k] * 18 * D[k] + 3 * D[k] + V[k])\n"
static const struct judge_answer answers[] = {
    { GPTS, .out = { "parameters[k]" }, .lines = PARAMETERS, .special = {
        { "attention's four matrices are missing in each block",
          "block[k] = 8 * D[k]^2 + 2 * D[k] + bias[k] * 7 * D[k]" },
        { "layers.0 and layers.2 are missing in each block",
          "block[k] = 4 * D[k]^2 + 2 * D[k] + bias[k] * 3 * D[k] + qkv_bias[k] * 3 * D[k]" },
        { "the shifts of a block's norms are counted without bias too: count them only with bias",
          "block[k] = 12 * D[k]^2 + 4 * D[k] + bias[k] * 6 * D[k] + qkv_bias[k] * 3 * D[k]" },
        { "the biases of out_proj, layers.0 and layers.2 are counted as D each: count D, 4 D and D",
          "block[k] = 12 * D[k]^2 + 2 * D[k] + bias[k] * 5 * D[k] + qkv_bias[k] * 3 * D[k]" } } },
    { GPTS, .out = { "state[k]" }, .lines = PARAMETERS "\nstate[k] = 4 * 4 * parameters[k]\n", .special = {
        { "each parameter is counted as 4 bytes: count four numbers of 4 bytes, with gradient and moments",
          "state[k] = 4 * parameters[k]" },
        { "the gradients or one of the two moments are missing: count 4 numbers of 4 bytes each",
          "state[k] = 4 * 3 * parameters[k]" } } },
    { GPTS, .out = { "activations[k]" }, .lines = ACTIVATIONS, .special = {
        { "layers.0 and gelu are counted as D numbers each: count 4 D",
          "activations[k] = tokens[k] * (L[k] * 12 * D[k] + 3 * D[k] + V[k])" } } },
    { GPTS, .out = { "weights[k]" }, .lines = "weights[k] = batch[k] * L[k] * H[k] * time[k]^2\n",
      .special = {
        { "only weights that the mask lets pass are counted: count all time x time weights of a head",
          "weights[k] = batch[k] * L[k] * H[k] * time[k] * (time[k] + 1) / 2" } } },
    { GPTS, .out = { "operations[k]" }, .lines =
        "tokens[k] = batch[k] * time[k]\n"
        "linear[k] = 2 * tokens[k] * (12 * D[k]^2 * L[k] + V[k] * D[k])   # the linear layers\n"
        "attention[k] = 4 * tokens[k] * time[k] * D[k] * L[k]             # attention\n"
        "operations[k] = 3 * (linear[k] + attention[k])\n", .special = {
        { "a multiply-add is counted as one operation: count two",
          "operations[k] = 3 * (linear[k] + attention[k]) / 2" } } },
    { GPTS, .out = { "largest[k]" }, .lines = PARAMETERS
        "activations[k] = time[k] * (L[k] * 18 * D[k] + 3 * D[k] + V[k])\n\n"
        "room[k] = bytes[k] - 16 * parameters[k]                          # the room beside the state\n"
        "largest[k] = [room[k] < 0] ? 0 : floor(room[k] / (4 * activations[k]))\n" } };

void judge_exercise(void)
{
    static const double in[][5] = {     /* GPT-2, products of two sizes that no int holds, too little room */
        { 50257, 100003, 100003, 29, 29 }, { 1024, 100003, 100003, 8, 8 }, { 768, 70001, 6, 6, 6 },
        { 12, 1, 3, 3, 3 }, { 12, 70003, 2, 2, 2 }, { 1, 1, 0, 0, 1 }, { 1, 1, 0, 0, 0 }, { 1, 0, 1, 1, 0 },
        { 1, 2, 70001, 1, 1 }, { 1024, 3, 70003, 5, 5 }, [BYTES] = { 4e9, 1e17, 1e12, 50, 24000 } };
    static const char *const part[] = { "parameters", "bytes of the state", "activations",
                                        "attention weights", "operations", "the largest batch" };
    struct judge_case large = CASE("GPT-2 and larger ones", { 5 }, .in = { in[0], in[1], in[2], in[3], in[4],
        in[5], in[6], in[7], in[8], in[9], in[10] }, .says = "it is right where products are below 2^31: "
        "compute no product in int; begin with const double D = c->emb_dim");
    for (now = 0; now < 6; now++) {
        judge_case(&answers[now], (struct judge_case){ .part = part[now], .size = { 8 } });
        large.part = now == 0 ? "parameters of GPT-2 and larger ones" : "of GPT-2 and larger ones";
        judge_case(&answers[now], large);
    }
}
