# shellcheck shell=sh
# found.sh: sourced by each finding. T is a temporary folder, which is removed at the end. Where a package
# cannot be installed, the script ends with 2.
#
#     debian PACKAGE=VERSION ...      unpacks packages of Debian 12 (amd64) in $T
#     node_packages NAME@VERSION ...  installs packages from npm in $T
#     seen TEXT                       what stdin says is TEXT; else both are shown, and the script fails
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 1' HUP INT TERM
LC_ALL=C
export LC_ALL

debian() {
    (cd "$T" && apt-get -qq download "$@" >download.log 2>&1) || { cat "$T/download.log"; exit 2; }
    for package in "$T"/*.deb; do
        dpkg -x "$package" "$T" || exit 2
    done
}
node_packages() {
    (cd "$T" && npm init -y && npm install --ignore-scripts --no-audit --no-fund "$@") >"$T/npm.log" 2>&1 ||
        { cat "$T/npm.log"; exit 2; }
}
seen() {
    if output=$(cat) && [ "$output" = "$1" ]; then
        echo "${0##*/}: still so"
    else
        printf '%s: it has changed: got\n%s\nexpected\n%s\n' "${0##*/}" "$output" "$1"
        exit 1
    fi
}
