package html

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"profdiff/internal/compare/comparetest"
	"profdiff/internal/listing"
	"profdiff/internal/llvm"
	"profdiff/internal/predict"
	"profdiff/internal/report/diff"
	reportpredict "profdiff/internal/report/predict"
	"profdiff/internal/report/waits"
	"profdiff/internal/source"
	"profdiff/internal/verdict"
	"profdiff/internal/wait"
)

// again reads a page and writes it.
func again(t testing.TB, page []byte) []byte {
	t.Helper()
	p, err := Read(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, p)
}

// pages are one of every kind of document, by name.
func pages(t testing.TB) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	d := sample(t, small())
	all["comparison"] = render(t, d)
	d.Budgets = []Budget{{Name: "total", Limit: "+1.0\u202f%", Measured: "+1.4\u202f%", Interval: "[+0.8, +2.0]", Outcome: verdict.Fail, Reason: "too much"}}
	d.Also = []Fact{{"Branches", "fewer are mispredicted"}}
	d.Runs[0].Digest = strings.Repeat("ab", 32)
	all["everything on the first screen"] = render(t, d)
	one := small()
	one.Runs, one.Events = 1, []string{"instructions", "cpu-clock", "off-cpu"}
	all["one run a side, three events"] = render(t, sample(t, one))
	none := small()
	none.Change = false
	all["no change"] = render(t, sample(t, none))
	half := 0.5
	all["branches"] = render(t, &Document{Title: "Branches", Branches: &Branches{
		Base: &BranchSource{Name: "before", Tier: "S", Events: []string{"branch-misses"}},
		Rows: []Branch{{Function: "f", Kind: "conditional", Base: &BranchSide{Rate: &half, CI: &[2]float64{0.25, 0.75}}, Verdict: verdict.Unchanged}},
		Code: []BranchCode{{Function: "f", Rows: []CodeRow{{Base: &CodeInst{Text: "jne", Branch: 0}}, {Head: &CodeInst{Text: "ret", Branch: -1}}}}},
	}})
	r := &predict.Result{
		Pair:    &predict.Pair{Name: "loop", Unit: "message", Base: &predict.Side{Name: "a.s"}, Head: &predict.Side{Name: "b.s"}, Source: predict.SourceSimulated},
		Base:    predict.Cycles{Total: 20, Issue: 6, Dependency: 2, Misses: 12, Instructions: 30, DataBranches: 2, Mispredicted: 0.6, MissCost: 20},
		Head:    predict.Cycles{Total: 12, Issue: 7, Dependency: 5, Instructions: 36},
		Speedup: predict.Interval{Value: 20.0 / 12, Lo: 1.4, Hi: 2},
	}
	all["prediction"] = render(t, FromPrediction(reportpredict.New(&predict.Prediction{Machine: &predict.Machine{Version: "19", Model: llvm.Model{Name: "znver4", CPU: "znver5"}}, Results: []*predict.Result{r}}), Options{Tool: "profdiff test"}))
	all["waiting"] = render(t, FromWaits("anr.txt", deadlock(), Options{Tool: "profdiff test"}))
	all["waiting on both sides"] = render(t, &Document{Waiting: waitingOf(diff.NewWaits(deadlock(), nil, 1, 1))})
	all["hostile"] = render(t, hostileDocument(t))
	long := small()
	long.Names = []string{strings.Repeat("long::", 2000), "short"}
	all["long names"] = render(t, sample(t, long))
	all["times"] = render(t, sample(t, timed()))
	all["empty"] = render(t, &Document{})
	return all
}

