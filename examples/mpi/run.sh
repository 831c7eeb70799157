#!/bin/sh
# run.sh RANKS PROGRAM FLAGS ...: runs PROGRAM with mpirun, and prints how to continue if the job failed.
ranks=$1 program=$2
shift 2
out=build/run resumed=
for word; do                            # the folder of --out or --resume
    case $before in --out) out=$word ;; --resume) out=$word resumed=1 ;; esac
    case $word in --out=*) out=${word#*=} ;; --resume=*) out=${word#*=} resumed=1 ;; esac
    before=$word
done
begun=$(mktemp) || exit 1               # an older checkpoint is another job's
trap 'rm -f "$begun"' EXIT
trap : INT TERM                         # Ctrl-C goes to mpirun too, which ends the job
${MPIRUN:-mpirun} -n "$ranks" "$program" "$@"
status=$?
[ $status -eq 0 ] && exit 0
echo "mpi: the job ended with status $status" >&2
saved=$(find "$begun" ! -newer "$out/checkpoint.safetensors" 2>/dev/null)
if [ "$saved" ] || { [ $resumed ] && [ $status -gt 2 ]; }; then
    echo "mpi: to continue from its last checkpoint: make mpi RANKS=$ranks ARGS=\"--resume $out\"" >&2
fi
exit $status
