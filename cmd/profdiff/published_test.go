package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/goccy/go-yaml"
)

// publishedCase is what case.yaml of a case with published numbers says.
type publishedCase struct {
	Event    string
	Profiles []publishedProfile
}

// A publishedProfile is a table of the source as a profile.
type publishedProfile struct {
	Name  string
	File  string // the profile
	Rows  string // the table
	Total struct{ Cycles, Least, Most int64 }
	// Says are shares that the source states in words.
	Says []struct {
		Category string
		Percent  float64
		// To is the step to which it was rounded down: 1 is whole percents.
		To float64
	}
}

// A publishedRow is a row of a table: a function along one path.
type publishedRow struct {
	Depth             int
	Total, TotalShare string
	Self, SelfShare   string
	Location          string
	deduced           bool // Self is not in the source
}

const notShown = "[not shown]"

func readPublished(t *testing.T, dir string) *publishedCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := new(publishedCase)
	if err := yaml.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	if len(c.Profiles) == 0 {
		t.Fatal("case.yaml has no profiles")
	}
	return c
}

func readPublishedRows(t *testing.T, file string) []publishedRow {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if want := "depth\ttotal\ttotal_share\tself\tself_share\tlocation"; lines[0] != want {
		t.Fatalf("%s: columns %q, want %q", file, lines[0], want)
	}
	var rows []publishedRow
	for i, line := range lines[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			t.Fatalf("%s:%d: %d columns", file, i+2, len(f))
		}
		depth, err := strconv.Atoi(f[0])
		if err != nil || depth < 0 || i == 0 && depth > 0 || i > 0 && depth > rows[i-1].Depth+1 {
			t.Fatalf("%s:%d: depth %q", file, i+2, f[0])
		}
		self, deduced := strings.CutPrefix(f[3], "~")
		rows = append(rows, publishedRow{depth, f[1], f[2], self, f[4], f[5], deduced})
	}
	return rows
}

