# gradus. `make help` lists what can be made. GNU make 3.81 and a POSIX sh suffice.
#
# A new source file in core/, layers/, examples/ or tests/ needs no line here.
#
#   CC=clang            another compiler            WERROR=1  warnings are errors
#   CFLAGS=... LDFLAGS=...  added to the flags      B=folder  build there, not in build/
#   OPT=-O0             in place of -O3             V=1       show whole commands

B   = build
OPT = -O3
V   =
OWN =
SANITIZE =

# None of these is needed: the -f flags make it faster, -D is for the programs, the rest are warnings. Three
# warnings are errors always: what they warn of (a function undeclared, one of another type) crashes where it is called.
FLAGS = -std=c11 $(OPT) -ffp-contract=fast -fno-math-errno -fno-trapping-math \
        -D_POSIX_C_SOURCE=200809L -pthread -I. \
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion \
        -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror=implicit-function-declaration \
        -Werror=incompatible-pointer-types -Werror=int-conversion $(ERROR) $(SANITIZE)
ERROR = $(if $(filter-out 0,$(WERROR)),-Werror)
LINK  = $(CC) -pthread $(OPT) $(SANITIZE) $(CFLAGS) $(LDFLAGS)

MACHINE := $(shell $(CC) -dumpmachine)

# ---- what is made from what ---------------------------------------------------------------------
# build/f32 and build/f64 hold the objects of the float and of the double library.

