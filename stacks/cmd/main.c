// SPDX-License-Identifier: GPL-2.0
#include "cmd/main.h"
#include "session/session.h"

#define COMMAND_DOC	"[-- COMMAND [ARG...]]"
#define PROBES_DOC	"PROBE... [-- COMMAND [ARG...]]"
#define PROBES_HELP \
	"\v" \
	"What is probed; FUNC, SYSTEM and NAME may be patterns, with * and ?, but for ur:\n\n" \
	"  FUNC, kr:FUNC              a function of the kernel, or of a module; its return\n" \
	"  t:SYSTEM:NAME              a tracepoint, or another event that tracefs lists\n" \
	"  u:FILE:FUNC, ur:FILE:FUNC  a function of a program or library; its return\n" \
	"  U:FILE:PROVIDER:NAME       a static probe (USDT) of a program or library\n\n" \
	"FILE is a path, or a name that is searched as programs and libraries are " \
	"(u:libc.so.6:malloc); FUNC of a file is mangled for C++ and Rust."

static const struct command commands[] = {
	{ "alloc", CMD_ALLOC, "memory that is not freed: bytes and blocks by stack", COMMAND_DOC,
		"Adds up by user stack the memory that is allocated during the measurement, and "
		"not freed at its end: of COMMAND and all that it starts, of processes (-p), or of "
		"all but this one. Probes malloc() and its relatives in libc, in files that the "
		"processes have mapped, in COMMAND, and in the file of -l.",
		session_count },
	{ "check", CMD_CHECK, "what this kernel supports, and how to get what is missing", "[FILE]",
		"Tells what the running kernel and your rights allow, and for what is missing (NO, "
		"or - if there is a way without it) how to get it. Of FILE, or of all code of a "
		"process (-p): which unwind information it has, what the kernel makes of it, and "
		"where walks of the process's threads end.\v"
		"Exit status: 0 all that is needed is there, 1 you may not, or a file has no table, "
		"2 wrong arguments, 3 the kernel cannot do it.", cmd_check },
	{ "count", CMD_COUNT, "who calls a function, or meets a tracepoint, how often", PROBES_DOC,
		"Counts by which stacks functions of the kernel or of programs are called, or "
		"tracepoints are met. With COMMAND, only events of it and of all that it starts."
		PROBES_HELP, session_count },
	{ "diff", CMD_DIFF, "compare two files of \"record\"", "BEFORE AFTER",
		"Compares two files of \"stacks record\": functions by how their shares have "
		"changed, flame graphs (AFTER, in which red has become more and blue less), and "
		"folded stacks with two numbers.", cmd_report },
	{ "dump", CMD_DUMP, "what the threads of processes do now, without stopping them", NULL,
		"Prints the stacks of all threads of processes (-p), or of all but this one: equal "
		"stacks once, with their threads and what these do, as ps has it. Nothing is "
		"stopped, so a thread that runs has no stack.", cmd_dump },
	{ "jit", CMD_JIT, "give the kernel unwind tables for generated code, as of Java", NULL,
		"Gives the kernel unwind tables for code that processes generate while they run, "
		"so that perf, bpftrace and stacks have complete stacks of it, and writes names of "
		"the code where they look for them. Now: OpenJDK's HotSpot 17 to 25 on x86-64, "
		"which needs no options. All goes when this program ends.", cmd_jit },
	{ "offcpu", CMD_OFFCPU, "where a program waits: add up blocked time by stack", COMMAND_DOC,
		"Adds up the time for which threads are blocked, by kernel and user stack: of "
		"COMMAND and all that it starts, of processes (-p), or of all but this one. A "
		"thread is blocked from the switch to another one to its wake-up; the time from "
		"there until it runs is counted apart.", session_count },
	{ "profile", CMD_PROFILE, "where a program spends its time: sample its stacks", COMMAND_DOC,
		"Samples the stacks of COMMAND and all that it starts, of processes (-p), or of "
		"all on all CPUs. Where a program waits is shown by \"stacks offcpu\".",
		session_count },
	{ "record", CMD_RECORD, "the same to a file, for \"report\" and \"diff\"", COMMAND_DOC,
		"Samples as \"stacks profile\", and writes a file for \"stacks report\" and "
		"\"stacks diff\": the stacks as the kernel sends them. Without -o it is "
		"stacks.stacks.", cmd_record },
	{ "report", CMD_REPORT, "print or convert a file of \"record\"", "FILE",
		"Prints or converts what \"stacks record\", or another command with -o *.stacks, "
		"has written. The file may be from another machine: functions are looked up in "
		"files that have the same path and build id, or else by the build id.",
		cmd_report },
	{ "snoop", CMD_SNOOP, "print each call of a function with its stack", PROBES_DOC,
		"Prints each call of a function of the kernel or of a program, or each time that a "
		"tracepoint is met: when, by whom, and the stacks. The user stack may come later; "
		"the event is printed then, but after a second at the latest. Time is in seconds "
		"since this began. What this program does itself is left out, and names are not "
		"asked for at debuginfod. Only text is written, to standard output." PROBES_HELP,
		cmd_snoop },
	{ "top", CMD_TOP, "where programs spend their time now", COMMAND_DOC,
		"Shows in which functions samples are, and in what they call, again and again. "
		"Takes samples as \"stacks profile\".", cmd_top },
};

static void usage(FILE *out)
{
	size_t i;

	fprintf(out,
		"Usage: stacks COMMAND [OPTIONS]\n"
		"\n"
		"Complete stacks of programs that have no frame pointers.\n"
		"\n"
		"Commands:\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out,
		"\n"
		"\"stacks COMMAND --help\" tells more; --version prints the version.\n"
		"\n"
		"Exit status: that of COMMAND, or 0 good, 1 failed, 2 wrong arguments, 3 the kernel cannot do it.\n");
}

int main(int argc, char **argv)
{
	struct options options;
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("stacks " STACKS_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		usage(stdout);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		options_parse(&options, &commands[i], argc - 1, argv + 1);
		return commands[i].run(&options);
	}
	p_err("unknown command '%s'; see \"stacks --help\"", argv[1]);
	return EXIT_USAGE;
}
