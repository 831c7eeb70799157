#!/bin/sh
# A library exports the names that gradus.h, op.h, kernel.h and layers.h declare, and no other names.
. tests/lib/ok.sh

exports() {     # exports LIBRARY: its names, except those of sanitizers
    nm -g --defined-only "$1" | awk 'NF == 3 && $3 !~ /^__/ { print $3 }' | sort -u
}

declares() {    # declares FLAGS ...: the functions of the public headers, and the symbol of the precision
    printf '#include "%s"\n' core/gradus.h core/op.h core/kernel.h layers/layers.h layers/gpt.h |
        ${CC:-cc} "$@" -I. -E -P - >"$W/headers" &&
        grep -o 'gra_[a-z0-9_]* *(\|gra_compiled[A-Za-z0-9_]*' "$W/headers" | tr -d ' (' | sort -u
}

nothing_else() {        # nothing_else LIBRARY FLAGS ...
    exports "$BUILD/$1" >"$W/exported" && shift && declares "$@" >"$W/declared" && [ -s "$W/declared" ] ||
        return 1
    grep -qx gra_open "$W/exported" || { echo "gra_open is not exported"; return 1; }
    comm -23 "$W/exported" "$W/declared" >"$W/internal"
    [ ! -s "$W/internal" ] || { echo "exported, but in no public header:"; cat "$W/internal"; return 1; }
}

if command -v "$(${CC:-cc} -print-prog-name=objcopy)" >/dev/null && command -v nm >/dev/null; then
    ok "libgradus.a" nothing_else libgradus.a -UGRADUS_DOUBLE
    ok "libgradus64.a" nothing_else libgradus64.a -DGRADUS_DOUBLE
else
    echo "$SCRIPT: left out: without objcopy the libraries export every function"
fi

finish
