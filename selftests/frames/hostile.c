// SPDX-License-Identifier: GPL-2.0
/* Stacks and address spaces that do not want to be walked. Expectations: hostile.cases */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "workload.h"

#define PAGE	4096L
#define GROUP	"/sys/fs/cgroup/frames"

static char **args;

/*
 * Captures on another stack: bad_sp(sp), where the CFA is sp + 16, and
 * bad_fp(fp), where it is fp + 16. What happens to the registers between two
 * system calls is seen by nobody: the stack is not touched.
 */
#define DIGITS(macro)	#macro
#define NUMBER(macro)	DIGITS(macro)

#define SWITCHED(name, reg)						\
asm(".pushsection .text\n"						\
    ".type " #name ", @function\n"					\
    #name ":\n"								\
    ".cfi_startproc\n"							\
    "push %rbp\n"							\
    ".cfi_adjust_cfa_offset 8\n"					\
    ".cfi_rel_offset %rbp, 0\n"						\
    ".cfi_def_cfa %" reg ", 16\n"					\
    "push %rbx\n"							\
    "mov %rsp, %rbx\n"							\
    "mov %rdi, %" reg "\n"						\
    "mov %esi, %r8d\n"							\
    "mov $" NUMBER(FRAMES_MAGIC) ", %r9d\n"				\
    "mov $" NUMBER(__NR_getpid) ", %eax\n"				\
    "syscall\n"								\
    "mov $39, %eax\n"							\
    "syscall\n"								\
    "xor %r9d, %r9d\n"							\
    "mov %rbx, %rsp\n"							\
    "pop %rbx\n"							\
    "pop %rbp\n"							\
    ".cfi_def_cfa %rsp, 8\n"						\
    "ret\n"								\
    ".cfi_endproc\n"							\
    ".size " #name ", . - " #name "\n"					\
    ".popsection\n");							\
void name(unsigned long value, int point)

SWITCHED(bad_sp, "rsp");
SWITCHED(bad_fp, "rbp");

static char *map(int prot)
{
	char *p = mmap(NULL, 3 * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	WL_CHECK(p != MAP_FAILED);
	return p;
}

/* Point 0: can not be read. Callers use 1 and 2: can be read, and is no stack */
static void bad_values(void (*call)(unsigned long value, int point))
{
	char *guarded = map(PROT_READ | PROT_WRITE), *gone = map(PROT_READ);

	munmap(gone, 3 * PAGE);
	WL_CHECK(!mprotect(guarded + PAGE, PAGE, PROT_NONE));
	call(0xffff888000000000UL, 0);
	call(0xffffffff81000000UL, 0);
	call(0x0000800000000000UL, 0);
	call(0x8000000000000000UL, 0);
	call(0x00007fffffffeff8UL, 0);
	call((unsigned long)gone, 0);
	call((unsigned long)guarded + PAGE + 64, 0);
	/* The return address is on the page that can not be read, rbp is not */
	call((unsigned long)guarded + PAGE - 8, 0);
	call(PAGE, 0);
}

static void run_bad_sp(void)
{
	bad_values(bad_sp);
	bad_sp(-8UL, 1);			/* wraps */
	bad_sp((unsigned long)map(PROT_READ) + 3, 1);
	/* Readable, and all zero: not an address of code */
	bad_sp((unsigned long)map(PROT_READ) + 64, 2);
}

static void run_bad_fp(void)
{
	bad_values(bad_fp);
	bad_fp(-8UL, 1);
	bad_fp(64, 1);				/* below the stack pointer */
}

/*
 * Captures with other bits in the return address: flipped(bits). It is put back
 * before anybody returns to it.
 */
#define FLIPPED "xor %rdi, (%rsp)\n"

asm(".pushsection .text\n"
    ".type flipped, @function\n"
    "flipped:\n"
    ".cfi_startproc\n"
    FLIPPED
    "mov %esi, %r8d\n"
    "mov $" NUMBER(FRAMES_MAGIC) ", %r9d\n"
    "mov $" NUMBER(__NR_getpid) ", %eax\n"
    "syscall\n"
    "mov $" NUMBER(__NR_getpid) ", %eax\n"
    "syscall\n"
    "xor %r9d, %r9d\n"
    FLIPPED
    "ret\n"
    ".cfi_endproc\n"
    ".size flipped, . - flipped\n"
    ".popsection\n");
void flipped(unsigned long bits, int point);

/*
 * Walks remember addresses by a key that has not room for all bits. No bit that makes
 * an address one of no code may be overlooked: each of those from 47 on is set, in turns
 * with the right address, which is known by then.
 */
#define FIRST_BIT	47
#define NR_WARM		20

static unsigned long wrong_bit(int i)
{
	if (i < NR_WARM || i % 2)
		return 0;
	return 1UL << (FIRST_BIT + (i - NR_WARM) / 2);
}

#define FOR_BITS(i)	for (int i = 0; i < NR_WARM + 2 * (64 - FIRST_BIT); i++)

/* A function of its own, since compilers make two calls, and two addresses, of one. */
FN void call_flipped(unsigned long bits)
{
	flipped(bits, bits ? 2 : 1);
	STAY();
}

static void run_return_bits(void)
{
	FOR_BITS(i)
		call_flipped(wrong_bit(i));
}

/* The address that a signal has interrupted is known by another key. */
static unsigned long flip;

FN void flip_handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)info;
	uc->uc_mcontext.gregs[REG_RIP] ^= flip;
	CAPTURE(flip ? 2 : 1);
	uc->uc_mcontext.gregs[REG_RIP] ^= flip;
}

