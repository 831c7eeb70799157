/* learn: judges exercises. */
#include "verdict.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static struct verdict v;
    if (argc != 5) {
        fputs("usage: learn BUILD NAME FILE SECONDS\n", stderr);
        return 2;
    }
    verdict_of(&v, argv[1], argv[2], argv[3], atoi(argv[4]));
    for (char *s = v.parts; *s;) {
        const int n = (int)strcspn(s, "\n");
        const char *next = s + n + (s[n] == '\n');
        printf("  %s  %.*s\n", !v.passed && !*next ? "NO" : "ok", n, s);
        s = (char *)(size_t)next;
    }
    printf("%s\n", v.passed ? "passed" : v.finding);
    if (v.printed[0])
        printf("your answer printed:\n%s", v.printed);
    return v.passed ? 0 : 1;
}
