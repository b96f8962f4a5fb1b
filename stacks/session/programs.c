// SPDX-License-Identifier: GPL-2.0
/* The BPF programs of a measurement: loaded, attached, ended. */
#include <fcntl.h>
#include <bpf/bpf.h>
#include "session/session.h"
#include "events.skel.h"

static void set_variables(const struct session *session, struct events_bpf *skel)
{
	const struct options *options = session->options;

	skel->rodata->all_tasks = !session->nr_targets;
	skel->rodata->own_tgid = getpid();
	skel->rodata->waits_for_exec = options->command;
	skel->rodata->has_cgroup = options->cgroup;
	skel->rodata->filter = options->filter;
	skel->rodata->wanted_stacks = (options->user_only ? 0 : BPF_STACK_KERNEL) |
				      (options->kernel_only ? 0 : BPF_STACK_USER);
	skel->rodata->report_events = options->what == CMD_SNOOP;
	skel->data->enabled = !options->command && options->what != CMD_ALLOC;
}

static int set_filters(struct session *session)
{
	const char *cgroup = session->options->cgroup;
	__u32 key = 0, pid;
	__u8 value = 0;
	char *path;
	size_t i;
	int fd;

	for (i = 0; i < session->nr_targets; i++) {
		pid = session->targets[i].pid;
		if (bpf_map__update_elem(session->skel->maps.wanted, &pid, sizeof(pid), &value,
					 sizeof(value), BPF_ANY)) {
			int error = -errno;

			p_err("cannot choose process %u: %s", pid, strerror(-error));
			return error;
		}
	}
	if (!cgroup)
		return 0;
	path = xasprintf("%s%s", *cgroup == '/' ? "" : CGROUPS "/", cgroup);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || bpf_map__update_elem(session->skel->maps.cgroup, &key, sizeof(key), &fd,
					   sizeof(fd), BPF_ANY)) {
		int error = -errno;

		p_err("%s is no cgroup of version 2: %s", path, strerror(-error));
		return error;
	}
	close(fd);
	free(path);
	return 0;
}

int programs_load(struct session *session)
{
	const struct options *options = session->options;
	struct events_bpf *skel = session->skel = events_bpf__open();
	int error;

	if (!skel) {
		p_err("cannot open the BPF programs: %s", strerror(errno));
		return -errno;
	}
	set_variables(session, skel);
	bpf_map__set_max_entries(skel->maps.records, options->buffer << 20);
	bpf_map__set_max_entries(skel->maps.counts, options->rows);
	bpf_map__set_max_entries(skel->maps.blocks, options->blocks);
	probes_set_autoload(&options->probes, skel);
	bpf_program__set_autoload(skel->progs.on_fork, session->nr_targets);
	bpf_program__set_autoload(skel->progs.on_alloc, options->what == CMD_ALLOC);
	bpf_program__set_autoload(skel->progs.count_blocks, options->what == CMD_ALLOC);
	bpf_program__set_autoload(skel->progs.on_sample, options->what & SAMPLES);
	bpf_program__set_autoload(skel->progs.on_switch, options->what == CMD_OFFCPU);
	bpf_program__set_autoload(skel->progs.on_waking, options->what == CMD_OFFCPU);
	bpf_program__set_autoload(skel->progs.on_wakeup, options->what == CMD_OFFCPU);
	bpf_program__set_autoload(skel->progs.end_task, options->what == CMD_OFFCPU);
	bpf_program__set_autoload(skel->progs.dump_task, options->what == CMD_DUMP);
	error = events_bpf__load(skel);
	if (error)
		p_err("cannot load the BPF programs: %s%s", strerror(-error),
		      error == -EPERM || error == -EACCES ?
		      " (be root, or have CAP_BPF and CAP_PERFMON; see \"stacks check\")" : "");
	return error ?: set_filters(session);
}

