// SPDX-License-Identifier: GPL-2.0
/*
 * The walk of a kernel tree as a design. Compiled once for each tree, with all of the tree's
 * files, to one object in which only the design is global. A tree with another walk needs
 * changes in this file only, and perhaps a facility in include/.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unwind_table.h>
#include <linux/unwind_user.h>
#include <linux/unwind_user_object.h>
#include <stdio.h>
#include "elffile.h"
#include "walk.h"

static struct mm_struct mm = { .mm_lock_seq.sequence = 2 };
static struct pt_regs regs[WALK_THREADS];
static struct task_struct tasks[WALK_THREADS];

struct task_struct *walk_current = &tasks[0];
int walk_preempt_count;
struct mm_struct *walk_loaded_mm = &mm;
unsigned long walk_jiffies = 1000000;

static const struct program *program;
static struct unwind_user_mapping *answers;
static const void **tables;
static struct vm_area_struct *vmas;

/* No task has a uprobe. These are calls in the kernel, too. */
bool is_uprobe_at_func_entry(struct pt_regs *regs)
{
	return current->utask && current->utask->state;
}

unsigned long uprobe_get_trap_addr(struct pt_regs *regs)
{
	return unlikely(current->utask) ? 0 : regs->ip;
}

unsigned long uprobe_get_trampoline_vaddr(void)
{
	return 0;
}

unsigned long uretprobe_orig_ret_vaddr(unsigned long low, unsigned long high, unsigned long ra)
{
	return ra;
}

int arch_uretprobe_trampoline_words(unsigned long ip)
{
	return -1;
}

/* mapping.c and object.c */
int unwind_user_map(unsigned long ip, struct unwind_user_mapping *map,
		    struct unwind_user_vma *vma)
{
	int i = mappings_find(ip);

	if (i < 0)
		return -ENOENT;
	*map = answers[i];
	*vma = (struct unwind_user_vma) { &vmas[i], READ_ONCE(vmas[i].vm_lock_seq) };
	return 0;
}

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long ip)
{
	int i = mappings_vma(ip);

	return i < 0 ? NULL : &vmas[i];
}

/* If a file is not known, or before a walk sleeps, which none does here. */
void unwind_user_request_files(void)
{
}

void unwind_user_request_mm(struct mm_struct *mm)
{
}

const struct unwind_table *unwind_user_object_table(u64 id)
{
	return mappings_object(tables, id);
}

/* An ELF file has one table, even if it is mapped several times. */
static const void *make_table(const struct mapping *m)
{
	struct unwind_table *table;
	struct elffile file;
	const char *error;

	for (unsigned int i = 0; m->file && &program->mappings[i] < m; i++) {
		if (program->mappings[i].file == m->file && tables[i])
			return tables[i];
	}
	if (!m->file || !m->executable)
		return NULL;
	error = elffile_open(&file, m->file->path);
	table = error ? NULL : unwind_table_create(&file.input, GFP_KERNEL);
	elffile_close(&file);
	if (!IS_ERR(table) && table)
		return table;
	fprintf(stderr, "%s: no table: %s %ld\n", m->path, error ?: "", PTR_ERR(table));
	return NULL;
}

static void tree_open(const struct program *of)
{
	program = of;
	answers = calloc(of->nr_mappings, sizeof(*answers));
	tables = calloc(of->nr_mappings, sizeof(*tables));
	vmas = aligned_alloc(sizeof(*vmas), of->nr_mappings * sizeof(*vmas));
	for (unsigned int i = 0; i < of->nr_mappings; i++)
		vmas[i] = (struct vm_area_struct) { .vm_mm = &mm, .vm_lock_seq = 1 };
	for (unsigned int i = 0; i < of->nr_mappings; i++) {
		const struct mapping *m = &of->mappings[i];

		tables[i] = make_table(m);
		answers[i] = (struct unwind_user_mapping) {
			.start = m->start, .end = m->end, .offset = m->offset,
			.bias = m->file ? -m->file->bias : 0,
			.object = m->file ? i + 1 : 0,
			.has_table = tables[i] != NULL,
		};
	}
	for (unsigned int i = 0; i < WALK_THREADS; i++) {
		regs[i] = (struct pt_regs) { .cs = 0x33 };
		tasks[i] = (struct task_struct) { .mm = &mm, .regs = &regs[i] };
	}
}

static void tree_use(const struct sample *sample, unsigned int thread)
{
	const u64 *r = sample->regs;

	walk_current = &tasks[thread];
	*walk_current->regs = (struct pt_regs) {
		.ax = r[0], .dx = r[1], .cx = r[2], .bx = r[3], .si = r[4], .di = r[5],
		.bp = r[6], .sp = r[7], .r8 = r[8], .r9 = r[9], .r10 = r[10], .r11 = r[11],
		.r12 = r[12], .r13 = r[13], .r14 = r[14], .r15 = r[15],
		.ip = r[CAPTURE_IP], .cs = 0x33,
	};
}

/* As unwind_user_callchain() */
static unsigned int tree_walk(unsigned long *entries, unsigned int max)
{
	struct unwind_stacktrace trace = { .entries = entries };

	unwind_user_now(&trace, max);
	return trace.nr;
}

/* A mapping has changed that is not on the stack. */
static void tree_changed(void)
{
	mm.mm_lock_seq.sequence += 2;
}

const struct design WALK_TREE = {
	.name = WALK_NAME,
	.open = tree_open,
	.use = tree_use,
	.walk = tree_walk,
	.changed = tree_changed,
};
