/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_TRACEE_H
#define STEPS_TRACEE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "util.h"

#define MAX_BREAKPOINTS	16

#ifdef __aarch64__
#define REG_IP(r)	((r).pc)
#define REG_SP(r)	((r).sp)
#define REG_FP(r)	((r).regs[29])
#else
#define REG_IP(r)	((r).rip)
#define REG_SP(r)	((r).rsp)
#define REG_FP(r)	((r).rbp)
#endif

/* A process that is stopped, unless it has ended */
struct tracee {
	pid_t			pid;
	bool			ended;
	int			status;		/* then: as of waitpid() */
	int			signal;		/* to deliver when it goes on */
	bool			trapped;	/* it stopped by a trap of its own */
	struct user_regs_struct	regs;
};

/* Starts the program and stops it before its first instruction. */
void tracee_start(struct tracee *tracee, char **argv);
void tracee_kill(struct tracee *tracee);

/* Lets it execute one instruction. */
void tracee_step(struct tracee *tracee);

/* Lets it run until its @hits-th arrival at any of @addrs. */
void tracee_run(struct tracee *tracee, const u64 *addrs, size_t nr, unsigned int hits);

/* Where the program begins when all its libraries are there, or 0 */
u64 tracee_entry(const struct tracee *tracee);

/* Reads up to @size bytes of code, returns how many. */
size_t tracee_code(const struct tracee *tracee, u64 addr, u8 *bytes, size_t size);

#endif
