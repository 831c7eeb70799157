/* tensor_names: see tensor_names.h. */
#include "tensor_names.h"

#include <stdio.h>

const names_row names_outside[OUTSIDE] = {
    { { "tok_emb.weight",   "wte.weight"     }, VOCAB,   1, NEEDED, 0 },
    { { "pos_emb.weight",   "wpe.weight"     }, CONTEXT, 1, NEEDED, 0 },
    { { "final_norm.scale", "ln_f.weight"    }, 1,       0, NEEDED, 0 },
    { { "final_norm.shift", "ln_f.bias"      }, 1,       0, BIAS,   0 },
    { { "out_head.weight",  "lm_head.weight" }, VOCAB,   1, HEAD,   0 },
};

const names_row names_block[BLOCK] = {
    { { "att.W_query.weight",  "attn.c_attn.weight" }, 1, 1, NEEDED,   1 },
    { { "att.W_key.weight",    "attn.c_attn.weight" }, 1, 1, NEEDED,   2 },
    { { "att.W_value.weight",  "attn.c_attn.weight" }, 1, 1, NEEDED,   3 },
    { { "att.W_query.bias",    "attn.c_attn.bias"   }, 1, 0, QKV_BIAS, 1 },
    { { "att.W_key.bias",      "attn.c_attn.bias"   }, 1, 0, QKV_BIAS, 2 },
    { { "att.W_value.bias",    "attn.c_attn.bias"   }, 1, 0, QKV_BIAS, 3 },
    { { "att.out_proj.weight", "attn.c_proj.weight" }, 1, 1, NEEDED,   0 },
    { { "att.out_proj.bias",   "attn.c_proj.bias"   }, 1, 0, BIAS,     0 },
    { { "ff.layers.0.weight",  "mlp.c_fc.weight"    }, 4, 1, NEEDED,   0 },
    { { "ff.layers.0.bias",    "mlp.c_fc.bias"      }, 4, 0, BIAS,     0 },
    { { "ff.layers.2.weight",  "mlp.c_proj.weight"  }, 1, 4, NEEDED,   0 },
    { { "ff.layers.2.bias",    "mlp.c_proj.bias"    }, 1, 0, BIAS,     0 },
    { { "norm1.scale",         "ln_1.weight"        }, 1, 0, NEEDED,   0 },
    { { "norm1.shift",         "ln_1.bias"          }, 1, 0, BIAS,     0 },
    { { "norm2.scale",         "ln_2.weight"        }, 1, 0, NEEDED,   0 },
    { { "norm2.shift",         "ln_2.bias"          }, 1, 0, BIAS,     0 },
};

const char *const names_blocks[2] = { "trf_blocks", "h" };

const names_row *names_at(int i)
{
    return i < OUTSIDE ? &names_outside[i] : &names_block[(i - OUTSIDE) % BLOCK];
}

const char *names_of(int i, int gpt2, names_text to)
{
    if (i < OUTSIDE)
        return names_outside[i].name[gpt2];
    snprintf(to, sizeof(names_text), "%s.%d.%s", names_blocks[gpt2], (i - OUTSIDE) / BLOCK,
             names_at(i)->name[gpt2]);
    return to;
}

static bool is_turned(int i, bool turned)
{
    return turned && i >= OUTSIDE && names_at(i)->columns;
}

gra_shape names_shape(int i, const gra_gpt_config *c, bool gpt2, bool turned)
{
    const names_row *r = names_at(i);
    const int rows = r->rows == VOCAB ? c->vocab_size : r->rows == CONTEXT ? c->context_length
                     : r->rows * c->emb_dim * (gpt2 && r->part ? 3 : 1), columns = r->columns * c->emb_dim;
    return !columns ? GRA_SHAPE(rows) : is_turned(i, turned) ? GRA_SHAPE(columns, rows)
                                                             : GRA_SHAPE(rows, columns);
}

void names_copy(int i, bool gpt2, bool turned, const gra_tensor *ours, gra_real *theirs, bool back)
{
    const names_row *r = names_at(i);
    const size_t rows = (size_t)ours->shape.dim[0], columns = ours->size / rows;
    const size_t parts = gpt2 && r->part ? 3 : 1, part = parts > 1 ? (size_t)r->part - 1 : 0;
    const size_t row = is_turned(i, turned) ? 1 : columns;                  /* strides in theirs */
    const size_t column = is_turned(i, turned) ? parts * rows : 1;
    for (size_t a = 0; a < rows; a++)
        for (size_t b = 0; b < columns; b++) {
            gra_real *x = &ours->data[a * columns + b], *y = &theirs[(part * rows + a) * row + b * column];
            *(back ? x : y) = *(back ? y : x);
        }
}
