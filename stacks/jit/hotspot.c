// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "jit/hotspot.h"
#include "jit/memory.h"
#include "sym/elf_file.h"
#include "util/maps.h"
#include "util/util.h"

/* Real ones have less; the rest is not read. */
/* Bytes of the symbols of libjvm.so */
#define MAX_SYMBOLS	(64 << 20)
#define MAX_ENTRIES	16384		/* of each table of the description */
#define MAX_ENTRY	128		/* bytes */
#define BATCH		64
#define MAX_VARIABLES	64
#define PREFIX		"gHotSpotVM"
#define MAX_HEAP	(2ULL << 30)

static const struct {
	const char *type;
	const char *field;
	bool required;
	const char *old_type;	/* until JDK 21 */
} fields[NR_FIELDS] = {
	[FIELD_HEAPS]		= { "CodeCache", "_heaps", true },
	[FIELD_MEMORY]		= { "CodeHeap", "_memory", true },
	[FIELD_SEGMAP]		= { "CodeHeap", "_segmap", true },
	[FIELD_LOG2_SEGMENT]	= { "CodeHeap", "_log2_segment_size", true },
	[FIELD_LOW]		= { "VirtualSpace", "_low", true },
	[FIELD_HIGH]		= { "VirtualSpace", "_high", true },
	[FIELD_LOW_BOUNDARY]	= { "VirtualSpace", "_low_boundary", true },
	[FIELD_HIGH_BOUNDARY]	= { "VirtualSpace", "_high_boundary", true },
	[FIELD_ARRAY_LENGTH]	= { "GrowableArrayBase", "_len", false, "GenericGrowableArray" },
	[FIELD_ARRAY_DATA]	= { "GrowableArray<int>", "_data", true },
	[FIELD_NAME]		= { "CodeBlob", "_name", true },
	[FIELD_KIND]		= { "CodeBlob", "_kind" },
	[FIELD_FRAME_SIZE]	= { "CodeBlob", "_frame_size", true },
	[FIELD_CODE_OFFSET]	= { "CodeBlob", "_code_offset" },
	[FIELD_DATA_OFFSET]	= { "CodeBlob", "_data_offset" },
	[FIELD_CODE_BEGIN]	= { "CodeBlob", "_code_begin" },
	[FIELD_CODE_END]	= { "CodeBlob", "_code_end" },
	[FIELD_ENTRY_OFFSET]	= { "nmethod", "_entry_offset" },
	[FIELD_VERIFIED_OFFSET]	= { "nmethod", "_verified_entry_offset" },
	[FIELD_ENTRY]		= { "nmethod", "_entry_point" },
	[FIELD_VERIFIED]	= { "nmethod", "_verified_entry_point" },
	[FIELD_OSR_ENTRY]	= { "nmethod", "_osr_entry_point", true },
	[FIELD_STUBS]		= { "nmethod", "_stub_offset", true },
	[FIELD_COMPILE_ID]	= { "nmethod", "_compile_id", true },
	[FIELD_METHOD]		= { "nmethod", "_method", false, "CompiledMethod" },
	[FIELD_UNPACK]		= { "DeoptimizationBlob", "_unpack_offset" },
	[FIELD_INTERPRETER]	= { "AbstractInterpreter", "_code", true },
	[FIELD_BUFFER]		= { "StubQueue", "_stub_buffer", true },
	[FIELD_BEGIN]		= { "StubQueue", "_queue_begin", true },
	[FIELD_END]		= { "StubQueue", "_queue_end", true },
	[FIELD_CODELET_SIZE]	= { "InterpreterCodelet", "_size", true },
	[FIELD_CODELET_NAME]	= { "InterpreterCodelet", "_description", true },
	[FIELD_RELEASE]		= { "Abstract_VM_Version", "_s_vm_release" },
	[FIELD_CONST_METHOD]	= { "Method", "_constMethod" },
	[FIELD_CONSTANTS]	= { "ConstMethod", "_constants" },
	[FIELD_NAME_INDEX]	= { "ConstMethod", "_name_index" },
	[FIELD_HOLDER]		= { "ConstantPool", "_pool_holder" },
	[FIELD_CLASS_NAME]	= { "Klass", "_name" },
	[FIELD_SYMBOL_LENGTH]	= { "Symbol", "_length" },
	[FIELD_SYMBOL_BODY]	= { "Symbol", "_body" },
};

