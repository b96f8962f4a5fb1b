// SPDX-License-Identifier: GPL-2.0
#include "jit/hotspot.h"

#define MAX_CODELETS	4096
#define MAX_INTERPRETER	(16U << 20)
#define CODELET_ALIGN	32
#define MAX_BLOCKS	1048576		/* of a heap */
#define MAX_HOPS	4096		/* to the start of a block: each is up to 254 segments */
#define FREE_SEGMENT	0xff
#define MAX_SYMBOL	512

/* The interpreter is made after the first blobs, and cut to size when it is ready. */
static void read_codelets(struct hotspot *vm)
{
	const __s64 *f = vm->fields;
	__u64 queue = memory_u64(vm->pid, f[FIELD_INTERPRETER]);
	__u64 buffer = memory_u64(vm->pid, queue + f[FIELD_BUFFER]);
	__u32 at = memory_u32(vm->pid, queue + f[FIELD_BEGIN]), size;
	__u32 end = memory_u32(vm->pid, queue + f[FIELD_END]);
	struct hotspot_codelet *codelet;

	free(vm->codelets);
	vm->codelets = NULL;
	vm->nr_codelets = 0;
	if (!queue || !buffer || end > MAX_INTERPRETER)
		return;
	for (; at < end && vm->nr_codelets < MAX_CODELETS; at += size) {
		size = memory_u32(vm->pid, buffer + at + f[FIELD_CODELET_SIZE]);
		if (size <= vm->codelet_header + CODELET_ALIGN || size > end - at)
			return;
		codelet = xpush(vm->codelets, vm->nr_codelets);
		codelet->start = buffer + at;
		codelet->end = buffer + at + size;
		codelet->code = (buffer + at + vm->codelet_header + CODELET_ALIGN - 1) &
				-CODELET_ALIGN;
		memory_string(vm->pid, memory_u64(vm->pid, buffer + at + f[FIELD_CODELET_NAME]),
			      codelet->name, sizeof(codelet->name));
	}
}

static __u64 header_value(const struct hotspot *vm, const __u8 *header, enum hotspot_field field,
			  size_t size)
{
	__u64 value = 0;

	if (vm->fields[field] >= 0)
		memcpy(&value, header + vm->fields[field], size);
	return value;
}

/* All versions have the same names. */
static enum hotspot_kind kind_of(const struct hotspot *vm, const struct hotspot_blob *blob)
{
	static const struct {
		const char *name;
		enum hotspot_kind kind;
	} kinds[] = {
		{ "nmethod", HOTSPOT_METHOD },
		{ "native nmethod", HOTSPOT_NATIVE },
		{ "I2C/C2I adapters", HOTSPOT_ADAPTER },
		{ "vtable chunks", HOTSPOT_VTABLE },
		{ "ExceptionBlob", HOTSPOT_EXCEPTION },
	};
	size_t i;

	if (vm->nr_codelets && vm->codelets[0].code >= blob->start &&
	    vm->codelets[0].code < blob->end)
		return HOTSPOT_INTERPRETER;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(blob->name, kinds[i].name))
			return kinds[i].kind;
	}
	return HOTSPOT_STUBS;
}

static void parse_method(const struct hotspot *vm, const __u8 *header, struct hotspot_blob *blob)
{
	blob->id = header_value(vm, header, FIELD_COMPILE_ID, 4);
	blob->method = header_value(vm, header, FIELD_METHOD, 8);
	blob->osr_entry = header_value(vm, header, FIELD_OSR_ENTRY, 8);
	blob->stubs = blob->header + (__s32)header_value(vm, header, FIELD_STUBS, 4) - blob->start;
	if (vm->fields[FIELD_ENTRY_OFFSET] >= 0) {
		blob->entry = header_value(vm, header, FIELD_ENTRY_OFFSET, 2);
		blob->verified_entry = header_value(vm, header, FIELD_VERIFIED_OFFSET, 2);
	} else {
		blob->entry = header_value(vm, header, FIELD_ENTRY, 8) - blob->start;
		blob->verified_entry = header_value(vm, header, FIELD_VERIFIED, 8) - blob->start;
	}
}

/* Nearly all blobs have the same one. */
static void read_name(struct hotspot *vm, __u64 address, char *name)
{
	if (address != vm->name_at)
		memory_string(vm->pid, address, vm->name, sizeof(vm->name));
	vm->name_at = address;
	strcpy(name, vm->name);
}

/* @bytes: of the block, from its own header on. false: it is free, or not complete yet. */
static bool parse_block(struct hotspot *vm, const struct hotspot_heap *heap, __u64 block,
			__u64 high, const __u8 *bytes, struct hotspot_blob *blob)
{
	const __u8 *header = bytes + vm->block_header;
	__u32 length;

	memcpy(&length, bytes, sizeof(length));
	*blob = (struct hotspot_blob){
		.block = block,
		.block_end = block + ((__u64)length << heap->log2_segment),
		.header = block + vm->block_header,
	};
	if (!bytes[vm->block_header / 2] || blob->block_end <= blob->header ||
	    blob->block_end > high)
		return false;
	if (vm->fields[FIELD_CODE_OFFSET] >= 0) {
		blob->start = blob->header + header_value(vm, header, FIELD_CODE_OFFSET, 4);
		blob->end = blob->header + header_value(vm, header, FIELD_DATA_OFFSET, 4);
	} else {
		blob->start = header_value(vm, header, FIELD_CODE_BEGIN, 8);
		blob->end = header_value(vm, header, FIELD_CODE_END, 8);
	}
	if (blob->start < blob->header || blob->end > blob->block_end || blob->start >= blob->end)
		return false;
	blob->frame_size = min(header_value(vm, header, FIELD_FRAME_SIZE, 4), 1ULL << 20) * 8;
	read_name(vm, header_value(vm, header, FIELD_NAME, 8), blob->name);
	if (!*blob->name)
		return false;
	blob->kind = kind_of(vm, blob);
	blob->unpack = header_value(vm, header, FIELD_UNPACK, 4);
	if (blob->kind == HOTSPOT_METHOD || blob->kind == HOTSPOT_NATIVE)
		parse_method(vm, header, blob);
	return true;
}

