// SPDX-License-Identifier: GPL-2.0
/*
 * Tables for generated code: each is kept in a map, by process and range, so all go with this
 * program. Probes tell about methods that come and go.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
#include "jit/interface.h"

char LICENSE[] SEC("license") = "GPL";

#define ENOENT	2
#define ESRCH	3
#define ENOMEM	12
#define VM_EXEC	4

struct task_struct {
} __attribute__((preserve_access_index));

struct unwind_user_code {
} __attribute__((preserve_access_index));

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct path f_path;
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_flags;
	struct file *vm_file;
} __attribute__((preserve_access_index));

extern struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
extern struct unwind_user_code *bpf_user_code_create(struct task_struct *task, __u64 start,
						     __u64 size, int *err) __ksym __weak;
extern void bpf_user_code_release(struct unwind_user_code *code) __ksym __weak;
extern int bpf_user_code_set(struct unwind_user_code *code, struct bpf_user_code_rows *rows,
			     __u32 rows__sz) __ksym __weak;
extern int bpf_user_code_forget(__u64 start, __u64 size) __ksym __weak;

struct range {
	struct unwind_user_code __kptr *code;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JIT_MAX_RANGES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct jit_range_key);
	__type(value, struct range);
} ranges SEC(".maps");

/* What to forget before the code of a section is gone */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JIT_MAX_SECTIONS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct jit_section_key);
	__type(value, struct jit_span);
} sections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

__u64 nr_lost;

SEC("syscall")
int add_range(struct jit_request *request)
{
	struct unwind_user_code *code = NULL;
	struct jit_range_key key = request->key;
	struct task_struct *task;
	struct range *range;
	int error = 0;

	range = bpf_map_lookup_elem(&ranges, &key);
	task = range ? bpf_task_from_pid(key.tgid) : NULL;
	if (!task) {
		request->error = range ? -ESRCH : -ENOENT;
		return 0;
	}
	code = bpf_user_code_create(task, request->rows.start, request->rows.size, &error);
	bpf_task_release(task);
	request->error = code ? 0 : error ?: -ENOMEM;
	if (code)
		code = bpf_kptr_xchg(&range->code, code);
	if (code)
		bpf_user_code_release(code);
	return 0;
}

/*
 * Only one program runs at a time, so nobody misses the range while it is not in the map. No
 * bytes: the range goes, at once; what is deleted from the map is released later.
 */
SEC("syscall")
int set_rows(struct jit_request *request)
{
	struct bpf_user_code_rows rows = request->rows;
	struct jit_range_key key = request->key;
	struct unwind_user_code *code;
	struct range *range;

	range = bpf_map_lookup_elem(&ranges, &key);
	code = range ? bpf_kptr_xchg(&range->code, NULL) : NULL;
	if (!code) {
		request->error = -ENOENT;
		return 0;
	}
	if (rows.size) {
		request->error = bpf_user_code_set(code, &rows, sizeof(rows));
		request->rows.generation = rows.generation;
		code = bpf_kptr_xchg(&range->code, code);
	}
	if (code)
		bpf_user_code_release(code);
	return 0;
}

static void tell(enum jit_event_kind kind, __u64 address)
{
	struct jit_event event = {
		.tgid = bpf_get_current_pid_tgid() >> 32, .kind = kind, .address = address,
		.time = bpf_ktime_get_ns(),
	};

	if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		__sync_fetch_and_add(&nr_lost, 1);
}

/* For all that is mapped, whether perf measures or not */
SEC("fentry/perf_event_mmap")
int BPF_PROG(on_map, struct vm_area_struct *vma)
{
	char name[sizeof("libjvm.so")] = {};
	struct file *file = vma->vm_file;

	if (!(vma->vm_flags & VM_EXEC) || !file)
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), file->f_path.dentry->d_name.name);
	if (!bpf_strncmp(name, sizeof(name), "libjvm.so") || !bpf_strncmp(name, 7, "libLLVM") ||
	    !bpf_strncmp(name, 7, "libllvm"))
		tell(EVENT_MAPPED, 0);
	return 0;
}

/* hotspot:compiled__method__load has the address of the code as its seventh argument. */
SEC("usdt")
int on_load(struct pt_regs *ctx)
{
	long address = 0;

	if (!bpf_usdt_arg(ctx, 6, &address) && address)
		tell(EVENT_METHOD, address);
	return 0;
}

/* __register_frame() */
SEC("uprobe")
int on_register(struct pt_regs *ctx)
{
	tell(EVENT_REGISTERED, PT_REGS_PARM1(ctx));
	return 0;
}

/* __deregister_frame() */
SEC("uprobe")
int on_deregister(struct pt_regs *ctx)
{
	struct jit_section_key key = {
		.tgid = bpf_get_current_pid_tgid() >> 32, .address = PT_REGS_PARM1(ctx),
	};
	struct jit_span *span;
	int i;

	/* First, see registered_prepare() */
	tell(EVENT_DEREGISTERED, key.address);
	bpf_for(i, 0, JIT_MAX_SPANS) {
		key.nr = i;
		span = bpf_map_lookup_elem(&sections, &key);
		if (!span)
			break;
		bpf_user_code_forget(span->start, span->end - span->start);
	}
	return 0;
}

/* nmethod::post_compiled_method_unload(), before the memory is free */
SEC("uprobe")
int on_unload(struct pt_regs *ctx)
{
	__u64 object = PT_REGS_PARM1(ctx), cookie = bpf_get_attach_cookie(ctx), start = 0, end = 0;
	__u32 size = cookie & JIT_UNLOAD_OFFSETS ? sizeof(__u32) : sizeof(__u64);

	if (bpf_probe_read_user(&start, size, (void *)(object + JIT_UNLOAD_START(cookie))) ||
	    bpf_probe_read_user(&end, size, (void *)(object + JIT_UNLOAD_END(cookie))))
		return 0;
	if (cookie & JIT_UNLOAD_OFFSETS) {
		start += object;
		end += object;
	}
	if (start < end)
		bpf_user_code_forget(start, end - start);
	return 0;
}
