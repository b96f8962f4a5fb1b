/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __STACKS_DEMANGLE_H
#define __STACKS_DEMANGLE_H

/*
 * What the source calls the function that the symbol @name belongs to: of C++, with its
 * parameters, and of Rust, without the hash. NULL if @name is not mangled, or is wrong, or stands
 * for more than 4 KiB, or takes longer than 100 ms, or ten others did. To be freed.
 */
char *demangle(const char *name);

#endif /* __STACKS_DEMANGLE_H */
