// SPDX-License-Identifier: GPL-2.0
/*
 * "stacks record --every" for a day: 1440 files, the kernel and the clock being this test. What is
 * kept, and is memory flat? Prints KTAP.
 */
#include <dirent.h>
#include "cmd/profile.c"
#include "tests/ktap.h"

#define PERIODS		1440
/* Of a period: stacks that all periods have, that this one has, and that the next one has, too */
#define SAME		100
#define NEW		100
#define LATE		3
#define PER_PERIOD	(SAME + NEW + LATE)
#define EVENTS		7

static struct session session;
static unsigned int period;
static struct count_key keys[2 * PER_PERIOD];
static size_t nr_keys, at;
static char directory[] = "/tmp/stacks-rotation-XXXXXX";

/* ASAN would keep what is freed. */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}

/* A record with two user frames, of a file that the period has not met, and its row */
static void send(__u64 id, __u64 cookie)
{
	struct {
		struct bpf_stack_record head;
		struct bpf_stack_object row;
		__u64 frames[2];
		__u32 objects[2];
	} record = {
		.head = {
			.magic = BPF_STACK_RECORD_MAGIC, .size = sizeof(record),
			.header_size = sizeof(record.head), .row_size = sizeof(record.row),
			.type = cookie ? BPF_STACK_RECORD_COMPLETION : 0,
			.user = id, .cookie = cookie, .nr_user = 2, .nr_objects = 2, .nr_rows = 1,
		},
		.row = { .id = 1 + id % 50, .build_id_size = 1, .build_id = { id % 50 } },
		.frames = { 1ULL << BPF_STACK_FRAME_SHIFT | 0x10, 1ULL << BPF_STACK_FRAME_SHIFT | id },
		.objects = { 1 + id % 50 },
	};

	session_take_record(&session, &record, sizeof(record));
}

/* The id of a stack of a period; later ones are not of all periods. */
static __u64 id_of(unsigned int of, unsigned int i)
{
	return i < SAME ? 1000 + i : 1000ULL * (of + 2) + i;
}

static void count(__u64 user, bool is_cookie)
{
	keys[nr_keys++] = (struct count_key){ .user = user, .is_cookie = is_cookie };
}

static void measure(void)
{
	unsigned int i;

	for (i = 0; i < SAME + NEW; i++) {
		/* Each tenth was pending. */
		send(id_of(period, i), i % 10 ? 0 : id_of(period, i) + 500);
		count(id_of(period, i) + (i % 10 ? 0 : 500), !(i % 10));
	}
}

/*
 * What the ring has once the next period has begun. One of these stacks comes when its row was read:
 * that is the second call of the period.
 */
int __wrap_session_take_records(struct session *session, __u64 until)
{
	static unsigned int nr_calls;
	unsigned int i;

	if (nr_calls++ % 2) {
		send(id_of(period, PER_PERIOD - 1), 0);
		return 0;
	}
	for (i = SAME + NEW; i < PER_PERIOD; i++) {
		if (i < PER_PERIOD - 1)
			send(id_of(period, i), 0);
		count(id_of(period, i), false);
	}
	return 0;
}

int __wrap_programs_wait(struct session *session)
{
	return 0;
}

void __wrap_programs_read_stats(struct session *session)
{
	session->stats.events = nr_keys * EVENTS;
}

int __wrap_bpf_map_get_next_key(int fd, const void *key, void *next)
{
	at = key ? at + 1 : 0;
	errno = ENOENT;
	if (at >= nr_keys)
		return -1;
	memcpy(next, &keys[at], sizeof(*keys));
	return 0;
}

int __wrap_bpf_map_lookup_and_delete_elem(int fd, const void *key, void *value)
{
	*(struct count *)value = (struct count){ .events = EVENTS };
	return 0;
}

struct bpf_program *__wrap_bpf_object__next_program(const struct bpf_object *object,
						     struct bpf_program *last)
{
	return NULL;
}

