package html

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"profdiff/internal/heatmap"
	"profdiff/internal/listing"
	"profdiff/internal/report/diff"
	"profdiff/internal/source"
)

// The forms of blocks that encode.go writes by columns. All other blocks have types of
// documents.

// An eventBlock is an event: functions, and frames. Functions are numbered by those of
// most frames.
type eventBlock struct {
	Name  []int   `json:"name"` // steps in the block of names
	DSO   []int   `json:"dso"`  // in the block of names, as are other texts
	NBase []int64 `json:"nBase"`
	NHead []int64 `json:"nHead"`
	// Matched are functions that were not found by their names alone.
	Matched    []int      `json:"matched"`
	Match      []int      `json:"match"`
	BaseName   []int      `json:"baseName"`
	BaseDSO    []int      `json:"baseDSO"`
	Reason     []int      `json:"reason"`
	Confidence []*float64 `json:"confidence"`
	// Why are functions with a reason, absent if none has one.
	Why     []int       `json:"why,omitempty"`
	WhyText []int       `json:"whyText,omitempty"`
	WhyView []int       `json:"whyView,omitempty"`
	Shifted []int       `json:"shifted"`
	Shift   []int       `json:"shift"`
	Shifts  []jsonShift `json:"shifts"`
	Self    testColumns `json:"self"`
	Total   testColumns `json:"total"`
	Groups  []jsonGroup `json:"groups"`
	// Functions cost what their frames do, but for those at SelfAt and TotalAt, in steps. Pages of older
	// versions do not have these, but the costs of all functions.
	SelfAt    []int      `json:"selfAt,omitempty"`
	SelfBase  []*float64 `json:"selfBase"`
	SelfHead  []*float64 `json:"selfHead"`
	TotalAt   []int      `json:"totalAt,omitempty"`
	TotalBase []*float64 `json:"totalBase"`
	TotalHead []*float64 `json:"totalHead"`
	// Near are those whose costs differ from what their frames say by so many steps, of which nearSteps are a quantum.
	SelfNear      packed     `json:"selfNear,omitempty"` // in steps
	SelfNearBase  packed     `json:"selfNearBase,omitempty"`
	SelfNearHead  packed     `json:"selfNearHead,omitempty"`
	TotalNear     packed     `json:"totalNear,omitempty"`
	TotalNearBase packed     `json:"totalNearBase,omitempty"`
	TotalNearHead packed     `json:"totalNearHead,omitempty"`
	Frames        frameBlock `json:"frames"`
}

type jsonShift struct {
	Caller int        `json:"caller"`
	Parts  []int      `json:"parts"`
	Net    jsonChange `json:"net"`
}

type jsonGroup struct {
	By   string         `json:"by"`
	Rows []jsonGroupRow `json:"rows"`
}

type jsonGroupRow struct {
	Name   string     `json:"name"`
	Change jsonChange `json:"change"`
}

// testColumns are changes that were tested.
type testColumns struct {
	At       []int          `json:"at"` // steps
	Ratio    []*float64     `json:"ratio"`
	Lo       []*float64     `json:"lo"`
	Hi       []*float64     `json:"hi"`
	P        []*float64     `json:"p"`
	Runs     []int          `json:"runs"`
	Verdict  verdictLetters `json:"verdict"`
	WithRuns []int          `json:"withRuns"` // of those that were tested
	BaseRuns [][]*float64   `json:"baseRuns"`
	HeadRuns [][]*float64   `json:"headRuns"`
}

// A frameBlock is a tree in preorder.
type frameBlock struct {
	Quantum float64 `json:"quantum"`
	Up      []int   `json:"up"` // levels from the frame before to the caller
	// Known is by frame the number of its function, from 1, among those that its caller called so far, or
	// 0: then it is the next of Fn. Pages of older versions have all functions in Fn.
	Known calleeNumbers `json:"known,omitempty"`
	Fn    packed        `json:"fn"` // -1-n of n frames that were left out
	// Base and Head are costs of frames that call nothing, and InnerBase and InnerHead of others, at InnerAt, in
	// steps. Pages of older versions have the costs of all frames in Base and Head.
	Base      []int64     `json:"base"`
	Head      []int64     `json:"head"`
	InnerAt   []int       `json:"innerAt,omitempty"`
	InnerBase []int64     `json:"innerBase,omitempty"`
	InnerHead []int64     `json:"innerHead,omitempty"`
	Flags     flagLetters `json:"flags"`
	// Threads are in the block of names. Frames have the thread of their caller but for those at
	// ThreadAt, in steps, which have Thread, -1 if no thread has most of them.
	Threads  []int `json:"threads,omitempty"`
	ThreadAt []int `json:"threadAt,omitempty"`
	Thread   []int `json:"thread,omitempty"`
}

