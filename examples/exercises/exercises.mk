# The part of the Makefile that is about the exercises (README.md here): the judges, and the targets.

# The start file and the solution of each exercise are cut from source/, which a handout does not have.
SOURCE   := $(sort $(wildcard examples/exercises/source/*.c))
EXERCISE := $(notdir $(basename $(or $(SOURCE),$(sort $(wildcard examples/exercises/start/*.c)))))
CUT      := $(subst /source/,/start/,$(SOURCE)) $(subst /source/,/solutions/,$(SOURCE))
RUNNER   := $(sort $(wildcard examples/exercises/runner/*.c))
JUDGE     = judge comparison answer formula sentences rules search
judges    = $(B)/learn $(B)/exercises/compile \
            $(call f64,$(patsubst %,examples/exercises/judge/%.c,$(JUDGE) $(1)))
learner   = $(call f64,$(RUNNER) $(patsubst %,examples/lib/%.c,begin files json_out message))

$(B)/learn: $(learner) $(B)/libgradus64.a | cut
	$(link)
examples/exercises/start/%.c examples/exercises/solutions/%.c: examples/exercises/source/%.c \
        examples/exercises/cut.awk
	@mkdir -p examples/exercises/start examples/exercises/solutions
	@for of in start solutions; do \
	    awk -v of=$$of -f examples/exercises/cut.awk $< > examples/exercises/$$of/$(@F) || exit 1; \
	done
cut: $(CUT)
$(B)/exercises/compile: examples/exercises/compile.sh $(B)/flags $(B)/libgradus64.a \
        $(call f64,$(patsubst %,examples/exercises/judge/%.c,$(JUDGE))) \
        examples/exercises/exercises.h
	@mkdir -p $(@D)
	@CC=$(call quote,$(CC) $(SANITIZE) $(CFLAGS) $(LDFLAGS)) sh $< $(B) > $@
$(B)/learn.ready: $(call judges,$(EXERCISE))
	@touch $@

# Judges compute in double, but INFINITY and NAN are floats: clang would warn. Judges are small programs,
# which take longer to compile than to run.
$(call f64,$(wildcard examples/exercises/judge/*.c)): OWN = -Wno-double-promotion -O1

## make learn       the exercises, 5 to 30 minutes each, judged at each save
learn: $(B)/learn.ready
	@$(B)/learn $(ARGS)

## make exercise N=07            judges one, once; FILE=other.c, ARGS=--json
# What make itself says goes to stderr: stdout has only the judgement. N may be 7, 07, relu or 07_relu.
ASKED = $(if $(N),$(filter $(N) $(N)_% 0$(N)_% %_$(N),$(EXERCISE)),$(EXERCISE))
exercise:
	@$(MAKE) --no-print-directory judges-asked >&2
	@$(B)/learn $(ARGS) $(N) $(if $(FILE),$(call quote,$(FILE))) </dev/null
judges-asked: $(call judges,$(ASKED))

## make milestone N=1            trains what you wrote: after exercise 04, 13, 24
milestone:
	@$(MAKE) --no-print-directory milestones-ready >&2
	@$(WITH_CC) sh examples/exercises/milestones/run.sh $(B) $(call quote,$(N)) $(call quote,$(DIR))
milestones-ready: $(B)/learn.ready $(call f64,$(wildcard examples/exercises/milestones/*.c))
WITH_CC = CC=$(call quote,$(CC) $(SANITIZE) $(CFLAGS) $(LDFLAGS))

## make handout DIR=class        a folder for students, without solutions
handout: cut
	@sh examples/exercises/handout.sh $(call quote,$(DIR)) $(HINTS)

## make grade DIR=class          a class as a table; ONLY="08 09", ARGS=--json
grade:
	@$(MAKE) --no-print-directory $(B)/learn.ready >&2
	@$(B)/learn $(ARGS) --grade $(call quote,$(DIR)) $(if $(ONLY),--only $(call quote,$(ONLY)))

.PHONY: learn cut exercise judges-asked milestone milestones-ready handout grade
