#!/bin/sh
# Tests that Graphviz reads the files of gra_write_dot, and draws names with any bytes unchanged.
. tests/lib/ok.sh

drawn() {       # no warning, every node and edge is drawn, and text stays text
    dot -Tsvg "$W/tape.dot" >"$W/tape.svg" 2>"$W/warnings" && [ ! -s "$W/warnings" ] ||
        { cat "$W/warnings"; return 1; }
    [ "$(grep -c 'class="node"' "$W/tape.svg")" -eq 17 ] &&
        [ "$(grep -c 'class="edge"' "$W/tape.svg")" -eq 16 ] &&
        lacks -i '<script\|</script' "$W/tape.svg" &&
        grep -q '&lt;/script&gt;&lt;script&gt; = mul' "$W/tape.svg" &&
        grep -qF 'back\slash\n = mul' "$W/tape.svg" && grep -qF 'été = mul' "$W/tape.svg" &&
        grep -qF '>&quot;];}\N|{&lt;&gt;}&amp; = mul<' "$W/tape.svg"
}

ok "a graph of tensors whose names have any bytes" "$BUILD/f32/tests/view/dot/any_names" "$W/tape.dot"
if command -v dot >/dev/null; then
    ok "Graphviz draws it" drawn
else
    echo "$SCRIPT: left out: drawing it: there is no dot (Graphviz)"
fi

finish
