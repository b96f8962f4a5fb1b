// SPDX-License-Identifier: GPL-2.0
/* Code that is mapped in other ways than a program's. Expectations: mapping.cases */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <link.h>
#include "workload.h"

static char **args;
typedef void (*call_fn)(void (*fn)(void));

FN void leaf(void)
{
	CAPTURE(0);
}

FN void leaf1(void)
{
	CAPTURE(1);
}

static const char *dir(const char *name)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	WL_CHECK(len > 0);
	path[len] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	return path;
}

/* Two libraries, one after the other, with other frames at the same address */
static void run_dlopen(void)
{
	void *lib = dlopen(dir("libdl-a.so"), RTLD_NOW);
	void *fn, *other;

	WL_CHECK(lib);
	fn = dlsym(lib, "dl_call");
	((call_fn)fn)(leaf);
	dlclose(lib);

	lib = dlopen(dir("libdl-b.so"), RTLD_NOW);
	WL_CHECK(lib);
	other = dlsym(lib, "dl_call");
	WL_CHECK(other == fn);
	((call_fn)other)(leaf1);
	dlclose(lib);
}

/* Code that can be run at any address, on pages of its own */
asm(".pushsection .pages, \"ax\"\n"
    ".p2align 12\n"
    ".globl page_call\n"
    ".type page_call, @function\n"
    "page_call:\n"		/* (fn) */
    ".cfi_startproc\n"
    "sub $40, %rsp\n"
    ".cfi_adjust_cfa_offset 40\n"
    "call *%rdi\n"
    "add $40, %rsp\n"
    ".cfi_adjust_cfa_offset -40\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size page_call, . - page_call\n"
    ".p2align 12\n"
    ".type fp_call, @function\n"
    "fp_call:\n"		/* (fn), what a JIT might write */
    ".cfi_startproc\n"
    "push %rbp\n"
    "mov %rsp, %rbp\n"
    "call *%rdi\n"
    "pop %rbp\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size fp_call, . - fp_call\n"
    ".p2align 12\n"
    ".popsection\n");
void page_call(void (*fn)(void));
void fp_call(void (*fn)(void));

/* What of the file is at @addr */
static off_t file_offset(const void *addr)
{
	unsigned long start, end, offset;
	off_t found = -1;
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (found < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    (uintptr_t)addr >= start && (uintptr_t)addr < end)
			found = (uintptr_t)addr - start + offset;
	}
	fclose(maps);
	return found;
}

static void *map_page(const void *addr)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, file_offset(addr));

	close(fd);
	WL_CHECK(page != MAP_FAILED);
	return page;
}

FN void mapped_caller(call_fn fn)
{
	fn(leaf);
	STAY();
}

static void run_map(void)
{
	mapped_caller(map_page(page_call));
}

/* Moved while it is on the stack, and left behind is another file */
static void *moved;

