// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "jit/kernel.h"
#include "jit.skel.h"
#include "util/util.h"

#define UNLOAD	"_ZN7nmethod27post_compiled_method_unloadEv"

static __u64 unload_cookie(const struct hotspot *vm)
{
	const __s64 *f = vm->fields;

	if (f[FIELD_CODE_OFFSET] >= 0)
		return JIT_UNLOAD_OFFSETS | f[FIELD_DATA_OFFSET] << 16 | f[FIELD_CODE_OFFSET];
	return f[FIELD_CODE_END] << 16 | f[FIELD_CODE_BEGIN];
}

/* Builds without USDT, or without symbols, are normal: libbpf's complaints are dropped. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

void jit_kernel_attach(struct jit_kernel *kernel, const struct jit_process *process,
		       struct jit_probes *probes)
{
	LIBBPF_OPTS(bpf_uprobe_opts, unload, .func_name = UNLOAD,
		    .bpf_cookie = unload_cookie(process->vm));
	const char *path = process->vm->path;
	libbpf_print_fn_t print = libbpf_set_print(print_nothing);

	probes->load = bpf_program__attach_usdt(kernel->skel->progs.on_load, process->pid, path,
						"hotspot", "compiled__method__load", NULL);
	if (kernel->has_tables)
		probes->unload = bpf_program__attach_uprobe_opts(kernel->skel->progs.on_unload,
								 process->pid, path, 0, &unload);
	libbpf_set_print(print);
}

void jit_kernel_detach(struct jit_probes *probes)
{
	bpf_link__destroy(probes->load);
	bpf_link__destroy(probes->unload);
	*probes = (struct jit_probes){};
}

int jit_kernel_poll(struct jit_kernel *kernel, int ms)
{
	int nr = ring_buffer__poll(kernel->ring, ms);

	return max(nr, 0);
}

__u64 jit_kernel_lost(const struct jit_kernel *kernel)
{
	return kernel->skel->bss->nr_lost;
}
