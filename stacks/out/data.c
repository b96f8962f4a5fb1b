// SPDX-License-Identifier: GPL-2.0
#include <bpf/hashmap.h>
#include "out/output.h"

/* All parts begin like the records of the kernel: with a magic and a size, a multiple of 8. */
enum data_magic {
	DATA_HEAD = 0x31447453,	/* StD1, at the begin of the file */
	DATA_PATH,
	DATA_NAME,
	DATA_ROW,
	DATA_COUNT,
	DATA_END,	/* what comes next is of later versions */
};

#define NR_TEXTS	(3 + 2 * OUTPUT_VALUES)

/**
 * struct data_part - a part, with texts behind it, each ending with a 0
 * @magic:	enum data_magic, which says how the rest is used
 * @size:	of all
 * @numbers:	head: begin, duration, period, number of values. Path: inode, device. Name:
 *		process, address. Row: ids of the stacks, ids of the waker's stacks. Count: it, is
 *		it a loss?
 * @values:	of a row
 * @tgid:	of a row
 * @pid:	likewise
 * @build_id_size: of a path
 * @build_id:	likewise
 * @nr_texts:	head: title, type of the period, names and units of the values. Path: it. Name:
 *		it, module. Row: process, event, note, waker, state. Count: its name
 * @reserved:	0
 */
struct data_part {
	__u32 magic;
	__u32 size;
	__u64 numbers[4];
	__u64 values[OUTPUT_VALUES];
	__u32 tgid;
	__u32 pid;
	__u32 build_id_size;
	__u8 build_id[BUILD_ID_SIZE];
	__u32 nr_texts;
	__u32 reserved;
};

/* No text is ""; NULL is. */
static void put_part(FILE *file, struct data_part part, const char *const *texts, size_t nr)
{
	static const char zeros[8];
	size_t i, size = sizeof(part);

	for (i = 0; i < nr; i++)
		size += strlen(texts[i] ?: "") + 1;
	part.size = (size + 7) & ~7ULL;
	part.nr_texts = nr;
	fwrite(&part, sizeof(part), 1, file);
	for (i = 0; i < nr; i++)
		fwrite(texts[i] ?: "", strlen(texts[i] ?: "") + 1, 1, file);
	fwrite(zeros, part.size - size, 1, file);
}

static void put_head(const struct output *output, FILE *file)
{
	const char *texts[NR_TEXTS] = {
		output->title, output->period_type.name, output->period_type.unit,
	};
	size_t i;

	for (i = 0; i < output->nr_values; i++) {
		texts[3 + 2 * i] = output->values[i].name;
		texts[4 + 2 * i] = output->values[i].unit;
	}
	put_part(file, (struct data_part){
		.magic = DATA_HEAD,
		.numbers = { output->begin_ns, output->duration_ns, output->period,
			     output->nr_values },
	}, texts, NR_TEXTS);
}

static void put_paths(const struct objects *objects, FILE *file)
{
	const struct object *object;
	struct data_part part;
	size_t i;

	for (i = OBJECT_FIRST; i < objects->nr_objects; i++) {
		object = object_at(objects, i);
		if (!object->in_stack || !object->path)
			continue;
		part = (struct data_part){
			.magic = DATA_PATH,
			.numbers = { object->inode, object->dev_major, object->dev_minor },
			.build_id_size = object->build_id_size,
		};
		memcpy(part.build_id, object->build_id, object->build_id_size);
		put_part(file, part, (const char *const *)&object->path, 1);
	}
}

/* They are all in use: names were found before the first file is written. */
static void put_names(const struct symbolizer *symbolizer, FILE *file)
{
	const struct location *location;
	struct hashmap_entry *entry;
	size_t bucket;

	hashmap__for_each_entry(symbolizer->locations, entry, bucket) {
		location = entry->pvalue;
		if ((location->kind != LOCATION_KERNEL && location->kind != LOCATION_JIT) ||
		    !location->symbol)
			continue;
		put_part(file, (struct data_part){
			.magic = DATA_NAME,
			.numbers = { location->tgid, location->addr },
		}, (const char *[]){ location->symbol, location->module }, 2);
	}
}

static void put_rows(const struct output *output, FILE *file)
{
	const struct output_stack *stack;
	struct data_part part;
	size_t i;

	for (i = 0; i < output->nr_stacks; i++) {
		stack = &output->stacks[i];

		const char *const texts[] = {
			stack->process, stack->event, stack->note, stack->waker,
			(char[]){ stack->state, 0 },
		};

		part = (struct data_part){
			.magic = DATA_ROW,
			.numbers = {
				stack->kernel ? stack->kernel->id : 0,
				stack->user ? stack->user->id : 0,
				stack->waker_kernel ? stack->waker_kernel->id : 0,
				stack->waker_user ? stack->waker_user->id : 0,
			},
			.tgid = stack->tgid,
			.pid = stack->pid,
		};
		memcpy(part.values, stack->values, sizeof(part.values));
		put_part(file, part, texts, ARRAY_SIZE(texts));
	}
}

static void put_counts(const struct output_counts *counts, bool lost, FILE *file)
{
	size_t i;

	for (i = 0; i < counts->nr; i++)
		put_part(file, (struct data_part){
			.magic = DATA_COUNT, .numbers = { counts->counts[i].count, lost },
		}, &counts->counts[i].what, 1);
}

void data_write(struct output *output, FILE *file)
{
	put_head(output, file);
	put_paths(output->symbolizer.objects, file);
	fwrite(output->records, output->records_size, 1, file);
	put_names(&output->symbolizer, file);
	put_rows(output, file);
	put_counts(&output->counts, false, file);
	put_counts(&output->losses, true, file);
}

