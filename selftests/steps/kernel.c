// SPDX-License-Identifier: GPL-2.0
/* The kernel's side: the BPF program and its records */
#include "steps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/stack_record.h>
#include <linux/bpf.h>
#include <stack_capture_types.h>
#include <stdlib.h>
#include <string.h>

#include "steps.skel.h"

const char *const kernel_mode_names[NR_MODES] = { "now", "defer" };

static struct steps_bpf *skel;
static struct ring_buffer *ring;

/* The last sample or completion that was read */
static struct {
	bool	sample;
	bool	deferred;	/* the sample had no user stack yet */
	bool	pending;	/* it has not come since */
	u64	tag;
	u64	cookie;
	u32	stop;
	u32	methods;
	size_t	nr;
	struct bpf_stack_frame frames[MAX_FRAMES];
} last;

static struct bpf_stack_object *objects;
static size_t nr_objects;

static void keep_user(const struct bpf_stack_view *view)
{
	if (view->rec->nr_user > MAX_FRAMES)
		die(EXIT_INFRA, "a record with %u frames", view->rec->nr_user);
	last.stop = view->rec->user_stop;
	last.methods = view->rec->user_methods;
	for (last.nr = 0; last.nr < view->rec->nr_user; last.nr++)
		last.frames[last.nr] = bpf_stack_view__user_frame(view, last.nr);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct bpf_stack_record *record;
	struct bpf_stack_view view;

	(void)ctx;
	if (!bpf_stack_view__init(&view, data, size))
		die(EXIT_INFRA, "a record of another version");
	record = view.rec;
	if (record->drops)
		die(EXIT_INFRA, "records were lost");
	if (record->type == BPF_STACK_RECORD_SAMPLE) {
		last.sample = true;
		last.tag = *(const u64 *)view.payload;
		last.cookie = record->cookie;
		last.deferred = record->flags & BPF_STACK_RECORD_PENDING;
		last.pending = last.deferred;
		if (!last.pending)
			keep_user(&view);
		return 0;
	}
	if (record->type != BPF_STACK_RECORD_COMPLETION || !last.pending ||
	    record->cookie != last.cookie)
		return 0;
	last.pending = false;
	keep_user(&view);
	return 0;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return level > LIBBPF_WARN ? 0 : vfprintf(stderr, format, args);
}

void kernel_open(void)
{
	libbpf_set_print(quiet);
	skel = steps_bpf__open_and_load();
	if (!skel)
		die(EXIT_INFRA, "the BPF program cannot be loaded: %m");
	if (steps_bpf__attach(skel))
		die(EXIT_INFRA, "the BPF program cannot be attached: %m");
	ring = ring_buffer__new(bpf_map__fd(skel->maps.records), on_record, NULL, NULL);
	if (!ring)
		die(EXIT_INFRA, "no ring buffer: %m");
}

void kernel_close(void)
{
	ring_buffer__free(ring);
	steps_bpf__destroy(skel);
}

static u32 mode_flags(enum kernel_mode mode)
{
	return BPF_STACK_USER | (mode == MODE_DEFER ? BPF_STACK_DEFER : 0);
}

void kernel_watch(pid_t pid, enum kernel_mode mode)
{
	skel->bss->watched = pid;
	skel->bss->flags = mode_flags(mode);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void kernel_take(struct kernel_stack *stack)
{
	static u64 seen;

	last.sample = false;
	last.pending = false;
	last.nr = 0;
	stack->taken = skel->bss->tag != seen;
	stack->result = skel->bss->result;
	seen = skel->bss->tag;
	if (ring_buffer__consume(ring) < 0)
		die(EXIT_INFRA, "the ring buffer cannot be read");
	stack->known = stack->taken && last.sample && last.tag == seen && !last.pending;
	stack->at_once = stack->known && !last.deferred;
	stack->stop = last.stop;
	stack->methods = last.methods;
	stack->nr = 0;
}

static const struct bpf_stack_object *find_object(u32 id)
{
	struct bpf_stack_object *object;
	size_t i;

	for (i = 0; i < nr_objects; i++) {
		if (objects[i].id == id)
			return &objects[i];
	}
	objects = grow(objects, nr_objects + 1, sizeof(*objects));
	object = &objects[nr_objects];
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.objects), &id, object))
		return NULL;
	nr_objects++;
	return object;
}

static u64 locate(const struct bpf_stack_frame *frame, const struct mappings *maps)
{
	const struct bpf_stack_object *object;

	if (frame->type != BPF_STACK_FRAME_IN_OBJECT)
		return frame->value;
	object = find_object(frame->object);
	if (!object)
		return 0;
	return mappings_locate(maps, object->build_id, object->build_id_size, frame->value);
}

bool kernel_locate(struct kernel_stack *stack, const struct mappings *maps)
{
	bool all = true;
	size_t i, nr = 0;

	for (i = 0; stack->known && i < last.nr; i++) {
		if (last.frames[i].type == BPF_STACK_FRAME_IS_MARK)
			continue;
		stack->frames[nr] = locate(&last.frames[i], maps);
		stack->exact[nr] = !last.frames[i].is_return;
		all = all && stack->frames[nr++];
	}
	stack->nr = nr;
	return all;
}

const char *kernel_stop_name(u32 stop)
{
	static const char *const names[] = {
		[BPF_STACK_STOP_NONE] = "none",
		[BPF_STACK_STOP_COMPLETE] = "complete",
		[BPF_STACK_STOP_FP_END] = "frame pointer 0",
		[BPF_STACK_STOP_DEPTH] = "depth",
		[BPF_STACK_STOP_NO_RULE] = "no rule",
		[BPF_STACK_STOP_COLD] = "cold",
		[BPF_STACK_STOP_FAULT] = "fault",
		[BPF_STACK_STOP_BAD_CFA] = "bad CFA",
		[BPF_STACK_STOP_BAD_IP] = "bad ip",
		[BPF_STACK_STOP_NO_USER] = "no user stack",
		[BPF_STACK_STOP_UNSUPPORTED] = "rule not supported",
	};

	return stop < sizeof(names) / sizeof(names[0]) && names[stop] ? names[stop] : "?";
}
