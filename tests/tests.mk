# The part of the Makefile for tests: how to build and run them (make test, test-all, faults), and make lint,
# sanitize, coverage, port, bench.

# The suites are the sources in every room of tests/ except fuzz and bench, which are programs; any room may
# have scripts.
TESTS   := $(sort $(filter-out tests/fuzz/% tests/bench/%,$(wildcard tests/*.c tests/*/*.c)))
SCRIPTS := $(sort $(filter-out tests/lib/% tests/fuzz/% %/valgrind.sh,$(wildcard tests/*/*.sh)))
BENCH   := $(sort $(wildcard tests/bench/lib/*.c))
FUZZ    := $(sort $(wildcard tests/fuzz/*.c))
FUZZLIB := tests/fuzz/lib/fuzz.c $(filter-out %/message.c,$(SHARED))
TESTED  := $(filter-out %/notebook.c,$(READER)) $(wildcard examples/import/*.c) \
           $(wildcard $(patsubst %,examples/lib/%.c,sample files json_out tokenizer/*))

# The page's expressions are compiled in double only.
EXPRESSION := $(filter examples/page/expression%,$(PAGE_F64)) $(PAGE_LOOK)

# The ops of tests/check are texts, which the judges' code for formulas computes, only in double.
FORMULA := $(wildcard examples/exercises/judge/formula.c)

# ---- what is made from what ---------------------------------------------------------------------
# make test tests every room in double, and in float the rooms in which float rounds, stores or draws
# differently; the rooms check and page have tests only in double.
ROOMS  := $(patsubst tests/%/,%,$(sort $(dir $(filter $(TESTS),$(wildcard tests/*/test_*.c)))))
FLOAT   = $(filter files kern layers random,$(ROOMS))
HELPERS = $(filter-out $(wildcard tests/*/test_*.c),$(TESTS))
FEW     = $(sort $(HELPERS) $(filter $(FLOAT:%=tests/%/%),$(TESTS)))

# Where the linker can wrap functions of the C library (--wrap), the functions of tests/lib/fault.c count the
# calls, and make the n-th call fail or send a signal.
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
# In the tests only the libraries need to be fast: at -O0 the suites compile in a third of the time.
$(call f32,$(TESTS)) $(call f64,$(TESTS)): OWN = -O0
$(call f32,$(TESTS)): $(B)/f32/%.o: %.c $(B)/flags $(B)/check.compile
	$(compile) $(WRAP_C) -Itests -DGRADUS_BUILD='"$(B)/f32"' @$(B)/check.compile
$(call f64,$(TESTS)): $(B)/f64/%.o: %.c $(B)/flags $(B)/check.compile
	$(compile) $(WRAP_C) -Itests -DGRADUS_DOUBLE -DGRADUS_BUILD='"$(B)/f64"' @$(B)/check.compile

# The suites also call functions that the libraries do not export, so they are linked with the objects.
$(B)/f32/test: $(call f32,$(TESTS) $(TESTED) $(LIBRARY))
	$(link) $(WRAP_LD) @$(B)/check.link
$(B)/f32/few: $(call f32,$(FEW) $(TESTED) $(LIBRARY))   # the rooms that make test runs in float
	$(link) $(WRAP_LD) @$(B)/check.link
$(B)/f64/test: $(call f64,$(TESTS) $(TESTED) $(EXPRESSION) $(FORMULA) $(LIBRARY))
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
$(B)/bench/%: $(B)/f32/tests/bench/%.o $(call f32,$(BENCH) examples/lib/sample.c examples/lib/step.c) \
        $(B)/libgradus.a
	$(link) $(OWN_LD)
$(B)/bench/products: OWN_LD = -ldl                      # where dlopen is not in the C library

$(B)/faults/train-mpi: $(B)/f32/tests/lib/fault.o
$(B)/faults/train-mpi: OWN_LD = $(WRAP_LD)

# Programs that scripts run: each is linked with the code that draws a page.
RUN32 = $(patsubst %.c,$(B)/f32/%,$(wildcard $(patsubst %,tests/%.c, \
        programs/look/hostile programs/look/scalar view/dot/any_names)))
RUN64 = $(patsubst %.c,$(B)/f64/%,$(wildcard $(patsubst %,tests/programs/%.c,look/double page/native)))
$(RUN32): %: %.o $(call f32,$(PAGE_LOOK)) $(B)/f32/look_page.o $(B)/libgradus.a
	$(link)
$(RUN64): %: %.o $(call f64,$(PAGE_LOOK)) $(B)/f64/look_page.o $(B)/libgradus64.a
	$(link)

$(B)/terminal: $(B)/f32/tests/programs/exercises/terminal.o
	$(link)
FAULTY = $(PROGRAM:examples/%.c=$(B)/faults/%) $(B)/faults/look $(B)/faults/learn \
         $(FUZZ:tests/fuzz/%.c=$(B)/fuzz/%)
programs: $(need_all) $(NOTEBOOKS) $(FAULTY) $(RUN32) $(RUN64) $(B)/f64/test $(B)/f32/few $(B)/learn.ready \
          $(B)/terminal

# ---- pieces ---------------------------------------------------------------------------------------
# make test and make test-all run pieces, side by side: the suites of a room, in one process; a script; an
# exercise; a milestone. Each piece leaves its lines "ok" in a file in $(B)/passed
PASSED    = $(B)/passed
suites    = $(patsubst test_%.c,%,$(filter test_%.c,$(notdir $(1))))
of_room   = $(call suites,$(filter tests/$(1)/%,$(TESTS)))
MILESTONE = $(patsubst examples/exercises/milestones/%.c,%,\
                $(wildcard examples/exercises/milestones/[0-9]_*.c))

SUITES    = $(ROOMS:%=$(PASSED)/f64/%) $(FLOAT:%=$(PASSED)/f32/%)

# The part left to make test-all: float in the other rooms, the suites with a CASE tagged long, more calls in
# the fault tests, the scripts in LATER, the part `rest` of the scripts in PARTED (tests/lib/ok.sh), and
# milestone 3.
LONG      = bf16 optim sums threads faults
LATER     = $(filter tests/build/compilers.sh tests/build/embed.sh tests/build/wasm.sh \
                tests/build/windows.sh tests/faults/programs.sh tests/files/huggingface.sh \
                tests/files/interop.sh tests/files/tune_torch.sh \
                tests/programs/bench.sh tests/programs/mpi.sh tests/programs/page.sh,$(SCRIPTS))
PARTED    = $(filter $(addprefix tests/programs/,cheats.sh learn.sh look.sh new.sh resume.sh),$(SCRIPTS))

CHECKED   = $(EXERCISE:%=$(PASSED)/exercises/%)
TRAINED   = $(MILESTONE:%=$(PASSED)/%)
QUICK     = $(SUITES) $(addprefix $(PASSED)/,$(filter-out $(LATER),$(SCRIPTS))) $(CHECKED) \
            $(filter-out $(PASSED)/3_%,$(TRAINED))
OTHERS    = $(filter-out $(FLOAT) check page faults,$(ROOMS))
REST      = $(OTHERS:%=$(PASSED)/f32/%) $(LONG:%=$(PASSED)/rest/f64/%) $(LONG:%=$(PASSED)/rest/f32/%) \
            $(addprefix $(PASSED)/rest/,$(LATER) $(PARTED)) $(filter $(PASSED)/3_%,$(TRAINED))

# FAULT_STEP: every n-th of the calls that may fail does fail. WITHOUT: the tags of tests to leave out.
WITHOUT = long
$(PASSED)/%: PART = quick
$(PASSED)/rest/%: PART = rest
STEP = $(if $(filter rest,$(PART)),13,29)
# All tests of a piece run in one process, since a fork costs more than most tests, and ten times as much if a
# sanitizer looks for leaks after each test. If a test fails, all run again in separate processes, which names
# the failing test. (The line "1..N" is the last that Check writes.)
define run_suites
@mkdir -p $(@D)
@: > $@
@export FAULT_STEP=$(STEP) CK_TAP_LOG_FILE_NAME=$@; \
    if CK_FORK=no $(1) > $@.out 2>&1 && grep -q "^1\.\." $@; then cat $@.out; rm -f $@.out; exit; fi; \
    CK_FORK=yes $(1) && { cat $@.out; echo '$@: this fails where all tests share a process'; }; \
    echo 'not ok $@' >> $@; echo '$@ failed'; exit 1
endef
$(FLOAT:%=$(PASSED)/f32/%): $(PASSED)/f32/%: $(B)/f32/few always
	$(call run_suites,CK_EXCLUDE_TAGS='$(WITHOUT)' $< $(call of_room,$*))
$(OTHERS:%=$(PASSED)/f32/%): $(PASSED)/f32/%: $(B)/f32/test always
	$(call run_suites,CK_EXCLUDE_TAGS='$(WITHOUT)' $< $(call of_room,$*))
$(PASSED)/f64/%: $(B)/f64/test always
	$(call run_suites,CK_EXCLUDE_TAGS='$(WITHOUT)' $< $(call of_room,$*))
$(PASSED)/rest/f32/%: $(B)/f32/test always
	$(call run_suites,$(if $(filter-out faults,$*),CK_INCLUDE_TAGS=long) $< $*)
$(PASSED)/rest/f64/%: $(B)/f64/test always
	$(call run_suites,$(if $(filter-out faults,$*),CK_INCLUDE_TAGS=long) $< $*)
$(PASSED)/rest/f32/sums: $(PASSED)/rest/f64/sums        # double writes the numbers for float

# Scripts find the programs in $BUILD, and this make as $MAKE.
export MAKE WRAPPED
NEEDED = programs
$(SCRIPTS:%=$(PASSED)/%): $(PASSED)/%: $(NEEDED) always
	$(run_script)
$(addprefix $(PASSED)/rest/,$(LATER) $(PARTED)): $(PASSED)/rest/%: $(NEEDED) always
	$(run_script)
define run_script
@mkdir -p $(@D)
@echo "sh $*"
@PART=$(PART) FUZZ_SECONDS=0 FAULT_STEP=$(STEP) BUILD=$(B) sh $* || { echo "$* failed"; exit 1; }
@echo "ok $*" > $@
endef

$(CHECKED): $(PASSED)/exercises/%: $(B)/learn.ready $(call f64,tests/programs/exercises/tried.c) always
	@mkdir -p $(@D)
	@NOTES=$(if $(filter $@,$(MAKECMDGOALS)),yes) BUILD=$(B) \
	    sh tests/programs/exercises/check.sh $* > $@.new || { cat $@.new; exit 1; }
	@sed 's/^/ok /' $@.new > $@ && rm $@.new && cat $@

$(TRAINED): $(PASSED)/%: milestones-ready always
	@mkdir -p $(@D)
	@$(WITH_CC) BUILD=$(B) sh tests/programs/exercises/milestone.sh $(*F) > $@.new || \
	    { cat $@.new; exit 1; }
	@sed 's/^/ok /' $@.new > $@ && rm $@.new && cat $@

# ---- targets ------------------------------------------------------------------------------------

## make test, check what a change can break, in two minutes; -j1: one at a time
# Without -j, as many pieces run at once as there are cores ($(JOBS)). After a failure the other pieces still
# run (-k); tests/build/tools/passed counts, and fails.
LEFT     = float in $(words $(OTHERS)) rooms, long sums, $(words $(LATER)) scripts \
           and parts of $(words $(PARTED)), a milestone, sanitizers, clang
test check:
	@$(MAKE) --no-print-directory $(JOBS) headers $(if $(SCRIPTS),programs)
	@rm -f $(QUICK)
	@$(MAKE) --no-print-directory -k $(JOBS) tested || :
	@LEFT='$(LEFT)' sh tests/build/tools/passed $(QUICK)
tested: $(QUICK)

## make test-all    before a change lands: all but the sweeps of make faults
test-all: lint
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-rest

# The tests that make test does not run. .ci/run calls this target too.
test-rest:
	@rm -f $(REST) $(ELSEWHERE)
	@$(MAKE) --no-print-directory -k $(JOBS) rest-tested sanitize clang || :
	@sh tests/build/tools/passed $(REST) $(ELSEWHERE)
rest-tested: $(REST)
ELSEWHERE = $(SANITIZED:$(B)/%=$(B)/asan/%) $(B)/tsan/passed/threads \
            $(if $(CLANG),$(MAINLY:$(B)/%=$(B)/clang/%))

# With the sanitizers and clang, float is tested only where its code differs from that of double.
MAINLY = $(filter-out $(PASSED)/f32/%,$(SUITES)) $(PASSED)/f32/kern

## make learn-check the exercises and milestones, right and wrong
learn-check:
	@$(MAKE) --no-print-directory $(JOBS) learn-checked
learn-checked: $(TRAINED) $(CHECKED)
	@awk '{ wrong += $$(NF - 6) } \
	    END { print NR " exercises: " NR " solutions passed, " wrong " wrong answers refused" }' \
	    $(CHECKED)

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

## make sanitize    suites under the sanitizers: address, undefined, thread
# It skips tagged tests: sums of 100,000 terms and mutants of ops test numbers, and other tests run the same
# code. It runs only the scripts that generate, train and resume; SANITIZED=tested runs all pieces of make
# test. Some kernels spread addresses so widely that many sanitized programs die before main; fixed addresses
# help.
FIXED = $(shell setarch -R true 2>/dev/null && echo setarch -R)
ASAN = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED = $(MAINLY) $(addprefix $(PASSED)/tests/programs/,generate.sh resume.sh train.sh)
sanitized: $(SANITIZED)
sanitize: asan tsan
asan:
	@mkdir -p $(B)
	@echo 'int main(void) { return 0; }' > $(B)/empty.c
	@$(CC) $(ASAN) $(B)/empty.c -o $(B)/empty 2>/dev/null || \
	    { echo "sanitize: $(CC) has no AddressSanitizer on this system" >&2; exit 1; }
	ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=8 UBSAN_OPTIONS=print_stacktrace=1 \
	CK_TIMEOUT_MULTIPLIER=10 \
	    $(FIXED) $(MAKE) $(JOBS) B=$(B)/asan OPT='-O1 -g' SANITIZE='$(ASAN)' WITHOUT='long mutants' \
	    NEEDED='$(addprefix $(B)/asan/,train generate faults/train)' sanitized
tsan:
	$(MAKE) $(JOBS) B=$(B)/tsan OPT='-O1 -g' SANITIZE=-fsanitize=thread \
	    TESTS='$(HELPERS) tests/kern/test_threads.c' $(B)/tsan/f32/test
	@mkdir -p $(B)/tsan/passed
	CK_EXCLUDE_TAGS=long CK_TIMEOUT_MULTIPLIER=10 CK_TAP_LOG_FILE_NAME=$(B)/tsan/passed/threads \
	    $(FIXED) $(B)/tsan/f32/test threads

# Compiles the suites, the programs and the judges with clang, if clang is installed and is not $(CC).
CLANG = $(shell command -v clang >/dev/null && ! $(CC) --version | grep -q clang && echo clang)
clang:
	$(if $(CLANG),$(MAKE) $(JOBS) B=$(B)/clang OPT=-O1 CC=clang CXX=clang++ suites all \
	    $(B)/clang/learn.ready)
suites: headers $(MAINLY)

## make faults      the sweeps: each call fails in turn; damaged files (10 minutes)
# In the suite faults, make test tries every 29th call; make test-all tries every 13th, also in the programs.
FAULTS = $(sort $(wildcard tests/faults/*.sh))
faults: programs $(B)/f32/test
	$(B)/f64/test faults
	$(B)/f32/test faults
	@for script in $(FAULTS); do \
	    echo "sh $$script"; \
	    BUILD=$(B) sh $$script || { echo "$$script failed"; exit 1; }; \
	done

## make coverage    lines that the tests reach, and those that none does (gcc)
# Counts are kept per object, so the double and the float library add up; each library runs every suite once.
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

## make bench       speed of steps, and the peak; ARGS="--products bf16"
bench: $(patsubst %,$(B)/bench/%,step peak products)
	@for threads in 1 $(CORES); do \
	    echo "peak threads=$$threads gflops=`$(B)/bench/peak $$threads`"; \
	    for config in nano tiny small gpt2; do \
	        $(B)/bench/step --config $$config --threads $$threads $(ARGS) || exit 1; \
	    done; \
	done

# `make -j2 deps test` would start both at once: if deps is a goal, everything that uses Check or gnuplot
# waits for it.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
test check test-all test-rest train generate asan tsan faults coverage $(B)/check.compile: | deps
endif

TESTS_MADE = $(addprefix $(B)/,bench terminal port faults fuzz passed coverage asan tsan clang check.compile \
             check.link empty empty.c) \
             $(wildcard $(B)/*.test)
.PHONY: programs test check tested test-all test-rest rest-tested learn-check learn-checked lint headers \
        sanitize sanitized asan tsan clang suites faults coverage port bench