/* false: there are fewer texts, or more. Empty texts are NULL; all but paths are printable. */
static bool find_texts(const struct data_part *part, const char **texts)
{
	const char *at = (const char *)(part + 1), *end = (const char *)part + part->size;
	__u32 i;

	if (part->nr_texts > NR_TEXTS)
		return false;
	memset(texts, 0, NR_TEXTS * sizeof(*texts));
	for (i = 0; i < part->nr_texts; i++) {
		const char *zero = memchr(at, 0, end - at);

		if (!zero)
			return false;
		texts[i] = *at ? at : NULL;
		if (part->magic != DATA_PATH)
			make_printable((char *)at);
		at = zero + 1;
	}
	return true;
}

static bool take_head(struct data *data, const struct data_part *part, const char **texts,
		      const struct output_options *options)
{
	struct output_value values[OUTPUT_VALUES];
	size_t i, nr = part->numbers[3];

	if (!nr || nr > OUTPUT_VALUES)
		return false;
	for (i = 0; i < nr; i++) {
		values[i] = (struct output_value){ texts[3 + 2 * i], texts[4 + 2 * i] };
		if (!values[i].name || !values[i].unit)
			return false;
	}
	data->output = output_new(&data->objects, options, texts[0], values, nr);
	data->output->begin_ns = part->numbers[0];
	data->output->duration_ns = part->numbers[1];
	data->output->period = part->numbers[2];
	data->output->period_type = (struct output_value){ texts[1], texts[2] };
	data->output->records = data->bytes.data;
	return true;
}

static void take_path(struct data *data, const struct data_part *part, const char *path)
{
	struct object object = {
		.inode = part->numbers[0],
		.dev_major = part->numbers[1],
		.dev_minor = part->numbers[2],
		.build_id_size = part->build_id_size,
	};

	memcpy(object.build_id, part->build_id, sizeof(object.build_id));
	objects_add_path(&data->objects, object, path);
}

static void take_row(struct data *data, const struct data_part *part, const char **texts)
{
	struct output_stack stack = {
		.process = texts[0], .event = texts[1], .note = texts[2], .waker = texts[3],
		.state = texts[4] && *texts[4] > 0 ? *texts[4] : 0,
		.tgid = part->tgid,
		.pid = part->pid,
		.kernel = stacks_find(&data->stacks, part->numbers[0]),
		.user = stacks_find(&data->stacks, part->numbers[1]),
		.waker_kernel = stacks_find(&data->stacks, part->numbers[2]),
		.waker_user = stacks_find(&data->stacks, part->numbers[3]),
	};

	memcpy(stack.values, part->values, sizeof(stack.values));
	output_add(data->output, &stack);
}

static bool take_part(struct data *data, const struct data_part *part,
		      const struct output_options *options)
{
	const char *texts[NR_TEXTS];

	if (part->magic < DATA_HEAD || part->magic >= DATA_END)
		return data->output;
	if (part->size < sizeof(*part) || part->build_id_size > BUILD_ID_SIZE ||
	    !find_texts(part, texts))
		return false;
	/* One head, and it comes first. All but a row have a first text. */
	if ((part->magic == DATA_HEAD) != !data->output || (part->magic != DATA_ROW && !texts[0]))
		return false;
	switch (part->magic) {
	case DATA_HEAD:
		return take_head(data, part, texts, options);
	case DATA_PATH:
		take_path(data, part, texts[0]);
		return true;
	case DATA_NAME:
		symbolizer_add_name(&data->output->symbolizer, part->numbers[0], part->numbers[1],
				    texts[0], texts[1] ?: "");
		return true;
	case DATA_ROW:
		take_row(data, part, texts);
		return true;
	case DATA_COUNT:
		if (part->numbers[1])
			output_loss(data->output, texts[0], part->numbers[0]);
		else
			output_count(data->output, texts[0], part->numbers[0]);
		return true;
	default:
		return false;
	}
}

static bool take_parts(struct data *data, const struct output_options *options)
{
	const struct data_part *part;
	struct bpf_stack_view view;
	size_t at;

	for (at = 0; at < data->bytes.size; at += part->size) {
		part = (const void *)(data->bytes.data + at);
		if (data->bytes.size - at < 2 * sizeof(__u32) || part->size < 2 * sizeof(__u32) ||
		    part->size % 8 || part->size > data->bytes.size - at)
			return false;
		if (part->magic != BPF_STACK_RECORD_MAGIC) {
			if (!take_part(data, part, options))
				return false;
			continue;
		}
		if (!data->output || !stacks_add(&data->stacks, part, part->size, &view))
			return false;
		/* To write them again */
		if (!data->output->records_size)
			data->output->records = part;
		data->output->records_size = (const void *)part + part->size -
					     data->output->records;
	}
	return data->output;
}

static bool read_bytes(struct data *data, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char part[65536];
	size_t n;

	while (file && (n = fread(part, 1, sizeof(part), file)))
		bytes_put(&data->bytes, part, n);
	if (!file || ferror(file))
		p_err("%s: %s", path, strerror(errno));
	else if (!fclose(file))
		return true;
	return false;
}

bool data_read(struct data *data, const char *path, const struct output_options *options)
{
	*data = (struct data){ .stacks = { objects_on_frame, &data->objects } };
	objects_init(&data->objects);
	data->objects.is_file = true;
	if (!read_bytes(data, path))
		return false;
	if (take_parts(data, options))
		return true;
	p_err("%s: not a file of \"stacks record\", or only a part of one", path);
	return false;
}

void data_free(struct data *data)
{
	output_free(data->output);
	stacks_free(&data->stacks);
	objects_free(&data->objects);
	free(data->bytes.data);
}
