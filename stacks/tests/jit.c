// SPDX-License-Identifier: GPL-2.0
/*
 * Are the tables for generated code right? Stops threads of a running JVM again and again, and
 * walks their stacks: through generated code by the bytes that "stacks jit" would give the kernel,
 * read by libdw, through files by libdwfl. The kernel needs no support. Prints KTAP.
 *
 *   jit [-n STOPS] [-g MS] [-e] [-v] PID
 *
 * -g: between two stops; -e: tables follow events, as the command's do; otherwise tables are made
 * after each stop; -v: print stacks that are not complete
 */
#include <dirent.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <bpf/libbpf.h>
#include "jit/machines.h"
#include "jit/memory.h"
#include "jit/process.h"
#include "util/util.h"

#define MAX_STACK	(8U << 20)
#define MAX_FRAMES	4096
#define MAX_NS		(300 * 1000000000ULL)
#define NS_PER_MS	1000000ULL
#define PAGE		4096
#define NR_REGS		17
enum { FP = 6, SP = 7, IP = 16 };
/* What the kernel knows of callers */
#define CALLER_REGS	(1U << FP | 1U << SP | 1U << IP)

/* A piece's table as a file that libdw reads */
struct image {
	__u64 start;
	unsigned char *bytes;
	Elf *elf;
	Dwarf_CFI *cfi;
};

struct frame {
	__u64 regs[NR_REGS];
	__u32 known;
};

struct reason {
	char text[128];
	size_t nr;
};

struct test {
	pid_t pid;
	struct jit_process *process;
	struct image *images;
	size_t nr_images;
	Dwfl *dwfl;
	__u64 dwfl_read;
	__u64 stack_low;
	size_t stack_size;
	unsigned char *stack;
	char why[128];
	bool bogus;
	bool falsely;		/* the kernel would take the end for a thread's start */
	struct reason *reasons;
	size_t nr_reasons;
	__u64 nr_frames;
	__u64 nr_generated;
	bool verbose;
	struct frame trace[MAX_FRAMES];
	unsigned int depth;
	unsigned int nr_stops;
	unsigned int gap_ms;
	__u64 begin;
	__u64 scan_ns;
	struct machines machines;	/* which make tables by events */
	bool by_events;
};

static void free_image(struct image *image)
{
	if (image->cfi)
		dwarf_cfi_end(image->cfi);
	elf_end(image->elf);
	free(image->bytes);
	*image = (struct image){};
}

/* A file with one section */
static void make_image(struct image *image, const struct eh_frame *table)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	size_t data = sizeof(Elf64_Ehdr), text = data + table->size;
	size_t sections = (text + sizeof(names) + 7) & -8, size = sections + 3 * sizeof(Elf64_Shdr);
	Elf64_Ehdr *ehdr;
	Elf64_Shdr *shdr;

	image->bytes = xcalloc(1, size);
	ehdr = (void *)image->bytes;
	*ehdr = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = sections, .e_ehsize = sizeof(*ehdr), .e_shentsize = sizeof(*shdr),
		.e_shnum = 3, .e_shstrndx = 2,
	};
	memcpy(image->bytes + data, table->bytes, table->size);
	memcpy(image->bytes + text, names, sizeof(names));
	shdr = (void *)(image->bytes + sections);
	shdr[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
		.sh_addr = table->vaddr, .sh_offset = data,
		.sh_size = table->size, .sh_addralign = 1,
	};
	shdr[2] = (Elf64_Shdr){
		.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = text, .sh_size = sizeof(names),
		.sh_addralign = 1,
	};
	image->elf = elf_memory((char *)image->bytes, size);
	image->cfi = dwarf_getcfi_elf(image->elf);
	if (!image->cfi)
		p_err("libdw does not read a table: %s", dwarf_errmsg(-1));
}

static void set_table(void *arg, __u64 piece, const struct eh_frame *table)
{
	struct test *test = container_of(arg, struct test, machines);
	struct image *image;
	size_t i;

	for (i = 0; i < test->nr_images && test->images[i].start != piece; i++)
		;
	image = i < test->nr_images ? &test->images[i] : xpush(test->images, test->nr_images);
	free_image(image);
	make_image(image, table);
	image->start = piece;
}

