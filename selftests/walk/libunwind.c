// SPDX-License-Identifier: GPL-2.0
/*
 * The walk by libunwind, for another process as perf uses it, but all memory is here, and with
 * a cache of rules
 */
#include <elf.h>
#include <err.h>
#include <libunwind-x86_64.h>
#include <string.h>
#include "user-memory.h"
#include "walk.h"

/* Enough for all rules that the samples need */
#define CACHE_SIZE	4096

/* The header of .eh_frame_hdr that all linkers write, and its table */
#define HDR_ENCODINGS	0x3b031b01
#define HDR_COUNT	8
#define HDR_TABLE	12

int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
				       unw_proc_info_t *pi, int need_info, void *arg);

static unw_addr_space_t space;
static const struct program *program;
static const struct sample *current;

static const struct file_image *find_file(uint64_t ip)
{
	for (unsigned int i = 0; i < program->nr_files; i++) {
		if (ip >= program->files[i].start && ip < program->files[i].end)
			return &program->files[i];
	}
	return NULL;
}

static bool find_table(const struct file_image *file, unw_dyn_info_t *di)
{
	const Elf64_Ehdr *ehdr = (const void *)file->data;
	const Elf64_Phdr *phdr = (const void *)(file->data + ehdr->e_phoff);
	uint32_t encodings, count;

	for (unsigned int i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type != PT_GNU_EH_FRAME)
			continue;
		memcpy(&encodings, file->data + phdr[i].p_offset, sizeof(encodings));
		memcpy(&count, file->data + phdr[i].p_offset + HDR_COUNT, sizeof(count));
		*di = (unw_dyn_info_t) {
			.format = UNW_INFO_FORMAT_REMOTE_TABLE,
			.start_ip = file->start,
			.end_ip = file->end,
			.u.rti = {
				.segbase = phdr[i].p_vaddr + file->bias,
				.table_data = phdr[i].p_vaddr + file->bias + HDR_TABLE,
				.table_len = count,
			},
		};
		return encodings == HDR_ENCODINGS;
	}
	return false;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need_info,
			  void *arg)
{
	const struct file_image *file = find_file(ip);
	unw_dyn_info_t di;

	if (!file || !find_table(file, &di))
		return -UNW_ENOINFO;
	return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need_info, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *word, int write,
		      void *arg)
{
	const uint64_t *at = user_at(address);

	if (!at || write)
		return -UNW_EINVAL;
	*word = *at;
	return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	if (reg > UNW_X86_64_RIP || write)
		return -UNW_EBADREG;
	*value = current->regs[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	return -UNW_EINVAL;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = get_dyn_info_list_addr,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
};

static void libunwind_open(const struct program *of)
{
	program = of;
	space = unw_create_addr_space(&accessors, 0);
	if (!space)
		errx(1, "libunwind: no address space");
	unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	unw_set_cache_size(space, CACHE_SIZE, 0);
}

static void libunwind_use(const struct sample *sample, unsigned int thread)
{
	current = sample;
}

static unsigned int libunwind_walk(unsigned long *entries, unsigned int max)
{
	unw_cursor_t cursor;
	unsigned int nr = 0;
	unw_word_t ip;

	if (unw_init_remote(&cursor, space, NULL))
		return 0;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip)
			break;
		entries[nr++] = ip;
	} while (nr < max && unw_step(&cursor) > 0);
	return nr;
}

/* The cache is emptied when a library is unmapped, but not by each mmap. */
const struct design libunwind_design = {
	.name = "libunwind",
	.slow = true,
	.open = libunwind_open,
	.use = libunwind_use,
	.walk = libunwind_walk,
};
