#!/bin/sh
# handout.sh DIR [0]: writes a class folder: gradus with its exercises, but without solutions, wrong answers,
# tests and anybody's answers. 0 leaves out the hints too. The folder can be built without the rest of gradus.
# It is written completely, or not at all.
dir=$1

refuse() {
    echo "handout: $1" >&2
    exit 2
}

[ "$dir" ] || refuse 'say where: make handout DIR=folder'
[ ! -e "$dir" ] || [ -d "$dir" ] || refuse "$dir already exists, and is not a folder"
[ ! -d "$dir" ] || [ -z "$(ls -A "$dir")" ] || refuse "$dir already exists, and is not empty"

part=${dir%/}.part.$$
trap 'rm -rf "$part"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$part" || exit 2
{
    cp -R Makefile LICENSE core layers examples "$part" &&
    cd "$part/examples" &&
    rm -rf solutions exercises/solutions exercises/source exercises/[0-9]*.c exercises/.progress* &&
    { [ "$2" != 0 ] || rm -rf exercises/hints; } &&
    sed '/^## For teachers/,$d; /^`s` shows a solution/d' exercises/README.md >../README.md &&
    rm exercises/README.md
} || refuse "$dir cannot be written"
cd "$OLDPWD" || exit 2
[ ! -d "$dir" ] || rmdir "$dir" || exit 2
mv "$part" "$dir" || exit 2
exercises=$(ls "$dir"/examples/exercises/start | wc -l | tr -d ' ')
echo "$dir: for $exercises exercises; in it, \`make learn\` begins"
