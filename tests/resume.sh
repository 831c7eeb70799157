#!/bin/sh
# A run that was stopped and goes on by build/train --resume ends with the very bits of one never stopped.
. tests/lib/ok.sh

small="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --eval-every 50 --eval-batches 4 --dropout 0.1
       --data core/gradus.h --sample 40 --quiet"

# A gnuplot that has no time: of pictures nothing is said here.
mkdir "$W/bin"
printf '#!/bin/sh\nexit 1\n' >"$W/bin/gnuplot"
chmod +x "$W/bin/gnuplot"
PATH=$W/bin:$PATH

same_run() {    # same_run A B: but for the column of times, they left the same
    same_table 1-5 "$1" "$2" && cmp "$1/model.safetensors" "$2/model.safetensors" &&
        cmp "$1/sample.txt" "$2/sample.txt" && cmp "$1/config.tsv" "$2/config.tsv" &&
        [ -s "$1/best.safetensors" ] && [ -s "$2/best.safetensors" ] && ! ls "$2"/*safetensors.* 2>"$W/ls.err"
}

# stopped SIGNAL ROWS DIR FLAGS ...: trains, and gets the signal when its table has so many rows.
# KILL ends it at once; INT is Ctrl-C, after which it says and does its last things.
stopped() {
    signal=$1
    rows=$2
    table=$3/loss.tsv
    shift 3
    "$TRAIN" "$@" >"$W/leg.out" 2>"$W/leg.err" &
    pid=$!
    rows "$table" $((rows + 1))
    kill -"$signal" $pid
    wait $pid 2>"$W/wait.err"
    status=$?
    cat "$W/leg.out" "$W/leg.err"
    case $signal in
    INT) [ $status -eq 130 ] ;;
    *) [ $status -gt 128 ] ;;
    esac
}

# ---- the same bits, wherever it is stopped -----------------------------------------------------------------
for optimizer in adamw muon sgd; do
    group "$optimizer, stopped twice, with 1, 2 and 4 threads"
    flags="$small --optimizer $optimizer --steps 800"
    ok "never stopped" ends_with 0 "$TRAIN" $flags --threads 2 --out "$W/whole"
    for order in "INT KILL 1 2 4" "KILL INT 4 1 2"; do
        set -- $order
        rm -rf "$W/part"
        ok "stopped by $1, $3 threads" stopped "$1" 60 "$W/part" $flags --threads "$3" --out "$W/part"
        ok "goes on, stopped by $2, $4 threads" stopped "$2" 400 "$W/part" --resume "$W/part" --threads "$4"
        ok "goes on to the end, $5 threads" ends_with 0 "$TRAIN" --resume "$W/part" --threads "$5"
        ok "... with the same bits" same_run "$W/whole" "$W/part"
    done
done

group "stopped in odd places"
whole="$small --steps 300"
ok "never stopped" ends_with 0 "$TRAIN" $whole --out "$W/whole"

rm -rf "$W/part"
cp -R "$W/whole" "$W/part"
ok "finished, it goes on" ends_with 0 "$TRAIN" --resume "$W/whole"
ok "... and finishes again" grep -q '^trained 300 of 300 steps' "$W/out"
ok "... as it was" same_run "$W/whole" "$W/part"

rm -rf "$W/part"
"$TRAIN" $whole --steps 300 --out "$W/part" >"$W/leg.out" 2>&1 &
pid=$!
i=0
while [ ! -e "$W/part/checkpoint.safetensors" ] && [ $((i += 1)) -lt 3000000 ]; do :; done
kill -KILL $pid
wait $pid 2>"$W/wait.err"
ok "killed as soon as there is a checkpoint, it goes on" ends_with 0 "$TRAIN" --resume "$W/part"
ok "... with the same bits" same_run "$W/whole" "$W/part"

# Of an evaluation that is cut short nothing may stay: neither its row nor what it says of the best.
slow="$small --steps 40 --eval-every 20 --eval-batches 3000"
ok "an evaluation that takes long" ends_with 0 "$TRAIN" $slow --out "$W/slow"
rm -rf "$W/part"
ok "... is stopped by Ctrl-C" stopped INT 19 "$W/part" $slow --out "$W/part"
ok "... its row is the last" awk 'END { print; exit $1 > 21 }' "$W/part/loss.tsv"
ok "... the run goes on" ends_with 0 "$TRAIN" --resume "$W/part"
ok "... with the same bits" same_run "$W/slow" "$W/part"

rm -rf "$W/part"
"$TRAIN" $whole --sample 1000000000 --out "$W/part" >"$W/leg.out" 2>&1 &
pid=$!
rows "$W/part/loss.tsv" 301
kill -INT $pid
wait $pid 2>"$W/wait.err"
ok "stopped while it writes its sample, it goes on" ends_with 0 "$TRAIN" --resume "$W/part" --sample 40
ok "... with the same bits" same_run "$W/whole" "$W/part"

ok "from its best checkpoint" cp "$W/part/best.safetensors" "$W/part/checkpoint.safetensors"
ok "... it goes on" ends_with 0 "$TRAIN" --resume "$W/part" --sample 40
ok "... with the same bits" same_run "$W/whole" "$W/part"

rm -rf "$W/part"
ok "a checkpoint at every 7th step" stopped KILL 100 "$W/part" $whole --checkpoint-every 7 --out "$W/part"
killed=$(tail -n 1 "$W/part/loss.tsv" | cut -f 1)
ok "... remembers that" ends_with 0 "$TRAIN" --resume "$W/part" --no-quiet
ok "... and loses 7 steps at most" sh -c 'step=$(sed -n "s/.*goes on after step //p" "$1")
    echo "from $step after $2"; [ "$2" -le $((step + 7)) ]' - "$W/out" "$killed"
ok "... with the same bits" same_run "$W/whole" "$W/part"

# ---- what may differ, and what may not ----------------------------------------------------------------
group "flags"
contradicts() { # contradicts FLAG IS WAS
    refuses 2 "$1=$2, but the run in $W/whole was begun with $1=$3\$" "$TRAIN" --resume "$W/whole" "$1=$2"
}

images() {      # of all files of a folder
    (cd "$1" && cksum ./*)
}

images "$W/whole" >"$W/before"
ok "--lr" contradicts --lr 0.001 0.004
ok "--steps" contradicts --steps 400 300
ok "--optimizer" contradicts --optimizer sgd adamw
ok "--tied" contradicts --tied no yes
ok "--dropout" contradicts --dropout 0 0.1
ok "--seed" contradicts --seed 2 1
ok "--eval-every" contradicts --eval-every 20 50
ok "--min-lr, which was not given" contradicts --min-lr 0 0.0004
ok "another --out" refuses 2 "--out $W/part, but --resume $W/whole goes on in that folder" \
    "$TRAIN" --resume "$W/whole" --out "$W/part"
ok "no name" refuses 2 "wants the name of a folder, not ''" "$TRAIN" --resume ''
ok "an unknown flag" refuses 2 'no flag --stepz' "$TRAIN" --resume "$W/whole" --stepz 3
sed 's/gradus/grados/' core/gradus.h >"$W/changed.txt"
ok "another text" refuses 1 'the text is not the one that the run in .*/whole began with' \
    "$TRAIN" --resume "$W/whole" --data "$W/changed.txt"
ok "all that changed nothing" sh -c 'cd "$1" && cksum ./* | cmp - "$2"' - "$W/whole" "$W/before"
cp core/gradus.h "$W/moved.txt"
ok "the same text elsewhere, and the same values" ends_with 0 "$TRAIN" --resume "$W/whole" \
    --data "$W/moved.txt" --lr 0.004 --steps 300 --out "$W/whole" --threads 1 --checkpoint-every 100
printf 'odd' >"$W/od d%"
ok "a text with an odd name" ends_with 0 sh -c 'cd "$1" && "$2" --data "od d%" --data "$3" --steps 3 \
    --context 8 --width 8 --heads 1 --layers 1 --sample 0 --quiet --out odd' - "$W" "$TRAIN" "$PWD/core/op.h"
ok "... is found from elsewhere" ends_with 0 "$TRAIN" --resume "$W/odd"
ok "... with another instruction set too" ends_with 0 env GRADUS_ISA=base "$TRAIN" --resume "$W/odd"
if ! "$TRAIN" --resume "$W/odd" --no-quiet 2>"$W/ls.err" | grep -q 'instruction set base'; then
    ok "... which is said" grep -q 'goes on with base: its last digits will differ .* GRADUS_ISA=' "$W/err"
fi
ok "... and its change is noticed" sh -c 'printf even >"$1/od d%"; ! "$2" --resume "$1/odd"' - "$W" "$TRAIN"

# ---- damaged ------------------------------------------------------------------------------------------
bad_resume() {  # bad_resume PATTERN: the run in $W/d is refused in one sentence, and is as it was
    images "$W/d" >"$W/before"
    refuses 1 "$1" "$TRAIN" --resume "$W/d" && images "$W/d" | cmp - "$W/before"
}

damaged() {     # a copy of the run, to damage
    rm -rf "$W/d"
    cp -R "$W/whole" "$W/d"
    good=$W/whole/checkpoint.safetensors
    bad=$W/d/checkpoint.safetensors
}

put() {         # put PLACE BYTES: overwrites what stands there
    printf "$2" | dd of="$bad" bs=1 seek="$1" conv=notrunc 2>"$W/dd.err"
}

place() {       # place TEXT: where it begins in the checkpoint
    LC_ALL=C awk -v text="$1" 'BEGIN { RS = "\001" } { print index($0, text) - 1; exit }' "$good"
}

group "damaged checkpoints"
mkdir "$W/bare"
ok "none" refuses 1 "no run can go on in $W/bare: there is no checkpoint.safetensors" \
    "$TRAIN" --resume "$W/bare"
ok "... the folder stays empty" test -z "$(ls "$W/bare")"
ok "no folder" refuses 1 'there is no checkpoint.safetensors' "$TRAIN" --resume "$W/nowhere"
damaged
size=$(wc -c <"$good")
for n in 0 7 8 100 $((size / 2)) $((size - 1)); do
    damaged
    head -c "$n" "$good" >"$bad"
    ok "cut to $n of $size bytes" bad_resume 'checkpoint.safetensors'
done
damaged; echo >>"$bad"
ok "a byte too many" bad_resume 'checkpoint.safetensors'
damaged; put 0 '\377\377\377\377\377\377\377'
ok "a huge header" bad_resume 'checkpoint.safetensors'
damaged; cp "$W/whole/model.safetensors" "$bad"
ok "parameters alone" bad_resume "is no checkpoint of a run: its metadata lack 'checkpoint'"
damaged; cp examples/loss.png "$bad"
ok "a picture" bad_resume 'checkpoint.safetensors'
damaged; rm "$bad"; mkdir "$bad"
ok "a folder" refuses 1 'checkpoint.safetensors' "$TRAIN" --resume "$W/d"
damaged; put "$(($(place '"checkpoint":"1"') + 14))" 2
ok "another version" bad_resume "a checkpoint of version '2', and this program reads version 1"
damaged; put "$(($(place 'lr\\t0.004') + 4))" 1
ok "a changed setting" bad_resume 'is damaged: its state has the hash'
damaged; put "$(($(place 'mt19937:') + 100))" g
ok "a changed generator" bad_resume 'is damaged: its state has the hash'
damaged; put "$(($(place '"hash":"') + 9))" g
ok "a changed hash" bad_resume 'is damaged: its state has the hash'
damaged; put $((size - 1)) '\001'
ok "a changed moment" bad_resume 'is damaged: its values have the hash'
damaged; put $((size - 80000)) '\001'
ok "a changed value" bad_resume 'is damaged: its values have the hash'
damaged
header=$(tail -c +9 "$good" | LC_ALL=C awk 'BEGIN { RS = "\001" } { print substr($0, 1, index($0, "}")) "}"; exit }')
{ printf "$(printf '\\%o\\%o' $((${#header} % 256)) $((${#header} / 256)))\0\0\0\0\0\0%s" "$header"; } >"$bad"
ok "no tensors, under its right hash" bad_resume 'is damaged: it has 0 values, and its own model has [0-9]*'
damaged; rm "$W/d/loss.tsv"
ok "no table" bad_resume 'loss.tsv: No such file'
damaged; head -n 200 "$W/whole/loss.tsv" >"$W/d/loss.tsv"
ok "a shorter table" bad_resume 'loss.tsv is not the table that the checkpoint remembers: that has 299 rows'
damaged; sed 's/^100	/101	/' "$W/whole/loss.tsv" >"$W/d/loss.tsv"
ok "another table" bad_resume 'loss.tsv is not the table that the checkpoint remembers'
damaged; sed 's/^100	[^	]*/100	loss/' "$W/whole/loss.tsv" >"$W/d/loss.tsv"
ok "a table without numbers" bad_resume 'loss.tsv is not the table that the checkpoint remembers'
damaged; printf '301\t2\t\t1\t1\t1\nhalf a ro' >>"$W/d/loss.tsv"; rm "$W/d/config.tsv" "$W/d/vocab.tsv"
ok "a longer table, and no configuration" ends_with 0 "$TRAIN" --resume "$W/d"
ok "... are mended" same_run "$W/whole" "$W/d"

# ---- a full disk, a model that is spoilt, a run replaced ------------------------------------------------
limited() {     # limited FLAGS ...: no file may get more than 64 KiB
    sh -c 'trap "" XFSZ; ulimit -f 128; exec "$@"' - "$TRAIN" "$@"
}

group "full disk, spoilt model"
rm -rf "$W/part"
ok "a run" stopped KILL 100 "$W/part" $whole --out "$W/part"
cp "$W/part/checkpoint.safetensors" "$W/kept"
ok "no room for a checkpoint" ends_with 1 limited --resume "$W/part"
ok "... is said" grep -q '^train: cannot write .*checkpoint.safetensors: .*too large' "$W/err"
ok "... the last good one stands" cmp "$W/kept" "$W/part/checkpoint.safetensors"
ok "... and nothing unfinished" sh -c '! ls "$1"/*safetensors.*' - "$W/part"
ok "... the run goes on from it" ends_with 0 "$TRAIN" --resume "$W/part"
ok "... with the same bits" same_run "$W/whole" "$W/part"

rm -rf "$W/part"
cp -R "$W/whole" "$W/part"
images "$W/part" >"$W/before"
ok "no room for a new run's first checkpoint" ends_with 1 limited $whole --seed 5 --out "$W/part"
ok "... the run that was there is as it was" sh -c 'cd "$1" && cksum ./* | cmp - "$2"' - "$W/part" "$W/before"
ok "... nor in a new folder" ends_with 1 limited $whole --out "$W/no room"
ok "... which stays empty" test -z "$(ls "$W/no room")"

ok "a rate that spoils the model" ends_with 1 "$TRAIN" $small --optimizer sgd --lr 1000 --clip 0 --steps 300 \
    --checkpoint-every 1 --out "$W/spoilt"
ok "... is said" grep -q 'no longer a number' "$W/err"
step=$(sed -n 's/^train: step \([0-9]*\): .*/\1/p' "$W/err")
ok "... the checkpoint before stands" ends_with 1 "$TRAIN" --resume "$W/spoilt" --no-quiet
ok "... with numbers" sh -c 'from=$(sed -n "s/.*goes on after step //p" "$1"); [ "$from" -lt "$2" ]' \
    - "$W/out" "$step"
ok "... from which it comes to the same end" grep -q "^train: step $step: .*no longer a number" "$W/err"

rm -rf "$W/part"
ok "a run that is cut off" stopped KILL 100 "$W/part" $small --steps 20000 --out "$W/part"
: >"$W/part/checkpoint.safetensors.123-0.tmp"
ok "... is replaced by a new one" ends_with 0 "$TRAIN" $whole --no-quiet --out "$W/part"
ok "... which says so" grep -q "part holds a run, and a new one takes its place" "$W/out"
ok "... and leaves what a new one leaves" same_run "$W/whole" "$W/part"

finish
