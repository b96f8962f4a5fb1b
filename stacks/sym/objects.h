/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects: what addresses belong to. An object is one ELF file, however many processes map it,
 * and is known by its build id, or else by device, inode, size and the time of its last change.
 */
#pragma once

#include <gelf.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include "record/stacks.h"
#include "util/util.h"

/* As the kernel: longer ones are ignored. */
#define BUILD_ID_SIZE	20

struct elf_file {
	Elf *elf;
	int fd;
	__u64 entry;
};

/*
 * NULL if it is not an ELF file, or is foreign and has more than 1 GiB, 65279 sections, or sections
 * that overlap. Takes over @fd.
 */
struct elf_file *elf_file_open(int fd);
void elf_file_close(struct elf_file *file);

/* Bytes of the build id, which are copied to @id; 0: there is none */
size_t elf_build_id(Elf *elf, unsigned char *id);

/* Do the texts of this section end with a 0? Else elf_strptr() looks for the end of each text. */
bool elf_strings_end(Elf *elf, size_t strings);

/* The section with that name, and bytes in the file; or NULL */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr);

/* A symbol for the dynamic linker, if these are not more than @max bytes; 0: there is none */
GElf_Addr elf_dynamic_symbol(Elf *elf, size_t max, const char *name);

/* Is @offset in the code that the kernel, or the dynamic linker, jumps to? */
bool elf_file_is_entry(const struct elf_file *file, __u64 offset);

/*
 * The segment of code that has an offset of the file, or an address, whether the file has that
 * byte or not; false: it is not in the code.
 */
bool elf_code_segment(Elf *elf, __u64 at, bool is_address, GElf_Phdr *segment);

/* Indices of objects that are no files. */
enum {
	OBJECT_NONE	= 0,	/* addresses are the process's */
	OBJECT_KERNEL	= 1,	/* addresses are the kernel's */
	OBJECT_FIRST	= 2,
};

/* A file, whatever its names, or code of the kernel */
struct object {
	unsigned char build_id[BUILD_ID_SIZE];
	size_t build_id_size;	/* 0: it has none */
	__u64 inode;		/* as maps have it; 0: it is in no file */
	__u32 dev_major;
	__u32 dev_minor;
	struct stat st;		/* of the file that was opened */
	__u64 kernel_start;	/* address of offset 0 of kernel code, or 0 */
	__u64 id;		/* the kernel's; 0: not known yet */
	char *path;		/* NULL: no process was seen that has it mapped */
	bool opened;		/* all that can be had of the file is there */
	bool is_copy;		/* @elf is one: the file's server may stop to answer */
	bool foreign;		/* others can change it: a file of root is better */
	bool in_stack;
	char *name;		/* what people call it */
	struct elf_file *elf;	/* NULL: not found, or not an ELF file */
	struct symbols *symbols;	/* of @elf, or of another file with that build id */
	bool tried;		/* symbols were looked for */
};

struct objects {
	bool is_file;			/* stacks are read from a file: no process is looked at */
	struct object *objects;
	size_t nr_objects;
	struct idmap ids;		/* the kernel's id: index */
	struct idmap rounds;		/* tgid: when its mappings were read */
	__u32 round;			/* mappings are read again in the next one, or at an exec */
	struct idmap hung;		/* by mapped_key(): files that did not answer */
	struct strings hung_files;	/* their names */
	struct strings hung_processes;	/* ids of processes whose mappings were not told in time */
	__u64 copied;			/* bytes of files that FUSE serves */
	__u64 nr_unknown;		/* ids that no record has described */
	bool has_new_names;		/* a file with other names was found for an object */
};

void objects_init(struct objects *objects);
void objects_free(struct objects *objects);

/* Opens what @tgid has mapped now: when it is gone, that is still known. */
void objects_read_process(struct objects *objects, __u32 tgid);

/* Of a file of stacks: an object whose file is perhaps here, too, at the same path */
void objects_add_path(struct objects *objects, struct object object, const char *path);

/*
 * For struct stacks, with @arg: the objects. Frames get the index of their object in place of its
 * id. @tgid has it mapped: if that is gone, the object gets its file from the next process that is
 * met with it.
 */
void objects_on_frame(struct stacks *stacks, __u32 tgid, bool is_kernel,
		      struct stacks_frame *frame);

/* Files that are in stacks, and could not be opened so far */
__u64 objects_nr_unopened(const struct objects *objects);

/* Was the file written to since it was opened? Then it is not the code that ran. */
bool objects_has_changed(const struct object *object);

static inline struct object *object_at(const struct objects *objects, __u32 index)
{
	return &objects->objects[index];
}
