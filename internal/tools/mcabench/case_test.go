package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const root = "../../../mca-cases"

func loadAll(t *testing.T) []*Case {
	t.Helper()
	cases, err := load(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// need skips a test if a program is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// listingLines returns the instructions of a listing by line.
func listingLines(t *testing.T, c *Case, side, arch string) map[int]line {
	t.Helper()
	lines := make(map[int]line)
	for _, l := range parseListing(readFile(t, c.listing(side, arch))) {
		lines[l.number] = l
	}
	return lines
}

var headings = []string{"Question", "Change", "How it was recorded", "What profdiff says", "What surprised us", "Limits"}

// TestFiles checks that every case has the files and facts that mca-cases/README.md
// promises, and no others.
func TestFiles(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(root, "*/"))
	if err != nil {
		t.Fatal(err)
	}
	recorded := []string{"README.md", "branchless.aarch64.s", "branchless.c", "branchless.x86-64.s", "branchy.aarch64.s", "branchy.c", "branchy.x86-64.s", "case.yaml", "counts.tsv", "data.c"}
	want := map[string][]string{
		"comparator": {
			"README.md", "branchless.aarch64.s", "branchless.published.txt", "branchy-path1.aarch64.s", "branchy-path2.aarch64.s",
			"branchy-path3.aarch64.s", "branchy.aarch64.s", "branchy.published.txt", "case.yaml",
		},
		"atomics": {"README.md", "case.yaml", "exclusive.aarch64.s", "lse.aarch64.s", "operations.c"},
	}
	cases := loadAll(t)
	if len(cases) < 16 {
		t.Errorf("%d recorded cases", len(cases))
	}
	for _, c := range cases {
		want[c.Name] = recorded
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || filepath.Base(dir) == measuredDir {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if diff := cmp.Diff(want[filepath.Base(dir)], got); diff != "" {
			t.Errorf("%s: files: %s", dir, diff)
		}
		delete(want, filepath.Base(dir))
		var found []string
		for _, m := range regexp.MustCompile("(?m)^## (.*)$").FindAllStringSubmatch(readFile(t, filepath.Join(dir, "README.md")), -1) {
			found = append(found, m[1])
		}
		if diff := cmp.Diff(headings, found); diff != "" {
			t.Errorf("%s: headings: %s", dir, diff)
		}
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

// TestFacts checks case.yaml of the recorded cases.
func TestFacts(t *testing.T) {
	cases := loadAll(t)
	// The set of the first cases follows from the names, so that nobody chooses it by the
	// results.
	later := map[string]int{"blind": 0, "fresh": 0}
	first := slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool {
		n, ok := later[c.Set]
		if ok {
			later[c.Set] = n + 1
		}
		return ok
	})
	for set, n := range later {
		if n < 10 {
			t.Errorf("%d cases of %s", n, set)
		}
	}
	sorted := slices.SortedFunc(slices.Values(first), func(a, b *Case) int {
		x, y := sha256.Sum256([]byte(a.Name)), sha256.Sum256([]byte(b.Name))
		return bytes.Compare(x[:], y[:])
	})
	for i, c := range sorted {
		if want := []string{"tune", "report"}[i%2]; c.Set != want {
			t.Errorf("%s: set %q, want %q", c.Name, c.Set, want)
		}
	}
	for _, c := range cases {
		if c.Name != filepath.Base(c.Dir) || c.Mechanism == "" || c.Function == "" || c.Unit == "" || c.P == "" {
			t.Errorf("%s: not complete: %+v", c.Dir, c)
		}
		if c.Units < 1 || c.Units > 16384 {
			t.Errorf("%s: %d units", c.Name, c.Units)
		}
		if len(c.Branches["branchless"]) > 0 {
			t.Errorf("%s: the branchless side has branches", c.Name)
		}
		for _, arch := range Arches {
			branches := c.Branches["branchy"][arch]
			if len(branches) == 0 {
				t.Errorf("%s: no branch for %s", c.Name, arch)
			}
			if n := len(c.Branches["branchy"][Arches[0]]); len(branches) != n {
				t.Errorf("%s: %d branches for %s, %d for %s", c.Name, len(branches), arch, n, Arches[0])
			}
			lines := listingLines(t, c, "branchy", arch)
			for _, b := range branches {
				l := lines[b.Line]
				if l.text != b.Text || !l.branches(arch) || l.function != c.Function {
					t.Errorf("%s: line %d of %s is %q in %s, want the branch %q", c.Name, b.Line, arch, l.text, l.function, b.Text)
				}
				if len(b.Misses) != len(Probabilities) || slices.Max(b.Misses) > 0.5 || slices.Min(b.Misses) < 0 || b.Misses[0] != 0 {
					t.Errorf("%s: line %d of %s: misses %v", c.Name, b.Line, arch, b.Misses)
				}
			}
			for _, side := range Sides {
				defined := slices.ContainsFunc(parseListing(readFile(t, c.listing(side, arch))), func(l line) bool { return l.function == c.Function })
				if !defined {
					t.Errorf("%s: no function %s", c.listing(side, arch), c.Function)
				}
			}
		}
	}
}

// countRow is a row of counts.tsv.
type countRow struct {
	p               float64
	side, function  string
	line            int
	offset          int
	text            string
	executed, taken int64
	misses          int64
	known           float64
}

// readCountRows reads counts.tsv without its comments.
func readCountRows(t *testing.T, text string) []countRow {
	t.Helper()
	var rows []countRow
	for s := range strings.Lines(text) {
		s = strings.TrimSuffix(s, "\n")
		if strings.HasPrefix(s, "#") || s == countColumns {
			continue
		}
		f := strings.Split(s, "\t")
		if len(f) != strings.Count(countColumns, "\t")+1 {
			t.Fatalf("%q has %d columns", s, len(f))
		}
		number := func(i int) float64 {
			x, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			return x
		}
		rows = append(rows, countRow{number(0), f[1], f[2], int(number(3)), int(number(4)), f[5], int64(number(6)), int64(number(7)), int64(number(8)), number(9)})
	}
	return rows
}

// TestCounts checks counts.tsv against the listings and case.yaml: branches that
// case.yaml does not list must not depend on the data, and those that it lists must be as
// unforeseeable as it says.
func TestCounts(t *testing.T) {
	for _, c := range loadAll(t) {
		text := readFile(t, c.counts())
		for _, side := range Sides {
			sum := fmt.Sprintf("# %x  %s\n", sha256.Sum256([]byte(readFile(t, c.listing(side, "x86-64")))), filepath.Base(c.listing(side, "x86-64")))
			if !strings.Contains(text, sum) {
				t.Errorf("%s: the counts are not those of the listing of %s", c.Name, side)
			}
		}
		lines := map[string]map[int]line{}
		for _, side := range Sides {
			lines[side] = listingLines(t, c, side, "x86-64")
		}
		type key struct {
			side string
			line int
		}
		outcomes := make(map[key]map[[2]int64]bool)
		totals, sums := 0, map[string]countRow{}
		for _, r := range readCountRows(t, text) {
			i := slices.Index(Probabilities[:], r.p)
			if i < 0 || !slices.Contains(Sides[:], r.side) {
				t.Fatalf("%s: row %+v", c.Name, r)
			}
			group := fmt.Sprint(r.p, r.side)
			if r.function == total {
				totals++
				if totals > len(Probabilities)*len(Sides) || r.executed < int64(c.Units) {
					t.Errorf("%s: total %+v", c.Name, r)
				}
				sums[group] = r
				continue
			}
			l := lines[r.side][r.line]
			if l.text != r.text || l.function != r.function {
				t.Errorf("%s: line %d of %s is %q in %s, the counts have %q in %s", c.Name, r.line, r.side, l.text, l.function, r.text, r.function)
			}
			if r.taken > r.executed || r.misses > r.executed || r.known > float64(r.executed)/2 {
				t.Errorf("%s: more taken or mispredicted than executed: %+v", c.Name, r)
			}
			s := sums[group]
			s.taken, s.misses, s.known = s.taken-r.taken, s.misses-r.misses, s.known-r.known
			sums[group] = s
			if !l.branches("x86-64") {
				continue
			}
			if want := float64(r.executed) * c.known(r.side, "x86-64", r.line, i); r.known != want {
				t.Errorf("%s: %+v, want %g known mispredictions", c.Name, r, want)
			}
			listed := slices.ContainsFunc(c.Branches[r.side]["x86-64"], func(b Branch) bool { return b.Line == r.line })
			if listed {
				// The rarer outcome comes as often as no predictor can foresee: within five
				// standard deviations.
				rarer := float64(min(r.taken, r.executed-r.taken))
				want, n := r.known, float64(r.executed)
				if i > 0 && rarer > 0 && c.Name != "varint-decode" && (rarer-want)*(rarer-want) > 25*n*0.25 {
					t.Errorf("%s: p %g line %d: the rarer outcome %g times in %g, known %g", c.Name, r.p, r.line, rarer, n, want)
				}
				continue
			}
			k := key{r.side, r.line}
			if outcomes[k] == nil {
				outcomes[k] = make(map[[2]int64]bool)
			}
			outcomes[k][[2]int64{r.executed, r.taken}] = true
		}
		if totals != len(Probabilities)*len(Sides) {
			t.Errorf("%s: %d totals", c.Name, totals)
		}
		for group, s := range sums {
			if s.taken != 0 || s.misses != 0 || s.known > 1e-6 || s.known < -1e-6 {
				t.Errorf("%s: %s: the rows and their total differ by %+v", c.Name, group, s)
			}
		}
		for k, seen := range outcomes {
			if k.side == "branchless" && len(seen) != 1 {
				t.Errorf("%s: the branch in line %d of branchless depends on the data: %v", c.Name, k.line, seen)
			}
		}
		// For AArch64 nothing was counted. The same source may not have more branches.
		conditional := func(arch string) (n int) {
			for _, l := range listingLines(t, c, "branchless", arch) {
				if l.branches(arch) {
					n++
				}
			}
			return n
		}
		if x86, arm := conditional("x86-64"), conditional("aarch64"); arm > x86 {
			t.Errorf("%s: branchless has %d conditional branches for AArch64, %d for x86-64", c.Name, arm, x86)
		}
	}
}

// TestMeasured checks that there is every case and side of each CPU, of the listings as
// they are, and figures that make sense.
func TestMeasured(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, measuredDir, "*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { testMeasured(t, file) })
	}
}

func testMeasured(t *testing.T, file string) {
	text := readFile(t, file)
	if _, err := readMeasured(text); err != nil {
		t.Fatal(err)
	}
	for _, fact := range []string{"# machine: ", "# compiler: ", "# date: ", "# command: ", "# checks: "} {
		if !strings.Contains(text, "\n"+fact) {
			t.Errorf("the header has no %q", fact)
		}
	}
	checked := regexp.MustCompile(`a multiplication takes ([\d.]+) cycles`).FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "# date: "); len(checked) == 0 || len(checked) != n {
		t.Fatalf("%d checks of the cycle, %d dates", len(checked), n)
	}
	for _, m := range checked {
		if x, err := strconv.ParseFloat(m[1], 64); err != nil || x < 2.97 || x > 3.03 {
			t.Errorf("a multiplication takes %s cycles: a cycle is not a cycle", m[1])
		}
	}
	rows := make(map[string][]string)
	for s := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(s, "\n"), "\t")
		if len(f) == strings.Count(measuredColumns, "\t")+1 {
			rows[strings.Join([]string{f[0], f[1], f[3], f[4]}, " ")] = f
		}
	}
	n := 1 // the names of the columns
	for _, c := range loadAll(t) {
		for _, p := range Probabilities {
			for _, side := range Sides {
				n++
				key := fmt.Sprintf("%s x86-64 %g %s", c.Name, p, side)
				f, ok := rows[key]
				if !ok {
					t.Errorf("%s was not measured", key)
					continue
				}
				if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(readFile(t, c.listing(side, "x86-64"))))); f[12] != sum {
					t.Errorf("%s: another listing was measured", key)
				}
				var v []float64
				for _, i := range []int{5, 6, 7, 8, 9, 11} {
					x, err := strconv.ParseFloat(f[i], 64)
					if err != nil {
						t.Fatal(err)
					}
					v = append(v, x)
				}
				if !(0 < v[1] && v[1] <= v[0] && v[0] <= v[2]) || v[4] < 300 {
					t.Errorf("%s: %v", key, f)
				}
				// No CPU does more than ten instructions in a cycle.
				if v[0] < v[5]/10 {
					t.Errorf("%s: %g instructions in %g cycles", key, v[5], v[0])
				}
			}
		}
	}
	if len(rows) != n {
		t.Errorf("%d rows, want %d", len(rows), n)
	}
}