static bool read_word(struct test *test, __u64 address, __u64 *value)
{
	if (address - test->stack_low >= test->stack_size ||
	    test->stack_size - (address - test->stack_low) < sizeof(*value))
		return false;
	memcpy(value, test->stack + (address - test->stack_low), sizeof(*value));
	return true;
}

/* The register of an operation, and the number that it adds; below 0: it has no register */
static int reg_of(const Dwarf_Op *op, Dwarf_Word *add)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*add = op->number;
		return op->atom - DW_OP_breg0;
	}
	*add = op->number2;
	return op->atom == DW_OP_bregx || op->atom == DW_OP_regx ? (int)op->number : -1;
}

/* false: it pushes no value, or an unknown one */
static bool push(const struct frame *frame, __u64 cfa, const Dwarf_Op *op, __u64 *value)
{
	Dwarf_Word add;
	int reg = reg_of(op, &add);

	if (reg >= 0) {
		*value = reg < NR_REGS ? frame->regs[reg] + add : 0;
		return reg < NR_REGS && frame->known >> reg & 1;
	}
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		*value = op->atom - DW_OP_lit0;
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		*value = op->number;
	else if (op->atom == DW_OP_call_frame_cfa)
		*value = cfa;
	else
		return false;
	return true;
}

static bool combine(__u8 atom, __u64 *a, __u64 b)
{
	switch (atom) {
	case DW_OP_plus:
		*a += b;
		return true;
	case DW_OP_minus:
		*a -= b;
		return true;
	case DW_OP_mul:
		*a *= b;
		return true;
	case DW_OP_and:
		*a &= b;
		return true;
	case DW_OP_shl:
		*a <<= b & 63;
		return true;
	case DW_OP_ge:
		*a = (__s64)*a >= (__s64)b;
		return true;
	default:
		return false;
	}
}

/* Enough of DWARF for real files. @is_value: the result is no address */
static bool evaluate(struct test *test, const struct frame *frame, __u64 cfa, const Dwarf_Op *ops,
		     size_t nr, __u64 *result, bool *is_value)
{
	__u64 stack[16];
	size_t i, n = 0;

	*is_value = nr == 1 && ops->atom == DW_OP_regx;
	for (i = 0; i < nr; i++) {
		const Dwarf_Op *op = &ops[i];

		if (n == ARRAY_SIZE(stack))
			return false;
		if (push(frame, cfa, op, &stack[n])) {
			n++;
		} else if (op->atom == DW_OP_stack_value) {
			*is_value = true;
		} else if (op->atom == DW_OP_plus_uconst && n) {
			stack[n - 1] += op->number;
		} else if (op->atom == DW_OP_deref && n) {
			if (!read_word(test, stack[n - 1], &stack[n - 1]))
				return false;
		} else if (n < 2 || !combine(op->atom, &stack[n - 2], stack[n - 1])) {
			return false;
		} else {
			n--;
		}
	}
	*result = n ? stack[n - 1] : 0;
	return n;
}

enum step { STEP_GOOD, STEP_END, STEP_NONE, STEP_BAD };

/* STEP_END: the register is undefined */
static enum step restore(struct test *test, Dwarf_Frame *info, const struct frame *frame,
			 __u64 cfa, int reg, struct frame *caller)
{
	Dwarf_Op memory[3], *ops;
	bool is_value;
	__u64 value;
	size_t nr;

	if (dwarf_frame_register(info, reg, memory, &ops, &nr))
		return STEP_BAD;
	if (!nr && ops)
		return STEP_END;
	if (!nr) {
		caller->regs[reg] = frame->regs[reg];
		caller->known |= frame->known & 1U << reg;
		return STEP_GOOD;
	}
	if (!evaluate(test, frame, cfa, ops, nr, &value, &is_value) ||
	    (!is_value && !read_word(test, value, &value)))
		return STEP_BAD;
	caller->regs[reg] = value;
	caller->known |= 1U << reg;
	return STEP_GOOD;
}

static enum step restore_all(struct test *test, Dwarf_Frame *info, struct frame *frame, bool *exact)
{
	struct frame caller = {};
	enum step result;
	bool is_value;
	Dwarf_Op *ops;
	size_t nr;
	__u64 cfa;
	int reg;

	dwarf_frame_info(info, NULL, NULL, exact);
	if (dwarf_frame_cfa(info, &ops, &nr) || !nr ||
	    !evaluate(test, frame, 0, ops, nr, &cfa, &is_value))
		return STEP_BAD;
	for (reg = 0; reg < NR_REGS; reg++) {
		if (!*exact && !(CALLER_REGS >> reg & 1))
			continue;
		result = restore(test, info, frame, cfa, reg, &caller);
		if (result == STEP_BAD || (result == STEP_END && reg == IP))
			return result;
	}
	if (!*exact && caller.regs[SP] & 7)
		return STEP_BAD;
	*frame = caller;
	return STEP_GOOD;
}

static enum step step(struct test *test, Dwarf_CFI *cfi, __u64 at, struct frame *frame, bool *exact)
{
	Dwarf_Frame *info = NULL;
	bool was_exact = *exact;
	enum step result;

	if (!cfi || dwarf_cfi_addrframe(cfi, at, &info))
		return STEP_NONE;
	result = restore_all(test, info, frame, exact);
	if (result != STEP_GOOD)
		*exact = was_exact;
	free(info);
	return result;
}

static const struct jit_code *find_code(struct test *test, __u64 address)
{
	return jit_process_find(test->process, address);
}

/* Of a code heap that has @address */
static const struct jit_range *heap_of(struct test *test, __u64 address)
{
	const struct jit_range *range;

	for (range = test->process->ranges; range->nr_pieces; range++) {
		if (address - range->start < range->size)
			return range;
	}
	return NULL;
}

static Dwarf_CFI *find_table(struct test *test, __u64 address)
{
	size_t i;

	address -= (address - heap_of(test, address)->start) % JIT_PIECE;
	for (i = 0; i < test->nr_images; i++) {
		if (test->images[i].start == address)
			return test->images[i].cfi;
	}
	return NULL;
}

static void read_modules(struct test *test)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};

	if (!test->dwfl)
		test->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin_add(test->dwfl);
	dwfl_linux_proc_report(test->dwfl, test->process->pid);
	dwfl_report_end(test->dwfl, NULL, NULL);
	test->dwfl_read = now_ns();
}

static bool is_behind_call(struct test *test, __u64 ip)
{
	unsigned char b[7];
	int i;

	if (!memory_read(test->process->pid, ip - 7, b, sizeof(b)))
		return false;
	if (b[2] == 0xe8)
		return true;
	for (i = 2; i <= 7; i++) {
		if (b[7 - i] == 0xff && (b[8 - i] & 0x38) == 0x10)
			return true;
	}
	return false;
}

/* Of what a frame is, for people */
static const char *name_of(struct test *test, __u64 ip)
{
	static char text[128];
	const struct jit_code *code = find_code(test, ip);
	const struct hotspot *vm = test->process->vm;
	Dwfl_Module *module = dwfl_addrmodule(test->dwfl, ip);
	const char *name = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL,
						     NULL) : NULL;
	size_t i;

	if (!code) {
		if (name)
			name = strrchr(name, '/') ?: name;
		else
			name = heap_of(test, ip) ? "no blob" : "no mapping";
		return name;
	}
	for (i = 0; i < vm->nr_codelets; i++) {
		if (ip >= vm->codelets[i].start && ip < vm->codelets[i].end) {
			snprintf(text, sizeof(text), "interpreter: %s", vm->codelets[i].name);
			return text;
		}
	}
	return code->blob.name;
}

static void check_generated(struct test *test, __u64 ip)
{
	const struct jit_code *code = find_code(test, ip);

	const struct jit_code *callee = test->depth ?
		find_code(test, test->trace[test->depth - 1].regs[IP] - 1) : NULL;

	/* Exceptions return to the instruction that has thrown them. */
	if (code && code->blob.kind == HOTSPOT_METHOD && !is_behind_call(test, ip) &&
	    ip < code->blob.start + code->blob.stubs &&
	    !(callee && strstr(callee->blob.name, "exception")))
		test->bogus = true;
}

static bool walk(struct test *test, struct frame frame)
{
	bool exact = true, generated;
	Dwfl_Module *module;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;
	enum step result;
	__u64 ip;

	test->bogus = false;
	test->falsely = false;
	for (test->depth = 0; test->depth < MAX_FRAMES; test->depth++) {
		ip = frame.regs[IP] - !exact;
		test->trace[test->depth] = frame;
		test->nr_frames++;
		generated = heap_of(test, ip);
		module = generated ? NULL : dwfl_addrmodule(test->dwfl, ip);
		if (!generated && !module) {
			test->bogus = true;
			snprintf(test->why, sizeof(test->why), "address in no file, called from %s",
				 test->depth ?
				 name_of(test, test->trace[test->depth - 1].regs[IP]) :
				 "nothing");
			return false;
		}
		test->nr_generated += generated;
		if (!exact && generated)
			check_generated(test, ip + 1);
		bias = 0;
		cfi = generated ? find_table(test, ip) : dwfl_module_eh_cfi(module, &bias);
		result = step(test, cfi, ip - bias, &frame, &exact);
		if (result == STEP_END)
			return true;
		if (result == STEP_GOOD)
			continue;
		if (generated && !exact && result == STEP_NONE) {
			struct frame copy = frame;
			bool ignored = false;

			test->falsely = step(test, cfi, ip + 1, &copy, &ignored) != STEP_NONE;
		}
		snprintf(test->why, sizeof(test->why), "%s: %s in %s", exact ? "leaf" : "caller",
			 result == STEP_NONE ? "no row" : "cannot be evaluated", name_of(test, ip));
		return false;
	}
	snprintf(test->why, sizeof(test->why), "too deep");
	return false;
}

static void count_reason(struct test *test)
{
	size_t i;

	for (i = 0; i < test->nr_reasons && strcmp(test->reasons[i].text, test->why); i++)
		;
	if (i == test->nr_reasons)
		strcpy(xpush(test->reasons, test->nr_reasons)->text, test->why);
	test->reasons[i].nr++;
}

/* The JVM's own threads run no Java code. */
static bool is_own(const char *comm)
{
	static const char *const own[] = {
		"C1 Comp", "C2 Comp", "GC Thread", "G1 ", "VM Thread", "VM Periodic", "ZWorker",
		"ZDriver", "ZDirector",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++) {
		if (!strncmp(comm, own[i], strlen(own[i])))
			return true;
	}
	return false;
}

/* A thread that runs, or 0; below 0: the process is gone */
static pid_t pick_thread(__u32 pid)
{
	char path[300], line[256], *open, *close;
	pid_t threads[512];
	struct dirent *entry;
	int nr = 0;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%u/task/%s/stat", pid, entry->d_name);
		file = *entry->d_name == '.' ? NULL : fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file)) {
			open = strchr(line, '(');
			close = strrchr(line, ')');
			if (open && close && close[1] && close[2] == 'R' && !is_own(open + 1) &&
			    nr < 512)
				threads[nr++] = atoi(entry->d_name);
		}
		fclose(file);
	}
	closedir(dir);
	return nr ? threads[random() % nr] : 0;
}

/* The stack above SP, as far as it can be read */
static void copy_stack(struct test *test, __u64 sp)
{
	size_t size = MAX_STACK, step;

	test->stack_low = (sp - 256) & -8ULL;
	test->stack_size = 0;
	for (step = size; step >= 4096; step /= 2) {
		while (test->stack_size + step <= size &&
		       memory_read(test->process->pid, test->stack_low + test->stack_size,
				   test->stack + test->stack_size, step))
			test->stack_size += step;
	}
	step = 4096 - (test->stack_low + test->stack_size) % 4096;
	if (memory_read(test->process->pid, test->stack_low + test->stack_size,
			test->stack + test->stack_size, step))
		test->stack_size += step;
}

static bool stop(struct test *test, pid_t tid, struct frame *frame)
{
	struct user_regs_struct r;
	int status, got;
	bool good;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		ptrace(PTRACE_DETACH, tid, 0, 0);
		return false;
	}
	/* A signal for the program is handed on. */
	while ((got = waitpid(tid, &status, __WALL)) == tid && WIFSTOPPED(status) &&
	       status >> 16 != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	if (got != tid || !WIFSTOPPED(status))
		return false;
	good = !ptrace(PTRACE_GETREGS, tid, 0, &r);
	if (good) {
		*frame = (struct frame){
			{ r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10,
			  r.r11, r.r12, r.r13, r.r14, r.r15, r.rip }, (1U << NR_REGS) - 1,
		};
		copy_stack(test, r.rsp);
	}
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return good;
}

static void print_trace(struct test *test)
{
	unsigned int i;

	printf("--- %s\n", test->why);
	for (i = 0; i <= test->depth && i < 16; i++) {
		const struct frame *frame = &test->trace[i];
		const struct jit_code *code = find_code(test, frame->regs[IP] - !!i);

		printf("  ip %llx sp %llx fp %llx %s+0x%llx\n", frame->regs[IP], frame->regs[SP],
		       frame->regs[FP], name_of(test, frame->regs[IP] - !!i),
		       code ? frame->regs[IP] - code->blob.start : 0);
	}
}

/* The code around the last frame that has rows, to be read by objdump */
static void print_code(struct test *test)
{
	const struct jit_code *code = NULL;
	unsigned char bytes[64] = {};
	unsigned int i = test->depth + 1;
	size_t k;
	__u64 ip = 0;

	while (!code && i--) {
		ip = test->trace[i].regs[IP] - !!i;
		code = find_code(test, ip);
	}
	if (!code || !memory_read(test->process->pid, ip - 32, bytes, sizeof(bytes)))
		return;
	for (k = 0; k < code->rows.nr && code->blob.start + code->rows.rows[k].at <= ip; k++)
		;
	if (k) {
		const struct jit_rule *rule = &code->rows.rows[k - 1].rule;

		printf("  %s at 0x%llx, frame %u, row from 0x%x: cfa %u reg %u ra %u fp %u offset %d; code from 32 bytes before: ",
		       code->blob.name, ip - code->blob.start, code->blob.frame_size,
		       code->rows.rows[k - 1].at, rule->cfa, rule->reg, rule->ra_reg,
		       rule->fp_saved, rule->offset);
	}
	for (k = 0; k < sizeof(bytes); k++)
		printf("%02x%s", bytes[k], k == 31 ? " " : "");
	printf("\n");
}

static int compare_reasons(const void *left, const void *right)
{
	const struct reason *a = left, *b = right;

	return a->nr < b->nr ? 1 : -1;
}

static bool update(struct test *test)
{
	return jit_process_scan(test->process) && jit_process_flush(test->process);
}

struct counts {
	unsigned int stops;
	unsigned int complete;
	unsigned int first;		/* of the first eight seconds */
	unsigned int first_complete;
	unsigned int bogus;
	unsigned int falsely;
	unsigned int leaf;
};

static void take_sample(struct test *test, const struct frame *frame, struct counts *counts)
{
	bool good = walk(test, *frame), is_first = now_ns() - test->begin < 8000 * NS_PER_MS;

	if (good && test->bogus)
		snprintf(test->why, sizeof(test->why), "complete, but bogus");
	good &= !test->bogus;
	counts->stops++;
	counts->complete += good;
	counts->first += is_first;
	counts->first_complete += is_first && good;
	counts->bogus += test->bogus;
	counts->falsely += test->falsely;
	counts->leaf += !!heap_of(test, frame->regs[IP]);
	if (good)
		return;
	count_reason(test);
	if (test->verbose) {
		print_trace(test);
		print_code(test);
	}
}

/* false: by events, the process is gone. */
static bool wait_for_next(struct test *test)
{
	__u64 now = now_ns(), until = now + NS_PER_MS + random() % (2 * test->gap_ms * NS_PER_MS);

	if (!test->by_events)
		return !usleep((until - now) / 1000);
	for (; test->process && now < until; now = now_ns()) {
		machines_wait(&test->machines, (until - now) / NS_PER_MS);
		test->process = machines_process(&test->machines, test->pid);
	}
	return test->process;
}

static void sample(struct test *test, struct counts *counts)
{
	struct frame frame;
	pid_t tid;

	while (counts->stops < test->nr_stops && now_ns() - test->begin < MAX_NS) {
		tid = wait_for_next(test) ? pick_thread(test->pid) : -1;
		if (tid < 0)
			return;
		if (!tid || !stop(test, tid, &frame))
			continue;
		if (!test->by_events && !update(test))
			return;
		if (now_ns() - test->dwfl_read > 1000 * NS_PER_MS)
			read_modules(test);
		take_sample(test, &frame, counts);
	}
}

