package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/record/command"
)

// A Plan says what to record.
type Plan struct {
	Before Command `yaml:"before"`
	After  Command `yaml:"after"`
	// Runs is how many of each side.
	Runs   int `yaml:"runs"`
	Warmup int `yaml:"warmup"`
	// Seed draws the order of the runs; 0 leaves it to the system.
	Seed uint64 `yaml:"seed,omitempty"`
	// Events are named as the tool names them; none leaves the choice to the backend.
	Events []Event `yaml:"events,omitempty"`
	// Frequency is how many samples a second are taken of the event that the backend chooses, 0 for
	// about a thousand.
	Frequency int `yaml:"-"`
	// CallGraph is fp, dwarf, lbr or none, or dwarf,BYTES: so much of each stack.
	CallGraph  string `yaml:"call_graph"`
	SystemWide bool   `yaml:"system_wide,omitempty"`
	OffCPU     bool   `yaml:"off_cpu,omitempty"`
	// App is a package of Android and Process a name or ID: they are recorded while the
	// commands run, not the commands. On this machine, Process has IDs with commas between.
	App     string `yaml:"app,omitempty"`
	Process string `yaml:"process,omitempty"`
	// Duration is for how many seconds they are recorded, 0 until the command ends.
	Duration float64 `yaml:"duration,omitempty"`
	// Arguments are passed to the recorder as they are.
	Arguments []string `yaml:"arguments,omitempty"`
	// Work is the counter of work done, as the commands print it: a line NAME NUMBER.
	Work string `yaml:"work,omitempty"`
	// Operations is the work done in each run, if the commands do not print it.
	Operations float64 `yaml:"operations,omitempty"`

	// Alone says that one side is recorded, by [Alone].
	Alone bool `yaml:"-"`
}

// A Command is what runs on one side, and what runs before each run of it.
type Command struct {
	Run     string `yaml:"run"`
	Prepare string `yaml:"prepare,omitempty"`
	// Dir is where both run on this machine; "" is the working directory.
	Dir string `yaml:"dir,omitempty"`
	// Commit is what was checked out and built there, if it was for this recording.
	Commit *Commit `yaml:"commit,omitempty"`

	// Attended commands have the standard files of this process.
	Attended bool `yaml:"-"`
}

// A Commit is a state of a repository, and how it was built.
type Commit struct {
	ID      string `yaml:"id"` // in full
	Subject string `yaml:"subject"`
	// Changed is how many files of a working tree differ from the commit, and Tree is the
	// object of git that then holds all files; 0 and "" for the commit itself.
	Changed int    `yaml:"changed,omitempty"`
	Tree    string `yaml:"tree,omitempty"`
	Build   string `yaml:"build,omitempty"` // the command
}

// String names a commit in one line, as git log --oneline does.
func (c *Commit) String() string {
	if c == nil {
		return ""
	}
	name := c.ID[:min(len(c.ID), 10)] + " " + c.Subject
	switch {
	case c.Changed == 1:
		name += " (and 1 changed file)"
	case c.Changed > 1:
		name += fmt.Sprintf(" (and %d changed files)", c.Changed)
	}
	return name
}

// state is what tells commits apart, and how they were built.
func (c *Commit) state() string {
	if c == nil {
		return ""
	}
	text := c.String()
	if c.Tree != "" {
		text += ", tree " + c.Tree
	}
	if c.Build != "" {
		text += ", built by " + c.Build
	}
	return text
}

// under is the command as the last arguments of a program, or by itself.
func (c *Command) under(program []string, stderr *command.Tail) command.Program {
	return command.Program{Argv: append(program, command.Words(c.Run)...), Dir: c.Dir, Stderr: stderr, Attended: c.Attended}
}

// An Event is sampled every Period events, or Frequency times a second. With neither
// the backend chooses.
type Event struct {
	Name      string `yaml:"name"`
	Period    uint64 `yaml:"period,omitempty"`
	Frequency int    `yaml:"frequency,omitempty"`
}

// MaxRuns is the most runs of a side.
const MaxRuns = 1000

// Side is the command of a side.
func (p *Plan) Side(s Side) *Command {
	if s == Before {
		return &p.Before
	}
	return &p.After
}

func (p *Plan) check() error {
	switch {
	case strings.TrimSpace(p.Before.Run) == "" || strings.TrimSpace(p.After.Run) == "":
		return errors.New("a command is empty")
	case p.Runs < 1 || p.Runs > MaxRuns:
		return fmt.Errorf("%d runs a side, want 1 to %d", p.Runs, MaxRuns)
	case p.Warmup < 0 || p.Warmup > MaxRuns:
		return fmt.Errorf("%d runs to warm up, want 0 to %d", p.Warmup, MaxRuns)
	case p.Work != "" && p.Operations != 0:
		return errors.New("work is counted by the commands or given, not both")
	case math.IsNaN(p.Operations) || math.IsInf(p.Operations, 0) || p.Operations < 0:
		return fmt.Errorf("%v operations", p.Operations)
	case math.IsNaN(p.Duration) || math.IsInf(p.Duration, 0) || p.Duration < 0:
		return fmt.Errorf("a duration of %v s", p.Duration)
	}
	return nil
}

// Window says why the recordings are windows of time and not of what the commands do, ""
// if they are of the commands.
func (p *Plan) Window() string {
	switch {
	case p.SystemWide:
		return "recorded system-wide"
	case p.App != "":
		return "the app " + p.App + " was recorded"
	case p.Process != "":
		return "attached to the process " + p.Process
	case p.Duration > 0:
		return fmt.Sprintf("recorded for %v s", p.Duration)
	}
	return ""
}

// differs says in what two plans differ that makes their runs another experiment, ""
// if they do not. Choices that the other leaves open are no difference.
func (p *Plan) differs(o *Plan) string {
	for _, f := range []struct{ name, have, want string }{
		{"before", p.Before.Run, o.Before.Run},
		{"after", p.After.Run, o.After.Run},
		{"prepare before", p.Before.Prepare, o.Before.Prepare},
		{"prepare after", p.After.Prepare, o.After.Prepare},
		{"commit before", p.Before.Commit.state(), o.Before.Commit.state()},
		{"commit after", p.After.Commit.state(), o.After.Commit.state()},
		{"call graph", p.CallGraph, o.CallGraph},
		{"system-wide", fmt.Sprint(p.SystemWide), fmt.Sprint(o.SystemWide)},
		{"app", p.App, o.App},
		{"process", p.Process, o.Process},
		{"duration", fmt.Sprint(p.Duration), fmt.Sprint(o.Duration)},
		{"off-CPU time", fmt.Sprint(p.OffCPU), fmt.Sprint(o.OffCPU)},
		{"arguments", strings.Join(p.Arguments, " "), strings.Join(o.Arguments, " ")},
		{"work", p.Work, o.Work},
		{"operations", fmt.Sprint(p.Operations), fmt.Sprint(o.Operations)},
	} {
		if f.have != f.want {
			return fmt.Sprintf("%s was %q, is %q", f.name, f.have, f.want)
		}
	}
	if o.Seed != 0 && p.Seed != o.Seed {
		return fmt.Sprintf("the seed was %d, is %d", p.Seed, o.Seed)
	}
	if len(o.Events) > 0 && !slices.EqualFunc(p.Events, o.Events, func(a, b Event) bool {
		chosen := b.Period == 0 && b.Frequency == 0
		return a.Name == b.Name && (chosen || a == b)
	}) {
		return fmt.Sprintf("events were %s, are %s", eventNames(p.Events), eventNames(o.Events))
	}
	if o.Frequency > 0 && (len(p.Events) == 0 || p.Events[0].Frequency != o.Frequency) {
		return fmt.Sprintf("events were %s, are %d times a second", eventNames(p.Events), o.Frequency)
	}
	return ""
}

func eventNames(events []Event) string {
	var names []string
	for _, e := range events {
		switch {
		case e.Period > 0:
			names = append(names, fmt.Sprintf("%s every %d", e.Name, e.Period))
		case e.Frequency > 0:
			names = append(names, fmt.Sprintf("%s at %d Hz", e.Name, e.Frequency))
		default:
			names = append(names, e.Name)
		}
	}
	return strings.Join(names, ", ")
}

// maxCounters is how many counters of a command are noted.
const maxCounters = 64

// counters are what the command printed, and what the backend counted. The counter
// of work is the first.
func (p *Plan) counters(r *Result) ([]Counter, error) {
	work, err := p.work(r.Output)
	if err != nil {
		return nil, err
	}
	list := printed(r.Output)
	if work != nil {
		list = slices.DeleteFunc(list, func(c Counter) bool { return c.Name == work.Name })
		list = slices.Insert(list, 0, *work)
	}
	return append(list, r.Counters...), nil
}

// work is the counter of work done, nil if the plan has none.
func (p *Plan) work(output []byte) (*Counter, error) {
	switch {
	case p.Operations > 0:
		return &Counter{Name: "operations", Value: p.Operations}, nil
	case p.Work == "":
		return nil, nil
	}
	for _, c := range printed(output) {
		if c.Name == p.Work {
			if !(c.Value > 0) {
				return nil, fmt.Errorf("the command printed %s %v: work has to be above 0", c.Name, c.Value)
			}
			return &c, nil
		}
	}
	return nil, fmt.Errorf("the command printed no line %q with the work done", p.Work+" NUMBER")
}

// printed finds the lines NAME NUMBER, NAME: NUMBER and NAME=NUMBER in what a command
// wrote to standard output. The last line of a name counts.
func printed(output []byte) (list []Counter) {
	in := bufio.NewScanner(bytes.NewReader(output))
	in.Buffer(nil, command.MaxOutput+1)
	for in.Scan() {
		f := strings.FieldsFunc(in.Text(), func(r rune) bool { return r == ' ' || r == '\t' || r == ':' || r == '=' })
		if len(f) != 2 {
			continue
		}
		v, err := strconv.ParseFloat(f[1], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || len(f[0]) > 100 {
			continue
		}
		if i := slices.IndexFunc(list, func(c Counter) bool { return c.Name == f[0] }); i >= 0 {
			list[i].Value = v
		} else if len(list) < maxCounters {
			list = append(list, Counter{Name: f[0], Value: v})
		}
	}
	return list
}

// IsCallGraph reports whether perf and simpleperf know a way to record call chains: fp,
// dwarf, lbr, none, or dwarf,BYTES with what the kernel copies of a stack, a multiple of 8
// that a record has room for.
func IsCallGraph(mode string) bool {
	if size, ok := strings.CutPrefix(mode, "dwarf,"); ok {
		n, err := strconv.ParseUint(size, 10, 16)
		return err == nil && n > 0 && n%8 == 0 && n <= 65528
	}
	return slices.Contains([]string{"fp", "dwarf", "lbr", "none"}, mode)
}