// A lineBlock has source lines.
type lineBlock struct {
	Function []int       `json:"function"`
	File     []int       `json:"file"` // in texts
	Text     []int       `json:"text"`
	Base     []int64     `json:"base"`
	Head     []int64     `json:"head"`
	SelfBase []*float64  `json:"selfBase"`
	SelfHead []*float64  `json:"selfHead"`
	Self     testColumns `json:"self"`
	// Texts are lines, and names of files, in which tabs do no harm.
	Texts []source.Text `json:"texts"`
}

// A listingBlock is a listing.
type listingBlock struct {
	Function, DSO            string
	Event                    string
	BaseSamples, HeadSamples int64
	Rows                     []listing.Row
	Note                     string
}

func listingBlocks(list []listing.Listing, clean func(string) string) (blocks []listingBlock) {
	for i := range list {
		l := &list[i]
		b := listingBlock{Function: l.Function, DSO: l.DSO, Event: l.Event, BaseSamples: l.BaseSamples, HeadSamples: l.HeadSamples, Rows: slices.Clone(l.Rows)}
		if l.LeftOut > 0 {
			b.Note = plural(l.LeftOut, "instruction") + " without samples nearby are left out."
		}
		blocks = append(blocks, b)
	}
	cleanAll(&blocks, clean)
	return blocks
}

// A dataBlock is what the numbers rest on.
type dataBlock struct {
	Runs  []Run
	Facts []Fact
}

type verdictLetters string

func (verdictLetters) has(text string) error { return onlyOf(text, "irulm?-") }

type calleeNumbers string

func (calleeNumbers) has(text string) error { return onlyOf(text, calleeLetters) }

type flagLetters string

func (flagLetters) has(text string) error { return onlyOf(text, "0123456789:;<=>?") }

func onlyOf(text, set string) error {
	if rest := strings.Trim(text, set); rest != "" {
		return fmt.Errorf("%q is no mark", short(rest, 20))
	}
	return nil
}

// blockType is the form of a block, nil if the name is not known.
func blockType(name string) reflect.Type {
	switch name {
	case "listings":
		return reflect.TypeFor[[]listingBlock]()
	case "sources":
		return reflect.TypeFor[diff.Sources]()
	case "branches":
		return reflect.TypeFor[Branches]()
	case "pipeline":
		return reflect.TypeFor[Pipeline]()
	case "data":
		return reflect.TypeFor[dataBlock]()
	case "names":
		return reflect.TypeFor[[]string]()
	}
	switch strings.TrimRight(name, "0123456789") {
	case "lines":
		return reflect.TypeFor[lineBlock]()
	case "times":
		return reflect.TypeFor[timesBlock]()
	case "event":
		return reflect.TypeFor[eventBlock]()
	}
	return nil
}

