/* 02 chain_rule: a gradient by hand, link by link.
 *
 * One neuron: an input x, a weight w, a bias b, and a target t that its output y should match.
 *
 *     z = w x + b
 *     y = tanh(z)
 *     e = y - t
 *     loss = e^2
 *
 * How does the loss change when w changes a little? Nobody differentiates the whole formula at once. Walk
 * back through the lines, from the last to the first, and at each line ask only one question: how fast does
 * its left side grow with each value on its right? That slope, times the gradient already found for the left
 * side, is the gradient of the value on the right. In the code, de means dloss/de, and so on:
 *
 *     de = d(e^2)/de
 *     dy = de times de/dy         (de/dy is the slope of e = y - t)       dt = de times de/dt
 *     dz = dy times dy/dz         (dy/dz is the slope of y = tanh(z))
 *     dw = dz times dz/dw, and so on for b and x
 *
 * The slope of tanh(z) is 1 - tanh(z)^2. The forward lines are given; fill in the seven gradients of n.
 */
/* 02 chain_rule, solved.
 *
 * Each line on the way back is (gradient of the left side) times (slope of the line). The slopes: e^2 grows
 * with e by 2e; y - t grows with y by 1 and with t by -1; tanh(z) grows with z by 1 - tanh(z)^2, which is
 * 1 - y^2, since y is known already; w x + b grows with w by x, with x by w, with b by 1.
 *
 * In a product of two factors, the slope for each factor is the other factor. And dz is computed once and
 * used three times: that is why backward mode is cheap, however many weights there are.
 */
#include "exercises.h"
#include <math.h>

void neuron(double w, double b, double x, double t, struct neuron *n)
{
    n->z = w * x + b;
    n->y = tanh(n->z);
    n->e = n->y - t;
    n->loss = n->e * n->e;

//| n->de = 0;                                          /* TO DO: these seven */
//| n->dy = 0;
//| n->dt = 0;
//| n->dz = 0;
//| n->dw = 0;
//| n->db = 0;
//| n->dx = 0;
    n->de = 2 * n->e;
    n->dy = n->de;
    n->dt = -n->de;
    n->dz = n->dy * (1 - n->y * n->y);
    n->dw = n->dz * x;
    n->db = n->dz;
    n->dx = n->dz * w;
}
