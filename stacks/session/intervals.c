// SPDX-License-Identifier: GPL-2.0
/* A measurement without an end: a file for each interval, and nothing is kept for the next one. */
#include "session/session.h"
#include "events.skel.h"

#define NS_PER_S	1000000000ULL

/* Records from @kept on are of the next interval, too: the kernel does not send their stacks again. */
static void forget(struct session *session, size_t kept)
{
	struct bytes old = session->records;
	size_t at;

	session->records = (struct bytes){};
	stacks_free(&session->stacks);
	objects_free(&session->objects);
	idmap_free(&session->cookies);
	session->nr_unmatched = session->nr_without_stack = session->nr_without_object = 0;
	session_init_stacks(session);
	for (at = kept; at < old.size; at += ((const struct bpf_stack_record *)(old.data + at))->size)
		session_take_record(session, old.data + at, old.size - at);
	free(old.data);
}

static bool write_interval(struct session *session, const char *path, bool last)
{
	static const struct output_value value = { "samples", "count" };
	struct output_options options = { .format = OUTPUT_DATA };
	struct output *output;
	bool good;

	if (!output_add_file(&options, path) || !output_open(&options))
		return false;
	output = session_output(session, &value, 1);
	output->options = &options;
	output->begin_ns = session->interval_ns;
	output->duration_ns = now_ns() - session->interval;
	good = session_write(session, output, &options, READ_TAKE | READ_ALL, last);
	output_free(output);
	return good;
}

/*
 * In a new epoch the kernel sends all stacks again. Once no program runs any more that has begun in
 * the old one, all stacks of what was counted in it are in the ring.
 */
int session_next_interval(struct session *session, const char *directory, bool last)
{
	time_t begin = session->interval_ns / NS_PER_S;
	char name[32], *path;
	struct tm tm;
	size_t kept;
	bool good;
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
	good = write_interval(session, path, last);
	free(path);
	if (!last)
		forget(session, kept);
	session_begin_interval(session);
	return good ? 0 : -EIO;
}

void session_begin_interval(struct session *session)
{
	session->interval = now_ns();
	session->interval_ns = time(NULL) * NS_PER_S;
}
