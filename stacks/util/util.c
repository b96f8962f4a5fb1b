// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdarg.h>
#include <bpf/btf.h>
#include <bpf/hashmap.h>
#include <bpf/libbpf.h>
#include <sys/auxv.h>
#include "util/util.h"

void p_err(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("stacks: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void *check_memory(void *p)
{
	if (p)
		return p;
	p_err("out of memory");
	exit(EXIT_FAILED);
}

/* The room is the next power of two. */
void *xgrow_one(void *array, size_t nr, size_t size)
{
	if (!(nr & (nr - 1)))
		array = check_memory(reallocarray(array, nr ? 2 * nr : 1, size));
	memset((char *)array + nr * size, 0, size);
	return array;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	if (size > bytes->capacity - bytes->size) {
		bytes->capacity = max(2 * bytes->capacity, bytes->size + size);
		bytes->data = check_memory(realloc(bytes->data, bytes->capacity));
	}
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void bytes_put_number(struct bytes *bytes, __u64 number)
{
	__u8 byte;

	do {
		byte = (number & 0x7f) | (number > 0x7f ? 0x80 : 0);
		bytes_put(bytes, &byte, 1);
		number >>= 7;
	} while (number);
}

size_t count_up_to(const void *array, size_t nr, size_t size, __u64 key)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (*(const __u64 *)((const char *)array + mid * size) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int compare_keys(const void *left, const void *right)
{
	return order_of(*(const __u64 *)left, *(const __u64 *)right);
}

/* FNV-1a with a final mix, as tables take the low bits. */
static __u64 hash_from(__u64 h, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

__u64 hash_bytes(const void *data, size_t len)
{
	return hash_from(0xcbf29ce484222325ULL, data, len);
}

/* The kernel has random bytes for each program. */
__u64 hash_secretly(const void *data, size_t len)
{
	__u64 secret;

	memcpy(&secret, (const void *)getauxval(AT_RANDOM), sizeof(secret));
	return hash_from(secret, data, len);
}

void proc_read(__u32 pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, size - 1);
	text[max(n, 0)] = 0;
	if (fd >= 0)
		close(fd);
}

bool kernel_has(const char *name, int kind)
{
	static struct btf *btf;

	btf = btf ?: btf__load_vmlinux_btf();
	return btf && btf__find_by_name_kind(btf, name, kind) > 0;
}

static size_t hash_key(long key, void *ctx)
{
	return hash_bytes(&key, sizeof(key));
}

static bool same_key(long a, long b, void *ctx)
{
	return a == b;
}

bool idmap_get(const struct idmap *map, __u64 key, __u64 *value)
{
	return map->map && hashmap__find(map->map, key, (long *)value);
}

long idmap_find(const struct idmap *map, __u64 key)
{
	__u64 value;

	return idmap_get(map, key, &value) ? (long)value : -1;
}

void idmap_set(struct idmap *map, __u64 key, long value)
{
	if (!map->map)
		map->map = hashmap__new(hash_key, same_key, NULL);
	if (libbpf_get_error(map->map) || hashmap__set(map->map, key, value, NULL, NULL))
		check_memory(NULL);
	map->nr = hashmap__size(map->map);
}

void idmap_free(struct idmap *map)
{
	hashmap__free(map->map);
	*map = (struct idmap){};
}

__u32 strings_number(struct strings *strings, const char *text)
{
	__u64 key = hash_secretly(text, strlen(text));
	long i;

	for (; (i = idmap_find(&strings->index, key)) >= 0; key++) {
		if (!strcmp(strings->strings[i], text))
			return i;
	}
	idmap_set(&strings->index, key, strings->nr);
	*xpush(strings->strings, strings->nr) = xstrdup(text);
	return strings->nr - 1;
}

/*
 * Bytes of the character at @text; 0: it is not UTF-8, it is longer than needed, XML does not have
 * it, or it is a control character. To terminals, U+0080 to U+009F are such characters, too.
 */
static size_t printable_size(const char *text)
{
	static const __u32 least[] = { 0, ' ', 0xa0, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t i, n = *s < 0x80 ? 1 : *s < 0xc0 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	__u32 c = n > 1 ? *s & (0x7f >> n) : *s;

	/* The 0 at the end is no such byte, so nothing behind it is looked at. */
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
	       c == 0xffff || c > 0x10ffff || *s >= 0xf8 ? 0 : n;
}

void make_printable(char *text)
{
	size_t n;

	for (; *text; text += n ?: 1) {
		n = printable_size(text);
		if (!n)
			*text = '?';
	}
}

const char *strings_format(struct strings *strings, const char *fmt, ...)
{
	va_list args;
	__u32 number;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	make_printable(check_memory(n < 0 ? NULL : text));
	number = strings_number(strings, text);
	free(text);
	return strings->strings[number];
}

void strings_free(struct strings *strings)
{
	size_t i;

	for (i = 0; i < strings->nr; i++)
		free(strings->strings[i]);
	free(strings->strings);
	idmap_free(&strings->index);
	*strings = (struct strings){};
}
