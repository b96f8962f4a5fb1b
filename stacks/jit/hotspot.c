// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include "jit/hotspot.h"
#include "sym/objects.h"
#include "util/maps.h"

/* Real ones have less; the rest is not read. */
#define MAX_SYMBOLS	(64 << 20)	/* bytes, of libjvm.so */
#define MAX_ENTRIES	16384		/* of each table of the description */
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

/* An entry of gHotSpotVMStructs, a field; the last one has no names. */
struct field_entry {
	__u64 type;
	__u64 name;
	__u64 type_of_field;
	__u64 is_static;	/* 32 bits */
	__u64 offset;
	__u64 address;		/* of a static one */
};

/* An entry of gHotSpotVMTypes */
struct type_entry {
	__u64 name;
	__u64 superclass;
	__u32 is_class[3];
	__u64 size;
};

/* What libjvm.so exports: tables, each with the size of an entry */
static const char *const variables[] = {
	"gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
	"gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
};

/* The library, while its description is read */
struct library {
	__u32 pid;
	struct elf_file *file;
	bool has_code;
	__u64 bias;		/* of the process's addresses to the file's */
	__u64 at[ARRAY_SIZE(variables)];	/* where they are */
};

static void find_library(void *arg, __u32 tgid, const struct procmap_query *line, const char *path)
{
	struct library *library = arg;
	GElf_Phdr code;
	int fd;

	if (library->file || !maps_is(path, "libjvm.so"))
		return;
	fd = maps_open(tgid, line, path, false);
	library->file = fd < 0 ? NULL : elf_file_open(fd);
	/* A segment begins anywhere in its first page. */
	library->has_code = library->file &&
			    elf_code_segment(library->file->elf, line->vma_offset + PAGE - 1, false,
					     &code);
	if (library->has_code)
		library->bias = line->vma_start - line->vma_offset + code.p_offset - code.p_vaddr;
}

/* The entries of a table, which need not end behind them; NULL: they are of another size */
static void *read_table(const struct library *library, int variable, size_t size, size_t *nr)
{
	void *entries;

	*nr = 0;
	if (memory_u64(library->pid, library->at[variable + 1]) != size)
		return NULL;
	entries = xcalloc(MAX_ENTRIES, size);
	*nr = memory_read_some(library->pid, memory_u64(library->pid, library->at[variable]),
			       entries, MAX_ENTRIES * size) / size;
	return entries;
}

static void take_field(struct hotspot *vm, const struct field_entry *entry, const char *type)
{
	char name[48] = "";
	size_t i;

	for (i = 0; i < NR_FIELDS; i++) {
		if (strcmp(type, fields[i].type) &&
		    strcmp(type, fields[i].old_type ?: fields[i].type))
			continue;
		if (!*name)
			memory_string(vm->pid, entry->name, name, sizeof(name));
		if (!strcmp(name, fields[i].field))
			vm->fields[i] = (__u32)entry->is_static ? entry->address : entry->offset;
	}
}

/* Entries of a type share its name. */
static void read_fields(struct hotspot *vm, const struct library *library)
{
	struct field_entry *entries;
	char type[64] = "";
	size_t i, nr;

	entries = read_table(library, 0, sizeof(*entries), &nr);
	for (i = 0; i < nr && entries[i].type; i++) {
		if (!i || entries[i].type != entries[i - 1].type)
			memory_string(vm->pid, entries[i].type, type, sizeof(type));
		take_field(vm, &entries[i], type);
	}
	free(entries);
}

static void read_sizes(struct hotspot *vm, const struct library *library)
{
	struct type_entry *entries;
	char type[64];
	size_t i, nr;

	entries = read_table(library, 2, sizeof(*entries), &nr);
	for (i = 0; i < nr && entries[i].name; i++) {
		memory_string(vm->pid, entries[i].name, type, sizeof(type));
		if (!strcmp(type, "HeapBlock"))
			vm->block_header = entries[i].size;
		else if (!strcmp(type, "InterpreterCodelet"))
			vm->codelet_header = entries[i].size;
		else if (!strcmp(type, "ConstantPool"))
			vm->constants_header = entries[i].size;
	}
	free(entries);
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
	if (last > HOTSPOT_MAX_HEADER - (__s64)sizeof(__u64))
		return "a CodeBlob of real size";
	vm->header_size = last + sizeof(__u64);
	if (vm->block_header != 8 && vm->block_header != 16)
		return "HeapBlock";
	if ((vm->fields[FIELD_CODE_OFFSET] < 0 || vm->fields[FIELD_DATA_OFFSET] < 0 ||
	     vm->fields[FIELD_ENTRY_OFFSET] < 0 || vm->fields[FIELD_VERIFIED_OFFSET] < 0) &&
	    (vm->fields[FIELD_CODE_BEGIN] < 0 || vm->fields[FIELD_CODE_END] < 0 ||
	     vm->fields[FIELD_ENTRY] < 0 || vm->fields[FIELD_VERIFIED] < 0))
		return "where the code of a CodeBlob is";
	return vm->codelet_header && vm->codelet_header <= HOTSPOT_MAX_HEADER ? NULL :
	       "InterpreterCodelet";
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
	make_printable(vm->release);
	return i ? NULL : "code heaps";
}

/* NULL, or what is missing */
static const char *read_description(struct hotspot *vm, struct library *library)
{
	GElf_Ehdr ehdr;
	size_t i;

	if (!gelf_getehdr(library->file->elf, &ehdr) || ehdr.e_machine != EM_X86_64)
		return "code for x86-64";
	if (!library->has_code)
		return "libjvm.so's code";
	for (i = 0; i < ARRAY_SIZE(variables); i++)
		library->at[i] = library->bias +
				 elf_dynamic_symbol(library->file->elf, MAX_SYMBOLS, variables[i]);
	read_fields(vm, library);
	read_sizes(vm, library);
	return check_fields(vm);
}

struct hotspot *hotspot_open(__u32 pid, const char **why)
{
	struct hotspot *vm = xcalloc(1, sizeof(*vm));
	struct library library = { .pid = pid };

	vm->pid = pid;
	memset(vm->fields, 0xff, sizeof(vm->fields));
	maps_each(pid, MAPS_CODE, find_library, &library);
	*why = library.file ? read_description(vm, &library) : NULL;
	vm->library = library.file ? fcntl(library.file->fd, F_DUPFD_CLOEXEC, 0) : -1;
	elf_file_close(library.file);
	if (library.file && !*why)
		return vm;
	hotspot_close(vm);
	return NULL;
}

void hotspot_close(struct hotspot *vm)
{
	free(vm->codelets);
	if (vm->library >= 0)
		close(vm->library);
	free(vm);
}
