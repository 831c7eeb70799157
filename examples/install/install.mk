# Installing: static and shared libraries of both precisions, headers, pkg-config files, the programs with
# their manual pages. PREFIX, DESTDIR, LIBDIR, INCLUDEDIR, BINDIR, MANDIR follow the GNU conventions, which
# write them in lower case; both are accepted.

prefix     = /usr/local
PREFIX     = $(prefix)
libdir     = $(PREFIX)/lib
LIBDIR     = $(libdir)
includedir = $(PREFIX)/include
INCLUDEDIR = $(includedir)
bindir     = $(PREFIX)/bin
BINDIR     = $(bindir)
mandir     = $(PREFIX)/share/man
MANDIR     = $(mandir)
INSTALL    = install

# The version is that of gradus.h: 100 is 0.1.0. The name of a shared library contains the part of the version
# that must agree: until 1.0 the first two numbers, from then on the first.
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
$(SO): $(call f32,$(filter-out $(CHECK),$(LIBRARY))) $(B)/sources
	$(call share,gradus)
$(SO64): $(call f64,$(LIBRARY)) $(B)/sources
	$(call share,gradus64)

# The paths in the pkg-config files begin with ${prefix}, so that --define-prefix works for a tree that was
# moved. Outside of /usr the system does not look for shared libraries: a program is linked with their place.
in_prefix = $(subst $(PREFIX)/,$${prefix}/,$(1))
comma = ,
define pc
prefix=$(PREFIX)
libdir=$(call in_prefix,$(LIBDIR))
includedir=$(call in_prefix,$(INCLUDEDIR))

Name: $(1)
Description: attention models in C, with every gradient shown ($(2) precision)
Version: $(VERSION)
Cflags: -I"$${includedir}" $(3)
Libs: -L"$${libdir}" -l$(1)$(if $(filter-out /usr /usr/,$(PREFIX)), -Wl$(comma)-rpath$(comma)"$${libdir}")
Libs.private: -lm -pthread
endef
export PC   = $(call pc,gradus,single,)
export PC64 = $(call pc,gradus64,double,-DGRADUS_DOUBLE)

INSTALLED = train generate look

# The folders, quoted for the shell.
sh_word = '$(subst ','\'',$(1))'
TO_LIB = $(call sh_word,$(DESTDIR)$(LIBDIR))
TO_PC  = $(call sh_word,$(DESTDIR)$(LIBDIR)/pkgconfig)
TO_H   = $(call sh_word,$(DESTDIR)$(INCLUDEDIR)/gradus)
TO_BIN = $(call sh_word,$(DESTDIR)$(BINDIR))
TO_MAN = $(call sh_word,$(DESTDIR)$(MANDIR)/man1)

# Programs and pkg-config use the paths from any folder.
define absolute
@case $(call sh_word,$($(1))) in /*) ;; *) \
    echo "make: $(1): got '"$(call sh_word,$($(1)))"', expected an absolute path, such as" \
        $(call sh_word,$(2)) >&2; \
    exit 1;; \
esac

endef
define check_places
$(call absolute,PREFIX,$$HOME/.local)
$(foreach place,LIBDIR INCLUDEDIR BINDIR MANDIR,$(call absolute,$(place),$(PREFIX)/$($(place))))
endef

## make install     libraries, headers, programs; PREFIX=/usr/local DESTDIR=
install: $(LIBRARIES) $(SO) $(SO64) $(addprefix $(B)/,$(INSTALLED))
	$(check_places)
	umask 022; for to in $(TO_LIB) $(TO_PC) $(TO_H) $(TO_BIN) $(TO_MAN); do \
	    mkdir -p "$$to" && [ -w "$$to" ] || { \
	        echo "make install: cannot write to $$to: be root, or choose another place," \
	            "such as PREFIX=\$$HOME/.local" >&2; \
	        exit 1; }; \
	done
	$(INSTALL) -m 644 $(LIBRARIES) $(TO_LIB)
	$(INSTALL) -m 755 $(SO) $(SO64) $(TO_LIB)
	cd $(TO_LIB) && for name in gradus gradus64; do \
	    ln -sf $(call shared_name,$$name,$(VERSION)) $(call shared_name,$$name,$(ABI)) && \
	    ln -sf $(call shared_name,$$name,$(ABI)) $(call shared_name,$$name,) || exit 1; \
	done
	printf '%s\n' "$$PC" > $(TO_PC)/gradus.pc
	printf '%s\n' "$$PC64" > $(TO_PC)/gradus64.pc
	$(INSTALL) -m 644 core/gradus.h core/op.h core/kernel.h $(TO_H)
	$(INSTALL) -m 644 layers/gpt.h $(TO_H)
	sed 's,"../core/gradus.h","gradus.h",' layers/layers.h > $(TO_H)/layers.h
	for name in $(INSTALLED); do \
	    $(INSTALL) -m 755 $(B)/$$name $(TO_BIN)/gradus-$$name && \
	    sh examples/install/manual.sh $(B)/$$name gradus-$$name $(VERSION) \
	        > $(TO_MAN)/gradus-$$name.1 && \
	    chmod 644 $(TO_MAN)/gradus-$$name.1 || exit 1; \
	done
	chmod 644 $(TO_PC)/gradus.pc $(TO_PC)/gradus64.pc $(TO_H)/layers.h
	@echo 'pkg-config finds gradus after: export PKG_CONFIG_PATH='$(call sh_word,$(LIBDIR)/pkgconfig)

# Also removes the folders that are then empty, below DESTDIR or else PREFIX; in a system's PREFIX, only
# gradus' own folders.
SYSTEM = $(filter / /usr /usr/ /usr/local /usr/local/,$(PREFIX))
TOP    = $(or $(DESTDIR),$(if $(SYSTEM),$(INCLUDEDIR),$(PREFIX)))
## make uninstall   removes them (with the same PREFIX)
uninstall:
	$(check_places)
	for name in gradus gradus64; do \
	    rm -f $(TO_LIB)/lib$$name.a $(TO_PC)/$$name.pc $(TO_LIB)/$(call shared_name,$$name,) \
	        $(TO_LIB)/$(call shared_name,$$name,$(ABI)) \
	        $(TO_LIB)/$(call shared_name,$$name,$(VERSION)) || exit 1; \
	done
	for name in $(INSTALLED); do rm -f $(TO_BIN)/gradus-$$name $(TO_MAN)/gradus-$$name.1 || exit 1; done
	rm -f $(addprefix $(TO_H)/,gradus.h op.h kernel.h layers.h gpt.h)
	top=$(call sh_word,$(TOP)); for dir in $(TO_PC) $(TO_H) $(TO_BIN) $(TO_MAN); do \
	    while [ "$${dir#"$$top"/}" != "$$dir" ] && \
	        { rmdir "$$dir" 2>/dev/null || [ ! -e "$$dir" ]; }; do \
	        dir=$${dir%/*}; \
	    done; \
	done

.PHONY: install uninstall