// deadlock is a report in which two threads wait for each other, for 2 ms.
func deadlock() *wait.Report {
	thread := func(name string) wait.Thread { return wait.Thread{Name: name, PID: -1, TID: -1, Main: name == "main"} }
	links := []wait.Link{
		{Thread: thread("main"), Blocked: &wait.Place{Function: "Cart.get"}, Lock: "0x0a", Evidence: wait.Owned},
		{Thread: thread("worker"), Blocked: &wait.Place{Function: "Cart.put"}, Lock: "0x0b", Evidence: wait.Owned},
	}
	sum := wait.Sum{Count: 1, TotalNS: 2_000_000, LongestNS: 2_000_000}
	return &wait.Report{
		All: wait.Sum{Count: 2, TotalNS: 4_000_000}, HeldNS: 4_000_000,
		Cycles:  []wait.Cycle{{Links: links, Threads: 2, Sum: sum, Behind: 1}},
		Chains:  []wait.Chain{{Links: append([]wait.Link{{Thread: thread("pool-1"), Evidence: wait.Owned}}, links...), Threads: 3, Cycle: true, Sum: sum}},
		Regions: []wait.Region{{Rule: "JNI critical section", Region: "an array", Thread: thread("worker"), Place: wait.Place{Function: "transfer"}, Sum: sum}},
	}
}

// hostileDocument has names everywhere that would break a page.
func hostileDocument(t testing.TB) *Document {
	t.Helper()
	opt := comparetest.Options{Frames: 300, Depth: 20, Runs: 4, Change: true, Names: comparetest.HostileNames()}
	d := sample(t, opt)
	for i, n := range comparetest.HostileNames() {
		d.Warnings = append(d.Warnings, n)
		d.Budgets = append(d.Budgets, Budget{Name: n, Limit: n, Measured: n, Interval: n, Outcome: verdict.Fail, Reason: n})
		d.Events[0].Functions[i].DSO = n
		d.Events[0].Groups[0].Rows = append(d.Events[0].Groups[0].Rows, diff.Row{Name: n})
		d.Runs = append(d.Runs, Run{Name: n, Command: n, Tool: n, Warnings: []string{n}})
		d.Facts = append(d.Facts, Fact{n, n})
		d.Listings = append(d.Listings, listing.New(d.Events[0].Functions[i].Name, n, "e", []listing.Instruction{{Text: n, Key: n, Place: listing.Place{File: n, Line: 1}, Source: source.Text(n)}}, nil))
	}
	d.Base, d.Head, d.Tool = comparetest.HostileNames()[0], comparetest.HostileNames()[1], comparetest.HostileNames()[2]
	d.Verdict.Sentence += comparetest.HostileNames()[0]
	d.Branches = &Branches{Base: &BranchSource{Name: "</script>", Tier: "S"}, Code: []BranchCode{{Function: "<b>", Rows: []CodeRow{{Base: &CodeInst{Text: "<img src=x onerror=__canary=9>", Branch: 0}}}}}}
	for _, n := range comparetest.HostileNames() {
		d.Branches.Rows = append(d.Branches.Rows, Branch{Function: n, DSO: n, Place: n, File: n, Kind: n, Base: &BranchSide{Confidence: n, Class: n}, Change: n})
	}
	d.Sources = &diff.Sources{Base: comparetest.HostileNames()[0], Head: comparetest.HostileNames()[1], Notes: comparetest.HostileNames()}
	for i, n := range comparetest.HostileNames() {
		d.Sources.Functions = append(d.Sources.Functions, diff.SourceFunction{
			Name: d.Events[0].Functions[i].Name, DSO: n, BaseFile: n, HeadFile: n, Withheld: n,
			Rows: []source.Row{{Base: 1, Head: 1, Text: source.Text("\t" + n), Was: source.Text(n)}, {Head: 2, Text: source.Text(n)}},
		})
	}
	d.Waiting = &Waiting{Per: "in a run", Changes: []WaitChange{}, Sides: []WaitSide{}}
	for _, n := range comparetest.HostileNames() {
		d.Waiting.Changes = append(d.Waiting.Changes, WaitChange{n, n, n, n, ""})
		d.Waiting.Regions = append(d.Waiting.Regions, WaitChange{n, n, n, n, n})
		d.Waiting.Note = n
		d.Waiting.Sides = append(d.Waiting.Sides, WaitSide{n, []string{n}, []waits.Drawing{{Sum: n, Threads: []waits.DrawnThread{{Name: n, Says: n}}}}, []string{n}})
	}
	d.Pipeline = &Pipeline{Model: comparetest.HostileNames()[0], Tool: comparetest.HostileNames()[1], Loops: []Loop{{Name: comparetest.HostileNames()[1], Notes: comparetest.HostileNames(), Base: &LoopSide{Bottleneck: "<b>", Timeline: []Step{{Text: "</script>", Retired: 3}}}}}}
	return d
}

