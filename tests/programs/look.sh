#!/bin/sh
# build/look: a step as a page. Its data is checked as text; if a browser is installed, the page is also
# driven in it.
. tests/lib/ok.sh
LOOK=${BUILD:-build}/look
case $LOOK in /*) ;; *) LOOK=$PWD/$LOOK ;; esac

page() {        # page NAME FLAGS ...: $W/NAME.html, and look's output in $W/NAME.txt
    name=$1
    shift
    ends_with 0 "$LOOK" "$@" --out "$W/$name.html" && cp "$W/out" "$W/$name.txt"
}
at_most() {     # at_most BYTES FILE
    wc -c "$2" | awk -v most="$1" '{ print } $1 > most { exit 1 }'
}
alone() {       # alone FILE: it needs no other file, and has two scripts, its data and its own
    sed '/id="data"/,/^<.script>/d' "$1" >"$W/code" &&
        lacks -Ei 'src=|href=|url\(|@import|fetch\(|import ' "$W/code" &&
        [ "$(grep -ci '<script' "$1")" -eq 2 ] && [ "$(grep -ci '</script' "$1")" -eq 2 ]
}
printed() {     # printed NAME WHAT: the number that look printed
    sed -n "s,^$2 = ,,p" "$W/$1.txt"
}
holds() {       # holds NAME NUMBER: as the only value of a tensor
    [ -n "$2" ] && grep -qF "\"x\":[$2]" "$W/$1.html"
}

# ---- the pages -------------------------------------------------------------------------------------------
ok "the scalar example" page scalar --example scalar
ok "it has at most 60 kB" at_most 60000 "$W/scalar.html"
ok "it stands alone" alone "$W/scalar.html"
for what in g dg/da dg/db; do
    ok "the page has $what" holds scalar "$(printed scalar "$what")"
done
ok "the next-token example" page next --example next-token
ok "it stands alone" alone "$W/next.html"
for part in parts.css page.css numbers.js tape.js node.js chain.js heads.js curve.js start.js; do
    ok "the page has all of $part" sh -c "! grep -vxF -f '$W/next.html' examples/look/$part"
done
ok "the page holds the loss" holds next "$(printed next loss)"

run="--data README.md --eval-batches 1 --sample 0 --quiet"
ok "a run of the usual size that keeps snapshots" ends_with 0 "$TRAIN" $run --steps 14 --snapshot-every 1 \
    --out "$W/run"
printf 'It writes </script> and \303\251' >"$W/run/sample.txt"
text=$(head -c 400 README.md | tr -d '\n' | tail -c 64)
ok "its page, of 64 tokens" page run --model "$W/run" --prompt "$text"
ok "it has at most 3 MB" at_most 3000000 "$W/run.html"
ok "it stands alone" alone "$W/run.html"
ok "the page holds the loss" holds run "$(printed run loss)"
states() { [ "$(grep -o '"exact":' "$W/run.html" | wc -l)" -eq "$1" ]; }
ok "twelve snapshots and the end" states 13
once() { [ "$(grep -o '"step":14,' "$W/run.html" | wc -l)" -eq 1 ]; }
ok "the last snapshot is the end, and occurs once" once
ok "the page has the run's sample" grep -qF '"sample":"It writes \u003c/script> and é"' "$W/run.html"
(printf é; head -c 1998 README.md; printf é) >"$W/run/sample.txt"
ok "a long prompt: the last tokens" page long --model "$W/run" --prompt "$text$text"
ok "a long sample: its beginning, whole characters" lacks '"sample":".*[^"]*\(ufffd\|�\)' "$W/long.html"
ok "a run without a sample" rm "$W/run/sample.txt"

# ---- snapshots: a run that is stopped and resumed leaves the same ones -----------------------------------
small="$run --context 8 --width 8 --heads 2 --layers 1 --batch 1 --steps 7 --snapshot-every 3"
ok "a small run" ends_with 0 "$TRAIN" $small --out "$W/whole"
kept() {
    [ "$(cd "$1" && echo snapshot-*)" = \
        "snapshot-0.safetensors snapshot-3.safetensors snapshot-6.safetensors" ]
}
ok "its snapshots" kept "$W/whole"
resumed() {
    at 0 "begin 12 INT" train $small --checkpoint-every 1 --out "$W/parts" || [ "$status" -eq 130 ] ||
        return 1
    ends_with 0 "$TRAIN" --resume "$W/parts" || return 1
    for n in 0 3 6; do
        cmp "$W/whole/snapshot-$n.safetensors" "$W/parts/snapshot-$n.safetensors" || return 1
    done
    cmp "$W/whole/model.safetensors" "$W/parts/model.safetensors"
}
moments "a run that is interrupted" && ok "stopped and resumed" resumed
ok "a run without snapshots" ends_with 0 "$TRAIN" $small --snapshot-every 0 --out "$W/whole"
ok "removes those of the previous run" holds_no '^snapshot-' "$W/whole"
ok "its page has no slider" page plain --model "$W/whole" --prompt "gradus"

# ---- a file with only parameters, as other programs write it -------------------------------------------
mkdir "$W/alone"
cp "$W/run/model.safetensors" "$W/alone"
ok "a file without a vocabulary" page ids --model "$W/alone/model.safetensors" --ids "3 14, 15 9"
ok "its tokens are numbers" grep -qF '"tokens":["3","14","15","9"]' "$W/ids.html"
ok "which the page states" grep -q '"about":"A GPT of 4 layers.*shown as numbers' "$W/ids.html"
ok "the page holds the loss" holds ids "$(printed ids loss)"
ok "its step is unknown" grep -q '"step":-1,' "$W/ids.html"

# ---- a model that has diverged: the last of its values is nan ------------------------------------------
mkdir "$W/diverged"
cp "$W/run/model.safetensors" "$W/run/vocab.tsv" "$W/diverged"
printf '\000\000\300\177' | dd of="$W/diverged/model.safetensors" bs=1 conv=notrunc \
    seek=$(($(wc -c <"$W/run/model.safetensors") - 4)) 2>"$W/dd"
ok "a model that has diverged" page nan --model "$W/diverged" --prompt gradus
ok "it stands alone" alone "$W/nan.html"

# ---- the formulas of every op ----------------------------------------------------------------------------
ops() {         # each source of an op has a row in the compiled table, and each op that is named there
    for file in core/ops/*.c; do
        op=${file##*/}
        grep -q "{ \"${op%.c}\", \"$file\", \"..*" "$BUILD/look_page.c" ||
            { echo "no formula: $file"; return 1; }
    done
    for op in $(grep -hoE '(\.name = |^COMPARISON\(gra_[a-z]*, )"[a-z_]*"' core/ops/*.c |
        sed 's/.*"\(.*\)"/\1/'); do
        grep -q "{ \"$op\", " "$BUILD/look_page.c" || { echo "no formula: $op"; return 1; }
    done
}
ok "each op has its formulas" ops

# ---- the constants of ops --------------------------------------------------------------------------------
cat >"$W/constants.c" <<'END'
#include "core/op.h"
#define OF(dims) gra_input(t, value, dims)
int main(void)
{
    static gra_real value[24];
    gra_rng rng;
    gra_tape *t = gra_open(1);
    gra_manual_seed(&rng, 1);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x = OF(GRA_SHAPE(2, 3, 4)), *w = OF(GRA_SHAPE(4, 4)), *one = OF(GRA_SHAPE(1, 5));
    gra_tensor *y[] = { gra_scale(t, x, 0.1), gra_add_scalar(t, x, -3), gra_pow(t, x, 3),
        gra_clamp(t, x, 0, 6), gra_slice(t, x, -1, 1, -1), gra_sum(t, x), gra_sum_dim(t, x, 1, false),
        gra_sum(t, one), gra_sum_dim(t, one, 1, true), gra_max(t, x), gra_min_dim(t, x, 0, true),
        gra_var_dim(t, x, 2, 1, true), gra_transpose(t, x, 1, 2), gra_matmul(t, w, w),
        gra_matmul_nt(t, w, w), gra_dropout(t, x, 0.25), gra_layer_norm(t, x, NULL, NULL, 1e-5),
        gra_rms_norm(t, x, NULL, 1e-6), gra_concat(t, 2, (gra_tensor *[]){ x, x }, 2),
        gra_masked_fill(t, x, x, -1), gra_mean(t, x), gra_exp(t, x), x };
    for (size_t i = 0; i < sizeof y / sizeof *y; i++)
        printf("%s %s;", y[i]->op ? y[i]->op->name : "", gra_args_text(y[i], (char[GRA_ARGS_TEXT]){ 0 }));
    gra_close(t);
    return 0;
}
END
constants="scale by 0.1;add_scalar -3;pow 3;clamp to 0 ... 6;slice 1:3 in dimension 2;sum over all;"
constants="${constants}sum over dimension 1;sum over all;sum over dimension 1;max over all;"
constants="${constants}min over dimension 0;var over dimension 2, correction 1;permute 0, 2, 1;matmul a b;"
constants="${constants}matmul a b^T;dropout p 0.25;layer_norm eps 1e-05;rms_norm eps 1e-06;"
constants="${constants}concat in dimension 2;masked_fill with -1;scale by 0.04166667;exp ; ;"
same_constants() { [ "$("$W/constants")" = "$constants" ] || { "$W/constants"; return 1; }; }
for library in "" 64; do
    ok "the constants of ops${library:+, in double}" ${CC:-cc} ${SANITIZE:-} ${CFLAGS:-} -I. \
        ${library:+-DGRADUS_DOUBLE} "$W/constants.c" "$BUILD/libgradus$library.a" ${LDFLAGS:-} -pthread -lm \
        -o "$W/constants"
    ok "are shown" same_constants
done
all_constants() {       # an op that has constants shows them: those left out have only tables of integers
    grep -L 'args_text' $(grep -l 'args = sizeof' core/ops/*.c) | tr '\n' ' ' >"$W/without"
    [ "$(cat "$W/without")" = "core/ops/attention.c core/ops/cross_entropy.c core/ops/embedding.c \
core/ops/where.c " ] || { cat "$W/without"; return 1; }
}
ok "no constant is left out" all_constants

# ---- from a program, with hostile names and numbers ------------------------------------------------------
cat >"$W/hostile.c" <<'END'
#include "examples/look/look.h"
#include "core/op.h"
static void forward(gra_tensor *y) { y->data[0] = y->in[0]->data[0]; }
static void backward(gra_tensor *y) { if (y->in[0]->grad) y->in[0]->grad[0] += y->grad[0]; }
int main(int argc, char **argv)
{
    static const char *const name[] = {
        "</script><script>document.title = 'owned'</script>", "<!--<script>", "\"'\\`${1}&amp;", "__proto__",
        "\x01\x02\x1b[31m\x7f\r\n\t", "\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80 \xe2\x82",
        "<img src=x onerror=alert(1)>", "\xe2\x80\xae\xe2\x81\xa7 turned \xd8\x9c" };
    static char longest[10001];
    static const gra_op op = { .name = "<b>own</b>\"op", .forward = forward, .backward = backward };
    gra_real value[4] = { (gra_real)NAN, (gra_real)INFINITY, -(gra_real)INFINITY, (gra_real)-0.0 };
    memset(longest, '<', sizeof longest - 1);
    gra_tape *t = gra_open(1);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_name(gra_input(t, value, GRA_SHAPE(4)), "%s", longest),
               *none = gra_zeros(t, GRA_SHAPE(0, 3));
    gra_tensor *y = gra_add(t, gra_sum(t, x), gra_sum(t, none));
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        y = gra_name(gra_scale(t, y, 1), "%s", name[i]);
    y = gra_run(gra_result(t, &op, GRA_SCALAR, y));
    gra_backward(t, y);
    int failed = look_write(t, argv[argc - 1]);
    gra_begin(t, GRA_GRAD, NULL);
    failed |= argc > 2 && look_write(t, argv[1]);
    if (failed)
        perror("hostile");
    gra_close(t);
    return failed ? 1 : 0;
}
END
objects=
for part in look chain out values; do
    objects="$objects $BUILD/f32/examples/look/$part.o"
done
hostile='<b>"&'\''.html'
ok "a program that calls look_write" ${CC:-cc} ${SANITIZE:-} ${CFLAGS:-} \
    -I. -D_POSIX_C_SOURCE=200809L "$W/hostile.c" \
    $objects "$BUILD/f32/look_page.o" "$BUILD/libgradus.a" ${LDFLAGS:-} -pthread -lm -o "$W/hostile"
ok "hostile names and numbers" ends_with 0 "$W/hostile" "$W/empty.html" "$W/$hostile"
cp "$W/$hostile" "$W/hostile.html"
ok "it stands alone" alone "$W/hostile.html"
ok "a tape without nodes" alone "$W/empty.html"
one_line() { LC_ALL=C lacks "$(printf '[\001-\010\013-\037\177]')" "$W/hostile.html"; }
ok "no control byte" one_line
if command -v iconv >/dev/null; then
    ok "all is UTF-8" iconv -f UTF-8 -t UTF-8 "$W/hostile.html"
fi

# ---- in double: every digit, the largest and smallest numbers, in a locale with a decimal comma ----------
cat >"$W/double.c" <<'END'
#include "examples/look/look.h"
#include <locale.h>
#include <math.h>
#include <string.h>
int main(int argc, char **argv)
{
    static const gra_real far[3][4] = { { 1.5e308, -1.5e308, 1.5e308, -1.5e308 }, { 5e-324, -5e-324, 0, 0 },
                                        { 1, (gra_real)NAN, 2, 3 } };
    gra_real value[100];
    setlocale(LC_ALL, "de_DE.UTF-8");
    for (int i = 0; i < 100; i++)
        value[i] = (gra_real)i / 3;
    gra_tape *t = gra_open(1);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_name(gra_input(t, value, GRA_SHAPE(10, 10)), "x");
    for (int i = 0; i < 3; i++)
        gra_sum(t, gra_tanh(t, gra_name(gra_input(t, far[i], GRA_SHAPE(4)), "far %d", i)));
    gra_tensor *twice = gra_mul(t, x, x), *flat = gra_reshape(t, twice, GRA_SHAPE(100));
    gra_tensor *joined = gra_add(t, gra_mul(t, flat, gra_reshape(t, x, GRA_SHAPE(100))),
                                 gra_reshape(t, twice, GRA_SHAPE(100)));
    gra_backward(t, gra_name(gra_scale(t, gra_add(t, gra_mean(t, x), gra_mean(t, joined)), 0.7), "loss"));
    gra_real before[100];
    memcpy(before, gra_grad(x), sizeof before);
    int failed = look_write(t, argv[argc - 1]) || memcmp(before, gra_grad(x), sizeof before) != 0;
    for (int i = 0; i < 100; i++)       /* the mean of x + x^3 + x^2 */
        failed |= fabs(before[i] - 0.007 * (1 + 3 * value[i] * value[i] + 2 * value[i])) > 1e-12;
    setlocale(LC_ALL, "C");
    printf("loss = %.17g\n", gra_node_at(t, gra_node_count(t) - 1)->data[0]);
    gra_close(t);
    return failed;
}
END
ok "the same in double" ${CC:-cc} ${SANITIZE:-} ${CFLAGS:-} -I. -D_POSIX_C_SOURCE=200809L -DGRADUS_DOUBLE \
    "$W/double.c" examples/look/look.c examples/look/chain.c examples/lib/json_out.c examples/look/values.c \
    "$BUILD/look_page.c" "$BUILD/libgradus64.a" ${LDFLAGS:-} \
    -pthread -lm -o "$W/double"
