// SPDX-License-Identifier: GPL-2.0
/*
 * stacks check -p PID, stacks check FILE: which files have unwind information, whether the kernel
 * makes a table of it, and where walks of the process's threads end.
 */
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include "cmd/main.h"
#include "util/maps.h"
#include "check.skel.h"

#define SFRAME_MAGIC	0xdee2
#define SFRAME_VERSION	3

/* Larger files are not copied to memory. */
#define MAX_COPY	(1LL << 30)
/* For a large file on a slow machine */
#define MAX_NS		10000000000ULL

/* 0: it is no SFrame */
static unsigned int sframe_version(Elf_Scn *section)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	const struct { __u16 magic; __u8 version; } *head = data ? data->d_buf : NULL;

	return head && data->d_size >= sizeof(*head) && head->magic == SFRAME_MAGIC ?
	       head->version : 0;
}

/*
 * As a profiler that wants callchains: until the end of this program, the kernel reads files that
 * are mapped. Return: NULL if that is not possible
 */
static struct check_bpf *begin_to_ask(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1,
	};
	struct check_bpf *skel = check_bpf__open_and_load();

	if (skel && !check_bpf__attach(skel) &&
	    syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0)
		return skel;
	check_bpf__destroy(skel);
	return NULL;
}

static int wait_for_kernel(struct check_bpf *skel, int fd)
{
	void *map = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	__u64 end = now_ns() + MAX_NS;

	if (map == MAP_FAILED)
		return -errno;
	while (!__atomic_load_n(&skel->bss->done, __ATOMIC_ACQUIRE) && now_ns() < end)
		usleep(1000);
	munmap(map, 1);
	return skel->bss->done ? skel->bss->error : -ETIMEDOUT;
}

/*
 * The kernel does not read a file again, so it gets a copy. Return: 0: it makes a table; or a
 * negative errno
 */
static int ask(struct check_bpf *skel, int fd)
{
	int copy = -1, error;
	struct stat st;

	if (!fstat(fd, &st) && st.st_size <= MAX_COPY)
		copy = file_copy(fd, st.st_size);
	if (copy < 0)
		return -EIO;
	/* Tables of root's files may take more memory. */
	if (!fchown(copy, st.st_uid, st.st_gid))
		fchmod(copy, st.st_mode & 0777);
	error = fstat(copy, &st) ? -errno : 0;
	skel->bss->done = 0;
	skel->bss->inode = st.st_ino;
	skel->bss->device = major(st.st_dev) << 20 | minor(st.st_dev);
	error = error ?: wait_for_kernel(skel, copy);
	close(copy);
	return error;
}

static const char *reason(int error)
{
	static const char *const reasons[] = {
		[E2BIG]		= "too large, or too many headers or segments of code",
		[EBADMSG]	= "corrupt",
		[EIO]		= "the file cannot be read, or has more than 1 GiB",
		[ENODATA]	= "there are no functions in it",
		[ENOENT]	= "stacks end in this file, unless it keeps frame pointers",
		[ENOEXEC]	= "not an ELF file of 64 bit for this machine, or broken",
		[EOPNOTSUPP]	= "SFrame of another version or kind",
		[ETIMEDOUT]	= "the kernel has not read it in time",
	};

	return -error < (int)ARRAY_SIZE(reasons) && reasons[-error] ? reasons[-error] :
	       strerror(-error);
}

