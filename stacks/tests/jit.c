// SPDX-License-Identifier: GPL-2.0
/*
 * Are the tables for generated code right? Stops threads of a running JVM again and again, and
 * walks their stacks: through generated code by the bytes that "stacks jit" would give the kernel,
 * read by libdw, through files by libdwfl. The kernel needs no support. Prints KTAP.
 *
 *   jit [-n STOPS] [-g MS] [-e] [-v] PID
 *
 * -g: between two stops; -e: tables follow events, as the command's do; otherwise tables are made
 * after each stop; -v: print stacks that are not complete
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <bpf/libbpf.h>
#include "tests/jit_walk.h"

#define MAX_STACK	(8U << 20)
#define MAX_NS		(300 * 1000000000ULL)
#define NS_PER_MS	1000000ULL

struct test {
	struct walk walk;
	pid_t pid;
	struct strings reasons;
	unsigned int *nr_stopped;	/* by each of them */
	size_t nr_reasons;
	bool verbose;
	unsigned int nr_stops;
	unsigned int gap_ms;
	__u64 begin;
	__u64 scan_ns;
	struct machines machines;	/* which make tables by events */
	bool by_events;
};

static void set_table(void *arg, __u64 piece, const struct eh_frame *table)
{
	walk_add_table(&container_of(arg, struct test, machines)->walk, piece, table);
}

static void count_reason(struct test *test)
{
	__u32 i = strings_number(&test->reasons, test->walk.why);

	if (i == test->nr_reasons)
		xpush(test->nr_stopped, test->nr_reasons);
	test->nr_stopped[i]++;
}

/* The JVM's own threads run no Java code. */
static bool is_own(const char *comm)
{
	static const char *const own[] = {
		"C1 Comp", "C2 Comp", "GC Thread", "G1 ", "VM Thread", "VM Periodic", "ZWorker",
		"ZDriver", "ZDirector",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++) {
		if (!strncmp(comm, own[i], strlen(own[i])))
			return true;
	}
	return false;
}

/* A thread that runs, or 0; below 0: the process is gone */
static pid_t pick_thread(__u32 pid)
{
	char path[300], line[256], *open, *close;
	pid_t threads[512];
	struct dirent *entry;
	int nr = 0;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%u/task/%s/stat", pid, entry->d_name);
		file = *entry->d_name == '.' ? NULL : fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file)) {
			open = strchr(line, '(');
			close = strrchr(line, ')');
			if (open && close && close[1] && close[2] == 'R' && !is_own(open + 1) &&
			    nr < 512)
				threads[nr++] = atoi(entry->d_name);
		}
		fclose(file);
	}
	closedir(dir);
	return nr ? threads[random() % nr] : 0;
}

/* The stack above SP, as far as it can be read */
static void copy_stack(struct test *test, __u64 sp)
{
	test->walk.stack_low = (sp - 256) & -8ULL;
	test->walk.stack_size = memory_read_some(test->walk.process->pid, test->walk.stack_low,
						 test->walk.stack, MAX_STACK);
}

static bool stop(struct test *test, pid_t tid, struct frame *frame)
{
	struct user_regs_struct r;
	int status, got;
	bool good;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		ptrace(PTRACE_DETACH, tid, 0, 0);
		return false;
	}
	/* A signal for the program is handed on. */
	while ((got = waitpid(tid, &status, __WALL)) == tid && WIFSTOPPED(status) &&
	       status >> 16 != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	if (got != tid || !WIFSTOPPED(status))
		return false;
	good = !ptrace(PTRACE_GETREGS, tid, 0, &r);
	if (good) {
		*frame = (struct frame){
			{ r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10,
			  r.r11, r.r12, r.r13, r.r14, r.r15, r.rip }, (1U << NR_REGS) - 1,
		};
		copy_stack(test, r.rsp);
	}
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return good;
}

static void print_trace(struct test *test)
{
	unsigned int i;

	printf("--- %s\n", test->walk.why);
	for (i = 0; i <= test->walk.depth && i < 16; i++) {
		const struct frame *frame = &test->walk.trace[i];
		const struct jit_code *code = jit_process_find(test->walk.process, frame->regs[IP] - !!i);

		printf("  ip %llx sp %llx fp %llx %s+0x%llx\n", frame->regs[IP], frame->regs[SP],
		       frame->regs[FP], walk_name(&test->walk, frame->regs[IP] - !!i),
		       code ? frame->regs[IP] - code->blob.start : 0);
	}
}

static bool update(struct test *test)
{
	return jit_process_scan(test->walk.process) && jit_process_flush(test->walk.process);
}

struct counts {
	unsigned int stops;
	unsigned int complete;
	unsigned int first;		/* of the first eight seconds */
	unsigned int first_complete;
	unsigned int bogus;
	unsigned int falsely;
	unsigned int leaf;
};

static void take_sample(struct test *test, const struct frame *frame, struct counts *counts)
{
	bool good = walk_stack(&test->walk, *frame), is_first = now_ns() - test->begin < 8000 * NS_PER_MS;

	if (good && test->walk.bogus)
		snprintf(test->walk.why, sizeof(test->walk.why), "complete, but bogus");
	good &= !test->walk.bogus;
	counts->stops++;
	counts->complete += good;
	counts->first += is_first;
	counts->first_complete += is_first && good;
	counts->bogus += test->walk.bogus;
	counts->falsely += test->walk.falsely;
	counts->leaf += !!jit_process_piece(test->walk.process, frame->regs[IP]);
	if (good)
		return;
	count_reason(test);
	if (test->verbose)
		print_trace(test);
}

