/* limits: see limits.h. */
#include "limits.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns infinity if the file cannot be read, or contains "max" or -1. */
static double number_in(const char *folder, const char *name)
{
    char path[4096];
    double n[2] = { -1, 1 };
    FILE *f = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "r") : NULL;
    if (f && fscanf(f, "%lf %lf", &n[0], &n[1]) < 1)
        n[0] = -1;
    if (f)
        fclose(f);
    return n[0] >= 0 ? n[0] / n[1] : HUGE_VAL;
}

/* The least limit of the group at base/group and of all groups above it. A container may see only a part of
 * its path, so missing folders are skipped. */
static double least(const char *base, const char *group, const char *v2, const char *v1, const char *per)
{
    char folder[4096];
    double n = HUGE_VAL;
    if (snprintf(folder, sizeof folder, "%s%s", base, group) >= (int)sizeof folder)
        return n;
    for (char *end = folder + strlen(folder); end; *end = '\0', end = strrchr(folder + strlen(base), '/')) {
        *end = '\0';
        n = fmin(n, number_in(folder, v2));
        n = fmin(n, number_in(folder, v1) / (per ? number_in(folder, per) : 1));        /* fmin ignores NaN */
    }
    return n;
}

/* Each line of /proc/self/cgroup is "number:controllers:/group"; version 2 names no controllers. */
double gra_limit(const char *root, const char *controller, const char *v2, const char *v1, const char *per)
{
    char line[4096], base[4096];
    double n = HUGE_VAL;
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *f = fopen(line, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        const size_t length = strlen(controller);
        const char *at = strstr(list, controller);
        while (at && (!strchr(":,", at[-1]) || (at[length] && at[length] != ',')))
            at = strstr(at + 1, controller);
        const char *const places[] = { list + 1, at ? controller : "unified" };
        for (int i = 0; i < 2 && (at || !list[1]); i++)
            if (snprintf(base, sizeof base, "%s/sys/fs/cgroup/%s", root, places[i]) < (int)sizeof base)
                n = fmin(n, least(base, group, v2, v1, per));
    }
    if (f)
        fclose(f);
    return n;
}
