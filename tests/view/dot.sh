#!/bin/sh
# Graphviz reads what gra_write_dot writes, including names of any bytes, and draws them unchanged.
. tests/lib/ok.sh

cat >"$W/hostile.c" <<'EOF'
#include "layers/layers.h"
int main(int n, char **path)
{
    static const char *const name[] = { "\"];}\\N|{<>}&", "</script><script>", "a\nb\tc\033[2J",
                                        "\xff\xc0\x80",
                                        "back\\slash\\n", "\xc3\xa9t\xc3\xa9", "", "\xef\xbf\xbf" };
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, NULL);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_scalar(t, 1.0 / 0.0);
    for (int i = 0; i < 8; i++) {
        gra_scope s = gra_enter(gra_enter(gra_root(m), "%s", name[i]), "layer%d", i);
        gra_tensor *w = gra_param(s, *name[i] ? name[i] : "w", gra_init_ones(), GRA_SCALAR);
        x = gra_name(gra_mul(t, x, w), "%s", name[i]);
    }
    (void)n;
    return gra_write_dot(t, path[1]) ? 1 : 0;
}
EOF
drawn() {       # there is no warning, every node and edge is drawn, and text stays text
    dot -Tsvg "$W/tape.dot" >"$W/tape.svg" 2>"$W/warnings" && [ ! -s "$W/warnings" ] ||
        { cat "$W/warnings"; return 1; }
    [ "$(grep -c 'class="node"' "$W/tape.svg")" -eq 17 ] &&
        [ "$(grep -c 'class="edge"' "$W/tape.svg")" -eq 16 ] &&
        lacks -i '<script\|</script' "$W/tape.svg" &&
        grep -q '&lt;/script&gt;&lt;script&gt; = mul' "$W/tape.svg" &&
        grep -qF 'back\slash\n = mul' "$W/tape.svg" && grep -qF 'été = mul' "$W/tape.svg" &&
        grep -qF '>&quot;];}\N|{&lt;&gt;}&amp; = mul<' "$W/tape.svg"
}

if command -v dot >/dev/null; then
    ok "a program whose tensor names have any bytes" \
        ${CC:-cc} ${SANITIZE:-} -I. "$W/hostile.c" "$BUILD/libgradus.a" -lm -pthread -o "$W/hostile"
    ok "it writes a graph" "$W/hostile" "$W/tape.dot"
    ok "Graphviz draws it" drawn
else
    echo "$SCRIPT: left out: there is no dot (Graphviz)"
fi

finish
