// SPDX-License-Identifier: GPL-2.0
/*
 * The format of pprof: profile.proto of github.com/google/pprof, compressed as by gzip.
 *
 * Frames have no addresses, but offsets in files, which many processes have mapped at
 * many places. In a profile each file is mapped once, at an address that is made up, with
 * its build id: with the file at hand, pprof finds lines and disassembles.
 */
#include <limits.h>
#include <zlib.h>
#include "out/output.h"

/* Numbers of fields, by message */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION,
	PROFILE_FUNCTION, PROFILE_STRING_TABLE, PROFILE_TIME = 9, PROFILE_DURATION,
	PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LOCATION_LINE = 4 };

/* More than the largest file, and room for a million of them in user space's half */
#define FILE_SHIFT	43
#define FILE_ROOM	(1ULL << FILE_SHIFT)

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put_field(struct bytes *message, unsigned int field, const void *bytes,
		      size_t size)
{
	bytes_put_number(message, field << 3 | WIRE_BYTES);
	bytes_put_number(message, size);
	bytes_put(message, bytes, size);
}

/* A uint64, int64, or bool; readers take 0 if it is missing. */
static void protobuf_number(struct bytes *message, unsigned int field, __u64 value)
{
	if (!value)
		return;
	bytes_put_number(message, field << 3 | WIRE_VARINT);
	bytes_put_number(message, value);
}

/* Fields that are numbered from 1 on */
#define protobuf_numbers(message, ...) \
	put_numbers(message, (const __u64[]){ __VA_ARGS__ }, \
		    sizeof((const __u64[]){ __VA_ARGS__ }) / sizeof(__u64))

static void put_numbers(struct bytes *message, const __u64 *values, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		protobuf_number(message, i + 1, values[i]);
}

/* Adds @part, or numbers of a repeated field, and empties it. */
static void protobuf_message(struct bytes *message, unsigned int field, struct bytes *part)
{
	put_field(message, field, part->data, part->size);
	free(part->data);
	*part = (struct bytes){};
}

/* A file or a part of the kernel, numbered from 1 */
struct pprof_mapping {
	__u32 object;
	const char *module;
	__u64 start;
	__u64 limit;
	bool has_functions;
	bool has_lines;
};

struct pprof {
	struct output *output;
	struct bytes profile;
	struct strings strings;
	struct pprof_mapping *mappings;
	size_t nr_mappings;
	struct idmap locations;		/* pointer: number, from 1 */
	struct idmap functions;		/* hash of its texts: number, from 1 */
};

static __u64 number_of(struct pprof *pprof, const char *text)
{
	return strings_number(&pprof->strings, text ?: "");
}

/*
 * The kernel is mapped at its own addresses, each file at unused ones, even if it is not position
 * independent, as two such files would want the same place. NULL: it is in no mapping.
 */
static struct pprof_mapping *mapping_of(struct pprof *pprof, const struct location *location)
{
	struct pprof_mapping *mapping = pprof->mappings;
	size_t i = 0;

	if (location->kind != LOCATION_USER && location->kind != LOCATION_KERNEL)
		return NULL;
	for (; i < pprof->nr_mappings && (mapping->object != location->object ||
					  mapping->module != location->module); i++)
		mapping++;
	if (i == pprof->nr_mappings) {
		mapping = xpush(pprof->mappings, pprof->nr_mappings);
		*mapping = (struct pprof_mapping){
			.object = location->object, .module = location->module, .start = ~0ULL,
		};
	}
	if (location->kind == LOCATION_USER) {
		mapping->start = (__u64)location->object << FILE_SHIFT;
		mapping->limit = mapping->start + FILE_ROOM;
	} else {
		mapping->start = min(mapping->start, location->addr & ~(PAGE - 1));
		mapping->limit = max(mapping->limit, location->addr + 1);
	}
	return mapping;
}

