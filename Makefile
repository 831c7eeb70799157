# gradus. `make help` lists the targets. This file requires GNU make 3.81 and a POSIX sh.
#
# A new source file in core/, layers/, examples/ or tests/ needs no line here. tests/tests.mk has the tests.
#
#   CC=clang            another compiler            WERROR=1  warnings are errors
#   CFLAGS=... LDFLAGS=...  added to the flags      B=folder  build there, not in build/
#   OPT=-O0             instead of -O3              V=1       show whole commands
#
# Run only one make at a time in a folder B: two would write the same files at once.

B   = build
OPT = -O3
V   =
OWN =
SANITIZE =

# None of these flags is required: -D is for the programs, -W are warnings, -fPIC is for the shared libraries,
# and -fno-semantic-interposition keeps -fPIC from costing speed. The first three of the other -f flags make
# the code faster, the rest are for the archives (see below). Three warnings are always errors: calling a
# function that is undeclared, or of another type, crashes.
FLAGS = -std=c11 $(OPT) -fPIC -fno-semantic-interposition -ffp-contract=fast -fno-math-errno \
        -fno-trapping-math \
        -D_POSIX_C_SOURCE=200809L -pthread -I. -fvisibility=hidden -ffunction-sections -fdata-sections \
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wno-enum-float-conversion \
        -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror=implicit-function-declaration \
        -Werror=incompatible-pointer-types -Werror=int-conversion $(ERROR) $(SANITIZE) \
        $(if $(WINDOWS),-Wno-float-conversion)
ERROR = $(if $(filter-out 0,$(WERROR)),-Werror)
MACHINE := $(shell $(CC) -dumpmachine)
WINDOWS := $(findstring -w64-,$(MACHINE))
LINK  = $(CC) -pthread $(if $(WINDOWS),-static) $(OPT) $(SANITIZE) $(CFLAGS) $(LDFLAGS)

# ---- what is made from what ---------------------------------------------------------------------
# build/f32 and build/f64 hold the objects of the float and of the double library.

