// Package fleet is the data of many profiles of many devices and releases, as tables that any
// engine reads which knows Parquet and SQL: DuckDB, Spark, Trino, ClickHouse, DataFusion.
//
//  1. A profile, in any format that profdiff reads, becomes rows: what it spent by function, by
//     category and by stack, all as integers.
//  2. Functions, stacks, profiles and batches have ids that are hashes of their contents. So nobody has to
//     hand out numbers, and whoever reads the same profile, once or twice, here or there, writes
//     the same bytes.
//  3. The row of the ledger, [Profile], is written last. A worker that dies leaves rows that no query
//     counts.
//  4. A comparison of two releases sums by device: devices differ, and samples of one device
//     are not independent. Models of devices are strata with the same weights on both sides,
//     so that a fleet that changes its mix does not look like a change of the program.
//
// The packages below have the parts: table reads and writes rows, store is the layout of files and what queries may
// see, batch plans and does the work of one batch, query compares two releases.
package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// ProfileID is the id of a profile with these bytes, as the file has them.
func ProfileID(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// FunctionID is the id of a function. Module has neither path nor build ID, and names are
// normalised: ids of two releases are to meet. At 10^7 functions two of them meet by
// chance with probability 2.7e-6; readers refuse a store in which that happened.
func FunctionID(module, name, file string) int64 {
	h := sha256.New()
	h.Write([]byte(module + "\x00" + name + "\x00" + file))
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// StackID is the id of a stack of functions, leaf to root.
func StackID(frames []int64) [16]byte {
	const most = 64 // of most stacks
	if len(frames) > most {
		return deepStackID(frames)
	}
	var usual [most * 8]byte
	sum := sha256.Sum256(appendFrames(usual[:0], frames))
	return [16]byte(sum[:16])
}

// deepStackID hashes a piece at a time: there may be as many deep stacks as frames in one of them.
func deepStackID(frames []int64) [16]byte {
	sum := sha256.New()
	var piece []byte
	for part := range slices.Chunk(frames, 512) {
		piece = appendFrames(piece[:0], part)
		sum.Write(piece)
	}
	return [16]byte(sum.Sum(piece[:0])[:16])
}

func appendFrames(b []byte, frames []int64) []byte {
	for _, f := range frames {
		b = binary.BigEndian.AppendUint64(b, uint64(f))
	}
	return b
}

// UnitID is the unit, 0 to 63, into which a device falls.
func UnitID(device string) int32 {
	sum := sha256.Sum256([]byte("unit1\x00" + device))
	return int32(sum[0] & 63)
}

// Device is the pseudonym of a device: whoever has the salt can find the rows of a device that
// is to be deleted, and without it nobody learns which device it was.
func Device(salt, identifier string) string {
	sum := sha256.Sum256([]byte("device1\x00" + salt + "\x00" + identifier))
	return hex.EncodeToString(sum[:8])
}