localedef -i de_DE -f UTF-8 "$W/de_DE.UTF-8" 2>"$W/localedef" ||
    echo "$SCRIPT: left out: the decimal comma: there is no localedef"
ok "its page" ends_with 0 env LOCPATH="$W" "$W/double" "$W/double.html"
cp "$W/out" "$W/double.txt"
ok "no decimal comma" lacks '":-\{0,1\}[0-9]*,[0-9]' "$W/double.html"
ok "the largest numbers" grep -q '"rms":1.5e+308,"mean":0,.*"bins":\[2,.*,2\]' "$W/double.html"
ok "the smallest" grep -q '"rms":4.94066e-324,"mean":0,.*"bins":\[1,.*,2,.*,1\]' "$W/double.html"
ok "nan among others" grep -q '"strange":1,"rms":"nan","min":1,' "$W/double.html"

# ---- refusals --------------------------------------------------------------------------------------------
ok "one token" refuses 1 'got 1 token, expected 2 or more' "$LOOK" --model "$W/run" --prompt a
ok "no model" refuses 1 'there is no model' "$LOOK" --model "$W/none"
ok "a vocabulary is missing" refuses 1 '\-\-ids "464' "$LOOK" --model "$W/alone"
ok "no such token" refuses 1 "--ids: got '70000', expected a token" "$LOOK" --model "$W/alone" --ids "3 70000"
ok "text and numbers" refuses 2 'only one of them' "$LOOK" --ids "3 4" --prompt a
ok "no folder for the page" refuses 1 'cannot write' "$LOOK" --example scalar --out "$W/none/page.html"
ok "both" refuses 2 'cannot be combined with' "$LOOK" --example scalar --prompt a
ok "no such example" refuses 2 'scalar|next-token' "$LOOK" --example other