/* Its number, by its name, symbol and file, which a set of texts has at one place each */
static __u64 function_number(struct pprof *pprof, const struct location_line *line)
{
	const char *const texts[] = { line->name, line->symbol, line->file };
	__u64 key = hash_bytes(texts, sizeof(texts)), number = pprof->functions.nr + 1;
	long known = idmap_find(&pprof->functions, key);
	struct bytes message = {};

	if (known >= 0)
		return known;
	idmap_set(&pprof->functions, key, number);
	protobuf_numbers(&message, number, number_of(pprof, line->name),
			 number_of(pprof, line->symbol), number_of(pprof, line->file));
	protobuf_message(&pprof->profile, PROFILE_FUNCTION, &message);
	return number;
}

static void write_line(struct pprof *pprof, const struct location_line *line,
		       struct bytes *location)
{
	struct bytes message = {};

	protobuf_numbers(&message, function_number(pprof, line), line->line);
	protobuf_message(location, LOCATION_LINE, &message);
}

/* Without a name pprof shows the file, or finds the name. */
static void write_lines(struct pprof *pprof, const struct location *location,
			struct bytes *message)
{
	const struct location_line only = { .name = location->name, .symbol = location->symbol };
	size_t i;

	for (i = 0; i < location->nr_lines; i++)
		write_line(pprof, &location->lines[i], message);
	if (!i && location->symbol)
		write_line(pprof, &only, message);
}

static void write_location(struct pprof *pprof, const struct location *location, __u64 number)
{
	struct pprof_mapping *mapping = mapping_of(pprof, location);
	struct bytes message = {};

	protobuf_numbers(&message, number, mapping ? mapping - pprof->mappings + 1 : 0,
			 location->addr + (location->kind == LOCATION_USER ? mapping->start : 0));
	write_lines(pprof, location, &message);
	if (mapping) {
		mapping->has_functions |= !!location->symbol;
		mapping->has_lines |= location->nr_lines > 0;
	}
	protobuf_message(&pprof->profile, PROFILE_LOCATION, &message);
}

static __u64 location_number(struct pprof *pprof, const struct location *location)
{
	long i = idmap_find(&pprof->locations, (uintptr_t)location);
	__u64 number = pprof->locations.nr + 1;

	if (i >= 0)
		return i;
	idmap_set(&pprof->locations, (uintptr_t)location, number);
	write_location(pprof, location, number);
	return number;
}

static void add_locations(struct pprof *pprof, const struct stacks_stack *stack, __u32 tgid,
			  struct bytes *ids)
{
	__u32 i;

	for (i = 0; stack && i < stack->nr; i++)
		bytes_put_number(ids, location_number(pprof, symbolizer_locate(
				 &pprof->output->symbolizer, tgid, stack, i)));
}

static void write_label(struct pprof *pprof, struct bytes *sample, const char *key,
			const char *text, __u64 number)
{
	struct bytes message = {};

	protobuf_numbers(&message, number_of(pprof, key), number_of(pprof, text), number);
	protobuf_message(sample, SAMPLE_LABEL, &message);
}

/* Innermost first: the kernel's frames are before the user's. */
static void write_sample(struct pprof *pprof, const struct output_stack *stack)
{
	struct bytes message = {}, ids = {}, values = {};
	size_t i;

	add_locations(pprof, stack->kernel, stack->tgid, &ids);
	add_locations(pprof, stack->user, stack->tgid, &ids);
	protobuf_message(&message, SAMPLE_LOCATION, &ids);
	for (i = 0; i < pprof->output->nr_values; i++)
		bytes_put_number(&values, stack->values[i]);
	protobuf_message(&message, SAMPLE_VALUE, &values);
	if (stack->process)
		write_label(pprof, &message, "process", stack->process, 0);
	if (stack->tgid)
		write_label(pprof, &message, "pid", NULL, stack->tgid);
	if (stack->pid)
		write_label(pprof, &message, "tid", NULL, stack->pid);
	if (stack->event)
		write_label(pprof, &message, "event", stack->event, 0);
	if (stack->note)
		write_label(pprof, &message, "note", stack->note, 0);
	if (stack->waker)
		write_label(pprof, &message, "waker", stack->waker, 0);
	protobuf_message(&pprof->profile, PROFILE_SAMPLE, &message);
}

