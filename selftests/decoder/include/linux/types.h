/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t		u8;
typedef uint16_t	u16;
typedef uint32_t	u32;
typedef uint64_t	u64;
typedef int8_t		s8;
typedef int16_t		s16;
typedef int32_t		s32;
typedef int64_t		s64;
typedef unsigned int	gfp_t;

#define likely(c)	__builtin_expect(!!(c), 1)
#define unlikely(c)	__builtin_expect(!!(c), 0)
#define noinline	__attribute__((noinline))

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define S32_MAX		INT32_MAX
#define S32_MIN		INT32_MIN
#define S64_MAX		INT64_MAX
#define S64_MIN		INT64_MIN

#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif

#ifndef noinline
#define noinline	__attribute__((noinline))
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BUILD_BUG_ON(c)	_Static_assert(!(c), #c)

#endif
