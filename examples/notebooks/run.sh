#!/bin/sh
# run.sh PROGRAM ...: runs programs of notebooks and sums up how many printed numbers each reproduces.
# Those in a folder notebooks64 compute in float64, the others in float32. All that a program says is left
# beside it, in PROGRAM.txt. $GOLDEN_FOLDER names another folder of numbers than tests/golden.
lines=$(for program; do
    case $program in *notebooks64/*) precision=float64 ;; *) precision=float32 ;; esac
    "$program" ${GOLDEN_FOLDER:+"$GOLDEN_FOLDER"} >"$program.txt"
    echo "$precision $? $(tail -n 1 "$program.txt")"
done)
echo "$lines" | awk '
    $5 != "of" || $7 != "printed" {
        print "no result: " $0
        next
    }
    {
        name = substr($3, 1, length($3) - 1)
        printf "%-20s %4d of %4d in %s\n", name, $4, $6, $1
        reproduced[$1] += $4
        printed[$1] += $6
        has[$1, name] = 1
        names[name] = 1
        good += $2 == 0 && $4 == $6 && $6 > 0
    }
    END {
        for (name in names)
            if (!(("float32", name) in has))
                missing = missing (missing ? ", " : ", which has no ") name
        printf "notebooks: %d of %d printed numbers reproduced in float64, %d of %d in float32%s\n",
            reproduced["float64"], printed["float64"], reproduced["float32"], printed["float32"], missing
        if (good != NR)
            printf "notebooks: %d of %d programs failed\n", NR - good, NR
        exit good != NR
    }'
