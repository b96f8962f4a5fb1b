# SPDX-License-Identifier: GPL-2.0
# A C library with SFrame, part of Makefile. The sum in the tarball's name makes
# another source another directory.
MUSL := $(DEST)/musl
MUSL_SRC := $(DEST)/src-$(firstword $(subst -, ,$(notdir $(MUSL_TARBALL))))

# musl has call frame information for its assembler files, made by a script: for
# debuggers only, which is .debug_frame. It has none for its first instruction, where
# a walk has to learn that there is no caller.
$(MUSL_SRC)/unpacked: $(MUSL_TARBALL) musl.mk
	rm -rf $(MUSL_SRC)
	mkdir -p $(MUSL_SRC)
	tar -C $(MUSL_SRC) --strip-components=1 --no-same-owner -xf $<
	sed -i 's/\.cfi_sections \.debug_frame/.cfi_sections .eh_frame, .sframe/' \
		$(MUSL_SRC)/tools/add-cfi.x86_64.awk
	grep -q '\.cfi_sections \.eh_frame, \.sframe' $(MUSL_SRC)/tools/add-cfi.x86_64.awk
	sed -i -e 's/^START ": \\n"$$/START ": \\n.cfi_startproc\\n.cfi_undefined rip\\n"/' \
		-e 's/^"\tcall " START "_c \\n"$$/"\tcall " START "_c\\n.cfi_endproc\\n"/' \
		$(MUSL_SRC)/arch/x86_64/crt_arch.h
	grep -c 'cfi_startproc\|cfi_endproc' $(MUSL_SRC)/arch/x86_64/crt_arch.h | grep -qx 2
	touch $@

SFRAME := -fasynchronous-unwind-tables -Wa,--gsframe-3
$(MUSL)/built: $(MUSL_SRC)/unpacked
	rm -rf $(MUSL)
	cd $(MUSL_SRC) && CC=$(CC) CFLAGS='-O2 -g0 -fomit-frame-pointer $(SFRAME)' \
		LDFLAGS='-Wl,--build-id=sha1' \
		./configure --disable-wrapper --prefix=$(MUSL) --syslibdir=$(MUSL)/lib
	$(MAKE) -C $(MUSL_SRC) ADD_CFI=yes
	$(MAKE) -C $(MUSL_SRC) ADD_CFI=yes install
	touch $@
