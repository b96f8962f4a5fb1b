// SPDX-License-Identifier: GPL-2.0
#include "sym/symbolizer.h"

/* Larger than any function; programs of BPF are far from each other */
#define MAX_FUNCTION	(1ULL << 20)

struct kernel_symbol {
	__u64 start;
	const char *name;
	const char *module;	/* NULL: none */
	bool is_function;
};

/* Without the right to see addresses all of them are 0, and none is taken. */
static void add_symbol(struct kernel_names *names, char *line)
{
	struct kernel_symbol *symbol;
	char *name, *module;
	__u64 start;

	/* Address, type, name, and perhaps a tab and [module]; there are 200,000 such lines. */
	start = strtoull(line, &name, 16);
	if (!start || strlen(name) < 4)
		return;
	symbol = xpush(names->symbols, names->nr);
	symbol->start = start;
	symbol->name = name + 3;
	module = strchr(name + 3, '\t');
	if (module) {
		*module = 0;
		symbol->module = module + 2;
		module[2 + strcspn(symbol->module, "]")] = 0;
	}
	symbol->is_function = strchr("tTwW", name[1]) && strcmp(symbol->name, "_etext") &&
			      strcmp(symbol->name, "_einittext");
}

/* Of several at one address, a function is the last one. */
static int compare_symbols(const void *left, const void *right)
{
	const struct kernel_symbol *a = left, *b = right;

	return order_of(a->start, b->start) ?: a->is_function - b->is_function ?:
	       strcmp(b->name, a->name);
}

void kernel_names_read(struct kernel_names *names)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *line, *next = NULL;
	size_t size = 0;

	kernel_names_free(names);
	names->is_read = true;
	if (file && getdelim(&names->text, &size, 0, file) > 0)
		next = names->text;
	while ((line = strsep(&next, "\n")))
		add_symbol(names, line);
	if (file)
		fclose(file);
	sort(names->symbols, names->nr, compare_symbols);
}

void kernel_names_free(struct kernel_names *names)
{
	free(names->text);
	free(names->symbols);
	*names = (struct kernel_names){};
}

/*
 * Up to the next symbol, as kallsyms has no sizes. Behind the last symbol of a module or of the
 * image there may be other code, from the next page on.
 */
static bool is_in(const struct kernel_names *names, size_t i, __u64 address)
{
	const struct kernel_symbol *symbol = &names->symbols[i];

	if (!symbol->is_function || address - symbol->start >= MAX_FUNCTION)
		return false;
	if (i + 1 < names->nr && !strcmp(symbol->module ?: "", symbol[1].module ?: ""))
		return true;
	return address < ((symbol->start + PAGE) & ~(PAGE - 1));
}

const char *kernel_names_find(struct kernel_names *names, __u64 address, const char **module)
{
	size_t nr;

	if (!names->is_read)
		kernel_names_read(names);
	nr = count_up_to(names->symbols, names->nr, sizeof(*names->symbols), address);
	*module = NULL;
	if (!nr || !is_in(names, nr - 1, address))
		return NULL;
	*module = names->symbols[nr - 1].module;
	return names->symbols[nr - 1].name;
}
