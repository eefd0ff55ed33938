#!/bin/sh
# Builds both sides: decode.c with liblzma of XZ Utils 5.8, whose range decoder is chosen by
# LZMA_RANGE_DECODER_CONFIG.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR (default: symbols), under the path from which record.sh runs
# them: DIR/data/local/tmp/xz-decoder/{before,after}/decode. The source is that of the
# crate liblzma-sys 0.4.9, which cargo gets, or in $LIBLZMA. The compiler is $CC (default:
# gcc).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/symbols}"
out=$(cd "${1:-$here/symbols}" && pwd)
if [ -z "${LIBLZMA-}" ]; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	(cd "$scratch" && cargo init -q --name fetch && cargo add -q liblzma-sys@=0.4.9 && cargo fetch -q)
	LIBLZMA=$(cd "$scratch" && cargo metadata --format-version 1 |
		sed 's/.*"manifest_path":"\([^"]*liblzma-sys-0.4.9\)\/Cargo.toml".*/\1/')
fi
lzma=$LIBLZMA/xz/src/liblzma

# -static             no shared library has to be shipped to name a frame
# -fno-jump-tables    the code is complete without data, of which internal/tools/slim keeps none
# -ffile-prefix-map   no directory of the building machine in the DWARF
# -Wl,--gc-sections   of the library, only what decompresses
flags="-std=gnu11 -O2 -g1 -static -fno-omit-frame-pointer -fno-jump-tables -ffunction-sections -fdata-sections
	-ffile-prefix-map=$here=/usr/src/xz-decoder -ffile-prefix-map=$LIBLZMA=/usr/src/liblzma
	-Wl,--gc-sections -Wl,--build-id=sha1 -DHAVE_CONFIG_H -DNDEBUG -I$LIBLZMA -I$LIBLZMA/xz/src/common"
for part in api lzma lz check simple delta common rangecoder; do
	flags="$flags -I$lzma/$part"
done
sources=$(ls "$lzma"/common/*.c "$lzma"/lzma/*.c "$lzma"/lz/*.c "$lzma"/check/*.c "$lzma"/delta/*.c \
	"$lzma"/rangecoder/*.c "$lzma"/simple/*.c "$LIBLZMA"/xz/src/common/tuklib_*.c |
	grep -v 'mt\.c$\|tablegen\.c$\|_small\.c$\|consts_gen\.c$\|tuklib_\(exit\|mb\|open\|progname\)')

cd "$here"
for side in before after; do
	binary=$out/data/local/tmp/xz-decoder/$side/decode
	config=0
	if [ $side = after ]; then
		config=0x1F0
	fi
	mkdir -p "${binary%/*}"
	# shellcheck disable=SC2086 # the flags are words
	${CC:-gcc} $flags -DLZMA_RANGE_DECODER_CONFIG=$config -o "$binary" decode.c $sources
done