/* Before JDK 23 there are only names. */
static const char *const kinds[HOTSPOT_INTERPRETER] = {
	[HOTSPOT_METHOD]	= "CodeBlobKind::Nmethod",
	[HOTSPOT_ADAPTER]	= "CodeBlobKind::Adapter",
	[HOTSPOT_VTABLE]	= "CodeBlobKind::Vtable",
	[HOTSPOT_EXCEPTION]	= "CodeBlobKind::Exception",
};

/* Where parts of an entry of the description are */
enum part {
	PART_FIELD, PART_IS_STATIC, PART_ADDRESS, PART_OFFSET,	/* of a field */
	PART_SIZE,						/* of a type */
	PART_VALUE,						/* of a constant */
	NR_PARTS
};

/* The library, while its description is read */
struct library {
	__u32 pid;
	struct elf_file *file;
	__u64 bias;		/* of the process's addresses to the file's */
	char *path;
	struct {
		const char *name;
		__u64 value;
	} variables[MAX_VARIABLES];
	size_t nr;
	__u64 at[NR_PARTS];
};

static bool is_library(const struct maps_line *line)
{
	const char *name = strrchr(line->path, '/');

	return name && !strncmp(name, "/libjvm.so", 10);
}

static void note_library(void *arg, __u32 tgid, const struct maps_line *line)
{
	*(bool *)arg |= is_library(line);
}

bool hotspot_is_mapped(__u32 pid)
{
	bool is_mapped = false;

	if (pid)
		maps_each(pid, note_library, &is_mapped);
	return is_mapped;
}

