/* expression: what a page shows of an expression that its reader types: values, gradients and the tape. */
#ifndef EXAMPLES_PAGE_EXPRESSION_H
#define EXAMPLES_PAGE_EXPRESSION_H

#include "../../core/gradus.h"

/* values: the n values of the free names, in the order of appearance; further names are 1. slip: the id of a
 * wrong backward, or -1. Returns JSON, which is valid until the next call:
 *
 *     {"error": null,                          or {"at": 5, "length": 1, "text": "expected ..."}, counted in
 *                                              UTF-16 units, and no more
 *      "warning": null,                        one points at the first op whose result is nan or inf
 *      "inputs": [{"name": "a", "free": true, "shape": [], "value": 2, "grad": 138.8, "numeric": 138.8,
 *                  "digits": 10, "agrees": true, "kink": false}, ...],
 *      "slips": [{"id": 0, "op": "add", "text": "db is left out"}, ...],      backwards that can be broken
 *      "check": {"passed": true, "text": "gradient check passed: ..."},
 *      "page": {...}}                          what look's show() takes
 *
 * Of a tensor value, grad and numeric are flat lists, as out_reals writes them, and digits is the least of
 * its elements. The loss is the sum of the last statement's values. Where it is nan or infinite, grad is null
 * and the tape has no gradients. Where values are nan, or too many to compare, numeric, digits, agrees and
 * passed are null; passed also where the check is incomplete. At a kink the numeric gradient is the mean of
 * the slopes on either side, and any gradient between them agrees; the check is made beside it, and its text
 * says where. An op with a wrong backward is also checked alone, on several values: one number fits many
 * explanations. */
char *expression_run(const char *text, const double *values, int n, int slip);

#endif
