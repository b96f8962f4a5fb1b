// SPDX-License-Identifier: GPL-2.0
#include <bpf/hashmap.h>
#include <bpf/libbpf.h>
#include "sym/symbolizer.h"
#include "sym/symbols.h"

/* Limit for names that are kept, for runs without an end */
#define MAX_LOCATIONS	262144

static size_t hash_location(long key, void *ctx)
{
	const struct location *location = (const void *)key;
	__u64 words[] = { location->object, location->tgid, location->addr };

	return hash_secretly(words, sizeof(words));
}

/* Of the address that is looked up. The result may be of another kind. */
static bool same_location(long left, long right, void *ctx)
{
	const struct location *a = (const void *)left, *b = (const void *)right;

	return a->object == b->object && a->tgid == b->tgid && a->addr == b->addr;
}

void symbolizer_init(struct symbolizer *symbolizer, struct objects *objects)
{
	struct hashmap *locations = hashmap__new(hash_location, same_location, NULL);

	*symbolizer = (struct symbolizer){
		.objects = objects,
		.finds_names = true,
		.locations = check_memory(libbpf_get_error(locations) ? NULL : locations),
		/* Of a file, it may be another kernel. */
		.kernel.is_read = objects->is_file,
	};
}

/* @all: else what symbolizer_refresh() looks for again. Returns whether the kernel has some. */
static bool forget_locations(struct symbolizer *symbolizer, bool all)
{
	struct hashmap_entry *entry, *next;
	struct location *location;
	bool kernel = false;
	size_t bucket;

	hashmap__for_each_entry_safe(symbolizer->locations, entry, next, bucket) {
		location = entry->pvalue;
		if (!all && location->object != OBJECT_NONE &&
		    (location->kind != LOCATION_KERNEL || location->symbol))
			continue;
		kernel |= location->kind == LOCATION_KERNEL;
		hashmap__delete(symbolizer->locations, location, NULL, NULL);
		free(location->lines);
		free(location);
	}
	return kernel;
}

static void forget_maps(struct symbolizer *symbolizer)
{
	struct hashmap_entry *entry;
	size_t bucket;

	if (symbolizer->maps.map)
		hashmap__for_each_entry(symbolizer->maps.map, entry, bucket)
			perf_map_free(entry->pvalue);
	idmap_free(&symbolizer->maps);
	symbolizer->maps_size = 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	forget_locations(symbolizer, true);
	hashmap__free(symbolizer->locations);
	forget_maps(symbolizer);
	idmap_free(&symbolizer->refused);
	idmap_free(&symbolizer->plain);
	strings_free(&symbolizer->strings);
	kernel_names_free(&symbolizer->kernel);
}

void symbolizer_refresh(struct symbolizer *symbolizer)
{
	bool all = hashmap__size(symbolizer->locations) > MAX_LOCATIONS ||
		   symbolizer->objects->has_new_names;

	symbolizer->objects->has_new_names = false;
	if (forget_locations(symbolizer, all))
		kernel_names_read(&symbolizer->kernel);
	forget_maps(symbolizer);
	if (!all)
		return;
	idmap_free(&symbolizer->plain);
	strings_free(&symbolizer->strings);
}

/* Of the file of an object; NULL: none */
static struct symbols *symbols_of(struct symbolizer *symbolizer, __u32 index)
{
	struct object *object = object_at(symbolizer->objects, index);

	if (index < OBJECT_FIRST)
		return NULL;
	if (!object->tried && objects_has_changed(object))
		symbolizer->nr_changed++;
	else if (!object->tried)
		object->symbols = symbols_open(object);
	if (!object->tried && object->symbols)
		symbolizer->nr_large += symbols_is_large(object->symbols);
	if (!object->tried && object->symbols && symbolizer->finds_lines)
		symbolizer->nr_plain += !symbols_has_lines(object->symbols);
	object->tried = true;
	return object->symbols;
}

static struct perf_map *map_of(struct symbolizer *symbolizer, __u32 tgid)
{
	long known = idmap_find(&symbolizer->maps, tgid);
	struct perf_map *map;
	bool refused;

	if (known >= 0)
		return (struct perf_map *)known;
	map = perf_map_read(tgid, &symbolizer->maps_size, &refused, &symbolizer->nr_bad_lines);
	if (refused)
		idmap_set(&symbolizer->refused, tgid, 0);
	idmap_set(&symbolizer->maps, tgid, (long)map);
	return map;
}

/* Inlined functions are at many places: each is demangled once. @suffix: of both names */
static void set_names(struct symbolizer *symbolizer, const char *symbol, const char *suffix,
		      const char **kept, const char **name)
{
	char *plain;
	long known;

	*kept = strings_format(&symbolizer->strings, "%s%s", symbol, suffix);
	known = idmap_find(&symbolizer->plain, (uintptr_t)*kept);
	if (known >= 0) {
		*name = (const char *)known;
		return;
	}
	plain = demangle(symbol);
	*name = strings_format(&symbolizer->strings, "%s%s", plain ?: symbol, suffix);
	idmap_set(&symbolizer->plain, (uintptr_t)*kept, (long)*name);
	free(plain);
}

