// SPDX-License-Identifier: GPL-2.0
/*
 * Tables for files that have none: made and supplied by the code that
 * "stacks profile" uses.
 */
#include "supplied.h"

#include <errno.h>
#include <sframe-api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sframe/files.h"
#include "sframe/supply.h"

/* That of the repository's tests: the test could not be run */
#define EXIT_BROKEN	3

struct known {
	unsigned char	build_id[SFRAME_BUILD_ID_SIZE];
	size_t		build_id_size;
	struct supplied	table;
};

static const char *spoiled_name;
static struct sframe_files files;
static struct supply *supply;
static struct known *all;
static size_t nr_known;
/* What supplied_print() says */
static FILE *texts;
static char *text;
static size_t text_size;

static void broken(const char *what, int error)
{
	fprintf(stderr, "steps: %s: %s\n", what, strerror(error));
	exit(EXIT_BROKEN);
}

static void keep(const struct sframe_conversion *conversion)
{
	struct known *known;

	all = realloc(all, (nr_known + 1) * sizeof(*all));
	if (!all)
		broken("tables", ENOMEM);
	known = &all[nr_known++];
	memset(known, 0, sizeof(*known));
	memcpy(known->build_id, conversion->build_id, conversion->build_id_size);
	known->build_id_size = conversion->build_id_size;
	known->table.size = conversion->size;
	known->table.vaddr = conversion->vaddr;
	known->table.section = malloc(conversion->size);
	if (!known->table.section)
		broken("tables", ENOMEM);
	memcpy(known->table.section, conversion->section, conversion->size);
}

/* A copy, in which no function has rows */
static void *spoil(const void *section, size_t size)
{
	char *copy = malloc(size), *functions, *attributes;
	sframe_header hdr;
	size_t i;

	if (!copy)
		broken("tables", ENOMEM);
	memcpy(copy, section, size);
	memcpy(&hdr, section, sizeof(hdr));
	functions = copy + sizeof(hdr) + hdr.sfh_auxhdr_len + hdr.sfh_fdeoff;
	attributes = copy + sizeof(hdr) + hdr.sfh_auxhdr_len + hdr.sfh_freoff;
	for (i = 0; i < hdr.sfh_num_fdes; i++) {
		sframe_func_desc_idx_v3 function;
		sframe_func_desc_attr_v3 attribute;
		char *at;

		memcpy(&function, functions + i * sizeof(function), sizeof(function));
		at = attributes + function.sfdi_func_start_fre_off;
		memcpy(&attribute, at, sizeof(attribute));
		attribute.sfda_func_num_fres = 0;
		attribute.sfda_func_info2 = SFRAME_V3_SET_FDE_TYPE(attribute.sfda_func_info2,
								   SFRAME_FDE_TYPE_DEFAULT);
		memcpy(at, &attribute, sizeof(attribute));
	}
	return copy;
}

static void print_file(const struct sframe_file *file)
{
	fprintf(texts, "# table of %s: ", file->name);
	if (file->error)
		fprintf(texts, "none, %s\n", strerror(-file->error));
	else
		fprintf(texts, "%zu bytes\n", file->conversion->size);
}

static uint32_t on_file(void *arg, struct sframe_file *file)
{
	const char *slash = strrchr(file->name, '/');
	bool is_spoiled = spoiled_name && !strcmp(slash ? slash + 1 : file->name, spoiled_name);
	struct sframe_conversion copy = *file->conversion;
	__u64 bytes;
	int error;

	(void)arg;
	print_file(file);
	if (file->error)
		return SFRAME_NO_TAG;
	if (is_spoiled)
		copy.section = spoil(copy.section, copy.size);
	error = supply_add(supply, nr_known, &copy, &bytes);
	if (is_spoiled)
		free(copy.section);
	if (error)
		broken(file->name, -error);
	keep(file->conversion);
	return nr_known;
}

static uint32_t is_known(void *arg, const struct sframe_conversion *conversion)
{
	(void)arg;
	return supplied_find(conversion->build_id, conversion->build_id_size) ? 1 : SFRAME_NO_TAG;
}

static const struct sframe_files_ops ops = {
	.known = is_known,
	.done = on_file,
};

void supplied_open(const char *spoiled)
{
	int error;

	spoiled_name = spoiled;
	if (!supply_supported())
		broken("the kernel takes no tables", ENOTSUP);
	error = supply_new(NULL, &supply);
	texts = open_memstream(&text, &text_size);
	/* All of them are made now, none is from a cache. */
	if (!error)
		error = texts ? sframe_files_init(&files, &ops, NULL, 0) : -ENOMEM;
	if (error)
		broken("tables", -error);
}

void supplied_close(void)
{
	size_t i;

	supply_free(supply);
	sframe_files_free(&files);
	fclose(texts);
	free(text);
	for (i = 0; i < nr_known; i++)
		free(all[i].table.section);
	free(all);
	all = NULL;
	nr_known = 0;
}

bool supplied_update(pid_t pid)
{
	size_t before = nr_known;
	int error;

	error = sframe_files_add_process(&files, pid);
	if (error)
		broken("the mappings of the process", -error);
	return nr_known > before;
}

const struct supplied *supplied_find(const void *build_id, size_t size)
{
	size_t i;

	for (i = 0; i < nr_known; i++) {
		if (all[i].build_id_size == size && !memcmp(all[i].build_id, build_id, size))
			return &all[i].table;
	}
	return NULL;
}

void supplied_print(void)
{
	fflush(texts);
	fputs(text, stdout);
}