func cycles(t *testing.T, s string) int64 {
	t.Helper()
	v, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// stacks makes folded stacks of a table: self time as it says, and what is left of a
// row's total as a frame [not shown] below it.
func (p *publishedProfile) stacks(t *testing.T, rows []publishedRow) map[string]int64 {
	t.Helper()
	stacks := make(map[string]int64)
	add := func(path []string, weight int64) {
		key := strings.Join(path, ";")
		if _, twice := stacks[key]; twice || weight < 0 {
			t.Errorf("%s: stack %s has weight %d, twice: %v", p.Name, key, weight, twice)
		}
		if weight > 0 {
			stacks[key] = weight
		}
	}
	rest := p.Total.Cycles
	for i, row := range rows {
		path := []string{row.Location}
		for depth, j := row.Depth, i-1; j >= 0; j-- {
			if rows[j].Depth < depth {
				depth = rows[j].Depth
				path = append([]string{rows[j].Location}, path...)
			}
		}
		total, self := cycles(t, row.Total), cycles(t, row.Self)
		below := total - self
		for _, child := range rows[i+1:] {
			if child.Depth <= row.Depth {
				break
			}
			if child.Depth == row.Depth+1 {
				below -= cycles(t, child.Total)
			}
		}
		add(path, self)
		add(append(path, notShown), below)
		if row.Depth == 0 {
			rest -= total
		}
	}
	add([]string{notShown}, rest)
	return stacks
}

// writePublished writes stacks as a pprof profile without numbers of samples.
func writePublished(t *testing.T, file, event string, stacks map[string]int64) {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: event, Unit: event}}}
	locations := make(map[string]*profile.Location)
	var keys []string
	for key := range stacks {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		s := &profile.Sample{Value: []int64{0, stacks[key]}}
		for name := range strings.SplitSeq(key, ";") {
			l := locations[name]
			if l == nil {
				f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
				l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				p.Function, p.Location = append(p.Function, f), append(p.Location, l)
				locations[name] = l
			}
			s.Location = append([]*profile.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// runShow returns what profdiff show prints.
func runShow(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), append([]string{"show"}, args...), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("show %v: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

var publishedTreeLine = regexp.MustCompile(`^ *([0-9,]+) +([0-9.]+%) +([0-9,]+) +([0-9.]+%) +-  ( *)(\S.*)$`)

// printedTree reads what show --tree --exact prints.
func printedTree(t *testing.T, text string) []publishedRow {
	t.Helper()
	var rows []publishedRow
	for line := range strings.Lines(text) {
		if m := publishedTreeLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			rows = append(rows, publishedRow{len(m[5]) / 2, m[1], m[2], m[3], m[4], m[6], false})
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no tree in %s", text)
	}
	return rows
}

// TestPublishedSnapshotMerge compares what profdiff prints of the published profiles
// with the tables of their source, number by number.
func TestPublishedSnapshotMerge(t *testing.T) {
	const dir = "../../profiles/snapshot-merge/published"
	c := readPublished(t, dir)
	for _, p := range c.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			rows := readPublishedRows(t, filepath.Join(dir, p.Rows))
			p.checkTotal(t, rows)
			file := filepath.Join(dir, p.File)
			stacks := p.stacks(t, rows)
			if *update {
				writePublished(t, file, c.Event, stacks)
			}
			got := make(map[string]int64)
			for _, s := range convert(t, file).Sample {
				var path []string
				for _, l := range slices.Backward(s.Location) {
					path = append(path, l.Line[0].Function.Name)
				}
				got[strings.Join(path, ";")] += s.Value[1]
				if s.Value[0] != 0 {
					t.Errorf("%v has %d samples: the source does not say how many", path, s.Value[0])
				}
			}
			if diff := cmp.Diff(stacks, got); diff != "" {
				t.Errorf("%s is not what its rows make, -update rewrites it: %s", file, diff)
			}
			p.checkTree(t, rows, runShow(t, file, "--tree", "--exact", "--min-share", "0"))
			p.checkCategories(t, runShow(t, file, "--by", "category", "--categories", filepath.Join(dir, "categories.yaml"), "--exact"))
		})
	}
}

// checkTotal checks the total, which the source does not have, with the bounds that its
// percentages set.
func (p *publishedProfile) checkTotal(t *testing.T, rows []publishedRow) {
	t.Helper()
	least, most := 0.0, math.Inf(1)
	bound := func(weight int64, share string) {
		digits := strings.TrimSuffix(share, "%")
		percent, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			t.Fatal(err)
		}
		if percent == 0 {
			if weight != 0 {
				t.Errorf("%d cycles are %s", weight, share)
			}
			return
		}
		_, decimals, _ := strings.Cut(digits, ".")
		half := 0.5 * math.Pow10(-len(decimals))
		least = max(least, 100*float64(weight)/(percent+half))
		most = min(most, 100*float64(weight)/(percent-half))
	}
	for _, row := range rows {
		bound(cycles(t, row.Total), row.TotalShare)
		if !row.deduced {
			bound(cycles(t, row.Self), row.SelfShare)
		}
	}
	if got, want := fmt.Sprintf("%.0f to %.0f", math.Ceil(least), math.Floor(most)), fmt.Sprintf("%d to %d", p.Total.Least, p.Total.Most); got != want {
		t.Errorf("the percentages allow a total of %s cycles, case.yaml says %s", got, want)
	}
	if p.Total.Cycles < p.Total.Least || p.Total.Cycles > p.Total.Most {
		t.Errorf("total %d is not between %d and %d", p.Total.Cycles, p.Total.Least, p.Total.Most)
	}
}

// checkTree compares all rows of a tree, which may be in another order among those
// with the same caller.
func (p *publishedProfile) checkTree(t *testing.T, want []publishedRow, text string) {
	t.Helper()
	key := func(rows []publishedRow) map[string]publishedRow {
		byPath := make(map[string]publishedRow)
		var path []string
		for _, row := range rows {
			path = append(path[:row.Depth], row.Location)
			row.deduced = false
			if row.Location != notShown {
				byPath[strings.Join(path, ";")] = row
			}
		}
		if len(byPath) == 0 {
			t.Error("no rows")
		}
		return byPath
	}
	got := key(printedTree(t, text))
	if diff := cmp.Diff(key(want), got, cmp.AllowUnexported(publishedRow{})); diff != "" {
		t.Errorf("show --tree: %s", diff)
	}
}

var publishedCategoryLine = regexp.MustCompile(`^ *([0-9,]+) +([0-9.]+)% +-  (\S.*)$`)

// checkCategories checks that the categories sum to the total and have the shares that
// the source states in words.
func (p *publishedProfile) checkCategories(t *testing.T, text string) {
	t.Helper()
	shares := make(map[string]float64)
	sum := int64(0)
	for line := range strings.Lines(text) {
		m := publishedCategoryLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		share, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		shares[m[3]] = share
		sum += cycles(t, m[1])
	}
	if sum != p.Total.Cycles {
		t.Errorf("categories sum to %d, want %d", sum, p.Total.Cycles)
	}
	for _, s := range p.Says {
		if got := math.Floor(shares[s.Category]/s.To) * s.To; got != s.Percent {
			t.Errorf("%s is %v%%, the source says %v%%", s.Category, shares[s.Category], s.Percent)
		}
	}
}