/* false: by events, the process is gone. */
static bool wait_for_next(struct test *test)
{
	__u64 now = now_ns(), until = now + NS_PER_MS + random() % (2 * test->gap_ms * NS_PER_MS);

	if (!test->by_events)
		return !usleep((until - now) / 1000);
	for (; test->walk.process && now < until; now = now_ns()) {
		machines_wait(&test->machines, (until - now) / NS_PER_MS);
		test->walk.process = machines_process(&test->machines, test->pid);
	}
	return test->walk.process;
}

static void sample(struct test *test, struct counts *counts)
{
	struct frame frame;
	pid_t tid;

	while (counts->stops < test->nr_stops && now_ns() - test->begin < MAX_NS) {
		tid = wait_for_next(test) ? pick_thread(test->pid) : -1;
		if (tid < 0)
			return;
		if (!tid || !stop(test, tid, &frame))
			continue;
		if (!test->by_events && !update(test))
			return;
		if (now_ns() - test->walk.dwfl_read > 1000 * NS_PER_MS)
			walk_read_modules(&test->walk);
		take_sample(test, &frame, counts);
	}
}

static double share(__u64 part, __u64 all)
{
	return all ? 100.0 * part / all : 0;
}

static void report(struct test *test, const struct counts *counts)
{
	const struct jit_process *process = test->walk.process;
	size_t i;

	if (!process)
		return;
	printf("# HotSpot %s: %zu blobs, %llu rows, %llu KiB, first scan %llu ms, %llu with unknown instructions\n",
	       process->vm->release, process->nr, process->nr_rows,
	       process->table_bytes >> 10, test->scan_ns / NS_PER_MS,
	       process->kernel->counts[COUNT_UNKNOWN]);
	printf("# %u stops in %.1f s, innermost frame generated %.1f %%, frames %.1f, generated %.1f\n",
	       counts->stops, (now_ns() - test->begin) / 1e9, share(counts->leaf, counts->stops),
	       share(test->walk.nr_frames, counts->stops) / 100,
	       share(test->walk.nr_generated, counts->stops) / 100);
	if (test->by_events)
		printf("# %llu events, %llu lost, %llu without a method\n",
		       process->kernel->counts[COUNT_LOADS], jit_kernel_lost(process->kernel),
		       process->kernel->counts[COUNT_MISSED]);
	printf("# complete %.2f %% (first 8 s: %.2f %% of %u), bogus %.2f %%, taken for a thread's start %u\n",
	       share(counts->complete, counts->stops),
	       share(counts->first_complete, counts->first), counts->first,
	       share(counts->bogus, counts->stops), counts->falsely);
	for (i = 0; i < test->nr_reasons; i++)
		printf("# %.2f %%: %s\n", share(test->nr_stopped[i], counts->stops),
		       test->reasons.strings[i]);
}

/* A virtual machine that has just started may not have code heaps yet. */
static bool open_process(struct test *test)
{
	struct hotspot *vm = NULL;
	const char *why = NULL;
	int tries;

	elf_version(EV_CURRENT);
	test->walk.stack = xcalloc(1, MAX_STACK);
	test->machines = (struct machines){
		.kernel = { .on_table = set_table, .arg = &test->machines },
		.pids = &test->pid, .nr_pids = 1,
	};
	if (test->by_events && machines_open(&test->machines, false))
		return false;
	for (tries = 0; tries < 100 && !test->walk.process; tries++) {
		if (test->by_events) {
			machines_wait(&test->machines, 20);
			test->walk.process = machines_process(&test->machines, test->pid);
			continue;
		}
		vm = vm ?: hotspot_open(test->pid, &why);
		why = vm ? hotspot_read_heaps(vm) : why;
		if (vm && !why)
			test->walk.process = jit_process_open(vm, &test->machines.kernel, &why);
		usleep(20000);
	}
	if (!test->walk.process) {
		p_err("process %u: %s", test->pid, why ?: "no virtual machine");
		return false;
	}
	walk_read_modules(&test->walk);
	test->begin = now_ns();
	if (!test->by_events && !update(test))
		return false;
	test->scan_ns = now_ns() - test->begin;
	return true;
}

int main(int argc, char **argv)
{
	static struct test test = { .nr_stops = 500, .gap_ms = 10 };
	struct counts counts = {};
	bool good;
	int option;

	while ((option = getopt(argc, argv, "n:g:ev")) != -1) {
		if (option == 'n')
			test.nr_stops = atoi(optarg);
		else if (option == 'g')
			test.gap_ms = atoi(optarg);
		else if (option == 'e')
			test.by_events = true;
		else if (option == 'v')
			test.verbose = true;
		else
			return EXIT_USAGE;
	}
	if (optind + 1 != argc || !test.gap_ms)
		return EXIT_USAGE;
	test.pid = atoi(argv[optind]);
	printf("TAP version 13\n1..1\n");
	good = open_process(&test);
	if (good) {
		sample(&test, &counts);
		report(&test, &counts);
		good = counts.stops && counts.complete >= 0.98 * counts.stops &&
		       counts.bogus <= 0.002 * counts.stops;
	}
	printf("%sok 1 - stacks are complete\n", good ? "" : "not ");
	return !good;
}
