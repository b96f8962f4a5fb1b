// SPDX-License-Identifier: GPL-2.0
/* stacks dump: the stacks of all threads of processes, which are not stopped for it. */
#include <limits.h>
#include <bpf/bpf.h>
#include "cmd/main.h"
#include "session/session.h"
#include "events.skel.h"

/*
 * A thread that runs is tried again. So is one whose walk met a file that no walk has met before:
 * the kernel reads it meanwhile, and there may be another one above it.
 */
#define ROUND_US	10000
#define RUNNING_ROUNDS	3
#define COLD_ROUNDS	20

/* Of threads with equal stacks, so many are named. */
#define MAX_IDS		16

struct dumper {
	struct session session;
	struct thread_record *threads;
	size_t nr;
	struct idmap index;		/* of a thread, by its id */
};

/* Threads with equal stacks; they follow each other. */
struct group {
	const struct output_stack *first;
	size_t nr;
};

/* As /proc has them, lowest bit first */
static const char letters[] = "RSDTtXZPI";
static const char *const names[] = {
	"running or runnable", "sleep", "disk sleep", "stopped", "traced", "dead", "zombie",
	"parked", "idle",
};

#define TASK_UNINTERRUPTIBLE	0x0002
#define TASK_REPORT		0x007f
#define TASK_NOLOAD		0x0400
#define TASK_RTLOCK_WAIT	0x1000
#define TASK_FROZEN		0x8000
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)

static unsigned int state_of(__u32 state)
{
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		state = TASK_UNINTERRUPTIBLE;
	else if ((state & TASK_IDLE) == TASK_IDLE)
		state = TASK_REPORT + 1;
	else
		state &= TASK_REPORT;
	return state ? 32 - __builtin_clz(state) : 0;
}

/* A stack that was found before is better than none. */
static void take_thread(struct dumper *dumper, const struct thread_record *thread)
{
	long i = idmap_find(&dumper->index, thread->pid);

	if (i < 0) {
		idmap_set(&dumper->index, thread->pid, dumper->nr);
		*xpush(dumper->threads, dumper->nr) = *thread;
	} else if (!thread->result || dumper->threads[i].result) {
		dumper->threads[i] = *thread;
	}
}

/* All threads, or those of a process, or one. The ring has room for the stacks of one read(). */
static int read_threads(struct dumper *dumper, __u32 tgid, __u32 pid)
{
	union bpf_iter_link_info info = { .task = { .pid = tgid, .tid = pid } };
	struct bpf_iter_attach_opts opts = {
		.sz = sizeof(opts), .link_info = &info, .link_info_len = sizeof(info),
	};
	struct session *session = &dumper->session;
	struct thread_record threads[512];
	struct bpf_link *link;
	int fd, error = 0;
	ssize_t n, i;

	link = bpf_program__attach_iter(session->skel->progs.dump_task, &opts);
	fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	if (fd < 0)
		error = -errno;
	do {
		n = error ? 0 : read(fd, threads, sizeof(threads));
		if (n < 0 && errno != EAGAIN)
			error = -errno;
		for (i = 0; i < n / (ssize_t)sizeof(*threads); i++)
			take_thread(dumper, &threads[i]);
		error = error ?: session_take_records(session, ~0ULL);
	} while (n && !error);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return error;
}

static int read_all(struct dumper *dumper)
{
	const struct options *options = dumper->session.options;
	const struct thread_record *thread;
	int round, error = 0;
	bool again = true;
	size_t i;

	for (i = 0; i < (options->nr_pids ?: 1) && !error; i++)
		error = read_threads(dumper, options->pids[i], 0);
	for (round = 0; round < COLD_ROUNDS && again && !error; round++) {
		usleep(ROUND_US);
		again = false;
		for (i = 0; i < dumper->nr && !error; i++) {
			thread = &dumper->threads[i];
			if (thread->user_stop != BPF_STACK_STOP_COLD &&
			    (thread->result != -EAGAIN || round >= RUNNING_ROUNDS))
				continue;
			again = true;
			error = read_threads(dumper, 0, thread->pid);
		}
	}
	return error;
}

/* Equal ones follow each other. */
static int compare_threads(const void *left, const void *right)
{
	const struct thread_record *a = left, *b = right;

	return order_of(a->tgid, b->tgid) ?: memcmp(a->comm, b->comm, COMM_SIZE) ?:
	       order_of(state_of(a->state), state_of(b->state)) ?:
	       order_of(a->result, b->result) ?: order_of(a->kernel, b->kernel) ?:
	       order_of(a->user, b->user) ?: order_of(a->pid, b->pid);
}

