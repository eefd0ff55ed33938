#!/bin/sh
# Prints the part of /proc/kallsyms that names the kernel frames of recordings.
#
#   usage: trim-kallsyms.sh RECORDING...
#
# Kept are _text and _stext, all names of a symbol that holds a recorded
# address (of a sample or of its call chain), and the names of the symbol that
# follows it, which tells where it ends. Sorted by address. Must run under the
# kernel that was recorded, before it reboots.
set -eu
export LC_ALL=C

addresses() {
	for recording; do
		perf script -i "$recording" -F ip 2>/dev/null
	done | awk 'length($1) == 16 && $1 >= "ffff800000000000" { print $1, "?" }' | sort -u
}

# At equal addresses the symbols come before the recorded address ("?").
{
	awk '$2 ~ /^[tTwW]$/ && NF == 3 { print $1, $2, $3 }' /proc/kallsyms
	addresses "$@"
} | sort -k1,1 -k2,2r | awk '
	function close_symbol(i) {
		if (hit || follows || start ~ / _s?text$/)
			for (i = 1; i <= count; i++)
				print names[i]
		follows = hit
		hit = count = 0
	}
	$2 == "?" { hit = 1; next }
	$1 != address { close_symbol(); address = $1; start = "" }
	{ names[++count] = $0; if ($3 ~ /^_s?text$/) start = $0 }
	END { close_symbol() }'
