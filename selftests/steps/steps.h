/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STEPS_STEPS_H
#define STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/user.h>

/* --- util.c */

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;

/* What scripts and plans of the repository know. */
#define EXIT_USAGE	2
#define EXIT_INFRA	3

/* As many frames as are compared; the kernel's limit is about 505. */
#define MAX_FRAMES	512

/* Prints a message and exits with @status. */
void die(int status, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* As calloc() and realloc(), but never fail. */
void *allocate(size_t nr, size_t size);
void *grow(void *array, size_t nr, size_t size);
char *copy_string(const char *text);

/* --- files.c */

#define BUILD_ID_SIZE	20

struct segment {
	u64	offset;
	u64	size;
	u64	vaddr;
};

/* An ELF file; read once, whatever processes map it */
struct file {
	struct file	*next;
	char		*path;
	u8		build_id[BUILD_ID_SIZE];
	size_t		build_id_size;
	struct segment	*segments;
	size_t		nr_segments;
};

struct mapping {
	u64		start;
	u64		end;
	u64		offset;
	struct file	*file;		/* NULL if it is not one */
};

/* The executable mappings of a process */
struct mappings {
	struct mapping	*all;
	size_t		nr;
};

void mappings_read(struct mappings *maps, pid_t pid);
void mappings_free(struct mappings *maps);
const struct mapping *mappings_find(const struct mappings *maps, u64 addr);

/* The address before relocation, as symbol tables and unwind tables have it */
u64 mapping_vaddr(const struct mapping *map, u64 addr);

/* Where the process has offset @offset of the file with that build id, or 0 */
u64 mappings_locate(const struct mappings *maps, const void *build_id, size_t size, u64 offset);

/* Prints the files of all processes so far */
void files_print(void);

/* --- tracee.c */

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

/* --- cases.c */

/* A line of a list: what to step through */
struct step_case {
	char		*name;
	unsigned long	steps;		/* how many in all */
	unsigned long	window;		/* how many at a time; 0: all */
	unsigned int	every;		/* a window begins at each @every-th call of any of @symbols */
	char		*symbols[MAX_BREAKPOINTS];	/* none: at the first instruction */
	size_t		nr_symbols;
	char		**argv;
};

struct step_cases {
	struct step_case	*all;
	size_t			nr;
};

/* Ends the program if the file cannot be read or has an odd line. */
void cases_read(struct step_cases *cases, const char *path);

/* --- kernel.c */

enum kernel_mode {
	MODE_NOW,	/* at once if the kernel can, else completed later */
	MODE_DEFER,	/* always later, where the walk may fault */
	NR_MODES,
};

/* The stack of a step as the kernel found it */
struct kernel_stack {
	bool		taken;		/* there was a capture */
	bool		known;		/* its user stack has arrived */
	bool		at_once;	/* in the capture's own record */
	int		result;		/* what the capture returned */
	u32		stop;		/* enum bpf_stack_stop */
	u32		methods;	/* enum bpf_stack_methods */
	size_t		nr;
	u64		frames[MAX_FRAMES];	/* addresses; 0: not in a mapping */
	bool		exact[MAX_FRAMES];	/* no return address: the first, and after a mark */
};

extern const char *const kernel_mode_names[NR_MODES];

/* Loads and attaches the program. */
void kernel_open(void);
void kernel_close(void);

void kernel_watch(pid_t pid, enum kernel_mode mode);

/*
 * What there is since the last call. The process has to be stopped. Frames are kept
 * as the record has them: kernel_locate() makes addresses of them.
 */
void kernel_take(struct kernel_stack *stack);

/* False if a frame is in a file that the process, by @maps, does not map there. */
bool kernel_locate(struct kernel_stack *stack, const struct mappings *maps);

const char *kernel_stop_name(u32 stop);

/* --- oracle.c */

enum oracle_end {
	END_OUTERMOST,	/* its return address is undefined, says .eh_frame */
	END_UNKNOWN,	/* no .eh_frame for the last address, or memory not readable */
	END_DEPTH,
};

/* The stack as elfutils finds it in .eh_frame, and in nothing else */
struct oracle_stack {
	enum oracle_end	end;
	size_t		nr;
	u64		frames[MAX_FRAMES];
	/*
	 * The address of the next instruction: the first frame, and each frame that a signal
	 * interrupted. All others are return addresses; the call is before them.
	 */
	bool		exact[MAX_FRAMES];
};

/* The process has to be stopped from here to oracle_end(), when it is asked. */
void oracle_begin(pid_t pid);
void oracle_end(void);

/* The process has mapped something else. */
void oracle_refresh(void);
void oracle_take(struct oracle_stack *stack);

/* Has .eh_frame a row for a frame? */
bool oracle_has_row(const struct oracle_stack *stack, size_t i);

/*
 * Does the row for a frame depend on a register that only the innermost frame has: its
 * CFA, or its return address, on another than the stack pointer and the frame pointer?
 */
bool oracle_needs_register(const struct oracle_stack *stack, size_t i);

/*
 * Is the row for a frame of the form that nearly all functions have? For such a row the kernel
 * must have a rule.
 */
bool oracle_is_plain(const struct oracle_stack *stack, size_t i);

/* Name of the function that has @addr, or NULL, and where it is in that */
const char *oracle_symbol(u64 addr, u64 *offset);

/* Address of a function, or 0 */
u64 oracle_address(const char *symbol);

/* --- compare.c */

enum verdict {
	WHOLE,		/* equal to the outermost frame */
	PART,		/* equal, callers included, up to where nobody knows more */
	TOP,		/* the kernel does not support the first rule: only the address is equal */
	UNKNOWN,	/* the first address has no .eh_frame: only that is equal */
	ASTRAY,		/* .eh_frame is wrong: both come to the same that is not code */
	DIFFERENT,
	NR_VERDICTS,
};

struct comparison {
	enum verdict	verdict;
	const char	*why;	/* if different, or where the comparison ended */
	size_t		frame;	/* the last equal frame, or the first frame */
};

void compare(struct comparison *result, const struct kernel_stack *kernel,
	     const struct oracle_stack *oracle, const struct mappings *maps);

#endif