LIBRARY  := $(sort $(wildcard core/*/*.c layers/*.c))
SHARED   := $(sort $(wildcard examples/lib/*.c examples/lib/*/*.c examples/import/*.c)) core/machine/limits.c
LESSON   := $(sort $(wildcard examples/[0-9]*.c))
PROGRAM  := $(filter-out $(LESSON),$(sort $(wildcard examples/*.c)))
NOTEBOOK := $(sort $(wildcard examples/notebooks/*.c))
READER   := $(sort $(wildcard examples/notebooks/lib/*.c))

# The gradient check requires double precision.
CHECK = core/check/% core/explain/%

# These lessons check gradients or compute like Python, so they are built in double precision.
LESSON64 := $(filter examples/02_% examples/04_% examples/06_% examples/08_%,$(LESSON))
LESSON32 := $(filter-out $(LESSON64),$(LESSON))

# This program reproduces a NumPy notebook, which computes in float64 and prints eight digits.
NOTEBOOK32 := $(filter-out examples/notebooks/udl_multihead.c,$(NOTEBOOK))

f32 = $(patsubst %.c,$(B)/f32/%.o,$(1))
f64 = $(patsubst %.c,$(B)/f64/%.o,$(1))

LIBRARIES = $(B)/libgradus.a $(B)/libgradus64.a
PROGRAMS  = $(PROGRAM:examples/%.c=$(B)/%)
FORKING   = examples/10_compute_again.c                # as Windows cannot
LESSONS   = $(patsubst %.c,$(B)/%,$(if $(WINDOWS),$(filter-out $(FORKING),$(LESSON)),$(LESSON)))
NOTEBOOKS = $(NOTEBOOK32:examples/notebooks/%.c=$(B)/notebooks/%) \
            $(NOTEBOOK:examples/notebooks/%.c=$(B)/notebooks64/%)

## make             both libraries, the programs and the lessons, in build/
all: ready

# One make builds what these goals need. Without -j it runs as many jobs as there are cores, and from make 4.0
# on it prints each job's output in one piece.
need_all       = $(LIBRARIES) $(PROGRAMS) $(LESSONS) $(if $(WINDOWS),,$(B)/learn) $(B)/look
need_train     = $(B)/train $(B)/generate
need_generate  = $(B)/generate
need_notebooks = $(NOTEBOOKS)
NEED     = $(strip $(foreach goal,$(or $(MAKECMDGOALS),all),$(need_$(goal))))
CORES    = $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
TOGETHER = $(if $(filter output-sync,$(.FEATURES)),-Otarget)
JOBS     = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(CORES) $(TOGETHER))
ready:
	$(if $(NEED),@$(MAKE) --no-print-directory $(JOBS) $(filter deps,$(MAKECMDGOALS)) built \
	    BUILT='$(NEED)' PACKAGES='$(PACKAGES)')
built: $(BUILT)
	@:

$(B)/libgradus.a:   $(call f32,$(filter-out $(CHECK),$(LIBRARY))) $(B)/sources
	$(archive)
$(B)/libgradus64.a: $(call f64,$(LIBRARY)) $(B)/sources
	$(archive)

$(PROGRAMS): $(B)/%: $(B)/f32/examples/%.o $(call f32,$(SHARED)) $(B)/libgradus.a
	$(link)
$(LESSON32:%.c=$(B)/%): $(B)/%: $(B)/f32/%.o $(B)/libgradus.a
	$(link)
$(LESSON64:%.c=$(B)/%): $(B)/%: $(B)/f64/%.o $(B)/libgradus64.a
	$(link)
$(B)/notebooks/%: $(B)/f32/examples/notebooks/%.o $(call f32,$(READER)) $(B)/libgradus.a
	$(link)
$(B)/notebooks64/%: $(B)/f64/examples/notebooks/%.o $(call f64,$(READER)) $(B)/libgradus64.a
	$(link)

$(B)/f32/%.o: %.c $(B)/flags
	$(compile)
$(B)/f64/%.o: %.c $(B)/flags
	$(compile) -DGRADUS_DOUBLE

# Each command prints a short line, or with V=1 the command itself.
Q = $(if $(V),,@)
define compile
@mkdir -p $(@D)
$(if $(V),,@echo "cc  $@")
$(Q)$(CC) $(FLAGS) $(OWN) $(CFLAGS) -MMD -MP -c $< -o $@
endef

# An archive exports only the names that the public headers declare: its objects are linked into one object,
# in which hidden names are made local. Without objcopy (macOS), or if nothing is hidden (Windows), the
# archive contains the objects unchanged. --unique keeps the sections of functions separate: a program linked
# with -Wl,--gc-sections contains only the functions that it uses. --force-group-allocation keeps our copies
# of helpers that the compiler puts into every object (on 32-bit x86, to find the program counter): the
# program's copies have other names.
OBJCOPY := $(strip $(if $(WINDOWS)$(findstring darwin,$(MACHINE)),, \
                   $(shell command -v `$(CC) -print-prog-name=objcopy`)))
MERGE   = $(CC) $(CFLAGS) -r -nostdlib -Wl,--unique,--force-group-allocation
define archive
$(if $(V),,@echo "ar  $@")
@rm -f $@
$(if $(OBJCOPY),$(Q)$(MERGE) -o $(@:.a=.o) $(filter %.o,$^) && $(OBJCOPY) --localize-hidden $(@:.a=.o))
$(Q)$(AR) rcs $@ $(if $(OBJCOPY),$(@:.a=.o),$(filter %.o,$^))
@rm -f $(@:.a=.o)
endef
define link
@mkdir -p $(@D)
$(if $(V),,@echo "ld  $@")
$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lm
endef

# These two files contain the compiler with its flags, and the list of the library's sources. They are written
# only when their contents change. Then make builds all objects, or the libraries, again.
$(B)/flags: always
	$(call write_if_changed,$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS))
$(B)/sources: always
	$(call write_if_changed,$(LIBRARY))
write_if_changed = @mkdir -p $(B); [ "`cat $@ 2>/dev/null`" = $(call quote,$(1)) ] || \
                   printf '%s\n' $(call quote,$(1)) > $@
quote = '$(subst ','\'',$(strip $(1)))'

# The headers that each object depends on, written by the compiler (-MMD).
-include $(shell find $(B)/f32 $(B)/f64 -name '*.d' 2>/dev/null)

# ---- targets ------------------------------------------------------------------------------------

## make deps        installs Check (for tests) and gnuplot (for plots) if missing
# For `make deps train` it installs only gnuplot; for `make deps page`, what WebAssembly needs.
PACKAGES = Check gnuplot
ifeq ($(filter-out deps,$(MAKECMDGOALS)),train)
PACKAGES = gnuplot
endif
ifeq ($(filter-out deps,$(MAKECMDGOALS)),page)
PACKAGES = WebAssembly
endif
# The tools are installed while `ready` compiles.
deps: ready
	@CC=$(call quote,$(CC) $(CFLAGS)) WASM_CC=$(call quote,$(WASM_CC)) \
	    sh tests/build/tools/deps $(PACKAGES)

## make train       trains a small model, plots its loss; flags: ARGS="--steps 200"
train: ready
	$(B)/train $(ARGS)

## make generate    writes text with a trained model; flags: ARGS="--prompt TEXT"
generate: ready
	$(B)/generate $(ARGS)

## make mpi         trains on several processes by MPI; RANKS=2
RANKS = 2
MPICC = mpicc
MPIRUN = mpirun
mpi: $(B)/train-mpi
	@MPIRUN='$(MPIRUN)' sh examples/mpi/run.sh $(RANKS) $(B)/train-mpi $(ARGS)
$(B)/train-mpi $(B)/faults/train-mpi: examples/mpi/train_mpi.c $(call f32,$(SHARED)) $(B)/libgradus.a
	@mkdir -p $(@D)
	@command -v $(MPICC) >/dev/null || { \
	    echo 'mpi: there is no $(MPICC): install Open MPI or MPICH, or give MPICC=...' >&2; exit 1; }
	$(if $(V),,@echo "ld  $@")
	$(Q)$(MPICC) -std=c11 $(OPT) -Wall -Wextra $(ERROR) -D_POSIX_C_SOURCE=200809L -I. $(SANITIZE) \
	    $(CFLAGS) $(LDFLAGS) -pthread $(filter %.c %.o %.a,$^) $(OWN_LD) -lm -o $@

## make notebooks   reproduces the numbers of five attention notebooks
notebooks: ready
	@sh examples/notebooks/run.sh $(NOTEBOOKS)

## make new-op NAME=softsign     starts an op; or new-layer, -optimizer, -exercise
# NAME is not taken from the environment, in which some systems keep the computer's name.
new-optimiser: new-optimizer
given = $(call quote,$(if $(filter command,$(origin $(1))),$($(1))))
new-op new-layer new-optimizer new-exercise:
	@CC=$(call quote,$(CC)) NAME=$(call given,NAME) INPUTS=$(call given,INPUTS) \
	    sh examples/templates/new.sh $(@:new-%=%)

include examples/install/install.mk
include examples/exercises/exercises.mk
include examples/look/look.mk
include examples/page/page.mk
include examples/windows/windows.mk
-include tests/tests.mk                                # a handout has no tests

## make clean       removes what was built, but no trained models
# It removes files by name: anything else in $(B), such as a run or a model, is the user's.
MADE = $(LIBRARIES) $(SO) $(SO64) $(PROGRAMS) $(TESTS_MADE) $(WINDOWS_MADE) \
       $(addprefix $(B)/,train-mpi learn learn.ready look look_page.c exercises f32 f64 examples \
       notebooks notebooks64 flags sources page.html page_f32.wasm page_f64.wasm wasm32 wasm64 wasm.flags)
clean:
	rm -rf $(MADE)
	@rmdir $(B) 2>/dev/null || [ ! -d $(B) ] || echo "left in $(B):" `ls $(B)`

## make help        this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

always:
.PHONY: all ready built deps train generate mpi notebooks clean help always
.PHONY: new-op new-layer new-optimizer new-optimiser new-exercise
.SECONDARY:
.DELETE_ON_ERROR:
.SUFFIXES:
