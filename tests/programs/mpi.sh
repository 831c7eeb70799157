#!/bin/sh
# Tests training on several processes: the same bits on one rank and on two, and the same parameters on all
# ranks. An error is reported once, by a rank that it concerns. A killed rank ends the job with a sentence and
# a checkpoint, from which the job can be resumed to the same end.
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null || [ "${SANITIZE:-}" ]; then
    echo "$SCRIPT: left out: there is no MPI (mpicc, mpirun), or this is a build with sanitizers"
    exit 0
fi
# Open MPI: any number of ranks on any number of cores, even as root (in a container). Other MPIs ignore this.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
    OMPI_MCA_mpi_yield_when_idle

make_it() { ${MAKE:-make} B="$BUILD" "$1" >"$W/make.log" 2>&1 || { tail "$W/make.log"; return 1; }; }
ok "it is built" make_it "$BUILD/train-mpi"
case $BUILD in /*) RUN=$BUILD/train-mpi ;; *) RUN=$PWD/$BUILD/train-mpi ;; esac

small="--context 16 --batch 8 --width 16 --heads 2 --layers 2 --steps 24 --dropout 0.1 --data core/gradus.h
       --checkpoint-every 8 --quiet"
job() {         # job RANKS PROGRAM FLAGS ...
    ranks=$1
    shift
    sh examples/mpi/run.sh "$ranks" "$@"
}
same() {        # same RUN RUN: the same losses and the same parameters, to the bit
    cut -f1-5 "$1/loss.tsv" >"$W/a" && cut -f1-5 "$2/loss.tsv" | cmp - "$W/a" &&
        cmp "$1/model.safetensors" "$2/model.safetensors"
}
near() {        # near RUN RUN: the same losses to 1e-4
    cut -f1-2 "$1/loss.tsv" >"$W/a" && cut -f1-2 "$2/loss.tsv" | paste - "$W/a" |
        awk -F '\t' 'NR > 1 && ($2 - $4) ^ 2 > 1e-8 { bad = 1 } END { exit bad || NR < 25 }'
}

for ranks in 1 2 4; do
    ok "$ranks ranks" ends_with 0 job $ranks "$RUN" $small --out "$W/$ranks"
    ok "all have the same parameters" grep -q "^parameters [0-9a-f]*, the same on all ranks ($ranks)" "$W/out"
done
ok "one rank and two: the same bits" same "$W/1" "$W/2"
ok "one rank and four: the same losses" near "$W/1" "$W/4"
ok "the loss falls" awk 'NR == 2 { first = $2 } { last = $2 } END { exit !(last < first - 0.5) }' \
    "$W/1/loss.tsv"

# ---- shards --------------------------------------------------------------------------------------------
ok "three ranks cannot share four shards" ends_with 2 job 3 "$RUN" $small --out "$W/3"
ok "... this is reported once" \
    test "$(grep -c "got 4 shards, expected a multiple of the ranks (3)" "$W/err")" -eq 1
ok "they can share six" ends_with 0 job 3 "$RUN" $small --out "$W/3" --shards 6
ok "one rank with six" ends_with 0 job 1 "$RUN" --shards=6 $small --out "$W/1of6"
ok "... the same losses" near "$W/1of6" "$W/3"
ok "batches of seven, on two ranks" ends_with 0 job 2 "$RUN" $small --batch 7 --out "$W/7"
ok "... on one" ends_with 0 job 1 "$RUN" $small --batch 7 --out "$W/7of1"
ok "... the same bits" same "$W/7" "$W/7of1"
ok "lines, of various lengths" ends_with 0 job 2 "$RUN" $small --lines --dropout 0 --out "$W/lines"
ok "... in one program" ends_with 0 "$TRAIN" $small --lines --dropout 0 --out "$W/lines.of.1"
ok "... a shard weighs as many tokens as it has" near "$W/lines" "$W/lines.of.1"
ok "--shards x" ends_with 2 job 2 "$RUN" --shards x
ok "... is no number" grep -q "^train-mpi: --shards: got 'x', expected a whole number, 1 or more" "$W/err"
ok "a run keeps its shards" ends_with 2 job 2 "$RUN" --resume "$W/3" --shards 2
ok "... and says so" grep -q "^train-mpi: --shards cannot be given with --resume" "$W/err"
ok "... it has six" ends_with 2 job 4 "$RUN" --resume "$W/3"
ok "... still" grep -q "^train-mpi: got 6 shards, expected " "$W/err"
ok "--accumulate" ends_with 2 job 1 "$RUN" --accumulate 4
ok "... is refused" grep -q "^train-mpi: --accumulate: got 4, expected 1: .* 4 times the --batch" "$W/err"
ok "--patience" ends_with 2 job 1 "$RUN" --patience 4
ok "... is refused" grep -q "^train-mpi: --patience: got 4, expected 0: train-mpi has no validation" "$W/err"
ok "--help" ends_with 0 job 1 "$RUN" --help
ok "... has --shards" grep -q "^  --shards N  " "$W/out"

# ---- errors before the job begins ----------------------------------------------------------------------
on_rank() {     # on_rank N FLAGS: makes $W/rank, a program for mpirun whose rank N has these additional flags
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = %s ] && set -- "$@" %s\nexec "%s" "$@"\n' \
        "$1" "$2" "$RUN" \
        >"$W/rank"
    chmod +x "$W/rank"
}
wrong() {       # wrong STATUS SENTENCE FLAGS ...: the job ends, and one rank reports why
    expected=$1
    sentence=$2
    shift 2
    ends_with "$expected" sh examples/mpi/run.sh 2 "$W/rank" $small --out "$W/wrong" "$@" &&
        [ "$(grep -c "^train-mpi: " "$W/err")" -eq 1 ] && grep -q "^train-mpi: $sentence" "$W/err"
}
on_rank 0 ""
ok "no such text" wrong 1 "cannot read $W/none" --data "$W/none"
: >"$W/file"
ok "a folder that cannot be made" wrong 1 "cannot make the folder" --out "$W/file/run"
for rank in 0 1; do
    on_rank $rank "--nonsense 1"
    ok "only rank $rank has a wrong flag" wrong 2 "there is no flag '--nonsense'"
    on_rank $rank "--data $W/none"
    ok "... no text" wrong 1 "cannot read $W/none"
done
for flag in "--lr 0.1" "--width 32" "--seed 2" "--data core/op.h" "--shards 2"; do
    on_rank 1 "$flag"
    ok "only rank 1 has $flag" wrong 2 "the ranks were not started alike"
done
ok "nothing was written" test ! -e "$W/wrong"

ok "without mpicc" ends_with 2 ${MAKE:-make} B="$BUILD" MPICC="$W/mpicc" -W examples/mpi/train_mpi.c \
    "$BUILD/train-mpi"
ok "... this is reported" grep -q "^mpi: there is no $W/mpicc: install Open MPI or MPICH" "$W/err"

# ---- a job that is stopped -----------------------------------------------------------------------------
# stopped STATUS TEXT: run.sh with an mpirun that leaves a checkpoint (if there is a text) and exits so
stopped() {
    printf '#!/bin/sh\n[ "%s" ] && echo "%s" >"%s/checkpoint.safetensors"\nexit %s\n' "$2" "$2" "$W/stopped" \
        "$1" >"$W/mpirun"
    chmod +x "$W/mpirun"
    ends_with "$1" env MPIRUN="$W/mpirun" sh examples/mpi/run.sh 2 program --out="$W/stopped"
}
mkdir "$W/stopped"
how="mpi: to continue from its last checkpoint: make mpi RANKS=2 ARGS=\"--resume $W/stopped\""
ok "Ctrl-C, for which mpirun exits with 1" stopped 1 new
ok "... how to go on is reported" grep -qx "$how" "$W/err"
touch -t 202001010000 "$W/stopped/checkpoint.safetensors"
ok "killed before its first checkpoint" stopped 137 ""
ok "... another job's checkpoint is not offered" lacks "to continue from" "$W/err"

if [ "${WRAPPED:-}" ] && make_it "$BUILD/faults/train-mpi"; then
    for rank in 0 1; do
        # gra_begin is called once for each shard: one of two ranks is killed in its 14th step
        cat >"$W/rank" <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}" = $rank ] && export GRADUS_FAULT="begin 28 KILL"
exec "$FAULTS/train-mpi" "\$@"
END
        chmod +x "$W/rank"
        ok "rank $rank is killed: the job ends" sh -c '! sh examples/mpi/run.sh 2 "$@" >"$0/out" 2>"$0/err"' \
            "$W" "$W/rank" \
            $small --out "$W/killed$rank"
        command="make mpi RANKS=2 ARGS=\"--resume $W/killed$rank\""
        ok "... it reports how" grep -q "^mpi: to continue from its last checkpoint: $command" "$W/err"
    done
    ok "it goes on, on one rank" ends_with 0 job 1 "$RUN" --resume "$W/killed0" --quiet
    ok "... to the same end" same "$W/1" "$W/killed0"
    ok "it goes on, on four" ends_with 0 job 4 "$RUN" --resume "$W/killed1" --quiet
    ok "... to the same losses" near "$W/1" "$W/killed1"
fi

finish
