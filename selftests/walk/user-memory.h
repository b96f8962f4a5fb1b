/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of the captured task. All designs read it in the same way.
 */
#ifndef WALK_USER_MEMORY_H
#define WALK_USER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The stack that is walked now
 * @start: user address
 * @size: number of addresses that a word can be read from
 * @delta: from a user address to the copy
 */
struct user_memory {
	unsigned long start;
	unsigned long size;
	unsigned long delta;
};

extern struct user_memory user_memory;

/* Code and data of files, which a walk rarely reads. Return: the copy, or NULL */
const void *user_far(unsigned long address);

/* The compare stands for the fault of the kernel's access, which costs nothing. */
static inline __attribute__((always_inline)) const void *user_at(unsigned long address)
{
	if (__builtin_expect(address - user_memory.start < user_memory.size, 1))
		return (const void *)(address + user_memory.delta);
	return user_far(address);
}

/* As the kernel does it, with the same constant for all addresses */
static inline __attribute__((always_inline)) unsigned long user_mask(unsigned long address)
{
	asm("cmp %1, %0\n\tcmova %1, %0" : "+r" (address) : "r" (0x7ffffffff000UL) : "cc");
	return address;
}

#endif
