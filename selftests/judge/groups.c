// SPDX-License-Identifier: GPL-2.0
/* Folds samples: those with the same functions on their stacks become one line. */
#include <stdlib.h>
#include <string.h>
#include "judge.h"

/* Samples with the very same stacks. */
struct triple {
	const struct stack *kernel;
	const struct stack *user;
	const struct stack *raw;
	const struct sample *example;
	__u64 count;
	__u64 raw_hash;		/* of the names on the raw stack */
	__u32 tgid;
	__u32 group;
};

struct triples {
	struct triple *triples;
	size_t nr;
	size_t max;
};

static int compare_pointers(const void *a, const void *b)
{
	return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample *a = *(const struct sample *const *)left;
	const struct sample *b = *(const struct sample *const *)right;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return compare_pointers(a->kernel, b->kernel) ?:
	       compare_pointers(a->user.stack, b->user.stack) ?:
	       compare_pointers(a->raw, b->raw) ?: compare_pointers(a, b);
}

static void add_triple(struct triples *triples, const struct sample *sample)
{
	struct triple *last = triples->nr ? &triples->triples[triples->nr - 1] : NULL;

	if (last && last->tgid == sample->tgid && last->kernel == sample->kernel &&
	    last->user == sample->user.stack && last->raw == sample->raw) {
		last->count++;
		return;
	}
	triples->triples = xgrow(triples->triples, &triples->max, triples->nr + 1,
				 sizeof(*triples->triples));
	triples->triples[triples->nr++] = (struct triple){
		.kernel = sample->kernel,
		.user = sample->user.stack,
		.raw = sample->raw,
		.example = sample,
		.tgid = sample->tgid,
		.count = 1,
	};
}

static void make_triples(const struct samples *samples, struct triples *triples)
{
	const struct sample **sorted = xcalloc(samples->nr_samples, sizeof(*sorted));
	size_t i, nr = 0;

	for (i = 0; i < samples->nr_samples; i++) {
		if (samples->samples[i].has_record)
			sorted[nr++] = &samples->samples[i];
	}
	qsort(sorted, nr, sizeof(*sorted), compare_samples);
	for (i = 0; i < nr; i++)
		add_triple(triples, sorted[i]);
	free(sorted);
}

/* Names have no blanks or semicolons in a folded line. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' || *name == ' ' || *name == '\n' ? '_' : *name, out);
}

/* By the names that are shown. */
static void put_stack(FILE *out, struct profile *profile, const struct stack *stack,
		      __u32 tgid, const char *suffix)
{
	const struct location *location;
	size_t at;
	__u32 i;

	for (i = stack ? stack->nr : 0; i-- > 0;) {
		location = symbolizer_locate(profile->symbolizer, tgid, stack, i);
		for (at = location->nr; at-- > 0;) {
			fputc(';', out);
			put_name(out, location->functions[at].name);
			fputs(suffix, out);
		}
	}
}

/*
 * Process, then outermost frame first. A stack whose begin is not known says so, or else it would
 * pass for one that starts in the middle of the program.
 */
static char *fold(struct profile *profile, const struct triple *triple)
{
	size_t size;
	char *text;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return xstrdup("");
	fprintf(out, "%u", triple->tgid);
	if (triple->user && !symbolizer_has_begin(profile->symbolizer, triple->tgid, triple->user))
		fputs(";[incomplete]", out);
	put_stack(out, profile, triple->user, triple->tgid, "");
	put_stack(out, profile, triple->kernel, triple->tgid, "_[k]");
	fclose(out);
	return text;
}

/* Wrong addresses differ from sample to sample, and say nothing. */
static __u64 hash_raw(struct profile *profile, const struct stack *stack, __u32 tgid)
{
	const struct location *location;
	const char *name;
	__u64 hash = 0;
	__u32 i;

	for (i = 0; stack && i < stack->nr; i++) {
		location = symbolizer_locate(profile->symbolizer, tgid, stack, i);
		name = location->kind == LOCATION_UNKNOWN ? "" : location_function(location)->name;
		hash = hash * 31 + hash_bytes(name, strlen(name)) + 1;
	}
	return hash;
}

static struct group *find_group(struct groups *groups, struct idmap *index, char *folded)
{
	__u64 hash = hash_bytes(folded, strlen(folded));
	long i;

	/* Another text with this hash has the next key. */
	for (; (i = idmap_find(index, hash)) >= 0; hash++) {
		if (!strcmp(groups->groups[i].folded, folded)) {
			free(folded);
			return &groups->groups[i];
		}
	}
	groups->groups = xgrow(groups->groups, &groups->max, groups->nr + 1,
			       sizeof(*groups->groups));
	groups->groups[groups->nr] = (struct group){ .folded = folded };
	idmap_set(index, hash, groups->nr);
	return &groups->groups[groups->nr++];
}

static int compare_by_group_and_raw(const void *left, const void *right)
{
	const struct triple *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->raw_hash < b->raw_hash ? -1 : a->raw_hash > b->raw_hash;
}

/* @triples are sorted by group and names of the raw stack. */
static void find_common_raw(struct groups *groups, const struct triples *triples)
{
	__u64 count = 0;
	size_t i;

	for (i = 0; i < triples->nr; i++) {
		const struct triple *triple = &triples->triples[i];
		struct group *group = &groups->groups[triple->group];

		if (i && !compare_by_group_and_raw(triple - 1, triple)) {
			count += triple->count;
		} else {
			count = triple->count;
			group->nr_raw++;
		}
		if (count > group->raw_count) {
			group->raw_count = count;
			group->raw = triple->raw;
		}
	}
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->folded, b->folded);
}

void groups_make(struct profile *profile, struct groups *groups)
{
	struct triples triples = {};
	struct idmap index = {};
	size_t i;

	*groups = (struct groups){};
	make_triples(&profile->samples, &triples);
	for (i = 0; i < triples.nr; i++) {
		struct triple *triple = &triples.triples[i];
		struct group *group;

		progress_show("names of stack %zu of %zu", i + 1, triples.nr);
		group = find_group(groups, &index, fold(profile, triple));
		group->example = group->example ?: triple->example;
		group->count += triple->count;
		if (verdict_whole(&profile->code, &triple->example->user))
			group->whole += triple->count;
		triple->group = group - groups->groups;
		triple->raw_hash = hash_raw(profile, triple->raw, triple->tgid);
	}
	progress_end();
	if (triples.nr) {
		qsort(triples.triples, triples.nr, sizeof(*triples.triples),
		      compare_by_group_and_raw);
		find_common_raw(groups, &triples);
		qsort(groups->groups, groups->nr, sizeof(*groups->groups), compare_groups);
	}
	free(triples.triples);
	idmap_free(&index);
}

void groups_free(struct groups *groups)
{
	size_t i;

	for (i = 0; i < groups->nr; i++)
		free(groups->groups[i].folded);
	free(groups->groups);
}
