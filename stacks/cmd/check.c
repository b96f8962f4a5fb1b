// SPDX-License-Identifier: GPL-2.0
/*
 * stacks check: what this kernel, and who asks, can do; and how to get the rest. For files and
 * processes, see check_file.c.
 */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <bpf/btf.h>
#include "cmd/main.h"
#include "session/session.h"

/* How bad it is that something is missing */
enum need {
	NEED_KERNEL,	/* another kernel, or another configuration, is needed */
	NEED_RIGHT,	/* the caller may not */
	NEED_NOTHING,	/* it works, but not as well */
};

enum what {
	FUNCTION,	/* of the kernel, as its BTF has it */
	CAPABILITY,
	READ,		/* may a file be read? */
	NAMESPACE,
};

static const struct check {
	const char *title;	/* NULL: it belongs to the ones before */
	const char *name;
	enum need need;
	const char *how;	/* to get it, or the loss without it */
	enum what what;
	const char *where;	/* name or path */
	unsigned int number;	/* of a capability */
} checks[] = {
	{ "Kernel", "captures of stacks: bpf_stack_capture()", NEED_KERNEL,
		"a kernel with it, CONFIG_DEBUG_INFO_BTF=y, CONFIG_BPF_EVENTS=y, 64 bit",
		FUNCTION, "bpf_stack_capture" },
	{ NULL, "walks of user stacks that may fault", NEED_KERNEL,
		"an architecture with HAVE_UNWIND_USER_FP or HAVE_UNWIND_USER_TABLES",
		FUNCTION, "unwind_deferred_request" },
	{ NULL, "walks by unwind tables", NEED_NOTHING,
		"CONFIG_UNWIND_USER_TABLES=y; without, stacks end where code has no frame pointer",
		FUNCTION, "unwind_user_object_table" },
	{ NULL, "functions of the kernel: count, snoop", NEED_NOTHING, "CONFIG_FPROBE=y",
		FUNCTION, "bpf_kprobe_multi_link_attach" },
	{ NULL, "functions of programs: count, snoop", NEED_NOTHING, "CONFIG_UPROBES=y",
		FUNCTION, "bpf_uprobe_multi_link_attach" },
	{ NULL, "tables for generated code: jit", NEED_NOTHING,
		"CONFIG_UNWIND_USER_CODE=y; without, stacks end in generated code",
		FUNCTION, "bpf_user_code_set" },
	{ "Rights", "CAP_BPF", NEED_RIGHT, "be root, or setpriv --ambient-caps +bpf,+perfmon",
		CAPABILITY, NULL, CAP_BPF },
	{ NULL, "CAP_PERFMON", NEED_RIGHT, "be root, or setpriv --ambient-caps +bpf,+perfmon",
		CAPABILITY, NULL, CAP_PERFMON },
	{ NULL, "CAP_SYS_PTRACE", NEED_NOTHING,
		"for files of processes of others that are not open to all",
		CAPABILITY, NULL, CAP_SYS_PTRACE },
	{ NULL, "CAP_CHECKPOINT_RESTORE", NEED_NOTHING,
		"for files that were deleted, or that have another name in a container",
		CAPABILITY, NULL, CAP_CHECKPOINT_RESTORE },
	{ NULL, "CAP_SYSLOG", NEED_NOTHING,
		"for names of functions of the kernel, and sysctl kernel.kptr_restrict=1 or 0",
		CAPABILITY, NULL, CAP_SYSLOG },
	{ NULL, "the initial pid namespace", NEED_KERNEL,
		"outside of containers, or in one with the host's (--pid=host)", NAMESPACE },
	{ NULL, "patterns of functions, events of system calls", NEED_NOTHING,
		"read access to /sys/kernel/tracing, which is root's",
		READ, "/sys/kernel/tracing/available_filter_functions_addrs" },
};

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	return !syscall(SYS_capget, &header, data) &&
	       data[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number);
}

static bool is_there(const struct check *check)
{
	switch (check->what) {
	case FUNCTION:
		return kernel_has(check->where, BTF_KIND_FUNC);
	case CAPABILITY:
		return has_capability(check->number);
	case READ:
		return !access(check->where, R_OK);
	default:
		return session_in_initial_namespace();
	}
}

static void print(const char *title, const char *mark, const char *name, const char *how)
{
	if (title)
		printf("%s\n", title);
	printf("  %-4s%s\n", mark, name);
	if (how)
		printf("        how: %s\n", how);
}

#define MODE_FILE	"/proc/sys/kernel/unwind_user_callchain"

/* -1: there is none */
static int read_mode(void)
{
	FILE *file = fopen(MODE_FILE, "re");
	int mode = -1;

	if (file && fscanf(file, "%d", &mode) != 1)
		mode = -1;
	if (file)
		fclose(file);
	return mode;
}

/* What other profilers need is the same: all end in the same function of the kernel. */
static void check_clients(void)
{
	static const char title[] = "perf, bpftrace and bcc";
	int mode = read_mode();

	if (mode < 0)
		print(title, "NO", "the kernel walks by frame pointers",
		      "a kernel with CONFIG_UNWIND_USER_TABLES=y and " MODE_FILE);
	else if (mode == 1)
		print(title, "yes", "user stacks by tables", NULL);
	else
		print(title, "NO", "user stacks by frame pointers only",
		      "sysctl kernel.unwind_user_callchain=1");
}

/* The first thing without which the kernel cannot be asked about files; NULL: nothing is missing */
static const char *first_missing(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		if (checks[i].need != NEED_NOTHING && !is_there(&checks[i]))
			return checks[i].name;
	}
	return read_mode() == 1 ? NULL : "sysctl kernel.unwind_user_callchain=1";
}

int cmd_check(struct options *options)
{
	unsigned int missing[] = { 0, 0, 0 };
	size_t i;

	if (options->nr_pids || options->nr_paths)
		return check_files(options, first_missing());
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		const struct check *check = &checks[i];
		bool there = is_there(check);

		print(check->title, there ? "yes" : check->need == NEED_NOTHING ? "-" : "NO",
		      check->name, there ? NULL : check->how);
		missing[check->need] += !there;
	}
	check_clients();
	printf("\nMissing: %u that the kernel would need, %u rights, %u that it does without\n",
	       missing[NEED_KERNEL], missing[NEED_RIGHT], missing[NEED_NOTHING]);
	if (fflush(stdout))
		return EXIT_FAILED;
	if (missing[NEED_KERNEL])
		return EXIT_SUPPORT;
	return missing[NEED_RIGHT] ? EXIT_FAILED : EXIT_OK;
}
