// SPDX-License-Identifier: GPL-2.0
// C++: exceptions, cold parts of functions, thunks, COMDAT functions
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct left {
	virtual ~left() = default;
	virtual int get() const { return 1; }
};

struct right {
	virtual ~right() = default;
	virtual int put() const { return 2; }
};

struct both : left, right {
	std::string name;

	explicit both(std::string n) : name(std::move(n)) {}
	int get() const override { return name.size(); }
	int put() const override { return name.at(0); }
};

__attribute__((noinline)) static int risky(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("third " + std::to_string(n));
	return n;
}

__attribute__((noinline)) static int guarded(int n)
{
	std::vector<std::string> keep(n + 1, "x");

	try {
		return risky(n) + keep.size();
	} catch (const std::exception &e) {
		return std::string(e.what()).size();
	}
}

int main(int argc, char **)
{
	std::map<int, std::unique_ptr<both>> all;
	std::vector<int> order;
	int sum = 0;

	for (int i = 0; i < 10 + argc; i++) {
		all[i] = std::make_unique<both>("b" + std::to_string(i));
		order.push_back(guarded(i));
	}
	std::sort(order.begin(), order.end(), [](int a, int b) { return a > b; });
	for (auto &[i, b] : all) {
		const right *r = b.get();

		sum += b->get() + r->put() + order[i];
	}
	return sum == 0;
}