FN void trap(void)
{
	asm volatile("int3" ::: "memory");
	STAY();
}

static void run_interrupted_bits(void)
{
	struct sigaction action = { .sa_sigaction = flip_handler, .sa_flags = SA_SIGINFO };

	WL_CHECK(!sigaction(SIGTRAP, &action, NULL));
	FOR_BITS(i) {
		flip = wrong_bit(i);
		trap();
	}
}

/*
 * userfaultfd: a page of the stack is with somebody who does not answer, or late.
 */
static char *wanted;

static int fault_fd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC);

	wanted = map(PROT_READ | PROT_WRITE);
	reg.range.start = (uintptr_t)wanted;
	reg.range.len = PAGE;
	WL_CHECK(fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &reg));
	return fd;
}

static void msleep(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Dies within ten seconds of its SIGKILL, or is stuck. */
static void kill_and_reap(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	for (int i = 0; i < 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			WL_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
			return;
		}
		msleep(100);
	}
	wl_exit(71);
}

/* Nobody answers: it waits, and can be killed. */
static void run_uffd_killed(void)
{
	pid_t pid = fork();

	if (!pid) {
		fault_fd();
		bad_sp((unsigned long)wanted + 64, 0);
		wl_exit(0);	/* it did not wait: seen by the parent */
	}
	msleep(1000);
	kill_and_reap(pid);
}

extern const char behind_call[];
asm(".pushsection .text\n"
    ".type uffd_caller, @function\n"
    "uffd_caller:\n"
    ".cfi_startproc\n"
    ".cfi_undefined %rip\n"
    "call uffd_caller\n"
    "behind_call:\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size uffd_caller, . - uffd_caller\n"
    ".popsection\n");

static void *answer_fault(void *arg)
{
	static unsigned long page[PAGE / sizeof(long)] __attribute__((aligned(4096)));
	struct uffdio_copy copy = { .len = PAGE };
	struct uffd_msg msg;
	int fd = (intptr_t)arg;

	page[64 / 8 + 1] = (uintptr_t)behind_call;
	WL_CHECK(read(fd, &msg, sizeof(msg)) == sizeof(msg));
	msleep(200);
	copy.dst = (uintptr_t)wanted;
	copy.src = (uintptr_t)page;
	WL_CHECK(!ioctl(fd, UFFDIO_COPY, &copy));
	return NULL;
}

/* The answer comes late, and has the stack in it. */
static void run_uffd_late(void)
{
	pthread_t thread;
	int fd = fault_fd();

	WL_CHECK(!pthread_create(&thread, NULL, answer_fault, (void *)(intptr_t)fd));
	bad_sp((unsigned long)wanted + 64, 0);
	pthread_join(thread, NULL);
}

static volatile int stop;

static const char *dir(const char *name)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	WL_CHECK(len > 0);
	path[len] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	return path;
}

typedef void (*call_fn)(void (*fn)(void));

