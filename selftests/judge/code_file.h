/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __STACKS_CODE_FILE_H
#define __STACKS_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <libelf.h>
#include <linux/types.h>

#define CODE_BUILD_ID	20

struct code_symbol {
	__u64 start;
	__u64 size;		/* 0: up to the next symbol */
	const char *name;
	unsigned char rank;	/* which of several names of one address is taken */
	bool is_plt;		/* a stub; @name is that of the function it jumps to */
	bool is_ifunc;		/* the function is another one, chosen at run time */
	bool is_pointed;	/* may be called through a pointer */
};

struct code_file;

/* NULL if it is not an ELF file, or is foreign and larger than 1 GiB. Takes over @fd. */
struct code_file *code_file_open(int fd);
void code_file_close(struct code_file *file);
/* Not to be closed */
int code_file_fd(const struct code_file *file);
/* The file for libdw: for elf_end(). NULL: no memory. */
Elf *code_file_get(const struct code_file *file);

/* Bytes of the build id, up to CODE_BUILD_ID; 0: there is none. */
size_t code_file_build_id(const struct code_file *file, unsigned char *id);
bool code_file_has_sframe(const struct code_file *file);
/* Is @address in the code that the kernel, or the dynamic linker, jumps to? */
bool code_file_is_entry(const struct code_file *file, __u64 address);
bool code_file_is_x86_64(const struct code_file *file);

/* Addresses are those of the ELF file; false if @offset is not in its code. */
bool code_file_address(const struct code_file *file, __u64 offset, __u64 *address);

/* At most @max bytes of code at @address, up to the end of its segment. */
const unsigned char *code_file_code(const struct code_file *file, __u64 address,
				   size_t max, size_t *len);

const struct code_symbol *code_file_symbol(struct code_file *file, __u64 address);
const struct code_symbol *code_file_symbol_by_name(struct code_file *file, const char *name);

/* For the scan of the code. */
struct code_symbol *code_file_symbols(struct code_file *file, size_t *nr);
/* false: all functions have to be taken for pointed at. */
bool code_file_pointers_known(const struct code_file *file);
/* Calls @fn with each segment of code. */
typedef void (*elf_code_fn)(struct code_file *file, __u64 address, const unsigned char *code,
			    size_t len, void *arg);
void code_file_each_code(struct code_file *file, elf_code_fn fn, void *arg);

/* Was the code scanned for pointers to functions? Sets it. */
bool code_file_test_and_set_scanned(struct code_file *file);

#endif /* __STACKS_CODE_FILE_H */
