/* SPDX-License-Identifier: GPL-2.0 */
/* A function of its own, as it is written; clang has only the half of it. */
#pragma once

#if __has_attribute(noipa)
#define NO_IPA	__attribute__((noinline, noipa))
#else
#define NO_IPA	__attribute__((noinline))
#endif
