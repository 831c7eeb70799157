#!/bin/sh
# Shows how much of core/, layers/ and examples/import/ the tests have executed: for each file its lines and
# branches, then the lines that were never executed. Some lines always remain: they run when memory runs out,
# when a process crashes, or on another processor. The script fails below 98 % of lines. Run it in the
# repository's root, after a test program built by gcc with --coverage in ${BUILD:-build}; GCOV is gcov.
# proof.sh shows that this script can fail.
BUILD=${BUILD:-build}
GCOV=${GCOV:-gcov}

# In gcov's words: "    count:   line:source", ##### for 0, - for no code; then "branch  n taken count", and
# "branch  n never executed". A file compiled several times counts as one: in
# float and in double, and a header in the library and in a test that calls its functions.
find "$BUILD" -name '*.gcda' | grep -E '/(core|layers|examples/import|tests)/' | while read -r data; do
    "$GCOV" -b -c -t "$data"
done >"$BUILD/gcov.txt" 2>"$BUILD/gcov.err"
awk '
    function trimmed(s) {
        sub(/^[ \t]+/, "", s)
        sub(/[ \t]+\/\*.*$/, "", s)
        return s
    }
    /^ +-: +0:Source:/ {
        file = $0
        sub(/^.*Source:/, "", file)
        sub(/^\.\//, "", file)
        ours = file ~ /^(core|layers|examples\/import)\//
        next
    }
    !ours { next }
    /^ *([0-9]+\*?|#####|=====|-): *[0-9]+:/ {
        split($0, part, ":")
        line = part[2] + 0
        key = file ":" line
        count = part[1]
        gsub(/[ *]/, "", count)
        if (count != "-" && line > 0) {
            if (!(key in runs)) {
                order[++lines] = key
                of[key] = file
                files[file] = 1
                source[key] = substr($0, index($0, part[2] ":" part[3]) + length(part[2]) + 1)
            }
            runs[key] += count ~ /^[0-9]/ ? count : 0
        }
        branch = 0
        next
    }
    /^branch / {
        ways[key] = branch + 1 > ways[key] ? branch + 1 : ways[key]
        if ($0 !~ /never executed/ && $4 > 0)
            taken[key, branch] = 1
        branch++
    }
    END {
        for (i = 1; i <= lines; i++) {
            key = order[i]
            all[of[key]]++
            done[of[key]] += runs[key] > 0
            for (b = 0; b < ways[key]; b++) {
                branches[of[key]]++
                went[of[key]] += (key, b) in taken
            }
            if (runs[key] == 0)
                never = never sprintf("    %s: %s\n", key, trimmed(source[key]))
        }
        print "file                                  lines          branches"
        n = 0
        for (file in files) {
            for (at = ++n; at > 1 && name[at - 1] > file; at--)
                name[at] = name[at - 1]
            name[at] = file
        }
        for (i = 1; i <= n; i++) {
            file = name[i]
            printf "%-34s %4d of %4d    %4d of %4d\n", file, done[file], all[file], went[file], branches[file]
            d += done[file]; a += all[file]; w += went[file]; b += branches[file]
        }
        if (never)
            printf "\nlines that no test reaches:\n%s", never
        if (a && b)
            printf "\n%d of %d lines (%.1f %%), %d of %d branches (%.1f %%)\n", d, a, 100 * d / a, w, b,
            100 * w / b
        exit d < 0.98 * a || !a
    }
' "$BUILD/gcov.txt"
