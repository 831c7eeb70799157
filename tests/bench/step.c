/* step: the training step of one configuration, for tests/bench/against_pytorch.
 *
 *     build/bench/step --config tiny --threads 2 --dropout 0.1 --products float --seconds 2
 *
 * --config is nano, tiny, small, gpt2 or six numbers: vocabulary,context,batch,width,heads,layers. --products
 * is float or bf16. Prints one line: milliseconds a step (the median of the fastest third of the steps), peak
 * memory, the loss.
 */
#include "lib/bench.h"
#include <stdlib.h>

static int refuse(const char *what)
{
    fprintf(stderr, "step: %s\nusage: step [--config NAME | --config V,T,B,C,H,L] [--threads N] [--dropout P]"
            " [--products float|bf16] [--seconds S]\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    workload w = workloads[1];
    double threads = 1, dropout = 0, seconds = 2, loss = 0;
    gra_number products = GRA_FLOAT;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        if (strcmp(argv[i], "--config") == 0) {
            if (!workload_read(&w, value))
                return refuse("--config: a name, or six numbers from 1 on, width a multiple of heads");
            continue;
        }
        if (strcmp(argv[i], "--products") == 0) {
            if (strcmp(value, "float") != 0 && strcmp(value, "bf16") != 0)
                return refuse("--products: float or bf16");
            products = value[0] == 'b' ? GRA_BF16 : GRA_FLOAT;
            continue;
        }
        double *number = strcmp(argv[i], "--threads") == 0 ? &threads
                       : strcmp(argv[i], "--dropout") == 0 ? &dropout
                       : strcmp(argv[i], "--seconds") == 0 ? &seconds : NULL;
        if (!number)
            return refuse("this flag is unknown");
        *number = strtod(value, &end);
        if (end == value || *end)
            return refuse("expected a number");
    }
    if (threads < 0 || threads > 1024 || !(dropout >= 0 && dropout < 1))
        return refuse("0 to 1024 threads, and 0 <= dropout < 1");
    trainer *t = need(trainer_open(&w, (int)threads, dropout));
    if (trainer_products(t, products))
        return refuse("this processor has no instruction for products of bfloat16 numbers");
    for (int warm = 0; warm < 3; warm++)
        trainer_step(t);
    samples s = samples_begin(seconds, 3);
    while (samples_needed(&s)) {
        double begun = now();
        loss = trainer_step(t);
        samples_add(&s, now() - begun);
    }
    double ms = 1e3 * samples_fastest(&s);
    printf("gradus config=%s threads=%d dropout=%g products=%s params=%zu steps=%d ms=%.4f gflops=%.1f"
           " mib=%.0f loss=%.4f\n", w.name, (int)threads, dropout, products == GRA_BF16 ? "bf16" : "float",
           trainer_values(t), s.n, ms, 1e-6 * workload_flop(&w) / ms, peak_mib(), loss);
    trainer_close(t);
    return 0;
}
