# names.awk: prints why an answer is refused, or nothing. It reads three files: the compiler's list of the
# answer's includes (.d); exercises.h, for the prototypes of each exercise; and nm's names of two objects, the
# answer's and then the judge's. Variables: first (_ where names begin with it), number ("08_..."), linked (0
# if the linker succeeded); in the environment: folders and headers, which an answer may include, and taken,
# the names that gradus and the judge use.

function fill(set, words,    word, i) {
    for (i = split(words, word, " "); i > 0; i--)
        set[word[i]]
}

function may_include(file,    i) {
    for (i = 1; i <= n; i++)
        if (index(file, folder[i] "/") == 1 && !index(substr(file, length(folder[i])), "/../"))
            return 1
    return file in header
}

# Functions of standard C that compute, allocate or print, by the names that systems and sanitizers give them;
# f and l at the end: float and long double. An exercise whose prototypes do not mention gradus must be solved
# without it.
function may_use(name) {
    if (name ~ /^gra_/)
        return (gradus || name ~ /^gra_compiled_with/) && name !~ /^gra_(file|load|save|write|listing)_?/
    return name in listed || (name ~ /[fl]$/ && substr(name, 1, length(name) - 1) in listed) ||
        name ~ /^((mem|str|stp|is)[a-z]*)$/ ||
        name ~ /^__(asan|ubsan|tsan|gcov|aarch64|aeabi|stack_chk|ctype|assert)_[A-Za-z0-9_]*$/ ||
        name ~ /^__(v?(f|s|sn)?printf|mem[a-z]*|st[rp][a-z]*)_chk$|^__isoc[0-9]*_strto[a-z]*$/ ||
        name ~ /^__(is|fp|sign|fin)[a-z]*$|^__[a-z0-9]*_finite$|^__[a-z]*[hsdtx][fic][234]?$/
}

BEGIN {
    n = split(ENVIRON["folders"], folder, " ")
    fill(header, ENVIRON["headers"])
    fill(taken, ENVIRON["taken"])
    fill(listed, \
    "cos sin tan acos asin atan atan2 cosh sinh tanh acosh asinh atanh sincos exp exp2 exp10 expm1 log " \
    "log10 log1p log2 logb ilogb frexp ldexp modf scalbn scalbln sqrt cbrt hypot pow erf erfc tgamma " \
    "lgamma ceil floor trunc round lround llround rint lrint llrint nearbyint fabs fdim fma fmax fmin " \
    "fmod remainder remquo copysign nan nextafter nexttoward cabs carg cimag creal conj cproj cexp clog " \
    "cpow csqrt ccos csin ctan abs labs llabs div ldiv lldiv rand srand rand_r random srandom drand48 " \
    "erand48 srand48 qsort bsearch malloc calloc realloc aligned_alloc posix_memalign free exit abort " \
    "time clock difftime atoi atol atoll atof tolower toupper bcmp bcopy bzero index rindex printf " \
    "fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts fputs putchar putc fputc fwrite " \
    "fflush perror setbuf setvbuf stdout stderr __stdoutp __stderrp __errno_location __errno ___errno " \
    "__error __tls_get_addr __emutls_get_address __bzero __exp10 __sincos_stret __sincosf_stret " \
    "memset_pattern4 memset_pattern8 memset_pattern16 _GLOBAL_OFFSET_TABLE_")
    number = substr(number, 1, 2)
    gradus = 1
}

FILENAME ~ /[.]d$/ {
    gsub(/^x:|\\$/, "")
    gsub(/\\ /, "?")
    for (i = 1; i <= NF; i++)
        if (!may_include($i) && !included)
            included = $i
    next
}

# "/* 08 softmax */" begins the prototypes of an exercise.
FILENAME ~ /[.]h$/ {
    if (/^\/[*] [0-9][0-9] /)
        here = $2 == number
    gradus = /^\/[*]/ && here ? 0 : gradus || (here && /gra_/)
    for (; match($0, /[A-Za-z0-9_]+[(]/); $0 = substr($0, RSTART + RLENGTH))
        asked[substr($0, RSTART, RLENGTH - 1)]
    next
}

# "name LETTER ...": U, v and w are uses, other capitals are definitions.
/:$/ { files++; next }
length($2) != 1 || index($1, ".") { next }
{ name = index($1, first) == 1 ? substr($1, length(first) + 1) : $1 }
files == 2 && $2 == "U" { taken[name]; if (name in asked) judged[++m] = name }
files == 2 && $2 ~ /[A-TV-Z]/ { taken[name] }
files == 1 && $2 ~ /[Uvw]/ && !may_use(name) && !used { used = name }
files == 1 && $2 ~ /[A-TV-Z]/ { defined[++count] = name; has[name] }

END {
    for (i = 1; i <= count && !bad; i++) {
        name = defined[i]
        if (!(name in asked) && (name in taken || name ~ /^_/) && name !~ /asan_globals_registered$/)
            bad = name
    }
    for (i = 1; i <= m && !missing; i++)
        if (linked && !(judged[i] in has))
            missing = judged[i]
    if (linked && !missing && used !~ /^_|^gra_/)
        missing = used
    if (!count)
        print "nm cannot read it"
    else if ("main" in has)
        print "it defines main, but the judge has its own main: leave yours out"
    else if (included)
        print "it includes " included ", expected only exercises.h and the headers of C: write it yourself"
    else if (bad)
        print "it defines " bad ", a name that gradus or the judge uses: rename it, or make it static"
    else if (missing)
        print "the function " missing " is missing: is it in the file, spelt like this, and not static?"
    else if (used ~ /^gra_/ && !gradus)
        print "it uses " used ": this exercise is to be solved in plain C, without gradus"
    else if (used)
        print "it uses " used ", expected only gradus, and functions of C that compute, allocate or print"
}
