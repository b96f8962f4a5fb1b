// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "raw.h"
#include "util/maps.h"

void raw_stacks_free(struct raw_stacks *raw)
{
	size_t i;

	for (i = 0; i < raw->nr; i++)
		free(raw->stacks[i]);
	free(raw->stacks);
	free(raw->mappings);
	idmap_free(&raw->rounds);
	idmap_free(&raw->index);
}

static __u32 object_of(const struct objects *objects, const struct maps_line *line)
{
	const struct object *object;
	__u32 i;

	for (i = OBJECT_FIRST; i < objects->nr_objects; i++) {
		object = object_at(objects, i);
		if (object->inode == line->inode && object->dev_major == line->dev_major &&
		    object->dev_minor == line->dev_minor)
			return i;
	}
	return OBJECT_NONE;
}

static void add_line(void *arg, __u32 tgid, const struct maps_line *line)
{
	struct raw_stacks *raw = arg;

	raw->mappings = xgrow(raw->mappings, &raw->max_mappings, raw->nr_mappings + 1,
			      sizeof(*raw->mappings));
	raw->mappings[raw->nr_mappings++] = (struct raw_mapping){
		.tgid = tgid,
		.object = line->inode ? object_of(raw->objects, line) : OBJECT_NONE,
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
	};
}

/* What comes later is looked at first. A process that has gone keeps what it had. */
static void read_mappings(struct raw_stacks *raw, __u32 tgid)
{
	idmap_set(&raw->rounds, tgid, raw->objects->round);
	objects_read_process(raw->objects, tgid);
	maps_each(tgid, add_line, raw);
}

static const struct raw_mapping *find_mapping(const struct raw_stacks *raw, __u32 tgid, __u64 ip)
{
	size_t i = raw->nr_mappings;

	while (i--) {
		const struct raw_mapping *mapping = &raw->mappings[i];

		if (mapping->tgid == tgid && ip >= mapping->start && ip < mapping->end)
			return mapping;
	}
	return NULL;
}

static struct frame frame_of(struct raw_stacks *raw, __u32 tgid, __u64 ip)
{
	const struct raw_mapping *mapping = find_mapping(raw, tgid, ip);

	if (!mapping && idmap_find(&raw->rounds, tgid) != raw->objects->round) {
		read_mappings(raw, tgid);
		mapping = find_mapping(raw, tgid, ip);
	}
	if (!mapping || mapping->object == OBJECT_NONE)
		return (struct frame){ .object = OBJECT_NONE, .addr = ip };
	return (struct frame){
		.object = mapping->object,
		.addr = ip - mapping->start + mapping->offset,
	};
}

const struct stack *raw_stacks_add(struct raw_stacks *raw, __u32 tgid, const __u64 *ips, size_t nr)
{
	size_t size = nr * sizeof(struct frame);
	struct stack *stack;
	__u64 hash;
	size_t i;
	long at;

	if (!nr)
		return NULL;
	stack = xcalloc(1, sizeof(*stack) + size);
	stack->nr = nr;
	for (i = 0; i < nr; i++)
		stack->frames[i] = frame_of(raw, tgid, ips[i]);
	hash = hash_bytes(stack->frames, size);
	for (; (at = idmap_find(&raw->index, hash)) >= 0; hash++) {
		if (raw->stacks[at]->nr == nr &&
		    !memcmp(raw->stacks[at]->frames, stack->frames, size)) {
			free(stack);
			return raw->stacks[at];
		}
	}
	raw->stacks = xgrow(raw->stacks, &raw->max, raw->nr + 1, sizeof(*raw->stacks));
	raw->stacks[raw->nr] = stack;
	idmap_set(&raw->index, hash, raw->nr++);
	return stack;
}