# ---- in a browser ----------------------------------------------------------------------------------------
browser= window=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name)
done
drive() {       # drive NAME: the page with $W/driver.js at its end; what that sees is in $W/NAME.seen
    awk -v driver="$W/driver.js" '/<\/body>/ {
            print "<script>"; while ((getline line < driver) > 0) print line; print "</script>" } { print }' \
        "$W/$1.html" >"$W/$1.driven.html"
    "$browser" --headless --no-sandbox --disable-gpu $window \
        --user-data-dir="$W/browser" --virtual-time-budget=5000 \
        --dump-dom "file://$W/$1.driven.html" >"$W/$1.dom" 2>"$W/$1.err"
    sed -n '/<pre id="seen">/,/<\/pre>/p' "$W/$1.dom" | sed 's/<[^>]*>//g' >"$W/$1.seen"
    cat "$W/$1.seen"
    grep -q '^end$' "$W/$1.seen"
}
seen() {      # seen NAME WHAT VALUE: the page showed that number, the same decimals in any notation
    awk -v what="$2" -v value="$3" '$1 == what { found = 1; if ($2 != "" && $2 + 0 == value + 0) same = 1 }
        END { exit !(found && same) }' "$W/$1.seen"
}
driver() {      # the beginning of a driver; the rest comes from stdin
    cat >"$W/driver.js" <<'END'
const seen = [];
addEventListener("error", event => seen.push("error " + event.message));
const say = (what, text) => seen.push(what + " " + text);
const press = (key, n = 1) => {
    for (; n > 0; n--) document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
};
const lines = () => [...document.querySelectorAll("#rows .row")];
const label = row => row.querySelector(".what").textContent.replace(/\s+/g, " ");
const cell = (name, column) =>
    lines().find(row => label(row).includes(name)).querySelector(column).textContent;
const table = () => [...document.querySelectorAll("table.chain tr")].map(row => row.textContent);
// How many gradients are not the sum of what the nodes add to them, of how many.
const chain = () => {
    const all = data.nodes, of = i => all[i].view ? of(all[i].in[0]) : i;
    const close = (a, b, most) => Math.abs(a - b) <= 1e-5 * most;
    let wrong = 0, compared = 0;
    all.forEach((x, i) => {
        const parts = all.flatMap(y => (y.adds || []).filter((part, k) => part && of(y.in[k]) === of(i)));
        if (!x.grad || i === all.length - 1) return;
        const lists = parts.map(part => reals(part.x)), sums = reals(x.grad.x);
        const most = Math.max(...sums.map(Math.abs));
        const whole = lists.every(list => list.length === sums.length);
        compared += parts.length > 1 && whole ? 1 : 0;
        wrong += parts.length > 1 && !whole ? 0 : whole
            ? sums.every((v, c) => close(lists.reduce((sum, list) => sum + list[c], 0), v, most)) ? 0 : 1
            : close(parts[0].rms, x.grad.rms, x.grad.rms) ? 0 : 1;
    });
    return `${wrong} ${compared}`;
};
END
    echo "setTimeout(() => { try {" >>"$W/driver.js"
    cat >>"$W/driver.js"
    cat >>"$W/driver.js" <<'END'
    } catch (why) { say("error", why); }
    const pre = document.createElement("pre");
    pre.id = "seen";
    pre.textContent = "\n" + seen.join("\n") + "\nend\n";
    document.body.append(pre);
}, 0);
END
}
if [ -n "$browser" ]; then
    driver <<'END'
    say("g", cell("g = e/2", ".value"));
    say("dg/da", cell("a input", ".grad"));
    say("dg/db", cell("b input", ".grad"));
    press("Home");
    say("empty", lines().filter(row => /\d/.test(row.querySelector(".value").textContent)).length + 1);
    press("ArrowDown", 3);
    say("forward", lines().filter(row => /\d/.test(row.querySelector(".value").textContent)).length);
    press("ArrowDown", lines().length);
    say("turned", cell("g = e/2", ".grad").includes("1") ? 1 : 0);
    press("ArrowUp", 4);
    say("backward", lines().filter(row => /\d/.test(row.querySelector(".grad").textContent)).length);
    press("ArrowUp", lines().length);
    say("again", cell("a input", ".grad"));
    lines().find(row => row.textContent.includes("e = (c - d)^2")).click();
    say("opened", document.querySelector("#node .big").textContent);
    say("formula", document.querySelector("#node pre").textContent.includes("x^p") ? 1 : 0);
    say("exponent", lines().filter(row => /e = \(c - d\)\^2 *pow 2$/.test(label(row))).length);
    say("factor", lines().filter(row => label(row).includes("22 scale by 10")).length);
    say("chain", chain());
    const value = i => reals(data.nodes[i].data.x)[0], local = (y, k) => reals(y.local[k].x)[0];
    const all = data.nodes, mul = all.find(y => y.op === "mul"), pow = all.find(y => y.args === "3");
    say("local", local(mul, 0) === value(mul.in[1]) && local(mul, 1) === value(mul.in[0]) &&
        local(pow, 0) === 3 * value(pow.in[0]) ** 2 ? 1 : 0);
    lines().find(row => label(row).includes("b input")).click();
    say("users", table().length);
    say("line", table().filter(text => /^5 pow83.30029\u00d7 12= 999.6035$/.test(text)).length);
    say("sum", table()[table().length - 1].replace("sum: the gradient= ", ""));
    document.querySelectorAll("table.chain button")[4].click();
    say("leads", document.querySelector("#node h2").textContent.startsWith("6  mul") ? 1 : 0);
    const field = document.createElement("input"), row = chosen;
    document.body.append(field);
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    say("typed", row === chosen ? 1 : 0);
    press("Home");
    press("ArrowDown", 5);
    const before = [chosen.key, document.getElementById("rows").textContent].join();
    show(read_json(document.getElementById("data").textContent));
    say("shown", before === [chosen.key, document.getElementById("rows").textContent].join() ? 1 : 0);
    const fewer = read_json(document.getElementById("data").textContent);
    fewer.nodes = fewer.nodes.slice(0, 9);
    press("End");
    show(fewer);
    say("fewer", lines().length === 9 && done === 18 && chosen === rows[8] ? 1 : 0);
