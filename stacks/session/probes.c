// SPDX-License-Identifier: GPL-2.0
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "session/options.h"
#include "events.skel.h"

#define EVENTS	"/sys/kernel/tracing/events"
/* User space has no name for it. */
#define KERNEL_ENOTSUPP	524

static const struct {
	const char *prefix;
	enum probe_kind kind;
	int nr_parts;
} kinds[] = {
	{ "", PROBE_FUNCTION, 1 },
	{ "kr:", PROBE_RETURN, 1 },
	{ "t:", PROBE_TRACEPOINT, 2 },
	{ "u:", PROBE_USER_FUNCTION, 2 },
	{ "ur:", PROBE_USER_RETURN, 2 },
	{ "U:", PROBE_USDT, 3 },
};

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?");
}

/* Each tracepoint has such a type; other events are only in tracefs. */
static bool is_raw(const char *name)
{
	char *type = xasprintf("btf_trace_%s", name);
	bool found = kernel_has(type, BTF_KIND_TYPEDEF);

	free(type);
	return found;
}

static void add_tracepoint(struct probes *probes, const char *system, const char *name)
{
	*xpush(probes->probes, probes->nr) = (struct probe){
		.kind = is_raw(name) ? PROBE_RAW_TRACEPOINT : PROBE_TRACEPOINT,
		.name = xasprintf("%s:%s", system, name),
		.where = xstrdup(system),
		.what = xstrdup(name),
	};
}

/* Those who may not read tracefs can name what the kernel's BTF has. */
static bool add_tracepoints(struct probes *probes, const char *system, const char *name)
{
	char *pattern = xasprintf(EVENTS "/%s/%s/id", system, name), *path, *at;
	size_t i, before = probes->nr;
	glob_t found = {};

	if (!glob(pattern, 0, NULL, &found)) {
		for (i = 0; i < found.gl_pathc; i++) {
			path = found.gl_pathv[i] + strlen(EVENTS "/");
			at = strchr(path, '/');
			*at++ = 0;
			*strchr(at, '/') = 0;
			/* Those of "ftrace" are formats of its own records, and never happen. */
			if (strcmp(path, "ftrace"))
				add_tracepoint(probes, path, at);
		}
	} else if (access(EVENTS, R_OK) && !is_pattern(system) && is_raw(name)) {
		add_tracepoint(probes, system, name);
	}
	globfree(&found);
	free(pattern);
	if (probes->nr > before)
		return true;
	p_err("t:%s:%s: there is no such tracepoint%s", system, name, access(EVENTS, R_OK) ?
	      " that can be found without read access to " EVENTS : "; see " EVENTS);
	return false;
}

/* Directories of a file's path may have colons: it is cut at the last one. NULL: there is none. */
static char *cut(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text)
		return NULL;
	*colon = 0;
	return colon + 1;
}

static bool split(struct probe *probe, char *text, int nr_parts)
{
	if (nr_parts == 1) {
		probe->what = text;
		return *text && !strpbrk(text, ":/");
	}
	probe->where = text;
	probe->what = cut(text);
	probe->provider = nr_parts == 3 ? cut(text) : NULL;
	return probe->what && *probe->what && (nr_parts == 2 || probe->provider);
}

bool probes_add(struct probes *probes, const char *text)
{
	struct probe probe = { .name = text };
	bool good;
	size_t i;

	/* The first one, without a prefix, is the last that is tried. */
	for (i = ARRAY_SIZE(kinds) - 1; strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)); i--)
		;
	probe.kind = kinds[i].kind;
	good = split(&probe, xstrdup(text) + strlen(kinds[i].prefix), kinds[i].nr_parts);
	if (good && probe.kind == PROBE_USER_RETURN && is_pattern(probe.what)) {
		p_err("%s: give a name: it could not be told which function has returned", text);
		return false;
	}
	if (!good)
		p_err("'%s' is not FUNC, kr:FUNC, t:SYSTEM:NAME, u:FILE:FUNC, ur:FILE:FUNC or U:FILE:PROVIDER:NAME",
		      text);
	else if (probe.kind == PROBE_TRACEPOINT)
		good = add_tracepoints(probes, probe.where, probe.what);
	else
		*xpush(probes->probes, probes->nr) = probe;
	return good;
}

static struct bpf_program *program_of(const struct events_bpf *skel, enum probe_kind kind)
{
	switch (kind) {
	case PROBE_FUNCTION:
		return skel->progs.on_function;
	case PROBE_RETURN:
		return skel->progs.on_return;
	case PROBE_TRACEPOINT:
		return skel->progs.on_tracepoint;
	case PROBE_RAW_TRACEPOINT:
		return skel->progs.on_raw_tracepoint;
	case PROBE_USDT:
		return skel->progs.on_usdt;
	default:
		return skel->progs.on_user_function;
	}
}

void probes_set_autoload(const struct probes *probes, struct events_bpf *skel)
{
	enum probe_kind kind;
	size_t i;

	for (kind = PROBE_FUNCTION; kind <= PROBE_USDT; kind++)
		bpf_program__set_autoload(program_of(skel, kind), false);
	for (i = 0; i < probes->nr; i++)
		bpf_program__set_autoload(program_of(skel, probes->probes[i].kind), true);
}

