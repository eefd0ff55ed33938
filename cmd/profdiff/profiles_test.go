package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// caseFile is what case.yaml of a case study must say; it may say more.
type caseFile struct {
	Name     string
	Origin   string
	Machine  struct{ CPU, Device string }
	Source   map[string]string // of published cases
	Kernel   string
	Tools    map[string]string
	Commands map[string]string
	Event    string
	Builds   map[string]struct {
		Path    string
		BuildID string `yaml:"build_id"`
		SHA256  string
		Runs    int // 0: RunsPerSide
	}
	RunsPerSide int `yaml:"runs_per_side"`
	Runs        []struct {
		File    string
		Samples int64
		Bytes   int64
		SHA256  string
	}
	OtherInputs map[string]string `yaml:"other_inputs_sha256"`
	Expected    expectations
	// Comparisons is for a case with more than two sides.
	Comparisons map[string]comparison
	// Operations is the work that each run does, if no notes of profdiff record say it.
	Operations float64
}

// Sizes of case studies in bytes.
const (
	maxRecording = 256 << 10
	maxCase      = 6 << 20
	maxCases     = 20_000_000 // together
)

// cases lists the case studies below dir: folders with a case.yaml. One may hold others,
// which tell the same story from another source.
func cases(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue // record.sh
		}
		story := len(found)
		for _, pattern := range []string{"case.yaml", "*/case.yaml"} {
			files, err := filepath.Glob(filepath.Join(dir, e.Name(), pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				found = append(found, filepath.Dir(file))
			}
		}
		if len(found) == story {
			t.Errorf("%s has no case.yaml", filepath.Join(dir, e.Name()))
		}
	}
	if len(found) == 0 {
		t.Fatal("no case studies")
	}
	return found
}

// TestProfiles checks that every case study is whole: it has the files that case.yaml
// lists, its recordings hold what it says, and they fit into a repository.
func TestProfiles(t *testing.T) {
	const root = "../../profiles"
	for _, dir := range cases(t, root) {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testProfile(t, dir, name)
		})
	}
	var total int64
	err := filepath.WalkDir(root, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > maxCases {
		t.Errorf("the case studies have %d bytes, at most %d: see internal/tools/slim", total, maxCases)
	}
}

func testProfile(t *testing.T, dir, name string) {
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var headings []string
	for _, m := range regexp.MustCompile("(?m)^## (.*)$").FindAllStringSubmatch(string(readme), -1) {
		headings = append(headings, m[1])
	}
	want := []string{"Question", "Change", "How it was recorded", "What profdiff says", "What surprised us", "Limits"}
	if diff := cmp.Diff(want, headings); diff != "" {
		t.Errorf("headings: %s", diff)
	}

	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c caseFile
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if c.Name != name || !slices.Contains([]string{"recorded", "published", "synthetic"}, c.Origin) {
		t.Errorf("name %q, origin %q", c.Name, c.Origin)
	}
	complete := c.Machine.CPU != "" && c.Kernel != "" && len(c.Tools) > 0 && c.Commands["record"] != ""
	if c.Origin == "published" {
		// What the source does not say cannot be required.
		complete = c.Machine.Device != "" && c.Source["author"] != "" && len(c.Runs) == 0 && len(c.OtherInputs) > 0
	}
	if !complete || c.Event == "" {
		t.Errorf("case.yaml is not complete: %+v", c)
	}
	runs := make(map[string]int) // by build
	for _, r := range c.Runs {
		build, _, _ := strings.Cut(r.File, "/")
		runs[build]++
	}
	for build, b := range c.Builds {
		want := b.Runs
		if want == 0 {
			want = c.RunsPerSide
		}
		if runs[build] != want {
			t.Errorf("%d runs of %s, want %d", runs[build], build, want)
		}
	}

	listed := map[string]bool{"README.md": true, "case.yaml": true}
	check := func(file, sum string) []byte {
		listed[file] = true
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
			return nil
		}
		if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s: SHA-256 is %x", file, got)
		}
		return data
	}
	for _, r := range c.Runs {
		data := check(r.File, r.SHA256)
		if int64(len(data)) != r.Bytes || len(data) > maxRecording {
			t.Errorf("%s: %d bytes, case.yaml says %d, at most %d", r.File, len(data), r.Bytes, maxRecording)
		}
		side, _, _ := strings.Cut(r.File, "/")
		p := convert(t, filepath.Join(dir, r.File))
		samples, found := int64(0), false
		for _, s := range p.Sample {
			samples += s.Value[0]
		}
		for _, m := range p.Mapping {
			found = found || m.BuildID == c.Builds[side].BuildID && m.File == c.Builds[side].Path
		}
		if samples != r.Samples || !found || p.SampleType[1].Type != c.Event {
			t.Errorf("%s: %d samples of %v, case.yaml says %d of %s; binary with its build ID: %v", r.File, samples, p.SampleType[1], r.Samples, c.Event, found)
		}
	}
	for _, b := range c.Builds {
		check(filepath.Join("symbols", b.Path), b.SHA256)
	}
	for file, sum := range c.OtherInputs {
		check(file, sum)
	}
	var total int64
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "case.yaml")); err == nil && path != dir {
				return filepath.SkipDir // a case of its own
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		name, err := filepath.Rel(dir, path)
		if !listed[name] && !strings.HasPrefix(name, "callgrind/") {
			t.Errorf("%s is not listed in case.yaml", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > maxCase {
		t.Errorf("%d bytes, at most %d", total, maxCase)
	}
}
