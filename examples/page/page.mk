# The part of the Makefile for build/page.html: gradus compiled to WebAssembly, twice, in a page of one file.

WASM_CC    = clang
WASM_FLAGS = --target=wasm32-wasi -std=c11 $(WASM_OPT) -msimd128 -ffp-contract=fast -fno-math-errno \
             -fno-trapping-math -D_POSIX_C_SOURCE=200809L -I. -ffunction-sections -fdata-sections \
             -fvisibility=hidden -Wall -Wextra $(ERROR)

# With -O here, clang would run wasm-opt, if that is installed, without SIMD. The stack is below the data, so
# that an overflow traps instead of overwriting data.
WASM_LINK  = $(WASM_CC) --target=wasm32-wasi -mexec-model=reactor \
             -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=262144,--export=malloc,--export=free

# Kernels, ops and optimisers are compiled for speed, the rest for size; one kernel is only there for tests.
WASM_OPT   = -Os
$(B)/wasm32/core/kern/%.o $(B)/wasm32/core/ops/%.o $(B)/wasm32/core/optim/%.o: WASM_OPT = -O3
$(B)/wasm32/core/kern/gemm_bf16_emulated.o: WASM_OPT = -Oz

PAGE_CORE  := $(filter-out core/files/%,$(LIBRARY))
PAGE_LOOK  := $(wildcard $(patsubst %,examples/look/%.c,chain look values) examples/lib/json_out.c)
PAGE_F64   := $(PAGE_CORE) $(PAGE_LOOK) $(wildcard examples/page/expression*.c)

# No file is read or written: memory_file.c has one in memory, and takes the place of infile.c and outfile.c.
PAGE_FILES := $(patsubst %,core/files/%.c,dtype json safetensors state_dict)
PAGE_LIB   := $(patsubst %,examples/lib/%.c,batch flags lines optimizer options row sample step tokens \
              training validation) $(sort $(wildcard examples/lib/tokenizer/*.c))
PAGE_F32   := $(filter-out $(CHECK),$(PAGE_CORE)) $(PAGE_FILES) $(PAGE_LOOK) examples/look/look_model.c \
              $(PAGE_LIB) $(filter-out examples/page/expression%,$(wildcard examples/page/*.c))

page-sources:                                           # for tests/build/wasm.sh
	@echo $(PAGE_F32)
.PHONY: page-sources

wasm = $(patsubst %.c,$(B)/wasm$(1)/%.o,$(2)) $(B)/wasm$(1)/look_page.o
$(B)/page_f32.wasm: $(call wasm,32,$(PAGE_F32))
	$(wasm_link)
$(B)/page_f64.wasm: $(call wasm,64,$(PAGE_F64))
	$(wasm_link)
$(B)/wasm32/look_page.o $(B)/wasm64/look_page.o: $(B)/wasm%/look_page.o: $(B)/look_page.c $(B)/wasm.flags
	$(wasm_compile)
$(B)/wasm32/%.o: %.c $(B)/wasm.flags
	$(wasm_compile)
$(B)/wasm64/%.o: %.c $(B)/wasm.flags
	$(wasm_compile)
$(B)/wasm64/%.o: ERROR += -DGRADUS_DOUBLE
define wasm_compile
@mkdir -p $(@D)
$(if $(V),,@echo "cc  $@")
$(Q)$(WASM_CC) $(WASM_FLAGS) -MMD -MP -c $< -o $@
endef
define wasm_link
$(if $(V),,@echo "ld  $@")
$(Q)$(WASM_LINK) -o $@ $(filter %.o,$^) -lm
endef
$(B)/wasm.flags: always
	@[ -f $@ ] || CC=$(call quote,$(WASM_CC)) sh tests/build/tools/wasm || { \
	    echo 'page: clang cannot compile for wasm32-wasi: `make deps page` installs what it needs' >&2; \
	    exit 1; }
	$(call write_if_changed,$(WASM_CC) $(WASM_FLAGS))
-include $(shell find $(B)/wasm32 $(B)/wasm64 -name '*.d' 2>/dev/null)

PAGE_PARTS := $(addprefix examples/look/,numbers.js tape.js graph.js chain.js node.js heads.js plot.js \
                curve.js parts.css page.html) \
              $(wildcard examples/page/*.js examples/page/*.css examples/page/*.html)

## make page        gradus in a browser: build/page.html; `make deps page` first
page: $(B)/page.html
	@echo "$(B)/page.html: open it in a browser, or send it on"
$(B)/page.html: examples/page/assemble.sh $(PAGE_PARTS) $(B)/page_f32.wasm $(B)/page_f64.wasm | cut
	@sh examples/page/assemble.sh $(B) > $@
.PHONY: page
