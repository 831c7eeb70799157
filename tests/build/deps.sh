#!/bin/sh
# Tests `make deps` on many kinds of machines. A machine is a folder of fake commands, the only folder in
# PATH: the package manager, cc and sudo record their calls, and installed programs exist from then on.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL DEBIAN_FRONTEND HOMEBREW_NO_AUTO_UPDATE
make=`command -v "${MAKE:-make}"`
unset MAKE                              # no PATH of the machines below contains it

BOX=`mktemp -d "${TMPDIR:-/tmp}/gradus.XXXXXX"`
export BOX
trap 'rm -rf "$BOX"' EXIT
trap 'exit 1' HUP INT TERM

# A project with only the necessary files: the Makefile and its two scripts, a program, a test.
mkdir -p "$BOX/tree/core/tape" "$BOX/tree/core/machine" "$BOX/tree/examples" "$BOX/tree/tests/lib" \
    "$BOX/tree/tests/tape" "$BOX/tree/tests/build" "$BOX/fakes"
cp Makefile "$BOX/tree"
cp core/gradus.h "$BOX/tree/core"
for part in exercises look page install windows; do
    mkdir -p "$BOX/tree/examples/$part"
    cp examples/$part/$part.mk "$BOX/tree/examples/$part"
done
cp tests/tests.mk "$BOX/tree/tests"
cp -R tests/build/tools "$BOX/tree/tests/build"
for file in core/tape/tape core/machine/limits examples/train examples/generate tests/main \
    tests/lib/fault tests/tape/test_tape; do
    : > "$BOX/tree/$file.c"
done

# The fakes write their calls to $BOX/log. $BOX/has/NAME means that NAME exists: lists, Check, stale (an
# install fails until the lists are refreshed), no-PACKAGE (no list has this package).
fake() { cat > "$BOX/fakes/$1"; chmod +x "$BOX/fakes/$1"; }
fake manager <<'END'
#!/bin/sh
[ "$1" != --prefix ] || exit 1
for package; do :; done
call="${0##*/} $*"
case $call in
'apt-cache policy '*) [ -f "$BOX/has/lists" ] && version=1.0 || version='(none)'
                      echo "  Candidate: $version"; exit ;;
'pacman -Si '*)       [ -f "$BOX/has/lists" ]; exit ;;
'apk search '*)       [ ! -f "$BOX/has/lists" ] || echo "$package-1.0"; exit ;;
esac
echo "${RUN_BY:-}${DEBIAN_FRONTEND:+$DEBIAN_FRONTEND }${HOMEBREW_NO_AUTO_UPDATE:+quick }$call" >> "$BOX/log"
case $call in
*update*|*refresh|*-Sy\ *) rm -f "$BOX/has/stale"; : > "$BOX/has/lists"; exit ;;
esac
if read -r answer; then echo "${0##*/} asks" >> "$BOX/log"; fi
[ -f "$BOX/has/lists" ] && [ ! -f "$BOX/has/stale" ] && [ ! -f "$BOX/has/no-$package" ] || exit 1
case $package in
check*)   : > "$BOX/has/Check" ;;
*wasm32)  : > "$BOX/has/wasm" ;;
gnuplot*) cp "$BOX/fakes/gnuplot" "$BOX/bin" ;;
*)        exit 1 ;;
esac
END
fake cc <<'END'
#!/bin/sh
# The program linked by this cc reports whether gnuplot exists.
out=
while [ $# -gt 0 ]; do
    case $1 in
    -dumpmachine)   echo unknown; exit ;;
    -print-prog-*)  echo objcopy; exit ;;       # which no machine has
    */check.c)      [ -f "$BOX/has/Check" ] || exit 1 ;;
    -o)             out=$2; shift ;;
    esac
    shift
done
cat > "$out" <<'PROGRAM'
command -v gnuplot >/dev/null && echo "with gnuplot" || echo "without gnuplot"
[ ! "$CK_TAP_LOG_FILE_NAME" ] || echo 1..0 > "$CK_TAP_LOG_FILE_NAME"
PROGRAM
chmod +x "$out"
END
printf '#!/bin/sh\nRUN_BY="sudo "; export RUN_BY; exec "$@"\n' | fake sudo
printf '#!/bin/sh\ncat "$BOX/uid"\n'                           | fake id
printf '#!/bin/sh\n[ -f "$BOX/has/wasm" ]\n'                   | fake clang
printf '#!/bin/sh\n: > "$2"\n'                                 | fake ar
printf '#!/bin/sh\n'                                           | fake gnuplot

