#!/bin/sh
# run.sh RANKS PROGRAM FLAGS ...: starts it by mpirun, and says how to go on where the job ended before its time.
ranks=$1 program=$2
shift 2
${MPIRUN:-mpirun} -n "$ranks" "$program" "$@"
status=$?
[ $status -eq 0 ] && exit 0
out=build/run
for word; do                            # the folder of --out or --resume
    case $before in --out | --resume) out=$word ;; esac
    case $word in --out=* | --resume=*) out=${word#*=} ;; esac
    before=$word
done
echo "mpi: the job has ended with status $status" >&2
if [ $status -gt 2 ] && [ -e "$out/checkpoint.safetensors" ]; then
    echo "mpi: its last checkpoint goes on by: make mpi RANKS=$ranks ARGS=\"--resume $out\"" >&2
fi
exit $status
