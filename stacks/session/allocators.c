// SPDX-License-Identifier: GPL-2.0
/* Probes on the functions that allocate and free memory, in each file that defines malloc(). */
#include <fnmatch.h>
#include "session/session.h"
#include "sym/symbols.h"
#include "util/maps.h"
#include "events.skel.h"

#define MAX_PLACES	64

/*
 * The operators of libstdc++ call malloc(); those of tcmalloc and jemalloc do not. An exception
 * cannot pass a return probe and ends the program, so operators are probed on request only.
 */
#define OPERATORS	"?(St11align_val_t)?(RKSt9nothrow_t)"
static const char *const functions[] = {
	[ALLOC_FREE] = "@(free?(_sized|_aligned_sized)|_Zd[al]Pv?(m)" OPERATORS ")",
	[ALLOC_MALLOC] = "@(malloc|?(p)valloc|_Zn[aw]m" OPERATORS ")",
	[ALLOC_CALLOC] = "calloc",
	[ALLOC_REALLOC] = "realloc",
	[ALLOC_ALIGNED] = "@(memalign|aligned_alloc)",
	[ALLOC_POSIX_MEMALIGN] = "posix_memalign",
};

static int attach_file(struct session *session, const struct elf_file *file, const char *name,
		       bool operators)
{
	const struct options *options = session->options;
	pid_t pid = options->nr_pids == 1 ? options->pids[0] : -1;
	unsigned long offsets[MAX_PLACES], offset;
	__u64 kinds[MAX_PLACES], kind;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .session = true, .offsets = offsets,
		    .cookies = kinds);
	struct symbol_table table = {};
	const struct symbol *symbol;
	bool has_malloc = false;
	struct bpf_link *link;
	GElf_Phdr segment;
	char path[64];

	symbol_table_read(&table, NULL, file->elf, 0);
	for (symbol = table.symbols; symbol < table.symbols + table.nr; symbol++) {
		/* fnmatch() allocates memory, and this program's libc may be probed already. */
		if (!strstr(symbol->name, "alloc") && !strstr(symbol->name, "align") &&
		    strncmp(symbol->name, "free", 4) &&
		    (!operators || strncmp(symbol->name, "_Z", 2)))
			continue;
		for (kind = 0; kind < ARRAY_SIZE(functions); kind++)
			if (!fnmatch(functions[kind], symbol->name, FNM_EXTMATCH))
				break;
		/* A local function of such a name is no allocator. */
		if (kind == ARRAY_SIZE(functions) || symbol->is_plt || symbol->rank == 1 ||
		    !elf_code_segment(file->elf, symbol->start, true, &segment))
			continue;
		has_malloc |= !strcmp(symbol->name, "malloc");
		offset = symbol->start - segment.p_vaddr + segment.p_offset;
		/* Aliases are neighbours, as symbols are sorted by address. */
		if (opts.cnt == MAX_PLACES || (opts.cnt && offsets[opts.cnt - 1] == offset))
			continue;
		offsets[opts.cnt] = offset;
		kinds[opts.cnt++] = kind;
	}
	symbol_table_free(&table);
	if (!has_malloc)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	link = bpf_program__attach_uprobe_multi(session->skel->progs.on_alloc, pid, path, NULL,
						&opts);
	if (!link) {
		p_err("cannot probe the allocator of %s: %s", name, strerror(errno));
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "%s", name);
	make_printable(path);
	fprintf(stderr, "Probing %zu functions of %s\n", opts.cnt, path);
	*xpush(session->allocators.links, session->allocators.nr) = link;
	return 0;
}

static int attach_path(struct session *session, const char *name, bool operators)
{
	char *path = probes_find_file(name);
	struct elf_file *file = path ? elf_file_open(file_open(path)) : NULL;
	int error = file ? attach_file(session, file, name, operators) : 0;

	elf_file_close(file);
	free(path);
	return error;
}

/* This program maps libc, too. No block counts before all probes are there, to miss no free. */
int allocators_attach(struct session *session)
{
	const struct options *options = session->options;
	const struct object *object;
	int error = 0;
	size_t i;

	if (options->allocator)
		error = attach_path(session, options->allocator, true);
	if (options->allocator && !session->allocators.nr && !error) {
		p_err("%s: there is no such file, or it has no malloc()", options->allocator);
		return -ENOENT;
	}
	if (options->command && !error)
		error = attach_path(session, *options->command, false);
	for (i = 0; i < options->nr_pids; i++)
		objects_read_process(&session->objects, options->pids[i]);
	for (i = OBJECT_FIRST; i < session->objects.nr_objects && !error; i++) {
		object = object_at(&session->objects, i);
		if (object->elf && !object->is_copy)
			error = attach_file(session, object->elf, object->name, false);
	}
	session->skel->data->enabled = !options->command;
	return error;
}
