// SPDX-License-Identifier: GPL-2.0
/* stacks snoop: prints each call of a function with its stack. */
#include <signal.h>
#include "cmd/main.h"
#include "session/session.h"

/*
 * The user stack of a task that sleeps comes when it wakes up: an event is printed without it
 * after this time, or when too many wait.
 */
#define MAX_WAIT_NS	1000000000ULL
#define MAX_WAITING	4096
#define REFRESH_NS	1000000000ULL

struct snooper {
	struct session session;
	struct output *output;		/* finds the names */
	__u64 refreshed;		/* when names were looked at again */
	struct output_frames frames;
	struct event_record *waiting;	/* the oldest first */
	size_t nr_waiting;
	bool begun;			/* the output */
	bool failed;			/* it, at least once */
};

/* What the event is called: a function that is not said is the innermost one, if there is one. */
static const char *event_name(const struct snooper *snooper, const struct event_record *event,
			      const struct output_stack *stack)
{
	const struct probes *probes = &snooper->session.options->probes;
	const struct probe *probe = probes_find(probes, event->event);
	const struct output_frames *frames = &snooper->frames;

	if (stack->event)
		return stack->event;
	if ((probe ? stack->user : stack->kernel) && frames->nr &&
	    frames->frames[frames->nr - 1].kind != OUTPUT_NOTE)
		return frames->frames[frames->nr - 1].name;
	return probe ? probe->name : probes->probes[0].name;
}

/* Without a measurement there is no output. */
static void begin(struct snooper *snooper)
{
	if (!snooper->begun)
		printf("%16s  %-15s %7s %7s %3s %s\n", "TIME(s)", "COMM", "PID", "TID", "CPU",
		       "EVENT");
	snooper->begun = true;
}

/* @note: why the user stack is missing, or NULL */
static void print_event(struct snooper *snooper, const struct event_record *event,
			const char *note)
{
	struct session *session = &snooper->session;
	struct output_stack stack = { .tgid = event->tgid, .note = event->error ? strerror(event->error) : note };
	/* One that came before the clock was read */
	__u64 time = event->time > session->begin ? event->time - session->begin : 0;
	char comm[COMM_SIZE + 1] = "";

	begin(snooper);
	memcpy(comm, event->comm, COMM_SIZE);
	make_printable(comm);
	session_find_stacks(session, snooper->output, event->event, event->kernel, event->user,
			    &stack);
	if (!stack.note && !event->kernel && !event->user)
		stack.note = "no stack";
	if (!stack.note && stack.user &&
	    !symbolizer_has_begin(&snooper->output->symbolizer, stack.tgid, stack.user))
		stack.note = "incomplete";
	output_frames(snooper->output, &stack, &snooper->frames);
	printf("%6llu.%09llu  %-15s %7u %7u %3u %s\n", time / 1000000000, time % 1000000000,
	       comm, event->tgid, event->pid, event->cpu,
	       event_name(snooper, event, &stack));
	output_put_frames(stdout, &snooper->frames, NULL);
	putchar('\n');
}

/* Those that have waited for long, or are the oldest of too many, or all. */
static void print_late(struct snooper *snooper, __u64 until, size_t max)
{
	size_t nr = 0;

	while (nr < snooper->nr_waiting &&
	       (snooper->waiting[nr].time < until || snooper->nr_waiting - nr > max)) {
		print_event(snooper, &snooper->waiting[nr++], "user stack not known yet");
		snooper->session.nr_unmatched++;
	}
	if (!nr)
		return;
	snooper->nr_waiting -= nr;
	memmove(snooper->waiting, snooper->waiting + nr,
		snooper->nr_waiting * sizeof(*snooper->waiting));
}

static void on_event(struct session *session, const struct event_record *event)
{
	struct snooper *snooper = container_of(session, struct snooper, session);

	if (!event->is_pending) {
		print_event(snooper, event, NULL);
		return;
	}
	*xpush(snooper->waiting, snooper->nr_waiting) = *event;
	print_late(snooper, 0, MAX_WAITING);
}

static void on_completion(struct session *session, __u64 cookie, __u64 user)
{
	struct snooper *snooper = container_of(session, struct snooper, session);
	size_t i, nr = 0;

	for (i = 0; i < snooper->nr_waiting; i++) {
		struct event_record event = snooper->waiting[i];

		if (event.cookie != cookie) {
			snooper->waiting[nr++] = event;
			continue;
		}
		event.user = user;
		print_event(snooper, &event, user ? NULL : "no user stack");
	}
	snooper->nr_waiting = nr;
}

/* false: some of it is not written; that is said once. */
static bool flush(struct snooper *snooper)
{
	if (!snooper->failed && (ferror(stdout) || fflush(stdout))) {
		p_err("cannot write to standard output: %s", strerror(errno));
		snooper->failed = true;
	}
	return !snooper->failed;
}

/* Modules, programs and generated code come and go. */
static int on_poll(struct session *session)
{
	struct snooper *snooper = container_of(session, struct snooper, session);
	__u64 now = now_ns();

	begin(snooper);
	if (now - snooper->refreshed > REFRESH_NS) {
		symbolizer_refresh(&snooper->output->symbolizer);
		snooper->refreshed = now;
	}
	print_late(snooper, now - MAX_WAIT_NS, MAX_WAITING);
	return flush(snooper) ? 0 : -EIO;
}

static int snoop(struct snooper *snooper)
{
	struct session *session = &snooper->session;
	int error;

	snooper->output = session_output(session);
	error = session_run(session);
	print_late(snooper, now_ns(), 0);
	if (!error) {
		session_add_counts(session, snooper->output);
		output_add_name_losses(snooper->output);
		text_write_counts(snooper->output, stdout);
	}
	output_free(snooper->output);
	free(snooper->frames.frames);
	return flush(snooper) && !error ? session->status : EXIT_FAILED;
}

int cmd_snoop(struct options *options)
{
	static const struct session_ops ops = {
		.completion	= on_completion,
		.event		= on_event,
		.poll		= on_poll,
	};
	struct snooper snooper = {};
	int code = session_open(&snooper.session, options, &ops);

	if (code < 0) {
		/* Not of the command, which is there: an error ends it, too. */
		signal(SIGPIPE, SIG_IGN);
		code = snoop(&snooper);
		session_close(&snooper.session);
	}
	free(snooper.waiting);
	return code;
}
