/* tanh: y = tanh(x), dx += dy (1 - y^2). */
#include "elementwise.h"

ELEMENTWISE(gra_tanh, "tanh",
            y = real_tanh(x), 16,
            dx += dy * (1 - y * y), 2)