END
    ok "the scalar page in $browser" drive scalar
    for what in g dg/da dg/db; do
        ok "it shows $what" seen scalar "$what" "$(printed scalar "$what")"
    done
    for pair in empty=1 forward=3 turned=0 backward=4 opened=49 formula=1 "again=$(printed scalar dg/da)" \
        exponent=1 factor=1 local=1 users=7 line=1 leads=1 typed=1 shown=1 fewer=1 \
        "sum=$(printed scalar dg/db)"; do
        ok "stepping: $pair" seen scalar "${pair%%=*}" "${pair#*=}"
    done
    ok "each gradient is the sum of what the nodes add" grep -q '^chain 0 7$' "$W/scalar.seen"
    ok "no error" lacks '^error' "$W/scalar.seen"

    driver <<'END'
    const slider = document.getElementById("slider"),
          before = document.querySelector("#state code").textContent;
    say("loss", before);
    say("rows", lines().length);
    slider.value = 0;
    slider.dispatchEvent(new Event("input"));
    say("first", document.querySelector("#state").textContent.includes("after 0 of ") ? 1 : 0);
    say("moved", document.querySelector("#state code").textContent === before ? 0 : 1);
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input"));
    say("back", document.querySelector("#state code").textContent);
    const steps = data.states.map(state => state.step), last = steps.length - 1, knob = () => {
        const line = document.querySelector("#curve line").getBoundingClientRect(),
              box = slider.getBoundingClientRect();
        return Math.abs(line.x - box.x - 8 - (box.width - 16) * (slider.value - slider.min) /
                        (slider.max - slider.min));
    };
    slider.value = 0.7 * steps[last - 2] + 0.3 * steps[last - 1];
    slider.dispatchEvent(new Event("input"));
    say("stands", slider.value === String(steps[last - 2]) && knob() < 1 ? 1 : 0);
    slider.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    const after = `after ${steps[last - 1]} of ${steps[last]} steps`;
    say("key", document.querySelector("#state").textContent.includes(after) && knob() < 1 ? 1 : 0);
    const curve = document.getElementById("curve"), edge = curve.getBoundingClientRect().x;
    curve.dispatchEvent(new MouseEvent("click", { clientX: edge + 9 }));
    say("clicked", slider.value === "0" && knob() < 1 ? 1 : 0);
    say("numbers", [...document.querySelectorAll("#curve text")]
        .filter(text => text.textContent === String(steps[last - 1])).length);
    document.querySelectorAll("#state .token")[3].dispatchEvent(new MouseEvent("mouseenter"));
    say("lit", document.querySelectorAll("table.next tr.lit").length);
    const sums = state => data.tokens.slice(0, data.seen).map((_, query) =>
        [...Array(query + 1).keys()].reduce((sum, key) =>
            sum + weight(state, data.layers - 1, 1, query, key), 0));
    say("sums", data.states.every(state => sums(state).every(sum => Math.abs(sum - 1) < 1e-5)) ? 1 : 0);
    document.querySelectorAll(".heads button")[2].focus();
    document.activeElement.click();
    say("kept", document.activeElement === document.querySelectorAll(".heads button")[2] ? 1 : 0);
    const heading = "trf_blocks.0, head 3: each row";
    say("head", document.getElementById("state").textContent.includes(heading) ? 1 : 0);
    lines().find(row => row.textContent.includes("trf_blocks.0")).click();
    say("opens", lines().length > 8 ? 1 : 0);
    press("ArrowUp", 1);
    say("plain", document.getElementById("state").textContent.includes("finished model's") ? 1 : 0);
    lines().find(row => row.textContent.includes("loss")).click();
    say("stays", document.getElementById("model").hidden ? 0 : 1);
    press("Enter");
    say("enters", document.getElementById("model").hidden ? 1 : 0);
    say("node", document.querySelector("#node .big").textContent);
    open_all(tree, true);
    draw();
    lines().find(row => label(row).endsWith(" attention")).click();
    [...document.querySelectorAll("#node button")].find(button => button.textContent === "its heads").click();
    say("heads", document.getElementById("model").hidden ? 0 : 1);
    [...document.querySelectorAll("#state button")]
        .find(button => / attention$/.test(button.textContent)).click();
    say("back_to", /^\d+ {2}attention$/.test(document.querySelector("#node h2").textContent) ? 1 : 0);
    say("chain", chain());
    say("upright", [...document.querySelectorAll("#big text")]
        .filter(text => /rotate/.test(text.getAttribute("transform"))).length);
    const sample = document.querySelector(".sample");
    say("sample", !sample || sample.textContent === "It writes <" + "/script> and \u00e9" ? 1 : 0);
    document.getElementById("fold").click();
    press("Home");
    press("ArrowDown", 3);
    say("folded", lines().filter(row => /\d/.test(row.querySelector(".value").textContent)).length);