/* Without @skel, the kernel is not asked. false: there is no table of this file. */
static bool check_file(struct check_bpf *skel, const struct elf_file *file, const char *path)
{
	Elf *elf = file ? file->elf : NULL;
	char *name = xstrdup(path);
	GElf_Shdr eh_frame_shdr, sframe_shdr;
	Elf_Scn *eh_frame = elf_section(elf, ".eh_frame", &eh_frame_shdr);
	Elf_Scn *sframe = elf_section(elf, ".sframe", &sframe_shdr);
	unsigned int version = sframe_version(sframe);
	int error = 0;

	if (gelf_getclass(elf) != ELFCLASS64)
		error = -ENOEXEC;
	else if (skel)
		error = ask(skel, file->fd);
	else if (!eh_frame && version != SFRAME_VERSION)
		error = sframe ? -EOPNOTSUPP : -ENOENT;
	make_printable(name);
	printf("  %-4s%s: ", error ? "NO" : "yes", name);
	free(name);
	if (eh_frame)
		printf(".eh_frame of %llu bytes, ", (__u64)eh_frame_shdr.sh_size);
	if (sframe)
		printf("SFrame %u of %llu bytes, ", version, (__u64)sframe_shdr.sh_size);
	if (!eh_frame && !sframe)
		printf("no unwind information, ");
	if (error)
		printf("no table: %s\n", reason(error));
	else if (skel)
		printf("a table of %llu bytes\n", skel->bss->bytes);
	else
		printf("table not known\n");
	return !error;
}

static bool check_path(struct check_bpf *skel, const char *path)
{
	int fd = file_open(path);
	struct elf_file *file;
	bool good;

	if (fd < 0) {
		p_err("%s: %s", path, strerror(errno));
		return false;
	}
	file = elf_file_open(fd);
	good = check_file(skel, file, path);
	elf_file_close(file);
	return good;
}

/* All files that it has mapped as code */
static bool check_process(struct check_bpf *skel, __u32 pid)
{
	const struct object *object;
	struct objects objects;
	bool good = true;
	size_t i;

	objects_init(&objects);
	objects_read_process(&objects, pid);
	printf("Files of process %u\n", pid);
	for (i = OBJECT_FIRST; i < objects.nr_objects; i++) {
		object = object_at(&objects, i);
		good &= check_file(skel, object->elf, object->path);
	}
	if (i == OBJECT_FIRST)
		p_err("process %u: its mappings cannot be read", pid);
	objects_free(&objects);
	return good && i > OBJECT_FIRST;
}

/* How the walk of a thread has ended, with a mark. To be freed */
static char *end_of(const struct output *output, const struct output_stack *stack)
{
	const struct stacks_stack *user = stack->user;
	char *place, *text;

	if (!user || !user->nr)
		return xasprintf("-   no stack: %s", stack->note ?: "the thread is the kernel's");
	if (!stack->note)
		return xstrdup("yes complete");
	place = output_place_name(output, user->frames[user->nr - 1].object, NULL);
	text = xasprintf("NO  end in %s: %s", place, stacks_stop_name(user->stop));
	free(place);
	return text;
}

static void write_walks(struct output *output, FILE *file)
{
	struct strings texts = {};
	__u64 *counts = NULL;
	size_t i, at, nr = 0;
	char *text;

	for (i = 0; i < output->nr_stacks; i++) {
		text = end_of(output, &output->stacks[i]);
		at = strings_number(&texts, text);
		free(text);
		if (at == nr)
			xpush(counts, nr);
		counts[at]++;
	}
	fprintf(file, "Walks of its threads\n");
	for (i = 0; i < nr; i++)
		fprintf(file, "  %s: %llu of %zu\n", texts.strings[i], counts[i], output->nr_stacks);
	for (i = 0; i < output->losses.nr; i++)
		fprintf(file, "  -   %s: %llu\n", output->losses.counts[i].what,
			output->losses.counts[i].count);
	strings_free(&texts);
	free(counts);
}

int check_files(struct options *options, const char *missing)
{
	struct check_bpf *skel = missing ? NULL : begin_to_ask();
	bool good = options->nr_pids ? check_process(skel, options->pids[0]) :
				       check_path(skel, options->paths[0]);

	check_bpf__destroy(skel);
	if (!skel)
		printf("\nThe kernel was not asked. Missing: %s\n",
		       missing ?: "tracepoint unwind_object_load");
	if (fflush(stdout))
		return EXIT_FAILED;
	if (skel && options->nr_pids) {
		/* Not only these lines */
		setenv("STACKS_PAGER", "cat", 1);
		options->what = CMD_DUMP;
		options->user_only = true;
		good &= dump_threads(options, write_walks) == EXIT_OK;
	}
	return good ? EXIT_OK : EXIT_FAILED;
}
