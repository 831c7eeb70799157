#!/bin/sh
# kill -9 at a hundred random moments of a run: after each it goes on from its checkpoint, with any number of
# threads, and ends with the very bits of a run never disturbed.
. tests/lib/ok.sh

KILLS=${KILLS:-100}
SEED=${SEED:-$(date +%s)}              # of the moments
flags="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --dropout 0.1 --steps 600 --eval-every 30
       --eval-batches 4 --checkpoint-every 5 --data core/gradus.h --sample 40 --quiet"

same_run() {    # but for the column of times, they left the same, and nothing unfinished
    same_table 1-5 "$1" "$2" && cmp "$1/model.safetensors" "$2/model.safetensors" &&
        cmp "$1/sample.txt" "$2/sample.txt" && ! ls "$2"/*safetensors.* 2>"$W/ls.err"
}

moments() {     # a hundredth to three tenths of a second, and a number of threads, for each kill
    awk -v n="$1" -v seed="$SEED" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++)
            printf "%.3f %d\n", 0.01 + 0.29 * rand(), 2 ^ int(3 * rand()) }'
}

sleep 0.01 2>"$W/sleep.err" || { echo "kill.sh: sleep knows no parts of a second here: left out"; exit 0; }

# Without gnuplot: a kill should strike train, not what waits for its picture.
ended=0
kills=0
after=
for optimizer in adamw muon sgd; do
    ok "$optimizer, never disturbed" ends_with 0 "$TRAIN" $flags --optimizer $optimizer --out "$W/$optimizer"
done
optimizer=adamw
moments $((10 * KILLS)) >"$W/moments"
while [ $kills -lt "$KILLS" ] && read -r moment threads; do
    if [ -e "$W/part/checkpoint.safetensors" ]; then
        PATH=$W/none "$TRAIN" --resume "$W/part" --threads "$threads" >"$W/out" 2>"$W/err" &
    else
        PATH=$W/none "$TRAIN" $flags --optimizer $optimizer --out "$W/part" --threads "$threads" \
            >"$W/out" 2>"$W/err" &
    fi
    pid=$!
    sleep "$moment"
    kill -KILL $pid 2>"$W/kill.err"
    wait $pid 2>"$W/wait.err"
    status=$?
    if [ $status -gt 128 ]; then
        kills=$((kills + 1))
        after="$after $(($(cat "$W/part/loss.tsv" 2>"$W/cat.err" | wc -l) - 1))"
        continue
    fi
    cp "$W/err" "$W/last.err"
    ok "$optimizer, after kill $kills: it ends well" sh -c 'cat "$1"; exit "$2"' - "$W/last.err" $status
    ok "... with the same bits" same_run "$W/$optimizer" "$W/part"
    ended=$((ended + 1))
    rm -rf "$W/part"
    case $optimizer in
    adamw) optimizer=muon ;;
    muon) optimizer=sgd ;;
    *) optimizer=adamw ;;
    esac
done <"$W/moments"
if [ -e "$W/part/checkpoint.safetensors" ]; then
    ok "$optimizer, after the last kill: it ends well" ends_with 0 "$TRAIN" --resume "$W/part"
    ok "... with the same bits" same_run "$W/$optimizer" "$W/part"
fi
ok "$KILLS kills" test $kills -eq "$KILLS"
echo "kill.sh: killed after step$after"
echo "kill.sh: $kills kills at moments of SEED=$SEED, $ended runs came to their end between them"

finish
