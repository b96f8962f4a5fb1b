// SPDX-License-Identifier: GPL-2.0
/* From the counts of the BPF programs to the rows of the output. */
#include <fcntl.h>
#include <limits.h>
#include <bpf/bpf.h>
#include "session/session.h"
#include "events.skel.h"

/* What the rows of a command have, the first one being what is looked at */
static const struct {
	unsigned int what;
	size_t nr;
	struct output_value values[3];
} all_values[] = {
	{ SAMPLES, 1, { { "samples", "count" } } },
	{ PROBES, 1, { { "events", "count" } } },
	{ CMD_DUMP, 1, { { "threads", "count" } } },
	{ CMD_OFFCPU, 3, { { "blocked", "nanoseconds" }, { "blocks", "count" },
			   { "delay", "nanoseconds" } } },
	{ CMD_ALLOC, 2, { { "outstanding", "bytes" }, { "blocks", "count" } } },
};

struct output *session_output(struct session *session)
{
	struct output *output;
	size_t i = 0;

	while (!(all_values[i].what & session->options->what))
		i++;
	output = output_new(&session->objects, &session->options->output, session->title,
			    all_values[i].values, all_values[i].nr);
	output->begin_ns = session->begin_ns;
	output->duration_ns = session->seconds * 1e9;
	output->records = session->records.data;
	output->records_size = session->records.size;
	if (session->options->what & SAMPLES)
		output->period = sampling_ns(&session->options->sampling);
	if (output->period)
		output->period_type = (struct output_value){ "cpu", "nanoseconds" };
	return output;
}

void session_find_stacks(struct session *session, struct output *output, __u64 event, __u64 kernel,
			 __u64 user, struct output_stack *stack)
{
	const struct probe *probe = probes_find(&session->options->probes, event);
	const char *name, *module;

	/* A function is the innermost frame already. */
	if (probe && probe->kind != PROBE_USER_FUNCTION)
		stack->event = strings_format(&output->texts, "%s", probe->name);
	if (event && !probe) {
		name = kernel_names_find(&output->symbolizer.kernel, event, &module);
		stack->event = name ? strings_format(&output->texts, "kr:%s", name) :
				      strings_format(&output->texts, "kr:0x%llx", event);
	}
	stack->kernel = stacks_find(&session->stacks, kernel);
	stack->user = stacks_find(&session->stacks, user);
	if (!stack->note && kernel && !stack->kernel)
		stack->note = "kernel stack lost";
	else if (!stack->note && user && !stack->user)
		stack->note = "user stack lost";
}

#define HANDLE_OF_KERNFS	0xfe

