// SPDX-License-Identifier: GPL-2.0
/*
 * Does the kernel walk user stacks of AArch64 code by its SFrame tables?
 *
 * Runs functions whose callers are known, samples them by the PMU, and compares the
 * user callchain of each sample with what it has to be, up to main(). Samples come from
 * any instruction of a function. Prints KTAP. Needs root, and a PMU.
 *
 *	walks [VALUE [MODE...]]
 *
 * VALUE is for the sysctl kernel.unwind_user_callchain, default 1. Modes:
 *
 *	defer	stacks are walked on the way back to user mode
 *	bti	branches have to be guarded
 *	gcs	return addresses are also kept in a guarded control stack
 *	mte	the stack's memory has tags, and an object in a frame has one of its own
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "walks.h"

#define PERIOD		500009
#define SWITCH_PERIOD	20011
#define PAGES		256
/* On a busy host, most samples of an emulated CPU are elsewhere. */
#define MIN_SAMPLES	100
#define ENOUGH_SAMPLES	200
#define ENOUGH_SWITCHES	2000
#define MAX_ROUNDS	2000
#define MAX_FRAMES	8
#define MAX_SHOWN	5

/* Calls @take with the type and the body of each record of a perf event that was not read so far. */
static void read_ring(struct perf_event_mmap_page *page,
			     void (*take)(unsigned int type, const uint64_t *body, void *arg), void *arg)
{
	static uint64_t body[8192];
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail, i;

	while (at < head) {
		const struct perf_event_header *header = (const void *)(data + at % page->data_size);

		/* Records are of whole words, so that a header is in one piece. */
		for (i = 1; i < header->size / 8U; i++)
			body[i - 1] = *(const uint64_t *)(data + (at + 8 * i) % page->data_size);
		take(header->type, body, arg);
		at += header->size;
	}
	__atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

/* The user part of a callchain: its first address, and how many there are in *@nr */
static const uint64_t *user_part(const uint64_t *chain, unsigned int *nr)
{
	const uint64_t *at = chain + 1, *end = at + chain[0];

	while (at < end && *at++ != PERF_CONTEXT_USER)
		;
	*nr = end - at;
	return at;
}

#define RANGE(name) extern const char __start_part_##name[], __stop_part_##name[]

RANGE(leaf);
RANGE(record);
RANGE(dynamic);
RANGE(large);
RANGE(tiny);
RANGE(often);
RANGE(only_ra);
RANGE(handler);
RANGE(spin);
RANGE(untabled);
RANGE(clocks);
RANGE(call);
RANGE(calls);
RANGE(probed);
RANGE(outer);
RANGE(main);

struct part {
	const char *name;
	const char *start;
	const char *stop;
};

#define PART_OF(name) { #name, __start_part_##name, __stop_part_##name }

static const struct part parts[] = {
	PART_OF(leaf), PART_OF(record), PART_OF(dynamic), PART_OF(large), PART_OF(tiny),
	PART_OF(often), PART_OF(only_ra), PART_OF(handler), PART_OF(spin), PART_OF(untabled),
	PART_OF(clocks), PART_OF(call), PART_OF(calls), PART_OF(probed), PART_OF(outer),
	PART_OF(main),
};

/*
 * @run: is called by outer(), which main() calls
 * @wants: names of the frames of a sample that begins in the first one. A name may be
 *	left out at the beginning: a sample in a caller has to have the rest. "*" is any one.
 * @kernel: sample the kernel as well
 * @probe: a uretprobe is on probed()
 * @switches: sample only the kernel, while the CPU switches to a process with another stack
 */
struct test {
	const char *name;
	long (*run)(long n);
	const char *wants[MAX_FRAMES];
	bool kernel;
	bool probe;
	bool switches;
};

static volatile long sink;
static bool defer, mte;

/* Nothing is on the stack, and the return address is in x30. */
long PART(leaf) leaf(long n)
{
	long i, sum = n;

	for (i = 0; i < 2000; i++)
		sum += i ^ sum >> 3;
	return sum;
}

/* A frame record */
long PART(record) record(long n)
{
	long sum = leaf(n);

	return sum + leaf(sum);
}

/* The stack pointer is not the same in each call. */
long PART(dynamic) dynamic(long n)
{
	char *bytes = __builtin_alloca(16 + (n & 0xff));
	volatile char *tagged = bytes;

	if (mte)
		asm volatile(".arch_extension memtag\n\t"
			     "addg %0, %1, #0, #3\n\t"
			     "stg %0, [%0]" : "=r" (tagged) : "r" (bytes) : "memory");
	tagged[0] = n;
	n = leaf(n) + tagged[0];
	if (mte)
		asm volatile("stg %0, [%0]" : : "r" (bytes) : "memory");
	return n;
}

/* Larger than an offset of one byte, and than the fast path takes */
long PART(large) large(long n)
{
	volatile char bytes[6000];

	bytes[n & 0xfff] = n;
	return leaf(n) + bytes[n & 0xfff];
}

/* Samples in what makes and removes frames: without a branch, it is nearly all there is. */
long PART(tiny) tiny(long n)
{
	asm volatile("" : : : "x19", "x20", "x21", "x30", "memory");
	return n + 1;
}

long PART(often) often(long n)
{
	int i;

	for (i = 0; i < 500; i++)
		n += tiny(n);
	return n;
}

/* x30 is saved, and x29 is not. */
long PART(only_ra) __attribute__((optimize("omit-frame-pointer"))) only_ra(long n)
{
	return leaf(n) + 1;
}

static volatile sig_atomic_t signals;

void PART(handler) handler(int signal)
{
	long i;

	for (i = 0; i < 20000; i++)
		sink += i;
	signals++;
}

/* Is interrupted by a signal, at any instruction */
long PART(spin) spin(long n)
{
	int seen = signals;

	while (signals == seen)
		n += n >> 3;
	return n;
}

static long by_untabled(long n)
{
	return untabled(record, n) + 1;
}

/* Of the vDSO. libc, which has no table, would be in between. */
static int (*vdso_clock_gettime)(clockid_t clock, struct timespec *t);

long PART(clocks) clocks(long n)
{
	struct timespec t;
	int i;

	for (i = 0; i < 200; i++)
		vdso_clock_gettime(CLOCK_MONOTONIC, &t);
	return n + t.tv_nsec;
}

static volatile long call_nr = SYS_getppid;

/* A system call, without libc */
long PART(call) call(long n)
{
	register long x8 asm("x8") = call_nr;
	register long x0 asm("x0");

	asm volatile("svc #0" : "=r" (x0) : "r" (x8) : "memory");
	return x0 + n;
}

long PART(calls) calls(long n)
{
	int i;

	for (i = 0; i < 100; i++)
		n += call(n);
	return n;
}

/* Another process on this CPU, whose stack has no return address where that of calls() has one */
static int start_other(void)
{
	cpu_set_t first;
	int child;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	call_nr = SYS_sched_yield;
	child = fork();
	if (!child) {
		char *stack = __builtin_alloca(4096);

		memset(stack, 0, 4096);
		asm volatile("" : : "r" (stack) : "memory");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (true)
			sched_yield();
	}
	return child;
}

long PART(probed) probed(long n)
{
	return leaf(n) + 1;
}

long PART(outer) outer(const struct test *test, long n)
{
	return test->run(n) + 1;
}

static const struct test tests[] = {
	{ "leaf", leaf, { "leaf", "outer", "main" } },
	{ "record", record, { "leaf", "record", "outer", "main" } },
	{ "dynamic", dynamic, { "leaf", "dynamic", "outer", "main" } },
	{ "large", large, { "leaf", "large", "outer", "main" } },
	{ "prologues", often, { "tiny", "often", "outer", "main" } },
	{ "only_ra", only_ra, { "leaf", "only_ra", "outer", "main" } },
	{ "signal", spin, { "handler", "*", "spin", "outer", "main" } },
	{ "sigaltstack", spin, { "handler", "*", "spin", "outer", "main" } },
	{ "signal_untabled", spin, { "handler", "untabled", "*", "spin", "outer", "main" } },
	/* Without frame pointers, nobody knows where the stack of its caller is. */
	{ "untabled", by_untabled, { "leaf", "record", "untabled", "*",
#ifndef NO_FRAME_POINTERS
				     "outer", "main"
#endif
	} },
	{ "vdso", clocks, { "vdso", "clocks", "outer", "main" } },
	{ "system_calls", calls, { "call", "calls", "outer", "main" }, .kernel = true },
	{ "uretprobe", probed, { "leaf", "probed", "outer", "main" }, .probe = true },
	{ "switches", calls, { "call", "calls", "outer", "main" }, .kernel = true, .switches = true },
};

/* What is done when a stack is not as it should be */
struct count {
	unsigned int good;
	unsigned int bad;
	unsigned int others;
	unsigned int early;
};

/* While the tables are being loaded, which the first test waits for */
#define MAX_EARLY	20

#define VDSO_SIZE	8192

static uint64_t vdso;

static const char *name_of(uint64_t ip)
{
	unsigned int i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (ip >= (uintptr_t)parts[i].start && ip < (uintptr_t)parts[i].stop)
			return parts[i].name;
	}
	return ip - vdso < VDSO_SIZE ? "vdso" : "?";
}

