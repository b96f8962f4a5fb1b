// SPDX-License-Identifier: GPL-2.0
#include <sched.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <bpf/libbpf.h>
#include "session/options.h"

static const struct {
	const char *name;
	__u32 type;
	__u64 config;
} known[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
};

__u64 sampling_ns(const struct sampling *sampling)
{
	bool is_clock = sampling->type == PERF_TYPE_SOFTWARE &&
			sampling->config == PERF_COUNT_SW_CPU_CLOCK;

	return is_clock && !sampling->period ? 1000000000 / sampling->frequency : 0;
}

bool sampling_by_name(struct sampling *sampling, const char *name)
{
	char *end;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(known[i].name, name))
			continue;
		sampling->type = known[i].type;
		sampling->config = known[i].config;
		return true;
	}
	sampling->type = PERF_TYPE_RAW;
	sampling->config = strtoull(name + 1, &end, 16);
	return *name == 'r' && end > name + 1 && !*end;
}

const char *sampling_names(void)
{
	static char text[512];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known) && !text[sizeof(text) / 2]; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 known[i].name);
	return text;
}

static int open_event(const struct sampling *sampling, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = sampling->type,
		.config = sampling->config,
		.freq = !sampling->period,
		.sample_freq = sampling->period ?: sampling->frequency,
		.disabled = 1,
		.exclude_hv = 1,
		.exclude_idle = sampling->type == PERF_TYPE_SOFTWARE,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

struct sampling sampling_default(void)
{
	struct sampling sampling = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .frequency = 997,
	};
	int fd = open_event(&sampling, sched_getcpu());

	if (fd >= 0)
		close(fd);
	else
		sampling_by_name(&sampling, "cpu-clock");
	return sampling;
}

static int add_event(struct perf_events *events, struct bpf_program *prog,
		     const struct sampling *sampling, int cpu)
{
	struct bpf_link *link;
	int fd = open_event(sampling, cpu);

	/* It is offline. */
	if (fd == -ENODEV)
		return 0;
	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link) {
		int error = -errno;

		close(fd);
		return error;
	}
	*xpush(events->links, events->nr) = link;
	return 0;
}

int perf_events_open(struct perf_events *events, struct bpf_program *prog,
		     const struct sampling *sampling, const __u64 *cpus)
{
	int cpu, nr = libbpf_num_possible_cpus(), error = nr < 0 ? nr : 0;

	*events = (struct perf_events){};
	if (!sampling->period && !sampling->frequency)
		return -EINVAL;
	for (cpu = 0; cpu < nr && cpu < MAX_CPUS && !error; cpu++) {
		if (!cpus || cpus[cpu / 64] >> cpu % 64 & 1)
			error = add_event(events, prog, sampling, cpu);
	}
	return error ?: events->nr ? 0 : -ENODEV;
}

void perf_events_close(struct perf_events *events)
{
	size_t i;

	/* Destroying the link closes the event. */
	for (i = 0; i < events->nr; i++)
		bpf_link__destroy(events->links[i]);
	free(events->links);
	*events = (struct perf_events){};
}
