// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual calls, containers and algorithms (templates, so compiled here), closures,
 * exceptions that leave several frames with objects to destroy, aligned frames, frames of
 * variable size, calls that do not return, signals.
 */
#include <alloca.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

namespace {

volatile double sink;

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	virtual std::string name() const = 0;
};

struct circle : shape {
	double r;
	explicit circle(double r) : r(r) {}
	double area() const override { return 3.14159265358979 * r * r; }
	std::string name() const override { return "a circle whose name is long"; }
};

struct named {
	virtual ~named() = default;
	virtual size_t length() const = 0;
};

/* A second base: calls through it adjust "this" and jump on. */
struct polygon : shape, named {
	std::vector<std::array<double, 2>> points;

	explicit polygon(int n)
	{
		for (int i = 0; i < n; i++)
			points.push_back({double(i * i % 7), double(i * 5 % 11)});
	}
	double area() const override
	{
		double sum = 0;

		for (size_t i = 0; i < points.size(); i++) {
			const auto &a = points[i], &b = points[(i + 1) % points.size()];

			sum += a[0] * b[1] - a[1] * b[0];
		}
		return sum / 2;
	}
	std::string name() const override { return "polygon " + std::string(points.size(), '#'); }
	size_t length() const override { return points.size(); }
};

struct guard {
	std::vector<int> &log;
	int number;
	NOINLINE ~guard() { log.push_back(number); }
};

[[noreturn]] NOINLINE void fail(int depth)
{
	if (depth % 3 == 0)
		throw std::runtime_error("deep");
	throw depth;
}

NOINLINE int dive(int depth, std::vector<int> &log)
{
	guard g{log, depth};

	if (depth > 0)
		return dive(depth - 1, log) + 1;
	fail(int(log.capacity()) % 5);
}

extern "C" NOINLINE int exceptions(int depth)
{
	std::vector<int> log;

	try {
		try {
			return dive(depth, log);
		} catch (const std::runtime_error &e) {
			log.push_back(int(strlen(e.what())));
			throw;
		}
	} catch (const std::exception &) {
		log.push_back(-1);
	} catch (int n) {
		log.push_back(n);
	}
	return std::accumulate(log.begin(), log.end(), 0);
}

struct alignas(64) wide {
	double v[8];
};

NOINLINE double use(wide &w, char *room, size_t n)
{
	memset(room, 1, n);
	return w.v[3] + room[n / 2];
}

/* The frame is aligned to more than a call guarantees, and of a variable size */
extern "C" NOINLINE double aligned(size_t n)
{
	wide w{};
	char *room = static_cast<char *>(alloca(n));

	w.v[3] = double(n);
	return use(w, room, n) + (n > 40 ? aligned(n - 40) : 0);
}

extern "C" NOINLINE double many(int a, int b, int c, int d, int e, int f, int g, int h, double i, long double j)
{
	return a + b * c - d * e + f * g - h + i + double(j);
}

extern "C" NOINLINE double tail(int n, double x)
{
	if (n == 0)
		return x;
	return tail(n - 1, x * 1.5 + n);
}

/* From the C library, which calls back */
int by_area(const void *a, const void *b)
{
	double x = (*static_cast<shape *const *>(a))->area();
	double y = (*static_cast<shape *const *>(b))->area();

	return (x > y) - (x < y);
}

extern "C" NOINLINE double containers(int n)
{
	std::unordered_map<std::string, int> words;
	std::map<int, std::string> order;
	std::vector<std::string> list;

	for (int i = 0; i < n; i++) {
		list.push_back("word number " + std::string(i % 5, 'x'));
		words[list.back()] += i;
		order.emplace(i * 7919 % 101, list.back());
	}
	std::sort(list.begin(), list.end());
	list.erase(std::unique(list.begin(), list.end()), list.end());
	for (int i = 0; i < n; i += 3)
		order.erase(i * 7919 % 101);
	return double(words.size() + list.size() * order.size());
}

extern "C" NOINLINE double closures(int n)
{
	std::function<double(int)> f = [&](int i) { return i ? f(i - 1) + n : sink; };
	std::variant<int, std::string, double> v = n;
	std::optional<std::string> text;

	if (n % 2)
		v = std::string("variant with a string");
	text = std::visit([](const auto &x) {
		if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::string>)
			return x;
		else
			return std::to_string(int(x));
	}, v);
	return f(n % 6) + double(text->size());
}

volatile int handled;

void on_signal(int)
{
	handled = handled + int(tail(5, 1));
}

extern "C" NOINLINE int signals(int n)
{
	signal(SIGUSR1, on_signal);
	return n + raise(SIGUSR1) + handled;
}

extern "C" NOINLINE double shapes(int n)
{
	std::vector<std::unique_ptr<shape>> all;
	std::vector<shape *> raw;
	double sum = 0;

	for (int i = 1; i <= n; i++) {
		if (i % 2)
			all.push_back(std::make_unique<circle>(i));
		else
			all.push_back(std::make_unique<polygon>(i));
	}
	for (auto &s : all) {
		raw.push_back(s.get());
		sum += s->area() + double(s->name().size());
		if (auto *p = dynamic_cast<polygon *>(s.get()))
			sum += double(static_cast<named *>(p)->length());
	}
	qsort(raw.data(), raw.size(), sizeof(raw[0]), by_area);
	return sum + raw[0]->area();
}

} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		sink = shapes(6 + i % 5);
		sink = containers(8 + i % 9);
		sink = closures(i);
		sink = exceptions(3 + i % 4);
		sink = signals(i);
		sink = aligned(200 + size_t(i));
		sink = many(1, i, 3, 4, 5, 6, 7, 8, sink, 2.5L) + tail(i % 9, 1);
	}
	printf("%d rounds\n", rounds);
	return 0;
}
