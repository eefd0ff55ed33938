// Package show is a recording as it is shown: one document, made once by [New], and what draws
// it as text, JSON and CSV.
//
//  1. [New] sums up the run by function and by group, the heaviest first.
//  2. Writers draw the document, up to the limit of rows.
package show

import (
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// Schema is the first field of what show prints as JSON.
const Schema = "profdiff.show/v1"

// A Document is what show prints as JSON.
type Document struct {
	Schema     string     `json:"schema"`
	Inputs     []Input    `json:"inputs"`
	Events     []Event    `json:"events"`
	Counters   []Counter  `json:"counters"`
	Functions  []Function `json:"functions"`
	Threads    []Group    `json:"threads"`
	DSOs       []Group    `json:"dsos"`
	Categories []Group    `json:"categories"`
	// Waits say who waited for whom; absent if the recording does not tell, or it was not asked.
	Waits *wait.Report `json:"waits,omitempty"`

	// By is what Rows are of, ordered by the first event, and Trees are call trees by event:
	// parts.
	By    run.GroupBy `json:"-"`
	Rows  []run.Row   `json:"-"`
	Trees []*run.Node `json:"-"`

	measured []measured
}

// A Input is a recording and what became of its samples.
type Input struct {
	Path               string           `json:"path"`
	Format             string           `json:"format"`
	Tool               string           `json:"tool"`
	Arch               string           `json:"arch"`
	Kernel             string           `json:"kernel"`
	Device             string           `json:"device"`
	RecordedAt         string           `json:"recorded_at"` // RFC 3339, "" if unknown
	DurationNS         int64            `json:"duration_ns"`
	SamplesIn          int64            `json:"samples_in"`
	SamplesOut         int64            `json:"samples_out"`
	SamplesFiltered    int64            `json:"samples_filtered"`
	Dropped            map[string]int64 `json:"dropped"`
	Lost               int64            `json:"lost"`
	UnknownFramesShare float64          `json:"unknown_frames_share"`
	// Unwound is what became of stacks that were recorded as memory; absent if there are none.
	Unwound  *run.Unwound `json:"unwound,omitempty"`
	Warnings []string     `json:"warnings"`

	Recording run.Recording `json:"-"`
}

// A Event is the total of an event.
type Event struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Derived bool    `json:"derived"`
	Samples int64   `json:"samples"`
	Weight  int64   `json:"weight"`
	NEff    float64 `json:"n_eff"`

	// Simulated is set if a simulator counted, AtMost if NEff may be less.
	Simulated bool `json:"-"`
	AtMost    bool `json:"-"`
}

// A Counter is the total of a counter.
type Counter struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Running float64 `json:"running"`
}

// Sum is what something costs in one event.
type Sum struct {
	Weight  int64 `json:"weight"`
	Samples int64 `json:"samples"`
}

// A Function is a function; sums are by event, events without samples left out.
type Function struct {
	Name       string         `json:"name"`
	SystemName string         `json:"system_name"`
	File       string         `json:"file"`
	DSO        string         `json:"dso"`
	Self       map[string]Sum `json:"self"`
	Total      map[string]Sum `json:"total"`
}

// A Group is a thread, a file, a category.
type Group struct {
	Name  string         `json:"name"`
	Self  map[string]Sum `json:"self"`
	Total map[string]Sum `json:"total"`
}
