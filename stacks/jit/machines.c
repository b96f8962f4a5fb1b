// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <signal.h>
#include <sys/epoll.h>
#include <bpf/libbpf.h>
#include "jit/jit.h"
#include "util/maps.h"

#define LLVM		"libllvm"
#define NS_PER_MS	1000000ULL
/*
 * Methods that come within this time are supplied together, but the first one at once. It is so
 * long that supplying takes a tenth of it, if it does not become too long.
 */
#define BATCH_SHARE	10
#define MAX_BATCH_MS	20
/* Stubs, adapters, and what no event has told */
#define SCAN_MS		1000
/* libjvm.so is mapped before it has code: tries take a quarter of the time at most. */
#define TRY_MS		5
#define TRY_SHARE	3
/* So long after the start, scans are more often, but take a tenth of the time at most. */
#define YOUNG_MS	10000
#define YOUNG_SCAN_MS	50
#define SCAN_SHARE	10
#define MAX_DELAYS	65536
/* At once: as many as the ring has room for, so that all are taken in that were there */
#define MAX_EVENTS	65536

struct machine {
	__u32 pid;
	__u64 exe;		/* changes when it executes another program */
	struct hotspot *vm;		/* that has no code yet */
	struct jit_process *process;	/* NULL: it is starting, or has none */
	struct registered *sections;	/* NULL: the same */
	__u64 born;		/* its library was mapped, or seen */
	bool is_announced;
	bool is_over;
};

static bool is_young(const struct machine *machine, __u64 now)
{
	return now < machine->born + YOUNG_MS * NS_PER_MS;
}

static struct machine *find(const struct machines *all, __u32 pid)
{
	long i = idmap_find(&all->index, pid);

	return i < 0 ? NULL : all->machines[i];
}

struct jit_process *machines_process(const struct machines *all, __u32 pid)
{
	const struct machine *machine = find(all, pid);

	return machine ? machine->process : NULL;
}

/* Reports of the program are written when it has ended. */
static void keep_names(struct machines *all, struct jit_process *process)
{
	struct map_file **kept = &all->kept[all->nr_kept % MACHINES_MAX_KEPT];
	size_t i;

	jit_process_write_names(process);
	if (!process->names || !map_file_keep(process->names))
		return;
	map_file_close(*kept);
	*kept = process->names;
	all->nr_kept++;
	process->names = NULL;
	/* The oldest go first. */
	for (i = 0; i < MACHINES_MAX_KEPT && map_file_is_crowded(); i++) {
		kept = &all->kept[(all->nr_kept + i) % MACHINES_MAX_KEPT];
		map_file_close(*kept);
		*kept = NULL;
	}
}

static void end(struct machines *all, struct machine *machine)
{
	struct jit_process *process = machine->process;

	machine->is_over = true;
	if (machine->vm)
		hotspot_close(machine->vm);
	machine->vm = NULL;
	if (machine->sections)
		registered_close(machine->sections);
	machine->sections = NULL;
	if (!process)
		return;
	if (process->refused)
		p_err("%s (%u): the kernel refused tables: %s", process->comm, process->pid,
		      strerror(process->refused));
	keep_names(all, process);
	jit_process_close(process);
	machine->process = NULL;
}

/* A process that ends is nothing to tell. */
static void give_up(struct machines *all, struct machine *machine)
{
	if (!kill(machine->pid, 0) || errno == EPERM) {
		p_err("%s (%u): %s", machine->process->comm, machine->pid, machine->process->why);
		all->kernel.counts[COUNT_GIVEN_UP]++;
	}
	end(all, machine);
}

static void announce(struct machine *machine)
{
	const struct jit_process *process = machine->process;

	printf("%s (%u): HotSpot %s, %zu blobs, %llu rows, %llu KiB, after %llu ms%s\n",
	       process->comm, process->pid, *process->vm->release ? process->vm->release : "(?)",
	       process->nr, process->nr_rows, process->table_bytes >> 10,
	       (now_ns() - machine->born) / NS_PER_MS,
	       process->load ? "" : ", no events: new code has rows after a second");
	fflush(stdout);
	machine->is_announced = true;
}

static void announce_sections(const struct machine *machine)
{
	char comm[17];

	read_comm(machine->pid, comm);
	printf("%s (%u): sections that are registered with libgcc, %zu until now\n", comm,
	       machine->pid, registered_nr(machine->sections));
	fflush(stdout);
}

/* Return: is there more to supply? */
static bool flush_all(struct machines *all)
{
	bool more = false;
	size_t i;

	for (i = 0; i < all->nr; i++) {
		struct machine *machine = all->machines[i];

		if (machine->sections)
			more |= registered_flush(machine->sections);
		if (!machine->process)
			continue;
		if (!jit_process_flush(machine->process))
			give_up(all, machine);
		else if (!machine->is_announced && machine->process->vm->nr_codelets)
			announce(machine);
	}
	return more;
}