static bool is_named(uint64_t ip, bool is_return, const char *want)
{
	return !strcmp(want, "*") || !strcmp(name_of(ip - is_return), want);
}

static bool matches(const uint64_t *ips, unsigned int nr, const char * const *wants)
{
	unsigned int i;

	for (i = 0; i < MAX_FRAMES && wants[i]; i++) {
		/* What a signal has interrupted is no return address. */
		if (i >= nr || !is_named(ips[i], i && strcmp(wants[i - 1], "*"), wants[i]))
			return false;
	}
	return true;
}

/* Of the frames of a test, the first one that the sample can be in; -1: of none */
static int first_frame(const struct test *test, uint64_t ip)
{
	int i;

	for (i = 0; i < MAX_FRAMES && test->wants[i]; i++) {
		if (!strcmp(test->wants[i], name_of(ip)))
			return i;
	}
	return -1;
}

static void show(const uint64_t *ips, unsigned int nr, unsigned int bad)
{
	unsigned int i;

	if (bad > MAX_SHOWN)
		return;
	printf("#");
	for (i = 0; i < nr && i < 2 * MAX_FRAMES; i++)
		printf(" %s(%#llx)", name_of(ips[i] - !!i), (unsigned long long)ips[i]);
	printf("\n");
}

/*
 * main() and what it calls to begin and end the test, or what a signal has interrupted of it;
 * and code without a table that has not made its frame yet
 */
