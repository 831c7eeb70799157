/* 02 chain_rule, solved.
 *
 * Each line on the way back is (gradient of the left side) times (slope of the line). The slopes: e^2 grows
 * with e by 2e; y - t grows with y by 1 and with t by -1; tanh(z) grows with z by 1 - tanh(z)^2, which is
 * 1 - y^2, since y is known already; w x + b grows with w by x, with x by w, with b by 1.
 *
 * A product of two factors gives each factor the other one. And dz is computed once and used three times:
 * that is why backward mode is cheap, however many weights there are.
 */
#include "exercises.h"
#include <math.h>

void neuron(double w, double b, double x, double t, struct neuron *n)
{
    n->z = w * x + b;
    n->y = tanh(n->z);
    n->e = n->y - t;
    n->loss = n->e * n->e;

    n->de = 2 * n->e;
    n->dy = n->de;
    n->dt = -n->de;
    n->dz = n->dy * (1 - n->y * n->y);
    n->dw = n->dz * x;
    n->db = n->dz;
    n->dx = n->dz * w;
}
