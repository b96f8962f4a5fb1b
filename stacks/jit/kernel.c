// SPDX-License-Identifier: GPL-2.0
/* The only file, with jit.bpf.c, that knows how the kernel takes tables */
#include <sys/stat.h>
#include <bpf/bpf.h>
#include "jit/jit.h"
#include "jit.skel.h"
#include "sym/objects.h"

#define MAX_LIBGCCS	64
#define MAX_SYMBOLS	(1 << 20)	/* bytes, of libgcc */
#define ADD_TRIES	20	/* a millisecond each */
#define UNLOAD	"_ZN7nmethod27post_compiled_method_unloadEv"

struct jit_libgcc {
	ino_t inode;
	dev_t device;
	struct bpf_link *comes;
	struct bpf_link *goes;
};

static int on_record(void *arg, void *data, size_t size)
{
	struct jit_kernel *kernel = arg;

	if (size == sizeof(struct jit_event))
		kernel->on_event(kernel->arg, data);
	return 0;
}

static struct jit_bpf *load(bool tables, bool starts)
{
	struct jit_bpf *skel = jit_bpf__open();
	struct bpf_program *program;

	if (!skel)
		return NULL;
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, tables || program == skel->progs.on_load);
	bpf_program__set_autoload(skel->progs.on_map, starts);
	bpf_map__set_autocreate(skel->maps.ranges, tables);
	bpf_map__set_autocreate(skel->maps.sections, tables);
	if (!jit_bpf__load(skel) && !jit_bpf__attach(skel))
		return skel;
	jit_bpf__destroy(skel);
	return NULL;
}

/* fentry needs ftrace, and more rights in some kernels. */
int jit_kernel_open(struct jit_kernel *kernel, bool tables)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int error = 0;

	kernel->has_tables = tables;
	kernel->skel = load(tables, true);
	libbpf_set_print(print);
	if (!kernel->skel) {
		kernel->skel = load(tables, false);
		if (kernel->skel)
			p_err("cannot see who maps libraries: only processes that run already have tables");
	}
	if (kernel->skel)
		kernel->ring = ring_buffer__new(bpf_map__fd(kernel->skel->maps.events), on_record,
						kernel, NULL);
	error = -errno;
	/* From now on: builds without USDT, or without symbols, are normal. */
	libbpf_set_print(NULL);
	if (kernel->ring)
		return 0;
	p_err("cannot load the BPF programs: %s%s", strerror(-error),
	      error == -EPERM || error == -EACCES ?
	      " (be root, or have CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE)" : "");
	jit_kernel_close(kernel);
	return error;
}

void jit_kernel_close(struct jit_kernel *kernel)
{
	size_t i;

	for (i = 0; i < kernel->nr_libgccs; i++) {
		bpf_link__destroy(kernel->libgccs[i].comes);
		bpf_link__destroy(kernel->libgccs[i].goes);
	}
	free(kernel->libgccs);
	ring_buffer__free(kernel->ring);
	jit_bpf__destroy(kernel->skel);
	kernel->ring = NULL;
	kernel->skel = NULL;
}

static struct jit_request request_of(const struct jit_area *area)
{
	return (struct jit_request){
		.key = area->key,
		.rows = {
			.start = area->span.start, .size = area->span.end - area->span.start,
			.generation = area->generation,
		},
	};
}

static int run(const struct bpf_program *program, struct jit_request *request)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = request, .ctx_size_in = sizeof(*request));

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts) ?: request->error;
}

/* The kernel does not wait for a process that executes a program. */
int jit_kernel_add(struct jit_kernel *kernel, const struct jit_area *range)
{
	struct jit_request request = request_of(range);
	__u64 nothing = 0;
	int i, error;

	if (!kernel->has_tables)
		return 0;
	error = bpf_map__update_elem(kernel->skel->maps.ranges, &request.key, sizeof(request.key),
				     &nothing, sizeof(nothing), BPF_ANY);
	for (i = 0; !error && i < ADD_TRIES; i++) {
		error = run(kernel->skel->progs.add_range, &request);
		if (error != -EAGAIN)
			break;
		error = 0;
		usleep(1000);
	}
	return i < ADD_TRIES ? error : -EAGAIN;
}

