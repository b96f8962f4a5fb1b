// SPDX-License-Identifier: GPL-2.0
/*
 * Which share of the user stacks of a program is complete?
 *
 *	shares PERCENT COMMAND [ARGUMENT]...
 *
 * Samples the command by the PMU. A stack is complete if its last frame is in _start, of the
 * program or of the dynamic linker.
 * Prints one result of KTAP: PERCENT of the stacks are to be complete. Needs root, and a
 * program of one thread.
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERIOD		1000003
#define PAGES		1024
#define START_SIZE	0x60
#define MIN_SAMPLES	200

#define MAX_MAPPINGS	64
#define MAX_SHOWN	8

/* Executable, and where the _start of the file is in it, if it is */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t entry;
	char path[256];
};

struct counts {
	struct mapping mappings[MAX_MAPPINGS];
	unsigned int nr_mappings;
	unsigned int samples;
	unsigned int complete;
	unsigned long frames;
};

/* Where in its file _start is, 0: in none */
static uint64_t entry_offset(const char *path)
{
	static char head[4096];
	const Elf64_Ehdr *ehdr = (void *)head;
	const Elf64_Phdr *phdr;
	int fd = open(path, O_RDONLY), i;

	if (fd < 0 || read(fd, head, sizeof(head)) < (ssize_t)sizeof(*ehdr))
		return 0;
	close(fd);
	phdr = (void *)(head + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X &&
		    ehdr->e_entry - phdr[i].p_vaddr < phdr[i].p_filesz)
			return ehdr->e_entry - phdr[i].p_vaddr + phdr[i].p_offset;
	}
	return 0;
}

/* @body: pid, tid, addr, len, pgoff, path */
static void take_mapping(const uint64_t *body, struct counts *counts)
{
	struct mapping *map = &counts->mappings[counts->nr_mappings];
	uint64_t entry = entry_offset((const char *)(body + 4));

	if (counts->nr_mappings == MAX_MAPPINGS)
		return;
	counts->nr_mappings++;
	*map = (struct mapping){ body[1], body[1] + body[2], body[3] };
	snprintf(map->path, sizeof(map->path), "%.255s", (const char *)(body + 4));
	if (entry >= map->offset && entry - map->offset < body[2])
		map->entry = map->start + entry - map->offset;
}

static const struct mapping *find_mapping(const struct counts *counts, uint64_t ip)
{
	unsigned int i = counts->nr_mappings;

	while (i--) {
		if (ip >= counts->mappings[i].start && ip < counts->mappings[i].end)
			return &counts->mappings[i];
	}
	return NULL;
}

static void take_sample(const uint64_t *words, struct counts *counts)
{
	const uint64_t *chain = words + 1;
	uint64_t nr = words[0], i, last;
	const struct mapping *map;

	for (i = 0; i < nr && chain[i] != PERF_CONTEXT_USER; i++)
		;
	if (i + 1 >= nr)
		return;
	last = chain[nr - 1];
	map = find_mapping(counts, last);
	counts->samples++;
	counts->frames += nr - i - 1;
	if (map && map->entry && last - map->entry < START_SIZE)
		counts->complete++;
	else if (counts->samples - counts->complete <= MAX_SHOWN)
		printf("# sample %u ends after %u frames at %s+%#llx\n", counts->samples,
		       (unsigned int)(nr - i - 1), map ? map->path : "?",
		       (unsigned long long)(map ? last - map->start + map->offset : last));
}

static void read_ring(struct perf_event_mmap_page *page, struct counts *counts)
{
	static uint64_t record[8192 + 1];
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail, i;

	while (at < head) {
		const struct perf_event_header *header =
			(const void *)(data + at % page->data_size);

		/* Records are of whole words, so that a header is in one piece. */
		for (i = 0; i < header->size / 8U; i++)
			record[i] = *(const uint64_t *)(data + (at + 8 * i) % page->data_size);
		if (header->type == PERF_RECORD_SAMPLE)
			take_sample(record + 1, counts);
		else if (header->type == PERF_RECORD_MMAP)
			take_mapping(record + 1, counts);
		at += header->size;
	}
	__atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

static pid_t start(char **command, int *go)
{
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe(pipes))
		exit(2);
	pid = fork();
	if (!pid) {
		close(pipes[1]);
		if (read(pipes[0], &byte, 1) != 1)
			_exit(127);
		dup2(open("/dev/null", O_WRONLY), 1);
		execv(command[0], command);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1,
		.mmap = 1,
		.disabled = 1,
		.enable_on_exec = 1,
	};
	static struct counts counts;
	int go, event, status = -1;
	struct pollfd poll_fd;
	void *page;
	pid_t pid;
	bool good;

	if (argc < 3) {
		fprintf(stderr, "usage: shares PERCENT COMMAND [ARGUMENT]...\n");
		return 2;
	}
	pid = start(argv + 2, &go);
	event = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	page = mmap(NULL, (PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, event, 0);
	if (event < 0 || page == MAP_FAILED || write(go, "", 1) != 1) {
		perror("perf_event_open");
		return 2;
	}
	printf("KTAP version 1\n1..1\n");
	poll_fd = (struct pollfd){ .fd = event, .events = POLLIN };
	while (!waitpid(pid, &status, WNOHANG)) {
		poll(&poll_fd, 1, 50);
		read_ring(page, &counts);
	}
	read_ring(page, &counts);
	printf("# %u samples, %u complete (%.2f %%), %.1f frames; exit status %d\n",
	       counts.samples, counts.complete, 100.0 * counts.complete / counts.samples,
	       (double)counts.frames / counts.samples, status);
	good = !status && counts.samples >= MIN_SAMPLES &&
	       100.0 * counts.complete >= atof(argv[1]) * counts.samples;
	printf("%sok 1 %s\n", good ? "" : "not ", strrchr(argv[2], '/') + 1);
	return good ? 0 : 1;
}
