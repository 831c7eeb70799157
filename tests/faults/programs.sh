#!/bin/sh
# Runs train, generate and look many times, with one kind of C library call failing, or sending a signal
# (tests/lib/fault.c): the first such call, the second ... until there are no more calls. After each run the
# exit status must be 0, or 1 with a sentence; nothing may still be held; each file must be absent, or
# complete (old or new); and no unfinished file may be left. A killed run cannot clean up, but the run resumed
# from its checkpoint does. Wherever train was stopped, the resumed run gives the result of an undisturbed
# run. FAULT_STEP=5 tries only every fifth call.
[ "${WRAPPED-all}" ] ||
    { echo "programs.sh: left out: this linker cannot wrap functions"; exit 0; }
. tests/lib/ok.sh

OUT=$W/out
BUILD=${KEPT%/*}
step=${FAULT_STEP:-1}
runs=0
gnuplot=

wrong() {       # wrong WHAT: in the run with the fault $fault
    failed=$((failed + 1))
    echo "FAILED: $program, $fault: exit status $status: $1"
    sed 's/^/    /' "$W/err"
}

# disturbed FAULT COMMAND ...: runs COMMAND with the fault, and with the gnuplot in $gnuplot, if any
disturbed() {
    fault=$1
    shift
    : >"$W/report"
    { PATH=${gnuplot:-/nowhere} GRADUS_FAULT=$fault GRADUS_FAULT_REPORT=$W/report "$@" >"$W/stdout" \
        2>"$W/err"; } 2>"$W/killed"
    status=$?
    runs=$((runs + 1))
    struck=none held=none
    [ ! -s "$W/report" ] || { read -r _ struck && read -r _ held; } <"$W/report"
}

is_well() {     # the conditions that must hold after every run
    sentence=none
    while read -r line; do
        sentence=$line
    done <"$W/err"
    case $fault.$status.$sentence in
    *KILL*.137.* | *INT*.130.*) ;;
    *.0.*) ;;
    *.1."$program: "?*) ;;
    *.1.*) wrong "no sentence" ;;
    *) wrong "expected 0 or 1" ;;
    esac
    case $held.$fault.$status in
    0.*) ;;
    none.*KILL*.137 | none.*INT*.130) ;;
    *) wrong "$held blocks or files are still held" ;;
    esac
}

image() {       # image FOLDER: NAME:CHECKSUM:BYTES of each file
    (cd "$1" && cksum ./* ./*/* 2>"$W/none") | while read -r sum bytes name; do
        echo "${name#./}:$sum:$bytes"
    done
}

# files_are_whole FOLDER IMAGES: each file of FOLDER is in IMAGES, except the table and the text, which grow,
# the checkpoints, which contain times, and the files of a run that was stopped early
files_are_whole() {
    for file in $(image "$1"); do
        name=${file%%:*}
        case $name.$fault in
        *.tmp.unlink* | *.tmp.*KILL*) ;;
        *.tmp.*INT*) [ "$held" = none ] || wrong "$name is left" ;;
        *.tmp.*) wrong "$name is left" ;;
        loss.tsv.* | text.* | checkpoint.safetensors.* | best.safetensors.*) ;;
        model.safetensors.*INT* | sample.txt.*INT* | result.tsv.*INT*) ;;
        *) case $2 in
            *" $file "*) ;;
            *) wrong "$name is neither the old one nor the new one" ;;
            esac ;;
        esac
    done
}

