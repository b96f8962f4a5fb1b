/* SPDX-License-Identifier: GPL-2.0 */
#pragma once

#include "session/options.h"

/* Commands return an exit code; others are session_count(). */
int cmd_check(struct options *options);
int cmd_dump(struct options *options);
int cmd_jit(struct options *options);
int cmd_record(struct options *options);
int cmd_report(struct options *options);
int cmd_snoop(struct options *options);
int cmd_top(struct options *options);

/* For "stacks check", of one process or file; @missing: why the kernel cannot be asked, or NULL */
int check_files(struct options *options, const char *missing);
/* As "dump", with another text */
int dump_threads(struct options *options, void (*write_text)(struct output *output, FILE *file));
