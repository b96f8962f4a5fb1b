// SPDX-License-Identifier: GPL-2.0
/* The walk by elfutils' libdw, as eu-stack and perf make it. It is also the reference. */
#include <elfutils/libdwfl.h>
#include <err.h>
#include "user-memory.h"
#include "walk.h"

#define TID	1

static Dwfl *dwfl;
static const struct sample *current;
static unsigned int nr, limit;
static unsigned long *frames, *places;

static int no_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		  char **path, Elf **elf)
{
	return -1;
}

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *path, const char *link, GElf_Word sum, char **result)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_elf = no_elf, .find_debuginfo = no_debuginfo };

static pid_t next_thread(Dwfl *unused, void *arg, void **data)
{
	if (*data)
		return 0;
	*data = &dwfl;
	return TID;
}

static bool get_thread(Dwfl *unused, pid_t tid, void *arg, void **data)
{
	*data = &dwfl;
	return tid == TID;
}

static bool memory_read(Dwfl *unused, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	const uint64_t *at = user_at(address);

	if (at)
		*word = *at;
	return at;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	return dwfl_thread_state_registers(thread, 0, CAPTURE_REGS, current->regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static void libdw_open(const struct program *program)
{
	if (dwfl)
		return;
	dwfl = dwfl_begin(&callbacks);
	for (unsigned int i = 0; i < program->nr_files; i++) {
		const struct file_image *file = &program->files[i];

		if (!dwfl_report_elf(dwfl, file->path, file->path, -1, file->bias, true))
			warnx("%s: %s", file->path, dwfl_errmsg(-1));
	}
	dwfl_report_end(dwfl, NULL, NULL);
	if (!dwfl_attach_state(dwfl, NULL, TID, &thread_callbacks, NULL))
		errx(1, "libdw: %s", dwfl_errmsg(-1));
}

static void libdw_use(const struct sample *sample, unsigned int thread)
{
	current = sample;
}

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Word sp;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	/* The CFA of a frame is the stack pointer of its caller. */
	if (places && nr && !dwfl_frame_reg(frame, CAPTURE_SP, &sp))
		places[nr - 1] = sp;
	frames[nr++] = pc;
	return nr < limit ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static unsigned int libdw_walk(unsigned long *entries, unsigned int max)
{
	nr = 0;
	limit = max;
	frames = entries;
	dwfl_getthread_frames(dwfl, TID, add_frame, NULL);
	return nr;
}

unsigned int libdw_frames(const struct sample *sample, unsigned long *entries,
			  unsigned long *cfas)
{
	libdw_use(sample, 0);
	places = cfas;
	libdw_walk(entries, WALK_MAX_ENTRIES);
	places = NULL;
	if (nr)
		cfas[nr - 1] = 0;
	return nr;
}

const struct design libdw_design = {
	.name = "libdw",
	.slow = true,
	.open = libdw_open,
	.use = libdw_use,
	.walk = libdw_walk,
};
