# shellcheck shell=sh
# found: sourced by each finding; removes the finding's temporary folder T at the end. If a package cannot be
# installed, the script ends with 2.
#
#     debian PACKAGE=VERSION ...      unpacks packages of Debian 12 (amd64) in $T
#     tokenizers                      installs two of Hugging Face's tokenizers from npm in $T, and both.cjs
#     seen TEXT                       stdin must be TEXT; otherwise both are shown, and the script fails
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
tokenizers() {
    cp "$(dirname "$0")/lib/both.cjs" "$T" && cd "$T" || exit 1
    { npm init -y && npm install --ignore-scripts --no-audit --no-fund tokenizers@0.23.2 \
        @huggingface/tokenizers@0.2.0; } >npm.log 2>&1 || { cat npm.log; exit 2; }
}
seen() {
    if output=$(cat) && [ "$output" = "$1" ]; then
        echo "${0##*/}: still so"
    else
        printf '%s: it has changed: got\n%s\nexpected\n%s\n' "${0##*/}" "$output" "$1"
        exit 1
    fi
}
