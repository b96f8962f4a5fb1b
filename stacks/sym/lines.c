// SPDX-License-Identifier: GPL-2.0
/*
 * dwarf_getscopes() looks at all of a unit each time, which may have 100,000 entries: functions
 * are sorted once for each unit that is met.
 */
#include <dwarf.h>
#include "sym/symbols.h"

/* How many functions before an address to try: one may lie in another one */
#define MAX_BACK	16

/* Of namespaces in each other */
#define MAX_DEPTH	64

struct range {
	__u64 start;
	__u64 end;
	Dwarf_Die function;
};

struct lines_unit {
	struct range *ranges;
	size_t nr;
};

static void add_function(struct lines_unit *unit, Dwarf_Die *function)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &start, &end)) > 0)
		*xpush(unit->ranges, unit->nr) = (struct range){ start, end, *function };
}

/*
 * Compilers put functions with code there, and only declarations into classes, in which
 * dwarf_getfuncs() would look, too.
 */
static void add_functions(struct lines_unit *unit, Dwarf_Die parent, int depth)
{
	Dwarf_Die die;
	int error;

	for (error = dwarf_child(&parent, &die); !error; error = dwarf_siblingof(&die, &die)) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(unit, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			if (depth < MAX_DEPTH)
				add_functions(unit, die, depth + 1);
		}
	}
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return order_of(a->start, b->start) ?: order_of(b->end, a->end);
}

static const struct lines_unit *unit_of(struct lines *lines, Dwarf_Die *die)
{
	__u64 key = (uintptr_t)die->addr;
	long known = idmap_find(&lines->index, key);
	struct lines_unit *unit;

	if (known >= 0)
		return &lines->units[known];
	idmap_set(&lines->index, key, lines->nr);
	unit = xpush(lines->units, lines->nr);
	add_functions(unit, *die, 0);
	sort(unit->ranges, unit->nr, compare_ranges);
	return unit;
}

/* false: @pc is in no function of the unit. */
static bool find_function(const struct lines_unit *unit, Dwarf_Addr pc, Dwarf_Die *function)
{
	size_t nr = count_up_to(unit->ranges, unit->nr, sizeof(*unit->ranges), pc), i;

	for (i = nr; i-- > 0 && nr - i <= MAX_BACK;) {
		if (pc < unit->ranges[i].end) {
			*function = unit->ranges[i].function;
			return true;
		}
	}
	return false;
}

/* Goes to the block in @die, or to the function that is inlined in it, that has @pc. */
static bool go_down(Dwarf_Die *die, Dwarf_Addr pc)
{
	int error, tag;

	for (error = dwarf_child(die, die); !error; error = dwarf_siblingof(die, die)) {
		tag = dwarf_tag(die);
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    dwarf_haspc(die, pc) > 0)
			return true;
	}
	return false;
}

/* Inlined functions around @pc, the outermost first */
static size_t find_inlined(Dwarf_Die die, Dwarf_Addr pc, Dwarf_Die *inlined)
{
	size_t nr = 0;

	while (nr < LINES_MAX - 1 && go_down(&die, pc)) {
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			inlined[nr++] = die;
	}
	return nr;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ?: dwarf_diename(die) ?: "[inlined]";
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0;

	if (dwarf_attr(die, name, &attribute))
		dwarf_formudata(&attribute, &number);
	return number;
}

/* Where @inlined was called */
static struct source call_of(Dwarf_Die *unit, Dwarf_Die *inlined)
{
	struct source source = { .line = number_of(inlined, DW_AT_call_line) };
	Dwarf_Files *files;
	size_t nr;

	if (source.line && !dwarf_getsrcfiles(unit, &files, &nr))
		source.file = dwarf_filesrc(files, number_of(inlined, DW_AT_call_file), NULL, NULL);
	return source;
}

size_t lines_find(struct lines *lines, Dwfl_Module *module, GElf_Addr address,
		  struct source *sources)
{
	Dwarf_Die *unit, function, inlined[LINES_MAX];
	size_t nr = 0, i;
	Dwarf_Addr bias;
	Dwarf_Line *line;

	unit = dwfl_module_addrdie(module, address, &bias);
	if (!unit)
		return 0;
	if (find_function(unit_of(lines, unit), address - bias, &function))
		nr = find_inlined(function, address - bias, inlined);
	line = dwarf_getsrc_die(unit, address - bias);
	sources[0] = (struct source){};
	if (line && !dwarf_lineno(line, &sources[0].line) && sources[0].line)
		sources[0].file = dwarf_linesrc(line, NULL, NULL);
	for (i = 0; i < nr; i++) {
		sources[i].function = name_of(&inlined[nr - 1 - i]);
		sources[i + 1] = call_of(unit, &inlined[nr - 1 - i]);
	}
	return nr + 1;
}

void lines_free(struct lines *lines)
{
	size_t i;

	for (i = 0; i < lines->nr; i++)
		free(lines->units[i].ranges);
	free(lines->units);
	idmap_free(&lines->index);
}
