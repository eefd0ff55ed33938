// Package metrics is files of measured values as they are shown and compared: documents, and
// what draws them as text, JSON and CSV.
//
//  1. [New] joins the metrics of all files, each by its name, and describes the values of each:
//     number, mean, quantiles. A quantile is known where its interval is bounded on both sides
//     (Clopper-Pearson; David and Nagaraja, Order Statistics, 2003, section 7.1).
//  2. Values that a file has only in buckets give quantiles that are known to a bucket.
//  3. Writers draw the document, up to the limit of rows.
package metrics

import "profdiff/internal/report/text"

// Schema is the first field of what show prints of metrics as JSON.
const Schema = "profdiff.metrics/v1"

// A Document is what show prints of metrics as JSON.
type Document struct {
	Schema  string   `json:"schema"`
	Inputs  []Input  `json:"inputs"`
	Metrics []Metric `json:"metrics"`
}

// An Input is a file, and what became of its values.
type Input struct {
	Path     string   `json:"path"`
	Format   string   `json:"format"`
	Tool     string   `json:"tool"`
	CPU      string   `json:"cpu"`
	System   string   `json:"system"`
	Command  string   `json:"command"`
	Time     string   `json:"time"` // RFC 3339, "" if unknown
	Facts    []Fact   `json:"facts"`
	Read     int      `json:"read"`
	Lost     []Loss   `json:"lost"`
	Warnings []string `json:"warnings"`
	Links    []Link   `json:"links"`
}

// A Fact is what a file says under a key.
type Fact struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A Loss is why some of a file was not read.
type Loss struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	First  string `json:"first"` // the first place, "" if unknown
}

// A Link names the file of a run of all metrics of a subject.
type Link struct {
	Subject string `json:"subject"`
	Run     int    `json:"run"` // from 0
	File    string `json:"file"`
}

// A Metric describes the values of all runs. What is not known is null.
type Metric struct {
	Name      string `json:"name"`
	Subject   string `json:"subject"`
	Quantity  string `json:"quantity"`
	Unit      string `json:"unit"`      // "" if unknown
	Written   string `json:"written"`   // the unit as the file has it
	Direction string `json:"direction"` // lower, higher or unknown
	Why       string `json:"why"`       // what decided the direction
	Each      string `json:"each"`      // what one value is, "" for one event
	// Of is what the file describes without its values, "" if it has them all.
	Of     string      `json:"of"`
	Runs   int         `json:"runs"`
	N      int64       `json:"n"` // 0 if unknown
	Mean   text.Number `json:"mean"`
	Stddev text.Number `json:"stddev"`
	Min    text.Number `json:"min"`
	Max    text.Number `json:"max"`
	Median Quantile    `json:"median"`
	P90    Quantile    `json:"p90"`
	P95    Quantile    `json:"p95"`
	P99    Quantile    `json:"p99"`
}

// A Quantile is a value, or the bounds of the bucket that it is in: then Value is null. Low and
// High are null where the value is known.
type Quantile struct {
	Value text.Number `json:"value"`
	Low   text.Number `json:"low"`
	High  text.Number `json:"high"`
	// Needs is how many values it takes, where there are too few.
	Needs int `json:"needs"`
}
