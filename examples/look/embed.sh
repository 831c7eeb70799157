#!/bin/sh
# embed.sh FOLDER: writes C: the page's sources in that folder as lines of text, and the formulas of each op
# in core/ops, from the first comment of its source. (A string literal may be limited to 4095 bytes, so each
# line is one.)
lines() {         # lines NAME FILE ...: writes look_NAME, the lines of these files
    echo "const char *const look_$1[] = {"
    shift
    awk '{ gsub(/\\/, "&&"); gsub(/"/, "\\\\&"); print "    \"" $0 "\\n\"," } END { print "    0\n};" }' "$@"
}

echo '#include "examples/look/page_text.h"'
lines html "$1/page.html"
lines css "$1/parts.css" "$1/page.css"
lines tape_js "$1/numbers.js" "$1/tape.js" "$1/graph.js" "$1/node.js" "$1/chain.js"
lines model_js "$1/heads.js" "$1/plot.js" "$1/curve.js"
lines start_js "$1/start.js"
echo 'const look_op look_formula[] = {'
for file in core/ops/*.c; do
    awk -v file="$file" '
        function quoted(s) { gsub(/\\/, "&&", s); gsub(/"/, "\\\\&", s); return s }
        NR == 1 { inside = 1 }
        inside {
            line = $0
            ended = sub(/ *\*\/.*/, "", line)
            sub(/^\/?\*+ ?|^ \* ?/, "", line)
            text = text quoted(line) "\\n"
            if (ended)
                inside = 0
        }
        !inside && match($0, /\.name = "[a-z_]*"|^[A-Z_]+\([a-z_]*, "[a-z_]*"/) {
            name = substr($0, RSTART, RLENGTH)
            sub(/"$/, "", name)
            sub(/.*"/, "", name)
            print "    { \"" name "\", \"" file "\", \"" text "\" },"
        }' "$file" || exit 1
done
echo '    { 0, 0, 0 }'
echo '};'