static void flush(struct machines *all)
{
	__u64 begin = now_ns(), end;
	size_t i;

	for (i = 0; i < all->nr; i++) {
		if (all->machines[i]->sections)
			registered_prepare(all->machines[i]->sections);
	}
	ring_buffer__consume_n(all->kernel.ring, MAX_EVENTS);
	all->has_loads = flush_all(all);
	end = now_ns();
	for (; all->nr_flushed < all->nr_delays; all->nr_flushed++)
		all->delays[all->nr_flushed] = end - all->delays[all->nr_flushed];
	all->next_flush = end + min(BATCH_SHARE * (end - begin), MAX_BATCH_MS * NS_PER_MS);
}

static void start(struct machines *all, struct machine *machine)
{
	machine->born = now_ns();
	machine->is_over = machine->is_announced = false;
	all->next_try = 1;
}

static void scan(struct machines *all, struct machine *machine)
{
	__u64 exe = process_exe(machine->pid);

	if (!exe || exe != machine->exe) {
		end(all, machine);
		if (exe)
			start(all, machine);
	} else if (machine->process) {
		if (jit_process_scan(machine->process))
			jit_process_write_names(machine->process);
		else
			give_up(all, machine);
	}
}

/* Probes come before the first scan, so that no method falls in between. NULL: there is no library */
static const char *open_vm(struct machines *all, struct machine *machine)
{
	struct hotspot *vm = machine->vm;
	const char *why = NULL;

	if (!vm)
		vm = machine->vm = hotspot_open(machine->pid, &why);
	if (vm)
		why = hotspot_read_heaps(vm);
	if (vm && !why) {
		machine->process = jit_process_open(vm, &all->kernel, &why);
		machine->vm = NULL;
	}
	if (machine->process) {
		jit_kernel_attach(machine->process);
		machine->process->names = all->has_names ? map_file_open(machine->pid) : NULL;
		scan(all, machine);
	}
	return why;
}

/* Who has LLVM may register sections, or never: a compiler of files does not. */
static void open_sections(struct machines *all, struct machine *machine)
{
	machine->sections = registered_open(machine->pid, &all->kernel);
	machine->is_announced = true;
	if (registered_nr(machine->sections))
		announce_sections(machine);
}

static void try_to_open(struct machines *all, struct machine *machine)
{
	bool may_register = all->kernel.has_tables &&
			    (all->nr_pids || maps_has(machine->pid, LLVM));
	const char *why;

	machine->exe = process_exe(machine->pid);
	why = open_vm(all, machine);
	if (machine->process)
		return;
	if (!why && may_register && !registered_watch(machine->pid, &all->kernel)) {
		open_sections(all, machine);
		return;
	}
	/* Without a reason, the library is not mapped any more. */
	if (machine->exe && is_young(machine, now_ns()) && (why || may_register))
		return;
	end(all, machine);
	if (!machine->exe || (!why && !all->nr_pids))
		return;
	p_err("process %u: %s%s", machine->pid, why ? "its virtual machine lacks " :
	      "it has no virtual machine that is known", why ?: "");
	all->kernel.counts[COUNT_GIVEN_UP]++;
}

static void forget_ended(struct machines *all)
{
	size_t i, nr = 0;

	idmap_free(&all->index);
	for (i = 0; i < all->nr; i++) {
		struct machine *machine = all->machines[i];

		if (machine->is_over) {
			free(machine);
			continue;
		}
		idmap_set(&all->index, machine->pid, nr);
		all->machines[nr++] = machine;
	}
	all->nr = nr;
}

static struct machine *add(struct machines *all, __u32 pid)
{
	struct machine *machine = find(all, pid);

	if (machine)
		return machine;
	machine = xcalloc(1, sizeof(*machine));
	machine->pid = pid;
	idmap_set(&all->index, pid, all->nr);
	*xpush(all->machines, all->nr) = machine;
	start(all, machine);
	return machine;
}

static bool is_wanted(const struct machines *all, __u32 pid)
{
	size_t i;

	for (i = 0; i < all->nr_pids && all->pids[i] != (pid_t)pid; i++)
		;
	return pid != (__u32)getpid() && (i < all->nr_pids || !all->nr_pids);
}

/* Those that run already */
static void add_all(struct machines *all)
{
	DIR *dir = all->nr_pids ? NULL : opendir("/proc");
	struct dirent *entry;
	size_t i;

	for (i = 0; i < all->nr_pids; i++)
		add(all, all->pids[i]);
	while (dir && (entry = readdir(dir))) {
		__u32 pid = atoi(entry->d_name);

		if (pid && is_wanted(all, pid) && (maps_has(pid, "libjvm.so") || maps_has(pid, LLVM)))
			add(all, pid);
	}
	if (dir)
		closedir(dir);
}

/* Some may have been of sections, or of libraries. */
static void repair(struct machines *all)
{
	struct machine *machine;
	size_t i;

	all->nr_lost = jit_kernel_lost(&all->kernel);
	for (i = 0; i < all->nr; i++) {
		machine = all->machines[i];
		if (!machine->sections)
			continue;
		registered_close(machine->sections);
		machine->sections = registered_open(machine->pid, &all->kernel);
	}
	add_all(all);
}

/* @scans: not only those that start; stubs and adapters come with the first classes. */
static void visit_all(struct machines *all, bool scans)
{
	__u64 begin = now_ns(), end, pause = SCAN_MS * NS_PER_MS;
	struct machine *machine;
	bool is_starting = false;
	size_t i;

	if (scans && jit_kernel_lost(&all->kernel) != all->nr_lost)
		repair(all);
	for (i = 0; i < all->nr; i++) {
		machine = all->machines[i];
		if (!machine->is_over && !machine->process && !machine->sections)
			try_to_open(all, machine);
		else if (!machine->is_over && (scans || !machine->is_announced))
			scan(all, machine);
	}
	flush(all);
	forget_ended(all);
	end = now_ns();
	for (i = 0; i < all->nr; i++) {
		if (!is_young(all->machines[i], end))
			continue;
		is_starting |= !all->machines[i]->is_announced;
		pause = min(pause, max(SCAN_SHARE * (end - begin), YOUNG_SCAN_MS * NS_PER_MS));
	}
	all->next_try = is_starting ? end + max(TRY_SHARE * (end - begin), TRY_MS * NS_PER_MS) : 0;
	if (scans)
		all->next_scan = end + pause;
}

static void on_method(struct machines *all, const struct jit_event *event)
{
	struct machine *machine = find(all, event->tgid);

	if (!machine || !machine->process)
		return;
	all->kernel.counts[COUNT_LOADS]++;
	all->has_loads = true;
	if (all->nr_delays < MAX_DELAYS)
		*xpush(all->delays, all->nr_delays) = event->time;
	jit_process_load(machine->process, event->address);
}

/* Of a process that is new, too: the child of another one, or without LLVM */
static void on_section(struct machines *all, const struct jit_event *event)
{
	struct machine *machine = find(all, event->tgid);
	bool is_first;

	if (!machine && event->kind == EVENT_REGISTERED)
		machine = add(all, event->tgid);
	if (!machine || machine->process || machine->vm || machine->is_over)
		return;
	if (!machine->sections) {
		machine->exe = process_exe(machine->pid);
		if (!machine->exe) {
			end(all, machine);
			return;
		}
		open_sections(all, machine);
	}
	all->has_loads = true;
	is_first = !registered_nr(machine->sections);
	if (event->kind == EVENT_REGISTERED)
		registered_add(machine->sections, event->address);
	else
		registered_remove(machine->sections, event->address);
	if (is_first && registered_nr(machine->sections))
		announce_sections(machine);
}

static void on_event(void *arg, const struct jit_event *event)
{
	struct machines *all = arg;

	if (event->kind == EVENT_METHOD)
		on_method(all, event);
	else if (!is_wanted(all, event->tgid))
		return;
	else if (event->kind == EVENT_MAPPED)
		add(all, event->tgid);
	else
		on_section(all, event);
}

int machines_open(struct machines *all, bool tables)
{
	int error;

	all->kernel.on_event = on_event;
	all->kernel.arg = all;
	error = jit_kernel_open(&all->kernel, tables);
	if (!error)
		add_all(all);
	return error;
}

static bool is_over(const struct machines *all)
{
	size_t i;

	for (i = 0; i < all->nr_pids; i++) {
		if (process_exe(all->pids[i]))
			return false;
	}
	return all->nr_pids;
}

bool machines_wait(struct machines *all, unsigned int ms)
{
	__u64 now = now_ns(), due = min(now + ms * NS_PER_MS, all->next_scan);
	struct epoll_event ready;
	bool scans;

	if (all->has_loads)
		due = min(due, all->next_flush);
	if (all->next_try)
		due = min(due, all->next_try);
	epoll_wait(ring_buffer__epoll_fd(all->kernel.ring), &ready, 1,
		   due > now ? (due - now) / NS_PER_MS + 1 : 0);
	/* Who makes events faster than they are taken in keeps nothing else from being done. */
	ring_buffer__consume_n(all->kernel.ring, MAX_EVENTS);
	now = now_ns();
	scans = now >= all->next_scan;
	if (scans || (all->next_try && now >= all->next_try))
		visit_all(all, scans);
	else if (all->has_loads && now >= all->next_flush)
		flush(all);
	return !scans || !is_over(all);
}

void machines_close(struct machines *all)
{
	size_t i;

	for (i = 0; i < all->nr; i++)
		end(all, all->machines[i]);
	forget_ended(all);
	for (i = 0; i < MACHINES_MAX_KEPT; i++)
		map_file_close(all->kept[i]);
	all->nr_delays = all->nr_flushed;
	all->kernel.counts[COUNT_LOST] = jit_kernel_lost(&all->kernel);
	jit_kernel_close(&all->kernel);
	idmap_free(&all->index);
	free(all->machines);
}
