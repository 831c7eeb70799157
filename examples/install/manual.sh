#!/bin/sh
# manual.sh PROGRAM NAME VERSION: makes a manual page in roff from a program's --help, as in
# manual.sh build/train gradus-train 0.1.0
program=$1 name=$2 version=$3
"$program" --help | awk -v name="$name" -v version="$version" '
    function plain(s) {
        gsub(/\\/, "\\e", s)
        gsub(/-/, "\\-", s)
        gsub(/"/, "\\(dq", s)
        sub(/^[.\x27]/, "\\\\\\&&", s)
        return s
    }
    /^usage: / { next }
    !about {
        about = $0
        first = tolower(substr($0, 1, 1)) substr($0, 2)
        sub(/\.$/, "", first)
        printf ".TH %s 1 \"\" \"gradus %s\"\n", toupper(name), version
        printf ".SH NAME\n%s \\- %s\n", name, plain(first)
        printf ".SH SYNOPSIS\n.B %s\n[\\fI\\-\\-FLAG VALUE\\fR ...]\n", name
        printf ".SH DESCRIPTION\n%s\n.SH OPTIONS\n", plain(about)
        next
    }
    /^  --/ {
        flag = substr($0, 3)
        if (!(at = match(flag, /  +/))) {       # no gap before the help: the flag is two words
            match(flag, /^[^ ]+ [^ ]+ /)
            at = RLENGTH
            RLENGTH = 1
        }
        printf ".TP\n.B %s\n%s\n", plain(substr(flag, 1, at - 1)), plain(substr(flag, at + RLENGTH))
        next
    }
    /^$/ { next }
    /^In brackets/ { printf ".PP\n%s\n", plain($0); next }
    { printf ".SS %s\n", plain($0) }
    END {
        print ".SH EXIT STATUS"
        print "0: success; 1: failure, with a sentence that says why; 2: wrong command line."
        print ".SH SEE ALSO\n.BR gradus\\-train (1),\n.BR gradus\\-generate (1),\n.BR gradus\\-look (1)"
    }'
