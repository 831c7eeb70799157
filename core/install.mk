# Installing: static and shared libraries of both precisions, headers, pkg-config files, the programs with their
# manual pages. PREFIX, DESTDIR, LIBDIR, INCLUDEDIR, BINDIR, MANDIR are the GNU conventions' ones.

PREFIX     = /usr/local
LIBDIR     = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
BINDIR     = $(PREFIX)/bin
MANDIR     = $(PREFIX)/share/man
INSTALL    = install

# The version is gradus.h's: 100 is 0.1.0. A shared library bears in its name what must agree: until 1.0 the first two
# numbers, from then on the first.
NUMBER  := $(shell sed -n 's/^.define GRADUS_VERSION *\([0-9]*\).*/\1/p' core/gradus.h)
VERSION := $(shell echo $$(($(NUMBER) / 10000)).$$(($(NUMBER) / 100 % 100)).$$(($(NUMBER) % 100)))
ABI     := $(shell echo $(VERSION) | sed 's/^\(0\.[0-9]*\).*/\1/; s/^\([1-9][0-9]*\)\..*/\1/')

ifeq ($(findstring darwin,$(MACHINE)),)
shared_name = lib$(1).so$(2:%=.%)
SHARE       = $(CC) -shared -Wl,-soname,$(call shared_name,$(1),$(ABI))
else
shared_name = lib$(1)$(2:%=.%).dylib
SHARE       = $(CC) -dynamiclib -install_name $(LIBDIR)/$(call shared_name,$(1),$(ABI))
endif
define share
$(if $(V),,@echo "ld  $@")
$(Q)$(call SHARE,$(1)) $(SANITIZE) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -pthread -lm
endef
SO   = $(B)/$(call shared_name,gradus,$(VERSION))
SO64 = $(B)/$(call shared_name,gradus64,$(VERSION))
$(SO): $(call f32,$(filter-out core/check/%,$(LIBRARY))) $(B)/sources
	$(call share,gradus)
$(SO64): $(call f64,$(LIBRARY)) $(B)/sources
	$(call share,gradus64)

# Where they will be, for those who look by pkg-config.
define pc
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$(INCLUDEDIR)

Name: $(1)
Description: attention models in C, with every gradient shown ($(2) precision)
Version: $(VERSION)
Cflags: -I$${includedir} $(3)
Libs: -L$${libdir} -l$(1)
Libs.private: -lm -pthread
endef
export PC   = $(call pc,gradus,single,)
export PC64 = $(call pc,gradus64,double,-DGRADUS_DOUBLE)

INSTALLED = train generate look
TO_LIB = $(DESTDIR)$(LIBDIR)
TO_PC  = $(DESTDIR)$(LIBDIR)/pkgconfig
TO_H   = $(DESTDIR)$(INCLUDEDIR)/gradus
TO_BIN = $(DESTDIR)$(BINDIR)
TO_MAN = $(DESTDIR)$(MANDIR)/man1

## make install     libraries, headers, programs; PREFIX=/usr/local DESTDIR=
install: $(LIBRARIES) $(SO) $(SO64) $(addprefix $(B)/,$(INSTALLED))
	$(INSTALL) -d "$(TO_PC)" "$(TO_H)" "$(TO_BIN)" "$(TO_MAN)"
	$(INSTALL) -m 644 $(LIBRARIES) "$(TO_LIB)"
	$(INSTALL) -m 755 $(SO) $(SO64) "$(TO_LIB)"
	for name in gradus gradus64; do \
	    ln -sf $(call shared_name,$$name,$(VERSION)) "$(TO_LIB)/$(call shared_name,$$name,$(ABI))"; \
	    ln -sf $(call shared_name,$$name,$(ABI)) "$(TO_LIB)/$(call shared_name,$$name,)"; \
	done
	printf '%s\n' "$$PC" > "$(TO_PC)/gradus.pc"
	printf '%s\n' "$$PC64" > "$(TO_PC)/gradus64.pc"
	$(INSTALL) -m 644 core/gradus.h core/op.h "$(TO_H)"
	sed 's,"../core/gradus.h","gradus.h",' layers/layers.h > "$(TO_H)/layers.h"
	for name in $(INSTALLED); do \
	    $(INSTALL) -m 755 $(B)/$$name "$(TO_BIN)/gradus-$$name" && \
	    sh examples/manual.sh $(B)/$$name gradus-$$name $(VERSION) > "$(TO_MAN)/gradus-$$name.1" || exit 1; \
	done

## make uninstall   removes them (with the same PREFIX)
uninstall:
	for name in gradus gradus64; do \
	    rm -f "$(TO_LIB)/lib$$name.a" "$(TO_PC)/$$name.pc" "$(TO_LIB)/$(call shared_name,$$name,)" \
	        "$(TO_LIB)/$(call shared_name,$$name,$(ABI))" "$(TO_LIB)/$(call shared_name,$$name,$(VERSION))"; \
	done
	for name in $(INSTALLED); do rm -f "$(TO_BIN)/gradus-$$name" "$(TO_MAN)/gradus-$$name.1"; done
	rm -f "$(TO_H)/gradus.h" "$(TO_H)/op.h" "$(TO_H)/layers.h"
	rmdir "$(TO_H)" 2>/dev/null || :
	[ -z "$(DESTDIR)" ] || find "$(DESTDIR)" -depth -type d -exec rmdir {} \; 2>/dev/null || :

.PHONY: install uninstall
