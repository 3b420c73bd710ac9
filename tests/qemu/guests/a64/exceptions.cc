// SPDX-License-Identifier: BSD-2-Clause
// Exceptions through many frames, virtual calls, destructors on the way.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int destroyed;

struct Tracked {
	~Tracked() { destroyed++; }
};

struct Shape {
	virtual ~Shape() = default;
	virtual int area(int depth) const = 0;
};

struct Square : Shape {
	int area(int depth) const override
	{
		Tracked t;

		if (depth == 0)
			throw std::out_of_range("depth");
		return area(depth - 1) + 1;
	}
};

struct Other : Shape {
	int area(int depth) const override
	{
		try {
			return Square().area(depth);
		} catch (const std::logic_error &e) {
			throw std::runtime_error(std::string(e.what()) + " again");
		}
	}
};

} // namespace

int main()
{
	std::vector<std::unique_ptr<Shape>> shapes;
	int caught = 0;

	shapes.push_back(std::make_unique<Square>());
	shapes.push_back(std::make_unique<Other>());
	for (int i = 0; i < 12; i++) {
		try {
			shapes[i % 2]->area(i % 7);
		} catch (const std::out_of_range &) {
			caught++;
		} catch (const std::runtime_error &) {
			caught += 100;
		}
	}
	return caught == 6 * 101 && destroyed > 0 ? 0 : 1;
}
