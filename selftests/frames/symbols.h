/* SPDX-License-Identifier: GPL-2.0 */
/* Which function is at an offset of a file, or at an address of a process */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/bpf.h>

struct place {
	const char *object;	/* name of the file, without directory */
	const char *symbol;	/* function or section, or "?" */
	const char *exact;	/* the same for the address itself, not the byte before */
	bool interrupted;	/* by a signal, says the record */
};

/* Know the ELF files of a directory. */
void symbols_add_directory(const char *path);

/* Know what a process has mapped, until the next call. */
void symbols_add_process(pid_t pid);

/* File offset of an address of a process; its path is copied to @path. */
bool symbols_offset(pid_t pid, __u64 addr, char *path, size_t size, __u64 *offset);

void symbols_of_row(const struct bpf_vma_info *row, __u64 offset, struct place *place);
void symbols_of_address(__u64 addr, struct place *place);

#endif /* SYMBOLS_H */
