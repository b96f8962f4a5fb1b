/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stacks alloc: blocks of memory from their allocation to their free, and the sums of what is left.
 * A part of events.bpf.c, whose maps and filters it uses.
 */
/* An exec replaces the address space: the same address is another block then. */
struct block_key {
	__u64 address;
	__u32 tgid;
	__u32 exec_id;
};

/* Allocated memory that is not freed yet */
struct block {
	__u64 size;
	__u64 user;		/* as in struct count_key */
	__u64 is_cookie;
	struct who who;
};

/* Its size is set before the load. There may be a million blocks, so none is preallocated. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct block_key);
	__type(value, struct block);
} blocks SEC(".maps");

/* The allocation that a thread is in */
struct alloc_call {
	__u64 sp;		/* at its entry; 0: the thread is in none */
	__u64 out;		/* where posix_memalign() stores the address; or 0 */
	__u64 moved;		/* address of @old, or 0 */
	struct block old;	/* what realloc() was given */
	struct block new;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct alloc_call);
} alloc_calls SEC(".maps");

static struct block_key key_of_block(__u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return (struct block_key){ address, task->tgid, task->group_leader->self_exec_id };
}

/*
 * Called at the entry of free(): once it frees the block, another thread may get the address. Any
 * thread may free a block, so no filter applies. Returns false if the block is not known.
 */
static bool take_block(__u64 address, struct block *old)
{
	struct block_key key = key_of_block(address);
	struct block *block = address ? bpf_map_lookup_elem(&blocks, &key) : NULL;

	if (block && old)
		*old = *block;
	return block && !bpf_map_delete_elem(&blocks, &key);
}

static void put_block(__u64 address, const struct block *block)
{
	struct block_key key = key_of_block(address);
	struct event_stats *s = get_stats();
	long error;

	add(&s->no_free, take_block(address, NULL));
	error = bpf_map_update_elem(&blocks, &key, block, BPF_ANY);
	if (error)
		add(error == -E2BIG ? &s->full : &s->busy, 1);
}

/*
 * Functions of allocators call each other: only the outermost call counts. The stack grows down, so
 * an entry at or above the last one was a jump from it, or the last call will never return.
 * Returns 1 if the return of this call does not matter.
 */
static int begin_alloc(struct pt_regs *ctx, __u64 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct alloc_call *call = bpf_task_storage_get(&alloc_calls, task, NULL, 0);
	__u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx), sp = PT_REGS_SP(ctx);
	bool wanted = kind != ALLOC_FREE && is_wanted();
	struct bpf_stack_capture io = CAPTURE(BPF_STACK_USER);
	struct event_stats *s = get_stats();
	int result;

	if (kind == ALLOC_FREE || (kind == ALLOC_REALLOC && !wanted))
		add(&s->freed, take_block(first, NULL));
	if (!wanted || (call && call->sp > sp))
		return 1;
	call = call ?: bpf_task_storage_get(&alloc_calls, task, NULL,
					    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call) {
		add(&s->events, 1);
		add(&s->busy, 1);
		return 1;
	}
	/* A realloc() that jumped to this one has taken the block already. */
	if (call->sp != sp || call->moved != first || kind != ALLOC_REALLOC) {
		call->moved = kind == ALLOC_REALLOC && take_block(first, &call->old) ? first : 0;
		add(&s->freed, !!call->moved);
	}
	call->sp = sp;
	call->out = kind == ALLOC_POSIX_MEMALIGN ? first : 0;
	call->new.size = kind == ALLOC_MALLOC ? first : kind == ALLOC_CALLOC ? first * second :
			 kind == ALLOC_POSIX_MEMALIGN ? PT_REGS_PARM3(ctx) : second;
	result = bpf_stack_capture(ctx, &records, &objects, &io, sizeof(io));
	if (result > 0)
		add(&s->pending, 1);
	count_error(result);
	call->new.user = io.cookie ?: io.user;
	call->new.is_cookie = !!io.cookie;
	set_who(&call->new.who, task);
	return 0;
}

static int end_alloc(__u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct alloc_call *call = bpf_task_storage_get(&alloc_calls, task, NULL, 0);
	struct event_stats *s = get_stats();
	long error = 0;

	if (!call || !call->sp)
		return 0;
	call->sp = 0;
	/* posix_memalign() returns an errno, and stores the address. */
	if (call->out && address)
		address = 0;
	else if (call->out)
		error = bpf_probe_read_user(&address, sizeof(address), (void *)call->out);
	/* A failed realloc() keeps the block, one to 0 bytes frees it and returns NULL. */
	if (call->moved && !address && call->new.size) {
		put_block(call->moved, &call->old);
		add(&s->freed, -1);
	}
	add(&s->events, error || address);
	add(&s->busy, !!error);
	if (address)
		put_block(address, &call->new);
	return 0;
}

/* Probes are detached one by one: @over freezes the blocks before the first of them goes. */
SEC("uprobe.session")
int on_alloc(struct pt_regs *ctx)
{
	if (over)
		return 1;
	return bpf_session_is_return(ctx) ? end_alloc(PT_REGS_RC(ctx)) :
					    begin_alloc(ctx, bpf_get_attach_cookie(ctx));
}

static long count_block(void *map, struct block_key *block_key, struct block *block, void *ctx)
{
	struct count one = { .events = 1, .ns = block->size };
	struct count_key key = {
		.user = block->user, .is_cookie = block->is_cookie, .who = block->who,
	};

	count(get_stats(), &key, &one);
	return 0;
}

/* Sums are made once, at the end, so that a call updates one map only. */
SEC("syscall")
int count_blocks(void *ctx)
{
	bpf_for_each_map_elem(&blocks, count_block, NULL, 0);
	return 0;
}
