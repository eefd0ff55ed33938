package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"profdiff/internal/llvm"
	"profdiff/internal/record"
	"profdiff/internal/tools/browser"
)

// A reportCommand writes a report of a case study.
type reportCommand struct {
	name string
	dir  string // of the case study, below profiles; "" for what has no case.yaml of its own
	args []string
	exit int
	mca  bool     // needs llvm-mca
	tabs []string // beside those of a comparison
}

// built is a folder for the program, which is built when it is first needed.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "profdiff-walk-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// profdiff builds the program, once. The working directory is the folder of the repository.
var profdiff = sync.OnceValues(func() (string, error) {
	program := filepath.Join(built, "profdiff")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/profdiff").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return program, nil
})

const (
	heapDir  = "profiles/message-heap"
	knownDir = "profiles/known-slowdown"
)

// reportCommands are commands for each case study, run in the folder of the repository.
func reportCommands() []reportCommand {
	heapOps := []string{"--ops", "12000000", "--symfs", heapDir + "/symbols", "--kallsyms", heapDir + "/symbols/kallsyms"}
	counted := []string{heapDir + "/callgrind/before.out", heapDir + "/callgrind/after.out"}
	beside := []string{"--branches-before", counted[0], "--branches-after", counted[1]}
	known := []string{"--symfs", knownDir + "/symbols", "--kallsyms", knownDir + "/symbols/kallsyms", "--ops", "66000"}
	diff := func(args ...[]string) []string { return append([]string{"diff"}, slices.Concat(args...)...) }
	list := []reportCommand{
		{name: "known-slowdown same", dir: "known-slowdown", args: diff(sameRuns(), known)},
		{name: "known-slowdown slow10", dir: "known-slowdown", args: diff([]string{knownDir + "/same", knownDir + "/slow10"}, known)},
		{name: "known-slowdown slow30", dir: "known-slowdown", args: diff([]string{knownDir + "/same", knownDir + "/slow30"}, known)},
		{name: "known-slowdown shares", dir: "known-slowdown", args: diff([]string{knownDir + "/same", knownDir + "/slow30", "--normalize", "total"}, known[:4])},
		{name: "known-slowdown half", dir: "known-slowdown", args: diff([]string{knownDir + "/same", knownDir + "/half"}, known)},
		{name: "known-slowdown one run", dir: "known-slowdown", args: diff([]string{knownDir + "/same/01.data", knownDir + "/slow30/01.data.gz"}, known)},
		{name: "lock-free-queue", dir: "lock-free-queue", args: diff([]string{"profiles/lock-free-queue"})},
		{name: "lock-free-queue off-cpu", dir: "lock-free-queue/off-cpu", args: diff([]string{"profiles/lock-free-queue/off-cpu"}), tabs: []string{"offcpu"}},
		{name: "message-heap", dir: "message-heap", args: diff([]string{heapDir}, heapOps, beside), tabs: []string{"branches"}},
		{name: "message-heap predicted", dir: "message-heap", args: diff([]string{heapDir}, heapOps, beside, []string{"--predict", "--cpu", "znver5"}), tabs: []string{"branches", "pipeline"}, mca: true},
		{name: "message-heap callgrind", args: diff(counted, []string{"--symfs", heapDir + "/symbols"})},
		{name: "message-heap go", dir: "message-heap/go", args: diff([]string{"profiles/message-heap/go"})},
		{name: "message-heap nearly-sorted", dir: "message-heap/nearly-sorted", args: diff([]string{"profiles/message-heap/nearly-sorted"})},
		{name: "snapshot-merge", dir: "snapshot-merge", args: diff([]string{"profiles/snapshot-merge", "--categories", "profiles/snapshot-merge/categories.yaml"})},
		{name: "branches before", args: []string{"branches", counted[0], "--symfs", heapDir + "/symbols"}, tabs: []string{"branches"}},
		{name: "branches", args: []string{"branches", counted[0], counted[1], "--symfs", heapDir + "/symbols"}, tabs: []string{"branches"}},
		{name: "predict case", args: []string{"predict", "mca-cases/message-compare", "--cpu", "znver5"}, tabs: []string{"pipeline"}, mca: true},
		{name: "predict recordings", args: slices.Concat([]string{"predict", heapDir + "/before", heapDir + "/after", "--symfs", heapDir + "/symbols", "--cpu", "znver5"}, beside), tabs: []string{"pipeline"}, mca: true},
		{name: "check pass", args: []string{"check", heapDir, "--budget", "BUDGET", "--symfs", heapDir + "/symbols"}},
		{name: "check fail", args: []string{"check", heapDir + "/after", heapDir + "/before", "--budget", "BUDGET", "--symfs", heapDir + "/symbols"}, exit: 1},
	}
	for _, name := range []string{"inline", "lambda", "removed-path", "rename", "split"} {
		dir := "profiles/refactorings/" + name
		list = append(list, reportCommand{
			name: "refactorings " + name, dir: "refactorings/" + name,
			args: diff([]string{dir + "/before", dir + "/after", "--symfs", dir + "/symbols", "--kallsyms", dir + "/symbols/kallsyms", "--ops", "80000"}),
		})
	}
	return list
}

