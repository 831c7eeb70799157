# fair.sh is sourced by against_pytorch and against_openblas. It cleans the environment, identifies the
# processor, and detects other programs that run meanwhile.
export LC_ALL=C

# Variables that choose a library's kernels, blocking or threads, including our own.
choosing='^(OPENBLAS|GOTO|BLIS|MKL|ONEDNN|DNNL|OMP|KMP|GOMP|NVPL|VECLIB|ATEN|GRADUS)_|^LD_PRELOAD$'
clear_settings() {
    found=`choosing=$choosing awk 'BEGIN {
        for (name in ENVIRON)
            if (name ~ ENVIRON["choosing"])
                print name
    }' | sort`
    [ -z "$found" ] || unset $found
    echo cleared from the environment: ${found:-nothing} | fold -s -w 80
}

# ---- the processor: /proc/cpuinfo, if it exists; the tests have fakes ----
cpu_field() {
    sed -n "s/^$1[[:space:]]*: //p" "${CPUINFO:-/proc/cpuinfo}" 2>/dev/null | head -n 1
}
has() {                                 # has FLAG ...: all of them
    for flag in "$@"; do
        cpu_field '\(flags\|Features\)' | grep -qw "$flag" || return 1
    done
}
has_bf16() {
    has avx512_bf16 || has amx_bf16 || has bf16
}
describe_machine() {
    name=`cpu_field 'model name'`
    [ -n "$name" ] || name=`sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m`
    family=`cpu_field 'cpu family'`
    echo "processor: $name${family:+ (family $family, model `cpu_field model`)}," \
        "`getconf _NPROCESSORS_ONLN` of them; AVX-512: `has avx512f && echo yes || echo no`," \
        "bfloat16: `has_bf16 && echo yes || echo no`" | fold -s -w 80
}

# ---- other programs: the clock ticks that all processes, and ours, have used ----
all_ticks() {
    awk '/^cpu / { printf "%.0f\n", $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat       # not idle, not waiting
}
own_ticks() {
    awk '{ print $14 + $15 + $16 + $17 }' /proc/$$/stat                             # with our children's
}
watch_others() {
    echo "load average of 1, 5, 15 minutes: `uptime | sed 's/.*averages*: *//'`"
    [ ! -r /proc/stat ] || all=`all_ticks` own=`own_ticks`
}
# Sets `disturbed`, for the lines with a result, if other programs took at least a twentieth of our time.
report_others() {
    disturbed=
    [ -n "${all:-}" ] || return 0
    all=$((`all_ticks` - all)) own=$((`own_ticks` - own))
    share=$((all > own && own > 0 ? 100 * (all - own) / own : 0))
    echo "other programs computed for $share % of the time that this one did"
    [ $share -lt 5 ] || {
        disturbed=" others=$share%"
        echo "WARNING: the machine was not idle, and these ratios mean little"
    }
}

# ---- arithmetic ----
value() {                               # value NAME LINE: the text after NAME= in it
    echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}
less() {
    awk "BEGIN { exit !($1 < $2) }"
}
compute() {                             # compute FORMAT EXPRESSION
    awk "BEGIN { printf \"$1\", $2 }"
}
median() {
    echo "$@" | tr ' ' '\n' | sort -n |
        awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}
