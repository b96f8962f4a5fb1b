// SPDX-License-Identifier: GPL-2.0
/* stacks record and top: sample the stacks of programs. */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "cmd/main.h"
#include "session/session.h"
#include "util/maps.h"

/* Lines of the terminal that are no functions, and how many there are where it is none */
#define HEAD_LINES	5
#define DEFAULT_LINES	20

struct profiler {
	struct session session;
	struct output *output;		/* of "top" */
	__u64 since;			/* begin of what is shown next; 0: not known yet */
};

static int on_record_poll(struct session *session)
{
	if (now_ns() - session->interval < session->options->interval * 1000000000ULL)
		return 0;
	return session_next_interval(session, session->options->directory, false);
}

static int record_intervals(struct session *session)
{
	const char *directory = session->options->directory;
	struct stat st;

	if ((mkdir(directory, 0755) && errno != EEXIST) ||
	    access(directory, W_OK | X_OK)) {
		p_err("%s: %s", directory, strerror(errno));
		return EXIT_FAILED;
	}
	/* Names are known before: who may write to it could put a link there. */
	if (stat(directory, &st) || !is_own(&st)) {
		p_err("%s: others can write to it", directory);
		return EXIT_FAILED;
	}
	session->ops.poll = on_record_poll;
	session_begin_interval(session);
	return session_run(session) || session_next_interval(session, directory, true) ?
	       EXIT_FAILED : session->status;
}

int cmd_record(struct options *options)
{
	struct session session;
	int code;

	if (!options->interval)
		return session_count(options);
	code = session_open(&session, options, NULL);
	if (code >= 0)
		return code;
	code = record_intervals(&session);
	session_close(&session);
	return code;
}

static unsigned int nr_lines(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_row <= HEAD_LINES)
		return DEFAULT_LINES;
	return size.ws_row - HEAD_LINES;
}

/* The samples since the last time. @last: also those whose stacks are not known */
static int show(struct profiler *profiler, __u64 now, bool last)
{
	struct output *output = profiler->output;
	int error;

	output_clear(output);
	symbolizer_refresh(&output->symbolizer);
	output->duration_ns = now - profiler->since;
	profiler->since = now;
	error = session_read(&profiler->session, output, last ? 0 : READ_TAKE);
	if (error)
		p_err("cannot read all counts: %s", strerror(-error));
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	text_write_head(output, stdout);
	text_write_functions(output, stdout, nr_lines());
	if (last) {
		session_add_counts(&profiler->session, output);
		output_add_name_losses(output);
		text_write_counts(output, stdout);
	}
	putchar('\n');
	if (error || !fflush(stdout))
		return error;
	p_err("cannot write to standard output: %s", strerror(errno));
	return -EIO;
}

static int on_poll(struct session *session)
{
	struct profiler *profiler = container_of(session, struct profiler, session);
	__u64 now = now_ns();

	if (!profiler->since)
		profiler->since = session->begin;
	return now - profiler->since < session->options->interval * 1000000000ULL ? 0 :
	       show(profiler, now, false);
}

int cmd_top(struct options *options)
{
	static const struct output_value value = { "samples", "count" };
	const struct session_ops ops = { .poll = on_poll };
	struct profiler profiler = {};
	int code = session_open(&profiler.session, options, &ops);
	__u64 end;

	if (code >= 0)
		return code;
	profiler.output = session_output(&profiler.session, &value, 1);
	code = session_run(&profiler.session) ? EXIT_FAILED : EXIT_OK;
	/* What comes after it is no measurement. */
	end = profiler.session.begin + profiler.session.seconds * 1e9;
	if (!code && show(&profiler, end > profiler.since ? end : profiler.since, true))
		code = EXIT_FAILED;
	code = code ?: profiler.session.status;
	output_free(profiler.output);
	session_close(&profiler.session);
	return code;
}
