// SPDX-License-Identifier: GPL-2.0
/*
 * Flame graphs: an SVG file that needs nothing else. Frames are as wide as the values of
 * all stacks that they are on, and stand on their callers. The file can be read without the
 * script, too.
 */
#include <math.h>
#include "out/output.h"

#define WIDTH		1200.0
#define FRAME_HEIGHT	17
#define TOP		64
#define BOTTOM		44
/* Of the font, at its size. Fonts differ: this is rather wide. */
#define CHARACTER	7.25
/* Narrower frames are left out */
#define MIN_WIDTH	0.1

/* Of ASCII only, and without "]]>" */
static const char script[] =
#include "flamegraph.js.inc"
;

static const char style[] =
#include "flamegraph.css.inc"
;

/* A stack, in the order in which its frames are drawn from the bottom */
struct row {
	struct output_frames frames;
	__u64 value;
	__u64 base;		/* the same, of what this is compared to */
};

struct flame_graph {
	struct output *output;
	FILE *file;
	struct row *rows;	/* sorted: those with the same frames follow each other */
	size_t nr;
	size_t depth;
	__u64 total;
	__u64 base_total;
	__u64 nr_narrow;
};

static int compare_frames(const struct output_frame *a, const struct output_frame *b)
{
	return strcmp(a->name, b->name) ?: (int)a->kind - (int)b->kind;
}

static int compare_rows(const void *left, const void *right)
{
	const struct output_frames *a = &((const struct row *)left)->frames;
	const struct output_frames *b = &((const struct row *)right)->frames;
	int order = 0;
	size_t i;

	for (i = 0; i < a->nr && i < b->nr && !order; i++)
		order = compare_frames(&a->frames[i], &b->frames[i]);
	return order ?: (a->nr > b->nr) - (a->nr < b->nr);
}

static void add_rows(struct flame_graph *graph, struct output *output)
{
	bool is_base = output != graph->output;
	struct output_frames *frames;
	struct output_frame frame;
	struct row *row;
	size_t i, at;

	for (i = 0; i < output->nr_stacks; i++) {
		row = xpush(graph->rows, graph->nr);
		frames = &row->frames;
		output_frames(output, &output->stacks[i], frames);
		for (at = 0; graph->output->options->inverted && at < frames->nr / 2; at++) {
			frame = frames->frames[at];
			frames->frames[at] = frames->frames[frames->nr - 1 - at];
			frames->frames[frames->nr - 1 - at] = frame;
		}
		*(is_base ? &row->base : &row->value) = output->stacks[i].values[0];
		graph->depth = max(graph->depth, frames->nr);
	}
	*(is_base ? &graph->base_total : &graph->total) = output_sum(output);
}

static bool begins_character(char c)
{
	return (c & 0xc0) != 0x80;
}