/* Its path below the file system, by its id; or that, if it is gone */
static const char *cgroup_name(struct output *output, __u64 id)
{
	union {
		struct file_handle head;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} handle = { .head = { .handle_bytes = sizeof(id), .handle_type = HANDLE_OF_KERNFS } };
	int root = open(CGROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[64], path[PATH_MAX] = "";
	size_t len = strlen(CGROUPS);
	int fd;

	memcpy(handle.bytes + sizeof(handle.head), &id, sizeof(id));
	fd = open_by_handle_at(root, &handle.head, O_PATH | O_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd >= 0 && readlink(link, path, sizeof(path) - 1) < 0)
		*path = 0;
	if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	if (strncmp(path, CGROUPS, len))
		return strings_format(&output->texts, "cgroup %llu", id);
	return strings_format(&output->texts, "%s", path[len] ? path + len : "/");
}

static void add_row(struct session *session, struct output *output, const struct count_key *key,
		    const struct count *count)
{
	const struct options *options = session->options;
	struct output_stack stack = {
		.tgid	= key->who.tgid,
		.pid	= key->who.pid,
		.values	= { options->what & ADDS_UP ? count->ns : count->events, count->events,
			    count->delay_ns },
		.waker_kernel = stacks_find(&session->stacks, key->waker_kernel),
		.waker_user = stacks_find(&session->stacks, key->waker_user),
	};
	__u64 user = key->user;

	if (key->is_cookie && !idmap_get(&session->cookies, key->user, &user)) {
		user = 0;
		stack.note = "user stack not known yet";
		session->nr_unmatched += count->events;
	}
	if (!stack.tgid && options->nr_pids == 1)
		stack.tgid = options->pids[0];
	session_find_stacks(session, output, key->event, key->kernel, user, &stack);
	if (options->filter.by_cgroup)
		stack.process = cgroup_name(output, key->who.start);
	else if (key->who.tgid)
		stack.process = strings_format(&output->texts, "%.*s", COMM_SIZE, key->who.comm);
	if (*key->waker)
		stack.waker = strings_format(&output->texts, "%.*s", COMM_SIZE, key->waker);
	output_add(output, &stack);
}

static bool is_known(const struct session *session, const struct count_key *key)
{
	const struct stacks *stacks = &session->stacks;
	__u64 user;

	if (key->kernel && !stacks_find(stacks, key->kernel))
		return false;
	if (key->is_cookie)
		return idmap_get(&session->cookies, key->user, &user);
	return !key->user || stacks_find(stacks, key->user);
}

struct row {
	struct count_key key;
	struct count count;
};

/* Rows whose stacks are still in the ring, or pending, are not taken: they are the next time. */
int session_read(struct session *session, struct output *output, int flags)
{
	bool take = flags & READ_TAKE;
	int fd = bpf_map__fd(session->skel->maps.counts), error;
	size_t i, nr = 0, nr_read = 0;
	struct count_key *last = NULL;
	struct row row, *rows = NULL;

	while (!bpf_map_get_next_key(fd, last, &row.key)) {
		*xpush(rows, nr) = row;
		last = &row.key;
	}
	error = errno == ENOENT ? 0 : -errno;
	for (i = 0; i < nr && !error; i++) {
		row = rows[i];
		if (take && !(flags & READ_ALL) && !is_known(session, &row.key))
			continue;
		if (take ? bpf_map_lookup_and_delete_elem(fd, &row.key, &row.count) :
			   bpf_map_lookup_elem(fd, &row.key, &row.count))
			error = -errno;
		else
			rows[nr_read++] = row;
	}
	/* What was counted after the last look at the ring has its stacks there by now. */
	if (flags & READ_ALL)
		error = error ?: session_take_records(session, now_ns() + NS_PER_S);
	for (i = 0; i < nr_read; i++) {
		add_row(session, output, &rows[i].key, &rows[i].count);
		session->nr_read += rows[i].count.events;
	}
	free(rows);
	/* No row can come with the cookie of a stack that has come. */
	if (take && !error)
		idmap_free(&session->cookies);
	return error;
}

static void add_errors(struct session *session, struct output *output)
{
	__u64 nr;
	int i;

	for (i = 1; i <= MAX_ERRNO; i++) {
		nr = __atomic_exchange_n(&session->skel->bss->nr_errors[i], 0, __ATOMIC_RELAXED);
		if (!nr)
			continue;
		output_loss(output, strings_format(&output->texts, "events without any stack: %s",
						   strerror(i)), nr);
		session->nr_without_stack += session->options->what & ADDS_UP ? 0 : nr;
	}
}

#define MAX_NAMES	4

/* @what, and the first of @names */
static void add_names(struct output *output, const char *what, const struct strings *names)
{
	char *text = xstrdup(what);
	size_t i;

	for (i = 0; i < names->nr && i < MAX_NAMES; i++)
		text = reconcat(text, text, i ? ", " : ": ", names->strings[i], NULL);
	if (i < names->nr)
		text = reconcat(text, text, ", ...", NULL);
	make_printable(text);
	output_loss(output, text, names->nr);
	free(text);
}

/* What has come to @now since the last time */
static __u64 since(__u64 *last, __u64 now)
{
	__u64 nr = now - *last;

	*last = now;
	return nr;
}

static void add_losses(struct session *session, struct output *output)
{
	add_errors(session, output);
	output_loss(output, "records: no room in the ring buffer (--buffer)",
		    since(&session->nr_dropped,
			  ring__dropped(ring_buffer__ring(session->ring, 0))));
	output_loss(output, "records: not taken in, as there was no time at the end",
		    session->nr_unread);
	output_loss(output, "records: malformed", session->stacks.nr_malformed);
	output_loss(output, "stacks: no memory", session->stacks.nr_no_memory);
	output_loss(output, "processes that were not followed: no memory",
		    __atomic_exchange_n(&session->skel->bss->nr_not_followed, 0,
					__ATOMIC_RELAXED));
	output_loss(output, "records: an object has no name, as there are too many",
		    session->stacks.nr_without_object);
	output_loss(output, "records: the kernel stack was cut off at the limit",
		    session->stacks.nr_truncated);
	output_loss(output, "files without a name", session->objects.nr_unknown);
	output_loss(output, "files that could not be opened: their functions have no names",
		    objects_nr_unopened(&session->objects));
	add_names(output, "files that could not be read in time", &session->objects.hung_files);
	add_names(output, "processes whose files could not be listed in time",
		  &session->objects.hung_processes);
}

/* Runs that were left out, as the same program ran on that CPU */
static __u64 missed_runs(const struct session *session)
{
	struct bpf_program *prog;
	__u64 sum = 0;

	bpf_object__for_each_program(prog, session->skel->obj) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (bpf_program__fd(prog) >= 0 &&
		    !bpf_prog_get_info_by_fd(bpf_program__fd(prog), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

static const char *event_name(const struct session *session)
{
	return session->options->what & SAMPLES ? "sample" :
	       session->options->what == CMD_OFFCPU ? "wait" :
	       session->options->what == CMD_ALLOC ? "allocation" : "event";
}

void session_add_counts(struct session *session, struct output *output)
{
	output->verbose = session->options->verbose;
	output_count(output, strings_format(&output->texts, "%ss in all", event_name(session)),
		     session->stats.events);
	output_count(output, "records from the kernel", session->stacks.nr_records);
	output_count(output, "user stacks that came later", session->stats.pending);
	output_count(output, "waits shorter than the minimum (-m)", session->stats.brief);
	output_count(output, "blocks freed", session->stats.freed);
	session->nr_missed_now = since(&session->nr_missed, missed_runs(session));
	output_loss(output, "events: a BPF program was running already",
		    session->options->probes.nr_missed + session->nr_missed_now);
	output_loss(output, "switches: no memory", session->stats.no_memory);
	output_loss(output, "frees that were not seen: another block has the address",
		    session->stats.no_free);
	output_loss(output, "stacks of wakers that were not known at once",
		    session->stats.no_waker);
	output_loss(output, session->options->what == CMD_ALLOC ?
		    "allocations: no room for more blocks (--blocks), or stacks (--rows)" :
		    "events: no room to count more stacks (--rows)", session->stats.full);
	output_loss(output, "events: the counters were locked, or no memory", session->stats.busy);
	output_loss(output, "events without their user stack: it was not known when this ended",
		    session->nr_unmatched);
	add_losses(session, output);
}

/* At the end of an interval, some events are in no row yet: the sums are checked at the last one. */
static void check_sum(struct session *session, struct output *output, bool last)
{
	__u64 sum, all;

	session->nr_known += session->stats.freed + session->stats.no_free;
	session->nr_known += session->stats.full + session->stats.busy + session->stats.brief +
			     session->nr_without_stack;
	session->nr_all += session->stats.events;
	sum = session->nr_known + session->nr_read;
	all = session->nr_all;
	if (!last)
		return;
	output_loss(output, "events: neither counted nor known to be lost",
		    all > sum ? all - sum : 0);
	output_loss(output, "events: counted more than once", sum > all ? sum - all : 0);
}

/* As perf does it, on standard error: what the files have */
static void say_end(const struct session *session, const struct output *output)
{
	__u64 lost = session->stats.full + session->stats.busy + session->nr_without_stack +
		     session->options->probes.nr_missed + session->nr_missed_now;
	__u64 with_user, complete, all = session->stats.events;
	const struct output_options *options = output->options;
	size_t i;

	output_quality(output, &with_user, &complete);
	for (i = 0; i < options->nr_files; i++) {
		if (!strcmp(options->files[i].path, "-"))
			continue;
		fprintf(stderr, "%s: %llu %s%s, %llu lost", options->files[i].path, all,
			event_name(session), all == 1 ? "" : "s", lost);
		if (with_user)
			fprintf(stderr, "; %s%.2f %% of %suser stacks are complete",
				output->symbolizer.finds_names ? "" : "at least ",
				complete / (with_user / 100.0), output->kept ? "the kept " : "");
		fputc('\n', stderr);
	}
}

bool session_write(struct session *session, struct output *output, struct output_options *options,
		   int flags, bool last)
{
	int error = session_read(session, output, flags);
	bool good;

	if (error)
		p_err("cannot read all counts: %s", strerror(-error));
	session_add_counts(session, output);
	check_sum(session, output, last);
	good = output_write(output, options);
	if (good)
		say_end(session, output);
	return good && !error;
}

static int add_up(struct session *session)
{
	struct output *output;
	bool good;

	if (session_run(session))
		return EXIT_FAILED;
	output = session_output(session);
	good = session_write(session, output, &session->options->output, 0, true);
	output_free(output);
	return good ? session->status : EXIT_FAILED;
}

int session_count(struct options *options)
{
	struct session session;
	int code = session_open(&session, options, NULL);

	if (code < 0) {
		code = add_up(&session);
		session_close(&session);
	}
	return code;
}