// A checker compares what a block has in columns. It keeps the first error.
type checker struct {
	root *shape
	err  error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// length checks that columns have so many elements.
func (c *checker) length(n int, paths ...string) {
	for _, path := range paths {
		switch s := c.root.at(path); {
		case !s.found:
			c.fail("%s is missing", path)
		case s.n != n:
			c.fail("%s has %d elements, not %d", path, s.n, n)
		}
	}
}

// below checks that the integers of columns are from low to below high.
func (c *checker) below(low, high int, paths ...string) {
	for _, path := range paths {
		s := c.root.at(path)
		if s.elem != nil {
			s = s.elem
		}
		if s.found && (s.low < int64(low) || s.high >= int64(high)) {
			c.fail("%s goes from %d to %d, not from %d to below %d", path, s.low, s.high, low, high)
		}
	}
}

// steps checks that sums of the integers of a column are from low to below high.
func (c *checker) steps(low, high int, path string) {
	if s := c.root.at(path); s.n > 0 && (s.lowSum < int64(low) || s.highSum >= int64(high)) {
		c.fail("%s leads from %d to %d, not from %d to below %d", path, s.lowSum, s.highSum, low, high)
	}
}

func (c *checker) count(path string) int { return c.root.at(path).n }

// tests checks columns of n changes of which some were tested.
func (c *checker) tests(path string, n int) {
	m := c.count(path + ".at")
	for _, name := range []string{".at", ".ratio", ".lo", ".hi", ".p", ".runs", ".verdict"} {
		c.length(m, path+name)
	}
	c.below(0, n, path+".at")
	c.steps(0, n, path+".at")
	with := c.count(path + ".withRuns")
	c.length(with, path+".withRuns")
	c.below(0, m, path+".withRuns")
	// Elements of elements are counted, too.
	for _, name := range []string{".baseRuns", ".headRuns"} {
		c.length(with, path+name)
	}
}

// event checks the block of an event.
func (c *checker) event(m *metaEvent, names int) {
	f := m.Functions
	c.length(f, "name", "dso", "nBase", "nHead")
	for _, of := range []string{"self", "total"} {
		stated := f
		if at := c.root.at(of + "At"); at.found {
			stated = at.n
			c.below(0, f, of+"At")
			c.steps(0, f, of+"At")
		}
		c.length(stated, of+"Base", of+"Head")
		if near := c.root.at(of + "Near"); near.found {
			c.below(0, f, of+"Near")
			c.steps(0, f, of+"Near")
			c.length(near.n, of+"NearBase", of+"NearHead")
		}
	}
	c.steps(1, names+1, "name")
	matched := c.count("matched")
	c.length(matched, "matched", "match", "baseName", "baseDSO", "reason", "confidence")
	c.below(0, f, "matched")
	c.below(0, names, "dso", "match", "baseName", "baseDSO", "reason")
	if why := c.count("why"); why > 0 {
		c.length(why, "whyText", "whyView")
		c.below(0, f, "why")
		c.below(0, names, "whyText", "whyView")
	}
	shifted, shifts := c.count("shifted"), c.count("shifts")
	c.length(shifted, "shifted", "shift")
	c.length(shifts, "shifts")
	c.below(0, f, "shifted", "shifts.parts", "shifts.caller")
	c.below(0, shifts, "shift")
	c.tests("self", f)
	c.tests("total", f)
	c.length(c.count("groups"), "groups")
	c.length(m.Frames, "frames.up", "frames.flags")
	if inner := c.root.at("frames.innerAt"); inner.found {
		c.length(c.count("frames.base"), "frames.head")
		c.length(inner.n, "frames.innerBase", "frames.innerHead")
		c.below(0, m.Frames, "frames.innerAt")
		c.steps(0, m.Frames, "frames.innerAt")
	} else {
		c.length(m.Frames, "frames.base", "frames.head")
	}
	if c.root.at("frames.known").found {
		c.length(m.Frames, "frames.known")
	} else {
		c.length(m.Frames, "frames.fn")
	}
	if c.root.at("frames.threads").found {
		c.below(0, names, "frames.threads")
		c.length(c.count("frames.threadAt"), "frames.threadAt", "frames.thread")
		c.steps(0, m.Frames, "frames.threadAt")
		c.below(-1, c.count("frames.threads"), "frames.thread")
	}
	c.below(-1<<31, f, "frames.fn")
	// Below the root, every frame is at level 1 and deeper.
	up := c.root.at("frames.up")
	if up.n > 0 && (up.elem.low < 0 || up.above > 0) {
		c.fail("frames.up leads above the root")
	}
}

// lines checks the block of lines.
func (c *checker) lines(m *metaEvent) {
	n, texts := c.count("function"), c.count("texts")
	c.length(n, "function", "file", "text", "base", "head", "selfBase", "selfHead")
	c.length(texts, "texts")
	c.below(0, m.Functions, "function")
	c.below(0, texts, "file", "text")
	c.tests("self", n)
}

// times checks the block of times.
func (c *checker) times(m *metaEvent) {
	threads, runs := c.count("threads"), c.count("length")
	if c.root.at("after").found {
		c.length(threads, "after")
	}
	if means := 2 * threads; c.count("cells") != means {
		c.length(means+runs*threads, "cells")
	}
	rows := c.count("stacks.frame")
	c.length(runs, "untimed")
	c.length(rows, "stacks.thread", "stacks.cells")
	c.cells("cells", "step", "value")
	c.cells("stacks.cells", "stacks.step", "stacks.value")
	c.below(1, heatmap.MostBins+1, "bins")
	c.below(0, threads, "stacks.thread")
	c.below(0, m.Frames, "stacks.frame")
	c.below(0, rows+1, "stacks.head")
	c.below(0, runs+1, "base")
}

// cells checks that rows have so many cells as there are steps and values.
func (c *checker) cells(cells, steps, values string) {
	c.below(0, heatmap.MostBins+1, cells, steps)
	n := 0
	if of := c.root.at(cells); of.n > 0 {
		n = int(of.highSum)
	}
	c.length(n, steps, values)
}

// branches checks what rows refer to.
func (c *checker) branches() {
	rows, code := c.count("Rows"), c.count("Code")
	c.below(-1, code, "Rows.Code")
	c.below(-1, rows, "Code.Rows.Base.Branch", "Code.Rows.Head.Branch")
}