LIBRARY  := $(sort $(wildcard core/*.c core/*/*.c layers/*.c))
TESTS    := $(sort $(wildcard tests/*.c))
SCRIPTS  := $(sort $(wildcard tests/*.sh)) $(wildcard tests/faults/programs.sh tests/faults/fuzz.sh)
BENCH    := $(sort $(wildcard tests/bench/lib/*.c))
FUZZ     := $(sort $(wildcard tests/fuzz/*.c))
FUZZLIB   = tests/fuzz/lib/fuzz.c $(filter-out %/say.c,$(SHARED))
SHARED   := $(sort $(wildcard examples/lib/*.c))
TUTORIAL := $(sort $(wildcard examples/[0-9]*.c examples/*/[0-9]*.c))
PROGRAM  := $(filter-out $(TUTORIAL),$(sort $(wildcard examples/*.c)))
NOTEBOOK := $(sort $(wildcard examples/notebooks/*.c))
GOLDEN   := $(wildcard examples/notebooks/lib/golden.c)
READER   := $(wildcard examples/notebooks/lib/*.c)

# These check gradients, which takes double precision.
DOUBLE     = 02 04 06
TUTORIAL64 := $(foreach n,$(DOUBLE),$(filter examples/$(n)_%,$(TUTORIAL)) \
                $(wildcard examples/*/$(n)_*.c))
TUTORIAL32 := $(filter-out $(TUTORIAL64),$(TUTORIAL))

f32 = $(patsubst %.c,$(B)/f32/%.o,$(1))
f64 = $(patsubst %.c,$(B)/f64/%.o,$(1))

# NumPy computes in float64, and the notebook of this one prints eight digits.
NOTEBOOK32 := $(filter-out examples/notebooks/udl_multihead.c,$(NOTEBOOK))

LIBRARIES = $(B)/libgradus.a $(B)/libgradus64.a
PROGRAMS  = $(PROGRAM:examples/%.c=$(B)/%)
TUTORIALS = $(TUTORIAL:%.c=$(B)/%)
NOTEBOOKS = $(NOTEBOOK32:examples/notebooks/%.c=$(B)/notebooks/%) \
            $(NOTEBOOK:examples/notebooks/%.c=$(B)/notebooks64/%)

## make             both libraries, the programs and the lessons, in build/
all: $(LIBRARIES) $(PROGRAMS) $(TUTORIALS) $(NOTEBOOKS)

$(B)/libgradus.a:   $(call f32,$(LIBRARY)) $(B)/sources
	$(archive)
$(B)/libgradus64.a: $(call f64,$(LIBRARY)) $(B)/sources
	$(archive)

$(PROGRAMS): $(B)/%: $(B)/f32/examples/%.o $(call f32,$(SHARED)) $(B)/libgradus.a
	$(link)
$(TUTORIAL32:%.c=$(B)/%): $(B)/%: $(B)/f32/%.o $(B)/libgradus.a
	$(link)
$(TUTORIAL64:%.c=$(B)/%): $(B)/%: $(B)/f64/%.o $(B)/libgradus64.a
	$(link)
$(B)/notebooks/%: $(B)/f32/examples/notebooks/%.o $(call f32,$(READER)) $(B)/libgradus.a
	$(link)
$(B)/notebooks64/%: $(B)/f64/examples/notebooks/%.o $(call f64,$(READER)) $(B)/libgradus64.a
	$(link)
$(B)/bench/%: $(B)/f32/tests/bench/%.o $(call f32,$(BENCH) examples/lib/sample.c) $(B)/libgradus.a
	$(link)

# The tests count calls and make them fail, or a signal come, at the n-th (tests/fault.c) where the linker can
# put a function of theirs in the place of each.
ifeq ($(findstring darwin,$(MACHINE)),)
COUNTED = -DGRADUS_WRAP
WRAPPED = malloc calloc realloc aligned_alloc strdup strndup free pthread_create \
          open read pread write fsync ftruncate close fstat lseek rename link unlink mkdir realpath opendir closedir \
          fopen open_memstream tmpfile fclose fflush fwrite vprintf fprintf \
          clock_gettime nanosleep gra_begin
COUNT   = $(WRAPPED:%=-Wl,--wrap=%)
endif
$(B)/f32/test: $(call f32,$(TESTS) $(GOLDEN)) $(B)/libgradus.a
	$(link) $(COUNT) $$(sed -n 2p $(B)/check.flags)
$(B)/f64/test: $(call f64,$(TESTS) $(GOLDEN)) $(B)/libgradus64.a
	$(link) $(COUNT) $$(sed -n 2p $(B)/check.flags)
$(B)/faults/%: $(B)/f32/examples/%.o $(call f32,$(SHARED)) $(B)/f32/tests/fault.o $(B)/libgradus.a
	$(link) $(COUNT)
$(B)/fuzz/%: $(B)/f32/tests/fuzz/%.o $(call f32,$(FUZZLIB)) $(B)/f32/tests/fault.o $(B)/libgradus.a
	$(link) $(COUNT) $(FUZZER)
$(call f32,$(FUZZ) tests/fuzz/lib/fuzz.c): OWN = $(if $(FUZZER),-DGRADUS_FUZZER)
$(call f32,$(TESTS)): $(B)/f32/%.o: %.c $(B)/flags $(B)/check.flags
	$(compile) $(COUNTED) -DGRADUS_BUILD='"$(B)/f32"' $$(sed -n 1p $(B)/check.flags)
$(call f64,$(TESTS)): $(B)/f64/%.o: %.c $(B)/flags $(B)/check.flags
	$(compile) $(COUNTED) -DGRADUS_DOUBLE -DGRADUS_BUILD='"$(B)/f64"' $$(sed -n 1p $(B)/check.flags)

$(B)/f32/%.o: %.c $(B)/flags
	$(compile)
$(B)/f64/%.o: %.c $(B)/flags
	$(compile) -DGRADUS_DOUBLE

Q = $(if $(V),,@)
define compile
@mkdir -p $(@D)
$(if $(V),,@echo "cc  $@")
$(Q)$(CC) $(FLAGS) $(OWN) $(CFLAGS) -MMD -MP -c $< -o $@
endef
define archive
$(if $(V),,@echo "ar  $@")
@rm -f $@
$(Q)$(AR) rcs $@ $(filter %.o,$^)
endef
define link
@mkdir -p $(@D)
$(if $(V),,@echo "ld  $@")
$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lm
endef

# Two notes of what was last built with and from: objects are made again when the flags change,
# libraries when a file comes or goes.
$(B)/flags: always
	$(call remember,$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS))