// TestDocuments checks that the tables in the documents follow from what was measured.
func TestDocuments(t *testing.T) {
	all, err := documents(root, loadAll(t))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range all {
		if diff := cmp.Diff(string(want), readFile(t, file)); diff != "" {
			t.Errorf("%s: run go -C internal/tools run ./mcabench readme: %s", file, diff)
		}
	}
}

var ident = regexp.MustCompile(`(?m)^\t\.ident\t.*$`)

// sameListing checks a listing against what today's compiler makes of the source, or if
// that is another version, only that it can be assembled.
func sameListing(t *testing.T, file, compiler string, compiled []byte) {
	t.Helper()
	kept := readFile(t, file)
	if ident.FindString(kept) == "" {
		t.Errorf("%s does not name its compiler", file)
	}
	if ident.FindString(kept) == ident.FindString(string(compiled)) {
		if diff := cmp.Diff(kept, string(compiled)); diff != "" {
			t.Errorf("%s: run go -C internal/tools run ./mcabench assemble: %s", file, diff)
		}
		return
	}
	assembles(t, file, compiler)
}

func assembles(t *testing.T, file, compiler string) {
	t.Helper()
	if _, err := output(t.Context(), compiler, "-c", "-o", filepath.Join(t.TempDir(), "object.o"), file); err != nil {
		t.Error(err)
	}
}