/* @dirs: with colons between them; NULL: none */
static char *find_in(const char *dirs, const char *file)
{
	char *path;
	size_t len;

	for (; dirs && *dirs; dirs += len + !!dirs[len]) {
		len = strcspn(dirs, ":");
		path = xasprintf("%.*s/%s", (int)len, dirs, file);
		if (len && !access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* Which folders have the libraries differs between distributions: one is this program's libc's. */
static char *find_library(const char *file)
{
	char *path = find_in(getenv("LD_LIBRARY_PATH"), file);
	char libc[PATH_MAX];
	Dl_info info;

	if (!path && dladdr(strlen, &info) && info.dli_fname) {
		snprintf(libc, sizeof(libc), "%s", info.dli_fname);
		libc[basename(libc) - libc] = 0;
		path = find_in(libc, file);
	}
	return path ?: find_in("/usr/local/lib:/lib64:/usr/lib64:/usr/lib:/lib", file);
}

char *probes_find_file(const char *file)
{
	if (strchr(file, '/'))
		return access(file, R_OK) ? NULL : xstrdup(file);
	return (strstr(file, ".so") ? find_library(file) : NULL) ?: find_in(getenv("PATH"), file) ?:
	       find_in("/usr/bin:/bin:/usr/sbin:/sbin", file);
}

/* Of a pattern, libbpf takes no cookie: events of functions need none, as they are on the stack. */
static struct bpf_link *attach_user(const struct bpf_program *prog, const struct probe *probe,
				    pid_t pid, __u64 nr)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .retprobe = probe->kind == PROBE_USER_RETURN);
	char *path = probes_find_file(probe->where);
	const char *name = probe->what;
	struct bpf_link *link = NULL;
	int error = ENOENT;

	if (!is_pattern(probe->what)) {
		opts.syms = &name;
		opts.cookies = &nr;
		opts.cnt = 1;
	}
	/* libbpf searches for the file for USDT, but not here. */
	if (path) {
		link = bpf_program__attach_uprobe_multi(prog, pid, path,
							opts.cnt ? NULL : probe->what, &opts);
		error = errno;
	}
	free(path);
	errno = error;
	return link;
}

static struct bpf_link *attach(const struct bpf_program *prog, const struct probe *probe,
			       pid_t pid, __u64 nr)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, function, .retprobe = probe->kind == PROBE_RETURN);
	LIBBPF_OPTS(bpf_raw_tracepoint_opts, raw, .cookie = nr);
	LIBBPF_OPTS(bpf_tracepoint_opts, tracepoint, .bpf_cookie = nr);
	LIBBPF_OPTS(bpf_usdt_opts, usdt, .usdt_cookie = nr);

	switch (probe->kind) {
	case PROBE_FUNCTION:
	case PROBE_RETURN:
		return bpf_program__attach_kprobe_multi_opts(prog, probe->what, &function);
	case PROBE_TRACEPOINT:
		return bpf_program__attach_tracepoint_opts(prog, probe->where, probe->what,
							   &tracepoint);
	case PROBE_RAW_TRACEPOINT:
		return bpf_program__attach_raw_tracepoint_opts(prog, probe->what, &raw);
	case PROBE_USDT:
		return bpf_program__attach_usdt(prog, pid, probe->where, probe->provider,
						probe->what, &usdt);
	default:
		return attach_user(prog, probe, pid, nr);
	}
}

/* What there is, and what it has missed. 1 where the kernel does not tell */
static __u64 nr_places_of(const struct bpf_link *link, __u64 *missed)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);

	if (!link || bpf_link__fd(link) < 0 ||
	    bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &size))
		return 1;
	if (info.type == BPF_LINK_TYPE_UPROBE_MULTI)
		return info.uprobe_multi.count;
	if (info.type != BPF_LINK_TYPE_KPROBE_MULTI)
		return 1;
	*missed += info.kprobe_multi.missed;
	return info.kprobe_multi.count;
}

static void print_error(const struct probe *probe, int error)
{
	const char *reason = strerror(error), *hint = "";

	if (error == KERNEL_ENOTSUPP) {
		reason = "the kernel cannot probe how one of these functions begins";
		hint = "; give a narrower pattern";
	} else if (error == ENOENT && probe->where) {
		reason = "there is no such file, or nothing of this name in it";
		hint = probe->kind == PROBE_USDT ? "; \"readelf -n FILE\" lists those of a file" :
		       "; what is chosen when a program is loaded (IFUNC) cannot be probed";
	} else if (error == ENOENT) {
		reason = "there is nothing of this name";
		hint = "; see available_filter_functions of tracefs";
	} else if (error == EACCES || error == EPERM) {
		hint = " (be root, or have CAP_BPF and CAP_PERFMON; patterns need tracefs)";
	}
	p_err("cannot probe %s: %s%s", probe->name, reason, hint);
}

int probes_attach(struct probes *probes, struct events_bpf *skel, pid_t pid, __u64 *nr_places)
{
	__u64 missed = 0;
	size_t i;

	*nr_places = 0;
	for (i = 0; i < probes->nr; i++) {
		struct probe *probe = &probes->probes[i];

		probe->link = attach(program_of(skel, probe->kind), probe, pid, i + 1);
		if (!probe->link) {
			int error = errno;

			print_error(probe, error);
			return -error;
		}
		*nr_places += nr_places_of(probe->link, &missed);
	}
	return 0;
}

void probes_detach(struct probes *probes)
{
	struct probe *probe;

	for (probe = probes->probes; probe < probes->probes + probes->nr; probe++) {
		nr_places_of(probe->link, &probes->nr_missed);
		bpf_link__destroy(probe->link);
		probe->link = NULL;
	}
}

const struct probe *probes_find(const struct probes *probes, __u64 nr)
{
	return nr && nr <= probes->nr ? &probes->probes[nr - 1] : NULL;
}
