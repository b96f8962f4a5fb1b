// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <linux/nsfs.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "session/session.h"
#include "util/maps.h"
#include "events.skel.h"

#define NS_PER_MS	1000000ULL
#define POLL_MS		100
/* For this time records are taken in without a look at anything else. */
#define BATCH_NS	(POLL_MS * NS_PER_MS)
#define BATCH		16
/* A stack that is pending arrives when its thread is back in user mode. */
#define GRACE_NS	(200 * NS_PER_MS)
/* Then to read the ring; a command that is slow with each record loses the rest. */
#define DRAIN_NS	(1000 * NS_PER_MS)

bool session_in_initial_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == PID_NS_INIT_INO;
}

/* libbpf says what went wrong, and nothing else. */
static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level > LIBBPF_WARN)
		return 0;
	return vfprintf(stderr, format, args);
}

static bool open_targets(struct session *session)
{
	const struct options *options = session->options;
	size_t i, nr = options->command ? 1 : options->nr_pids;
	bool good = true;

	session->targets = xcalloc(nr, sizeof(*session->targets));
	if (options->title)
		session->title = xstrdup(options->title);
	else if (!nr)
		session->title = xstrdup(options->cgroup ?: options->filter.has_comm ?
					 options->filter.comm : "all processes");
	else if (nr > 1)
		session->title = xasprintf("%zu processes", nr);
	else
		session->title = target_title(options->command, options->pids[0]);
	for (i = 0; i < nr && good; i++) {
		good = target_open(&session->targets[i], options->command, options->pids[i]);
		session->nr_targets++;
	}
	return good;
}

static bool on_own_record(struct session *session, const void *data, size_t size)
{
	const struct event_record *event = data;
	const struct exec_record *exec = data;

	if (size < sizeof(*exec) || exec->size == BPF_STACK_RECORD_MAGIC)
		return false;
	if (exec->size == sizeof(*exec)) {
		objects_read_process(&session->objects, exec->tgid);
		return true;
	}
	if (size < sizeof(*event) || event->size != sizeof(*event))
		return false;
	session->ops.event(session, event);
	return true;
}

/* The payload was made before its stacks were known. */
static void report_event(struct session *session, const struct bpf_stack_view *view)
{
	const struct bpf_stack_record *rec = view->rec;
	struct event_record event;

	memcpy(&event, view->payload, sizeof(event));
	event.is_pending = !!(rec->flags & BPF_STACK_RECORD_PENDING);
	event.kernel = rec->kernel;
	event.user = rec->user;
	event.cookie = rec->cookie;
	session->ops.event(session, &event);
}

int session_take_record(void *arg, void *data, size_t size)
{
	struct session *session = arg;
	struct bpf_stack_view view;

	if (session->discard) {
		session->nr_unread++;
		return 0;
	}
	if (on_own_record(session, data, size) ||
	    !stacks_add(&session->stacks, data, size, &view))
		return 0;
	if (output_has_format(&session->options->output, OUTPUT_DATA))
		bytes_put(&session->records, data, view.rec->size);
	if (view.rec->type == BPF_STACK_RECORD_COMPLETION && session->ops.completion)
		session->ops.completion(session, view.rec->cookie, view.rec->user);
	else if (view.rec->type == BPF_STACK_RECORD_COMPLETION)
		idmap_set(&session->cookies, view.rec->cookie, view.rec->user);
	else if (view.rec->payload_size == sizeof(struct event_record))
		report_event(session, &view);
	return 0;
}

void session_init_stacks(struct session *session)
{
	objects_init(&session->objects);
	session->stacks = (struct stacks){ objects_on_frame, &session->objects };
	child_announce(&session->skel->bss->own_child);
}

/* Signals that end a measurement wait; others do what they always do. */
static int prepare(struct session *session)
{
	libbpf_set_print(print_libbpf);
	target_block_signals();
	target_raise_files();
	if (!session_in_initial_namespace()) {
		p_err("works in the initial pid namespace only, as BPF programs see its ids: use the host's (--pid=host)");
		return EXIT_SUPPORT;
	}
	if (!kernel_has("bpf_stack_capture", BTF_KIND_FUNC)) {
		p_err("the kernel has no kfunc bpf_stack_capture(), or no BTF; see \"stacks check\"");
		return EXIT_SUPPORT;
	}
	if (!output_open(&session->options->output) || !open_targets(session) || programs_load(session))
		return EXIT_FAILED;
	session_init_stacks(session);
	/* Processes may be gone before their files are known, and most have libc, too. */
	objects_read_process(&session->objects, getpid());
	session->ring = ring_buffer__new(bpf_map__fd(session->skel->maps.records),
					 session_take_record, session, NULL);
	if (session->ring)
		return -1;
	p_err("cannot map the ring buffer: %s", strerror(errno));
	return EXIT_FAILED;
}

int session_open(struct session *session, struct options *options, const struct session_ops *ops)
{
	int code;

	*session = (struct session){ .options = options };
	/* What is printed now can not wait for downloads, nor for debug information. */
	if (ops) {
		session->ops = *ops;
		unsetenv("DEBUGINFOD_URLS");
		options->output.no_inline = true;
	}
	code = prepare(session);
	if (code >= 0)
		session_close(session);
	return code;
}

void session_close(struct session *session)
{
	size_t i;

	perf_events_close(&session->samples);
	ring_buffer__free(session->ring);
	stacks_free(&session->stacks);
	objects_free(&session->objects);
	for (i = 0; i < session->nr_targets; i++)
		target_close(&session->targets[i]);
	free(session->records.data);
	free(session->targets);
	free(session->title);
	idmap_free(&session->cookies);
	/* Links know their programs. */
	probes_detach(&session->options->probes);
	events_bpf__destroy(session->skel);
	output_close(&session->options->output);
}

