// SPDX-License-Identifier: GPL-2.0
/*
 * Which share of the user stacks of a program is complete?
 *
 *	shares [-b] PERCENT COMMAND [ARGUMENT]...
 *
 * Samples the command by the PMU; with -b, a BPF program takes the stacks by bpf_get_stack().
 * A stack is complete if its last frame is in _start, of the
 * program or of the dynamic linker.
 * Prints one result of KTAP: PERCENT of the stacks are to be complete. Needs root, and a
 * program of one thread.
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/bpf.h>
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
#include "ring.h"

#define PERIOD		1000003
#define PAGES		1024
#define START_SIZE	0x60
#define MIN_SAMPLES	200
/* Of a stack by bpf_get_stack(), in bytes, and of all that are not read yet */
#define STACK_SIZE	(127 * 8)
#define STACKS_SIZE	(4 << 20)

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
	unsigned int in_exec;
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

static void take_stack(const uint64_t *ips, unsigned int nr, struct counts *counts)
{
	const struct mapping *map;
	uint64_t last;

	if (!nr)
		return;
	last = ips[nr - 1];
	map = find_mapping(counts, last);
	/* In exec, registers are still those of the old program, whose stack is gone. */
	if (nr == 1 && !map) {
		counts->in_exec++;
		return;
	}
	counts->samples++;
	counts->frames += nr;
	if (map && map->entry && last - map->entry < START_SIZE)
		counts->complete++;
	else if (counts->samples - counts->complete <= MAX_SHOWN)
		printf("# sample %u ends after %u frames at %s+%#llx\n", counts->samples,
		       nr, map ? map->path : "?",
		       (unsigned long long)(map ? last - map->start + map->offset : last));
}

static void take_record(unsigned int type, const uint64_t *body, void *counts)
{
	const uint64_t *ips;
	unsigned int nr;

	if (type == PERF_RECORD_SAMPLE) {
		ips = user_part(body, &nr);
		take_stack(ips, nr, counts);
	} else if (type == PERF_RECORD_MMAP) {
		take_mapping(body, counts);
	}
}

static int bpf(int command, union bpf_attr *attr)
{
	int fd = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (fd < 0) {
		perror("bpf");
		exit(2);
	}
	return fd;
}

#define INSN(op, dst_, src_, off_, imm_) \
	{ .code = op, .dst_reg = dst_, .src_reg = src_, .off = off_, .imm = imm_ }
#define MOV(dst, src)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOV_IMM(dst, imm)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define CALL(func)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, func)
#define MAP(dst, fd) \
	INSN(BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

/* Attach the program to the event. Return: the ring with stacks, 0 behind each of them */
static int attach_program(int event)
{
	union bpf_attr array = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = STACK_SIZE, .max_entries = 1,
	}, rings = {
		.map_type = BPF_MAP_TYPE_RINGBUF, .max_entries = STACKS_SIZE,
	};
	const int stack = bpf(BPF_MAP_CREATE, &array), ring = bpf(BPF_MAP_CREATE, &rings);
	const struct bpf_insn insns[] = {
		MOV(BPF_REG_6, BPF_REG_1),
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		MOV(BPF_REG_2, BPF_REG_10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		MAP(BPF_REG_1, stack),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 12, 0),
		MOV(BPF_REG_7, BPF_REG_0),
		MOV(BPF_REG_1, BPF_REG_6),
		MOV(BPF_REG_2, BPF_REG_7),
		MOV_IMM(BPF_REG_3, STACK_SIZE),
		MOV_IMM(BPF_REG_4, BPF_F_USER_STACK),
		CALL(BPF_FUNC_get_stack),
		MAP(BPF_REG_1, ring),
		MOV(BPF_REG_2, BPF_REG_7),
		MOV_IMM(BPF_REG_3, STACK_SIZE),
		MOV_IMM(BPF_REG_4, 0),
		CALL(BPF_FUNC_ringbuf_output),
		MOV_IMM(BPF_REG_0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
	};

	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, bpf(BPF_PROG_LOAD, &load))) {
		perror("PERF_EVENT_IOC_SET_BPF");
		exit(2);
	}
	return ring;
}

/* @ring: -1: none */
static void read_stacks(int ring, struct counts *counts)
{
	static uint64_t *consumer, *producer;
	const size_t page = sysconf(_SC_PAGESIZE);
	uint64_t end;

	if (ring < 0)
		return;
	if (!consumer) {
		consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
		producer = mmap(NULL, page + 2 * STACKS_SIZE, PROT_READ, MAP_SHARED, ring, page);
	}
	if (consumer == MAP_FAILED || producer == MAP_FAILED)
		exit(2);
	end = __atomic_load_n(producer, __ATOMIC_ACQUIRE);
	while (*consumer < end) {
		const uint64_t *record = (void *)producer + page + *consumer % STACKS_SIZE;
		unsigned int nr = 0;

		if (__atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE) & BPF_RINGBUF_BUSY_BIT)
			break;
		while (nr < STACK_SIZE / 8 && record[1 + nr])
			nr++;
		take_stack(record + 1, nr, counts);
		__atomic_store_n(consumer, *consumer + BPF_RINGBUF_HDR_SZ + STACK_SIZE, __ATOMIC_RELEASE);
	}
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
	int go, event, ring = -1, status = -1;
	const bool by_bpf = argc > 1 && !strcmp(argv[1], "-b");
	struct pollfd poll_fd;
	void *page;
	pid_t pid;
	bool good;

	argv += by_bpf;
	if (argc - by_bpf < 3) {
		fprintf(stderr, "usage: shares [-b] PERCENT COMMAND [ARGUMENT]...\n");
		return 2;
	}
	/* With a callchain in the sample, the program would get that. */
	if (by_bpf)
		attr.sample_type = 0;
	pid = start(argv + 2, &go);
	event = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	page = mmap(NULL, (PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, event, 0);
	if (event < 0 || page == MAP_FAILED) {
		perror("perf_event_open");
		return 2;
	}
	if (by_bpf)
		ring = attach_program(event);
	if (write(go, "", 1) != 1)
		return 2;
	printf("KTAP version 1\n1..1\n");
	poll_fd = (struct pollfd){ .fd = event, .events = POLLIN };
	while (!waitpid(pid, &status, WNOHANG)) {
		poll(&poll_fd, 1, 50);
		read_ring(page, take_record, &counts);
		read_stacks(ring, &counts);
	}
	read_ring(page, take_record, &counts);
	read_stacks(ring, &counts);
	printf("# %u samples, %u complete (%.2f %%), %.1f frames; %u others in exec; exit status %d\n",
	       counts.samples, counts.complete, 100.0 * counts.complete / counts.samples,
	       (double)counts.frames / counts.samples, counts.in_exec, status);
	good = !status && counts.samples >= MIN_SAMPLES &&
	       100.0 * counts.complete >= atof(argv[1]) * counts.samples;
	printf("%sok 1 %s\n", good ? "" : "not ", strrchr(argv[2], '/') + 1);
	return good ? 0 : 1;
}
