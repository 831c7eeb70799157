/* exchange: files that one machine writes and others read.
 *
 *     exchange write FOLDER       a model and a tensor, as model.safetensors and tensor.npy
 *     exchange hash FILE ...      a line for each: a hash of its names and of the bits of its values
 *
 * Two machines have the same hashes if all bits are the same; port.sh compares them. */
#include "core/gradus.h"
#include "layers/gpt.h"
#include "tests/lib/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "exchange: %s: %s\n", what, why ? why : "failed");
    exit(EXIT_FAILURE);
}

/* ---- hashes ---- */

static uint64_t hash_text(uint64_t hash, const char *s)
{
    for (; *s; s++)
        hash = hash_bits(hash, (unsigned char)*s, 1);
    return hash_bits(hash, 0, 1);
}

static uint64_t hash_reals(uint64_t hash, const gra_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        uint32_t half;
        if (sizeof *x == sizeof half)
            memcpy(&half, &x[i], sizeof half), bits = half;
        else
            memcpy(&bits, &x[i], sizeof *x);
        hash = hash_bits(hash, bits, 8);
    }
    return hash;
}

/* ---- writing ---- */

static gra_model *new_model(gra_rng *rng)
{
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, rng);
    static struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(m), &(gra_gpt_config){ .vocab_size = 65, .context_length = 16, .emb_dim = 32,
                                                       .n_heads = 4, .n_layers = 2, .bias = true });
    gra_close(t);
    return m;
}

static void write_files(const char *folder)
{
    static const gra_real values[] = { 0, (gra_real)-0.0, 1, (gra_real)-1.5, (gra_real)0.1, (gra_real)1e-40,
                                       (gra_real)INFINITY, (gra_real)3e38 };
    char path[4096];
    gra_rng rng;
    gra_manual_seed(&rng, 123);
    gra_model *m = new_model(&rng);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (gra_save(m, path, &(gra_meta){ "text", "gr\303\274n" }, 1) != 0)
        fail(path, gra_model_error(m));
    gra_model_close(m);
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    snprintf(path, sizeof path, "%s/tensor.npy", folder);
    if (gra_save_npy(path, gra_constant(t, values, GRA_SHAPE(2, 2, 2))) != 0)
        fail(path, NULL);
    gra_close(t);
}

/* ---- reading ---- */

static uint64_t hash_npy(const char *path)
{
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    const gra_tensor *x = gra_load_npy(t, path);
    uint64_t hash = HASH_START;
    for (int d = 0; d < x->shape.ndim; d++)
        hash = hash_bits(hash, (unsigned)x->shape.dim[d], 1);
    hash = hash_reals(hash, x->data, x->size);
    gra_close(t);
    return hash;
}

static uint64_t hash_safetensors(const char *path)
{
    gra_file *f = gra_file_open(path);
    uint64_t hash = HASH_START;
    if (gra_file_error(f))
        fail(path, gra_file_error(f));
    hash = hash_text(hash, gra_file_meta(f, "text") ? gra_file_meta(f, "text") : "");
    for (int i = 0; i < gra_file_count(f); i++) {
        const gra_file_tensor *x = gra_file_at(f, i);
        gra_real *to = malloc((x->size + 1) * sizeof *to);
        if (!to || gra_file_read(f, x, to) != 0)
            fail(path, to ? gra_file_error(f) : "out of memory");
        hash = hash_reals(hash_text(hash, x->name), to, x->size);
        free(to);
    }
    gra_file_close(f);
    return hash;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        write_files(argv[2]);
    else if (argc > 2 && strcmp(argv[1], "hash") == 0)
        for (int i = 2; i < argc; i++)
            printf("%s %016" PRIx64 "\n", argv[i], strstr(argv[i], ".npy") ? hash_npy(argv[i])
                                                                           : hash_safetensors(argv[i]));
    else {
        fputs("exchange write FOLDER | hash FILE ...\n", stderr);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
