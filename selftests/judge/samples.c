// SPDX-License-Identifier: GPL-2.0
/* Takes in the records of the kernel, and joins the halves of a sample. */
#include <stdlib.h>
#include <string.h>
#include "judge.h"

void samples_init(struct samples *samples, struct stacks *stacks)
{
	*samples = (struct samples){ .stacks = stacks, .raw.objects = stacks->objects };
}

void samples_free(struct samples *samples)
{
	raw_stacks_free(&samples->raw);
	free(samples->samples);
	free(samples->completions);
	idmap_free(&samples->cookies);
	idmap_free(&samples->tags);
}

static struct user_part user_of(const struct samples *samples, const struct bpf_stack_view *record)
{
	return (struct user_part){
		.stack = stacks_find(samples->stacks, record->rec->user),
		.stop = record->rec->user_stop,
		.flags = record->rec->flags,
	};
}

static struct sample *sample_by_tag(struct samples *samples, __u64 tag)
{
	long index = idmap_find(&samples->tags, tag);

	if (index >= 0)
		return &samples->samples[index];
	samples->samples = xgrow(samples->samples, &samples->max_samples, samples->nr_samples + 1,
				 sizeof(*samples->samples));
	idmap_set(&samples->tags, tag, samples->nr_samples);
	return &samples->samples[samples->nr_samples++];
}

static bool add_sample(struct samples *samples, const struct bpf_stack_view *record)
{
	struct sample *sample = sample_by_tag(samples, record->rec->tag);

	if (sample->has_record)
		return false;
	sample->has_record = true;
	sample->pid = record->rec->pid;
	sample->tgid = record->rec->tgid;
	sample->cookie = record->rec->cookie;
	sample->pending = record->rec->flags & BPF_STACK_RECORD_PENDING;
	sample->kernel = stacks_find(samples->stacks, record->rec->kernel);
	sample->user = user_of(samples, record);
	samples->nr_sample_records++;
	return true;
}

static bool add_completion(struct samples *samples, const struct bpf_stack_view *record)
{
	__u64 cookie = record->rec->cookie;

	if (!cookie)
		return false;
	samples->nr_completion_records++;
	if (idmap_find(&samples->cookies, cookie) >= 0) {
		samples->nr_repeated++;
		return true;
	}
	samples->completions = xgrow(samples->completions, &samples->max_completions,
				     samples->nr_completions + 1, sizeof(*samples->completions));
	samples->completions[samples->nr_completions] = (struct completion){
		.user = user_of(samples, record),
		.cookie = cookie,
		.pid = record->rec->pid,
	};
	idmap_set(&samples->cookies, cookie, samples->nr_completions++);
	return true;
}

void samples_add_record(struct samples *samples, const struct bpf_stack_view *record)
{
	bool good = false;

	if (record->rec->drops > samples->drops)
		samples->drops = record->rec->drops;
	if (record->rec->type == BPF_STACK_RECORD_SAMPLE)
		good = add_sample(samples, record);
	else if (record->rec->type == BPF_STACK_RECORD_COMPLETION)
		good = add_completion(samples, record);
	samples->nr_malformed += !good;
}

void samples_add_raw(struct samples *samples, const void *data, size_t size)
{
	const struct raw_stack *raw = data;
	struct sample *sample = NULL;

	if (size >= offsetof(struct raw_stack, ips) &&
	    (raw->len <= 0 || size >= offsetof(struct raw_stack, ips) + raw->len))
		sample = sample_by_tag(samples, raw->tag);
	if (!sample || sample->has_raw) {
		samples->nr_malformed++;
		return;
	}
	samples->nr_raw_records++;
	sample->has_raw = true;
	sample->pid = raw->pid;
	sample->tgid = raw->tgid;
	sample->raw = raw_stacks_add(&samples->raw, raw->tgid, raw->ips,
				     raw->len > 0 ? raw->len / sizeof(raw->ips[0]) : 0);
}

/* A cookie names an entry to the kernel, during which many samples may be taken. */
static void join(struct samples *samples, struct sample *sample)
{
	long index = idmap_find(&samples->cookies, sample->cookie);
	struct completion *completion;

	if (index < 0 || samples->completions[index].pid != sample->pid) {
		samples->nr_pending++;
		return;
	}
	completion = &samples->completions[index];
	completion->used = true;
	sample->user = completion->user;
	sample->pending = false;
}

void samples_join(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->nr_samples; i++) {
		if (samples->samples[i].pending)
			join(samples, &samples->samples[i]);
	}
	for (i = 0; i < samples->nr_completions; i++)
		samples->nr_unclaimed += !samples->completions[i].used;
}