static bool is_no_part(const char *name)
{
	return !strcmp(name, "main") || !strcmp(name, "outer") || !strcmp(name, "untabled");
}

/* Has the signal interrupted what main() calls to let it through? */
static bool is_between(const struct test *test, const uint64_t *ips, unsigned int nr)
{
	unsigned int i = strcmp(test->wants[1], "*") ? 3 : 2;

	if (nr <= i || is_no_part(name_of(ips[i])))
		return nr > i;
	if (strcmp(name_of(ips[i]), "?"))
		return false;
	while (++i < nr) {
		if (strcmp(name_of(ips[i] - 1), "?"))
			return !strcmp(name_of(ips[i] - 1), "main");
	}
	return false;
}

static void judge(const struct test *test, const uint64_t *ips, unsigned int nr,
		  struct count *count)
{
	int first = nr ? first_frame(test, ips[0]) : -1;

	/* Until current is what the page table is of, only the address is known. */
	if (first < 0 || is_no_part(test->wants[first]) || (test->switches && nr == 1) ||
	    (test->run == spin && !first && is_between(test, ips, nr))) {
		count->others++;
	} else if (matches(ips, nr, test->wants + first)) {
		count->good++;
	} else if (test == tests && !count->good && count->early < MAX_EARLY) {
		count->early++;
	} else {
		count->bad++;
		show(ips, nr, count->bad);
	}
}

