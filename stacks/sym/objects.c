// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include "sym/objects.h"
#include "sym/symbols.h"
#include "util/maps.h"

/* For the files of a process that answers slowly */
#define MAX_NS		5000000000ULL
/* Bytes of files that were copied, of all processes */
#define MAX_COPIED	(1ULL << 30)
/* Of a file whose server may stop to answer, so many bytes are copied. */
#define MAX_COPY	(256 << 20)

static __u32 add_object(struct objects *objects, struct object object)
{
	*xpush(objects->objects, objects->nr_objects) = object;
	return objects->nr_objects - 1;
}

void objects_init(struct objects *objects)
{
	*objects = (struct objects){ .round = 1 };
	add_object(objects, (struct object){ .name = xstrdup("[unknown]") });
	add_object(objects, (struct object){ .name = xstrdup("[kernel]") });
}

void objects_free(struct objects *objects)
{
	size_t i;

	for (i = 0; i < objects->nr_objects; i++) {
		symbols_close(objects->objects[i].symbols);
		elf_file_close(objects->objects[i].elf);
		free(objects->objects[i].path);
		free(objects->objects[i].name);
	}
	free(objects->objects);
	idmap_free(&objects->ids);
	idmap_free(&objects->rounds);
	idmap_free(&objects->hung);
	strings_free(&objects->hung_files);
	strings_free(&objects->hung_processes);
	child_end();
}

/* A file that was changed in place is another one. */
static bool same_file(const struct object *a, const struct object *b)
{
	return a->opened && b->opened && a->st.st_ino == b->st.st_ino &&
	       a->st.st_dev == b->st.st_dev && a->st.st_size == b->st.st_size &&
	       a->st.st_ctim.tv_sec == b->st.st_ctim.tv_sec &&
	       a->st.st_ctim.tv_nsec == b->st.st_ctim.tv_nsec;
}

/*
 * The build id decides where both have one: device and inode numbers are used
 * again over time.
 */
static bool same_object(const struct object *a, const struct object *b)
{
	if (a->build_id_size && b->build_id_size)
		return a->build_id_size == b->build_id_size &&
		       !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->inode && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && (!a->opened || !b->opened || same_file(a, b));
}

/* @id: the kernel's, of which there is one for each state of a file; 0: not known */
static __u32 find_object(const struct objects *objects, const struct object *like, __u64 id)
{
	__u32 i;

	for (i = OBJECT_FIRST; i < objects->nr_objects; i++) {
		const struct object *object = object_at(objects, i);

		if (id && object->id && id != object->id && !like->build_id_size)
			continue;
		if (same_object(object, like))
			return i;
	}
	return OBJECT_NONE;
}

static void name_object(struct object *object, const char *path)
{
	free(object->name);
	free(object->path);
	object->path = xstrdup(path);
	object->name = xstrdup(basename(path));
}

static void complete_build_id(struct object *object, const struct object *from)
{
	if (object->build_id_size)
		return;
	object->build_id_size = from->build_id_size;
	memcpy(object->build_id, from->build_id, from->build_id_size);
}

/*
 * Known from the kernel, by another name, or from a process that was gone too early. Anybody can
 * make a file with the build id of another one: if there is a file of root's, it names functions.
 */
static void complete_object(struct objects *objects, struct object *object,
			    const struct object *new, const char *path)
{
	if (object->elf && (!new->elf || !object->foreign || new->foreign)) {
		elf_file_close(new->elf);
		return;
	}
	if (!object->path || new->elf)
		name_object(object, path);
	if (new->elf) {
		/* Else they may be of a debug file. */
		if (!new->foreign || !object->symbols) {
			symbols_close(object->symbols);
			object->symbols = NULL;
			objects->has_new_names |= object->tried;
			object->tried = false;
		}
		elf_file_close(object->elf);
		object->elf = new->elf;
		object->foreign = new->foreign;
		object->is_copy = new->is_copy;
		object->st = new->st;
	}
	object->opened |= new->opened;
	complete_build_id(object, new);
}