static void run_for(int ms, void *(*a)(void *), void *(*b)(void *))
{
	pthread_t threads[2];

	WL_CHECK(!pthread_create(&threads[0], NULL, a, NULL) &&
		 !pthread_create(&threads[1], NULL, b, NULL));
	msleep(ms);
	stop = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

FN void leaf(void)
{
	CAPTURE(0);
}

FN void caller(void)
{
	leaf();
	STAY();
}

FN void capture_one(void)
{
	CAPTURE(1);
}

static void *capture_always(void *arg)
{
	for (int i = 0; i < 2000 && !stop; i++)
		caller();
	return arg;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	WL_CHECK(fd >= 0);
	WL_CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void *drop_caches(void *arg)
{
	/* Do not log each of them */
	write_file("/proc/sys/vm/drop_caches", "4");
	while (!stop)
		write_file("/proc/sys/vm/drop_caches", "2");
	return arg;
}

/* The shrinker takes the tables away while they are wanted. */
static void run_shrinker(void)
{
	/* What is in use all the time stays: so there is none for a while, too */
	for (int i = 0; i < 10; i++) {
		capture_one();
		for (int n = 0; n < 4; n++)
			write_file("/proc/sys/vm/drop_caches", "2");
	}
	run_for(3000, capture_always, drop_caches);
}

/*
 * A library in a file that is new each time: a file that could not be read is
 * not tried again at once.
 */
static void *new_library;
static char new_name[64];

static call_fn load_new(int n)
{
	static char bytes[1 << 20];
	static ssize_t size;
	int fd;

	if (!size) {
		fd = open(dir("libdl-a.so"), O_RDONLY | O_CLOEXEC);
		size = read(fd, bytes, sizeof(bytes));
		close(fd);
	}
	snprintf(new_name, sizeof(new_name), "/tmp/libfail%d.so", n);
	fd = open(new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	WL_CHECK(fd >= 0 && size > 0 && write(fd, bytes, size) == size);
	close(fd);
	new_library = dlopen(new_name, RTLD_NOW);
	WL_CHECK(new_library);
	return (call_fn)dlsym(new_library, "dl_call");
}

static void unload_new(void)
{
	dlclose(new_library);
	unlink(new_name);
}

/* Writes to the switch may fail while it is on. */
static void write_switch(int fd, const char *text)
{
	while (pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		;
}

static const char *const faults[] = { "failslab", "fail_page_alloc", "fail_usercopy" };

#define NR_FAULTS	((int)(sizeof(faults) / sizeof(*faults)))

/* Not all kernels have all faults, nor all faults all files */
static void write_fault(const char *fault, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", fault, name);
	if (!access(path, W_OK))
		write_file(path, value);
}

/*
 * Each allocation and each copy of a walk and of the request to load a file fails once. The
 * stack is right, or it says what was missing.
 */
static void run_fail_nth(void)
{
	char text[16] = "";
	int fd, fired = 0;
	call_fn call;

	fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		wl_exit(FRAMES_SKIP);
	for (int i = 0; i < NR_FAULTS; i++) {
		write_fault(faults[i], "ignore-gfp-wait", "N");
		write_fault(faults[i], "verbose", "0");
	}
	for (int n = 0; n < 40; n++) {
		call = load_new(n);
		/* What else is on the stack is known before the first failure */
		if (n) {
			sprintf(text, "%d", n);
			write_switch(fd, text);
		}
		call(leaf);
		/* If this copy fails, those of the capture did not */
		if (pread(fd, text, sizeof(text), 0) > 0)
			fired += n && text[0] == '0';
		write_switch(fd, "0");
		unload_new();
	}
	for (int i = 0; i < NR_FAULTS; i++)
		write_fault(faults[i], "ignore-gfp-wait", "Y");
	/* Less would mean that nothing was tested */
	WL_CHECK(fired >= 1);
}

static long read_number(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	WL_CHECK(fd >= 0);
	WL_CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtol(text, NULL, 10);
}

/* Does the kernel have that much for us? A map is charged, and nobody is killed for it. */
static int has_kernel_memory(unsigned int size)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = PAGE,
		.max_entries = size / PAGE,
	};
	int fd = syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	WL_CHECK(fd >= 0 || errno == ENOMEM);
	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

/*
 * A child, as what the kernel had got before it failed is given back later: until then,
 * everything in the group that wants memory is killed.
 */
static int group_has_kernel_memory(unsigned int size)
{
	pid_t pid = fork();
	int status;

	WL_CHECK(pid >= 0);
	if (!pid) {
		write_file(GROUP "/cgroup.procs", "0");
		_exit(has_kernel_memory(size));
	}
	WL_CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	for (int i = 0; read_number(GROUP "/memory.current") > 1 << 20; i++) {
		WL_CHECK(i < 1000);
		msleep(10);
	}
	return WEXITSTATUS(status);
}

/*
 * memcg_exec PROGRAM ARGS: run it in a group that has less memory to spare than a section
 * of 8 MiB takes, as that of the damage below_cap. What is charged to it can not have that.
 */
static void run_memcg_exec(void)
{
	WL_CHECK(has_kernel_memory(8 << 20));
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0755);
	write_file(GROUP "/memory.max", "6M");
	WL_CHECK(!group_has_kernel_memory(8 << 20));
	write_file(GROUP "/cgroup.procs", "0");
	execv(args[2], args + 2);
	wl_exit(WL_BROKEN);
}

static __attribute__((constructor)) void keep_args(int argc, char **argv)
{
	args = argv;
}

static const struct wl_case cases[] = {
	{ "bad_sp", run_bad_sp },
	{ "bad_fp", run_bad_fp },
	{ "return_bits", run_return_bits },
	{ "interrupted_bits", run_interrupted_bits },
	{ "uffd_killed", run_uffd_killed },
	{ "uffd_late", run_uffd_late },
	{ "shrinker", run_shrinker },
	{ "fail_nth", run_fail_nth },
	{ "memcg_exec", run_memcg_exec },
};

WL_MAIN(cases)
