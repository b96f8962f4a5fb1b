// SPDX-License-Identifier: GPL-2.0
/* The files of the output, from the options to the end. */
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/prctl.h>
#include "out/output.h"

static const struct {
	const char *name;
	const char *pattern;	/* of paths */
	void (*write)(struct output *output, FILE *file);
} formats[] = {
	[OUTPUT_TEXT] = { "text", "*.txt", text_write },
	[OUTPUT_FOLDED] = { "folded", "*.folded", folded_write },
	[OUTPUT_SVG] = { "svg", "*.svg", flame_graph_write },
	[OUTPUT_FIREFOX] = { "firefox", "*.firefox.json", firefox_write },
	[OUTPUT_JSON] = { "json", "*.json", json_write },
	[OUTPUT_PPROF] = { "pprof", "*.pb.gz", pprof_write },
	[OUTPUT_DATA] = { "stacks", "*.stacks", data_write },
};

bool output_set_format(struct output_options *options, const char *name)
{
	size_t i;

	for (i = OUTPUT_TEXT; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(formats[i].name, name))
			continue;
		options->format = i;
		return true;
	}
	p_err("the format must be text, folded, svg, firefox, json, pprof or stacks, not '%s'", name);
	return false;
}

bool output_add_file(struct output_options *options, const char *path)
{
	if (options->nr_files == OUTPUT_FILES) {
		p_err("more than %d files of output", OUTPUT_FILES);
		return false;
	}
	options->files[options->nr_files++] = (struct output_file){ .path = path };
	return true;
}

static bool is_stdout(const struct output_file *file)
{
	return !strcmp(file->path, "-");
}

static enum output_format format_of(const struct output_options *options,
				    const struct output_file *file)
{
	size_t i;

	if (options->format)
		return options->format;
	if (is_stdout(file))
		return OUTPUT_TEXT;
	for (i = OUTPUT_TEXT; i < ARRAY_SIZE(formats); i++) {
		if (!fnmatch(formats[i].pattern, file->path, 0))
			return i;
	}
	return OUTPUT_NO_FORMAT;
}

/* What it has stays there until something is written: the measurement may fail. */
static bool open_path(struct output_file *file)
{
	int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	file->created = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		file->file = fdopen(fd, "w");
	if (!file->file)
		p_err("%s: %s", file->path, strerror(errno));
	return file->file;
}

static bool open_file(struct output_options *options, struct output_file *file)
{
	file->format = format_of(options, file);
	if (file->format == OUTPUT_NO_FORMAT) {
		p_err("%s: which format? Its suffix is none of .txt, .folded, .svg, .firefox.json, .json, .pb.gz and .stacks; see -f",
		      file->path);
		return false;
	}
	if (!is_stdout(file))
		return open_path(file);
	if ((file->format == OUTPUT_PPROF || file->format == OUTPUT_DATA) &&
	    isatty(STDOUT_FILENO)) {
		p_err("this format is not for a terminal; see -o");
		return false;
	}
	options->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	file->file = stdout;
	return true;
}

bool output_open(struct output_options *options)
{
	size_t i;

	if (!options->nr_files)
		output_add_file(options, options->default_path ?: "-");
	for (i = 0; i < options->nr_files; i++) {
		if (!open_file(options, &options->files[i])) {
			output_close(options);
			return false;
		}
	}
	return true;
}

static bool close_output(struct output_file *file)
{
	bool good;

	if (!file->file)
		return true;
	good = (is_stdout(file) ? !fflush(file->file) : !fclose(file->file)) || errno == EPIPE;
	file->file = NULL;
	if (file->created && !file->written)
		unlink(file->path);
	if (!good)
		p_err("cannot write %s: %s", file->path, strerror(errno));
	return good;
}

bool output_close(struct output_options *options)
{
	bool good = true;
	size_t i;

	for (i = 0; i < options->nr_files; i++) {
		if (!close_output(&options->files[i]))
			good = false;
	}
	return good;
}

bool output_has_format(const struct output_options *options, enum output_format format)
{
	size_t i;

	for (i = 0; i < options->nr_files; i++) {
		if (options->files[i].format == format)
			return true;
	}
	return false;
}

/* NULL: @file is no text on a terminal, or the user wants no pager. */
static FILE *open_pager(const struct output_file *file)
{
	const char *pager = getenv("STACKS_PAGER") ?: getenv("PAGER") ?:
			    access("/usr/bin/less", X_OK) ? "cat" : "less";

	if (!is_stdout(file) || file->format != OUTPUT_TEXT || !isatty(STDOUT_FILENO) ||
	    !*pager || !strcmp(pager, "cat"))
		return NULL;
	/* It needs no rights of this program. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* In colour, and no more than is needed */
	setenv("LESS", "FRSX", 0);
	return popen(pager, "we");
}

/* A file that has no room keeps its old contents. Not all file systems tell that. */
static bool make_empty(int fd, size_t size)
{
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size) && (errno == ENOSPC || errno == EDQUOT))
		return false;
	return !ftruncate(fd, 0) || errno == EINVAL;
}

/* To memory, then to the file: so it is known why that fails. */
static bool write_at_once(struct output *output, struct output_file *file, FILE *to)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = check_memory(open_memstream(&text, &size));
	bool good;

	if (file->format == OUTPUT_TEXT && output->write_text)
		output->write_text(output, memory);
	else
		formats[file->format].write(output, memory);
	good = !fclose(memory) && (is_stdout(file) || make_empty(fileno(to), size)) &&
	       fwrite(text, 1, size, to) == size && !fflush(to);
	free(text);
	return good;
}

static bool write_file(struct output *output, struct output_file *file)
{
	FILE *pager = open_pager(file);
	bool good;

	/* A reader that stops ends this output, but not the others. */
	signal(SIGPIPE, SIG_IGN);
	errno = 0;
	good = write_at_once(output, file, pager ?: file->file) || errno == EPIPE;
	file->written = good;
	if (pager)
		pclose(pager);
	if (good)
		return true;
	p_err("cannot write %s: %s", is_stdout(file) ? "to standard output" : file->path,
	      strerror(errno ?: EIO));
	return false;
}

bool output_write(struct output *output, struct output_options *options)
{
	struct output_frames frames = {};
	bool good = true, color = options->color;
	size_t i;

	if (!output_filter(output)) {
		output_close(options);
		return false;
	}
	/* Names are found first: a loss may be noticed by that. */
	for (i = 0; i < output->nr_stacks; i++)
		output_frames(output, &output->stacks[i], &frames);
	free(frames.frames);
	output_add_name_losses(output);
	for (i = 0; i < options->nr_files; i++) {
		options->color = color && is_stdout(&options->files[i]);
		if (!write_file(output, &options->files[i]))
			good = false;
	}
	/* Folded stacks are piped into other programs, which do not know of losses. */
	if (!output_has_format(options, OUTPUT_TEXT))
		text_put_counts(stderr, &output->losses, "stacks: ");
	return output_close(options) && good;
}
