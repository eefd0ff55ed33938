// Package limit bounds the memory of a command.
//
//  1. [Set] says how much the process may use: what a user allows ([Parse]), or a part of what
//     the machine has left ([Machine]). The runtime of Go collects garbage more often as the
//     process comes near it (debug.SetMemoryLimit).
//  2. [Expect] says how large the inputs are. Above what that lets expect, garbage is collected more
//     often than it is otherwise, but not so often that it would cost much.
//  3. What keeps things that grow with an input counts them ([Kind.Add]): stacks, functions,
//     mappings. Counting decides nothing; it is for the message.
//  4. After each collection of garbage what is left is compared with the limit. That is the one
//     check, for whatever grows, where it grows, and it costs nothing while there is room: memory
//     cannot grow without a collection. Above four fifths of the limit, most time would go into
//     collections that find nothing, and [Exceeded] tells whoever ends the command.
package limit

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// A Kind is a kind of thing that is kept of inputs.
type Kind int

// Kinds of things.
const (
	Stacks Kind = iota
	Samples
	Functions
	Locations
	Labels
	Mappings
	Processes
	kinds
)

// Add counts n more. It is called from several goroutines.
func (k Kind) Add(n int) { counts[k].Add(int64(n)) }

var (
	counts [kinds]atomic.Int64
	names  = [kinds]string{"stacks", "rows of samples", "functions", "addresses", "labels of samples", "mappings", "processes"}
)

// None is no limit.
const None = math.MaxInt64

// Least is the smallest limit, in bytes: less is in use before anything is read.
const Least = 64 << 20

// Ballast is memory that the program takes at its start and never touches, so that garbage is not
// collected all the time while the heap is small. It is not counted.
const Ballast = 32 << 20

// Exceeded receives one message, in a line, when the process uses more than it may.
var Exceeded = make(chan string, 1)

var (
	limit, expected atomic.Int64
	watched         atomic.Bool
	advice          atomic.Pointer[string]
)

// Advise says how the command at hand needs less memory, as a clause with a verb: "--jobs 1 needs less". Unless that is said, filters
// of recordings do.
func Advise(text string) { advice.Store(&text) }

// Set bounds the memory of the process, in bytes.
func Set(bytes int64) {
	limit.Store(bytes)
	debug.SetMemoryLimit(min(bytes, None-Ballast) + Ballast)
	if bytes != None && !watched.Swap(true) {
		watch()
	}
}

// What a command is to take: 100 MB, of which its code is a part that no collection gives back, and so many
// times what it reads.
const (
	own     = 80 << 20
	perByte = 4
)

// Expect says that so many bytes more are read.
func Expect(bytes int64) {
	expected.Add(bytes)
	if !watched.Load() && !watched.Swap(true) {
		watch()
	}
}

// Freed says that so many bytes are no longer needed, as when a recording has been read. If they are a good part of what
// is in use, and that is about as much as inputs let expect, garbage is collected now: no other time gives as much back.
func Freed(bytes int64) {
	sample := [...]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	used := int64(sample[0].Value.Uint64()) - Ballast
	if bytes > used/16 && used > (own+perByte*expected.Load())/4*3 {
		runtime.GC()
	}
}

// Allowed is what was set, in bytes, [None] if nothing was.
func Allowed() int64 {
	if bytes := limit.Load(); bytes != 0 {
		return bytes
	}
	return None
}

// watch looks at the memory after each collection of garbage: the garbage that it makes is
// cleaned up when the next one is over.
func watch() {
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		check()
		watch()
	}, struct{}{})
}

// check compares what is in use with the limit, and with what is expected.
func check() {
	sample := [...]metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(sample[:])
	bytes := func(i int) int64 { return int64(sample[i].Value.Uint64()) }
	used, most := bytes(0)+bytes(1)-Ballast, Allowed()
	if inputs := expected.Load(); inputs > 0 {
		// The next collection comes at a quarter more at the latest, as while inputs are read. What is neither an object nor free counts, too.
		rest := bytes(2) - bytes(3) - bytes(4) - bytes(5)
		debug.SetMemoryLimit(min(most, max(own+perByte*inputs, used+used/4+rest), None-Ballast) + Ballast)
	}
	if used <= most/5*4 {
		return
	}
	select {
	case Exceeded <- message(used, most):
	default:
	}
}

// message says what takes the memory, and how to go on.
func message(used, most int64) string {
	order := make([]Kind, kinds)
	for i := range order {
		order[i] = Kind(i)
	}
	slices.SortStableFunc(order, func(a, b Kind) int { return int(counts[b].Load() - counts[a].Load()) })
	var kept []string
	for _, k := range order {
		const listed = 3
		if n := counts[k].Load(); n > 0 && len(kept) < listed {
			kept = append(kept, fmt.Sprintf("%d %s", n, names[k]))
		}
	}
	take := " take "
	if len(kept) == 0 {
		kept, take = []string{"what was read"}, " takes "
	}
	less := "filters such as --event, or a shorter recording, need less"
	if text := advice.Load(); text != nil {
		less = *text
	}
	return fmt.Sprintf("%s%s%s of memory, and %s are allowed: --max-memory SIZE allows more, and %s", strings.Join(kept, ", "), take, format(used), format(most), less)
}

// Parse reads a size such as 800M, 2G or 1.5GiB, in bytes, units being powers of 1024; "none" is
// no limit.
func Parse(text string) (int64, error) {
	if text == "none" {
		return None, nil
	}
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "B"), "I")
	unit := 1.0
	for i, suffix := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, math.Pow(1024, float64(i+1))
		}
	}
	size, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(size >= 0 && size*unit < 1<<62):
		return 0, fmt.Errorf("%q is no size such as 800M or 2G, and not none", text)
	case size*unit < Least:
		return 0, fmt.Errorf("%s is less than %s, which profdiff itself needs", text, format(Least))
	}
	return int64(size * unit), nil
}

// format writes a size as Parse reads it.
func format(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%dM", bytes>>20)
	}
	return fmt.Sprintf("%.1fG", float64(bytes)/(1<<30))
}