struct ring *__wrap_ring_buffer__ring(struct ring_buffer *ring, unsigned int i)
{
	return NULL;
}

__u64 __wrap_ring__dropped(const struct ring *ring)
{
	return 0;
}

__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

/* Exactly what is in use, with ASAN. Else what is resident, in kB, which varies with malloc(). */
static size_t memory(void)
{
	size_t pages = 0;
	FILE *file;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	file = fopen("/proc/self/statm", "re");
	if (fscanf(file, "%*s %zu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

/* With a part of a later version behind it */
static void add_unknown(const char *path)
{
	FILE *file = fopen(path, "ae");

	fwrite((__u32[]){ 12345, 16, 1, 2 }, 16, 1, file);
	fclose(file);
}

/* Of the file of a period: the samples of its stacks, and whether all of these are there */
static bool has_all(unsigned int of)
{
	struct output_options options = {};
	__u64 with_user, complete;
	time_t begin = 60 * of;
	struct data data;
	char path[128];
	bool good;

	strftime(path + sprintf(path, "%s/", directory), 32, "%Y%m%dT%H%M%SZ.stacks", gmtime(&begin));
	add_unknown(path);
	good = data_read(&data, path, &options);
	if (good)
		output_quality(data.output, &with_user, &complete);
	good = good && output_sum(data.output) == EVENTS * PER_PERIOD &&
	       with_user == EVENTS * PER_PERIOD && !data.output->losses.nr;
	data_free(&data);
	return good;
}

/* Only what came since the last period has ended is there. */
static bool keeps_nothing(void)
{
	unsigned int i;
	bool good = session.stacks.nr_records == LATE && !session.cookies.nr &&
		    session.objects.nr_objects <= OBJECT_FIRST + LATE;

	for (i = 0; i < PER_PERIOD; i++)
		good &= !stacks_find(&session.stacks, id_of(period, i)) == (i < SAME + NEW);
	return good;
}

static void begin(struct options *options)
{
	static struct events_bpf skel;

	skel.bss = xcalloc(1, sizeof(*skel.bss));
	session = (struct session){ .options = options, .skel = &skel, .seconds = 60 };
	options->output.files[options->output.nr_files++].format = OUTPUT_DATA;
	session_init_stacks(&session);
	session.title = xstrdup("a day");
}

int main(void)
{
	struct options options = { .what = CMD_RECORD, .directory = mkdtemp(directory) };
	size_t before = 0, after, nr_files = 0;
	bool good = true, forgets = true;
	struct dirent *entry;
	DIR *dir;

	printf("TAP version 13\n");
	freopen("/dev/null", "w", stderr);
	begin(&options);
	for (period = 0; period < PERIODS; period++) {
		if (period == 100)
			before = memory();
		measure();
		session.interval_ns = 60ULL * period * NS_PER_S;
		good &= !next_interval(&session, directory, false) && !session.is_incomplete;
		nr_keys = 0;
		forgets &= keeps_nothing();
	}
	after = memory();
	printf("# memory after 100 periods %zu, after %d %zu\n", before, PERIODS, after);
	check("all periods are written", good);
	check("nothing is kept but what the next period has, too", forgets);
	check("memory is the same after a day", after <= before +
	      (__sanitizer_get_current_allocated_bytes ? 0 : before / 10));
	check("files have all stacks of their period, and no other", has_all(0) && has_all(99) &&
	      has_all(PERIODS - 1));
	dir = opendir(directory);
	while ((entry = readdir(dir))) {
		nr_files += *entry->d_name != '.';
		unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	rmdir(directory);
	check("a file for each", nr_files == PERIODS);
	stacks_free(&session.stacks);
	objects_free(&session.objects);
	free(session.records.data);
	free(session.skel->bss);
	free(session.title);
	printf("1..%d\n", number);
	return failed;
}
