# The part of the Makefile for build/look (look_main.c here), into which the page's sources are compiled.

LOOK := $(sort $(wildcard examples/look/*.c))
PAGE := $(addprefix examples/look/,embed.sh page.html parts.css page.css \
          numbers.js tape.js graph.js node.js chain.js heads.js plot.js curve.js start.js)

$(B)/look: $(call f32,$(LOOK)) $(B)/f32/look_page.o $(call f32,$(SHARED)) $(B)/libgradus.a
	$(link)
$(B)/f32/look_page.o: $(B)/look_page.c $(B)/flags
	$(compile)
$(B)/look_page.c: $(PAGE) $(sort $(wildcard core/ops/*.c))
	@mkdir -p $(@D)
	@sh $< examples/look > $@

## make look        shows a trained model as a page; flags: ARGS="--prompt TEXT"
look: $(B)/look
	$(B)/look $(ARGS)
.PHONY: look
