#!/bin/sh
# coverage.sh fails when it should: a program of one file, with valid and invalid lists of reasons. Run it in
# the repository's root; it writes to ${BUILD:-build}; CC is gcc.
BUILD=${BUILD:-build}
root=$PWD
rm -rf "$BUILD/proof"
mkdir -p "$BUILD/proof/core" && cd "$BUILD/proof" || exit 1

cat >core/one.c <<'EOT'
int main(int argc, char **argv)
{
    int n = 0;
    if (argc > 1 && argv[1])
        return 1;
    for (int i = 0; i < 20; i++)
        n += i;
    n++, n++;
    n++, n--;
    n--, n++;
    n--, n--;
    n -= 2;
    n += 2;
    n -= 3;
    n += 3;
    n -= 4;
    n += 4;
    n -= 5;
    n += 5;
    n -= 6;
    n += 6;
    n -= 7;
    n += 7;
    return n < 0;
}
EOT
"${CC:-gcc}" -O0 --coverage -c core/one.c -o core/one.o && "${CC:-gcc}" --coverage -o one core/one.o &&
    ./one || exit 1

failed=0
expect() {                              # expect STATUS WHAT OUTPUT REASONS
    echo "$4" >reasons
    BUILD=. REASONS=reasons sh "$root/tests/build/coverage/coverage.sh" >said
    status=$?
    if [ $status -ne "$1" ] || ! grep -q "$3" said; then
        echo "proof.sh: $2: got status $status, expected $1 and \"$3\":"
        cat said
        failed=1
    fi
}

one=$(printf 'core/one.c\t3\targc > 1\tit is called without arguments')
two=$(printf '%s\ncore/one.c\t1\treturn 1\tas above' "$one")
expect 0 'each has its reason' '4 of them left out, with 2 reasons' "$two"
expect 1 'branches without a reason' 'core/one.c:4: 3 in if (argc' "$(echo "$two" | sed 1d)"
expect 1 'a line without a reason' 'core/one.c:5: return 1' "$one"
expect 1 'more branches than the reason is for' 'core/one.c:4: 3 in if (argc' "$(echo "$two" | sed 's/3/2/')"
expect 1 'a reason that is not needed' 'not needed: core/one.c: n--' \
    "$(printf '%s\ncore/one.c\t1\tn--\tgone' "$two")"
expect 0 'a reason of other machines' 'with 3 reasons' "$(printf '%s\n?core/one.c\t1\tn--\telsewhere' "$two")"
exit $failed
