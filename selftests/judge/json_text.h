/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __STACKS_JSON_TEXT_H
#define __STACKS_JSON_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* @s in quotes, as UTF-8; each byte that is none as U+FFFD */
void json_string(FILE *out, const char *s);

/* "@name": @value, after a comma unless it is the @first; which it is no more then */
void json_field(FILE *out, const char *name, __u64 value, bool *first);

#endif /* __STACKS_JSON_TEXT_H */
