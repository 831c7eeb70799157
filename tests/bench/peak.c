/* peak: the rate of fused multiply-adds of this processor, for tests/bench/against_pytorch.
 *
 *     build/bench/peak 2
 *
 * measures 2 threads together and prints their GFLOP/s. */
#include "lib/bench.h"
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *end = NULL;
    const long threads = argc == 2 ? strtol(argv[1], &end, 10) : 0;
    if (threads < 1 || threads > 1024 || *end) {
        fprintf(stderr, "peak: got '%s', expected a number of threads from 1 to 1024: say `peak 2`\n",
                argc == 2 ? argv[1] : "");
        return 2;
    }
    printf("%.1f\n", fma_peak(0.2, (int)threads));
    return 0;
}
