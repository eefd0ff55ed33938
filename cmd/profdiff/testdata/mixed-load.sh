#!/bin/sh
# Keeps a machine busy for SECONDS with many processes and shared libraries, to be
# recorded. What is not installed is left out.
#
#   usage: mixed-load.sh SECONDS
set -u
end=$(($(date +%s) + ${1:?seconds}))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/load.cc" <<'X'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
int main() {
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < 1000; i++) {
		std::ostringstream s;
		s << i;
		m[s.str()].push_back(i);
	}
	std::cout << m.size() << std::regex_search("aab", std::regex("a+b"));
}
X
head -c 20000000 "$(command -v go)" >"$dir/blob"

while [ "$(date +%s)" -lt "$end" ]; do
	(GOCACHE=$dir/cache timeout 60 go build -a std; rm -rf "$dir/cache") &
	g++ -O1 -c -o "$dir/load.o" "$dir/load.cc"
	python3 -c '
import json, random, re
d = [{"a": random.random(), "b": str(i)} for i in range(100000)]
s = json.dumps(d)
json.loads(s), len(re.findall("[0-9]+", s)), sorted(d, key=lambda x: x["a"])'
	node -e 'let m = new Map(); for (let i = 0; i < 2e6; i++) m.set("k" + i % 50000, i); JSON.stringify([...m]).length'
	perl -e 'my %h; $h{$_ % 9973} .= "x" for 1..1000000'
	gzip -c "$dir/blob"
	xz -1 -c "$dir/blob"
	bzip2 -c "$dir/blob"
	git -C "$(dirname "$0")" log -p
	wait
done >/dev/null 2>&1
