// SPDX-License-Identifier: GPL-2.0
/*
 * Which share of captures has the user stack at once?
 *
 *	shares [-a PERCENT] [-l] [-m] [-n] NAME COMMAND...
 *
 * Captures the user stacks of all tasks that the clock interrupts while COMMAND
 * runs, and prints what came of it, one line for each kind of sample.
 *
 *	-a PERCENT	fail if less than that are known at once
 *	-l		print what it took to make each unwind table, too
 *	-m		-a is about the first threads of processes only
 *	-n		sample with NMIs: sysrq-l from CPU 0 interrupts the others
 *
 * Exits 0 pass, 1 too few, 2 usage, 3 the run itself did not work, 4 skipped.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <bpf/libbpf.h>
#include <bpf/stack_record.h>
#include "shares.h"
#include "shares.skel.h"

#define NR_STOPS	16
#define PERIOD_NS	1000000
#define NMI_INTERVAL_US	20000

/* Of which thread, and where was it? */
enum kind { MAIN_KERNEL, MAIN_USER, OTHER_KERNEL, OTHER_USER, NR_KINDS };

static const char * const kind_names[NR_KINDS] = {
	"main-kernel", "main-user", "other-kernel", "other-user",
};

/* enum bpf_stack_stop */
static const char * const stop_names[NR_STOPS] = {
	"none", "complete", "fp_end", "depth", "no_rule", "cold", "fault", "bad_cfa",
	"bad_ip", "no_user", "unsupported",
};

struct share {
	unsigned long at_once, pending;
	unsigned long stops[NR_STOPS];
};

static struct {
	const char *name;
	double wanted;
	bool main_only, nmi, loads;
	char **command;
} args;

static struct share shares[NR_KINDS];
static volatile bool done;

static void read_args(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+a:lmn")) != -1) {
		switch (c) {
		case 'a':
			args.wanted = atof(optarg);
			break;
		case 'l':
			args.loads = true;
			break;
		case 'm':
			args.main_only = true;
			break;
		case 'n':
			args.nmi = true;
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind < 2)
		error(2, 0, "usage: shares [-a PERCENT] [-l] [-m] [-n] NAME COMMAND...");
	args.name = argv[optind];
	args.command = argv + optind + 1;
}

static int count_record(void *ctx, void *data, size_t size)
{
	const struct bpf_stack_record *rec;
	struct bpf_stack_view view;
	struct share *share;
	enum kind kind;

	if (!bpf_stack_view__init(&view, data, size))
		error(3, 0, "a record of another version");
	rec = view.rec;
	if (rec->type != BPF_STACK_RECORD_SAMPLE)
		return 0;
	kind = rec->pid == rec->tgid ? MAIN_KERNEL : OTHER_KERNEL;
	if (*(const __u64 *)view.payload & TAG_USER_MODE)
		kind++;
	share = &shares[kind];
	share->stops[rec->user_stop % NR_STOPS]++;
	if (rec->flags & BPF_STACK_RECORD_PENDING || rec->user_stop == BPF_STACK_STOP_COLD)
		share->pending++;
	else
		share->at_once++;
	return 0;
}

static void attach_clock(struct shares *skel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
	};
	int cpu, fd;

	for (cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			error(3, errno, "perf_event_open on CPU %d", cpu);
		if (!bpf_program__attach_perf_event(skel->progs.sample, fd))
			error(3, errno, "attach to the clock of CPU %d", cpu);
	}
}

static void run_on(int cpu, bool only)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < libbpf_num_possible_cpus(); i++)
		if ((i == cpu) == only)
			CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		error(3, errno, "sched_setaffinity");
}

/* Its stacks are not wanted on the console. */
static void quiet_console(void)
{
	FILE *f = fopen("/proc/sys/kernel/printk", "w");

	if (!f || fprintf(f, "1") < 0 || fclose(f))
		error(3, errno, "/proc/sys/kernel/printk");
}

static void *send_nmis(void *unused)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		error(3, errno, "/proc/sysrq-trigger");
	run_on(0, true);
	while (!done) {
		if (write(fd, "l", 1) != 1)
			error(3, errno, "/proc/sysrq-trigger");
		usleep(NMI_INTERVAL_US);
	}
	return NULL;
}

static void attach_nmi(struct shares *skel, pthread_t *thread)
{
	if (!bpf_program__attach(skel->progs.nmi))
		error(3, errno, "attach to NMIs");
	quiet_console();
	if (pthread_create(thread, NULL, send_nmis, NULL))
		error(3, 0, "pthread_create");
}

static struct shares *load(void)
{
	struct shares *skel = shares__open();

