/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __STACKS_MAIN_H
#define __STACKS_MAIN_H

#include "session/options.h"

/* Commands return an exit code; others are session_count(). */
int cmd_check(struct options *options);
int cmd_dump(struct options *options);
int cmd_jit(struct options *options);
int cmd_record(struct options *options);
int cmd_report(struct options *options);
int cmd_snoop(struct options *options);
int cmd_top(struct options *options);

#endif /* __STACKS_MAIN_H */