/* At most @max characters of @text, which is UTF-8 without control characters. */
static void put_text(FILE *file, const char *text, size_t max)
{
	static const char *const escapes[256] = { ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;" };
	const char *escape;

	for (; *text && (!begins_character(*text) || max--); text++) {
		escape = escapes[(unsigned char)*text];
		if (escape)
			fputs(escape, file);
		else
			fputc(*text, file);
	}
}

static size_t nr_characters(const char *text)
{
	size_t n = 0;

	while (*text)
		n += begins_character(*text++);
	return n;
}

static void put_label(FILE *file, const char *name, double width)
{
	long fits = (width - 4) / CHARACTER;

	if (fits < 3)
		return;
	if (nr_characters(name) <= (size_t)fits) {
		put_text(file, name, SIZE_MAX);
		return;
	}
	put_text(file, name, fits - 2);
	fputs("..", file);
}

/* A hue for each kind, a shade for each name, the same in all graphs. */
static void put_color(FILE *file, const struct output_frame *frame)
{
	static const struct {
		unsigned int hue, spread, saturation, light;
	} colors[] = {
		[OUTPUT_PROCESS]	= { 0, 1, 0, 80 },
		[OUTPUT_NOTE]		= { 0, 1, 0, 88 },
		[OUTPUT_EVENT]		= { 290, 30, 55, 68 },
		[OUTPUT_USER]		= { 8, 44, 90, 62 },
		[OUTPUT_INLINED]	= { 170, 20, 45, 68 },
		[OUTPUT_KERNEL]		= { 200, 24, 70, 68 },
		[OUTPUT_JIT]		= { 100, 40, 55, 62 },
		[OUTPUT_UNKNOWN]	= { 0, 1, 0, 70 },
		[OUTPUT_WAKER]		= { 0, 1, 0, 80 },
	};
	__u64 hash = hash_bytes(frame->name, strlen(frame->name));

	fprintf(file, "hsl(%llu,%u%%,%llu%%)",
		colors[frame->kind].hue + hash % colors[frame->kind].spread,
		colors[frame->kind].saturation,
		colors[frame->kind].light + (hash >> 32) % 10);
}

static double share(__u64 part, __u64 all)
{
	return all ? 100.0 * part / all : 0;
}

static void put_frame(struct flame_graph *graph, const struct output_frame *frame, __u64 value,
		      __u64 base, size_t depth, double x, double width)
{
	double change = share(value, graph->total) - share(base, graph->base_total);
	double y = TOP + (double)(graph->depth - depth) * FRAME_HEIGHT;
	char *name = output_frame_name(frame, false);
	FILE *file = graph->file;

	fprintf(file, "<g class=\"frame\" tabindex=\"0\"><title>");
	put_text(file, name, SIZE_MAX);
	fputs(" (", file);
	output_put_value(file, &graph->output->values[0], value);
	fprintf(file, ", %.2f %%", share(value, graph->total));
	if (graph->output->base)
		fprintf(file, ", was %.2f %%", share(base, graph->base_total));
	fputs(")</title>", file);
	fprintf(file, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"",
		x, y, width, FRAME_HEIGHT - 1);
	/* Red has become more, blue less: full colour is for a tenth of all. */
	if (graph->output->base)
		fprintf(file, "hsl(%d,90%%,%.0f%%)", change > 0 ? 8 : 216,
			95 - 4 * fmin(fabs(change), 10));
	else
		put_color(file, frame);
	fprintf(file, "\"/><text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 12);
	put_label(file, name, width);
	fprintf(file, "</text></g>\n");
	free(name);
}

/*
 * The frame that the rows from @from to @to have below @depth, and what stands on it. Where it
 * begins is counted, not added up: no error adds up. Returns its value.
 */
static __u64 put_frames(struct flame_graph *graph, size_t from, size_t to, size_t depth,
			__u64 before)
{
	const struct output_frame all = { .name = "all", .kind = OUTPUT_PROCESS };
	double scale = graph->total ? WIDTH / graph->total : 0;
	const struct row *rows = graph->rows;
	__u64 value = 0, base = 0;
	size_t i, next;

	for (i = from; i < to; i++) {
		value += rows[i].value;
		base += rows[i].base;
	}
	if (graph->total && value * scale < MIN_WIDTH) {
		graph->nr_narrow++;
		return value;
	}
	put_frame(graph, depth ? &rows[from].frames.frames[depth - 1] : &all, value, base, depth,
		  before * scale, graph->total ? value * scale : WIDTH);
	/* The shortest ones are the first. */
	while (from < to && rows[from].frames.nr == depth)
		from++;
	for (; from < to; from = next) {
		for (next = from + 1; next < to; next++) {
			if (compare_frames(&rows[from].frames.frames[depth],
					   &rows[next].frames.frames[depth]))
				break;
		}
		before += put_frames(graph, from, next, depth + 1, before);
	}
	return value;
}

static void put_head(struct flame_graph *graph, double height)
{
	FILE *file = graph->file;

	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" data-width=\"%.0f\" data-height=\"%d\" data-character=\"%.2f\">\n"
		"<title>", WIDTH, height, WIDTH, height, WIDTH, FRAME_HEIGHT, CHARACTER);
	put_text(file, graph->output->title, SIZE_MAX);
	fprintf(file,
		"</title>\n<style>\n%s</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text id=\"title\" x=\"%.0f\" y=\"24\">", style, WIDTH / 2);
	/* It is no place for a long command line, the tooltip is. */
	put_text(file, graph->output->title, 100);
	if (nr_characters(graph->output->title) > 100)
		fputs("..", file);
	fprintf(file, "</text>\n<text x=\"%.0f\" y=\"44\" text-anchor=\"middle\">", WIDTH / 2);
	output_put_value(file, &graph->output->values[0], graph->total);
	fprintf(file,
		"</text>\n"
		"<text id=\"reset\" class=\"button hidden\" x=\"10\" y=\"24\">Reset zoom</text>\n"
		"<text id=\"search\" class=\"button\" x=\"%.0f\" y=\"24\">Search</text>\n"
		"<g id=\"frames\">\n", WIDTH - 60);
}

/* Losses are printed, too: few will look into the file. */
static void put_foot(struct flame_graph *graph, double y)
{
	const struct output *output = graph->output;
	FILE *file = graph->file;
	size_t i;

	fprintf(file,
		"</g>\n<text id=\"details\" x=\"10\" y=\"%.0f\"></text>\n"
		"<text id=\"matched\" x=\"%.0f\" y=\"%.0f\"></text>\n", y, WIDTH - 10, y);
	for (i = 0; i < output->losses.nr; i++) {
		y += FRAME_HEIGHT;
		fprintf(file, "<text class=\"loss\" x=\"10\" y=\"%.0f\">%llu ", y,
			output->losses.counts[i].count);
		put_text(file, output->losses.counts[i].what, SIZE_MAX);
		fputs("</text>\n", file);
	}
	if (graph->nr_narrow)
		fprintf(file,
			"<text id=\"narrow\" class=\"loss\" x=\"10\" y=\"%.0f\">%llu frames, and what is on them, are too narrow to be drawn</text>\n",
			y + FRAME_HEIGHT, graph->nr_narrow);
	fprintf(file, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
}

void flame_graph_write(struct output *output, FILE *file)
{
	struct flame_graph graph = { .output = output, .file = file };
	double bottom;
	size_t i;

	add_rows(&graph, output);
	if (output->base)
		add_rows(&graph, output->base);
	sort(graph.rows, graph.nr, compare_rows);
	bottom = TOP + (graph.depth + 1.0) * FRAME_HEIGHT;
	put_head(&graph, bottom + BOTTOM + output->losses.nr * FRAME_HEIGHT);
	put_frames(&graph, 0, graph.nr, 0, 0);
	put_foot(&graph, bottom + 16);
	for (i = 0; i < graph.nr; i++)
		free(graph.rows[i].frames.frames);
	free(graph.rows);
}