# machine NAME UID COMMANDS THINGS: makes a machine with these commands and things.
machine() {
    name=$1
    rm -rf "$BOX/bin" "$BOX/has" "$BOX/tree/build"
    mkdir "$BOX/bin" "$BOX/has"
    echo "$2" > "$BOX/uid"
    for tool in sh cat chmod cp dirname echo env find grep mkdir mktemp mv printf rm sed; do
        tool=`command -v $tool`
        case $tool in /*) ln -s "$tool" "$BOX/bin" ;; esac          # the rest are builtins of the shell
    done
    for command in cc ar id $3; do
        case $command in
        cc|clang|ar|id|sudo|gnuplot) cp "$BOX/fakes/$command" "$BOX/bin" ;;
        *)                     cp "$BOX/fakes/manager" "$BOX/bin/$command" ;;
        esac
    done
    for thing in $4; do : > "$BOX/has/$thing"; done
}

# gives STATUS GOALS [LINE]: make ends with this status (1 for any error) and prints this line, or nothing if
# the line is empty; its calls of package managers must be those on standard input.
gives() {
    : > "$BOX/log"
    cat > "$BOX/expected"
    echo 'a line that no package manager must read' > "$BOX/in"
    status=0
    (cd "$BOX/tree"; PATH=$BOX/bin exec "$make" CC=cc CXX=none CFLAGS= --no-print-directory $2) \
        > "$BOX/out" 2>&1 < "$BOX/in" || status=1
    [ $status = $1 ] || wrong "make $2: status $status, not $1"
    cmp -s "$BOX/expected" "$BOX/log" || wrong "called `cat "$BOX/log"`, not `cat "$BOX/expected"`"
    if [ "${3-}" ]; then
        grep -x "$3" "$BOX/out" >/dev/null || wrong "no line '$3'"
    elif [ $# = 3 ]; then
        [ ! -s "$BOX/out" ] || wrong 'not silent'
    fi
}
wrong() {
    printf '%s\n' "$name: $*" '--- output:' >&2
    cat "$BOX/out" >&2
    exit 1
}

apt_check='noninteractive apt-get -q -y install --no-install-recommends check'
apt_gnuplot='noninteractive apt-get -q -y install --no-install-recommends gnuplot-nox'
dnf='dnf -y --setopt=install_weak_deps=False install'

machine 'everything there' 1000 'apt-get sudo gnuplot' 'Check'
gives 0 deps '' </dev/null

machine 'Debian in a container: root, no lists' 0 'apt-get apt-cache' ''
gives 0 deps 'deps: installing Check and gnuplot with apt-get' <<END
apt-get -q update
$apt_check
$apt_gnuplot
END
gives 0 deps '' </dev/null

machine 'Ubuntu on a laptop: sudo, lists, Check' 1000 'apt-get apt-cache sudo' 'lists Check'
gives 0 deps 'deps: installing gnuplot with sudo apt-get' <<END
sudo $apt_gnuplot
END

machine 'neither root nor sudo' 1000 'apt-get apt-cache' 'lists'
gives 1 deps "deps: not root, and there is no sudo: as root, run 'make deps' or install Check and gnuplot" \
    </dev/null

machine 'Fedora' 1000 'dnf sudo' 'lists'
gives 0 deps <<END
sudo $dnf check-devel
sudo $dnf gnuplot-minimal
END

machine 'Red Hat, which lacks gnuplot-minimal' 0 'dnf' 'lists Check no-gnuplot-minimal'
gives 0 deps <<END
$dnf gnuplot-minimal
$dnf gnuplot
END

machine 'Arch, no lists' 0 'pacman' ''
gives 0 deps <<END
pacman -Sy --noconfirm
pacman -S --needed --noconfirm check
pacman -S --needed --noconfirm gnuplot
END

machine 'Alpine, no lists' 0 'apk' ''
gives 0 deps <<END
apk update
apk add check-dev
apk add gnuplot
END

machine 'openSUSE, which has dnf too' 1000 'zypper dnf sudo' 'lists'
gives 0 deps <<END
sudo zypper --non-interactive install --no-recommends check-devel
sudo zypper --non-interactive install --no-recommends gnuplot
END

machine 'macOS: brew is never run by sudo' 501 'brew sudo' 'lists'
gives 0 deps 'deps: installing Check and gnuplot with brew' <<END
quick brew install check
quick brew install gnuplot
END

machine 'no package manager' 1000 'sudo' ''
gives 1 deps 'deps: no package manager that I know (.*): please install Check and gnuplot' </dev/null

machine 'a package that nobody has' 0 'apt-get apt-cache' 'lists no-check'
gives 1 deps 'deps: still missing: Check' <<END
$apt_check
apt-get -q update
$apt_check
$apt_gnuplot
END

# A goal waits for deps even if it is named before deps, also with -j; and train does not need Check.
machine 'train deps' 0 'apt-get apt-cache' 'lists'
gives 0 'train deps' 'with gnuplot' <<END
$apt_gnuplot
END
for goal in '-j4 test' 'train test'; do
    machine "$goal deps" 0 'apt-get apt-cache' 'lists'
    gives 0 "$goal deps" 'with gnuplot' <<END
$apt_check
$apt_gnuplot
END
done

machine 'for the page, Debian: what WebAssembly needs, and nothing else' 0 'apt-get apt-cache clang' 'lists'
gives 0 'deps PACKAGES=WebAssembly' <<END
noninteractive apt-get -q -y install --no-install-recommends clang lld wasi-libc libclang-rt-dev-wasm32
END
gives 0 'deps PACKAGES=WebAssembly' '' </dev/null

machine 'for the page, Arch, whose packages are unknown' 0 'pacman' 'lists'
gives 1 'deps PACKAGES=WebAssembly' 'deps: still missing: WebAssembly' </dev/null

machine 'without deps' 1000 '' ''
gives 0 train 'without gnuplot' </dev/null
gives 1 test 'Check is missing: run `make deps test`' </dev/null

echo "make deps: right on 18 machines"
