// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel does from an address to a table, in as many dependent loads as
 * kernel/unwind/mapping.c: nodes of the maple tree, VMA, file, inode, super block, and a hash
 * of objects by the file's identity; then, by another hash, the table of an object.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "walk.h"

/* As many as a node of the maple tree has slots; on average it is not full. */
#define NODE_SLOTS	16
#define NODE_FILL	10
#define HASH_BITS	10

/* As large as in the kernel, so that each has cache lines of its own. */
struct node {
	uint64_t last[NODE_SLOTS - 1];
	void *slots[NODE_SLOTS];
	uint64_t is_leaf;
};

struct super_block {
	uint64_t dev;
	char pad[1016];
};

struct inode {
	uint64_t mode, pad1[4];
	struct super_block *sb;
	uint64_t pad2[2], ino, pad3[7], size, pad4[7], ctime, generation;
	char pad5[400];
};

struct file {
	uint64_t pad1[4];
	struct inode *inode;
	char pad2[144];
};

struct vma {
	uint64_t start, end, mm, prot, flags, pad1[8];
	uint64_t pgoff;
	struct file *file;
	char pad2[72];
};

struct object {
	struct object *next_file, *next_id;
	uint64_t dev, ino, size, ctime, generation;
	uint64_t id, used;
	char pad[184];
};

static const struct program *program;
static struct node *root;
static struct object *by_file[1 << HASH_BITS], *by_id[1 << HASH_BITS];
static struct vma *vmas;

static unsigned int bucket(uint64_t key)
{
	return key * 0x61C8864680B583EBull >> (64 - HASH_BITS);
}

static void *allocate(size_t size)
{
	void *p = aligned_alloc(64, (size + 63) & ~63UL);

	if (!p)
		err(1, "memory");
	return memset(p, 0, size);
}

/* One level of the tree above @nr slots, each for addresses up to @last */
static struct node *build(void **slots, uint64_t *last, unsigned int nr, bool leaf)
{
	unsigned int parents = 0;

	for (unsigned int i = 0; i < nr; i += NODE_FILL) {
		unsigned int n = nr - i < NODE_FILL ? nr - i : NODE_FILL;
		struct node *node = allocate(sizeof(*node));

		for (unsigned int k = 0; k < NODE_SLOTS; k++) {
			node->slots[k] = k < n ? slots[i + k] : NULL;
			if (k < NODE_SLOTS - 1)
				node->last[k] = k < n ? last[i + k] : UINT64_MAX;
		}
		node->is_leaf = leaf;
		slots[parents] = node;
		last[parents++] = last[i + n - 1];
	}
	return parents == 1 ? slots[0] : build(slots, last, parents, false);
}

/* Gaps are slots, too. */
static void build_tree(void)
{
	unsigned int max = 2 * program->nr_mappings + 1, nr = 0;
	void **slots = calloc(max, sizeof(*slots));
	uint64_t *last = calloc(max, sizeof(*last)), end = 0;

	for (unsigned int i = 0; i < program->nr_mappings; i++) {
		if (vmas[i].start > end)
			last[nr++] = vmas[i].start - 1;
		slots[nr] = &vmas[i];
		last[nr++] = vmas[i].end - 1;
		end = vmas[i].end;
	}
	last[nr++] = UINT64_MAX;
	root = build(slots, last, nr, true);
	free(slots);
	free(last);
}

static struct file *make_file(unsigned int i, struct super_block *sb)
{
	struct object *object = allocate(sizeof(*object));
	struct inode *inode = allocate(sizeof(*inode));
	struct file *file = allocate(sizeof(*file));

	*inode = (struct inode) { .mode = 1, .sb = sb, .ino = 1000 + i, .size = i + 1 };
	file->inode = inode;
	*object = (struct object) { .ino = inode->ino, .size = inode->size, .id = i + 1 };
	object->next_file = by_file[bucket(object->ino)];
	by_file[bucket(object->ino)] = object;
	object->next_id = by_id[bucket(object->id)];
	by_id[bucket(object->id)] = object;
	return file;
}

void mappings_open(const struct program *of)
{
	struct super_block *sb = allocate(sizeof(*sb));

	program = of;
	vmas = allocate(of->nr_mappings * sizeof(*vmas));
	for (unsigned int i = 0; i < of->nr_mappings; i++) {
		const struct mapping *m = &of->mappings[i];

		vmas[i] = (struct vma) { .start = m->start, .end = m->end,
					 .flags = m->executable };
		if (m->file)
			vmas[i].file = make_file(i, sb);
	}
	build_tree();
}

static const struct vma *find_vma(unsigned long ip)
{
	const struct node *node = root;
	unsigned int i;

	for (;;) {
		for (i = 0; i < NODE_SLOTS - 1 && node->last[i] < ip; i++)
			;
		if (node->is_leaf)
			return node->slots[i];
		node = node->slots[i];
	}
}

static bool is_object_of(const struct object *object, const struct inode *inode)
{
	return object->ino == inode->ino && object->dev == inode->sb->dev &&
	       object->size == inode->size && object->ctime == inode->ctime &&
	       object->generation == inode->generation;
}

int mappings_vma(unsigned long ip)
{
	const struct vma *vma = find_vma(ip);

	return vma ? vma - vmas : -1;
}

int mappings_find(unsigned long ip)
{
	const struct vma *vma = find_vma(ip);
	const struct inode *inode;
	struct object *object;

	if (!vma || !vma->flags)
		return -1;
	if (!vma->file)
		return vma - vmas;
	inode = vma->file->inode;
	object = by_file[bucket(inode->ino)];
	while (!is_object_of(object, inode))
		object = object->next_file;
	if (!object->used)
		object->used = 1;
	return object->id - 1;
}

const void *mappings_object(const void *const *tables, uint64_t id)
{
	const struct object *object = by_id[bucket(id)];

	while (object && object->id != id)
		object = object->next_id;
	return object ? tables[object->id - 1] : NULL;
}
