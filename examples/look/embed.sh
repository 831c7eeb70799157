#!/bin/sh
# embed.sh FOLDER: writes C with two tables. One has the lines of that folder's page.html, in which a line
# like @css is replaced by its part; the other has the formulas of each op in core/ops, from the first comment
# of its source. (A string literal may be limited to 4095 bytes, so each line is a literal.)
part() {
    case $1 in
    @css)    cat parts.css page.css ;;
    @js)     cat numbers.js tape.js graph.js node.js chain.js ;;
    @heads)  cat heads.js plot.js curve.js ;;
    @start)  cat start.js ;;
    *)       printf '%s\n' "$1" ;;
    esac
}
echo '#include "examples/look/page_text.h"'
echo 'const char *const look_page[] = {'
(cd "$1" && while IFS= read -r line; do part "$line"; done <page.html) |
    awk '{ gsub(/\\/, "&&"); gsub(/"/, "\\\\&"); print "    \"" $0 "\\n\"," } END { print "    0\n};" }'
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