# ---- does fault.c wrap every call that may fail? ---------------------------------------------------------
# Our objects must not call a function that allocates memory or touches files unless it is in WRAPPED, the
# list in tests/tests.mk. Some functions can never be wrapped: open_memstream allocates inside the C library,
# where no call can be made to fail.
may_fail='malloc calloc realloc reallocarray aligned_alloc posix_memalign strdup strndup asprintf vasprintf
getline getdelim open openat creat fopen fdopen freopen tmpfile mkstemp mkdtemp opendir fdopendir read pread
open_memstream readv write pwrite writev fsync fdatasync ftruncate truncate rename renameat link linkat
symlink unlink unlinkat remove close fclose fstat lseek mkdir mkdirat realpath mmap sendfile copy_file_range
posix_fallocate pthread_create'
if [ "$WRAPPED" ] && command -v nm >"$W/nm"; then
    find "$BUILD/f32/core" "$BUILD/f32/layers" "$BUILD/f32/examples/lib" "$BUILD/f32/examples/import" \
        "$BUILD/f32/examples/look" \
        "$BUILD/f32/examples/train.o" "$BUILD/f32/examples/generate.o" -name '*.o' -exec nm -u {} + |
        awk 'NF == 2 { print $2 }' | sort -u >"$W/nm"
    grep -qx '_*malloc' "$W/nm" ||
        { failed=$((failed + 1)); echo "FAILED: nm does not show the calls of our objects"; }
    for call in $may_fail; do
        case " $WRAPPED " in
        *" $call "*) ;;
        *) grep -qx "_*$call\(64\)\{0,1\}" "$W/nm" && failed=$((failed + 1)) &&
            echo "FAILED: $call is called, but tests/lib/fault.c does not wrap it (see tests/tests.mk)" ;;
        esac
    done
fi

# ---- train: into a folder that contains another run ---------------------------------------------------
small="--context 8 --batch 2 --width 8 --heads 2 --layers 1 --steps 3 --eval-every 2 --eval-batches 2
       --checkpoint-every 1 --snapshot-every 2 --sample 5 --threads 2"
head -c 3000 README.md >"$W/text"
train() {       # train FLAGS ...
    # shellcheck disable=SC2086
    "$BUILD/faults/train" $small --data "$W/text" --out "$OUT" "$@"
}

program=train
fault=
disturbed '' train --seed 7
is_well
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should train"
mv "$OUT" "$W/old"
disturbed '' train
mv "$OUT" "$W/new"
cmp -s "$W/old/model.safetensors" "$W/new/model.safetensors" && wrong "two seeds gave the same model"