func TestListings(t *testing.T) {
	for _, arch := range Arches {
		t.Run(arch, func(t *testing.T) {
			need(t, compilers["gcc"][arch][0])
			for _, c := range loadAll(t) {
				if _, err := exec.LookPath(compilers[c.Compiler][arch][0]); err != nil {
					t.Logf("%s is not installed: %s is only assembled", compilers[c.Compiler][arch][0], c.Name)
					for _, side := range Sides {
						assembles(t, c.listing(side, arch), compilers["gcc"][arch][0])
					}
					continue
				}
				for _, side := range Sides {
					compiled, err := compile(t.Context(), c, side, arch)
					if err != nil {
						t.Fatal(err)
					}
					sameListing(t, c.listing(side, arch), compilers["gcc"][arch][0], compiled)
				}
			}
		})
	}
}

// needNative skips a test on machines that the programs are not for.
func needNative(t *testing.T) {
	t.Helper()
	need(t, "gcc", "objcopy")
	out, err := output(t.Context(), "gcc", "-dumpmachine")
	if err != nil || !strings.HasPrefix(string(out), "x86_64-linux") {
		t.Skipf("gcc makes programs for %s, not x86_64-linux", bytes.TrimSpace(out))
	}
}

// TestChecksums checks that both sides do the same, and that the checksum depends on the
// data.
func TestChecksums(t *testing.T) {
	needNative(t)
	dir := t.TempDir()
	for _, c := range loadAll(t) {
		program, err := build(t.Context(), c, dir, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, p := range Probabilities {
			for seed := range 3 {
				out, err := output(t.Context(), program, "check", strconv.Itoa(seed+1), "100", strconv.FormatFloat(p, 'g', -1, 64))
				if err != nil {
					t.Fatal(err)
				}
				f := strings.Fields(string(out))
				if len(f) != 4 || f[0] != Sides[0] || f[2] != Sides[1] || f[1] != f[3] {
					t.Errorf("%s: p %g: %s", c.Name, p, out)
					continue
				}
				seen[f[1]] = true
			}
		}
		// Some results depend on p but not on the seed, others the other way round.
		if len(seen) < 3 {
			t.Errorf("%s: %d different checksums of 15", c.Name, len(seen))
		}
	}
}

// TestCountAgain counts some cases again: what is executed must be what counts.tsv says.
// What Valgrind's predictor makes of it depends on addresses.
func TestCountAgain(t *testing.T) {
	needNative(t)
	need(t, "valgrind")
	for _, name := range []string{"call-in-loop", "heap-sift"} {
		cases, err := load(root, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		counts, err := countCase(t.Context(), cases[0], t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		text, err := formatCounts(cases[0], counts, "")
		if err != nil {
			t.Fatal(err)
		}
		got, want := readCountRows(t, string(text)), readCountRows(t, readFile(t, cases[0].counts()))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(countRow{}), cmpopts.IgnoreFields(countRow{}, "misses")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestComparator checks the published case: paths are parts of the listing, and the
// timelines are of the listings.
func TestComparator(t *testing.T) {
	dir := filepath.Join(root, "comparator")
	var facts struct {
		Name, Origin string
		Source       map[string]string
		Listings     map[string]struct {
			Instructions int
			Executed     bool
		}
		Published map[string]string
	}
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(dir, "case.yaml"))), &facts); err != nil {
		t.Fatal(err)
	}
	if facts.Name != "comparator" || facts.Origin != "published" || facts.Source["author"] == "" || facts.Source["title"] == "" {
		t.Errorf("not complete: %+v", facts)
	}
	texts := make(map[string][]string)
	for name, l := range facts.Listings {
		file := filepath.Join(dir, name+".aarch64.s")
		for _, l := range parseListing(readFile(t, file)) {
			texts[name] = append(texts[name], l.text)
		}
		if len(texts[name]) != l.Instructions {
			t.Errorf("%s: %d instructions, want %d", name, len(texts[name]), l.Instructions)
		}
	}
	for name, path := range texts {
		if !strings.HasPrefix(name, "branchy-") {
			continue
		}
		rest := texts["branchy"]
		for _, s := range path {
			i := slices.Index(rest, s)
			if i < 0 {
				t.Errorf("%s: %q is not on a path through the listing", name, s)
				break
			}
			rest = rest[i+1:]
		}
	}
	row := regexp.MustCompile(`^\[0,(\d+)\] ([.De=ER -]+) ([a-z][a-z.]* ?.*)$`)
	for name, file := range facts.Published {
		rows := strings.Split(strings.TrimSuffix(readFile(t, filepath.Join(dir, file)), "\n"), "\n")
		var got []string
		for i, s := range rows {
			m := row.FindStringSubmatch(s)
			if m == nil || m[1] != strconv.Itoa(i) {
				t.Fatalf("%s: %q is no row of a timeline", file, s)
			}
			got = append(got, m[3])
		}
		if diff := cmp.Diff(texts[name], got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	need(t, compilers["gcc"]["aarch64"][0])
	for name := range facts.Listings {
		assembles(t, filepath.Join(dir, name+".aarch64.s"), compilers["gcc"]["aarch64"][0])
	}
}

// TestAtomics compiles the synthetic case by its commands.
func TestAtomics(t *testing.T) {
	dir := filepath.Join(root, "atomics")
	var facts struct {
		Name, Origin string
		Listings     map[string]struct{ Instructions int }
		Commands     map[string]string
	}
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(dir, "case.yaml"))), &facts); err != nil {
		t.Fatal(err)
	}
	if facts.Name != "atomics" || facts.Origin != "synthetic" || len(facts.Listings) != 2 {
		t.Errorf("not complete: %+v", facts)
	}
	need(t, compilers["gcc"]["aarch64"][0])
	for name, l := range facts.Listings {
		file := filepath.Join(dir, name+".aarch64.s")
		lines := parseListing(readFile(t, file))
		if len(lines) != l.Instructions {
			t.Errorf("%s: %d instructions, want %d", name, len(lines), l.Instructions)
		}
		exclusive := slices.ContainsFunc(lines, func(l line) bool { return strings.Contains(l.text, "xr ") })
		if exclusive != (name == "exclusive") {
			t.Errorf("%s: loads and stores exclusively: %v", name, exclusive)
		}
		command := strings.Fields(facts.Commands[name])
		if len(command) == 0 {
			t.Errorf("%s: no command", name)
			continue
		}
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = dir
		compiled, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		sameListing(t, file, compilers["gcc"]["aarch64"][0], canonical(compiled))
	}
}
