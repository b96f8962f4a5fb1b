/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks with their values, and the formats in which they are written. */
#pragma once

#include "sym/symbolizer.h"

#define OUTPUT_VALUES	4
#define OUTPUT_FILES	16

enum output_format {
	OUTPUT_NO_FORMAT,	/* by the suffix of the file */
	OUTPUT_TEXT,
	OUTPUT_FOLDED,
	OUTPUT_SVG,
	OUTPUT_FIREFOX,
	OUTPUT_JSON,
	OUTPUT_PPROF,
	OUTPUT_DATA,		/* for "stacks report" */
};

/* A file that is written at the end. What it has is kept until then. */
struct output_file {
	const char *path;
	FILE *file;
	enum output_format format;
	bool created;
	bool written;
};

/* Patterns of the stacks that are kept; NULL: all */
struct output_filter {
	const char *comm;	/* name of the row: process, thread or cgroup */
	const char *dso;	/* one frame matches both of these */
	const char *symbol;
};

/* All 0: text to standard output */
struct output_options {
	struct output_file files[OUTPUT_FILES];
	size_t nr_files;
	enum output_format format;
	const char *default_path;	/* if there are no files; NULL: standard output */
	unsigned int nr_stacks;	/* in the text, and functions */
	bool lines;		/* of the source are told apart */
	bool no_inline;		/* debug information is not read */
	bool inverted;		/* flame graphs: the innermost frame is at the bottom */
	bool color;		/* of the text; set by output_open() */
	struct output_filter filter;
};

/* Of options. false: it is wrong, which was printed. */
bool output_add_file(struct output_options *options, const char *path);
bool output_set_format(struct output_options *options, const char *name);

bool output_has_format(const struct output_options *options, enum output_format format);

/*
 * Opens the files, before the work starts: what cannot be written fails at once. false: that was
 * printed, and nothing is open.
 */
bool output_open(struct output_options *options);
/*
 * Closes the outputs. A file that was created and not written is removed. false: a write failed,
 * which was printed.
 */
bool output_close(struct output_options *options);

/* A quantity. The units are pprof's: count, nanoseconds, bytes */
struct output_value {
	const char *name;
	const char *unit;
};

/* Stacks and texts, which have to live until output_free(), and their values */
struct output_stack {
	const char *process;	/* name of the process, or thread; NULL: stacks of all */
	__u32 tgid;		/* 0: as @process, then generated code has no names */
	__u32 pid;		/* 0: threads are not told apart */
	const struct stacks_stack *kernel;
	const struct stacks_stack *user;
	const char *event;	/* shown as the innermost frame; or NULL */
	const char *note;	/* of the stack, as its outermost frame; NULL: none */
	char state;		/* of the thread, as ps has it; 0: not known */
	const char *waker;	/* name of the thread that has ended the wait; NULL: not known */
	const struct stacks_stack *waker_kernel;
	const struct stacks_stack *waker_user;
	__u64 values[OUTPUT_VALUES];
};

/* Something that is not in the stacks, or else that is good to know */
struct output_counts {
	struct output_count {
		const char *what;
		__u64 count;
	} *counts;
	size_t nr;
};

struct output {
	const char *title;
	const struct output_options *options;
	struct output_value values[OUTPUT_VALUES];
	size_t nr_values;
	__u64 begin_ns;		/* since 1970; 0: not known */
	__u64 duration_ns;	/* 0: not known */
	struct output_value period_type;	/* of what @period is; no name: there is none */
	__u64 period;		/* between two samples */
	bool verbose;		/* also counts that are 0 */
	void (*write_text)(struct output *output, FILE *file);	/* or NULL: text_write() */
	struct output *base;	/* what it is compared to, or NULL */
	const char *kept;	/* by the filter, which share; NULL: there is none */
	const void *records;	/* of the kernel, that the stacks are from */
	size_t records_size;
	struct symbolizer symbolizer;
	struct strings texts;
	struct output_stack *stacks;
	size_t nr_stacks;
	struct output_counts losses;
	struct output_counts counts;
};

/* Flame graphs and folded stacks show the first of the @values. */
struct output *output_new(struct objects *objects, const struct output_options *options,
			  const char *title, const struct output_value *values, size_t nr);
void output_free(struct output *output);
/* To add others: names stay known. */
void output_clear(struct output *output);

/* A user stack whose begin is not known gets a note. */
void output_add(struct output *output, const struct output_stack *stack);

/*
 * Names a loss, such as "records that did not get into the ring"; @count 0: there was none.
 * It is in each format that has a place for it, and on standard error if text is not
 * among them.
 */
void output_loss(struct output *output, const char *what, __u64 count);
/* Names what else was counted: for the text and JSON. */
void output_count(struct output *output, const char *what, __u64 count);

/* Names that were not found: known once names were looked up. For commands without files. */
void output_add_name_losses(struct output *output);

/*
 * Writes all files, with such losses, of the stacks that the filter keeps. false: one was not
 * written, which was printed.
 */
bool output_write(struct output *output, struct output_options *options);

/* For the writers of the formats. */