static int open_event(struct perf_event_attr *attr, bool everybody)
{
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = 1;
	attr->defer_callchain = defer;
	attr->defer_output = defer;
	attr->disabled = 1;
	return syscall(SYS_perf_event_open, attr, everybody ? -1 : 0, everybody ? 0 : -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int open_cycles(const struct test *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = test->switches ? SWITCH_PERIOD : PERIOD,
		.exclude_user = test->switches,
		.exclude_kernel = !test->kernel,
		.exclude_hv = 1,
	};

	return open_event(&attr, test->switches);
}

static unsigned long number_in(const char *path, const char *format)
{
	unsigned long number = 0;
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, format, &number) != 1)
		printf("# %s: no number\n", path);
	if (file)
		fclose(file);
	return number;
}

/* Only so that the function has one: its samples are not looked at here. */
static int open_uretprobe(void)
{
	static const char dir[] = "/sys/bus/event_source/devices/uprobe/";
	static char self[4096];
	char path[sizeof(dir) + 32], line[256];
	struct perf_event_attr attr = {};
	unsigned long start = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "%stype", dir);
	attr.type = number_in(path, "%lu");
	snprintf(path, sizeof(path), "%sformat/retprobe", dir);
	attr.config = 1UL << number_in(path, "config:%lu");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return -1;
	maps = fopen("/proc/self/maps", "r");
	if (!maps)
		return -1;
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to, offset;

		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 &&
		    (uintptr_t)probed >= from && (uintptr_t)probed < to)
			start = (uintptr_t)probed - from + offset;
	}
	fclose(maps);
	attr.uprobe_path = (uintptr_t)self;
	attr.probe_offset = start;
	attr.sample_period = 1;
	return open_event(&attr, false);
}

/* Where the samples of a test go */
struct run {
	const struct test *test;
	struct count *count;
};

static void take_record(unsigned int type, const uint64_t *body, void *arg)
{
	const struct run *run = arg;
	const uint64_t *ips;
	unsigned int nr;

	if (type == PERF_RECORD_SAMPLE) {
		ips = user_part(body, &nr);
		judge(run->test, ips, nr, run->count);
	} else if (type == PERF_RECORD_CALLCHAIN_DEFERRED) {
		/* Behind the cookie */
		judge(run->test, body + 2, body[1], run->count);
	}
}

