# SPDX-License-Identifier: GPL-2.0
# The kernel's own files, and headers for them: two are the tree's, all others are shim.h.
# For makefiles that set KSRC, OUT and decoder; INCLUDE is for the compiler.
INCLUDE := -I$(OUT)/include -I$(decoder)/include
# The series can be applied without its topic arm64.
ifneq ($(shell grep -s UNWIND_TABLE_AARCH64 $(KSRC)/include/linux/unwind_table.h),)
INCLUDE += -DHAVE_AARCH64
endif
kernel-src := $(addprefix $(KSRC)/kernel/unwind/,table.c sframe.c eh_frame.c)
shims := $(addprefix $(OUT)/include/,kunit/visibility.h linux/sched/signal.h \
	 $(addsuffix .h,$(addprefix linux/,bitops bits err export hash minmax nospec overflow prandom \
	 random sched siphash sizes slab string types unaligned)))
tree-headers := $(OUT)/include/linux/unwind_table.h
kernel-headers := $(tree-headers) $(wildcard $(KSRC)/kernel/unwind/*.h) $(shims) \
		  $(wildcard $(decoder)/include/*.h)

$(shims):
	@mkdir -p $(dir $@)
	echo '#include <shim.h>' >$@

$(tree-headers): $(OUT)/include/%: $(KSRC)/include/%
	@mkdir -p $(dir $@)
	ln -sf $(abspath $<) $@