/* false: it may not be read. */
static bool add_thread(struct dumper *dumper, struct output *output,
		       const struct thread_record *thread)
{
	struct output_stack stack = {
		.tgid	= thread->tgid,
		.pid	= thread->pid,
		.state	= letters[state_of(thread->state)],
		.process = strings_format(&output->texts, "%.*s", COMM_SIZE, thread->comm),
		.values	= { 1 },
	};

	if (thread->result == -EPERM)
		return false;
	/* A thread of the kernel has no user stack. */
	if (thread->result == -ENODATA && dumper->session.options->user_only)
		return true;
	/* A full ring is counted by itself, and the ids are valid. */
	if (thread->result && thread->result != -ENOSPC)
		stack.note = thread->result == -EAGAIN ? "running" :
			   thread->result == -ENODATA ? "no stack" :
			   strings_format(&output->texts, "%s", strerror(-thread->result));
	session_find_stacks(&dumper->session, output, 0, thread->kernel, thread->user, &stack);
	output_add(output, &stack);
	return true;
}

/* Texts are kept once, so that equal ones are at the same place. */
static bool is_equal(const struct output_stack *a, const struct output_stack *b)
{
	return a->tgid == b->tgid && a->state == b->state && a->process == b->process &&
	       a->kernel == b->kernel && a->user == b->user && a->note == b->note;
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return order_of(b->nr, a->nr) ?: a->first < b->first ? -1 : 1;
}

static void put_group(struct output *output, FILE *file, const struct group *group,
		      struct output_frames *frames)
{
	const struct output_stack *first = group->first;
	size_t i;

	fprintf(file, "\n%zu thread%s of %s (PID %u), %c (%s):", group->nr,
		group->nr == 1 ? "" : "s", first->process, first->tgid, first->state,
		names[strchr(letters, first->state) - letters]);
	for (i = 0; i < group->nr && i < MAX_IDS; i++)
		fprintf(file, "%s %u", i ? "," : "", first[i].pid);
	if (i < group->nr)
		fprintf(file, " and %zu more", group->nr - i);
	fputc('\n', file);
	output_frames(output, first, frames);
	output_put_frames(file, frames, output);
}

static void write_text(struct output *output, FILE *file)
{
	struct group *groups = NULL, *group = NULL;
	struct output_frames frames = {};
	size_t i, nr = 0;

	text_write_head(output, file);
	text_write_counts(output, file);
	text_write_unnamed(output, file);
	for (i = 0; i < output->nr_stacks; i++) {
		if (!group || !is_equal(group->first, &output->stacks[i])) {
			group = xpush(groups, nr);
			group->first = &output->stacks[i];
		}
		group->nr++;
	}
	sort(groups, nr, compare_groups);
	for (i = 0; i < nr && i < output->options->nr_stacks; i++)
		put_group(output, file, &groups[i], &frames);
	if (i < nr)
		fprintf(file, "\n%zu more stacks (-n)\n", nr - i);
	free(frames.frames);
	free(groups);
}

static int dump(struct dumper *dumper, void (*write_text)(struct output *output, FILE *file))
{
	struct session *session = &dumper->session;
	struct output *output;
	__u64 refused = 0;
	bool good;
	size_t i;
	int error;

	/* A signal ends it, as there is nothing to show before the end. */
	target_unblock_signals();
	session->begin = now_ns();
	error = read_all(dumper);
	session->seconds = (now_ns() - session->begin) / 1e9;
	if (error) {
		p_err("cannot read the threads: %s", strerror(-error));
		return EXIT_FAILED;
	}
	output = session_output(session);
	output->write_text = write_text;
	sort(dumper->threads, dumper->nr, compare_threads);
	for (i = 0; i < dumper->nr; i++)
		refused += !add_thread(dumper, output, &dumper->threads[i]);
	session_add_counts(session, output);
	output_loss(output, "threads that may not be read (CAP_SYS_PTRACE)", refused);
	good = output->nr_stacks || !refused;
	good = output_write(output, &session->options->output) && good;
	output_free(output);
	return good ? EXIT_OK : EXIT_FAILED;
}

int dump_threads(struct options *options, void (*write_text)(struct output *output, FILE *file))
{
	struct dumper dumper = {};
	int code = session_open(&dumper.session, options, NULL);

	if (code < 0) {
		code = dump(&dumper, write_text);
		session_close(&dumper.session);
	}
	free(dumper.threads);
	idmap_free(&dumper.index);
	return code;
}

int cmd_dump(struct options *options)
{
	return dump_threads(options, write_text);
}
