#!/bin/sh
# Training on several processes: the same bits on one rank and on two, the same parameters on all; a rank that is killed
# ends the job with a sentence and a checkpoint that goes on to the same end.
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null || [ "${SANITIZE:-}" ]; then
    echo "$SCRIPT: left out: there is no MPI (mpicc, mpirun), or this is a build with sanitizers"
    exit 0
fi
# Open MPI: any number of ranks on any number of cores, as root too (in a container). Others do not look at these.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle

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
    cut -f1-5 "$1/loss.tsv" >"$W/a" && cut -f1-5 "$2/loss.tsv" | cmp - "$W/a" && cmp "$1/model.safetensors" "$2/model.safetensors"
}
near() {        # near RUN RUN: the same losses to 1e-4
    paste "$1/loss.tsv" "$2/loss.tsv" | awk -F '\t' 'NR > 1 && ($2 - $8) ^ 2 > 1e-8 { bad = 1 } END { exit bad || NR < 25 }'
}

for ranks in 1 2 4; do
    ok "$ranks ranks" ends_with 0 job $ranks "$RUN" $small --out "$W/$ranks"
    ok "all have the same parameters" grep -q "^all $ranks ranks have the same parameters" "$W/out"
done
ok "one rank and two: the same bits" same "$W/1" "$W/2"
ok "one rank and four: the same losses" near "$W/1" "$W/4"
ok "the loss falls" awk 'NR == 2 { first = $2 } { last = $2 } END { exit !(last < first - 0.5) }' "$W/1/loss.tsv"

ok "three ranks cannot share four shards" ends_with 2 job 3 "$RUN" $small --out "$W/3"
ok "... which is said" grep -q "4 shards: their number must be a multiple of the ranks (3)" "$W/err"
ok "six shards they can" ends_with 0 job 3 "$RUN" --shards 6 $small --out "$W/3"

if [ "${WRAPPED:-}" ] && make_it "$BUILD/faults/train-mpi"; then
    # gra_begin is called once for each shard: rank 1 of two is killed in its 14th step
    cat >"$W/rank" <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}" = 1 ] && export GRADUS_FAULT="begin 28 KILL"
exec "$FAULTS/train-mpi" "\$@"
END
    chmod +x "$W/rank"
    ok "a rank is killed: the job ends" sh -c '! sh examples/mpi/run.sh 2 "$@" >"$0/out" 2>"$0/err"' "$W" "$W/rank" $small --out "$W/killed"
    ok "... and says how to go on" grep -q "^mpi: its last checkpoint goes on by: make mpi RANKS=2 ARGS=\"--resume $W/killed\"" "$W/err"
    ok "it goes on, on one rank" ends_with 0 job 1 "$RUN" --resume "$W/killed" --quiet
    ok "... to the same end" same "$W/1" "$W/killed"
fi

finish
