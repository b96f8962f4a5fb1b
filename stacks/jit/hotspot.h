/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code cache of HotSpot (OpenJDK's virtual machine), read from outside by the description
 * that libjvm.so exports for debuggers: which fields its structures have, and where.
 */
#pragma once

#include "jit/rows.h"

/* Memory of a process, which may be hostile. How many bytes: up to a page that cannot be read */
size_t memory_read_some(__u32 pid, __u64 address, void *to, size_t size);
bool memory_read(__u32 pid, __u64 address, void *to, size_t size);

/* 0 if it cannot be read */
__u64 memory_u64(__u32 pid, __u64 address);
__u32 memory_u32(__u32 pid, __u64 address);

/* At most @size - 1 bytes, and a 0; empty if it cannot be read */
void memory_string(__u32 pid, __u64 address, char *to, size_t size);

#define HOTSPOT_MAX_HEAPS	8
#define HOTSPOT_MAX_HEADER	1024

enum hotspot_kind {
	HOTSPOT_STUBS,		/* called as functions; also all unknown kinds */
	HOTSPOT_METHOD,
	HOTSPOT_NATIVE,		/* a method that calls a native function */
	HOTSPOT_ADAPTER,
	HOTSPOT_VTABLE,
	HOTSPOT_EXCEPTION,
	HOTSPOT_INTERPRETER,
};

/* Where fields of a structure are, or the values of static ones; below 0: there is no such field */
enum hotspot_field {
	FIELD_HEAPS, FIELD_MEMORY, FIELD_SEGMAP, FIELD_LOG2_SEGMENT,
	FIELD_LOW, FIELD_HIGH, FIELD_LOW_BOUNDARY, FIELD_HIGH_BOUNDARY,
	FIELD_ARRAY_LENGTH, FIELD_ARRAY_DATA,
	FIELD_NAME, FIELD_FRAME_SIZE,
	FIELD_CODE_OFFSET, FIELD_DATA_OFFSET, FIELD_CODE_BEGIN, FIELD_CODE_END,
	FIELD_ENTRY_OFFSET, FIELD_VERIFIED_OFFSET, FIELD_ENTRY, FIELD_VERIFIED,
	FIELD_OSR_ENTRY, FIELD_STUBS, FIELD_COMPILE_ID, FIELD_METHOD, FIELD_UNPACK,
	FIELD_INTERPRETER, FIELD_BUFFER, FIELD_BEGIN, FIELD_END,
	FIELD_CODELET_SIZE, FIELD_CODELET_NAME, FIELD_RELEASE,
	FIELD_CONST_METHOD, FIELD_CONSTANTS, FIELD_NAME_INDEX, FIELD_HOLDER, FIELD_CLASS_NAME,
	FIELD_SYMBOL_LENGTH, FIELD_SYMBOL_BODY,
	NR_FIELDS
};

/* Address space for code; the used part is at its start. */
struct hotspot_heap {
	__u64 start;		/* of all that it may grow to */
	__u64 end;
	__u64 low;
	__u64 high_at;		/* where the end of the used part is */
	__u64 segmap;		/* a byte for each segment: 0 where a block begins */
	__u32 log2_segment;
};

/* A piece of the interpreter */
struct hotspot_codelet {
	__u64 start;		/* of its header: methods return to the code's first byte */
	__u64 code;
	__u64 end;
	char name[48];
};

struct hotspot {
	__u32 pid;
	__s64 fields[NR_FIELDS];
	__u32 block_header;
	__u32 codelet_header;
	__u32 constants_header;	/* 0: there are no names of methods */
	__u32 header_size;	/* bytes of a blob's header that are read */
	struct hotspot_heap heaps[HOTSPOT_MAX_HEAPS];
	size_t nr_heaps;
	struct hotspot_codelet *codelets;
	size_t nr_codelets;
	char release[48];
	__u64 name_at;		/* of the last name that was read */
	char name[48];
	int library;		/* libjvm.so */
	/* Continuations: the word of the thread that has the frame to return to, and its size */
	__u32 entry_offset;
	__u32 entry_frame;
};

/* A block of a heap that has code, as its header describes it */
struct hotspot_blob {
	__u64 block;
	__u64 block_end;
	__u64 header;
	__u64 start;		/* of the code */
	__u64 end;
	__u64 osr_entry;
	__u64 method;		/* what is compiled; 0: not a method */
	__u32 entry;		/* offsets in the code */
	__u32 verified_entry;
	__u32 stubs;
	__u32 unpack;
	__u32 frame_size;	/* bytes, with the return address */
	__u32 id;		/* of the compilation */
	enum hotspot_kind kind;
	char name[48];
};

typedef void (*hotspot_blob_fn)(void *arg, const struct hotspot_blob *blob);

/*
 * NULL: the process has no HotSpot, and @why is NULL; or @why names what its description lacks.
 * A library that was just mapped has none.
 */
struct hotspot *hotspot_open(__u32 pid, const char **why);
/* NULL, or what is missing: a virtual machine that is starting has no code. */
const char *hotspot_read_heaps(struct hotspot *vm);
void hotspot_close(struct hotspot *vm);

/* Calls @fn for all blobs. false: the process is gone, or a heap makes no sense. */
bool hotspot_each(struct hotspot *vm, hotspot_blob_fn fn, void *arg);
/* The blob that has @address */
bool hotspot_find(struct hotspot *vm, __u64 address, struct hotspot_blob *blob);

/* Its name: of a method, with that of its class */
void hotspot_name(const struct hotspot *vm, const struct hotspot_blob *blob, char *name,
		  size_t size);

/* Rows of a blob with this code. false: it has an instruction that is not known. */
bool hotspot_rows(struct hotspot *vm, const struct hotspot_blob *blob, const __u8 *code,
		  struct jit_rows *rows);
