/* SPDX-License-Identifier: GPL-2.0 */
/* json-c without results: these do not return without memory. */
#pragma once

#include <json.h>
#include "util/util.h"

/* Of a text that is right; names and texts may be in single quotes. */
struct json_object *json_parse(const char *text);
/* NULL is no memory. */
void json_put(struct json_object *object, const char *name, struct json_object *value);
void json_put_number(struct json_object *object, const char *name, __u64 number);
/* NULL: nothing */
void json_put_text(struct json_object *object, const char *name, const char *text);
/* NULL is null. */
void json_append(struct json_object *array, struct json_object *value);
/* As JSON_C_TO_STRING_*; then it is freed. */
void json_print(struct json_object *object, int flags, FILE *file);
