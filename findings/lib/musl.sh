# shellcheck shell=sh
# musl.sh: sourced after found.sh: musl SOURCE PROGRAM compiles with Debian 12's musl 1.2.3, statically.
debian musl-dev=1.2.3-1
musl() {
    lib=$T/usr/lib/x86_64-linux-musl
    cc -w -static -nostdlib -nostdinc -fno-stack-protector -no-pie \
        -isystem "$T/usr/include/x86_64-linux-musl" "$lib/crt1.o" "$lib/crti.o" "$1" "$lib/libc.a" \
        "$(cc -print-libgcc-file-name)" "$lib/crtn.o" -o "$2" || exit 2
}
