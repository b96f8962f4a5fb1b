/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of stacks, for "stacks report": the records of the kernel as they came, which describe
 * the files that frames are in, and the additions of this program: rows of stacks and their
 * values, paths of files, and names of code that is in no file. Functions of files are looked up
 * when it is read, by path if the build id is right, or else by build id; so another machine can
 * do that.
 */
#ifndef __STACKS_DATA_H
#define __STACKS_DATA_H

#include "out/output.h"

struct data {
	struct objects objects;
	struct stacks stacks;
	struct output *output;
	char *bytes;		/* the file */
	size_t size;
};

/* false: it cannot be read, or is no such file; that was said, and @data is to be freed. */
bool data_read(struct data *data, const char *path, const struct output_options *options);
void data_free(struct data *data);

#endif /* __STACKS_DATA_H */