static __u32 find_file(const struct objects *objects, const struct object *like)
{
	__u32 i;

	for (i = OBJECT_FIRST; i < objects->nr_objects; i++) {
		if (same_file(object_at(objects, i), like))
			return i;
	}
	return OBJECT_NONE;
}

/* Finds out what a file is, unless it is known. Takes over @fd. */
static __u32 object_of_file(struct objects *objects, int fd, struct object *new, const char *path)
{
	__u32 index = new->st.st_mode ? find_file(objects, new) : OBJECT_NONE;

	if (index != OBJECT_NONE) {
		if (fd >= 0)
			close(fd);
		return index;
	}
	if (fd >= 0)
		new->elf = elf_file_open(fd);
	if (new->elf)
		new->build_id_size = elf_build_id(new->elf->elf, new->build_id);
	index = find_object(objects, new, 0);
	if (index == OBJECT_NONE) {
		name_object(new, path);
		return add_object(objects, *new);
	}
	complete_object(objects, object_at(objects, index), new, path);
	return index;
}

/* A child opens the files of processes, see util/child.c: what it tells of a mapping */
struct mapped_file {
	__u32 index;		/* of the mapping */
	bool is_begin;		/* the file was not looked at; the same comes again when it was */
	bool opened;		/* else it is not known what it is */
	bool foreign;		/* see file_is_foreign() */
	bool is_copy;		/* it is given as a copy, or was before */
	struct procmap_query line;
	struct stat st;		/* of a regular file */
	char path[PATH_MAX];
};

struct mapped_request {
	__u32 tgid;
	__u32 first;			/* index of the first mapping to look at */
	bool by_name;			/* see maps_open() */
	const struct idmap *hung;	/* by mapped_key(): files that are not opened */
};

struct listing {
	const struct mapped_request *request;
	__u32 nr;
	struct idmap copied;	/* files, by a hash of what fstat() has of them */
};

static __u64 mapped_key(const struct procmap_query *line)
{
	__u64 words[] = { line->inode, line->dev_major, line->dev_minor };

	return hash_bytes(words, sizeof(words));
}

static void send_file(const struct mapped_file *file, int fd)
{
	child_send(file, offsetof(struct mapped_file, path) + strlen(file->path) + 1, fd);
}

/* false: it was copied before. */
static bool is_new(struct idmap *copied, const struct stat *st)
{
	__u64 words[] = {
		st->st_dev, st->st_ino, st->st_size, st->st_ctim.tv_sec, st->st_ctim.tv_nsec,
	};
	__u64 key = hash_bytes(words, sizeof(words));

	if (idmap_find(copied, key) >= 0)
		return false;
	idmap_set(copied, key, 0);
	return true;
}

/*
 * Any user can serve files by FUSE, also below an overlay, unless root has mounted that. Other
 * servers are asked for a byte now, and trusted later.
 */
static bool is_served_by_users(__u32 id, int fd, const struct statfs *fs)
{
	return fs->f_type == FUSE_SUPER_MAGIC ||
	       (fs->f_type == OVERLAYFS_SUPER_MAGIC && !maps_by_root(id, fd));
}

static int prepare_file(struct listing *listing, struct mapped_file *file, __u32 id, int fd)
{
	struct statfs fs;
	int copy = -1;
	char c;

	if (fstat(fd, &file->st) || fstatfs(fd, &fs))
		return fd;
	file->foreign = file_is_foreign(fd);
	file->is_copy = is_served_by_users(id, fd, &fs);
	if (!file->is_copy && pread(fd, &c, 1, 0) >= 0)
		return fd;
	if (file->is_copy && is_new(&listing->copied, &file->st) && file->st.st_size <= MAX_COPY)
		copy = file_copy(fd, file->st.st_size);
	if (file->is_copy && file->st.st_size > MAX_COPY)
		file->opened = false;
	close(fd);
	return copy;
}