# A run resumed from its checkpoint ends like the undisturbed run.
goes_on() {     # goes_on OLD NEW
    [ -e "$OUT/checkpoint.safetensors" ] || return 0
    if ! PATH=/nowhere "$BUILD/train" --resume "$OUT" --quiet >"$W/said" 2>"$W/err"; then
        wrong "its checkpoint cannot be resumed"
        return 0
    fi
    cmp -s "$OUT/model.safetensors" "$1/model.safetensors" ||
        cmp -s "$OUT/model.safetensors" "$2/model.safetensors" ||
        wrong "the resumed run has a different result"
    case $fault in
    *KILL* | *INT*)
        for file in "$OUT"/*.tmp; do
            [ ! -e "$file" ] || wrong "the resumed run leaves $file"
        done ;;
    esac
}

sweep() {       # sweep OLD NEW FAULT ERROR EVER COMMAND ...
    old=$1 new=$2 call=$3 error=$4 ever=$5
    images=$(echo " $(image "$old") $(image "$new") " | tr '\n' ' ')
    shift 5
    n=1
    while [ "$n" -lt 5000 ]; do
        rm -rf "$OUT"
        cp -R "$old" "$OUT"
        disturbed "$call $n $error $ever" "$@"
        is_well
        files_are_whole "$OUT" "$images"
        [ $status -ne 0 ] || cmp -s "$OUT/$result" "$new/$result" ||
            wrong "it reports success, but $result is different"
        case $call.$error.$status in
        read.EINTR.1 | write.EINTR.1 | sync.EINTR.1 | *.SHORT.1)
            wrong "it must retry a call that was interrupted or transferred only a part" ;;
        esac
        goes_on "$old" "$new"
        [ "$struck.$status" = 0.0 ] && break    # but not after a strike in the child that runs gnuplot
        n=$((n + step))
    done
    [ "$n" -lt 5000 ] || wrong "there are more such calls than this test tries"
}

# A run to resume: a disk that becomes full stops it halfway.
n=150
while [ $n -gt 1 ]; do
    rm -rf "$OUT"
    disturbed "write $n ENOSPC ever" train
    [ -e "$OUT/checkpoint.safetensors" ] && [ ! -e "$OUT/model.safetensors" ] && mv "$OUT" "$W/stopped" &&
        break
    n=$((n - 1))
done
[ -e "$W/stopped" ] || wrong "no fault stopped a run after its first checkpoint"

# ---- generate: its text, and a picture of attention weights -------------------------------------------
generate() {    # the text goes to a file in the same folder
    "$BUILD/faults/generate" --model "$W/new" --tokens 4 --threads 2 --attention "$OUT/attention.png" \
        >"$OUT/text"
}

program=generate
gnuplot=$W/gnuplot
rm -rf "$OUT"
mkdir "$OUT" "$W/nothing" "$gnuplot"
# These bytes end a PNG.
printf '#!/bin/sh\nprintf "a picture\\000\\000\\000\\000IEND\\256B\\140\\202"\n' >"$gnuplot/gnuplot"
chmod +x "$gnuplot/gnuplot"
disturbed '' generate
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should generate"
mv "$OUT" "$W/generated"

# ---- a run of lines and merges, and its texts ---------------------------------------------------------
lines() {
    train --lines --tokenizer bpe --vocab 300 --accumulate 2 --patience 1 --steps 1
}

write_lines() {
    "$BUILD/faults/generate" --model "$W/lines" --tokens 4 --count 2 --prompt a >"$OUT/text"
}

program=train gnuplot=
disturbed '' lines
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should train on lines"
mv "$OUT" "$W/lines"
program=generate
mkdir "$OUT"
disturbed '' write_lines
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should write lines"
mv "$OUT" "$W/written"

# ---- the same model trained further twice, with Hugging Face's names and tokenizer.json ---
from=$W/lines
tune() {
    "$BUILD/faults/train" --from "$from" --layout huggingface --train-last 1 --context 8 --batch 2 \
        --steps 1 --eval-batches 2 --sample 5 --threads 2 --data "$W/text" --out "$OUT"
}

program=train
disturbed '' tune
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should train further"
mv "$OUT" "$W/named"
from=$W/named
disturbed '' tune
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should train further once more"
mv "$OUT" "$W/tuned"

# ---- look: the page of a run with snapshots ---------------------------------------------------------------
look() {
    "$BUILD/faults/look" --model "$W/new" --prompt "## The" --threads 2 --out "$OUT/page.html" >"$OUT/text"
}

program=look gnuplot=
mkdir "$OUT"
disturbed '' look
[ "$status.$struck" = 0.0 ] || wrong "without a fault it should look"
mv "$OUT" "$W/looked"

# ---- all faults, in all programs ------------------------------------------------------------------------
while read -r call error ever; do
    program=train gnuplot= result=model.safetensors
    sweep "$W/old" "$W/new" "$call" "$error" "$ever" train
    sweep "$W/stopped" "$W/new" "$call" "$error" "$ever" "$BUILD/faults/train" --resume "$OUT"
    program=generate gnuplot=$W/gnuplot result=text
    sweep "$W/nothing" "$W/generated" "$call" "$error" "$ever" generate
    program=look gnuplot= result=page.html
    sweep "$W/nothing" "$W/looked" "$call" "$error" "$ever" look
    program=train result=model.safetensors
    case $call in
    alloc|open|read|write) sweep "$W/nothing" "$W/tuned" "$call" "$error" "$ever" tune ;;
    esac
    [ "$call" = alloc ] || continue             # other calls do not differ for lines
    sweep "$W/nothing" "$W/lines" "$call" "$error" "$ever" lines
    program=generate result=text
    sweep "$W/nothing" "$W/written" "$call" "$error" "$ever" write_lines
done <<END
alloc ENOMEM
alloc ENOMEM ever
thread EAGAIN ever
open EMFILE
open EIO ever
read EIO
read EINTR
read SHORT
read SHORT ever
read END ever
write ENOSPC
write ENOSPC ever
write EIO
write EINTR
write END ever
write SHORT
write SHORT ever
print ENOSPC
print EIO ever
sync EIO
sync EINTR
close ENOSPC
close EIO ever
close EINTR
rename EIO
rename ENOSPC ever
unlink EIO ever
mkdir ENOSPC
mkdir EACCES ever
stat EIO
stat EIO ever
open KILL
write KILL
print KILL
sync KILL
close KILL
rename KILL
unlink KILL
mkdir KILL
begin KILL
write INT
write INT ever
rename INT
begin INT ever
END
echo "programs.sh: $runs runs, $failed wrong"
[ $failed -eq 0 ]
