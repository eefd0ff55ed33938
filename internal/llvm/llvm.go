// Package llvm runs llvm-objdump and llvm-mca: it disassembles parts of ELF files into
// text that llvm-mca accepts, simulates straight-line code on the scheduling models of
// LLVM, and says what those models are worth for a CPU.
//
//  1. [Find] finds the tools and their version.
//  2. [Toolchain.Disassemble] runs llvm-objdump and rewrites its text so that llvm-mca
//     reads it: no comments, labels for addresses.
//  3. [ModelOf] says which model of the version stands for a CPU, whose that is and how near
//     that core is: LLVM's choice (models.tsv), or a better one (cores.tsv).
//  4. [Toolchain.Simulate] runs llvm-mca on regions of such text. What a model does not
//     know is left out or replaced, what it is wrong about is rewritten (repairs.tsv), and both
//     are reported. How models compare with measurements stands in testdata/llvm-*/probes-*.tsv.
//
// llvm-mca ignores control flow, mispredictions and cache misses. Sources: the tools'
// own documentation (llvm.org/docs/CommandGuide/llvm-mca.html, llvm-objdump.html) and
// their output in LLVM 14, 19 and 22; where the versions differ, the code says so.
package llvm

import (
	"fmt"
	"time"
)

// Versions of LLVM whose options, output and models this package knows.
const (
	minMajor = 14
	maxMajor = 22
)

// Versions of LLVM in which something became possible.
const (
	majorAttrAll      = 15 // -mattr=+all on AArch64
	majorDebugFileDir = 16 // llvm-objdump --debug-file-directory
	majorSkip         = 19 // llvm-mca -skip-unsupported-instructions=lack-sched
)

// Toolchain is llvm-mca and llvm-objdump of one version. It may be used by several
// goroutines at once; what it simulated once it does not simulate again.
type Toolchain struct {
	Major   int
	Version string // as the tools print it, such as "19.1.7"
	MCA     string // absolute path of llvm-mca
	Objdump string // absolute path of llvm-objdump

	// Timeout limits one run of a tool; 0 is two minutes.
	Timeout time.Duration

	cache cache
}

func (t *Toolchain) String() string { return "LLVM " + t.Version }

// ParseError says which line of which region llvm-mca cannot parse.
type ParseError struct {
	Region  string // name of the region
	Index   int    // of the region in the call
	Line    int    // in Region.Lines, from 0
	Column  int    // in the line, in bytes, from 0
	Text    string // the line
	Message string // llvm-mca's
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("region %q: line %d: column %d: %s: %q", e.Region, e.Line+1, e.Column+1, e.Message, e.Text)
}