END
    for name in next run; do
        ok "the page $name in $browser" drive $name
        for pair in first=1 moved=1 stands=1 key=1 clicked=1 numbers=1 lit=1 sums=1 head=1 kept=1 opens=1 \
            folded=3 plain=1 stays=1 enters=1 heads=1 back_to=1 sample=1 \
                "loss=$(printed $name loss)" "back=$(printed $name loss)" "node=$(printed $name loss)"; do
            ok "$name: $pair" seen $name "${pair%%=*}" "${pair#*=}"
        done
        ok "$name: each gradient is the sum" grep -q '^chain 0 [1-9]' "$W/$name.seen"
        ok "no error" lacks '^error' "$W/$name.seen"
    done
    ok "single letters are upright" seen next upright 0
    fits() { awk '$1 == "rows" && $2 <= 25 { good = 1 } END { exit !good }' "$W/run.seen"; }
    ok "four layers fit a screen" fits

    driver <<'END'
    const right = document.getElementById("right").getBoundingClientRect();
    say("wide", innerWidth);
    say("beside", document.documentElement.scrollWidth - document.documentElement.clientWidth);
    say("beneath", right.top > document.getElementById("tape").getBoundingClientRect().bottom - 2 &&
        right.height > 200 ? 1 : 0);
    const curve = document.getElementById("curve");
    say("curve", !curve || curve.getBoundingClientRect().right <= innerWidth ? 1 : 0);
