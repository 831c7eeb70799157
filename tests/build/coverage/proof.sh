#!/bin/sh
# Proves that coverage.sh fails when it should, with a program of one file: at first one line of many is not
# executed, then most lines are not. Run this script in the repository's root. It writes to ${BUILD:-build};
# CC is gcc.
BUILD=${BUILD:-build}
root=$PWD
rm -rf "$BUILD/proof"
mkdir -p "$BUILD/proof/core" && cd "$BUILD/proof" || exit 1

{
    echo 'int main(int argc, char **argv)'
    echo '{'
    echo '    int n = 0;'
    echo '    if (argc > 1 && argv[1])'
    echo '        return 1;'
    echo '    if (argc > 2)'
    echo '        return 2;'
    for n in `seq 100`; do
        echo "    n += $n;"
    done
    echo '    return n < 0;'
    echo '}'
} >core/one.c
"${CC:-gcc}" -O0 --coverage -c core/one.c -o core/one.o && "${CC:-gcc}" --coverage -o one core/one.o || exit 1

failed=0
expect() {                              # expect STATUS WORDS
    BUILD=. sh "$root/tests/build/coverage/coverage.sh" >said
    status=$?
    if [ $status -ne "$1" ] || ! grep -q "$2" said; then
        echo "proof.sh: got status $status, expected $1 and \"$2\":"
        cat said
        failed=1
    fi
}

./one || exit 1
expect 0 'core/one.c:5: return 1'
rm -f core/one.gcda
./one 1
expect 1 'core/one.c:8: n += 1;'
exit $failed
