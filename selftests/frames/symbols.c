// SPDX-License-Identifier: GPL-2.0
/* Reads ELF files and /proc/PID/maps, so that stacks can be compared by name. */
#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include "symbols.h"

#define FUSE_SUPER_MAGIC	0x65735546
/* A test of large files has holes in them */
#define MAX_FILE	(64 << 20)
#define MAX_MAPPINGS	512

struct file {
	char *name;
	__u64 dev;
	__u64 ino;
	unsigned char build_id[BPF_BUILD_ID_SIZE];
	size_t build_id_size;
	Elf *elf;		/* NULL: not an ELF file */
	struct file *next;
};

struct mapping {
	__u64 start;
	__u64 end;
	__u64 offset;
	struct file *file;	/* NULL: not of a file */
	bool is_vdso;
};

static struct file *files;
static struct mapping mappings[MAX_MAPPINGS];
static size_t nr_mappings;

static void read_build_id(struct file *file, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(file->elf, phdr->p_offset, phdr->p_filesz,
					      phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t pos = 0, name, desc;
	GElf_Nhdr note;

	while (data && (pos = gelf_getnote(data, pos, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz > BPF_BUILD_ID_SIZE)
			continue;
		memcpy(file->build_id, (char *)data->d_buf + desc, note.n_descsz);
		file->build_id_size = note.n_descsz;
	}
}

static void read_elf(struct file *file)
{
	GElf_Phdr phdr;
	size_t i, n;

	if (elf_kind(file->elf) != ELF_K_ELF || elf_getphdrnum(file->elf, &n)) {
		elf_end(file->elf);
		file->elf = NULL;
		return;
	}
	for (i = 0; i < n; i++) {
		if (gelf_getphdr(file->elf, i, &phdr) && phdr.p_type == PT_NOTE)
			read_build_id(file, &phdr);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A copy: a file may change, or lose what is behind it, and a mapping of it then
 * is a bus error. That of a FUSE server is not read at all, as it may be stuck.
 */
static Elf *read_copy(int fd)
{
	struct statfs fs;
	struct stat st;
	char *copy;

	if (fstatfs(fd, &fs) || fs.f_type == FUSE_SUPER_MAGIC || fstat(fd, &st) ||
	    st.st_size > MAX_FILE)
		return NULL;
	copy = malloc(st.st_size + 1);
	if (!copy || pread(fd, copy, st.st_size, 0) != st.st_size) {
		free(copy);
		return NULL;
	}
	return elf_memory(copy, st.st_size);
}

/* Takes over @fd. */
static struct file *add_file(const char *path, int fd, __u64 dev, __u64 ino)
{
	struct file *file = calloc(1, sizeof(*file));

	file->name = strdup(strncmp(path, "/memfd:", 7) ? base_name(path) : "[memfd]");
	file->name[strcspn(file->name, " ")] = 0;
	file->dev = dev;
	file->ino = ino;
	elf_version(EV_CURRENT);
	file->elf = read_copy(fd);
	close(fd);
	if (file->elf)
		read_elf(file);
	file->next = files;
	files = file;
	return file;
}

void symbols_add_directory(const char *path)
{
	struct dirent *entry;
	char name[4096];
	struct stat st;
	DIR *dir = opendir(path);
	int fd;

	while (dir && (entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & 0111))
			close(fd);
		else
			add_file(name, fd, st.st_dev, st.st_ino);
	}
	if (dir)
		closedir(dir);
}

static struct file *find_inode(__u64 dev, __u64 ino)
{
	struct file *file;

	for (file = files; file; file = file->next) {
		if (file->dev == dev && file->ino == ino)
			return file;
	}
	return NULL;
}

struct line {
	__u64 start, end, offset, dev, ino;
	char exec;
	const char *path;
};

static bool parse_line(char *text, struct line *line)
{
	unsigned int major, minor;
	int path = 0;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text, "%llx-%llx %*2c%c%*c %llx %x:%x %llu %n", &line->start, &line->end,
		   &line->exec, &line->offset, &major, &minor, &line->ino, &path) < 7)
		return false;
	line->dev = makedev(major, minor);
	line->path = text + path;
	return true;
}

static struct file *file_of_line(pid_t pid, const struct line *line)
{
	struct file *file = find_inode(line->dev, line->ino);
	char path[128];
	int fd;

	if (file || !line->ino)
		return file;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, line->start, line->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : add_file(line->path, fd, line->dev, line->ino);
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fopen(path, "re");
}

void symbols_add_process(pid_t pid)
{
	FILE *maps = open_maps(pid);
	char *text = NULL;
	struct line line;
	size_t size = 0;

	nr_mappings = 0;
	while (maps && nr_mappings < MAX_MAPPINGS && getline(&text, &size, maps) > 0) {
		if (!parse_line(text, &line) || line.exec != 'x')
			continue;
		mappings[nr_mappings++] = (struct mapping){
			.start = line.start,
			.end = line.end,
			.offset = line.offset,
			.file = file_of_line(pid, &line),
			.is_vdso = !strcmp(line.path, "[vdso]"),
		};
	}
	free(text);
	if (maps)
		fclose(maps);
}

bool symbols_offset(pid_t pid, __u64 addr, char *path, size_t size, __u64 *offset)
{
	FILE *maps = open_maps(pid);
	bool found = false;
	char *text = NULL;
	struct line line;
	size_t len = 0;

	while (maps && !found && getline(&text, &len, maps) > 0) {
		if (!parse_line(text, &line) || addr < line.start || addr >= line.end)
			continue;
		*offset = addr - line.start + line.offset;
		snprintf(path, size, "%s", line.path);
		found = true;
	}
	free(text);
	if (maps)
		fclose(maps);
	return found;
}

static bool file_address(const struct file *file, __u64 offset, __u64 *addr)
{
	GElf_Phdr phdr;
	size_t i, n;

	if (!file->elf || elf_getphdrnum(file->elf, &n))
		return false;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(file->elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X) || offset - phdr.p_offset >= phdr.p_filesz)
			continue;
		*addr = offset - phdr.p_offset + phdr.p_vaddr;
		return true;
	}
	return false;
}

static const char *find_symbol(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, __u64 addr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	size_t i;

	for (i = 0; data && i < shdr->sh_size / shdr->sh_entsize; i++) {
		if (gelf_getsym(data, i, &sym) && GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
		    sym.st_shndx != SHN_UNDEF && addr - sym.st_value < sym.st_size)
			return elf_strptr(elf, shdr->sh_link, sym.st_name);
	}
	return NULL;
}

/* The function at a link-time address; code of the linker has only a section. */
static const char *elf_symbol(Elf *elf, __u64 addr, bool *is_function)
{
	const char *section = NULL, *name;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	*is_function = false;
	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM) {
			name = find_symbol(elf, scn, &shdr, addr);
			if (name) {
				*is_function = true;
				return name;
			}
		} else if (shdr.sh_flags & SHF_EXECINSTR && addr - shdr.sh_addr < shdr.sh_size) {
			section = elf_strptr(elf, names, shdr.sh_name);
		}
	}
	return section;
}

static bool same_file(const struct file *file, const struct bpf_vma_info *row)
{
	if (row->build_id_size && file->build_id_size)
		return row->build_id_size == file->build_id_size &&
		       !memcmp(row->build_id, file->build_id, file->build_id_size);
	return file->ino == row->inode && file->dev == makedev(row->dev_major, row->dev_minor);
}

/* A stripped copy has the build id of one that has symbols. */
static const char *row_symbol(const struct bpf_vma_info *row, __u64 offset, const char **object)
{
	const char *best = NULL, *name;
	bool is_function = false;
	struct file *file;
	__u64 addr;

	for (file = files; file && !is_function; file = file->next) {
		if (!same_file(file, row))
			continue;
		if (!*object)
			*object = file->name;
		if (!file_address(file, offset, &addr))
			continue;
		name = elf_symbol(file->elf, addr, &is_function);
		if (is_function || (name && !best))
			best = name;
	}
	return best ? best : "?";
}

void symbols_of_row(const struct bpf_vma_info *row, __u64 offset, struct place *place)
{
	place->object = NULL;
	place->symbol = row_symbol(row, offset - 1, &place->object);
	place->exact = row_symbol(row, offset, &place->object);
	if (row->kind == BPF_VMA_VDSO)
		place->object = "[vdso]";
	else if (!place->object && row->kind == BPF_VMA_MEMFD)
		place->object = "[memfd]";
	else if (!place->object)
		place->object = "[unknown file]";
}

void symbols_of_address(__u64 addr, struct place *place)
{
	struct bpf_vma_info row = {};
	size_t i;

	*place = (struct place){ "[unmapped]", "?", "?", false };
	for (i = 0; i < nr_mappings; i++) {
		const struct mapping *map = &mappings[i];

		if (addr < map->start || addr >= map->end)
			continue;
		place->object = map->is_vdso ? "[vdso]" : "[anon]";
		if (!map->file)
			return;
		row.inode = map->file->ino;
		row.dev_major = major(map->file->dev);
		row.dev_minor = minor(map->file->dev);
		symbols_of_row(&row, addr - map->start + map->offset, place);
		return;
	}
}