END
    window=--window-size=500,800         # the narrowest that it allows
    for name in scalar run; do
        ok "the page $name in a narrow window" drive $name
        for pair in wide=500 beside=0 beneath=1 curve=1; do
            ok "$name: $pair" seen $name "${pair%%=*}" "${pair#*=}"
        done
        ok "no error" lacks '^error' "$W/$name.seen"
    done
    window=
    driver <<'END'
    say("loss", document.querySelector("#state code").textContent);
    say("says", document.querySelectorAll("table.next td")[3].textContent.includes("nan") ? 1 : 0);
END
    ok "a model of nan" drive nan
    ok "... shows it" grep -q '^loss nan$' "$W/nan.seen"
    ok "... everywhere" seen nan says 1
    ok "no error" lacks '^error' "$W/nan.seen"

    driver <<'END'
    lines().forEach((row, i) => lines()[i].click());
    say("images", document.images.length);
    say("scripts", document.scripts.length);
    say("owned", document.title.includes("owned") ? 1 : 0);
    lines()[0].click();
    say("numbers",
        [...document.querySelectorAll("#node td")].slice(0, 4).map(cell => cell.textContent).join("/"));
    const main = document.querySelector("main").textContent;
    say("turned", [/turned/, /[\u061c\u202a-\u202e\u2066-\u2069]/]
        .map(what => what.test(main) ? 1 : 0).join(""));
    say("long", document.querySelector("#node h2").textContent.length > 10000 ? 1 : 0);