static void on_mapping(void *arg, __u32 id, const struct procmap_query *line, const char *path)
{
	struct mapped_file file = { .is_begin = true, .line = *line };
	struct listing *listing = arg;
	int fd = -1;

	file.index = listing->nr++;
	if (file.index < listing->request->first)
		return;
	snprintf(file.path, sizeof(file.path), "%s", path);
	send_file(&file, -1);
	file.is_begin = false;
	if (idmap_find(listing->request->hung, mapped_key(line)) < 0) {
		fd = maps_open(id, line, path, listing->request->by_name);
		file.opened = fd >= 0 || errno == ENODEV;
	}
	if (fd >= 0)
		fd = prepare_file(listing, &file, id, fd);
	send_file(&file, fd);
	if (fd >= 0)
		close(fd);
}

/* For child_call(): sends a struct mapped_file with the file, or with a copy, or with none. */
static void mapped_read(const void *request)
{
	static struct listing listing;

	listing.request = request;
	listing.nr = 0;
	maps_each(listing.request->tgid, MAPS_CODE, on_mapping, &listing);
}

struct reading {
	struct objects *objects;
	bool in_file;
	struct mapped_file file;	/* the last one that was begun */
};

static void on_mapped(void *arg, const void *data, size_t size, int fd)
{
	const struct mapped_file *file = data;
	struct reading *reading = arg;
	struct object new = {
		.inode = file->line.inode,
		.dev_major = file->line.dev_major,
		.dev_minor = file->line.dev_minor,
		.st = file->st,
		.opened = file->opened && fd != CHILD_NO_ROOM,
		.foreign = file->foreign,
		.is_copy = file->is_copy,
	};

	/* Copies stay in memory. */
	if (fd >= 0 && file->is_copy)
		reading->objects->copied += file->st.st_size;
	if (fd >= 0 && file->is_copy && reading->objects->copied > MAX_COPIED) {
		close(fd);
		fd = -1;
		new.opened = false;
	}
	reading->in_file = file->is_begin;
	if (!file->is_begin)
		object_of_file(reading->objects, fd, &new, file->path);
	else
		memcpy(&reading->file, file, offsetof(struct mapped_file, path) +
		       strlen(file->path) + 1);
}

void objects_read_process(struct objects *objects, __u32 tgid)
{
	struct mapped_request request = { .tgid = tgid, .hung = &objects->hung };
	struct reading reading = { .objects = objects };
	__u64 begin = now_ns();
	int error;

	idmap_set(&objects->rounds, tgid, objects->round);
	while ((error = child_call(mapped_read, &request, sizeof(request), on_mapped,
				   &reading))) {
		/* Too many others hang */
		if (error == -EAGAIN)
			return;
		if (!reading.in_file || now_ns() - begin > MAX_NS) {
			strings_format(&objects->hung_processes, "%u", tgid);
			/* Until its next exec */
			idmap_set(&objects->rounds, tgid, LONG_MAX);
			return;
		}
		/* The process may hold its lock, or the file's server does not answer. */
		if (request.by_name) {
			idmap_set(&objects->hung, mapped_key(&reading.file.line), 0);
			strings_number(&objects->hung_files, reading.file.path);
		}
		request.by_name = true;
		request.first = reading.file.index;
		reading.in_file = false;
	}
}

/* Reads the mappings of a process unless that was done in this round. */
static bool refresh(struct objects *objects, __u32 tgid)
{
	if (objects->is_file || idmap_find(&objects->rounds, tgid) >= objects->round)
		return false;
	objects_read_process(objects, tgid);
	return true;
}

/* What the kernel is, for pprof; what it is called is found by address. */
static __u32 add_kernel(struct objects *objects, const struct bpf_stack_object *row,
			struct object object)
{
	struct object *kernel = object_at(objects, OBJECT_KERNEL);

	if (row->kind == BPF_STACK_OBJECT_KERNEL)
		complete_build_id(kernel, &object);
	object.name = xstrdup("[kernel]");
	object.kernel_start = row->start;
	return add_object(objects, object);
}