// TestWriteAgain checks that a page is a function of its blocks.
func TestWriteAgain(t *testing.T) {
	for name, page := range pages(t) {
		if got := again(t, page); !bytes.Equal(got, page) {
			t.Errorf("%s: %d bytes written again are others, from %q on", name, len(page), different(got, page))
		}
		// Of the page nothing is needed but the blocks.
		start, end := bytes.Index(page, []byte(blockStart)), bytes.LastIndex(page, []byte("<!-- The script"))
		if got := again(t, page[start:end]); !bytes.Equal(got, page) {
			t.Errorf("%s: written again from its blocks, it is another, from %q on", name, different(got, page))
		}
	}
}

func different(a, b []byte) []byte {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[i:min(len(a), i+80)]
}

func TestDrawnBy(t *testing.T) {
	page := pages(t)["comparison"]
	p, err := Read(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	p.DrawnBy("profdiff next")
	next := write(t, p)
	if !bytes.Contains(next, []byte("<bdi>profdiff test</bdi> · drawn by <bdi>profdiff next</bdi>")) {
		t.Error("the page does not say by which versions it is")
	}
	if !bytes.Equal(again(t, next), next) {
		t.Error("the page of two versions is another, written again")
	}
	p.DrawnBy("profdiff test")
	if !bytes.Equal(write(t, p), page) {
		t.Error("the page of one version is another, written again")
	}
}

func write(t testing.TB, p *Page) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpack is the data of a page: a line of meta, and one of each block, with its name.
func unpack(t testing.TB, page []byte) string {
	t.Helper()
	m, raw, err := splitPage(page)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString(string(m.text) + "\n")
	for _, b := range raw {
		data, err := base64.StdEncoding.DecodeString(string(b.text))
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(b.name + " " + string(uncompress(t, data)) + "\n")
	}
	return out.String()
}

var idField = regexp.MustCompile(`"id":"[^"]*"`)

// pack is a page with such data, and nothing else.
func pack(t testing.TB, text string) []byte {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	var gz compressor
	var blocks []block
	for _, line := range lines[1:] {
		name, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			continue
		}
		data, err := gz.compress([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, block{name, data})
	}
	meta := idField.ReplaceAllLiteralString(strings.TrimSuffix(lines[0], "\n"), `"id":"`+idOf(blocks)+`"`)
	var out strings.Builder
	out.WriteString(blockStart + metaStart + meta + blockEnd)
	for _, b := range blocks {
		out.WriteString(blockStart + dataStart + b.name + nameEnd + base64.StdEncoding.EncodeToString(b.data) + blockEnd)
	}
	return []byte(out.String())
}

func TestReadErrors(t *testing.T) {
	d := sample(t, comparetest.Options{Frames: 60, Depth: 6, Runs: 3, Change: true})
	d.Branches = &Branches{Base: &BranchSource{Tier: "S"}, Rows: []Branch{{Function: "f", Base: &BranchSide{}, Code: 0}}, Code: []BranchCode{{Function: "f"}}}
	page := render(t, d)
	text := unpack(t, page)
	edit := func(from, to string) []byte {
		re := regexp.MustCompile(from)
		at := re.FindStringSubmatchIndex(text)
		if at == nil {
			t.Fatalf("no %s", from)
		}
		return pack(t, text[:at[0]]+string(re.ExpandString(nil, to, text, at))+text[at[1]:])
	}
	swap := func(from, to string) []byte { return bytes.Replace(page, []byte(from), []byte(to), 1) }
	for _, test := range []struct {
		name string
		page []byte
		want string
	}{
		{"empty", nil, `^is no report of profdiff: it has no block meta; give a file that --html wrote$`},
		{"something else", []byte("<!DOCTYPE html><p>Hello"), `it has no block meta`},
		{"cut off in meta", page[:bytes.Index(page, []byte(metaStart))+100], `^block meta at 0x[0-9a-f]+ has no end$`},
		{"cut off in a block", page[:bytes.Index(page, []byte(`id="event0"`))+100], `^block event0 at 0x[0-9a-f]+ has no end$`},
		{"cut off between blocks", page[:bytes.Index(page, []byte(blockStart+dataStart+"event0"))], `^blocks are branches data lines0 names, meta names branches data lines0 names event0$`},
		{"newer", swap(`"schema":"profdiff.report/v1"`, `"schema":"profdiff.report/v2","new":1`), `^block meta at 0x[0-9a-f]+: schema profdiff.report/v2 is of a newer profdiff: this one reads up to profdiff.report/v1$`},
		{"other schema", swap(`"schema":"profdiff.report/v1"`, `"schema":"profdiff.diff/v1"`), `schema "profdiff.diff/v1" is not that of a report`},
		{"no version", swap(`"schema":"profdiff.report/v1"`, `"schema":"profdiff.report/v"`), `is not that of a report`},
		{"no schema", swap(`"schema":"profdiff.report/v1",`, ``), `schema "" is not that of a report`},
		{"second meta", append(bytes.Clone(page), page...), `^second block meta at 0x`},
		{"unknown kind", swap(blockStart+dataStart, blockStart+"xml"), `^block of an unknown kind at 0x`},
		{"unknown block", swap(dataStart+"data", dataStart+"more"), `^block more at 0x[0-9a-f]+ is not known$`},
		{"base64", swap(dataStart+`event0">H4sI`, dataStart+`event0">H4s!`), `^block event0 at 0x[0-9a-f]+: base64: illegal base64 data at input byte 3$`},
		{"changed", swap(dataStart+`event0">H4sIAAAAAAAA`, dataStart+`event0">H4sIAAAAAAAB`), `^blocks have the digest [0-9a-f]{8}, meta says [0-9a-f]{8}: the data of the page was changed$`},
		{"no JSON", edit(`names \[`, `names {`), `^block names at 0x[0-9a-f]+: JSON at offset 1: an object is not expected$`},
		{"unknown field", edit(`"quantum":`, `"more":1,"quantum":`), `block event0 at .*: field "more" is not known`},
		{"twice", edit(`"dso":\[`, `"dso":[],"dso":[`), `second field dso`},
		{"missing", edit(`"dso":(\[[^\]]*\]),`, ``), `: dso is missing$`},
		{"length", edit(`"dso":\[\d+,`, `"dso":[`), `: dso has \d+ elements, not \d+$`},
		{"name beyond", edit(`"name":\[\d+,`, `"name":[5000,`), `: name leads from \d+ to \d+, not from 1 to below \d+$`},
		{"file beyond", edit(`"dso":\[\d+,`, `"dso":[99999,`), `: dso goes from \d+ to 99999, not from 0 to below \d+$`},
		{"function that does not end", edit(`"fn":"`, `"fn":"~ `), `frames.fn: is no column of integers`},
		{"function beyond", edit(`"fn":"[^"]*"`, `"fn":[99999]`), `: frames.fn goes from`},
		{"above the root", edit(`"up":\[0,0,`, `"up":[0,1,`), `: frames.up leads above the root$`},
		{"test beyond", edit(`"at":\[\d+,`, `"at":[5000,`), `: self.at goes from`},
		{"no mark", edit(`"verdict":"[-iru?]+"(,"withRuns")`, `"verdict":"<"${1}`), `: self.verdict: "<.*" is no mark$`},
		{"no outcome", edit(`"outcome":"[a-z]+"`, `"outcome":"great"`), `: verdict.outcome: "great" is no outcome$`},
		{"frames beyond", edit(`"frames":\d+`, `"frames":7`), `: frames.up has \d+ elements, not 7$`},
		{"code beyond", edit(`"Code":0`, `"Code":1`), `block branches at .*: Rows.Code goes from 1 to 1, not from -1 to below 1$`},
		{"no number", edit(`"Hidden":0`, `"Hidden":1e3`), `: Hidden: 1e3 is no number that can be here$`},
		{"null", edit(`"Hidden":0`, `"Hidden":null`), `: Hidden: null is not expected$`},
		{"more than one value", edit(`\nnames (.*)`, "\nnames ${1}[]"), `has more than one value$`},
		{"no UTF-8", edit(`"Tier":"S"`, "\"Tier\":\"\xff\""), `JSON is not UTF-8$`},
		{"bomb", pack(t, text[:strings.Index(text, "\nevent0")]+"\nevent0 "+strings.Repeat(" ", 32<<20)+"\n"), `^block event0 at 0x[0-9a-f]+: gzip: \d+ bytes become more than \d+$`},
	} {
		_, err := Read(bytes.NewReader(test.page))
		if err == nil {
			t.Errorf("%s: no error, want %s", test.name, test.want)
			continue
		}
		if got := err.Error(); !regexp.MustCompile(test.want).MatchString(got) || strings.ContainsAny(got, "\n\r") || len(got) > 500 {
			t.Errorf("%s: %q, want %s", test.name, got, test.want)
		}
	}
}

// TestReadOlder checks pages whose meta has less.
func TestReadOlder(t *testing.T) {
	d := sample(t, small())
	d.Budgets = []Budget{{Name: "total", Outcome: verdict.Fail}}
	page := string(render(t, d))
	for _, name := range []string{"also", "budgets", "cards", "tested", "grew_in_all", "shrank_in_all"} {
		before := page
		page = regexp.MustCompile(`,"`+name+`":(\[[^\]]*\]|\d+)`).ReplaceAllString(page, "")
		if name == "cards" { // values have brackets
			page = regexp.MustCompile(`,"cards":\[.*?\}\],("waterfall"|"events")`).ReplaceAllString(before, `,$1`)
		}
		if page == before {
			t.Fatalf("no %s", name)
		}
	}
	p, err := Read(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Incomplete(), "budgets") {
		t.Errorf("it is said to be complete: %q", p.Incomplete())
	}
	got := string(write(t, p))
	for _, want := range []string{`<title>▲ Slower: CPU time per run rose by`, `<bdi>__handler_decode_123</bdi>`, `<dt><bdi>CPU time per run</bdi></dt>`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if strings.Contains(got, "Budgets") {
		t.Error("there are budgets")
	}
	// It stays what it is.
	if p, err = Read(strings.NewReader(got)); err != nil {
		t.Fatal(err)
	}
	if p.Incomplete() == "" || string(write(t, p)) != got {
		t.Error("written again, it is another page")
	}
}

// TestReadHostile checks that text which no writer wrote is cleaned, and that what is
// missing is there.
func TestReadHostile(t *testing.T) {
	d := &Document{Title: "T", Facts: []Fact{{"one", "two"}}, Pipeline: &Pipeline{Model: "M", Tool: "T"}}
	text := unpack(t, render(t, d))
	text = strings.NewReplacer(`"two"`, `"</script><b>\u202e\ud800`+"\u2028"+`"`, `"Tool":"T",`, ``, `"title":"T"`, `"title":"<b>\u0000"`).Replace(text)
	page := again(t, pack(t, text))
	got := unpack(t, page)
	if want := `"\u003c/script\u003e\u003cb\u003e⟨U+202E⟩` + "\ufffd" + `⟨U+2028⟩"`; !strings.Contains(got, want) {
		t.Errorf("%s does not have %s", got, want)
	}
	if !strings.Contains(got, `"Loops":null,"Tool":""}`) {
		t.Errorf("the missing field is not there: %s", got)
	}
	if !strings.Contains(string(page), "&lt;b&gt;⟨U&#43;0000⟩") || strings.Contains(string(page), "<b>\x00") {
		t.Errorf("the title is not clean: %q", regexp.MustCompile(`<title>.*|<h1>.*`).FindAllString(string(page), -1))
	}
	if !bytes.Equal(again(t, page), page) {
		t.Error("written again, it is another page")
	}
}

// TestReadBounds checks that a small page does not take much memory.
func TestReadBounds(t *testing.T) {
	text := unpack(t, render(t, &Document{Title: "T", Facts: []Fact{{"one", "two"}}}))
	for name, data := range map[string]string{
		"objects": `{"Runs":[` + strings.Repeat("{},", 1<<20) + `{}],"Facts":[]}`,
		"depth":   strings.Repeat("[", 4<<20),
		"number":  `{"Runs":[{"At":` + strings.Repeat("1", 4<<20) + `}],"Facts":[]}`,
	} {
		page := pack(t, regexp.MustCompile(`data .*`).ReplaceAllLiteralString(text, "data "+data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(page))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: %d bytes of a page take %d of memory", name, len(page), took)
		}
	}
}

// FuzzReadPage reads pages, as they are or packed of the text of their data.
func FuzzReadPage(f *testing.F) {
	d := sample(f, comparetest.Options{Frames: 40, Depth: 6, Runs: 2, Change: true})
	d.Branches = &Branches{Base: &BranchSource{Tier: "S"}, Rows: []Branch{{Function: "f", Base: &BranchSide{}}}}
	page := render(f, d)
	_, blocks, _ := bytes.Cut(page, []byte("</footer>"))
	blocks, _, _ = bytes.Cut(blocks, []byte("<!--"))
	f.Add(blocks, false)
	f.Add([]byte(unpack(f, page)), true)
	f.Fuzz(func(t *testing.T, data []byte, packed bool) {
		if packed {
			data = pack(t, string(data))
		}
		p, err := Read(bytes.NewReader(data))
		if err != nil {
			if s := err.Error(); strings.ContainsAny(s, "\n\r") || len(s) > 2000 {
				t.Fatalf("the error is %q", s)
			}
			return
		}
		first := write(t, p)
		if second := again(t, first); !bytes.Equal(second, first) {
			t.Fatalf("written again it is another, from %q on", different(second, first))
		}
	})
}

// TestSeeds checks that the seeds of FuzzReadPage have names that say what they are.
func TestSeeds(t *testing.T) {
	names, err := filepath.Glob("testdata/fuzz/FuzzReadPage/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	for _, name := range names {
		if base := filepath.Base(name); regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(base) {
			t.Errorf("%s has no name", name)
		}
		if info, err := os.Stat(name); err != nil || info.Size() > 20_000 {
			t.Errorf("%s is large: %v", name, err)
		}
	}
}

// TestReadEarlier reads a report that an earlier version wrote, of a check with all
// sections, and writes it again: its data are what they were, and its first screen shows them
// as this version does.
func TestReadEarlier(t *testing.T) {
	earlier, err := os.ReadFile("testdata/earlier.html")
	if err != nil {
		t.Fatal(err)
	}
	got := firstScreen(t, "testdata/earlier-again.html", again(t, earlier))
	data := func(page []byte) []byte {
		return page[bytes.Index(page, []byte(blockStart)):bytes.LastIndex(page, []byte(blockEnd))]
	}
	if was := data(earlier); !bytes.HasPrefix(data(got), was) {
		t.Errorf("written again, the data are others, from %q on", different(data(got), was))
	}
	for _, block := range []string{"event0", "listings", "branches", "pipeline", "data"} {
		if !bytes.Contains(got, []byte(blockStart+dataStart+block)) {
			t.Errorf("the report has no block %s", block)
		}
	}
}