END
    ok "the hostile page in $browser" drive hostile
    for pair in images=0 scripts=3 owned=0 turned=10 long=1; do
        ok "hostile: $pair" seen hostile "${pair%%=*}" "${pair#*=}"
    done
    ok "nan and infinities are shown" grep -q '^numbers nan/inf/-inf/-*0$' "$W/hostile.seen"
    ok "no error" lacks '^error' "$W/hostile.seen"
    driver <<'END'
    press("Home");
    press("ArrowDown", 2);
    press("ArrowUp", 2);
    press("End");
    press("Enter");
END
    ok "a tape without nodes in $browser" drive empty
    ok "no error" lacks '^error' "$W/empty.seen"

    driver <<'END'
    say("loss", lines().find(row => label(row).includes("loss")).querySelector(".value").title);
    say("fits", lines().filter(row => [...row.children].some(cell => cell.scrollWidth > cell.clientWidth))
        .length);
    say("chain", chain());
    say("largest", cell("far 0", ".value"));
    say("among", cell("far 2", ".value"));
    lines().find(row => label(row).includes("x input")).click();
    const [values, gradients] = document.querySelectorAll("#node canvas");
    for (const [what, canvas] of [["value", values], ["gradient", gradients]]) {
        const at = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: at.right - 2, clientY: at.bottom - 20 }));
        say(what, canvas.parentNode.querySelector(".under").textContent.replace(/ /g, ""));
    }
