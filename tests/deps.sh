#!/bin/sh
# `make deps` on machines of many kinds, each played by fake commands that note how they were called.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL DEBIAN_FRONTEND HOMEBREW_NO_AUTO_UPDATE
make=`command -v "${MAKE:-make}"`

BOX=`mktemp -d "${TMPDIR:-/tmp}/gradus.XXXXXX"`
export BOX
trap 'rm -rf "$BOX"' EXIT
trap 'exit 1' HUP INT TERM

# A project that has what matters here: the Makefile and its two scripts, a program, a test with its faults.
mkdir -p "$BOX/tree/core" "$BOX/tree/examples" "$BOX/tree/tests" "$BOX/fakes"
cp -R Makefile .ci "$BOX/tree"
for file in core/tape examples/train tests/main tests/fault; do
    : > "$BOX/tree/$file.c"
done

# The fakes. $BOX/log: what was called; lists: the package lists are there; check: Check is installed;
# absent: packages that nobody has; stale: an install fails until the lists are refreshed.
cat > "$BOX/fakes/manager" <<'END'
#!/bin/sh
me=${0##*/} package=
[ "$1" != --prefix ] || exit 1
echo "${RUN_BY:-}${DEBIAN_FRONTEND:+$DEBIAN_FRONTEND }${HOMEBREW_NO_AUTO_UPDATE:+quick }$me $*" >> "$BOX/log"
case "$me $*" in
*update*|*refresh|*-Sy\ *)
    rm -f "$BOX/stale"; : > "$BOX/lists"; exit ;;
esac
if read -r answer; then echo "$me asks" >> "$BOX/log"; fi
for package; do :; done
[ -f "$BOX/lists" ] && [ ! -f "$BOX/stale" ] || exit 1
! grep -x "$package" "$BOX/absent" >/dev/null || exit 1
case $package in
check*)   : > "$BOX/check" ;;
gnuplot*) cp "$BOX/fakes/true" "$BOX/bin/gnuplot" ;;
*)        exit 1 ;;
esac
END
cat > "$BOX/fakes/query" <<'END'
#!/bin/sh
for package; do :; done
case "${0##*/} $*" in
'apt-cache policy '*) [ -f "$BOX/lists" ] && echo '  Candidate: 1.0' || echo '  Candidate: (none)' ;;
'pacman -Si '*)       [ -f "$BOX/lists" ] ;;
'apk search '*)       [ ! -f "$BOX/lists" ] || echo "$package-1.0" ;;
*)                    exec "$BOX/fakes/${0##*/}" "$@" ;;
esac
END
cat > "$BOX/fakes/sudo" <<'END'
#!/bin/sh
RUN_BY="sudo "; export RUN_BY
exec "$@"
END
cat > "$BOX/fakes/id" <<'END'
#!/bin/sh
cat "$BOX/uid"
END
# Its programs say whether there was a gnuplot when they ran.
cat > "$BOX/fakes/cc" <<'END'
#!/bin/sh
out=
while [ $# -gt 0 ]; do
    case $1 in
    -dumpmachine)   echo unknown; exit ;;
    */check.c)      [ -f "$BOX/check" ] || exit 1 ;;
    -o)             out=$2; shift ;;
    esac
    shift
done
echo 'command -v gnuplot >/dev/null && echo "with gnuplot" || echo "without gnuplot"' > "$out"
chmod +x "$out"
END
printf '#!/bin/sh\n: > "$2"\n' > "$BOX/fakes/ar"
printf '#!/bin/sh\n' > "$BOX/fakes/true"
for manager in apt-get zypper dnf pacman apk brew; do
    cp "$BOX/fakes/manager" "$BOX/fakes/$manager"