int jit_kernel_set(struct jit_kernel *kernel, struct jit_area *pieces,
		   const struct eh_frame *table)
{
	struct jit_request request = request_of(pieces);
	int error;

	if (table && kernel->on_table)
		kernel->on_table(kernel->arg, pieces->span.start, table);
	if (!kernel->has_tables)
		return 0;
	if (table) {
		request.rows.section = (__u64)table->section.data;
		request.rows.section_size = table->section.size;
		request.rows.vaddr = table->vaddr;
	}
	error = run(kernel->skel->progs.set_rows, &request);
	if (!error)
		pieces->generation = request.rows.generation;
	return error;
}

void jit_kernel_remove(struct jit_kernel *kernel, struct jit_range_key range)
{
	struct jit_request request = { .key = range };

	if (!kernel->has_tables)
		return;
	run(kernel->skel->progs.set_rows, &request);
	bpf_map__delete_elem(kernel->skel->maps.ranges, &range, sizeof(range), 0);
}

int jit_kernel_note(struct jit_kernel *kernel, __u32 pid, __u64 address, __u32 nr,
		    const struct jit_span *span)
{
	struct jit_section_key key = { pid, nr, address };

	if (!kernel->has_tables)
		return 0;
	if (!span)
		return bpf_map__delete_elem(kernel->skel->maps.sections, &key, sizeof(key), 0);
	return bpf_map__update_elem(kernel->skel->maps.sections, &key, sizeof(key), span,
				    sizeof(*span), BPF_ANY);
}

static __u64 unload_cookie(const struct hotspot *vm)
{
	const __s64 *f = vm->fields;

	if (f[FIELD_CODE_OFFSET] >= 0)
		return JIT_UNLOAD_OFFSETS | f[FIELD_DATA_OFFSET] << 16 | f[FIELD_CODE_OFFSET];
	return f[FIELD_CODE_END] << 16 | f[FIELD_CODE_BEGIN];
}

void jit_kernel_attach(struct jit_process *process)
{
	struct jit_kernel *kernel = process->kernel;
	LIBBPF_OPTS(bpf_uprobe_opts, unload, .func_name = UNLOAD,
		    .bpf_cookie = unload_cookie(process->vm));
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", process->vm->library);
	process->load = bpf_program__attach_usdt(kernel->skel->progs.on_load, process->pid, path,
						"hotspot", "compiled__method__load", NULL);
	if (kernel->has_tables)
		process->unload = bpf_program__attach_uprobe_opts(kernel->skel->progs.on_unload,
								 process->pid, path, 0, &unload);
}

/* The file may be hostile, so libbpf does not read it. */
static struct bpf_link *attach_all(const struct bpf_program *program, const struct elf_file *file,
				   const char *name)
{
	GElf_Addr address = elf_dynamic_symbol(file->elf, MAX_SYMBOLS, name);
	GElf_Phdr segment;
	char path[64];

	if (!address || !elf_code_segment(file->elf, address, true, &segment))
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return bpf_program__attach_uprobe(program, false, -1, path,
					  address - segment.p_vaddr + segment.p_offset);
}

int jit_kernel_watch(struct jit_kernel *kernel, int fd)
{
	struct jit_libgcc libgcc, *known;
	struct elf_file *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -EBADF;
	for (known = kernel->libgccs; known < kernel->libgccs + kernel->nr_libgccs; known++) {
		if (known->inode == st.st_ino && known->device == st.st_dev) {
			close(fd);
			return 0;
		}
	}
	if (kernel->nr_libgccs == MAX_LIBGCCS) {
		kernel->counts[COUNT_GIVEN_UP]++;
		close(fd);
		return -E2BIG;
	}
	file = elf_file_open(fd);
	if (!file)
		return -EINVAL;
	libgcc = (struct jit_libgcc){
		.inode = st.st_ino, .device = st.st_dev,
		.comes = attach_all(kernel->skel->progs.on_register, file, "__register_frame"),
		.goes = attach_all(kernel->skel->progs.on_deregister, file, "__deregister_frame"),
	};
	elf_file_close(file);
	if (libgcc.comes && libgcc.goes) {
		*xpush(kernel->libgccs, kernel->nr_libgccs) = libgcc;
		return 0;
	}
	bpf_link__destroy(libgcc.comes);
	bpf_link__destroy(libgcc.goes);
	return -EINVAL;
}

__u64 jit_kernel_lost(const struct jit_kernel *kernel)
{
	return kernel->skel->bss->nr_lost;
}