FN void mover(void)
{
	void *old = moved;
	void *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CAPTURE(2);
	moved = mremap(old, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	WL_CHECK(moved == to);
	CAPTURE(3);
	/* The way back leads through here */
	WL_CHECK(mremap(moved, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, old) == old);
	moved = old;
}

FN void remap_caller(void)
{
	((call_fn)moved)(mover);
	STAY();
}

static void run_mremap(void)
{
	void *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	moved = map_page(page_call);
	mapped_caller(moved);
	moved = mremap(moved, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	WL_CHECK(moved == to);
	((call_fn)moved)(leaf1);
	remap_caller();
}

static call_fn copy_code(const void *code, int fd)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	WL_CHECK(page != MAP_FAILED);
	memcpy(page, code, 4096);
	return (call_fn)page;
}

static void run_anon(void)
{
	mapped_caller(copy_code(fp_call, -1));
}

/* No frame pointer there: nothing can be known of its caller */
static void run_anon_nofp(void)
{
	mapped_caller(copy_code(page_call, -1));
}

/* A pool of code that has no ELF header */
static void run_memfd_pool(void)
{
	int fd = memfd_create("pool", 0);

	WL_CHECK(fd >= 0 && !ftruncate(fd, 4096));
	mapped_caller(copy_code(fp_call, fd));
}

/* A library in a memfd */
static void run_memfd_lib(void)
{
	int fd = memfd_create("lib", 0), from = open(dir("libdl-a.so"), O_RDONLY);
	char path[32];
	struct stat st;
	void *lib;

	WL_CHECK(fd >= 0 && !fstat(from, &st));
	WL_CHECK(sendfile(fd, from, NULL, st.st_size) == st.st_size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	lib = dlopen(path, RTLD_NOW);
	WL_CHECK(lib);
	((call_fn)dlsym(lib, "dl_call"))(leaf);
}

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;

	WL_CHECK(in >= 0 && out >= 0 && !fstat(in, &st));
	WL_CHECK(sendfile(out, in, NULL, st.st_size) == st.st_size);
	close(out);
}

/* memfd_exec PROGRAM ARG: run a copy in a memfd */
static void run_memfd_exec(void)
{
	int fd = memfd_create("program", MFD_CLOEXEC), from = open(args[2], O_RDONLY);
	struct stat st;

	WL_CHECK(fd >= 0 && !fstat(from, &st));
	WL_CHECK(sendfile(fd, from, NULL, st.st_size) == st.st_size);
	fexecve(fd, args + 2, environ);
	wl_exit(WL_BROKEN);
}

/* unlink_exec PROGRAM ARG: run a copy that has no name any more */
static void run_unlink_exec(void)
{
	int fd;

	copy_file(args[2], "/tmp/deleted");
	fd = open("/tmp/deleted", O_RDONLY | O_CLOEXEC);
	WL_CHECK(fd >= 0 && !unlink("/tmp/deleted"));
	fexecve(fd, args + 2, environ);
	wl_exit(WL_BROKEN);
}

static void mount_tmpfs(void)
{
	mkdir("/tmp/frames", 0755);
	WL_CHECK(!mount("none", "/tmp/frames", "tmpfs", 0, NULL));
}

/* tmpfs_exec PROGRAM ARG: run a copy on tmpfs */
static void run_tmpfs_exec(void)
{
	mount_tmpfs();
	copy_file(args[2], "/tmp/frames/program");
	execv("/tmp/frames/program", args + 2);
	wl_exit(WL_BROKEN);
}

static void mount_overlay(void)
{
	static const char options[] =
		"lowerdir=/tmp/frames/lower,upperdir=/tmp/frames/upper,workdir=/tmp/frames/work";

	mount_tmpfs();
	WL_CHECK(!mkdir("/tmp/frames/lower", 0755) && !mkdir("/tmp/frames/upper", 0755) &&
		 !mkdir("/tmp/frames/work", 0755) && !mkdir("/tmp/frames/all", 0755));
	copy_file(args[2], "/tmp/frames/lower/program");
	WL_CHECK(!mount("none", "/tmp/frames/all", "overlay", 0, options));
}

/* overlay_exec PROGRAM ARG: run it from the lower layer of an overlay */
static void run_overlay_exec(void)
{
	mount_overlay();
	execv("/tmp/frames/all/program", args + 2);
	wl_exit(WL_BROKEN);
}

/* overlay_upper_exec PROGRAM ARG: the same after it was copied up */
static void run_overlay_upper_exec(void)
{
	mount_overlay();
	WL_CHECK(!chmod("/tmp/frames/all/program", 0700));
	WL_CHECK(!access("/tmp/frames/upper/program", X_OK));
	execv("/tmp/frames/all/program", args + 2);
	wl_exit(WL_BROKEN);
}

static __attribute__((constructor)) void keep_args(int argc, char **argv)
{
	args = argv;
}

static const struct wl_case cases[] = {
	{ "dlopen", run_dlopen },
	{ "map", run_map },
	{ "mremap", run_mremap },
	{ "anon", run_anon },
	{ "anon_nofp", run_anon_nofp },
	{ "memfd_pool", run_memfd_pool },
	{ "memfd_lib", run_memfd_lib },
	{ "memfd_exec", run_memfd_exec },
	{ "unlink_exec", run_unlink_exec },
	{ "tmpfs_exec", run_tmpfs_exec },
	{ "overlay_exec", run_overlay_exec },
	{ "overlay_upper_exec", run_overlay_upper_exec },
};

WL_MAIN(cases)
