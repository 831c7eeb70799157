#!/bin/sh
# How much of core/, layers/ and examples/import/ the tests have executed: for each file its lines and
# branches, then the lines and branches not executed. left_out.txt gives the reason for each of these. Fails
# if a line or a branch has no reason, if a reason is not needed, and below 95 % of lines. Run it in the
# repository's root, after a test program built by gcc with --coverage in ${BUILD:-build}; GCOV is gcov.
# proof.sh shows that it can fail.
BUILD=${BUILD:-build}
GCOV=${GCOV:-gcov}

# In gcov's words: "    count:   line:source", ##### for 0, - for no code; then "branch  n taken count", and
# "branch  n never executed". A file compiled several times counts as one: in
# float and in double, and a header in the library and in a test that calls its functions.
find "$BUILD" -name '*.gcda' | grep -E '/(core|layers|examples/import|tests)/' | while read -r data; do
    "$GCOV" -b -c -t "$data"
done >"$BUILD/gcov.txt" 2>"$BUILD/gcov.err"
awk -v reasons="${REASONS:-tests/build/coverage/left_out.txt}" '
    function trimmed(s) {
        sub(/^[ \t]+/, "", s)
        sub(/[ \t]+\/\*.*$/, "", s)
        return s
    }
    # the first entry of left_out.txt whose words the line contains: for n branches
    function reason_for(file, text, n,   i) {
        for (i = 1; i <= entries; i++)
            if (where[i] == file && index(text, words[i])) {
                used[i] += n
                return used[i] <= most[i]
            }
        return 0
    }
    BEGIN {
        while ((getline entry < reasons) > 0)
            if (entry ~ /\t/) {
                split(entry, part, /\t+/)
                elsewhere[++entries] = sub(/^\?/, "", part[1])
                where[entries] = part[1]
                most[entries] = part[2]
                words[entries] = part[3]
            }
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
            text = trimmed(source[key])
            for (b = 0; b < ways[key]; b++) {
                branches[of[key]]++
                if ((key, b) in taken)
                    went[of[key]]++
                else if (runs[key] > 0)
                    open[key]++
            }
            if (runs[key] == 0 && !reason_for(of[key], text, 1))
                never = never sprintf("    %s: %s\n", key, text)
            else if (key in open && !reason_for(of[key], text, open[key]))
                untaken = untaken sprintf("    %s: %d in %s\n", key, open[key], text)
            left += runs[key] == 0 ? 1 : open[key]
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
        if (a && b)
            printf "\n%d of %d lines (%.1f %%), %d of %d branches (%.1f %%)\n", d, a, 100 * d / a, w, b,
            100 * w / b
        printf "%d of them left out, with %d reasons\n", left, entries
        if (never)
            printf "\nlines that no test reaches, and left_out.txt has no reason:\n%s", never
        if (untaken)
            printf "\nlines with branches that no test takes, and left_out.txt has no reason for so many:\n"
            printf "%s", untaken
        for (i = 1; i <= entries; i++)
            if (!used[i] && !elsewhere[i]) {
                printf "left_out.txt: not needed: %s: %s\n", where[i], words[i]
                idle++
            }
        exit never || untaken || idle || d < 0.95 * a || !a
    }
' "$BUILD/gcov.txt"
