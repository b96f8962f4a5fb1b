/* SPDX-License-Identifier: GPL-2.0 */
#pragma once
#include <stddef.h>

void fuzz_jit(const unsigned char *data, size_t size);
