# The part of the Makefile for Windows: `make CC=x86_64-w64-mingw32-gcc` on another system, or make in a shell
# of MSYS2. The linker adds .exe to the names of programs.

WINDOWS_CC   = $(if $(WINDOWS),$(CC),x86_64-w64-mingw32-gcc)
WINDOWS_ZIP  = $(B)/gradus-windows
WINDOWS_MADE = $(addprefix $(B)/,windows utf8.o gradus-windows gradus-windows.zip) \
               $(patsubst %,%.exe,$(PROGRAMS) $(B)/look)

ifneq ($(WINDOWS),)
ifneq ($(filter learn exercise milestone grade,$(MAKECMDGOALS)),)
$(error on Windows the exercises need WSL, where gradus is as on Linux: each answer runs in a process)
endif
$(PROGRAMS) $(LESSONS) $(B)/look: $(B)/utf8.o
$(B)/utf8.o: examples/windows/utf8.rc
	@mkdir -p $(@D)
	$(Q)$(if $(findstring gcc,$(CC)),$(CC:%gcc=%windres),windres) $< $@
endif

## make windows-zip a zip for Windows: build/gradus-windows.zip
windows-zip: $(B)/page.html
	@$(MAKE) --no-print-directory B=$(B)/windows CC=$(WINDOWS_CC)
	@rm -rf $(WINDOWS_ZIP) $(WINDOWS_ZIP).zip
	@mkdir -p $(WINDOWS_ZIP)/lessons
	@cp $(PROGRAMS:$(B)/%=$(B)/windows/%.exe) $(B)/windows/look.exe $(B)/page.html LICENSE $(WINDOWS_ZIP)
	@cp $(filter-out $(FORKING),$(LESSON)) $(WINDOWS_ZIP)/lessons
	@cp $(patsubst %.c,$(B)/windows/%.exe,$(filter-out $(FORKING),$(LESSON))) $(WINDOWS_ZIP)/lessons
	@cp README.md $(WINDOWS_ZIP)/gradus.md
	@cp examples/windows/README.txt $(WINDOWS_ZIP)
	@cd $(B) && zip -qr gradus-windows.zip gradus-windows && echo "$(WINDOWS_ZIP).zip"
.PHONY: windows-zip