END
    ok "the page of doubles in $browser" drive double
    ok "all digits fit their columns" seen double fits 0
    ok "each gradient is the sum" grep -q '^chain 0 [1-9]' "$W/double.seen"
    ok "it shows the loss" seen double loss "$(printed double loss)"
    ok "the largest numbers" seen double largest 1.5e308
    ok "nan among others" grep -q '^among nan$' "$W/double.seen"
    ok "the number under the pointer" grep -q '^value \[8,9\]=29.666666666666668$' "$W/double.seen"
    ok "and its gradient" grep -q '^gradient \[8,9\]=18.9046666666666' "$W/double.seen"
    ok "no error" lacks '^error' "$W/double.seen"

    # In frames of three widths, light and dark, with all layers open, each view: what is cut, or too wide.
    cat >"$W/driver.js" <<'END'
document.currentScript.remove();
const seen = [], html = "<!doctype html>" + document.documentElement.outerHTML;
const wait = () => new Promise(done => setTimeout(done, 100));
async function measure(width) {
    const frame = document.createElement("iframe"), cut = [];
    frame.style.cssText = `width: ${width}px; height: 700px`;
    frame.srcdoc = html;
    document.body.append(frame);
    await new Promise(done => frame.onload = done);
    const page = frame.contentWindow, root = page.document.documentElement;
    const look = where => {
        if (root.scrollWidth > root.clientWidth) cut.push(where + ": the page is too wide");
        for (const box of root.querySelectorAll(".row span, button, th, #right, .pair > div, h2, h3, .facts"))
            if (box.scrollWidth > box.clientWidth + 1 && box.clientWidth)
                cut.push(`${where}: ${box.className || box.tagName} ${box.textContent.slice(0, 30)}`);
        for (const text of root.querySelectorAll("#model svg text")) {
            const inner = text.getBoundingClientRect(), outer = text.ownerSVGElement.getBoundingClientRect();
            if (inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1))
                cut.push(`${where}: ${text.textContent}`);
        }
    };
    await wait();
    look("at first");
    const fold = page.document.getElementById("fold");
    if (fold.textContent === "unfold") fold.click();
    page.document.querySelectorAll("#rows .row").forEach((row, i, all) => {
        if (i % 9 !== 4 || all[i].hasAttribute("aria-expanded")) return;
        page.document.querySelectorAll("#rows .row")[i].click();
        page.document.dispatchEvent(new page.KeyboardEvent("keydown", { key: "Enter" }));
        look(page.document.querySelector("#node h2").textContent);
    });
    seen.push(`cut ${width} ${cut.length}`, ...cut.slice(0, 5));
    frame.remove();
}
addEventListener("error", event => seen.push("error " + event.message));
(async () => {
    for (const width of [390, 800, 1280]) await measure(width);
    const pre = document.createElement("pre");
    pre.id = "seen";
    pre.textContent = "\n" + seen.join("\n") + "\nend\n";
    document.body.append(pre);
})();
END
    for name in scalar run double; do
        ok "the page $name in three widths" drive $name
        for width in 390 800 1280; do
            ok "$name: nothing is cut at $width" grep -qx "cut $width 0" "$W/$name.seen"
        done
    done
else
    echo "$SCRIPT: left out: the pages in a browser: there is no chromium"
fi
finish
