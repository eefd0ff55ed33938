#!/bin/sh
# Builds both sides of the Go program.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR (default: symbols), under the path from which record.sh runs
# them: DIR/data/local/tmp/message-heap-go/{before,after}/message-heap-go.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/symbols}"
out=$(cd "${1:-$here/symbols}" && pwd)

# -trimpath   no directory of the building machine in the binary
# -ldflags=-w without DWARF, which keeps it small: the symbols stay
cd "$here"
for side in before after; do
	binary=$out/data/local/tmp/message-heap-go/$side/message-heap-go
	tags=
	if [ $side = after ]; then
		tags=branchless
	fi
	mkdir -p "${binary%/*}"
	CGO_ENABLED=0 GOFLAGS= GOWORK=off go build -trimpath -buildvcs=false -ldflags=-w -tags "$tags" -o "$binary" .
done
