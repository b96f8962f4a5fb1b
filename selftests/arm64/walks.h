/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ARM64_WALKS_H
#define ARM64_WALKS_H

/* Code of its own section, so that it is known where the function begins and ends */
#define PART(name) __attribute__((noinline, section("part_" #name)))

/* In a file without SFrame: calls @fn, with a frame record in the middle of its frame. */
long untabled(long (*fn)(long), long n);

/* Signal handlers, the second one in that file, too */
void handler(int signal);
void untabled_handler(int signal);

#endif
