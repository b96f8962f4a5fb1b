// SPDX-License-Identifier: GPL-2.0
/* stacks record and top: sample the stacks of programs. */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "cmd/main.h"
#include "session/session.h"
#include "events.skel.h"
#include "util/maps.h"


/* Lines of the terminal that are no functions, and how many there are where it is none */
#define HEAD_LINES	5
#define DEFAULT_LINES	20

struct profiler {
	struct session session;
	struct output *output;		/* of "top" */
	__u64 since;			/* begin of what is shown next; 0: not known yet */
};

/* Records from @kept on are of the next interval, too: the kernel does not send their stacks again. */
static void forget(struct session *session, size_t kept)
{
	const struct bpf_stack_record *rec;
	struct bytes old = session->records;
	size_t at;

	session->records = (struct bytes){};
	stacks_free(&session->stacks);
	objects_free(&session->objects);
	session->nr_unmatched = session->nr_without_stack = session->nr_without_object = 0;
	session_init_stacks(session);
	for (at = kept; at < old.size; at += rec->size) {
		rec = (const void *)(old.data + at);
		session_take_record(session, (void *)rec, old.size - at);
	}
	free(old.data);
}

/*
 * A measurement without an end: a file for each interval, and nothing is kept for the next one. What
 * is counted while a file is written is in the next one.
 */
static bool write_interval(struct session *session, const char *path, bool last)
{
	struct output_options options = { .format = OUTPUT_DATA };
	struct output *output;
	__u64 end;
	bool good;

	good = output_add_file(&options, path) && output_open(&options);
	/* Without a file, what was counted is taken all the same: it is not of the next interval. */
	options.nr_files = good;
	output = session_output(session);
	end = last ? session->begin + session->seconds * NS_PER_S : now_ns();
	output->options = &options;
	output->begin_ns = session->interval_ns;
	output->duration_ns = end > session->interval ? end - session->interval : 0;
	session->interval = end;
	session->interval_ns = time(NULL) * NS_PER_S;
	good = session_write(session, output, &options, READ_TAKE | READ_ALL, last) && good;
	output_free(output);
	return good;
}

/*
 * In a new epoch the kernel sends all stacks again. Once no program runs any more that has begun in
 * the old one, all stacks of what was counted in it are in the ring.
 */
static int next_interval(struct session *session, const char *directory, bool last)
{
	time_t begin = session->interval_ns / NS_PER_S;
	char name[32], *path;
	struct tm tm;
	size_t kept;
	int error;

	kept = session->records.size;
	session->skel->bss->epoch++;
	error = programs_wait(session) ?: session_take_records(session, now_ns() + NS_PER_S);
	if (error) {
		p_err("cannot begin another interval: %s", strerror(-error));
		return error;
	}
	programs_read_stats(session);
	strftime(name, sizeof(name), "%Y%m%dT%H%M%SZ", gmtime_r(&begin, &tm));
	path = xasprintf("%s/%s.stacks", directory, name);
	/* There may be room on the disk again for the next one. */
	session->is_incomplete |= !write_interval(session, path, last);
	free(path);
	if (!last)
		forget(session, kept);
	return 0;
}

static int on_record_poll(struct session *session)
{
	if (!session->interval) {
		session->interval = session->begin;
		session->interval_ns = session->begin_ns;
	}
	if (now_ns() - session->interval < session->options->interval * NS_PER_S)
		return 0;
	return next_interval(session, session->options->directory, false);
}

static int record_intervals(struct session *session)
{
	const char *directory = session->options->directory;
	struct stat st;

	/* Whoever may write to the one above it could give its name to another one later. */
	if ((mkdir(directory, 0755) && errno != EEXIST) || chdir(directory) ||
	    access(".", W_OK | X_OK) || stat(".", &st)) {
		p_err("%s: %s", directory, strerror(errno));
		return EXIT_FAILED;
	}
	/* Names are known before: who may write to it could put a link there. */
	if (!is_own(&st)) {
		p_err("%s: others can write to it", directory);
		return EXIT_FAILED;
	}
	session->options->directory = ".";
	session->ops.poll = on_record_poll;
	return session_run(session) || next_interval(session, ".", true) ||
	       session->is_incomplete ? EXIT_FAILED : session->status;
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
	return now - profiler->since < session->options->interval * NS_PER_S ? 0 :
	       show(profiler, now, false);
}

int cmd_top(struct options *options)
{
	const struct session_ops ops = { .poll = on_poll };
	struct profiler profiler = {};
	int code = session_open(&profiler.session, options, &ops);
	__u64 end;

	if (code >= 0)
		return code;
	profiler.output = session_output(&profiler.session);
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
