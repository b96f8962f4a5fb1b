// SPDX-License-Identifier: GPL-2.0
/*
 * What elfutils says of the stack of a stopped process.
 *
 * libdwfl unwinds by .eh_frame or .debug_frame and, where there is none, follows the
 * frame pointer. That is a guess: the stack is cut off before it.
 */
#include "steps.h"

#include <elfutils/libdwfl.h>
#include <string.h>

#include "../tables/row.h"

static Dwfl *dwfl;
static pid_t process;

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

static void report(void)
{
	if (dwfl_linux_proc_report(dwfl, process))
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
	if (dwfl_report_end(dwfl, NULL, NULL))
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
}

void oracle_begin(pid_t pid)
{
	process = pid;
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
	report();
	/* It takes registers and memory of the stopped process, and knows signed addresses. */
	if (dwfl_linux_proc_attach(dwfl, pid, true))
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
}

void oracle_end(void)
{
	memset(symbols, 0, sizeof(symbols));
	dwfl_end(dwfl);
	dwfl = NULL;
}

void oracle_refresh(void)
{
	memset(symbols, 0, sizeof(symbols));
	dwfl_report_begin(dwfl);
	report();
}

/* The row of .eh_frame that leads from a frame to its caller, until row_end() */
static bool find_row(const struct oracle_stack *stack, size_t i, struct row *row)
{
	Dwarf_Addr addr = stack->frames[i] - !stack->exact[i], bias;
	Dwfl_Module *module = dwfl_addrmodule(dwfl, addr);
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;

	return cfi && row_find(cfi, addr - bias, row);
}

/* What is true of the row for a frame; false if there is none */
static bool ask(const struct oracle_stack *stack, size_t i, bool (*what)(const struct row *row))
{
	struct row row;
	bool result;

	if (!find_row(stack, i, &row))
		return false;
	result = what(&row);
	row_end(&row);
	return result;
}

static bool is_there(const struct row *row)
{
	return row;
}

static bool is_signal(const struct row *row)
{
	return row->ra_column >= 0 && row->signal;
}

static bool needs_register(const struct row *row)
{
	uint32_t known = 1U << row_abi->fp | 1U << row_abi->sp;

	/* The address is known, where it is not in a register. */
	if (row_abi->ra_offset)
		known |= 1U << row_abi->ra;
	return row_registers(row) & ~known;
}

bool oracle_has_row(const struct oracle_stack *stack, size_t i)
{
	return ask(stack, i, is_there);
}

bool oracle_needs_register(const struct oracle_stack *stack, size_t i)
{
	return ask(stack, i, needs_register);
}

bool oracle_is_plain(const struct oracle_stack *stack, size_t i)
{
	return ask(stack, i, row_is_plain);
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
	/* For libdwfl the trampoline was interrupted as well: it has the row of a signal frame. */
	stack->exact[stack->nr] = exact && (!stack->nr || ask(stack, stack->nr - 1, is_signal));
	stack->nr++;
	return DWARF_CB_OK;
}

void oracle_take(struct oracle_stack *stack)
{
	stack->nr = 0;
	stack->end = END_OUTERMOST;
	if (dwfl_getthread_frames(dwfl, process, on_frame, stack) && stack->end == END_OUTERMOST)
		stack->end = END_UNKNOWN;
	if (!stack->nr)
		die(EXIT_INFRA, "libdwfl: %s", dwfl_errmsg(-1));
	/* Where there is no .eh_frame, following the frame pointer can end in the same way. */
	if (stack->end == END_OUTERMOST && !ask(stack, stack->nr - 1, row_is_outermost))
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
