# SPDX-License-Identifier: GPL-2.0
# Headers for the kernel's own files: linux/sframe.h is the tree's, all others are shim.h.
# For makefiles that set KSRC, OUT and decoder; INCLUDE is for the compiler.
INCLUDE := -I$(OUT)/include -I$(decoder)/include
shims := $(addprefix $(OUT)/include/,kunit/visibility.h linux/sched/signal.h \
	 $(addsuffix .h,$(addprefix linux/,bitops bits bsearch err hash math minmax mm module \
	 nospec overflow prandom random sched siphash sizes slab string types unaligned vmalloc)))
kernel-headers := $(OUT)/include/linux/sframe.h $(shims) $(wildcard $(decoder)/include/*.h $(decoder)/include/*/*.h)

$(shims):
	@mkdir -p $(dir $@)
	echo '#include <shim.h>' >$@

$(OUT)/include/linux/sframe.h: $(KSRC)/include/linux/sframe.h
	@mkdir -p $(dir $@)
	ln -sf $(abspath $<) $@