static void write_value_type(struct pprof *pprof, unsigned int field,
			     const struct output_value *value)
{
	struct bytes message = {};

	protobuf_numbers(&message, number_of(pprof, value->name), number_of(pprof, value->unit));
	protobuf_message(&pprof->profile, field, &message);
}

static void write_mapping(struct pprof *pprof, size_t i)
{
	const struct pprof_mapping *mapping = &pprof->mappings[i];
	const struct object *object = object_at(pprof->output->symbolizer.objects,
						mapping->object);
	char *name = output_place_name(pprof->output, mapping->object, mapping->module);
	char build_id[2 * BUILD_ID_SIZE + 1];
	struct bytes message = {};

	put_hex(build_id, object->build_id, mapping->module ? 0 : object->build_id_size);
	/* From the first byte on; files, lines and inlined functions are known together. */
	protobuf_numbers(&message, i + 1, mapping->start, mapping->limit, 0,
			 number_of(pprof, name), number_of(pprof, build_id), mapping->has_functions,
			 mapping->has_lines, mapping->has_lines, mapping->has_lines);
	free(name);
	protobuf_message(&pprof->profile, PROFILE_MAPPING, &message);
}

static void write_comments(struct pprof *pprof)
{
	const struct output *output = pprof->output;
	struct bytes numbers = {};
	size_t i;

	bytes_put_number(&numbers, number_of(pprof, output->title));
	for (i = 0; i < output->losses.nr; i++)
		bytes_put_number(&numbers, number_of(pprof, strings_format(&pprof->strings, "%llu %s",
				 output->losses.counts[i].count, output->losses.counts[i].what)));
	protobuf_message(&pprof->profile, PROFILE_COMMENT, &numbers);
}

static void write_profile(struct pprof *pprof)
{
	const struct output *output = pprof->output;
	size_t i;

	number_of(pprof, "");	/* has to be the first one */
	for (i = 0; i < output->nr_values; i++)
		write_value_type(pprof, PROFILE_SAMPLE_TYPE, &output->values[i]);
	for (i = 0; i < output->nr_stacks; i++)
		write_sample(pprof, &output->stacks[i]);
	for (i = 0; i < pprof->nr_mappings; i++)
		write_mapping(pprof, i);
	write_comments(pprof);
	protobuf_number(&pprof->profile, PROFILE_TIME, output->begin_ns);
	protobuf_number(&pprof->profile, PROFILE_DURATION, output->duration_ns);
	if (output->period_type.name) {
		write_value_type(pprof, PROFILE_PERIOD_TYPE, &output->period_type);
		protobuf_number(&pprof->profile, PROFILE_PERIOD, output->period);
	}
	protobuf_number(&pprof->profile, PROFILE_DEFAULT_TYPE,
			number_of(pprof, output->values[0].name));
	for (i = 0; i < pprof->strings.nr; i++)
		put_field(&pprof->profile, PROFILE_STRING_TABLE, pprof->strings.strings[i],
			  strlen(pprof->strings.strings[i]));
}

/* As gzip. Profiles are far from the 4 GiB that zlib takes at once. */
static void put_compressed(FILE *file, const struct bytes *message)
{
	z_stream zip = { .next_in = message->data, .avail_in = message->size };
	unsigned char *bytes;
	int error;

	error = deflateInit2(&zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			     Z_DEFAULT_STRATEGY);
	zip.avail_out = error ? 0 : deflateBound(&zip, message->size);
	bytes = xcalloc(1, zip.avail_out);
	zip.next_out = bytes;
	if (error || message->size > UINT_MAX || deflate(&zip, Z_FINISH) != Z_STREAM_END) {
		p_err("cannot compress a profile of %zu bytes", message->size);
		exit(EXIT_FAILED);
	}
	fwrite(bytes, 1, zip.total_out, file);
	deflateEnd(&zip);
	free(bytes);
}

void pprof_write(struct output *output, FILE *file)
{
	struct pprof pprof = { .output = output };

	write_profile(&pprof);
	put_compressed(file, &pprof.profile);
	strings_free(&pprof.strings);
	idmap_free(&pprof.locations);
	idmap_free(&pprof.functions);
	free(pprof.profile.data);
	free(pprof.mappings);
}