static __u32 add_user(struct objects *objects, __u32 tgid, struct object object)
{
	__u32 index = find_object(objects, &object, object.id);
	char hex[2 * BUILD_ID_SIZE + 1];

	if (index == OBJECT_NONE && refresh(objects, tgid))
		index = find_object(objects, &object, object.id);
	if (index != OBJECT_NONE) {
		object_at(objects, index)->id = object.id;
		/* The kernel may read what this program may not. */
		complete_build_id(object_at(objects, index), &object);
		return index;
	}
	put_hex(hex, object.build_id, object.build_id_size);
	object.name = *hex ? xasprintf("[%.16s]", hex) :
		      xasprintf("[inode %u:%u:%llu]", object.dev_major,
				object.dev_minor, object.inode);
	return add_object(objects, object);
}

static __u32 add_row(struct objects *objects, __u32 tgid, const struct bpf_stack_object *row)
{
	struct object object = {
		.id = row->id,
		.inode = row->inode,
		.dev_major = row->dev_major,
		.dev_minor = row->dev_minor,
		.build_id_size = row->build_id_size <= BUILD_ID_SIZE ? row->build_id_size : 0,
	};
	__u32 index;

	memcpy(object.build_id, row->build_id, object.build_id_size);
	index = row->kind >= BPF_STACK_OBJECT_KERNEL ? add_kernel(objects, row, object) :
						       add_user(objects, tgid, object);
	object_at(objects, index)->in_stack = true;
	return index;
}

/* A file that is not here is looked for by its build id, see symbols.c. */
void objects_add_path(struct objects *objects, struct object object, const char *path)
{
	unsigned char id[BUILD_ID_SIZE];
	int fd = file_open(path);

	if (fd >= 0) {
		fstat(fd, &object.st);
		object.elf = elf_file_open(fd);
	}
	if (object.elf && elf_build_id(object.elf->elf, id) == object.build_id_size &&
	    !memcmp(id, object.build_id, object.build_id_size) &&
	    (object.build_id_size || object.st.st_ino == object.inode)) {
		object.foreign = file_is_foreign(object.elf->fd);
		object.opened = true;
	} else {
		elf_file_close(object.elf);
		object.elf = NULL;
	}
	name_object(&object, path);
	add_object(objects, object);
}

static __u32 object_by_id(const struct stacks *stacks, __u32 tgid, __u32 id)
{
	struct objects *objects = stacks->arg;
	const struct bpf_stack_object *row;
	const struct object *object;
	long index;

	/* It may be the first process with the file that still exists. */
	if (!objects->is_file && idmap_find(&objects->rounds, tgid) < 0)
		refresh(objects, tgid);
	index = idmap_find(&objects->ids, id);
	if (index < 0) {
		row = stacks_object(stacks, id);
		objects->nr_unknown += !row;
		index = row ? add_row(objects, tgid, row) :
			add_object(objects, (struct object){ .name = xasprintf("[object %u]", id) });
		idmap_set(&objects->ids, id, index);
	}
	object = object_at(objects, index);
	/* A file that no known process has mapped. The vDSO is none. */
	if (object->inode && !object->path)
		refresh(objects, tgid);
	return index;
}

void objects_on_frame(struct stacks *stacks, __u32 tgid, bool is_kernel,
		      struct stacks_frame *frame)
{
	frame->object = frame->object ? object_by_id(stacks, is_kernel ? 0 : tgid, frame->object) :
			OBJECT_NONE;
	if (!is_kernel)
		return;
	/* Named by object as user frames, and turned back into an address. */
	frame->addr += object_at(stacks->arg, frame->object)->kernel_start;
	frame->object = OBJECT_KERNEL;
}

__u64 objects_nr_unopened(const struct objects *objects)
{
	__u64 nr = 0;
	size_t i;

	for (i = OBJECT_FIRST; i < objects->nr_objects; i++) {
		const struct object *object = object_at(objects, i);

		nr += object->in_stack && object->inode && !object->opened;
	}
	return nr;
}

bool objects_has_changed(const struct object *object)
{
	struct object now = { .opened = true };

	return object->elf && !object->is_copy &&
	       (fstat(object->elf->fd, &now.st) || !same_file(object, &now));
}