$(B)/sources: always
	$(call remember,$(LIBRARY))
quote = '$(subst ','\'',$(strip $(1)))'
remember = @mkdir -p $(B); [ "`cat $@ 2>/dev/null`" = $(quote) ] || printf '%s\n' $(quote) > $@

-include $(patsubst %.c,$(B)/f32/%.d,$(LIBRARY) $(TESTS) $(SHARED) $(PROGRAM) $(TUTORIAL32))
-include $(patsubst %.c,$(B)/f64/%.d,$(LIBRARY) $(TESTS) $(TUTORIAL64))
-include $(patsubst %.c,$(B)/f32/%.d,$(READER) $(NOTEBOOK32))
-include $(patsubst %.c,$(B)/f64/%.d,$(READER) $(NOTEBOOK))
-include $(wildcard $(B)/f32/tests/bench/*.d $(B)/f32/tests/bench/lib/*.d)
-include $(patsubst %.c,$(B)/f32/%.d,$(FUZZ) $(FUZZLIB))

# ---- what can be done ---------------------------------------------------------------------------
# Where deps is named on the command line, what needs it waits for it, under -j too.
DEPS = $(filter deps,$(MAKECMDGOALS))

## make deps        installs Check (for tests) and gnuplot (for plots) if missing
deps:
	@CC=$(call quote,$(CC) $(CFLAGS)) sh .ci/deps

## make train       trains a small model, draws its loss; flags: ARGS="--steps 200"
train: $(B)/train | $(DEPS)
	$(B)/train $(ARGS)

## make generate    writes text with a trained model; flags: ARGS="--prompt TEXT"
generate: $(B)/generate | $(DEPS)
	$(B)/generate $(ARGS)

## make bench       how fast it is, and how near the peak; flags: ARGS="--quick"
bench: $(B)/bench/bench $(B)/bench/step
	$(B)/bench/bench $(ARGS)

## make notebooks   the numbers of five attention notebooks, in both precisions
notebooks: $(NOTEBOOKS)
	@sh examples/notebooks/run.sh $(NOTEBOOKS)

programs: all $(B)/f64/test $(B)/f32/test
FAULTY = $(PROGRAM:examples/%.c=$(B)/faults/%) $(FUZZ:tests/fuzz/%.c=$(B)/fuzz/%)

## make test        runs every test, in both precisions; -j2: two at a time
# Scripts find the programs in $BUILD. (A recipe that names MAKE itself would run under `make -n` too.)
THIS_MAKE = $(MAKE)
TRIED = $(SCRIPTS:%=$(B)/tried/%)
test: headers $(B)/f64/test.tap $(B)/f32/test.tap $(TRIED)
	@echo "`cat $(B)/f64/test.tap $(B)/f32/test.tap $(TRIED) | grep -c '^ok'` passed, 0 failed"

# The float suite reads what the double suite has written, so it comes second.
$(B)/f32/test.tap: $(B)/f64/test.tap
$(B)/f64/test.tap $(B)/f32/test.tap: %.tap: % always | $(DEPS)
	@rm -f $@
	CK_TAP_LOG_FILE_NAME=$@ $<
$(TRIED): $(B)/tried/%: programs $(FAULTY) always | $(DEPS)
	@mkdir -p $(@D)
	@echo "sh $*"
	@FUZZ_SECONDS=0 FAULT_STEP=7 BUILD=$(B) MAKE='$(THIS_MAKE)' WRAPPED='$(WRAPPED)' sh $* || \
	    { echo "$* failed"; exit 1; }
	@echo "ok $*" > $@

# How Check is compiled with and linked (see .ci/check-flags).
$(B)/check.flags: | $(DEPS)
	@mkdir -p $(B)
	@CC=$(call quote,$(CC) $(CFLAGS)) sh .ci/check-flags > $@.new || \
	    { rm -f $@.new; echo 'Check is missing: run `make deps test`' >&2; exit 1; }
	@mv $@.new $@

HEADERS = $(wildcard core/gradus.h core/op.h layers/layers.h)
headers:
	@if command -v $(CXX) >/dev/null 2>&1; then \
	    for precision in -UGRADUS_DOUBLE -DGRADUS_DOUBLE; do \
	        for header in $(HEADERS); do \
	            echo "#include \"$$header\"" | $(CXX) -std=c++11 -Wall -Wextra -Wpedantic $(ERROR) \
	                -I. $$precision -fsyntax-only -x c++ - || exit 1; \
	        done; \
	    done; \
	else \
	    echo "no C++ compiler ($(CXX)): the headers were not tried as C++"; \
	fi

## make sanitize    the same under the sanitizers: addresses, undefined, threads
ASAN = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize: asan tsan
asan: | $(DEPS)
	@mkdir -p $(B)
	@echo 'int main(void) { return 0; }' > $(B)/empty.c
	@$(CC) $(ASAN) $(B)/empty.c -o $(B)/empty 2>/dev/null || \
	    { echo "sanitize: $(CC) has no AddressSanitizer on this system" >&2; exit 1; }
	ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=8 UBSAN_OPTIONS=print_stacktrace=1 CK_TIMEOUT_MULTIPLIER=10 \
	    $(MAKE) B=$(B)/asan OPT='-O1 -g' SANITIZE='$(ASAN)' test
tsan: | $(DEPS)
	$(MAKE) B=$(B)/tsan OPT='-O1 -g' SANITIZE=-fsanitize=thread $(B)/tsan/f32/test
	CK_RUN_SUITE=threads CK_EXCLUDE_TAGS=long CK_TIMEOUT_MULTIPLIER=10 $(B)/tsan/f32/test

## make faults      failing memory, disk, processes; damaged files (10 minutes)
# The quick ones are in make test too.
FAULTS = $(sort $(wildcard tests/faults/*.sh))
faults: programs $(FAULTY) | $(DEPS)
	CK_RUN_SUITE=faults $(B)/f64/test
	CK_RUN_SUITE=faults $(B)/f32/test
	@for script in $(FAULTS); do \
	    echo "sh $$script"; \
	    BUILD=$(B) MAKE='$(THIS_MAKE)' WRAPPED='$(WRAPPED)' sh $$script || { echo "$$script failed"; exit 1; }; \
	done

## make coverage    lines and branches of core/, layers/ that tests take (gcc)
# Counts are kept per object, so the double and the float library add up; each suite runs once in each.
coverage: | $(DEPS)
	$(MAKE) B=$(B)/coverage OPT='-O0 -g' SANITIZE='--coverage -DGRADUS_COVERAGE' $(B)/coverage/f64/test $(B)/coverage/f32/test
	@find $(B)/coverage -name '*.gcda' -exec rm -f {} +
	CK_TIMEOUT_MULTIPLIER=20 $(B)/coverage/f64/test
	CK_TIMEOUT_MULTIPLIER=20 $(B)/coverage/f32/test
	BUILD=$(B)/coverage CC='$(CC)' sh tests/coverage/proof.sh
	BUILD=$(B)/coverage sh tests/coverage/coverage.sh

## make clean       removes what was built; trained models in build/ stay
# By name: what else stands in $(B) is somebody's own, a run or a model.
MADE = $(LIBRARIES) $(PROGRAMS) $(addprefix $(B)/,f32 f64 examples notebooks notebooks64 bench faults fuzz tried \
        coverage asan tsan flags sources check.flags check.flags.new empty empty.c) $(wildcard $(B)/*.test)
clean:
	rm -rf $(MADE)
	@rmdir $(B) 2>/dev/null || [ ! -d $(B) ] || echo "left in $(B):" `ls $(B)`

## make help        this list
help:
	@sed -n 's/^## //p' Makefile

always:
.PHONY: all programs deps train generate bench notebooks test headers sanitize asan tsan faults coverage clean help always
.SECONDARY:
.DELETE_ON_ERROR:
.SUFFIXES:
