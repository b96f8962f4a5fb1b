// SPDX-License-Identifier: GPL-2.0
/*
 * What elfutils says of the stack of a stopped process.
 *
 * libdwfl unwinds by .eh_frame or .debug_frame and, where there is none, follows the
 * frame pointer. That is a guess: the stack is cut off before it.
 */
#include "oracle.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __aarch64__
#define DWARF_FP	29
#define DWARF_SP	31
#else
#define DWARF_FP	6
#define DWARF_SP	7
#endif

#define PAGE		4096UL
#define NR_PAGES	64

static const struct user_regs_struct *registers;
static Dwfl *dwfl;
static pid_t process;
static int memory = -1;

static unsigned long nr_stops;

/* Answers of oracle_symbol(), by address */
static struct {
	u64		addr;
	u64		offset;
	const char	*name;
} symbols[4096];

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word sum, char **result)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)sum;
	(void)result;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

#ifdef __aarch64__

/*
 * libdwfl takes registers and memory itself: it asks the kernel which bits of an address are
 * its signature, and a callback could not tell it.
 */
static bool attach(pid_t pid)
{
	return !dwfl_linux_proc_attach(dwfl, pid, true);
}

#else

/* Memory of the process that was read since it stopped */
static struct {
	u64		addr;
	unsigned long	stop;	/* 0: never */
	u8		bytes[PAGE];
} pages[NR_PAGES];

static const u8 *read_page(u64 addr)
{
	size_t i = addr / PAGE % NR_PAGES;

	if (pages[i].stop == nr_stops && pages[i].addr == addr)
		return pages[i].bytes;
	pages[i].stop = 0;
	if (pread(memory, pages[i].bytes, PAGE, addr) != PAGE)
		return NULL;
	pages[i].addr = addr;
	pages[i].stop = nr_stops;
	return pages[i].bytes;
}

static bool memory_read(Dwfl *unused, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	u64 offset = addr % PAGE;
	const u8 *page;

	(void)unused, (void)arg;
	if (offset > PAGE - sizeof(*word))
		return pread(memory, word, sizeof(*word), addr) == sizeof(*word);
	page = read_page(addr - offset);
	if (!page)
		return false;
	memcpy(word, page + offset, sizeof(*word));
	return true;
}

static pid_t next_thread(Dwfl *unused, void *arg, void **thread)
{
	(void)unused, (void)arg;
	if (*thread)
		return 0;
	*thread = &process;
	return process;
}

static bool get_thread(Dwfl *unused, pid_t tid, void *arg, void **thread)
{
	(void)unused, (void)arg;
	*thread = &process;
	return tid == process;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct user_regs_struct *r = registers;
	const Dwarf_Word dwarf[] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};

	(void)arg;
	return dwfl_thread_state_registers(thread, 0, sizeof(dwarf) / sizeof(dwarf[0]), dwarf);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static bool attach(pid_t pid)
{
	return dwfl_attach_state(dwfl, NULL, pid, &thread_callbacks, NULL);
}

#endif

static void report(void)
{
	if (dwfl_linux_proc_report(dwfl, process))
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
	if (dwfl_report_end(dwfl, NULL, NULL))
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
}

void oracle_begin(pid_t pid)
{
	char path[40];

	process = pid;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		die(EXIT_INFRA, "%s: %m", path);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
	report();
	if (!attach(pid))
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
}

void oracle_end(void)
{
	memset(symbols, 0, sizeof(symbols));
	dwfl_end(dwfl);
	dwfl = NULL;
	close(memory);
}

void oracle_refresh(void)
{
	memset(symbols, 0, sizeof(symbols));
	dwfl_report_begin(dwfl);
	report();
}

/* The row of .eh_frame that leads from a frame to its caller, to be freed, or NULL */
static Dwarf_Frame *find_row(const struct oracle_stack *stack, size_t i)
{
	Dwarf_Addr addr = stack->frames[i] - !stack->exact[i], bias;
	Dwfl_Module *module = dwfl_addrmodule(dwfl, addr);
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *row;

	return cfi && !dwarf_cfi_addrframe(cfi, addr - bias, &row) ? row : NULL;
}

/* For libdwfl the trampoline was interrupted as well: it has the row of a signal frame. */
static bool interrupted(const struct oracle_stack *stack, size_t i)
{
	Dwarf_Frame *row = find_row(stack, i - 1);
	bool is_signal = false;

	if (row && dwarf_frame_info(row, NULL, NULL, &is_signal) < 0)
		is_signal = false;
	free(row);
	return is_signal;
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct oracle_stack *stack = arg;
	Dwfl_Unwound_Source source = dwfl_frame_unwound_source(frame);
	Dwarf_Addr pc;
	bool exact;

	if (source != DWFL_UNWOUND_INITIAL_FRAME && source != DWFL_UNWOUND_EH_CFI) {
		stack->end = END_UNKNOWN;
		return DWARF_CB_ABORT;
	}
	if (stack->nr == MAX_FRAMES) {
		stack->end = END_DEPTH;
		return DWARF_CB_ABORT;
	}
	if (!dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	stack->frames[stack->nr] = pc;
	stack->exact[stack->nr] = exact && (!stack->nr || interrupted(stack, stack->nr));
	stack->nr++;
	return DWARF_CB_OK;
}

/*
 * Did the walk end because .eh_frame says so? Where there is none, following the frame
 * pointer can end in the same way.
 */
static bool outermost(const struct oracle_stack *stack)
{
	Dwarf_Frame *row = find_row(stack, stack->nr - 1);
	Dwarf_Op memory_ops[3], *ops = memory_ops;
	bool result = false, is_signal;
	size_t nr_ops = 1;
	int ra;

	if (!row)
		return false;
	ra = dwarf_frame_info(row, NULL, NULL, &is_signal);
	/* "Undefined", as opposed to "the same value", leaves the pointer alone. */
	if (ra >= 0 && !dwarf_frame_register(row, ra, memory_ops, &ops, &nr_ops))
		result = !nr_ops && ops == memory_ops;
	free(row);
	return result;
}

bool oracle_has_row(const struct oracle_stack *stack, size_t i)
{
	Dwarf_Frame *row = find_row(stack, i);
	bool result = row;

	free(row);
	return result;
}

/* An expression begins with the register it is based on. */
static bool is_based_elsewhere(const Dwarf_Op *ops, size_t nr)
{
	if (!nr)
		return false;
	if (ops[0].atom == DW_OP_bregx || ops[0].atom == DW_OP_regx)
		return ops[0].number != DWARF_FP && ops[0].number != DWARF_SP;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		return ops[0].atom != DW_OP_breg0 + DWARF_FP &&
		       ops[0].atom != DW_OP_breg0 + DWARF_SP;
	return ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31;
}

bool oracle_needs_register(const struct oracle_stack *stack, size_t i)
{
	Dwarf_Frame *row = find_row(stack, i);
	Dwarf_Op memory_ops[3], *ops;
	bool result = false;
	size_t nr_ops;
	int ra;

	if (!row)
		return false;
	if (!dwarf_frame_cfa(row, &ops, &nr_ops))
		result = is_based_elsewhere(ops, nr_ops);
	ra = dwarf_frame_info(row, NULL, NULL, NULL);
	if (!result && ra >= 0 && !dwarf_frame_register(row, ra, memory_ops, &ops, &nr_ops))
		result = is_based_elsewhere(ops, nr_ops);
	free(row);
	return result;
}

void oracle_take(struct oracle_stack *stack, const struct user_regs_struct *regs)
{
	registers = regs;
	nr_stops++;
	stack->nr = 0;
	stack->end = END_OUTERMOST;
	if (dwfl_getthread_frames(dwfl, process, on_frame, stack) && stack->end == END_OUTERMOST)
		stack->end = END_UNKNOWN;
	if (!stack->nr)
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
	if (stack->end == END_OUTERMOST && !outermost(stack))
		stack->end = END_UNKNOWN;
}

/* libdwfl looks at all symbols of the file for each answer. */
const char *oracle_symbol(u64 addr, u64 *offset)
{
	size_t i = addr % (sizeof(symbols) / sizeof(symbols[0]));
	Dwfl_Module *module;
	GElf_Sym sym;

	if (symbols[i].addr != addr) {
		module = dwfl_addrmodule(dwfl, addr);
		symbols[i].addr = addr;
		symbols[i].name = module ? dwfl_module_addrinfo(module, addr, &symbols[i].offset,
								&sym, NULL, NULL, NULL) : NULL;
	}
	*offset = symbols[i].offset;
	return symbols[i].name;
}

struct search {
	const char	*name;
	u64		addr;
};

static int search_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			 void *arg)
{
	int i, nr = dwfl_module_getsymtab(module);
	struct search *search = arg;

	(void)data, (void)name, (void)base;
	for (i = 1; i < nr; i++) {
		GElf_Addr addr;
		GElf_Sym sym;
		GElf_Word section;
		const char *symbol = dwfl_module_getsym_info(module, i, &sym, &addr, &section,
							     NULL, NULL);

		if (!symbol || GELF_ST_TYPE(sym.st_info) != STT_FUNC || section == SHN_UNDEF)
			continue;
		if (!strcmp(symbol, search->name)) {
			search->addr = addr;
			return DWARF_CB_ABORT;
		}
	}
	return DWARF_CB_OK;
}

u64 oracle_address(const char *symbol)
{
	struct search search = { .name = symbol };

	dwfl_getmodules(dwfl, search_module, &search, 0);
	return search.addr;
}