static int attach_events(struct session *session)
{
	struct options *options = session->options;
	struct events_bpf *skel = session->skel;
	__u64 nr;
	int error;

	if (options->what == CMD_OFFCPU)
		return 0;
	if (options->what == CMD_ALLOC)
		return allocators_attach(session);
	if (!(options->what & SAMPLES)) {
		error = probes_attach(&options->probes, skel, options->nr_pids == 1 ?
				      options->pids[0] : -1, &nr);
		if (!error)
			fprintf(stderr, "Probing %llu %s. Ctrl-C ends it.\n", nr,
				nr == 1 ? "function or tracepoint" : "functions or tracepoints");
		return error;
	}
	error = perf_events_open(&session->samples, skel->progs.on_sample, &options->sampling,
				 options->filter.has_cpus ? options->filter.cpus : NULL);
	if (error)
		p_err("cannot sample: %s%s", strerror(-error), error == -ENOENT ?
		      " (this machine does not count such events: try -e cpu-clock)" :
		      error == -EINVAL ? " (-F: 1 to kernel.perf_event_max_sample_rate)" : "");
	return error;
}

static void detach(struct session *session)
{
	perf_events_close(&session->allocators);
	probes_detach(&session->options->probes);
	perf_events_close(&session->samples);
}

/*
 * First what follows processes, which is the first in the file, so that no exec and no new process
 * is missed. libbpf says which program it could not attach.
 */
int programs_attach(struct session *session)
{
	int error = events_bpf__attach(session->skel);

	if (error)
		p_err("cannot attach the BPF programs: %s", strerror(-error));
	error = error ?: attach_events(session);
	if (error)
		detach(session);
	return error;
}

/*
 * A program at a tracepoint is a reader of RCU from before it reads anything, and the kernel
 * waits for those after each update of a map in a map (maybe_wait_bpf_programs()). membarrier()
 * fails with nohz_full, and does not wait where one CPU is online, though a program may be
 * preempted there.
 */
int programs_wait(struct session *session)
{
	__u32 key = 0, fd = bpf_map__fd(session->skel->maps.nothing);

	return bpf_map_update_elem(bpf_map__fd(session->skel->maps.barrier), &key, &fd, BPF_ANY);
}

/*
 * What waits does so up to now. Threads wake up and exit meanwhile, and only they know it: so all
 * programs stay attached. A thread that the iterator does not see ends its wait on its own.
 */
static int end_waits(struct session *session)
{
	struct events_bpf *skel = session->skel;
	int fd, error;
	ssize_t n;
	char c;

	skel->bss->over = true;
	error = programs_wait(session);
	skel->bss->over_ns = now_ns();
	fd = error ? -1 : bpf_iter_create(bpf_link__fd(skel->links.end_task));
	if (fd < 0) {
		error = error ?: -errno;
	} else {
		do {
			n = read(fd, &c, 1);
		} while (n > 0 || (n < 0 && errno == EAGAIN));
		error = n < 0 ? -errno : 0;
		close(fd);
	}
	if (error)
		p_err("cannot end the waits that last: %s", strerror(-error));
	return error;
}

void programs_read_stats(struct session *session)
{
	__u64 *sum = (__u64 *)&session->stats, *stats;
	size_t cpu, i;

	session->stats = (struct event_stats){};
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		stats = (__u64 *)&session->skel->bss->stats[cpu];
		for (i = 0; i < sizeof(session->stats) / sizeof(*sum); i++)
			sum[i] += __atomic_exchange_n(&stats[i], 0, __ATOMIC_RELAXED);
	}
}

int programs_stop(struct session *session)
{
	int error = session->options->what == CMD_OFFCPU ? end_waits(session) : 0;

	session->skel->bss->over = true;
	detach(session);
	return error;
}

/* Once nothing is attached, programs may still run: they are waited for. */
int programs_end(struct session *session)
{
	const struct bpf_program *sum = session->skel->progs.count_blocks;
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int error;

	/* Walks that are still pending stay so. */
	events_bpf__detach(session->skel);
	error = programs_wait(session);
	if (!error && session->options->what == CMD_ALLOC)
		error = bpf_prog_test_run_opts(bpf_program__fd(sum), &opts);
	if (!session->interval)
		programs_read_stats(session);
	if (error)
		p_err("cannot read how many events there were: %s", strerror(-error));
	return error;
}
