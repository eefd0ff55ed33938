package check

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// maxSARIF is the number of results that GitHub shows of a run.
const maxSARIF = 5000

// The parts of SARIF 2.1.0 that outcomes need (OASIS standard, 27 March 2020), with the
// names of the standard.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string          `json:"id"`
		ShortDescription sarifText       `json:"shortDescription"`
		Properties       sarifProperties `json:"properties"`
	}
	sarifProperties struct {
		Tags  []string `json:"tags"`
		Owner string   `json:"owner,omitempty"`
	}
	sarifInvocation struct {
		ExecutionSuccessful        bool                `json:"executionSuccessful"`
		ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int64 `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
)

// WriteSARIF writes the results that did not pass as a SARIF log. A result is the same
// one in the next build if budget and function are: lines and values are not part of its
// fingerprint.
func WriteSARIF(w io.Writer, o *Document, opt Options) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: opt.Tool, Version: opt.Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: true}},
		Results:     []sarifResult{}, ColumnKind: "unicodeCodePoints",
	}
	rules := make(map[string]int)
	rule := func(r *Budget) int {
		i, ok := rules[r.Rule]
		if !ok {
			i = len(run.Tool.Driver.Rules)
			rules[r.Rule] = i
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
				ID: r.Rule, ShortDescription: sarifText{"performance budget " + text.Printable(r.Rule)},
				Properties: sarifProperties{[]string{"performance"}, r.Owner},
			})
		}
		return i
	}
	more := 0
	for _, r := range worstFirst(o) {
		level := map[verdict.Verdict]string{verdict.Fail: "error", verdict.Inconclusive: "warning", verdict.Warn: "warning"}[r.Verdict]
		if level == "" {
			continue
		}
		if len(run.Results) == maxSARIF {
			more++
			continue
		}
		file, line := place(r, o, opt)
		location := sarifLocation{PhysicalLocation: sarifPhysical{sarifArtifact{fileURI(file)}, sarifRegion{line}}}
		if r.Location.Function != "" {
			location.LogicalLocations = []sarifLogical{{text.Printable(r.Location.Function), "function"}}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: r.Rule, RuleIndex: rule(r), Level: level, Message: sarifText{r.ID + ": " + message(r)},
			Locations: []sarifLocation{location}, PartialFingerprints: map[string]string{"budgetFunction/v1": fingerprint(r)},
		})
	}
	notify := func(level, message string) {
		i := &run.Invocations[0]
		i.ToolExecutionNotifications = append(i.ToolExecutionNotifications, sarifNotification{level, sarifText{text.Printable(message)}})
	}
	notify("note", o.Sentence())
	if more > 0 {
		notify("warning", fmt.Sprintf("%d more budgets did not pass", more))
	}
	for _, warning := range o.Design.Warnings {
		notify("warning", warning)
	}
	for _, note := range o.Notes {
		notify("note", note)
	}
	return text.WriteJSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// fingerprint names what a result is about: budget and function, without lines and values.
func fingerprint(r *Budget) string {
	sum := sha256.Sum256([]byte(r.ID + "\x00" + r.Location.Function))
	return hex.EncodeToString(sum[:16])
}

// fileURI is a path as a URI reference; one that starts with a scheme would be read as such.
func fileURI(file string) string {
	u := url.URL{Path: strings.ToValidUTF8(file, "\ufffd")}
	if strings.HasPrefix(file, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
