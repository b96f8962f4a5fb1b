/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DECODER_ELFFILE_H
#define DECODER_ELFFILE_H

#include <linux/sframe.h>

/* A copy of a file's SFrame segment, and its text */
struct elffile {
	struct sframe_section	 section;
	struct sframe_text	*text;
	void			*data;
};

/* 0, or a message that says why not */
const char *elffile_read(struct elffile *file, const char *path);
void elffile_free(struct elffile *file);

#endif