// sameRuns are two halves of the runs of one program, in turns.
func sameRuns() (args []string) {
	for i := 1; i <= 20; i++ {
		side := "--base"
		if i%4 == 2 || i%4 == 3 {
			side = "--head"
		}
		args = append(args, side, fmt.Sprintf(knownDir+"/same/%02d.data", i))
	}
	return args
}

const reportBudget = `version: 1
defaults: {normalize: "none", event: cpu-clock}
budgets:
  - id: whole
    match: {dso: message-heap}
    limit: {warn: +1%, fail: +3%}
  - id: compare
    match: {function: message_compare}
    limit: {fail: +5%}
`

// write runs the command. It returns the report, and what it prints: JSON of diff, else text.
func (c *reportCommand) write(t *testing.T) (page, text string) {
	t.Helper()
	dir := t.TempDir()
	page = filepath.Join(dir, "report.html")
	args := append(slices.Clone(c.args), "--html", page)
	if c.args[0] == "diff" {
		args = append(args, "--format", "json")
	}
	if i := slices.Index(args, "BUDGET"); i >= 0 {
		args[i] = filepath.Join(dir, "budget.yaml")
		if err := os.WriteFile(args[i], []byte(reportBudget), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program, err := profdiff()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != c.exit {
		t.Fatalf("%v, want exit code %d: %s", err, c.exit, &errs)
	}
	return page, out.String()
}

// A reader walks through reports, one after the other in one browser.
type reader struct {
	*browser.Page
	t    *testing.T
	file string
}

// open shows a report. The browser is started for the first.
func (r *reader) open(t *testing.T, file, fragment string, opt browser.Options) {
	t.Helper()
	r.t, r.file = t, file
	url := "file://" + file + fragment
	var err error
	if r.Page == nil {
		r.Page, err = browser.Open(context.Background(), url, opt)
		if errors.Is(err, browser.ErrMissing) {
			t.Skip(err)
		}
	} else {
		err = r.Show(url, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMarkedFrames checks which frames of real comparisons the flame graph marks.
func TestMarkedFrames(t *testing.T) {
	t.Chdir("../../..")
	r := new(reader)
	defer func() {
		if r.Page != nil {
			r.Close()
		}
	}()
	const (
		down, up    = "#view=flame", "#view=flame&dir=up"
		share, both = "#view=flame&scale=share", "#view=flame&dir=up&scale=share"
		listed      = `[...document.querySelectorAll(".changes button")].map(b => b.title)`
		decided     = `document.querySelector("[role=tabpanel]").textContent.match(/(\d+) decided frame/)?.[1] ?? "0"`
	)
	for _, test := range []struct {
		name string
		want map[string][]string // the frames that are listed, by view
		all  map[string]string   // how many are marked
	}{
		// A program against itself.
		{"known-slowdown same", map[string][]string{down: {}, up: {}, share: {}, both: {}}, nil},
		// A function that costs 30 % more. What calls it only passes that on.
		{"known-slowdown slow30", map[string][]string{down: {"digest_block"}, up: {"digest_block"}, share: {}, both: {}}, map[string]string{down: "4", up: "1"}},
		// Compared as shares of the total, shares were tested. Those of other functions only
		// made room.
		{"known-slowdown shares", map[string][]string{share: {"digest_block"}, both: {"digest_block"}}, nil},
	} {
		commands := reportCommands()
		c := commands[slices.IndexFunc(commands, func(c reportCommand) bool { return c.name == test.name })]
		file, _ := c.write(t)
		r.open(t, file, "", browser.Options{})
		for view, want := range test.want {
			r.look(view)
			if got := read[[]string](r, listed); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q are listed, want %q", test.name, view, got, want)
			}
			if n := read[float64](r, browser.ColoredPixels); (n > 0) != (len(want) > 0) {
				t.Errorf("%s, %s: %v pixels are colored, %q changed", test.name, view, n, want)
			}
			if all, ok := test.all[view]; ok {
				if got := read[string](r, decided); got != all {
					t.Errorf("%s, %s: %s frames are marked, want %s", test.name, view, got, all)
				}
			}
		}
	}
}

// quiet checks that the page loaded nothing but itself, and that it had no errors and did
// not violate its policy.
func (r *reader) quiet() {
	r.t.Helper()
	if got, want := r.Requests(), []string{"file://" + r.file}; len(got) != 1 || !strings.HasPrefix(got[0], want[0]) {
		r.t.Errorf("the page loads %q, want %q", got, want)
	}
	for _, problem := range r.Problems() {
		r.t.Errorf("the page says: %s", problem)
	}
}

func (r *reader) do(script string) {
	r.t.Helper()
	if err := r.Do(script); err != nil {
		r.t.Fatalf("%s: %v", script, err)
	}
}

// look shows a view, with all that it reads.
func (r *reader) look(fragment string) {
	r.t.Helper()
	r.do(fmt.Sprintf("location.hash = %q; %s", fragment, whenRead))
}

const whenRead = `for (let i = 0; i < 200; i++) {
	await new Promise(r => setTimeout(r, 5));
	if (!document.getElementById("panel").textContent.startsWith("Reading")) break;
}`

func read[T any](r *reader, script string) T {
	r.t.Helper()
	v, err := browser.Eval[T](r.Page, script)
	if err != nil {
		r.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// unwritten is what numbers look like that are none, and what is no text.
var unwritten = regexp.MustCompile(`\b(NaN|undefined|Infinity|null)\b|\[object`)

// sane checks what is shown: there is some, it is written, and nothing is wider than
// the window.
func (r *reader) sane(what string) {
	r.t.Helper()
	text := read[string](r, `document.getElementById("panel").innerText`)
	if len(text) < 60 {
		r.t.Errorf("%s shows %q", what, text)
	}
	if m := unwritten.FindStringIndex(text); m != nil {
		r.t.Errorf("%s has %q", what, text[max(0, m[0]-60):min(len(text), m[1]+60)])
	}
	if wide := read[float64](r, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		r.t.Errorf("%s is %v pixels wider than the window", what, wide)
	}
}

// agrees compares the verdict of a comparison with the story that the same command has as JSON.
func (r *reader) agrees(sentence, outcome, text string) {
	r.t.Helper()
	var document struct {
		Story struct {
			Outcome   string
			Sentences []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		r.t.Fatalf("%v in %.500s", err, text)
	}
	if told := document.Story; outcome != told.Outcome || typewritten(sentence)+"." != told.Sentences[0].Text {
		r.t.Errorf("the report says %s, %q, the story is %+v", outcome, sentence, told)
	}
}

var longMode = flag.Bool("long", false, "walk through the reports of all case studies")

// daily are the reports that are looked at without -long, some of each kind.
var daily = []string{
	"known-slowdown one run", "lock-free-queue off-cpu", "message-heap predicted", "snapshot-merge", "branches before", "branches", "predict case", "check fail", "refactorings split",
}

// TestReportsInBrowser writes a report of each case study and of each command that writes
// one, and walks through it in a browser: through some of each kind, with -long through
// all. With -artifacts it leaves screenshots:
//
//	go -C internal/tools test ./walk -run TestReportsInBrowser -artifacts -outputdir DIR
func TestReportsInBrowser(t *testing.T) {
	t.Chdir("../../..")
	commands := reportCommands()
	for _, dir := range cases(t) {
		name, _ := filepath.Rel("profiles", dir)
		if name == "snapshot-merge/published" {
			continue // without numbers of samples nothing can be compared
		}
		if slices.ContainsFunc(commands, func(c reportCommand) bool { return c.dir == filepath.ToSlash(name) }) {
			continue
		}
		if !exists(filepath.Join(dir, record.FileName)) {
			if exists(filepath.Join(dir, "before")) {
				t.Errorf("no report is made of %s", name)
			}
			continue
		}
		commands = append(commands, reportCommand{name: name, dir: name, args: []string{"diff", dir}})
	}
	if !*longMode {
		commands = slices.DeleteFunc(commands, func(c reportCommand) bool { return !slices.Contains(daily, c.name) })
		if len(commands) != len(daily) {
			t.Fatalf("%d of the reports %q are made", len(commands), daily)
		}
	}
	if testing.Short() {
		commands = commands[:1]
	}
	_, missing := llvm.Find(t.Context(), "")
	r, dir := new(reader), t.ArtifactDir()
	defer func() {
		if r.Page != nil {
			r.Close()
		}
	}()
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			if c.mca && missing != nil {
				t.Skip("llvm-mca is not installed")
			}
			file, text := c.write(t)
			r.open(t, file, "", browser.Options{})
			r.walk(&c, text)
			r.quiet()
			if artifacts() {
				r.photograph(filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-")))
			}
		})
	}
}

// cases lists the case studies: folders with a case.yaml. One may hold others.
func cases(t *testing.T) (found []string) {
	t.Helper()
	for _, pattern := range []string{"profiles/*/case.yaml", "profiles/*/*/case.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			found = append(found, filepath.Dir(file))
		}
	}
	if len(found) == 0 {
		t.Fatal("no case studies")
	}
	return found
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// typewritten writes numbers of reports as texts have them.
func typewritten(s string) string {
	return strings.NewReplacer("\u202f%", "%", "\u202f", " ", "−", "-").Replace(s)
}

// walk looks at everything.
func (r *reader) walk(c *reportCommand, text string) {
	t := r.t
	t.Helper()
	var meta struct {
		Verdict struct{ Outcome, Sentence string }
		Events  []struct{}
	}
	if err := json.Unmarshal([]byte(read[string](r, `document.getElementById("meta").textContent`)), &meta); err != nil {
		t.Fatal(err)
	}
	said := read[string](r, `document.querySelector(".sentence").innerText`)
	if title := read[string](r, `document.title`); !strings.Contains(title, meta.Verdict.Sentence) || !strings.Contains(said, meta.Verdict.Sentence) {
		t.Errorf("the verdict is %q, the title %q, the page says %q", meta.Verdict.Sentence, title, said)
	}
	comparison := len(meta.Events) > 0
	if c.args[0] == "diff" {
		r.agrees(meta.Verdict.Sentence, meta.Verdict.Outcome, text)
	}
	if m := unwritten.FindString(read[string](r, `document.getElementById("first").innerText`)); m != "" {
		t.Errorf("the first screen has %q", m)
	}
	want := slices.Clone(c.tabs)
	if comparison {
		want = append(want, "functions", "flame", "groups")
	}
	tabs := read[[]string](r, `[...document.querySelectorAll("[role=tab]")].map(t => t.id.slice(4))`)
	for _, tab := range want {
		if !slices.Contains(tabs, tab) {
			t.Errorf("there is no tab %s", tab)
		}
	}
	for _, tab := range tabs {
		r.do(fmt.Sprintf(`document.getElementById("tab-%s").click(); %s`, tab, whenRead))
		if got := read[string](r, `document.querySelector("[role=tab][aria-selected=true]").id`); got != "tab-"+tab {
			t.Errorf("after a click on the tab %s, %s is shown", tab, got)
		}
		r.sane(tab)
	}
	// Back and forward through all of them, as far as they are views of their own.
	if len(tabs) > 1 {
		for i := len(tabs) - 2; i >= 0; i-- {
			if err := r.Back(); err != nil {
				t.Fatal(err)
			}
			if got := read[string](r, `document.querySelector("[role=tab][aria-selected=true]").id`); got != "tab-"+tabs[i] {
				t.Errorf("back leads to %s, want %s", got, tabs[i])
			}
		}
		if err := r.Forward(); err != nil {
			t.Fatal(err)
		}
		if got := read[string](r, `document.querySelector("[role=tab][aria-selected=true]").id`); got != "tab-"+tabs[1] {
			t.Errorf("forward leads to %s, want %s", got, tabs[1])
		}
	}
	if !comparison {
		return
	}
	for _, view := range []string{"flame&dir=up", "flame&scale=share", "flame&as=table", "flame&as=table&dir=up&scale=share", "flame&mode=before", "functions&only=decided"} {
		r.look("#view=" + view)
		r.sane(view)
	}
	// A card: of what the first screen links to, or the first of the table.
	name := read[string](r, `(() => { const a = document.querySelector(".mover a[href*='function=']"); if (a) { a.click(); return a.title } return "" })()`)
	if name == "" {
		r.look("#view=functions")
		name = read[string](r, `document.querySelector(".grid .body .row .name").textContent`)
		r.do(`document.querySelector(".grid .body .row").click()`)
	}
	r.do(whenRead)
	name = strings.TrimPrefix(name, "moved under ")
	if got := read[string](r, `document.getElementById("fn")?.firstChild.textContent ?? ""`); got != name {
		t.Errorf("the card is of %q, want %q", got, name)
	}
	r.sane("the card of " + name)
}

func artifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// photograph leaves pictures of the first screen and of each tab: light and dark, as
// printed, as on a phone, and as seen by who cannot tell red from green.
func (r *reader) photograph(dir string) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		r.t.Fatal(err)
	}
	card := read[string](r, `location.hash`)
	views := []string{""}
	for _, tab := range read[[]string](r, `[...document.querySelectorAll("[role=tab]")].map(t => t.id.slice(4))`) {
		views = append(views, "view="+tab)
		switch tab {
		case "function":
			views[len(views)-1] = card[1:]
		case "flame":
			views = append(views, "view=flame&dir=up", "view=flame&as=table", "view=flame&scale=share")
		}
	}
	for _, look := range []struct {
		name string
		opt  browser.Options
	}{
		{"light", browser.Options{}},
		{"dark", browser.Options{Dark: true}},
		{"phone", browser.Options{Width: 390, Height: 844}},
		{"print", browser.Options{Width: 794, Height: 1123, Media: "print"}},
		{"deuteranopia", browser.Options{Deficiency: "deuteranopia"}},
		{"forced", browser.Options{ForcedColors: true}},
	} {
		for _, view := range views {
			if look.name == "print" && view != "" {
				continue // only the first screen is printed
			}
			r.open(r.t, r.file, "#"+view, look.opt)
			r.do(whenRead + `; document.querySelector("#panel [aria-expanded=false]")?.click()`)
			if view != "" {
				// The views begin below the first screen.
				r.do(`document.getElementById("app").scrollIntoView()`)
			}
			png, err := r.Screenshot(view == "")
			if err != nil {
				r.t.Fatal(err)
			}
			name := look.name + "-" + regexp.MustCompile(`[^\w]+`).ReplaceAllString(strings.TrimPrefix(view, "view="), "-")
			if strings.Contains(view, "function=") {
				name = look.name + "-function"
			}
			if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, "-")+".png"), png, 0o666); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}
