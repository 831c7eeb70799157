#!/bin/sh
# assemble.sh BUILD: prints the page: page.html here, in which a line like @css is replaced by its part.
here=examples/page look=examples/look build=$1
part() {
    case $1 in
    @css)   cat $look/parts.css $here/page.css $here/expression.css ;;
    @tape)  sed -n '/<section id="left"/,/<\/main>/{/<\/main>/d;p;}' $look/page.html ;;
    @expression|@training|@broken) cat $here/${1#@}.html ;;
    @f32)   gzip -9 -n <"$build/page_f32.wasm" | base64 ;;
    @f64)   gzip -9 -n <"$build/page_f64.wasm" | base64 ;;
    @code)  sed 's/&/\&amp;/g; s/</\&lt;/g' $here/broken.c ;;
    @exercises)
            for name in $(sed -n 's/.*exercise: "\([^"]*\)".*/\1/p' $here/guide.js); do
                echo "<pre id=\"$name\">"
                sed 's/&/\&amp;/g; s/</\&lt;/g' "examples/exercises/start/$name.c"
                echo '</pre>'
            done ;;
    @js)    for name in numbers tape graph chain node heads plot curve; do cat $look/$name.js; done
            for name in bridge expression worker norms controls training breaks broken guide shell; do
                cat $here/$name.js
            done ;;
    *)      printf '%s\n' "$1" ;;
    esac
}
while IFS= read -r line; do
    part "$line" || exit 1
done <$here/page.html
