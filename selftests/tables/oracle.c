// SPDX-License-Identifier: GPL-2.0
#include "oracle.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#define TID	1
#define END	0x800000000000ULL

static Elf *file;
static Dwfl *dwfl;
static struct machine thread;

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

struct machine machine_make(uint64_t seed, uint64_t pc)
{
	struct machine machine = { .pc = pc, .seed = mix(seed + 1) };
	int i;

	for (i = 0; i < NR_ORACLE_REGS; i++)
		machine.regs[i] = mix(machine.seed + i + 1);
	/* libdw has a number for it. A register with the return address is one as others. */
	if (row_abi->ra_offset)
		machine.regs[row_abi->ra] = pc;
	return machine;
}

uint64_t machine_read(const struct machine *machine, uint64_t address)
{
	return mix(address ^ machine->seed);
}

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **path, Elf **elf)
{
	*elf = elf_begin(-1, ELF_C_READ, file);
	return -1;
}

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *path, const char *link, GElf_Word sum, char **result)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_elf = find_elf, .find_debuginfo = no_debuginfo };

static pid_t next_thread(Dwfl *unused, void *arg, void **data)
{
	if (*data)
		return 0;
	*data = &thread;
	return TID;
}

static bool memory_read(Dwfl *unused, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	*word = machine_read(&thread, address);
	return true;
}

static bool set_registers(Dwfl_Thread *of, void *arg)
{
	dwfl_thread_state_register_pc(of, thread.pc);
	return dwfl_thread_state_registers(of, 0, row_abi->ra_offset ? row_abi->ra + 1 :
					   NR_ORACLE_REGS, thread.regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* From the lowest segment on */
static Dwfl_Module *report(Elf *elf)
{
	GElf_Addr start = END;
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		return NULL;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    (phdr.p_vaddr & -phdr.p_align) < start)
			start = phdr.p_vaddr & -phdr.p_align;
	}
	return dwfl_report_module(dwfl, "file", start, END);
}

Dwarf_CFI *oracle_begin(Elf *elf)
{
	Dwfl_Module *module;
	Dwarf_CFI *cfi;
	GElf_Addr bias;

	file = elf;
	row_use(elf);
	dwfl = dwfl_begin(&callbacks);
	module = dwfl ? report(elf) : NULL;
	dwfl_report_end(dwfl, NULL, NULL);
	cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	/* libdwfl maps the first segment there: in a damaged file, it may not be the lowest. */
	if (cfi && !bias && dwfl_attach_state(dwfl, elf, TID, &thread_callbacks, NULL))
		return cfi;
	oracle_end();
	return NULL;
}

void oracle_end(void)
{
	dwfl_end(dwfl);
	dwfl = NULL;
}

/* The first frame is the thread's own. */
static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct caller *caller = arg;

	if (dwfl_frame_unwound_source(frame) == DWFL_UNWOUND_INITIAL_FRAME)
		return DWARF_CB_OK;
	if (dwfl_frame_unwound_source(frame) == DWFL_UNWOUND_EH_CFI &&
	    !dwfl_frame_reg(frame, row_abi->sp, &caller->sp) &&
	    dwfl_frame_pc(frame, &caller->ra, NULL))
		caller->kind = CALLER_KNOWN;
	caller->has_fp = !dwfl_frame_reg(frame, row_abi->fp, &caller->fp);
	return DWARF_CB_ABORT;
}

struct caller oracle_caller(const struct row *row, const struct machine *machine)
{
	struct caller caller = { .kind = CALLER_UNKNOWN };

	if (row->ra_column != (int)row_abi->ra)
		return caller;
	if (row_is_outermost(row)) {
		caller.kind = CALLER_NONE;
		return caller;
	}
	thread = *machine;
	dwfl_getthread_frames(dwfl, TID, on_frame, &caller);
	return caller;
}
