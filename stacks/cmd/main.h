/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __STACKS_MAIN_H
#define __STACKS_MAIN_H

/* Commands return an exit code. */
int cmd_check(int argc, char **argv);
int cmd_count(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_jit(int argc, char **argv);
int cmd_offcpu(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_snoop(int argc, char **argv);
int cmd_top(int argc, char **argv);

#endif /* __STACKS_MAIN_H */