static void set_signal(const struct test *test)
{
	static char stack[65536] __attribute__((aligned(16)));
	const bool alternate = !strcmp(test->name, "sigaltstack");
	const stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const bool is_untabled = !strcmp(test->wants[1], "untabled");
	struct sigaction action = { .sa_handler = is_untabled ? untabled_handler : handler };
	const struct itimerval timer = {
		.it_interval.tv_usec = test->run == spin ? 3000 : 0,
		.it_value.tv_usec = test->run == spin ? 3000 : 0,
	};

	if (alternate) {
		sigaltstack(&ss, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns false if it can not be done. */
static bool PART(main) run_test(const struct test *test, struct count *count)
{
	size_t size = (PAGES + 1) * sysconf(_SC_PAGESIZE);
	const unsigned int enough = test->switches ? ENOUGH_SWITCHES : ENOUGH_SAMPLES;
	int event = open_cycles(test), probe = test->probe ? open_uretprobe() : -1, i;
	int other = test->switches ? start_other() : 0;
	struct run run = { test, count };
	struct perf_event_mmap_page *page;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	if (event < 0 || (test->probe && probe < 0) || other < 0) {
		printf("# perf_event_open() or fork(): %m\n");
		return false;
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	if (page == MAP_FAILED) {
		printf("# mmap(): %m\n");
		return false;
	}
	if (probe >= 0)
		ioctl(probe, PERF_EVENT_IOC_ENABLE);
	set_signal(test);
	for (i = 0; i < MAX_ROUNDS && count->good + count->bad < enough; i++) {
		int j;

		ioctl(event, PERF_EVENT_IOC_ENABLE);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
		for (j = 0; j < 50; j++)
			sink += outer(test, i);
		sigprocmask(SIG_BLOCK, &alarm, NULL);
		ioctl(event, PERF_EVENT_IOC_DISABLE);
		/* The first samples have the tables loaded. There may be none in a round. */
		if (page->data_tail)
			read_ring(page, take_record, &run);
		else
			page->data_tail = page->data_head;
	}
	set_signal(&tests[0]);
	munmap(page, size);
	close(event);
	if (probe >= 0)
		close(probe);
	if (other > 0)
		kill(other, SIGKILL);
	return true;
}

static void set_sysctl(const char *value)
{
	int fd = open("/proc/sys/kernel/unwind_user_callchain", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		printf("# kernel.unwind_user_callchain: %m\n");
	if (fd >= 0)
		close(fd);
}

#define STACK_WITH_TAGS	(256 * 1024)

/* Of the stack below this frame, and what is beside it */
static bool tag_stack(void)
{
	char *stack = __builtin_alloca(STACK_WITH_TAGS);
	unsigned long page = sysconf(_SC_PAGESIZE), start = (uintptr_t)stack & -page;
	unsigned long tags = PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC | 0xfffeUL << PR_MTE_TAG_SHIFT;

	memset(stack, 0, STACK_WITH_TAGS);
	mte = !mprotect((void *)start, STACK_WITH_TAGS, PROT_READ | PROT_WRITE | PROT_MTE) &&
	      !prctl(PR_SET_TAGGED_ADDR_CTRL, tags, 0, 0, 0);
	return mte;
}

/* Has the mapping of this function this flag? */
static bool has_vm_flag(const char *flag)
{
	unsigned long start, end;
	bool here = false;
	char line[512];
	FILE *file = fopen("/proc/self/smaps", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = (uintptr_t)leaf >= start && (uintptr_t)leaf < end;
		else if (here && !strncmp(line, "VmFlags:", 8))
			return strstr(line, flag);
	}
	return false;
}

/* In the function itself: it must not return if its caller's return address is not there yet. */
static inline __attribute__((always_inline)) bool enable_gcs(void)
{
	register long x8 asm("x8") = SYS_prctl;
	register long x0 asm("x0") = PR_SET_SHADOW_STACK_STATUS;
	register long x1 asm("x1") = PR_SHADOW_STACK_ENABLE;
	register long x2 asm("x2") = 0;
	register long x3 asm("x3") = 0;
	register long x4 asm("x4") = 0;

	asm volatile("svc #0" : "+r" (x0) : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4) : "memory");
	return !x0;
}

int main(int argc, char **argv)
{
	unsigned int nr = sizeof(tests) / sizeof(tests[0]), i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	vdso = getauxval(AT_SYSINFO_EHDR);
	vdso_clock_gettime = dlsym(dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD),
				   "__kernel_clock_gettime");
	for (i = 2; i < (unsigned int)argc; i++) {
		if (!strcmp(argv[i], "defer"))
			defer = true;
		else if (!(!strcmp(argv[i], "bti") && has_vm_flag(" bt")) &&
			 !(!strcmp(argv[i], "gcs") && enable_gcs()) &&
			 !(!strcmp(argv[i], "mte") && tag_stack())) {
			printf("# %s: unknown, or not to be had: %m\n", argv[i]);
			exit(2);
		}
	}
	/* A deferred walk is never made between two tasks. */
	nr -= defer && tests[nr - 1].switches;
	set_sysctl(argc > 1 ? argv[1] : "1");
	printf("KTAP version 1\n1..%u\n", nr);
	for (i = 0; i < nr; i++) {
		struct count count = {};
		bool good = run_test(&tests[i], &count) && !count.bad &&
			    count.good >= MIN_SAMPLES;

		printf("# %s: %u samples as they should be, %u not, %u elsewhere\n",
		       tests[i].name, count.good, count.bad, count.others);
		printf("%sok %u %s\n", good ? "" : "not ", i + 1, tests[i].name);
		failed += !good;
	}
	/* With a guarded control stack, main() cannot return. */
	exit(failed ? 1 : 0);
}
