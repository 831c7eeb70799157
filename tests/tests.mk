# The part of the Makefile for tests: how they are built, and make test, sanitize, faults, coverage, bench.

# The suites are the sources in every room of tests/ except fuzz and bench, which are programs; any room may
# have scripts.
TESTS   := $(sort $(filter-out tests/fuzz/% tests/bench/%,$(wildcard tests/*.c tests/*/*.c)))
SCRIPTS := $(sort $(filter-out tests/lib/% tests/fuzz/% %/valgrind.sh,$(wildcard tests/*/*.sh)))
BENCH   := $(sort $(wildcard tests/bench/lib/*.c))
FUZZ    := $(sort $(wildcard tests/fuzz/*.c))
FUZZLIB := tests/fuzz/lib/fuzz.c $(filter-out %/say.c,$(SHARED))
TESTED  := $(filter-out %/notebook.c,$(READER)) $(wildcard examples/import/*.c) \
           $(wildcard examples/lib/sample.c examples/lib/files.c examples/lib/tokenizer/*.c)

# The page's expressions are compiled in double only.
EXPRESSION := $(filter examples/page/expression%,$(PAGE_F64)) $(PAGE_LOOK)

# ---- what is made from what ---------------------------------------------------------------------
# Where the linker can wrap functions of the C library (--wrap), those of tests/lib/fault.c count the calls,
# and make the n-th fail or send a signal at it.
WRAPPED =
ifeq ($(findstring darwin,$(MACHINE)),)
WRAPPED = malloc calloc realloc aligned_alloc strdup free pthread_create \
          open read pread write fsync ftruncate close fstat lseek rename unlink mkdir realpath opendir \
          closedir fopen fdopen tmpfile fclose fflush fwrite vprintf fprintf fork gra_begin
endif
WRAP_C  = $(if $(WRAPPED),-DGRADUS_WRAP)
WRAP_LD = $(WRAPPED:%=-Wl,--wrap=%)

# The flags for Check are found once; the compiler reads them from these files (@file).
$(B)/check.compile:
	@mkdir -p $(B)
	@CC=$(call quote,$(CC) $(CFLAGS)) sh tests/build/tools/check-flags $(@:.compile=) || \
	    { echo 'Check is missing: run `make deps test`' >&2; exit 1; }
$(call f32,$(TESTS)): $(B)/f32/%.o: %.c $(B)/flags $(B)/check.compile
	$(compile) $(WRAP_C) -Itests -DGRADUS_BUILD='"$(B)/f32"' @$(B)/check.compile
$(call f64,$(TESTS)): $(B)/f64/%.o: %.c $(B)/flags $(B)/check.compile
	$(compile) $(WRAP_C) -Itests -DGRADUS_DOUBLE -DGRADUS_BUILD='"$(B)/f64"' @$(B)/check.compile

# The suites also call functions that the libraries do not export, so they are linked with the objects.
$(B)/f32/test: $(call f32,$(TESTS) $(TESTED) $(LIBRARY))
	$(link) $(WRAP_LD) @$(B)/check.link
$(B)/f64/test: $(call f64,$(TESTS) $(TESTED) $(EXPRESSION) $(LIBRARY))
$(B)/f64/test: $(if $(strip $(EXPRESSION)),$(B)/f64/look_page.o)
	$(link) $(WRAP_LD) @$(B)/check.link
$(B)/f64/look_page.o: $(B)/look_page.c $(B)/flags
	$(compile) -DGRADUS_DOUBLE
$(B)/faults/%: $(B)/f32/examples/%.o $(call f32,$(SHARED)) $(B)/f32/tests/lib/fault.o $(B)/libgradus.a
	$(link) $(WRAP_LD)
$(B)/faults/look: $(call f32,$(LOOK) $(SHARED)) $(B)/f32/look_page.o $(B)/f32/tests/lib/fault.o \
        $(B)/libgradus.a
	$(link) $(WRAP_LD)
$(B)/faults/learn: $(learner) $(B)/f64/tests/lib/fault.o $(B)/libgradus64.a
	$(link) $(WRAP_LD)
$(B)/fuzz/%: $(B)/f32/tests/fuzz/%.o $(call f32,$(FUZZLIB)) $(B)/f32/tests/lib/fault.o $(B)/libgradus.a
	$(link) $(WRAP_LD) $(FUZZER)
$(call f32,$(FUZZ) tests/fuzz/lib/fuzz.c): OWN = $(if $(FUZZER),-DGRADUS_FUZZER)
$(B)/bench/%: $(B)/f32/tests/bench/%.o $(call f32,$(BENCH)) $(B)/libgradus.a
	$(link) $(OWN_LD)
$(B)/bench/products: OWN_LD = -ldl                      # where dlopen is not in the C library

$(B)/faults/train-mpi: $(B)/f32/tests/lib/fault.o
$(B)/faults/train-mpi: OWN_LD = $(WRAP_LD)

# Programs that scripts run: each is linked with what draws a page.
RUN32 = $(patsubst %,$(B)/f32/tests/%,programs/look/constants programs/look/hostile view/dot/names)
RUN64 = $(patsubst %,$(B)/f64/tests/%,programs/look/constants programs/look/double programs/page/native)
$(RUN32): %: %.o $(call f32,$(PAGE_LOOK)) $(B)/f32/look_page.o $(B)/libgradus.a
	$(link)
$(RUN64): %: %.o $(call f64,$(PAGE_LOOK)) $(B)/f64/look_page.o $(B)/libgradus64.a
	$(link)

$(B)/terminal: $(B)/f32/tests/programs/exercises/terminal.o
	$(link)
$(B)/passed/tests/programs/learn.sh: $(B)/learn.ready $(B)/terminal

FAULTY = $(PROGRAM:examples/%.c=$(B)/faults/%) $(B)/faults/look $(B)/faults/learn \
         $(FUZZ:tests/fuzz/%.c=$(B)/fuzz/%)
programs: all $(NOTEBOOKS) $(FAULTY) $(RUN32) $(RUN64) $(B)/f64/test $(B)/f32/test $(B)/learn.ready

# ---- targets ------------------------------------------------------------------------------------

## make test, check runs every test, in both precisions; -j1: one at a time
# Without -j as many run at once as there are cores; from 4.0 on, make keeps the output of each together.
CORES    = $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
TOGETHER = $(if $(filter output-sync,$(.FEATURES)),-Otarget)
JOBS     = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(CORES) $(TOGETHER))
test check:
	@$(MAKE) --no-print-directory $(JOBS) tested
PASSED = $(SCRIPTS:%=$(B)/passed/%)
CHECKED = $(if $(SCRIPTS),$(EXERCISE:%=$(B)/passed/exercises/%))
TRAINED = $(if $(SCRIPTS),$(patsubst examples/exercises/%.c,$(B)/passed/%,\
              $(wildcard examples/exercises/milestones/[0-9]_*.c)))
tested: headers $(B)/f64/test.tap $(B)/f32/test.tap $(PASSED) $(CHECKED) $(TRAINED)
	@echo "`cat $(B)/f64/test.tap $(B)/f32/test.tap $(PASSED) $(CHECKED) $(TRAINED) | \
	    grep -c '^ok'` passed, 0 failed"

# The float suite of sums reads what the double one writes, so it comes second.
FLOAT_AFTER = $(B)/f64/test.tap
$(B)/f32/test.tap: $(FLOAT_AFTER)
$(B)/f64/test.tap $(B)/f32/test.tap: %.tap: % always
	@rm -f $@
	CK_TAP_LOG_FILE_NAME=$@ $<

# Scripts find the programs in $BUILD, and this make as $MAKE.
export MAKE WRAPPED
$(PASSED): $(B)/passed/%: programs always
	@mkdir -p $(@D)
	@echo "sh $*"
	@FUZZ_SECONDS=0 FAULT_STEP=7 BUILD=$(B) sh $* || { echo "$* failed"; exit 1; }
	@echo "ok $*" > $@

## make learn-check the exercises and milestones, right and wrong
learn-check:
	@$(MAKE) --no-print-directory $(JOBS) learn-checked
learn-checked: $(TRAINED) $(CHECKED)
	@awk '{ wrong += $$(NF - 3) } \
	    END { print NR " exercises: " NR " solutions passed, " wrong " wrong answers refused" }' \
	    $(CHECKED)
$(CHECKED): $(B)/passed/exercises/%: $(B)/learn.ready $(call f64,tests/programs/exercises/slips.c) always
	@mkdir -p $(@D)
	@BUILD=$(B) sh tests/programs/exercises/check.sh $* > $@.new || { cat $@.new; exit 1; }
	@sed 's/^/ok /' $@.new > $@ && rm $@.new && cat $@

$(TRAINED): $(B)/passed/%: milestones-ready always
	@mkdir -p $(@D)
	@$(WITH_CC) BUILD=$(B) sh tests/programs/exercises/milestone.sh $(*F) > $@.new || \
	    { cat $@.new; exit 1; }
	@sed 's/^/ok /' $@.new > $@ && rm $@.new && cat $@

## make lint        finds long lines, tabs, trailing blanks, unfinished work
lint:
	@sh tests/build/tools/lint

HEADERS = $(wildcard core/gradus.h core/op.h core/kernel.h layers/layers.h layers/gpt.h)
headers:
	@if command -v $(CXX) >/dev/null 2>&1; then \
	    for precision in -UGRADUS_DOUBLE -DGRADUS_DOUBLE; do \
	        for header in $(HEADERS); do \
	            echo "#include \"$$header\"" | $(CXX) -std=c++11 -Wall -Wextra -Wpedantic $(ERROR) \
	                -I. $$precision -fsyntax-only -x c++ - || exit 1; \
	        done; \
	    done; \
	else \
	    echo "no C++ compiler ($(CXX)): the headers were not compiled as C++"; \
	fi

## make sanitize    the tests under the sanitizers: address, undefined, thread
# Not the sums of 100,000 terms: they are about rounding, and the ops' own tests go through the same code.
ASAN = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize: asan tsan
asan:
	@mkdir -p $(B)
	@echo 'int main(void) { return 0; }' > $(B)/empty.c
	@$(CC) $(ASAN) $(B)/empty.c -o $(B)/empty 2>/dev/null || \
	    { echo "sanitize: $(CC) has no AddressSanitizer on this system" >&2; exit 1; }
	ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=8 UBSAN_OPTIONS=print_stacktrace=1 \
	CK_TIMEOUT_MULTIPLIER=10 CK_EXCLUDE_TAGS=accuracy \
	    $(MAKE) B=$(B)/asan OPT='-O1 -g' SANITIZE='$(ASAN)' FLOAT_AFTER= test
tsan:
	$(MAKE) B=$(B)/tsan OPT='-O1 -g' SANITIZE=-fsanitize=thread $(B)/tsan/f32/test
	CK_RUN_SUITE=threads CK_EXCLUDE_TAGS=long CK_TIMEOUT_MULTIPLIER=10 $(B)/tsan/f32/test

## make faults      failing memory, disks, processes; damaged files (10 minutes)
# make test also runs the quick ones.
FAULTS = $(sort $(wildcard tests/faults/*.sh))
faults: programs
	CK_RUN_SUITE=faults $(B)/f64/test
	CK_RUN_SUITE=faults $(B)/f32/test
	@for script in $(FAULTS); do \
	    echo "sh $$script"; \
	    BUILD=$(B) sh $$script || { echo "$$script failed"; exit 1; }; \
	done

## make coverage    lines that the tests reach, and those that none does (gcc)
# Counts are kept per object, so the double and the float library add up; each runs every suite once.
coverage:
	$(MAKE) B=$(B)/coverage OPT='-O0 -g' SANITIZE='--coverage -DGRADUS_COVERAGE' \
	    $(B)/coverage/f64/test $(B)/coverage/f32/test
	@find $(B)/coverage -name '*.gcda' -exec rm -f {} +
	CK_TIMEOUT_MULTIPLIER=20 $(B)/coverage/f64/test
	CK_TIMEOUT_MULTIPLIER=20 $(B)/coverage/f32/test
	BUILD=$(B)/coverage CC='$(CC)' sh tests/build/coverage/proof.sh
	BUILD=$(B)/coverage sh tests/build/coverage/coverage.sh

## make port        other compilers, C libraries, processors (long; ONLY=aarch64)
port:
	@BUILD=$(B) CC=$(call quote,$(CC)) JOBS=2 ONLY=$(call quote,$(ONLY)) sh tests/build/port/port.sh

## make bench       speed of training steps, and the peak; flags: ARGS="--products bf16"
bench: $(patsubst %,$(B)/bench/%,step peak products)
	@for threads in 1 $(CORES); do \
	    echo "peak threads=$$threads gflops=`$(B)/bench/peak $$threads`"; \
	    for config in nano tiny small gpt2; do \
	        $(B)/bench/step --config $$config --threads $$threads $(ARGS) || exit 1; \
	    done; \
	done

# `make -j2 deps test` would start both at once: if deps is a goal, what uses Check or gnuplot waits for it.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
test check train generate asan tsan faults coverage $(B)/check.compile \
    $(B)/f32/test.tap $(B)/f64/test.tap $(PASSED): | deps
endif

TESTS_MADE = $(addprefix $(B)/,bench terminal port faults fuzz passed coverage asan tsan check.compile \
             check.link empty empty.c) \
             $(wildcard $(B)/*.test)
.PHONY: programs test check tested learn-check learn-checked lint headers sanitize asan tsan faults coverage \
        port bench
