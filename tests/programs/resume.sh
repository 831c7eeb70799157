#!/bin/sh
# Tests that a run that is stopped and resumed (build/train --resume) ends with the same bits as an
# undisturbed run. The part `rest`: other optimisers, lines, bfloat16, and runs that are stopped anywhere.
. tests/lib/ok.sh

small="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --eval-every 10 --eval-batches 4 --dropout 0.1
       --data core/gradus.h --sample 40 --quiet"

# A gnuplot that draws nothing: pictures are not tested here.
mkdir "$W/bin"
printf '#!/bin/sh\nexit 1\n' >"$W/bin/gnuplot"
chmod +x "$W/bin/gnuplot"
PATH=$W/bin:$PATH

again() {       # again DIR FLAGS ...: resumes the run, or starts it if there is none
    dir=$1
    shift
    if [ -e "$dir/checkpoint.safetensors" ]; then
        ends_with 0 "$TRAIN" --resume "$dir"
    else
        ends_with 0 "$TRAIN" "$@" --out "$dir"
    fi
}

# ---- the same bits, wherever it is stopped -----------------------------------------------------------------
# KILL and TERM end a run at once. After INT, which is Ctrl-C, the run still validates and writes its files; a
# second INT ends it at once. A "begin" is a step, a batch of an evaluation or a letter of the sample.
legs() {        # legs OPTIMIZER: stopped several times, with various numbers of threads
    rm -rf "$W/part"
    ok "$1, stopped at once" at 137 "begin 15 KILL" train $flags --threads 4 --out "$W/part"
    for leg in "130 1 INT 30" "137 2 KILL 20" "143 4 TERM 3" "130 1 INT 17" "137 2 KILL 25"; do
        set -- "$1" $leg
        ok "$1, goes on, stopped by $4 with $3 threads" at "$2" "begin $5 $4" train --resume "$W/part" \
            --threads "$3"
        ok "... with complete rows" columns "$W/part/loss.tsv"
    done
    ok "$1, goes on to the end, 4 threads" ends_with 0 "$TRAIN" --resume "$W/part" --threads 4
    ok "... with the same bits" same_run "$W/whole" "$W/part"
}

# stopped_at MOMENTS STATUS: a run stopped at these moments leaves complete rows, and resumes to the same end.
stopped_at() {
    rm -rf "$W/part"
    at "$2" "$1" train $flags --data "$W/text" --out "$W/part" || return 1
    [ ! -e "$W/part/checkpoint.safetensors" ] || columns "$W/part/loss.tsv" || return 1
    again "$W/part" $flags --data "$W/text" && same_run "$W/whole" "$W/part"
}

# sweep CALL STATUS ACTION ...: stops at each such call of a whole run; the next call gets a second action
sweep() {
    last=$(sed -n "s/^$1 //p" "$W/whole.calls")
    ok "there are enough moments" test "$last" -ge 15
    n=1
    while [ $n -le "$last" ]; do
        ok "$3 at $1 $n" stopped_at "$1 $n $3${4:+, $1 $((n + 1)) $4}" "$2"
        n=$((n + 1))
    done
}

if moments "runs that are stopped"; then
    optimizers=
    ! quick || optimizers=muon
    ! rest || optimizers="$optimizers adamw sgd"
    for optimizer in $optimizers; do
        group "$optimizer, stopped six times, with 1, 2 and 4 threads"
        flags="$small --optimizer $optimizer --steps 60"
        rm -rf "$W/whole"
        ok "never stopped" ends_with 0 "$TRAIN" $flags --threads 2 --out "$W/whole"
        legs $optimizer
    done
fi

group "a run of an older version, which has no --momentum"
flags="$small --optimizer muon --momentum 0.95 --steps 20"
ok "never stopped" ends_with 0 "$TRAIN" $flags --out "$W/new"
ok "stopped" at 130 "begin 9 INT" train $flags --out "$W/old"
LC_ALL=C sed 's/momentum\\t0\.95\\n/batch\\t0000004\\n/' "$W/old/checkpoint.safetensors" >"$W/older"
ok "without it" differ "$W/older" "$W/old/checkpoint.safetensors"
mv "$W/older" "$W/old/checkpoint.safetensors"
ok "it goes on" ends_with 0 "$TRAIN" --resume "$W/old"
ok "... with the momentum of that version" cmp "$W/new/model.safetensors" "$W/old/model.safetensors"

if rest && moments "more runs that are stopped"; then
    group "lines and two batches per step, stopped six times"
    flags="$small --lines --accumulate 2 --batch 3 --steps 60"
    rm -rf "$W/whole"
    ok "never stopped" ends_with 0 "$TRAIN" $flags --threads 2 --out "$W/whole"
    legs lines

    group "the same, with blocks that are computed again, stopped six times"
    flags="$flags --recompute"
    legs --recompute

    group "products of bfloat16 numbers, in plain C, stopped six times"
    flags="$small --batch 16 --context 32 --products bf16 --steps 60"
    rm -rf "$W/whole"
    GRADUS_ISA=base+bf16
    export GRADUS_ISA
    ok "never stopped" ends_with 0 "$TRAIN" $flags --threads 2 --out "$W/whole"
    legs bf16
    unset GRADUS_ISA

    group "stopped anywhere"
    head -c 1000 core/gradus.h >"$W/text"
    flags="--context 8 --batch 4 --width 8 --heads 2 --layers 1 --dropout 0.1 --steps 7 --eval-every 3
           --eval-batches 2 --checkpoint-every 2 --sample 3 --quiet --threads 1"
    rm -rf "$W/whole"
    ok "never stopped" at 0 '' train $flags --data "$W/text" --out "$W/whole"
    cp "$W/report" "$W/whole.calls"
    sweep begin 137 KILL
    sweep begin 130 INT
    sweep begin 130 INT INT

    group "out of patience, stopped anywhere"
    # The last tenth of the text contradicts what the model learns from the rest.
    awk 'BEGIN { for (i = 0; i < 300; i++) printf "%c", 97 + (i < 270 ? i % 2 : i * i % 7) }' >"$W/text"
    flags="$flags --dropout 0 --lr 0.005 --accumulate 2 --steps 40 --patience 3"
    rm -rf "$W/whole"
    ok "never stopped" at 0 '' train $flags --data "$W/text" --out "$W/whole"
    cp "$W/report" "$W/whole.calls"
    ended=$(awk -F '\t' 'NR > 1 && $3 != "" { if (!best || $3 <= least) { best = $1; least = $3 } last = $1 }
        END { if (3 < best && last == best + 9 && last < 40) print last }' "$W/whole/loss.tsv")
    ok "... it ends three validations after the best" \
        grep -q "^trained $ended steps in 0:00:00 ($ended of 40, out of patience), validation" "$W/out"
    sweep begin 137 KILL
fi

quick || { finish; exit; }
group "stopped in odd places"
whole="$small --steps 60"
rm -rf "$W/whole" "$W/part"
ok "never stopped" ends_with 0 "$TRAIN" $whole --out "$W/whole"

cp -R "$W/whole" "$W/part"
ok "finished, it goes on" ends_with 0 "$TRAIN" --resume "$W/whole"
ok "... and finishes again" grep -q '^trained 0 steps in 0:00:00 (60 of 60), validation loss [0-9.]*, ' \
    "$W/out"
ok "... as it was" same_run "$W/whole" "$W/part"
ok "once more, not quiet" ends_with 0 "$TRAIN" --resume "$W/whole" --no-quiet
ok "... nothing is left to train" grep -q '^out .*: all 60 steps are done$' "$W/out"
ok "... it does not claim to go on" lacks 'resumed after' "$W/out"
ok "... nor are there two empty lines" sh -c 'cat -s "$1" | cmp - "$1"' - "$W/out"
ok "... as it was" same_run "$W/whole" "$W/part"

cut_off() {     # cut_off FLAGS ...: a run in $W/part that is killed halfway
    rm -rf "$W/part"
    at 137 "begin 40 KILL" train $whole --out "$W/part" "$@"
}

if moments "runs that are stopped in odd places"; then
    ok "a checkpoint at every 7th step" cut_off --checkpoint-every 7
    killed=$(tail -n 1 "$W/part/loss.tsv" | cut -f 1)
    ok "... remembers that" ends_with 0 "$TRAIN" --resume "$W/part" --no-quiet
    ok "... and loses at most 7 steps" sh -c 'step=$(sed -n "s/.*resumed after step //p" "$1")
        echo "from $step after $2"; [ "$2" -le $((step + 7)) ]' - "$W/out" "$killed"
    ok "... reports which steps its time is for" sh -c 'step=$(sed -n "s/.*resumed after step //p" "$1")
        grep -q "^trained $((60 - step)) steps in [0-9:]* (60 of 60), validation loss " "$1"' - "$W/out"
    ok "... with the same bits" same_run "$W/whole" "$W/part"
    ok "cut off" cut_off --checkpoint-every 7
    ok "... and stopped when it goes on" at 130 "begin 10 INT" train --resume "$W/part"
    ok "... this is also reported" \
        grep -Eq '^stopped after [0-9]* steps? in [0-9:]* [(][0-9]* of 60[)], validation' "$W/out"
fi

# ---- without standard streams -----------------------------------------------------------------------------
closed() {      # closed STREAMS COMMAND ...: started with these of 0, 1 and 2 closed
    (
        case $1 in *0*) exec <&- ;; esac
        case $1 in *1*) exec >&- ;; esac
        case $1 in *2*) exec 2>&- ;; esac
        shift
        exec "$@"
    )
}

# begun_closed STREAMS STATUS MOMENTS FLAGS ...: leaves a complete table, and resumes to the same end
begun_closed() {
    streams=$1
    code=$2
    moments=$3
    shift 3
    rm -rf "$W/part"
    ends_with "$code" closed "$streams" env GRADUS_FAULT="$moments" "$FAULTS/train" $whole --out "$W/part" \
        "$@" &&
        columns "$W/part/loss.tsv" && ends_with 0 "$TRAIN" --resume "$W/part" --quiet &&
        same_run "$W/whole" "$W/part"
}

group "closed standard streams"
ok "the output" begun_closed 1 1 ''
rm -rf "$W/part"
ok "... it reports that it cannot write there" ends_with 1 closed 1 "$TRAIN" $whole \
    --no-quiet --out "$W/part"
ok "... in these words" \
    test "$(cat "$W/err")" = "train: cannot write to the standard output: Bad file descriptor"
ok "... before the first step" test ! -s "$W/part/loss.tsv"
ok "the input" begun_closed 0 0 ''
ok "all" begun_closed 012 1 ''
if moments "runs without standard streams that are stopped"; then
    ok "the output, killed" begun_closed 1 137 "begin 40 KILL"
    ok "the error, Ctrl-C, killed" begun_closed 2 137 "begin 36 INT, begin 38 KILL" --no-quiet
fi

if moments "a run whose best model is not its last"; then
    group "the best model"
    # The last tenth of the text contradicts what the model learns from the rest.
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%c", 97 + (i < 2700 ? i % 2 : i * i % 7) }' >"$W/turns"
    best="${small%--data*} --data $W/turns --sample 40 --quiet --steps 60"
    rm -rf "$W/whole.best" "$W/part"
    ok "never stopped" ends_with 0 "$TRAIN" $best --out "$W/whole.best"
    ok "... its lowest validation loss is not the last" awk -F '\t' \
        'NR > 1 && $3 != "" { if (!least || $3 < least) least = $3; last = $3 }
        END { exit !(least < last) }' "$W/whole.best/loss.tsv"
    ok "killed after it" at 137 "begin 64 KILL" train $best --checkpoint-every 7 --out "$W/part"
    ok "... it goes on" ends_with 0 "$TRAIN" --resume "$W/part"
    ok "... and keeps its best" same_run "$W/whole.best" "$W/part"
fi

# ---- what may differ, and what may not ----------------------------------------------------------------
group "flags"
begun_so() {    # begun_so FLAG VALUE: belongs to the run, and must not be given again
    refuses 2 "$1 cannot be given with --resume: the run in $W/whole keeps its flags\$" \
        "$TRAIN" --resume "$W/whole" "$1=$2"
}

images() {      # images FOLDER: the checksums of all its files
    (cd "$1" && cksum ./*)
}

images "$W/whole" >"$W/before"
for flag in lr=0.004 steps=60 optimizer=sgd tied=no dropout=0 seed=2 eval-every=20 eval-batches=4 min-lr=0 \
    out=$W/whole; do
    ok "--$flag" begun_so "--${flag%%=*}" "${flag#*=}"
done
ok "--no-bias" refuses 2 '--bias cannot be given with --resume' "$TRAIN" --no-bias --resume "$W/whole"
sed 's/gradus/grados/' core/gradus.h >"$W/changed.txt"
ok "another text" refuses 1 'the text differs from the one that the run in .*/whole began with' \
    "$TRAIN" --resume "$W/whole" --data "$W/changed.txt"
ok "all that changed nothing" sh -c 'cd "$1" && cksum ./* | cmp - "$2"' - "$W/whole" "$W/before"
cp core/gradus.h "$W/moved.txt"
ok "flags of only this call" ends_with 0 "$TRAIN" --resume "$W/whole" --data "$W/moved.txt" --threads 1 \
    --checkpoint-every 100 --sample 40 --quiet
cp core/op.h "$W/od d%"
ok "a text with an odd name" ends_with 0 sh -c 'cd "$1" && "$2" --data "od d%" --steps 3 \
    --context 8 --width 8 --heads 1 --layers 1 --sample 0 --quiet --out odd' - "$W" "$TRAIN"
ok "... goes on" ends_with 0 sh -c 'cd "$1" && "$2" --resume odd' - "$W" "$TRAIN"
ok "... not from another folder" refuses 1 'cannot read od d%: No such file' "$TRAIN" --resume "$W/odd"
ok "... unless the text is named" ends_with 0 "$TRAIN" --resume "$W/odd" --data "$W/od d%"
printf even >>"$W/od d%"
ok "... and a change is noticed" refuses 1 'the text differs from the one that the run in .*/odd began with' \
    "$TRAIN" --resume "$W/odd" --data "$W/od d%"

# ---- damaged ------------------------------------------------------------------------------------------
bad_resume() {  # bad_resume PATTERN: the run in $W/d is refused in one sentence, and is unchanged
    images "$W/d" >"$W/before"
    refuses 1 "$1" "$TRAIN" --resume "$W/d" && images "$W/d" | cmp - "$W/before"
}

damaged() {     # a copy of the run, to damage
    rm -rf "$W/d"
    cp -R "$W/whole" "$W/d"
    good=$W/whole/checkpoint.safetensors
    bad=$W/d/checkpoint.safetensors
}

put() {         # put PLACE BYTES: overwrites the bytes there
    printf "$2" | dd of="$bad" bs=1 seek="$1" conv=notrunc 2>"$W/dd.err"
}

place() {       # place TEXT: its offset in the checkpoint
    LC_ALL=C awk -v text="$1" 'BEGIN { RS = "\001" } { print index($0, text) - 1; exit }' "$good"
}

group "damaged checkpoints"
mkdir "$W/bare"
ok "none" refuses 1 "$W/bare contains no run: there is no checkpoint.safetensors" \
    "$TRAIN" --resume "$W/bare"
ok "... the folder stays empty" is_empty "$W/bare"
ok "no folder" refuses 1 'there is no checkpoint.safetensors' "$TRAIN" --resume "$W/nowhere"
damaged
size=$(wc -c <"$good")
for n in 0 7 8 100 $((size / 2)) $((size - 1)); do
    damaged
    head -c "$n" "$good" >"$bad"
    ok "cut to $n of $size bytes" bad_resume 'checkpoint.safetensors'
done
damaged; cp "$W/whole/model.safetensors" "$bad"
ok "only parameters" bad_resume 'is not a checkpoint that this program can resume'
damaged; rm "$bad"; mkdir "$bad"
ok "a folder" refuses 1 'checkpoint.safetensors' "$TRAIN" --resume "$W/d"
damaged; put "$(($(place '"checkpoint":"4"') + 14))" 1
ok "another version" bad_resume 'is not a checkpoint that this program can resume'
damaged; put "$(($(place 'width\\t16') + 7))" x
ok "an invalid setting" bad_resume "checkpoint.safetensors is damaged: 'x6' is not a value of --width"
damaged; put "$(($(place 'mt19937:') + 3))" x
ok "no generator" bad_resume "is damaged: 'rng' is not the state of a random generator"
damaged; put "$(($(place '"step":"60"') + 8))" 9
ok "a step beyond the last" bad_resume 'is damaged: got step 90, expected 0 to 60'
damaged
header=$(tail -c +9 "$good" |
    LC_ALL=C awk 'BEGIN { RS = "\001" } { print substr($0, 1, index($0, "}")) "}"; exit }')
{ printf "$(printf '\\%o\\%o' $((${#header} % 256)) $((${#header} / 256)))\0\0\0\0\0\0%s" "$header"; } >"$bad"
ok "no tensors" bad_resume 'checkpoint.safetensors: got no tensor tok_emb.weight'
damaged; rm "$W/d/loss.tsv"
ok "no table" bad_resume 'loss.tsv: No such file'
damaged; head -n 40 "$W/whole/loss.tsv" >"$W/d/loss.tsv"
ok "a shorter table" bad_resume \
    'loss.tsv does not match the checkpoint of step 60: it lacks the row of step 40'
damaged; sed 's/^20	/21	/' "$W/whole/loss.tsv" >"$W/d/loss.tsv"
ok "another table" bad_resume 'it lacks the row of step 20'
damaged; sed 1d "$W/whole/loss.tsv" >"$W/d/loss.tsv"
ok "a table without its columns" bad_resume 'loss.tsv'
damaged; printf '61\t2\t\t1\t1\t1\nhalf a ro' >>"$W/d/loss.tsv"
ok "a longer table" ends_with 0 "$TRAIN" --resume "$W/d"
ok "... is repaired" same_run "$W/whole" "$W/d"

# ---- a full disk, a diverged model, a replaced run ------------------------------------------------------
limited() {     # limited FLAGS ...: no file may exceed 64 KiB
    sh -c 'ulimit -f 128; exec "$@"' - "$TRAIN" "$@"
}

group "full disk, diverged model"
if moments "a full disk for a run that goes on"; then
    ok "a run" cut_off
    cp "$W/part/checkpoint.safetensors" "$W/kept"
    ok "no room for a checkpoint" ends_with 1 limited --resume "$W/part"
    ok "... is reported" grep -q '^train: cannot write .*checkpoint.safetensors: .*too large' "$W/err"
    ok "... the last good one is kept" cmp "$W/kept" "$W/part/checkpoint.safetensors"
    ok "... and nothing unfinished" holds_no '[.]tmp$' "$W/part"
    ok "... the run goes on from it" ends_with 0 "$TRAIN" --resume "$W/part"
    ok "... with the same bits" same_run "$W/whole" "$W/part"
fi

rm -rf "$W/part"
cp -R "$W/whole" "$W/part"
images "$W/part" >"$W/before"
ok "no room for a new run's first checkpoint" ends_with 1 limited $whole --seed 5 --out "$W/part"
ok "... the old run is unchanged" sh -c 'cd "$1" && cksum ./* | cmp - "$2"' - "$W/part" "$W/before"
ok "... nor in a new folder" ends_with 1 limited $whole --out "$W/no room"
ok "... no run exists there" refuses 1 "$W/no room contains no run: there is no checkpoint" \
    "$TRAIN" --resume "$W/no room"
ok "a model that diverges" ends_with 1 "$TRAIN" $small --optimizer sgd --lr 1000 --clip 0 --steps 300 \
    --checkpoint-every 1 --out "$W/spoilt"
ok "... and says so" grep -q 'no longer finite' "$W/err"
step=$(sed -n 's/^train: step \([0-9]*\): .*/\1/p' "$W/err")
ok "... when it is resumed" ends_with 1 "$TRAIN" --resume "$W/spoilt" --no-quiet
ok "... it ends in the same way" grep -q "^train: step $step: .*no longer finite" "$W/err"

if moments "a run that takes the place of one that was killed"; then
    ok "a run that is cut off" cut_off --seed 3
    rm -rf "$W/d"
    cp -R "$W/whole" "$W/d"
    ok "a run that replaces a finished one, killed" at 137 "begin 9 KILL" train $whole --seed 3 \
        --out "$W/d"
    ok "... leaves none of its models" holds_no '^model\|^best\|^sample\|^result\|png' "$W/d"
    : >"$W/part/checkpoint.safetensors.123-0.tmp"
    ok "... is replaced by a new one" ends_with 0 "$TRAIN" $whole --no-quiet --out "$W/part"
    ok "... which reports it" grep -q "part holds a run, which this one replaces" "$W/out"
    ok "... and leaves the files of a new run" same_run "$W/whole" "$W/part"
fi

finish
