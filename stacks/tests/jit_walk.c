// SPDX-License-Identifier: GPL-2.0
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "tests/jit_walk.h"

/* What the kernel knows of callers */
#define CALLER_REGS	(1U << FP | 1U << SP | 1U << IP)

/* A piece's table as a file that libdw reads */
struct image {
	__u64 start;
	struct bytes file;
	Elf *elf;
	Dwarf_CFI *cfi;
};

static void free_image(struct image *image)
{
	if (image->cfi)
		dwarf_cfi_end(image->cfi);
	elf_end(image->elf);
	free(image->file.data);
	*image = (struct image){};
}

/* A file with one section, whose bytes follow */
static void make_image(struct image *image, const struct eh_frame *table)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Shdr sections[3];
		char names[24];
	} head = {
		.ehdr = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_shoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
		},
		.sections[1] = {
			.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = table->vaddr, .sh_offset = sizeof(head),
			.sh_size = table->section.size, .sh_addralign = 1,
		},
		.sections[2] = {
			.sh_name = 11, .sh_type = SHT_STRTAB, .sh_size = sizeof(head.names),
			.sh_offset = (char *)head.names - (char *)&head, .sh_addralign = 1,
		},
		.names = "\0.eh_frame\0.shstrtab",
	};

	bytes_put(&image->file, &head, sizeof(head));
	bytes_put(&image->file, table->section.data, table->section.size);
	image->elf = elf_memory((char *)image->file.data, image->file.size);
	image->cfi = dwarf_getcfi_elf(image->elf);
	if (!image->cfi)
		p_err("libdw does not read a table: %s", dwarf_errmsg(-1));
}

void walk_add_table(struct walk *walk, __u64 piece, const struct eh_frame *table)
{
	struct image *image;
	size_t i;

	for (i = 0; i < walk->nr_images && walk->images[i].start != piece; i++)
		;
	image = i < walk->nr_images ? &walk->images[i] : xpush(walk->images, walk->nr_images);
	free_image(image);
	make_image(image, table);
	image->start = piece;
}

static bool read_word(struct walk *walk, __u64 address, __u64 *value)
{
	if (address - walk->stack_low >= walk->stack_size ||
	    walk->stack_size - (address - walk->stack_low) < sizeof(*value))
		return false;
	memcpy(value, walk->stack + (address - walk->stack_low), sizeof(*value));
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

/*
 * Words by registers, or by the CFA: enough for all code but that of PLTs, where nearly no
 * thread is stopped. Only the last value is used. @is_value: it is no address
 */
static bool evaluate(struct walk *walk, const struct frame *frame, __u64 cfa, const Dwarf_Op *ops,
		     size_t nr, __u64 *result, bool *is_value)
{
	const Dwarf_Op *op;
	Dwarf_Word add;
	int reg;

	*is_value = nr == 1 && ops->atom == DW_OP_regx;
	*result = cfa;
	for (op = ops; op < ops + nr; op++) {
		reg = reg_of(op, &add);
		if (reg >= NR_REGS || (reg >= 0 && !(frame->known >> reg & 1)))
			return false;
		if (reg >= 0)
			*result = frame->regs[reg] + add;
		else if (op->atom == DW_OP_plus_uconst)
			*result += op->number;
		else if (op->atom == DW_OP_stack_value)
			*is_value = true;
		else if (op->atom != DW_OP_call_frame_cfa &&
			 (op->atom != DW_OP_deref || !read_word(walk, *result, result)))
			return false;
	}
	return nr;
}

enum step { STEP_GOOD, STEP_END, STEP_NONE, STEP_BAD };

/* STEP_END: the register is undefined */
static enum step restore(struct walk *walk, Dwarf_Frame *info, const struct frame *frame,
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
	if (!evaluate(walk, frame, cfa, ops, nr, &value, &is_value) ||
	    (!is_value && !read_word(walk, value, &value)))
		return STEP_BAD;
	caller->regs[reg] = value;
	caller->known |= 1U << reg;
	return STEP_GOOD;
}

static enum step restore_all(struct walk *walk, Dwarf_Frame *info, struct frame *frame, bool *exact)
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
	    !evaluate(walk, frame, 0, ops, nr, &cfa, &is_value))
		return STEP_BAD;
	for (reg = 0; reg < NR_REGS; reg++) {
		if (!*exact && !(CALLER_REGS >> reg & 1))
			continue;
		result = restore(walk, info, frame, cfa, reg, &caller);
		if (result == STEP_BAD || (result == STEP_END && reg == IP))
			return result;
	}
	if (!*exact && caller.regs[SP] & 7)
		return STEP_BAD;
	*frame = caller;
	return STEP_GOOD;
}

