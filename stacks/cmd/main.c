// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include "cmd/main.h"
#include "util/util.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "check", cmd_check, "what this kernel supports, and how to get what is missing" },
	{ "count", cmd_count, "who calls a function, or meets a tracepoint, how often" },
	{ "diff", cmd_diff, "compare two files of \"record\"" },
	{ "dump", cmd_dump, "what the threads of processes do now, without stopping them" },
	{ "jit", cmd_jit, "give the kernel unwind tables for generated code, as of Java" },
	{ "offcpu", cmd_offcpu, "where a program waits: add up blocked time by stack" },
	{ "profile", cmd_profile, "where a program spends its time: sample its stacks" },
	{ "record", cmd_record, "the same to a file, for \"report\" and \"diff\"" },
	{ "report", cmd_report, "print or convert a file of \"record\"" },
	{ "snoop", cmd_snoop, "print each call of a function with its stack" },
	{ "top", cmd_top, "where programs spend their time now" },
};

static void usage(FILE *out)
{
	size_t i;

	fprintf(out,
		"Usage: stacks COMMAND [OPTIONS]\n"
		"\n"
		"Whole stacks of programs that have no frame pointers.\n"
		"\n"
		"Commands:\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out,
		"\n"
		"\"stacks COMMAND --help\" tells more; --version prints the version.\n"
		"\n"
		"Exit status: 0 good, 1 failed, 2 wrong arguments, 3 the kernel cannot do it.\n");
}

int main(int argc, char **argv)
{
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
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	p_err("unknown command '%s'; see \"stacks --help\"", argv[1]);
	return EXIT_USAGE;
}