enum output_kind {
	OUTPUT_USER	= LOCATION_USER,
	OUTPUT_KERNEL	= LOCATION_KERNEL,
	OUTPUT_JIT	= LOCATION_JIT,
	OUTPUT_UNKNOWN	= LOCATION_UNKNOWN,
	OUTPUT_INLINED,		/* in the next outer frame */
	OUTPUT_PROCESS,
	OUTPUT_NOTE,
	OUTPUT_EVENT,
	OUTPUT_WAKER,		/* "--", and who it was, outside of its frames */
};

struct output_frame {
	const char *name;
	enum output_kind kind;
	const char *file;	/* of the source; NULL: not known */
	unsigned int line;
	const struct location *location;	/* NULL: it is no address */
};

/* Frames of a stack, grown as needed. */
struct output_frames {
	struct output_frame *frames;
	size_t nr;
	size_t nr_own;		/* without the waker's frames */
};

/*
 * The frames of a stack, the outermost first: the process, the note, user and kernel
 * frames, the event. Then "--", and the stack of the waker, the innermost first. @frames is set
 * up with 0 and may be used again.
 */
void output_frames(struct output *output, const struct output_stack *stack,
		   struct output_frames *frames);

/*
 * How a frame is shown: "[incomplete]", "vfs_read [k]", "f (inlined)"; @folded: "vfs_read_[k]",
 * "f_[i]". To be freed
 */
char *output_frame_name(const struct output_frame *frame, bool folded);

/* What an address is in: "[module]", "[kernel.kallsyms]", or the path of a file. To be freed */
char *output_place_name(const struct output *output, __u32 object, const char *module);
/* The same of a location, but "[kernel]". */
char *output_location_place(const struct output *output, const struct location *location);

/* Of @output, and of what it is compared to. false: no stack is left, which was printed. */
bool output_filter(struct output *output);

/*
 * As text: a line for each but the process, the innermost first. @places: also what each is in, and
 * its line; or NULL
 */
void output_put_frames(FILE *file, const struct output_frames *frames, const struct output *places);

/* Stacks that have the same names, added up */
struct output_row {
	const char *text;	/* folded, as flamegraph.pl takes it */
	const struct output_stack *stack;	/* any one of these; NULL: it is only in the base */
	__u64 values[OUTPUT_VALUES];
};

struct output_rows {
	struct strings texts;		/* by number of row, until these are sorted */
	struct output_row *rows;
	size_t nr;
};

enum output_key {
	OUTPUT_BY_NAME,
	OUTPUT_BY_ID,	/* processes and threads are told apart by their ids */
	OUTPUT_BY_LINE,	/* and functions by the lines of the source */
};

void output_rows_make(struct output *output, struct output_rows *rows, enum output_key key);
void output_rows_free(struct output_rows *rows);

/* How much of the first value has a user stack, and of that, how much a complete one */
void output_quality(const struct output *output, __u64 *with_user, __u64 *complete);

/* "1 sample", "2 samples": @what begins with a plural. */
void output_put_number(FILE *file, __u64 number, const char *what);
/* "1234 samples", "1.234567 s blocked" */
void output_put_value(FILE *file, const struct output_value *value, __u64 number);

__u64 output_sum(const struct output *output);

struct json_object;

/* json-c without results: these do not return without memory. @text: may have single quotes */
struct json_object *json_parse(const char *text);
/* NULL is no memory. */
void json_put(struct json_object *object, const char *name, struct json_object *value);
void json_put_number(struct json_object *object, const char *name, __u64 number);
/* NULL: nothing */
void json_put_text(struct json_object *object, const char *name, const char *text);
/* NULL is null. */
void json_append(struct json_object *array, struct json_object *value);
/* As JSON_C_TO_STRING_*; then it is freed. */
void json_print(struct json_object *object, int flags, FILE *file);

void text_write(struct output *output, FILE *file);
/* Functions, by what they have themselves; of the text, and for "top" */
void text_write_head(struct output *output, FILE *file);
void text_write_functions(struct output *output, FILE *file, unsigned int max);
void text_write_counts(struct output *output, FILE *file);
/* Lines that begin so */
void text_put_counts(FILE *file, const struct output_counts *counts, const char *before);
/*
 * How many files have no lines as they are of others; and if more than a hundredth of the frames has no
 * name: which files, and what helps
 */
void text_write_unnamed(struct output *output, FILE *file);
void folded_write(struct output *output, FILE *file);
void flame_graph_write(struct output *output, FILE *file);
void firefox_write(struct output *output, FILE *file);
void json_write(struct output *output, FILE *file);
void pprof_write(struct output *output, FILE *file);
void data_write(struct output *output, FILE *file);

/*
 * Files of stacks, for "stacks report": the records of the kernel as they came, which describe
 * the files that frames are in, and the additions of this program: rows of stacks and their
 * values, paths of files, and names of code that is in no file. Functions of files are looked up
 * when it is read, by path if the build id is right, or else by build id; so another machine can
 * do that.
 */
struct data {
	struct objects objects;
	struct stacks stacks;
	struct output *output;
	struct bytes bytes;	/* the file */
};

/* false: it cannot be read, or is no such file; that was said, and @data is to be freed. */
bool data_read(struct data *data, const char *path, const struct output_options *options);
void data_free(struct data *data);
