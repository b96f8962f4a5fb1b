# SPDX-License-Identifier: GPL-2.0
# For makefiles that set KSRC, OUT, decoder and programs: the kernel's own files, with headers
# that are the tree's (include/linux/unwind_table.h, tools/include) or shim.h. A program has
# sources-NAME, flags-NAME, libs-NAME and compiler-NAME.
KSRC ?= $(error KSRC= has to name the kernel tree)
OUT ?= build
# The kernel's own code compares signs freely and has unused parameters.
CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -Wno-sign-compare \
	  -Wno-unused-parameter -Wno-missing-field-initializers
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
INCLUDE := -I$(OUT)/include -I$(decoder)/include -I$(decoder) -I$(KSRC)/tools/include
# The series can be applied without its topic arm64.
ifneq ($(shell grep -s UNWIND_TABLE_AARCH64 $(KSRC)/include/linux/unwind_table.h),)
INCLUDE += -DHAVE_AARCH64
endif
kernel-src := $(wildcard $(addprefix $(KSRC)/kernel/unwind/,\
		table.c builder.c sframe.c dwarf.c cfi.c eh_frame.c))
shims := kunit/visibility $(addprefix linux/,bitops export minmax nospec prandom random sched \
	 sched/signal siphash slab)
# All anew if the list changes: a header that is not in it any more would hide the tree's.
made := $(OUT)/include/made
headers := $(made) $(KSRC)/include/linux/unwind_table.h $(wildcard $(KSRC)/kernel/unwind/*.h) \
	   $(wildcard $(decoder)/include/*.h $(decoder)/*.h $(here)/*.h)

all:

$(made): $(decoder)/kernel.mk
	rm -rf $(@D)
	mkdir -p $(@D)/kunit $(@D)/linux/sched
	for name in $(shims); do echo '#include <shim.h>' >$(@D)/$$name.h || exit 1; done
	ln -s $(abspath $(KSRC))/include/linux/unwind_table.h $(@D)/linux/
	touch $@

# objects PROGRAM SOURCES
objects = $(patsubst %.c,$(OUT)/$(1).d/%.o,$(notdir $(2)))

# object PROGRAM SOURCE
define object
$(call objects,$(1),$(2)): $(2) $(headers)
	@mkdir -p $$(dir $$@)
	$(or $(compiler-$(1)),gcc) $$(CFLAGS) $(flags-$(1)) $$(extra) $$(INCLUDE) -c $$< -o $$@

endef

define program
$(foreach s,$(sources-$(1)),$(call object,$(1),$(s)))
$(OUT)/$(1): $(call objects,$(1),$(sources-$(1)))
	$(or $(compiler-$(1)),gcc) $(flags-$(1)) $$^ $(libs-$(1)) -o $$@

endef

$(foreach p,$(programs),$(eval $(call program,$(p))))

.DELETE_ON_ERROR:
