package diff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Leads are what one run a side tells: where to look first, and how to get verdicts.
type Leads struct {
	Headline string `json:"headline"`
	// Functions are indices in the document's functions, the strongest lead first: what is
	// furthest from sampling noise, and behind these what few samples tell. A function is there
	// once, in the event where its lead is strongest.
	Functions []int `json:"functions"`
	// RunsNeeded are how many of each side would probably decide. Record is the command line
	// that records as many, or the most that are proposed, and Note what to know of it, "" if
	// nothing.
	RunsNeeded int    `json:"runs_needed"`
	Record     string `json:"record"`
	Note       string `json:"note"`

	// again is Record with the arguments of what was recorded, for who recorded it.
	again string
}

// needs says what would decide.
func (l *Leads) needs() string {
	switch {
	case l.RunsNeeded <= verdict.MostRuns:
		return fmt.Sprintf("%d runs a side would probably decide", l.RunsNeeded)
	case l.RunsNeeded >= stats.MaxRuns:
		return fmt.Sprintf("%d or more runs a side would decide, or longer ones", stats.MaxRuns)
	}
	return fmt.Sprintf("about %d runs a side would decide, or longer ones", l.RunsNeeded)
}

// how says what would decide, and introduces the command that does.
func (l *Leads) how() string {
	if l.RunsNeeded <= verdict.MostRuns {
		return l.Headline + "; " + l.needs()
	}
	return l.Headline + "; " + l.needs() + "; to begin with"
}

// How says what would decide, as the start of a sentence.
func (l *Leads) How() string { return "O" + l.how()[1:] }

// addLeads ranks leads, and says how to decide them.
func (b *builder) addLeads() {
	c := b.c
	if !c.Events[0].Total.Method.Single() {
		b.Until, _ = recordLine(c, true, "--until", "decided")
		return
	}
	l := &Leads{Headline: verdict.NoVerdicts, Functions: []int{}}
	var findings []*verdict.Finding
	var all []int
	for i := range c.Events {
		for j := range c.Events[i].Functions {
			all, findings = append(all, len(findings)), append(findings, &c.Events[i].Functions[j].Self.Finding)
		}
	}
	l.Functions = append(l.Functions, verdict.Leads(all,
		func(i int) verdict.Strength { return findings[i].Strength() },
		func(i int) (functionKey, string) { return b.Functions[i].key(), b.Functions[i].Event })...)
	var leads []*verdict.Finding
	told := make(map[int]bool)
	for _, i := range l.Functions {
		leads, told[i] = append(leads, findings[i]), true
	}
	for i := range b.Functions {
		b.Functions[i].Elsewhere = b.Functions[i].Self.Lead != verdict.NoLead && !told[i]
	}
	rule := verdict.Rule{Margin: c.Options.Margin, FalseDiscovery: c.Options.FalseDiscovery}
	l.RunsNeeded = rule.RunsFor(&c.Events[0].Total.Finding, leads)
	runs := strconv.Itoa(min(l.RunsNeeded, verdict.MostRuns))
	l.Record, l.Note = recordLine(c, b.commands, "--runs", runs)
	l.again, _ = recordLine(c, true, "--runs", runs)
	b.Leads = l
}

// callGraph is how call chains were recorded, if not by frame pointers.
var callGraph = regexp.MustCompile(`--call-graph[ =]((?:dwarf|lbr)(?:,\d+)?)`)

// recordLine is the command line that records what was recorded again, with flags that say how often,
// and what to know of it. Arguments, which may be secret, are in it only with commands.
func recordLine(c *compare.Comparison, commands bool, often ...string) (line, note string) {
	if c.Base[0].Recording.Timeline || !run.IsOfPerf(c.Events[0].Name) {
		return "profdiff diff BEFORE AFTER", fmt.Sprintf("BEFORE and AFTER are folders with %s recordings each, made as these were", often[len(often)-1])
	}
	rec := &c.Base[0].Recording
	before, after := rec.ProgramLine(), c.Head[0].Recording.ProgramLine()
	words := []string{"profdiff", "record"}
	if strings.HasPrefix(rec.Tool, "simpleperf") {
		words = append(words, "--with", "simpleperf")
	}
	offCPU := slices.ContainsFunc(c.Base[0].Events, func(e run.Event) bool { return e.Name == "off-cpu" && e.Derived })
	if offCPU {
		words = append(words, "--off-cpu")
	}
	if name, _ := run.SplitEvent(run.CanonicalEvent(c.Events[0].Name)); !offCPU && !slices.Contains([]string{"cpu-cycles", "cpu-clock", "task-clock"}, name) {
		words = append(words, "-e", c.Events[0].Name)
	}
	if m := callGraph.FindStringSubmatch(rec.CommandLine); m != nil {
		words = append(words, "--call-graph", m[1])
	}
	window := c.Base[0].Window()
	if window == run.SystemWide {
		words = append(words, "-a")
	}
	if n := c.Events[0].Normalization; n.Mode == PerWork && slices.ContainsFunc(c.Base[0].Counters, func(c run.Counter) bool { return c.Name == n.By }) {
		words = append(words, "--work", n.By)
	}
	if ops := c.Options.Ops; ops != nil && ops[0] == ops[1] {
		words = append(words, "--ops", strconv.FormatFloat(ops[0], 'f', -1, 64))
	}
	end := append(often, "-o", "runs")
	same := before == after
	if !commands {
		before, after = rec.ProgramHint(), c.Head[0].Recording.ProgramHint()
	}
	switch {
	case window != "" && same:
		before, after = "", ""
		note = "a window of time was recorded (" + window + "): CMD does the work, before and after the change"
	case same && before != "":
		if commands && strings.ContainsAny(before, "|&;<>()$`\n") {
			before = run.JoinWords([]string{"sh", "-c", before})
		}
		words = append(append(words, "--git", "BASE..HEAD", "--build", "CMD"), end...)
		return run.JoinWords(words) + " -- " + before, "both sides ran the same command: BASE..HEAD are the commits of the two builds, CMD builds one"
	case before == "" || after == "":
		note = "the recordings do not say what was run: CMD runs the program before and after the change"
	}
	words = append(words, "--before", cmp.Or(before, "CMD"), "--after", cmp.Or(after, "CMD"))
	return run.JoinWords(append(words, end...)), note
}

// A functionKey says which function of the program it is, whatever the event.
type functionKey struct{ name, dso, baseName, baseDSO string }

func (f *Function) key() functionKey { return functionKey{f.Name, f.DSO, f.BaseName, f.BaseDSO} }

// Strength is what the change is ranked by, if it is a lead.
func (c *Change) Strength() verdict.Strength {
	return verdict.Strength{Lead: c.Lead, Few: c.Few, Distance: float64(c.Distance)}
}

// ranked puts the strongest leads first, if there is one run a side; else the order stays.
func ranked[T any](e *Event, list []T, of func(T) *Change) {
	if e.Single() {
		slices.SortStableFunc(list, func(a, b T) int { return of(a).Strength().Compare(of(b).Strength()) })
	}
}