static double share(__u64 part, __u64 all)
{
	return all ? 100.0 * part / all : 0;
}

static void report(struct test *test, const struct counts *counts)
{
	const struct jit_process *process = test->process;
	size_t i;

	if (!process)
		return;
	printf("# HotSpot %s: %zu blobs, %llu rows, %llu KiB, first scan %llu ms, %llu with unknown instructions\n",
	       process->vm->release, process->nr, process->nr_rows,
	       jit_process_table_bytes(process) >> 10, test->scan_ns / NS_PER_MS,
	       process->counts[COUNT_UNKNOWN]);
	printf("# %u stops in %.1f s, innermost frame generated %.1f %%, frames %.1f, generated %.1f\n",
	       counts->stops, (now_ns() - test->begin) / 1e9, share(counts->leaf, counts->stops),
	       share(test->nr_frames, counts->stops) / 100,
	       share(test->nr_generated, counts->stops) / 100);
	if (test->by_events)
		printf("# %llu events, %llu lost, %llu without a method\n",
		       test->machines.counts[COUNT_LOADS], jit_kernel_lost(&test->machines.kernel),
		       process->counts[COUNT_MISSED]);
	printf("# complete %.2f %% (first 8 s: %.2f %% of %u), bogus %.2f %%, taken for a thread's start %u\n",
	       share(counts->complete, counts->stops),
	       share(counts->first_complete, counts->first), counts->first,
	       share(counts->bogus, counts->stops), counts->falsely);
	sort(test->reasons, test->nr_reasons, compare_reasons);
	for (i = 0; i < test->nr_reasons && i < 12; i++)
		printf("# %.2f %%: %s\n", share(test->reasons[i].nr, counts->stops),
		       test->reasons[i].text);
}

/* A virtual machine that has just started may not have code heaps yet. */
static bool open_process(struct test *test)
{
	struct hotspot *vm = NULL;
	const char *why = NULL;
	int tries;

	elf_version(EV_CURRENT);
	test->stack = xcalloc(1, MAX_STACK + PAGE);
	test->machines = (struct machines){
		.kernel = { .on_table = set_table, .arg = &test->machines },
		.pids = &test->pid, .nr_pids = 1,
	};
	if (test->by_events && machines_open(&test->machines, false))
		return false;
	for (tries = 0; tries < 100 && !test->process; tries++) {
		if (test->by_events) {
			machines_wait(&test->machines, 20);
			test->process = machines_process(&test->machines, test->pid);
			continue;
		}
		vm = vm ?: hotspot_open(test->pid, &why);
		why = vm ? hotspot_read_heaps(vm) : why;
		if (vm && !why)
			test->process = jit_process_open(vm, &test->machines.kernel, &why);
		usleep(20000);
	}
	if (!test->process) {
		p_err("process %u: %s", test->pid, why ?: "no virtual machine");
		return false;
	}
	read_modules(test);
	test->begin = now_ns();
	if (!test->by_events && !update(test))
		return false;
	test->scan_ns = now_ns() - test->begin;
	return true;
}

int main(int argc, char **argv)
{
	static struct test test = { .nr_stops = 500, .gap_ms = 10 };
	struct counts counts = {};
	bool good;
	int option;

	while ((option = getopt(argc, argv, "n:g:ev")) != -1) {
		if (option == 'n')
			test.nr_stops = atoi(optarg);
		else if (option == 'g')
			test.gap_ms = atoi(optarg);
		else if (option == 'e')
			test.by_events = true;
		else if (option == 'v')
			test.verbose = true;
		else
			return EXIT_USAGE;
	}
	if (optind + 1 != argc || !test.gap_ms)
		return EXIT_USAGE;
	test.pid = atoi(argv[optind]);
	printf("TAP version 13\n1..1\n");
	good = open_process(&test);
	if (good) {
		sample(&test, &counts);
		report(&test, &counts);
		good = counts.stops && counts.complete >= 0.98 * counts.stops &&
		       counts.bogus <= 0.002 * counts.stops;
	}
	printf("%sok 1 - stacks are complete\n", good ? "" : "not ");
	return !good;
}
