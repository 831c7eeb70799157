/* relu: y = max(x, 0), dx += dy where x > 0. As in PyTorch a NaN stays NaN, and dy flows through it. */
#include "elementwise.h"

ELEMENTWISE(gra_relu, "relu",
            y = x <= 0 ? 0 : x, 1,
            dx += y <= 0 ? 0 : dy, 2)
