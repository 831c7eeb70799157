/* 02 chain_rule: a gradient by hand, link by link.
 *
 * One neuron: an input x, a weight w, a bias b, and a target t that its output y should hit.
 *
 *     z = w x + b
 *     y = tanh(z)
 *     e = y - t
 *     loss = e^2
 *
 * How does the loss change when w changes by a little? Nobody differentiates all of it in one go. Walk back
 * through the lines, from the last to the first, and ask at each line for one thing only: how fast does its
 * left side grow with what stands on its right? That slope, times the gradient that has already been found
 * for the left side, is the gradient of the right side. Here de stands for dloss/de, and so on:
 *
 *     de = d(e^2)/de
 *     dy = de times de/dy         (e of the line e = y - t)           dt = de times de/dt
 *     dz = dy times dy/dz         (y of the line y = tanh(z))
 *     dw = dz times dz/dw, and so on for b and x
 *
 * The slope of tanh(z) is 1 - tanh(z)^2. The forward lines are there; fill in the seven gradients of n.
 */
#include "exercises.h"
#include <math.h>

void neuron(double w, double b, double x, double t, struct neuron *n)
{
    n->z = w * x + b;
    n->y = tanh(n->z);
    n->e = n->y - t;
    n->loss = n->e * n->e;

    n->de = 0;                                          /* TO DO: these seven */
    n->dy = 0;
    n->dt = 0;
    n->dz = 0;
    n->dw = 0;
    n->db = 0;
    n->dx = 0;
}
