#!/bin/sh
# run.sh PROGRAM ...: runs programs of notebooks and counts how many printed numbers each program reproduces,
# and how many of these it computed. Programs in a folder notebooks64 compute in float64, and all others in
# float32. The output is in PROGRAM.txt, beside the program. $GOLDEN_FOLDER replaces
# examples/notebooks/golden.
lines=$(for program; do
    case $program in *notebooks64/*) precision=float64 ;; *) precision=float32 ;; esac
    "$program" ${GOLDEN_FOLDER:+"$GOLDEN_FOLDER"} >"$program.txt"
    echo "$precision $? $(tail -n 1 "$program.txt") $(tail -n 2 "$program.txt" | sed '$d' | tr -dc '0-9 ')"
done)
echo "$lines" | awk '
    $5 != "of" || $7 != "printed" || NF != 12 {
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
        if ($1 == "float64") {
            computed += $10
            from_inputs += $11
            rearranged += $12
        }
    }
    END {
        for (name in names)
            if (!(("float32", name) in has))
                missing = missing (missing ? ", " : ", without ") name
        printf "notebooks: %d of %d printed numbers reproduced in float64:\n", reproduced["float64"],
            printed["float64"]
        printf "  %d computed from seeds and from numbers of the program,\n", computed
        printf "  %d computed from inputs that the notebook prints (its cells have no seed),\n", from_inputs
        printf "  %d such an input itself, in the same or another order\n", rearranged
        printf "notebooks: %d of %d in float32%s\n", reproduced["float32"], printed["float32"], missing
        if (good != NR)
            printf "notebooks: %d of %d programs failed\n", NR - good, NR
        exit good != NR
    }'