static void find_library(void *arg, __u32 tgid, const struct maps_line *line)
{
	struct library *library = arg;
	GElf_Phdr segment;
	size_t i, nr;
	int fd;

	if (library->file || !is_library(line))
		return;
	fd = maps_open(tgid, line, false);
	library->file = fd < 0 ? NULL : elf_file_open(fd);
	if (!library->file || elf_getphdrnum(library->file->elf, &nr))
		return;
	for (i = 0; i < nr && i < 64; i++) {
		if (gelf_getphdr(library->file->elf, i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X) {
			library->bias = line->start - (segment.p_vaddr & -4096ULL);
			library->path = maps_path(tgid, line);
			return;
		}
	}
}

/* A variable gHotSpotVM... */
static void add_variable(void *arg, const char *name, const GElf_Sym *sym)
{
	struct library *library = arg;

	if (strncmp(name, PREFIX, strlen(PREFIX)) || library->nr == ARRAY_SIZE(library->variables))
		return;
	library->variables[library->nr].name = name + strlen(PREFIX);
	library->variables[library->nr++].value = memory_u64(library->pid,
							     library->bias + sym->st_value);
}

/* 0: there is none, or it is not set yet */
static __u64 variable(const struct library *library, const char *name)
{
	size_t i;

	for (i = 0; i < library->nr; i++) {
		if (!strcmp(library->variables[i].name, name))
			return library->variables[i].value;
	}
	return 0;
}

/* @entry: its bytes; @name: of the type or constant. */
typedef void (*entry_fn)(struct hotspot *vm, const struct library *library, const __u8 *entry,
			 const char *name);

static __u64 value_at(const __u8 *entry, __u64 at)
{
	__u64 value = 0;

	if (at <= MAX_ENTRY - sizeof(value))
		memcpy(&value, entry + at, sizeof(value));
	return value;
}

/* Calls @fn for the entries of a table, such as Structs. Those of a type share its name. */
static void each_entry(struct hotspot *vm, const struct library *library, const char *table,
		       const char *name, entry_fn fn)
{
	__u8 entries[(BATCH + 1) * MAX_ENTRY] = {}, *entry = entries;
	__u64 at, stride, name_at, last = 0;
	size_t i, left = 0;
	char text[64];

	snprintf(text, sizeof(text), "%ss", table);
	at = variable(library, text);
	snprintf(text, sizeof(text), "%sEntryArrayStride", table);
	stride = variable(library, text);
	snprintf(text, sizeof(text), "%sEntry%sOffset", table, name);
	name_at = variable(library, text);
	if (!at || !stride || stride > MAX_ENTRY)
		return;
	for (i = 0; i < MAX_ENTRIES; i++, left--, entry += stride) {
		if (!left) {
			entry = entries;
			left = memory_read_some(vm->pid, at + i * stride, entries,
						BATCH * stride) / stride;
		}
		if (!left)
			return;
		if (value_at(entry, name_at) != last)
			memory_string(vm->pid, value_at(entry, name_at), text, sizeof(text));
		last = value_at(entry, name_at);
		if (!last || !*text)
			return;
		fn(vm, library, entry, text);
	}
}

static bool is_type(size_t i, const char *type)
{
	return !strcmp(type, fields[i].type) ||
	       (fields[i].old_type && !strcmp(type, fields[i].old_type));
}

static void take_field(struct hotspot *vm, const struct library *library, const __u8 *entry,
		       const char *type)
{
	const __u64 *at = library->at;
	bool is_static = (__u32)value_at(entry, at[PART_IS_STATIC]);
	char field[48] = "";
	size_t i;

	for (i = 0; i < NR_FIELDS; i++) {
		if (!is_type(i, type))
			continue;
		if (!*field)
			memory_string(vm->pid, value_at(entry, at[PART_FIELD]), field,
				      sizeof(field));
		if (!strcmp(field, fields[i].field))
			vm->fields[i] = value_at(entry, at[is_static ? PART_ADDRESS : PART_OFFSET]);
	}
}

static void take_size(struct hotspot *vm, const struct library *library, const __u8 *entry,
		      const char *type)
{
	__u32 size = value_at(entry, library->at[PART_SIZE]);

	if (!strcmp(type, "HeapBlock"))
		vm->block_header = size;
	else if (!strcmp(type, "InterpreterCodelet"))
		vm->codelet_header = size;
	else if (!strcmp(type, "ConstantPool"))
		vm->constants_header = size;
}

static void take_constant(struct hotspot *vm, const struct library *library, const __u8 *entry,
			  const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i] && !strcmp(name, kinds[i]))
			vm->kinds[i] = (__u32)value_at(entry, library->at[PART_VALUE]);
	}
}

static void read_description(struct hotspot *vm, struct library *library)
{
	static const char *const names[NR_PARTS] = {
		[PART_FIELD]		= "StructEntryFieldNameOffset",
		[PART_IS_STATIC]	= "StructEntryIsStaticOffset",
		[PART_ADDRESS]		= "StructEntryAddressOffset",
		[PART_OFFSET]		= "StructEntryOffsetOffset",
		[PART_SIZE]		= "TypeEntrySizeOffset",
		[PART_VALUE]		= "IntConstantEntryValueOffset",
	};
	size_t i;

	elf_each_dynamic(library->file->elf, MAX_SYMBOLS, add_variable, library);
	for (i = 0; i < NR_PARTS; i++)
		library->at[i] = variable(library, names[i]);
	each_entry(vm, library, "Struct", "TypeName", take_field);
	each_entry(vm, library, "Type", "TypeName", take_size);
	each_entry(vm, library, "IntConstant", "Name", take_constant);
}

