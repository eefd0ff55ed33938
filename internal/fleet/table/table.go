// Package table reads and writes the rows of package fleet as files of Parquet.
//
//  1. A [Writer] takes rows in the order of their table and writes them in groups, so that memory is bounded by a group: each
//     column of a group as a dictionary, if its tag says so, and pages that are compressed by zstd. The footer has the version of
//     the tables and of what read the profiles. Nothing is written that depends on the time, the host or the number of
//     workers: the same rows are the same bytes.
//  2. A file gets its name when it is complete and on disk. Whoever writes it again replaces it by the same bytes.
//  3. [Read] hands on rows in slices that it uses again. It reads what Writer writes, and what engines do by default: plain
//     values, differences and dictionaries, pages of both versions, zstd and snappy. Columns that a file lacks are missing
//     values, if they are optional. A file that is damaged is an error that names it, whatever the damage: sizes are compared
//     with bounds and with what there is, and pages with their checksums.
//
// The format is that of https://github.com/apache/parquet-format. It is read and written here, as libraries for all of it
// add a third to the size of the program.
package table

import "profdiff/internal/fleet"

// Row is a row of any table.
type Row interface {
	fleet.Profile | fleet.Function | fleet.Stack | fleet.Sample | fleet.ProfileFunction | fleet.ProfileCategory |
		fleet.Rename | fleet.Unit | fleet.FunctionUnit
}

// Decoder is the version of what makes rows of profiles: readers, names, sums. Who changes what becomes of a profile
// adds one, and profiles that are read again replace the rows of before.
const Decoder = 1
