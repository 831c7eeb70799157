/* limits.h: what the control groups of a container allow a process. */
#ifndef GRADUS_LIMITS_H
#define GRADUS_LIMITS_H

/* The least limit of a controller ("cpu") in the groups of this process, its own and those above it;
 * infinity: there is none. It is in the file `v2` in version 2 of control groups, divided by the second
 * number there, if there is one; in version 1 in the file `v1`, divided by what is in `per`, unless that is
 * NULL. root: "", or a folder that stands for the root of the file system. */
double gra_limit(const char *root, const char *controller, const char *v2, const char *v1, const char *per);

#endif