/*
 * If the kernel has no room for more objects, it forgets all. That takes a grace period: until then
 * it is busy, and this is tried again the next time.
 */
static void make_room(struct session *session)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (session->nr_without_object != session->stacks.nr_without_object &&
	    !bpf_prog_test_run_opts(bpf_program__fd(session->skel->progs.reset_objects), &opts) &&
	    !opts.retval)
		session->nr_without_object = session->stacks.nr_without_object;
}

int session_take_records(struct session *session, __u64 until)
{
	int n;

	do {
		n = ring_buffer__consume_n(session->ring, BATCH);
	} while (n > 0 && now_ns() < until);
	make_room(session);
	return n < 0 ? n : 0;
}

static int take_in(struct session *session, int ms)
{
	struct pollfd fd = { .fd = ring_buffer__epoll_fd(session->ring), .events = POLLIN };
	int error;

	session->objects.round++;
	poll(&fd, 1, ms);
	error = session_take_records(session, now_ns() + BATCH_NS);
	if (error)
		p_err("cannot read the ring buffer: %s", strerror(-error));
	if (!error && session->ops.poll)
		error = session->ops.poll(session);
	return error;
}

/* All of them, or else the measurement goes on. What gets the id of one that has is another process. */
static bool have_exited(struct session *session)
{
	struct target *target = session->targets;
	size_t nr = 0;
	__u32 pid;

	for (; target < session->targets + session->nr_targets; target++) {
		pid = target->pid;
		if (!target->exited && target_poll(target, 0))
			bpf_map__delete_elem(session->skel->maps.wanted, &pid, sizeof(pid), 0);
		nr += target->exited;
	}
	return nr && nr == session->nr_targets;
}

/* Milliseconds until the time is over, POLL_MS at most; 0: it is over */
static int time_left(const struct session *session)
{
	double seconds = session->options->seconds;
	__u64 now = now_ns(), end = session->begin + seconds * 1e9;

	if (!seconds)
		return POLL_MS;
	if (now >= end)
		return 0;
	return end - now >= BATCH_NS ? POLL_MS : (end - now) / NS_PER_MS + 1;
}

static int measure(struct session *session)
{
	int error = 0;

	do {
		error = take_in(session, time_left(session));
		session->interrupted = target_signalled();
	} while (!error && !session->interrupted && !have_exited(session) && time_left(session));
	/* A command may have got the signal, too, and ended first. */
	session->interrupted |= target_signalled();
	session->seconds = (now_ns() - session->begin) / 1e9;
	return error;
}

/* Reads the ring, and gives pending walks some time. */
static void drain(struct session *session)
{
	__u64 end = now_ns() + GRACE_NS;

	while (now_ns() < end && !take_in(session, POLL_MS / 10))
		;
	if (session_take_records(session, now_ns() + DRAIN_NS))
		return;
	session->discard = true;
	while (ring_buffer__consume_n(session->ring, BATCH) > 0)
		;
	session->discard = false;
}

/* Returns 0; or a negative errno, which was printed, if a signal came, or the target has ended. */
static int check_not_over(struct session *session)
{
	bool exited = have_exited(session);

	/* A command may have got the signal, too. */
	session->interrupted = target_signalled();
	if (!session->interrupted && !exited)
		return 0;
	p_err("%s%sended before the measurement has begun",
	      session->interrupted ? "" : session->title, session->interrupted ? "" : " ");
	return -ECANCELED;
}

/* Nothing, if the end of a command ends it. Of probes, their number was told. */
static void say_begin(const struct session *session)
{
	const struct options *options = session->options;

	if (options->command)
		return;
	if (options->what == CMD_OFFCPU)
		fprintf(stderr, "Measuring waits of %s. Ctrl-C ends it.\n", session->title);
	else if (options->what == CMD_ALLOC)
		fprintf(stderr, "Keeping blocks of %s. Ctrl-C ends it.\n", session->title);
	else if (options->what & SAMPLES && options->sampling.period)
		fprintf(stderr, "Sampling %s, every %u events. Ctrl-C ends it.\n",
			session->title, options->sampling.period);
	else if (options->what & SAMPLES)
		fprintf(stderr, "Sampling %s at %u Hz. Ctrl-C ends it.\n", session->title,
			options->sampling.frequency);
}

/* Once events are there */
static int let_go(struct session *session)
{
	char **command = session->options->command;
	int error;

	session->begin_ns = time(NULL) * 1000 * NS_PER_MS;
	session->begin = now_ns();
	say_begin(session);
	if (!command)
		return 0;
	error = target_go(&session->targets[0]);
	if (error)
		p_err("cannot execute %s: %s", *command, error == -EPIPE ? "it has ended" :
		      strerror(-error));
	return error;
}

int session_run(struct session *session)
{
	int error, end_error;
	size_t i;

	error = programs_attach(session) ?: check_not_over(session);
	if (!error) {
		error = let_go(session) ?: measure(session);
		end_error = programs_stop(session);
		drain(session);
		end_error = programs_end(session) ?: end_error;
		/* Stacks of waits that have just ended */
		if (session->options->what == CMD_OFFCPU)
			drain(session);
		error = error ?: end_error;
	}
	/* From now on a signal ends this program, whatever the command does. */
	target_unblock_signals();
	for (i = 0; i < session->nr_targets; i++) {
		/* The key that ends the measurement also ends the command. */
		if (!session->interrupted)
			session->status = target_status(&session->targets[i]);
		target_stop(&session->targets[i]);
	}
	return error;
}
