// A program that makes the compiler inline the standard library deeply, with local
// classes, lambdas, templates, exceptions and code in cold sections.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace app {
namespace {
struct Local {
	int v;
	template <class T> T times(T x) const { return x * v; }
};
} // namespace

template <class K> class Index {
public:
	void add(K key, std::string value) { map_[std::move(key)].push_back(std::move(value)); }
	std::size_t sorted() {
		std::size_t n = 0;
		for (auto &entry : map_) {
			std::stable_sort(entry.second.begin(), entry.second.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
			n += entry.second.size();
		}
		return n;
	}

private:
	std::map<K, std::vector<std::string>> map_;
};

int run(int n) {
	struct Inner {
		int twice(int x) { return 2 * x; }
	};
	Index<int> index;
	for (int i = 0; i < 100 * n; i++) {
		std::ostringstream os;
		os << "item" << i * n;
		if (os.str().empty())
			throw std::runtime_error("empty");
		index.add(i % 7, os.str());
	}
	Local l{n};
	std::function<int(int)> f = [&](int x) { return l.times(x) + Inner().twice(n); };
	std::unique_ptr<int[]> p(new int[n + 1]());
	return f(static_cast<int>(index.sorted())) + p[n];
}
} // namespace app

extern "C" int entry(int x) { return app::run(x) + 1; }

int main(int argc, char **) {
	std::cout << entry(argc) << "\n";
	return 0;
}
