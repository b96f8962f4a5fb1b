// SPDX-License-Identifier: GPL-2.0
/* stacks report, stacks diff: what files of stacks have, in any format. */
#include "cmd/main.h"
#include "out/data.h"
#include "session/options.h"

struct reporter {
	struct output_options output;
	char *paths[2];
	int nr_paths;
	int nr_wanted;
};

static error_t parse_report(int key, char *text, struct argp_state *state)
{
	struct reporter *reporter = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &reporter->output;
		return 0;
	case ARGP_KEY_ARG:
		if (reporter->nr_paths < reporter->nr_wanted)
			reporter->paths[reporter->nr_paths++] = text;
		else
			argp_error(state, "too many files");
		return 0;
	case ARGP_KEY_END:
		if (reporter->nr_paths < reporter->nr_wanted)
			argp_error(state, "give %s that \"stacks record\" has written",
				   reporter->nr_wanted == 1 ? "a file" : "two files");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child report_children[] = { { &output_argp }, {} };

/*
 * Only for the output, and files to read: without a measurement, no other common option applies.
 * Of two files, the second one is compared to the first.
 */
static int report(const struct argp *argp, int nr_files, int argc, char **argv)
{
	struct reporter reporter = { .output = OUTPUT_DEFAULTS, .nr_wanted = nr_files };
	struct output_options *options = &reporter.output;
	struct data data[2] = {}, *last = &data[nr_files - 1];
	bool good = true;
	size_t i;

	options_parse(argp, &reporter, argc, argv);
	if (!output_open(options))
		return EXIT_FAILED;
	for (i = 0; i < options->nr_files; i++) {
		if (nr_files > 1 && options->files[i].format > OUTPUT_SVG) {
			p_err("two files are compared as text, folded stacks or svg");
			output_close(options);
			return EXIT_USAGE;
		}
	}
	for (i = 0; good && i < (size_t)nr_files; i++)
		good = data_read(&data[i], reporter.paths[i], options);
	if (good) {
		last->output->base = nr_files > 1 ? data[0].output : NULL;
		good = output_write(last->output, options);
	}
	for (i = 0; i < ARRAY_SIZE(data); i++)
		data_free(&data[i]);
	output_close(options);
	return good ? EXIT_OK : EXIT_FAILED;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.parser		= parse_report,
		.args_doc	= "FILE",
		.doc		= "Prints or converts what \"stacks record\", or another command with "
				  "-o *.stacks, has written. The file may be from another machine: "
				  "functions are looked up in files that have the same path and "
				  "build id, or else by the build id.",
		.children	= report_children,
	};

	return report(&argp, 1, argc, argv);
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {
		.parser		= parse_report,
		.args_doc	= "BEFORE AFTER",
		.doc		= "Compares two files of \"stacks record\": functions by how their "
				  "shares have changed, flame graphs (AFTER, in which red has become "
				  "more and blue less), and folded stacks with two numbers.",
		.children	= report_children,
	};

	return report(&argp, 2, argc, argv);
}