/* There is no name. @start: of the function, if that is known */
static void set_place(struct symbolizer *symbolizer, struct location *location, __u64 start)
{
	const struct object *object = object_at(symbolizer->objects, location->object);
	struct strings *strings = &symbolizer->strings;
	size_t len = strlen(object->name);

	/* Files that were not found have names in brackets. */
	if (location->kind != LOCATION_USER)
		location->name = strings_format(strings, "[0x%llx]", start);
	else if (len > 2 && object->name[0] == '[')
		location->name = strings_format(strings, "[%.*s+0x%llx]", (int)len - 2,
						object->name + 1, start);
	else
		location->name = strings_format(strings, "[%s+0x%llx]", object->name, start);
}

/* As compilers print it, but with the last part of the path only */
static const char *shown_line(struct symbolizer *symbolizer, const struct location_line *line)
{
	if (!symbolizer->shows_lines || !line->file)
		return line->name;
	return strings_format(&symbolizer->strings, "%s %s:%u", line->name, basename(line->file),
			      line->line);
}

static void set_lines(struct symbolizer *symbolizer, struct location *location,
		      struct symbols *symbols)
{
	struct source sources[LINES_MAX];
	struct location_line *line;
	size_t i;

	location->nr_lines = symbols_lines(symbols, location->addr, sources);
	location->lines = xcalloc(location->nr_lines, sizeof(*location->lines));
	for (i = 0; i < location->nr_lines; i++) {
		line = &location->lines[i];
		line->name = location->name;
		line->symbol = location->symbol;
		if (sources[i].function)
			set_names(symbolizer, sources[i].function, "", &line->symbol, &line->name);
		if (sources[i].file)
			line->file = strings_format(&symbolizer->strings, "%s", sources[i].file);
		line->line = sources[i].line;
		line->shown = shown_line(symbolizer, line);
	}
}

static struct location *add_location(struct symbolizer *symbolizer, const struct location *new)
{
	struct location *location = xcalloc(1, sizeof(*location));

	*location = *new;
	return check_memory(hashmap__add(symbolizer->locations, location, location) ? NULL :
			    location);
}

static struct location *make_location(struct symbolizer *symbolizer, const struct location *key)
{
	struct symbol_found found = { .start = key->addr };
	struct location location = *key;
	const char *module = NULL;
	struct symbols *symbols = NULL;
	struct perf_map *map;

	if (location.kind == LOCATION_USER) {
		symbols = symbolizer->finds_names ? symbols_of(symbolizer, location.object) : NULL;
		if (symbols)
			symbols_find(symbols, location.addr, &found);
	} else if (location.kind == LOCATION_KERNEL) {
		found.name = kernel_names_find(&symbolizer->kernel, location.addr, &module);
	} else {
		map = symbolizer->objects->is_file ? NULL : map_of(symbolizer, location.tgid);
		found.name = map ? perf_map_name(map, location.addr) : NULL;
		location.kind = found.name ? LOCATION_JIT : location.kind;
	}
	if (module)
		location.module = strings_format(&symbolizer->strings, "%s", module);
	if (found.name)
		set_names(symbolizer, found.name, found.is_plt ? "@plt" : "", &location.symbol,
			  &location.name);
	else
		set_place(symbolizer, &location, found.start);
	if (symbols && symbolizer->finds_lines)
		set_lines(symbolizer, &location, symbols);
	return add_location(symbolizer, &location);
}

void symbolizer_add_name(struct symbolizer *symbolizer, __u32 tgid, __u64 addr, const char *name,
			 const char *module)
{
	struct location key = {
		.object = tgid ? OBJECT_NONE : OBJECT_KERNEL,
		.kind = tgid ? LOCATION_JIT : LOCATION_KERNEL,
		.tgid = tgid,
		.addr = addr,
		.module = *module ? strings_format(&symbolizer->strings, "%s", module) : NULL,
	};

	if (hashmap__find(symbolizer->locations, &key, NULL))
		return;
	set_names(symbolizer, name, "", &key.symbol, &key.name);
	add_location(symbolizer, &key);
}

const struct location *symbolizer_locate(struct symbolizer *symbolizer, __u32 tgid,
					 const struct stacks_stack *stack, __u32 i)
{
	const struct stacks_frame *frame = &stack->frames[i];
	struct location key = {
		.object = frame->object,
		.addr = frame->addr - frame->is_return,
		.kind = LOCATION_USER,
	}, *location;

	if (frame->object == OBJECT_KERNEL)
		key.kind = LOCATION_KERNEL;
	if (frame->object == OBJECT_NONE) {
		key.kind = LOCATION_UNKNOWN;
		key.tgid = tgid;
	}
	if (hashmap__find(symbolizer->locations, &key, &location))
		return location;
	return make_location(symbolizer, &key);
}

bool symbolizer_has_begin(struct symbolizer *symbolizer, __u32 tgid, const struct stacks_stack *stack)
{
	const struct elf_file *file;
	const struct stacks_frame *last;
	const char *name;
	__u32 i;

	if (stack->stop == BPF_STACK_STOP_COMPLETE)
		return true;
	if (!stack->nr)
		return false;
	for (i = stack->nr; i--;) {
		name = symbolizer_locate(symbolizer, tgid, stack, i)->symbol;
		if (name && !strcmp(name, "main"))
			return true;
	}
	/* Nothing calls the entry of an ELF file. Of ld.so's, .eh_frame says nothing: it has no CFI. */
	last = &stack->frames[stack->nr - 1];
	file = object_at(symbolizer->objects, last->object)->elf;
	return file && elf_file_is_entry(file, last->addr);
}