done
chmod +x "$BOX"/fakes/*

# machine UID COMMAND...: one without packages and lists, that has these managers (and sudo).
machine() {
    rm -rf "$BOX/bin" "$BOX/log" "$BOX/lists" "$BOX/stale" "$BOX/check" "$BOX/tree/build"
    mkdir "$BOX/bin"
    : > "$BOX/log"; : > "$BOX/absent"
    echo "$1" > "$BOX/uid"; shift
    for tool in sh cat chmod cp dirname echo env grep mkdir mktemp mv printf rm sed; do
        tool=`command -v $tool`
        case $tool in /*) ln -s "$tool" "$BOX/bin" ;; esac          # the others are the shell's own
    done
    for fake in cc ar id "$@"; do
        case $fake in
        pacman|apk) cp "$BOX/fakes/query" "$BOX/bin/$fake" ;;
        apt-get)    cp "$BOX/fakes/query" "$BOX/bin/apt-cache"; cp "$BOX/fakes/apt-get" "$BOX/bin" ;;
        *)          cp "$BOX/fakes/$fake" "$BOX/bin" ;;
        esac
    done
}
has() {
    for thing; do
        case $thing in
        Check)   : > "$BOX/check" ;;
        gnuplot) cp "$BOX/fakes/true" "$BOX/bin/gnuplot" ;;
        *)       : > "$BOX/$thing" ;;
        esac
    done
}

# gives STATUS GOALS: make's exit status is this (1 for any error); its output goes to $BOX/out. Its
# input has a line to read, which a package manager must not.
gives() {
    status=0
    (cd "$BOX/tree"; PATH=$BOX/bin exec "$make" CC=cc CXX=none CFLAGS= --no-print-directory $2) \
        > "$BOX/out" 2>&1 <"$BOX/uid" || status=1
    [ $status = $1 ] || wrong "make $2: status $status, not $1"
}
# calls: standard input is what was called; says LINE: the output has it; silent: it is empty.
calls() {
    cat > "$BOX/wanted"
    [ "`cat "$BOX/wanted"`" = "`cat "$BOX/log"`" ] || wrong "called `cat "$BOX/log"`, not `cat "$BOX/wanted"`"
}
says()   { grep -x "$1" "$BOX/out" >/dev/null || wrong "no line '$1'"; }
silent() { [ ! -s "$BOX/out" ] || wrong 'not silent'; }
wrong() {
    printf '%s\n' "$name: $*" '--- output:' >&2
    cat "$BOX/out" >&2
    exit 1
}

name='everything there'
machine 1000 apt-get sudo; has Check gnuplot
gives 0 deps
silent
calls </dev/null

name='Debian in a container: root, no lists'
machine 0 apt-get
gives 0 deps
says 'deps: installing Check and gnuplot with apt-get'
calls <<'END'
apt-get -q update
noninteractive apt-get -q -y install --no-install-recommends check
noninteractive apt-get -q -y install --no-install-recommends gnuplot-nox
END
gives 0 deps
silent

name='Ubuntu on a laptop: sudo, lists, Check'
machine 1000 apt-get sudo; has lists Check
gives 0 deps
says 'deps: installing gnuplot with sudo apt-get'
calls <<'END'
sudo noninteractive apt-get -q -y install --no-install-recommends gnuplot-nox
END

name='Debian with stale lists'
machine 0 apt-get; has lists stale gnuplot
gives 0 deps
calls <<'END'
noninteractive apt-get -q -y install --no-install-recommends check
apt-get -q update
noninteractive apt-get -q -y install --no-install-recommends check
END

name='neither root nor sudo'
machine 1000 apt-get; has lists
gives 1 deps
says "deps: not root, and there is no sudo: as root, run 'make deps' or install Check and gnuplot"
calls </dev/null

name='Fedora'
machine 1000 dnf sudo; has lists
gives 0 deps
calls <<'END'
sudo dnf -y --setopt=install_weak_deps=False install check-devel
sudo dnf -y --setopt=install_weak_deps=False install gnuplot-minimal
END

name='Red Hat, where gnuplot-minimal is not'
machine 0 dnf; has lists Check; echo gnuplot-minimal > "$BOX/absent"
gives 0 deps
calls <<'END'
dnf -y --setopt=install_weak_deps=False install gnuplot-minimal
dnf -y --setopt=install_weak_deps=False install gnuplot
END

name='Arch, no lists'
machine 0 pacman
gives 0 deps
calls <<'END'
pacman -Sy --noconfirm
pacman -S --needed --noconfirm check
pacman -S --needed --noconfirm gnuplot
END

name='Alpine, no lists'
machine 0 apk
gives 0 deps
calls <<'END'
apk update
apk add check-dev
apk add gnuplot
END

name='openSUSE, which has dnf too'
machine 1000 zypper dnf sudo; has lists
gives 0 deps
calls <<'END'
sudo zypper --non-interactive install --no-recommends check-devel
sudo zypper --non-interactive install --no-recommends gnuplot
END

name='macOS: brew is never run by sudo'
machine 501 brew sudo; has lists
gives 0 deps
says 'deps: installing Check and gnuplot with brew'
calls <<'END'
quick brew install check
quick brew install gnuplot
END

name='no package manager'
machine 1000 sudo
gives 1 deps
says 'deps: no package manager that I know (apt, dnf, pacman, apk, zypper, brew): please install Check and gnuplot'

name='a package that nobody has'
machine 0 apt-get; has lists; echo check > "$BOX/absent"
gives 1 deps
says 'deps: still missing: Check'
[ -x "$BOX/bin/gnuplot" ] || wrong 'gnuplot was not installed'

# What needs deps waits for it, though it stands before it among the goals, where make would begin with it.
for goal in train test build/check.flags '-j4 test'; do
    name="make $goal deps"
    machine 0 apt-get
    gives 0 "$goal deps"
    case $goal in
    */check.flags) [ -s "$BOX/tree/$goal" ] || wrong 'Check was not found' ;;
    *)             says 'with gnuplot' ;;
    esac
done

name='train without gnuplot'
machine 1000
gives 0 train
says 'without gnuplot'

name='test without Check'
machine 1000
gives 1 test
says 'Check is missing: run `make deps test`'

echo "make deps: as it should on 19 machines"
