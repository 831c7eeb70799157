/* abs: y = |x|, dx += dy sign(x), where sign(0) = 0, as in PyTorch. */
#include "elementwise.h"

ELEMENTWISE(gra_abs, "abs",
            y = x < 0 ? -x : x + 0, 1,                  /* + 0 turns -0 into 0 */
            dx += dy * (real)((x > 0) - (x < 0)), 3)
