/* SPDX-License-Identifier: GPL-2.0 */
/* The PLT: code by which a file calls functions of others. It has no symbols. */
#ifndef __STACKS_PLT_H
#define __STACKS_PLT_H

#include <gelf.h>

typedef void (*plt_fn)(void *arg, GElf_Addr start, GElf_Xword size, const char *name);

/* Calls @fn for each entry, with the name of the function that it jumps to. */
void plt_read(Elf *elf, plt_fn fn, void *arg);

#endif /* __STACKS_PLT_H */