	if (!skel)
		error(3, errno, "open the program");
	bpf_program__set_autoload(skel->progs.nmi, args.nmi);
	bpf_program__set_autoload(skel->progs.sample, !args.nmi);
	skel->bss->own_pid = getpid();
	if (shares__load(skel))
		error(3, errno, "load the program");
	if (!bpf_program__attach(skel->progs.load_begin) ||
	    !bpf_program__attach(skel->progs.load_end))
		error(3, errno, "attach to unwind_table_create()");
	return skel;
}

static int start_command(void)
{
	int pid = fork();

	if (pid < 0)
		error(3, errno, "fork");
	if (pid)
		return pid;
	if (args.nmi)
		run_on(0, false);
	execvp(args.command[0], args.command);
	error(127, errno, "%s", args.command[0]);
	return 0;
}

static void wait_for(int pid, struct ring_buffer *rb)
{
	int status;

	while (!waitpid(pid, &status, WNOHANG))
		ring_buffer__poll(rb, 50);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		error(3, 0, "%s has failed (%#x)", args.command[0], status);
}

static void print_share(const char *kind, const struct share *share)
{
	unsigned long all = share->at_once + share->pending;

	if (!all)
		return;
	printf("shares name=%s kind=%s captures=%lu at_once=%lu percent=%.3f",
	       args.name, kind, all, share->at_once, 100.0 * share->at_once / all);
	for (int i = 0; i < NR_STOPS; i++)
		if (share->stops[i])
			printf(" %s=%lu", stop_names[i] ?: "other", share->stops[i]);
	printf("\n");
}

static void print_loads(const struct shares *skel)
{
	for (unsigned int i = 0; i < skel->bss->nr_loads; i++)
		printf("load name=%s section=%llu table=%llu ns=%llu\n", args.name,
		       skel->bss->loads[i].section, skel->bss->loads[i].table,
		       skel->bss->loads[i].ns);
}

/* A capture that failed has no stack either. */
static unsigned long print_errors(const struct share_counts *counts)
{
	unsigned long sum = 0;

	if (counts->execs)
		printf("errors name=%s errno=in-exec count=%llu\n", args.name, counts->execs);
	for (int i = 0; i < MAX_ERRORS; i++) {
		if (!counts->errors[i])
			continue;
		printf("errors name=%s errno=%s count=%llu\n", args.name,
		       strerrorname_np(i), counts->errors[i]);
		sum += counts->errors[i];
	}
	return sum;
}

static struct share sum_of(int nr_kinds)
{
	struct share sum = {};

	for (int i = 0; i < nr_kinds; i++) {
		sum.at_once += shares[i].at_once;
		sum.pending += shares[i].pending;
		for (int j = 0; j < NR_STOPS; j++)
			sum.stops[j] += shares[i].stops[j];
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct share sum, judged;
	struct ring_buffer *rb;
	struct shares *skel;
	pthread_t thread;
	unsigned long failed;
	double percent;

	read_args(argc, argv);
	if (args.nmi && libbpf_num_possible_cpus() < 2) {
		printf("sysrq-l sends NMIs to other CPUs only, and there is one\n");
		return 4;
	}
	skel = load();
	rb = ring_buffer__new(bpf_map__fd(skel->maps.ring), count_record, NULL, NULL);
	if (!rb)
		error(3, errno, "ring_buffer__new");
	if (args.nmi)
		attach_nmi(skel, &thread);
	else
		attach_clock(skel);

	wait_for(start_command(), rb);
	done = true;
	if (args.nmi)
		pthread_join(thread, NULL);
	shares__detach(skel);
	ring_buffer__consume(rb);

	sum = sum_of(NR_KINDS);
	for (int i = 0; i < NR_KINDS; i++)
		print_share(kind_names[i], &shares[i]);
	print_share("all", &sum);
	if (args.loads && !skel->bss->nr_loads)
		error(3, 0, "no table was made");
	if (args.loads)
		print_loads(skel);
	failed = print_errors(&skel->bss->counts);
	if (!sum.at_once && !sum.pending)
		error(3, 0, "nothing was sampled");
	if (sum.at_once + sum.pending != skel->bss->counts.captures)
		error(3, 0, "%llu captures, but %lu records", skel->bss->counts.captures,
		      sum.at_once + sum.pending);

	judged = args.main_only ? sum_of(OTHER_KERNEL) : sum;
	if (!judged.at_once && !judged.pending)
		error(3, 0, "no first thread of a process was sampled");
	percent = 100.0 * judged.at_once / (judged.at_once + judged.pending + failed);
	printf("%s: %.3f %% at once, wanted: %.1f %%\n", args.name, percent, args.wanted);
	return percent < args.wanted;
}
