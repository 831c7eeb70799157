/* limits.h: what the control groups of a container allow a process. */
#ifndef GRADUS_LIMITS_H
#define GRADUS_LIMITS_H

/* The least limit of a controller ("cpu") in this process's group and the groups above it, or infinity if
 * there is none. In version 2 of control groups the limit is in the file `v2`, divided by the second number
 * in the file, if there is one. In version 1 it is in the file `v1`, divided by the number in the file `per`,
 * unless `per` is NULL. root: "", or a folder to use as the root of the file system. */
double gra_limit(const char *root, const char *controller, const char *v2, const char *v1, const char *per);

#endif