/* All fields of a blob's header are read at once. */
static const char *check_fields(struct hotspot *vm)
{
	__s64 last = 0;
	size_t i;

	for (i = 0; i < NR_FIELDS; i++) {
		if (vm->fields[i] < 0 && fields[i].required)
			return fields[i].field;
		if (i >= FIELD_NAME && i <= FIELD_UNPACK)
			last = max(last, vm->fields[i]);
	}
	for (i = FIELD_CONST_METHOD; i < NR_FIELDS; i++) {
		if (vm->fields[i] < 0)
			vm->constants_header = 0;
	}
	vm->header_size = last + sizeof(__u64);
	if (vm->header_size > HOTSPOT_MAX_HEADER)
		return "a CodeBlob of real size";
	if (vm->block_header != 8 && vm->block_header != 16)
		return "HeapBlock";
	if ((vm->fields[FIELD_CODE_OFFSET] < 0 || vm->fields[FIELD_DATA_OFFSET] < 0 ||
	     vm->fields[FIELD_ENTRY_OFFSET] < 0 || vm->fields[FIELD_VERIFIED_OFFSET] < 0) &&
	    (vm->fields[FIELD_CODE_BEGIN] < 0 || vm->fields[FIELD_CODE_END] < 0 ||
	     vm->fields[FIELD_ENTRY] < 0 || vm->fields[FIELD_VERIFIED] < 0))
		return "where the code of a CodeBlob is";
	return vm->codelet_header ? NULL : "InterpreterCodelet";
}

const char *hotspot_read_heaps(struct hotspot *vm)
{
	struct hotspot_heap *heap = vm->heaps;
	const __s64 *f = vm->fields;
	__u64 array, data, at;
	__u32 i, nr;

	/* Heaps come one by one, and then the interpreter. */
	if (!memory_u64(vm->pid, f[FIELD_INTERPRETER]))
		return "an interpreter (is it starting?)";
	array = memory_u64(vm->pid, f[FIELD_HEAPS]);
	data = memory_u64(vm->pid, array + f[FIELD_ARRAY_DATA]);
	nr = memory_u32(vm->pid, array + f[FIELD_ARRAY_LENGTH]);
	for (i = 0; i < nr && i < HOTSPOT_MAX_HEAPS; i++, heap++) {
		at = memory_u64(vm->pid, data + 8 * i);
		heap->start = memory_u64(vm->pid, at + f[FIELD_MEMORY] + f[FIELD_LOW_BOUNDARY]);
		heap->end = memory_u64(vm->pid, at + f[FIELD_MEMORY] + f[FIELD_HIGH_BOUNDARY]);
		heap->low = memory_u64(vm->pid, at + f[FIELD_MEMORY] + f[FIELD_LOW]);
		heap->high_at = at + f[FIELD_MEMORY] + f[FIELD_HIGH];
		heap->segmap = memory_u64(vm->pid, at + f[FIELD_SEGMAP] + f[FIELD_LOW]);
		heap->log2_segment = memory_u32(vm->pid, at + f[FIELD_LOG2_SEGMENT]);
		if (!heap->start || heap->end <= heap->start ||
		    heap->end - heap->start > MAX_HEAP || heap->low < heap->start ||
		    heap->log2_segment < 6 || heap->log2_segment > 16)
			return "a code heap that makes sense";
	}
	vm->nr_heaps = i;
	if (f[FIELD_RELEASE] > 0)
		memory_string(vm->pid, memory_u64(vm->pid, f[FIELD_RELEASE]), vm->release,
			      sizeof(vm->release));
	return i ? NULL : "code heaps";
}

struct hotspot *hotspot_open(__u32 pid, const char **why)
{
	struct hotspot *vm = xcalloc(1, sizeof(*vm));
	struct library library = { .pid = pid };
	GElf_Ehdr ehdr;

	*why = NULL;
	vm->pid = pid;
	memset(vm->fields, 0xff, sizeof(vm->fields));
	memset(vm->kinds, 0xff, sizeof(vm->kinds));
	maps_each(pid, find_library, &library);
	if (library.file && (!gelf_getehdr(library.file->elf, &ehdr) ||
			     ehdr.e_machine != EM_X86_64)) {
		*why = "code for x86-64";
	} else if (library.file) {
		read_description(vm, &library);
		*why = check_fields(vm);
	}
	elf_file_close(library.file);
	vm->path = library.path;
	if (library.file && !vm->path)
		*why = "libjvm.so's code";
	if (!library.file || *why) {
		hotspot_close(vm);
		return NULL;
	}
	return vm;
}

void hotspot_close(struct hotspot *vm)
{
	free(vm->codelets);
	free(vm->path);
	free(vm);
}
