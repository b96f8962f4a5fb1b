// SPDX-License-Identifier: GPL-2.0
/* Attaches the BPF programs, and puts samples and completions together. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "kernel.h"

#define MAX_LINKS	1024

static struct bpf_object *object;
static struct ring_buffer *ring;
static int control_fd, hits_fd, loads_fd, objects_fd;

static struct bpf_link *links[MAX_LINKS];
static size_t nr_links;
static int break_event = -1;
static pid_t break_pid;
static __u32 break_point;

static struct bpf_stack_record **records;
static size_t nr_records, max_records;
static struct capture *captures;
static struct frames_load *loads;

static int map_fd(const char *name)
{
	int fd = bpf_object__find_map_fd_by_name(object, name);

	if (fd < 0)
		errx(3, "no map '%s'", name);
	return fd;
}

static struct bpf_program *program(const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(object, name);

	if (!prog)
		errx(3, "no program '%s'", name);
	return prog;
}

static int keep_record(void *ctx, void *data, size_t size)
{
	if (nr_records == max_records) {
		max_records = max_records * 2 + 1024;
		records = realloc(records, max_records * sizeof(*records));
	}
	records[nr_records] = malloc(size);
	if (!records[nr_records])
		err(3, "malloc");
	memcpy(records[nr_records++], data, size);
	return 0;
}

static void attach(const char *name)
{
	if (!bpf_program__attach(program(name)))
		err(3, "attach %s", name);
}

/* An emulated CPU is slow: else samples would soon be throttled. */
static void allow_samples(void)
{
	int fd = open("/proc/sys/kernel/perf_cpu_time_max_percent", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		warn("perf_cpu_time_max_percent");
	close(fd);
}

void kernel_open(const char *path)
{
	object = bpf_object__open_file(path, NULL);
	if (!object)
		err(3, "%s", path);
	if (bpf_object__load(object))
		errx(3, "%s: not loaded", path);
	control_fd = map_fd("control");
	hits_fd = map_fd("hits");
	loads_fd = map_fd("loads");
	objects_fd = map_fd("objects");
	ring = ring_buffer__new(map_fd("records"), keep_record, NULL, NULL);
	if (!ring)
		err(3, "ring");
	allow_samples();
	attach("on_syscall");
	attach("on_load");
}

static void read_control(struct frames_control *control)
{
	__u32 key = 0;

	if (bpf_map_lookup_elem(control_fd, &key, control))
		err(3, "control");
}

static void free_records(void)
{
	ring_buffer__consume(ring);
	while (nr_records)
		free(records[--nr_records]);
	free(captures);
	free(loads);
	captures = NULL;
	loads = NULL;
}

static void detach(void)
{
	while (nr_links)
		bpf_link__destroy(links[--nr_links]);
	break_event = -1;
}

void kernel_start(__u32 flags)
{
	struct frames_control control = { .flags = flags };
	__u32 key = 0;

	detach();
	free_records();
	if (bpf_map_update_elem(control_fd, &key, &control, 0))
		err(3, "control");
}

static int keep_link(struct bpf_link *link)
{
	if (!link)
		return errno ? errno : EIO;
	if (nr_links == MAX_LINKS) {
		bpf_link__destroy(link);
		return ENOSPC;
	}
	links[nr_links++] = link;
	return 0;
}

static int attach_event(struct perf_event_attr *attr, pid_t pid, __u32 point, int *event)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = point);
	int fd = syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	*event = fd;
	return keep_link(bpf_program__attach_perf_event_opts(program("on_event"), fd, &opts));
}

/* One breakpoint at a time: the next one moves it. */
int kernel_break(pid_t pid, __u64 addr, __u32 point)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = addr,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (break_event >= 0 && break_pid == pid && break_point == point)
		return ioctl(break_event, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) ? errno : 0;
	if (break_event >= 0)
		bpf_link__destroy(links[--nr_links]);
	break_event = -1;
	break_pid = pid;
	break_point = point;
	return attach_event(&attr, pid, point, &break_event);
}

int kernel_sample(pid_t tid, __u32 point, bool with_children)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 200000,
		.inherit = with_children,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int event;

	return attach_event(&attr, tid, point, &event);
}

int kernel_uprobe(pid_t pid, const char *path, __u64 offset, __u32 point, bool is_return,
		  bool is_empty)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = point, .retprobe = is_return);

	return keep_link(bpf_program__attach_uprobe_opts(
		program(is_empty ? "on_uprobe_empty" : "on_uprobe"), pid, path, offset, &opts));
}

static const struct bpf_stack_record *find_completion(__u64 cookie)
{
	size_t i;

	for (i = 0; i < nr_records; i++) {
		if (records[i]->type == BPF_STACK_RECORD_COMPLETION && records[i]->cookie == cookie)
			return records[i];
	}
	return NULL;
}

static void add_sample(struct capture *all, size_t nr, const struct bpf_stack_record *record)
{
	struct capture *capture;

	if (record->tag >> 32 >= nr)
		return;
	capture = &all[record->tag >> 32];
	capture->recorded = true;
	if (!(record->flags & BPF_STACK_RECORD_PENDING)) {
		capture->stack = record;
		return;
	}
	capture->stack = find_completion(record->cookie);
	capture->completed = true;
}

struct capture *kernel_captures(size_t *nr)
{
	struct frames_control control;
	size_t i;
	__u32 key;

	ring_buffer__consume(ring);
	read_control(&control);
	if (control.nr_hits > FRAMES_MAX_HITS)
		control.nr_hits = FRAMES_MAX_HITS;
	free(captures);
	captures = calloc(control.nr_hits + 1, sizeof(*captures));
	for (key = 0; key < control.nr_hits; key++) {
		if (bpf_map_lookup_elem(hits_fd, &key, &captures[key].hit))
			err(3, "hits");
	}
	for (i = 0; i < nr_records; i++) {
		if (records[i]->type == BPF_STACK_RECORD_SAMPLE)
			add_sample(captures, control.nr_hits, records[i]);
	}
	*nr = control.nr_hits;
	return captures;
}

struct frames_load *kernel_loads(size_t *nr)
{
	struct frames_control control;
	__u32 key;

	read_control(&control);
	if (control.nr_loads > FRAMES_MAX_LOADS)
		control.nr_loads = FRAMES_MAX_LOADS;
	free(loads);
	loads = calloc(control.nr_loads + 1, sizeof(*loads));
	for (key = 0; key < control.nr_loads; key++) {
		if (bpf_map_lookup_elem(loads_fd, &key, &loads[key]))
			err(3, "loads");
	}
	*nr = control.nr_loads;
	return loads;
}

bool kernel_row(__u64 id, struct bpf_vma_info *row)
{
	struct bpf_mapping_snapshot_key key = { .snapshot = BPF_MAPPING_OBJECTS, .addr = id };

	return !bpf_map_lookup_elem(objects_fd, &key, row);
}
