// SPDX-License-Identifier: BSD-2-Clause
// Much code in one static file, and a walk through some of all of it.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <locale>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <thread>
#include <unordered_map>

static std::string table(const std::map<std::string, double> &values)
{
	std::ostringstream out;

	out.imbue(std::locale::classic());
	for (const auto &[name, value] : values)
		out << std::left << std::setw(12) << name << std::setprecision(5) << value << '\n';
	return out.str();
}

static std::size_t words(const std::string &text)
{
	std::unordered_map<std::string, int> seen;
	const std::regex word("([a-z]+)([0-9]*)");

	for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i)
		seen[(*i)[1]] += static_cast<int>((*i)[2].length());
	return seen.size();
}

int main()
{
	std::map<std::string, double> values;
	std::mt19937_64 random(42);
	std::normal_distribution<double> normal(10, 3);
	std::vector<double> sorted;
	std::size_t found = 0;

	for (int i = 0; i < 60; i++) {
		sorted.push_back(normal(random));
		values["name" + std::to_string(i * 7 % 13)] = sorted.back();
	}
	std::sort(sorted.begin(), sorted.end());
	std::thread other([&] { found = words(table(values)); });
	other.join();
	std::cout << table(values) << found << '\n';
	return found == 1 && std::is_sorted(sorted.begin(), sorted.end()) ? 0 : 1;
}
