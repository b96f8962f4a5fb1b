// SPDX-License-Identifier: GPL-2.0
/* stacks report, stacks diff: what files of stacks have, in any format. */
#include "cmd/main.h"

/* Of two files, the second one is compared to the first. */
int cmd_report(struct options *options)
{
	struct output_options *output = &options->output;
	size_t i, nr = options->nr_paths;
	struct data data[2] = {}, *last = &data[nr - 1];
	bool good = true;

	if (!output_open(output))
		return EXIT_FAILED;
	for (i = 0; i < output->nr_files; i++) {
		if (nr > 1 && output->files[i].format > OUTPUT_SVG) {
			p_err("two files are compared as text, folded stacks or svg");
			output_close(output);
			return EXIT_USAGE;
		}
	}
	for (i = 0; good && i < nr; i++)
		good = data_read(&data[i], options->paths[i], output);
	if (good) {
		last->output->base = nr > 1 ? data[0].output : NULL;
		good = output_write(last->output, output);
	}
	for (i = 0; i < ARRAY_SIZE(data); i++)
		data_free(&data[i]);
	output_close(output);
	return good ? EXIT_OK : EXIT_FAILED;
}
