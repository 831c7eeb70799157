/* log: y = ln x, dx += dy / x. */
#include "elementwise.h"

ELEMENTWISE(gra_log, "log",
            y = real_log(x), 8,
            dx += dy / x, 4)