/* The last block may be shorter than a header. */
static bool read_block(struct hotspot *vm, const struct hotspot_heap *heap, __u64 block, __u64 high,
		       struct hotspot_blob *blob)
{
	__u8 bytes[16 + HOTSPOT_MAX_HEADER];

	return memory_read(vm->pid, block, bytes, vm->block_header + vm->header_size) &&
	       parse_block(vm, heap, block, high, bytes, blob);
}

static bool each_of_heap(struct hotspot *vm, const struct hotspot_heap *heap,
			 hotspot_blob_fn fn, void *arg)
{
	__u64 high = memory_u64(vm->pid, heap->high_at), block, last_end = 0;
	size_t i, left = MAX_BLOCKS, segments = (high - heap->low) >> heap->log2_segment;
	struct hotspot_blob blob;
	__u8 *map;

	if (high < heap->low || high > heap->end)
		return false;
	map = xcalloc(segments, 1);
	if (!memory_read(vm->pid, heap->segmap, map, segments)) {
		free(map);
		return false;
	}
	for (i = 0; i < segments && left; i++) {
		block = heap->low + ((__u64)i << heap->log2_segment);
		if (map[i] || block < last_end)
			continue;
		left--;
		if (!read_block(vm, heap, block, high, &blob))
			continue;
		last_end = blob.block_end;
		fn(arg, &blob);
	}
	free(map);
	return left;
}

bool hotspot_each(struct hotspot *vm, hotspot_blob_fn fn, void *arg)
{
	size_t i;

	read_codelets(vm);
	for (i = 0; i < vm->nr_heaps; i++) {
		if (!each_of_heap(vm, &vm->heaps[i], fn, arg))
			return false;
	}
	return true;
}

/* The map has how many segments to go back, in hops. */
bool hotspot_find(struct hotspot *vm, __u64 address, struct hotspot_blob *blob)
{
	__u8 hop = 0;
	const struct hotspot_heap *heap;
	__u64 high = 0, segment;
	size_t i;

	for (heap = vm->heaps; heap < vm->heaps + vm->nr_heaps; heap++) {
		if (address >= heap->low && address < heap->end)
			break;
	}
	if (heap == vm->heaps + vm->nr_heaps)
		return false;
	high = memory_u64(vm->pid, heap->high_at);
	segment = (address - heap->low) >> heap->log2_segment;
	for (i = 0; i < MAX_HOPS; i++, segment -= hop) {
		if (!memory_read(vm->pid, heap->segmap + segment, &hop, 1) ||
		    hop == FREE_SEGMENT || hop > segment)
			return false;
		if (!hop)
			break;
	}
	address = heap->low + (segment << heap->log2_segment);
	return !hop && high <= heap->end && read_block(vm, heap, address, high, blob);
}

static bool read_symbol(const struct hotspot *vm, __u64 symbol, char *to)
{
	size_t length = (__u16)memory_u32(vm->pid, symbol + vm->fields[FIELD_SYMBOL_LENGTH]);

	length = min(length, (size_t)MAX_SYMBOL - 1);
	memset(to, 0, MAX_SYMBOL);
	return symbol && length &&
	       memory_read(vm->pid, symbol + vm->fields[FIELD_SYMBOL_BODY], to, length);
}

/* The constants of a class have its name, and those of its methods. */
void hotspot_name(const struct hotspot *vm, const struct hotspot_blob *blob, char *name,
		  size_t size)
{
	const __s64 *f = vm->fields;
	char class_name[MAX_SYMBOL], method_name[MAX_SYMBOL], *c;
	__u64 method = vm->constants_header ? blob->method : 0, constants, holder, symbol;
	__u16 index;

	snprintf(name, size, "%s", blob->name);
	if (method) {
		method = memory_u64(vm->pid, method + f[FIELD_CONST_METHOD]);
		index = memory_u32(vm->pid, method + f[FIELD_NAME_INDEX]);
		constants = memory_u64(vm->pid, method + f[FIELD_CONSTANTS]);
		symbol = memory_u64(vm->pid, constants + vm->constants_header + 8 * index);
		holder = memory_u64(vm->pid, constants + f[FIELD_HOLDER]);
		if (!read_symbol(vm, symbol, method_name) ||
		    !read_symbol(vm, memory_u64(vm->pid, holder + f[FIELD_CLASS_NAME]), class_name))
			method = 0;
	}
	if (method) {
		for (c = class_name; *c; c++)
			*c = *c == '/' ? '.' : *c;
		snprintf(name, size, "%s.%s", class_name, method_name);
	}
	make_printable(name);
}