static enum step step(struct walk *walk, Dwarf_CFI *cfi, __u64 at, struct frame *frame, bool *exact)
{
	Dwarf_Frame *info = NULL;
	bool was_exact = *exact;
	enum step result;

	if (!cfi || dwarf_cfi_addrframe(cfi, at, &info))
		return STEP_NONE;
	result = restore_all(walk, info, frame, exact);
	if (result != STEP_GOOD)
		*exact = was_exact;
	free(info);
	return result;
}

static Dwarf_CFI *find_table(struct walk *walk, __u64 address)
{
	__u64 start = jit_process_piece(walk->process, address)->area.span.start;
	size_t i;

	for (i = 0; i < walk->nr_images; i++) {
		if (walk->images[i].start == start)
			return walk->images[i].cfi;
	}
	return NULL;
}

void walk_read_modules(struct walk *walk)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};

	if (!walk->dwfl)
		walk->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin_add(walk->dwfl);
	dwfl_linux_proc_report(walk->dwfl, walk->process->pid);
	dwfl_report_end(walk->dwfl, NULL, NULL);
	walk->dwfl_read = now_ns();
}

static bool is_behind_call(struct walk *walk, __u64 ip)
{
	unsigned char b[7];
	int i;

	if (!memory_read(walk->process->pid, ip - 7, b, sizeof(b)))
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
const char *walk_name(struct walk *walk, __u64 ip)
{
	static char text[128];
	const struct jit_code *code = jit_process_find(walk->process, ip);
	const struct hotspot *vm = walk->process->vm;
	Dwfl_Module *module = dwfl_addrmodule(walk->dwfl, ip);
	const char *name = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL,
						     NULL) : NULL;
	size_t i;

	if (!code) {
		if (name)
			name = strrchr(name, '/') ?: name;
		else
			name = jit_process_piece(walk->process, ip) ? "no blob" : "no mapping";
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

static void check_generated(struct walk *walk, __u64 ip)
{
	const struct jit_code *code = jit_process_find(walk->process, ip);

	const struct jit_code *callee = walk->depth ?
		jit_process_find(walk->process, walk->trace[walk->depth - 1].regs[IP] - 1) : NULL;

	/* Exceptions return to the instruction that has thrown them. */
	if (code && code->blob.kind == HOTSPOT_METHOD && !is_behind_call(walk, ip) &&
	    ip < code->blob.start + code->blob.stubs &&
	    !(callee && strstr(callee->blob.name, "exception")))
		walk->bogus = true;
}

bool walk_stack(struct walk *walk, struct frame frame)
{
	bool exact = true, generated;
	Dwfl_Module *module;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;
	enum step result;
	__u64 ip;

	walk->bogus = false;
	walk->falsely = false;
	for (walk->depth = 0; walk->depth < MAX_FRAMES; walk->depth++) {
		ip = frame.regs[IP] - !exact;
		walk->trace[walk->depth] = frame;
		walk->nr_frames++;
		generated = jit_process_piece(walk->process, ip);
		module = generated ? NULL : dwfl_addrmodule(walk->dwfl, ip);
		if (!generated && !module) {
			walk->bogus = true;
			snprintf(walk->why, sizeof(walk->why), "address in no file, called from %s",
				 walk->depth ?
				 walk_name(walk, walk->trace[walk->depth - 1].regs[IP]) :
				 "nothing");
			return false;
		}
		walk->nr_generated += generated;
		if (!exact && generated)
			check_generated(walk, ip + 1);
		bias = 0;
		cfi = generated ? find_table(walk, ip) : dwfl_module_eh_cfi(module, &bias);
		result = step(walk, cfi, ip - bias, &frame, &exact);
		if (result == STEP_END)
			return true;
		if (result == STEP_GOOD)
			continue;
		if (generated && !exact && result == STEP_NONE) {
			struct frame copy = frame;
			bool ignored = false;

			walk->falsely = step(walk, cfi, ip + 1, &copy, &ignored) != STEP_NONE;
		}
		snprintf(walk->why, sizeof(walk->why), "%s: %s in %s", exact ? "leaf" : "caller",
			 result == STEP_NONE ? "no row" : "cannot be evaluated", walk_name(walk, ip));
		return false;
	}
	snprintf(walk->why, sizeof(walk->why), "too deep");
	return false;
}
