package traces

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// ChromeJSON is what traces in Chrome's JSON format are called, which many programs write.
const ChromeJSON = "Chrome trace JSON"

// RecogniseChrome tells a trace by its list of events: under the key traceEvents, or alone, where events have a
// phase, a time and a process.
func RecogniseChrome(head input.Head) input.Evidence {
	if head.Keys()["traceEvents"] {
		return input.Evidence{Is: true}
	}
	text := bytes.TrimSpace(head)
	rest, isList := bytes.CutPrefix(text, []byte("["))
	if !isList || !bytes.HasPrefix(bytes.TrimSpace(rest), []byte("{")) {
		return input.Evidence{}
	}
	keys := input.Head(bytes.TrimSpace(rest)).Keys()
	return input.Evidence{Is: keys["ph"] && keys["pid"] && (keys["ts"] || keys["name"])}
}

// chromeReader reads a trace in the format of Chrome ("Trace Event Format" of the Catapult project), as Chrome, Node,
// Bazel, clang -ftime-trace and many others write it.
//
//  1. The list of events is read as a stream. It may end early: a program that was stopped leaves it open.
//  2. Times are microseconds, with a fraction. Slices are two events or one with a duration; asynchronous ones
//     meet by category, or by name, and id.
//  3. Processes and threads are numbers, or words that get numbers here.
//  4. Events called Profile and ProfileChunk hold what V8 sampled.
type chromeReader struct {
	*reader
	dec    *json.Decoder
	words  map[string]int64 // numbers of processes and threads that are words
	facts  chromeFacts
	events int64
	// malformed events cannot be read, timeless ones have no time; others are of phases that say nothing of time.
	malformed, timeless int64
	sums                int64
	sampled             int64 // what a profiler of the CPU added beside the events, which is not read
	others              map[string]int64
	cut                 bool
}

// chromeFacts are what producers say of themselves, under otherData or metadata.
type chromeFacts struct {
	Version string `json:"product-version"`
	OS      string `json:"os-name"`
	Agent   string `json:"user-agent"`
	Command string `json:"command_line"`
	Bazel   string `json:"bazel_version"`
}

// A chromeEvent is an event as JSON has it.
type chromeEvent struct {
	Name string          `json:"name"`
	Cat  string          `json:"cat"`
	Ph   string          `json:"ph"`
	TS   json.Number     `json:"ts"`
	Dur  json.Number     `json:"dur"`
	PID  json.RawMessage `json:"pid"`
	TID  json.RawMessage `json:"tid"`
	ID   json.RawMessage `json:"id"`
	ID2  struct {
		Local  json.RawMessage `json:"local"`
		Global json.RawMessage `json:"global"`
	} `json:"id2"`
	Scope string          `json:"s"`
	Args  json.RawMessage `json:"args"`
}

// ReadChrome reads a trace in the JSON format of Chrome.
func ReadChrome(src *input.Source, opt *reading.Options) (*run.Run, error) {
	c := &chromeReader{reader: newReader(src, opt), words: make(map[string]int64), others: make(map[string]int64)}
	c.dec = json.NewDecoder(withoutBOM(src.Reader))
	if err := c.read(); err != nil {
		return nil, err
	}
	return c.finish()
}

// withoutBOM passes over a byte order mark.
func withoutBOM(r *bufio.Reader) io.Reader {
	if head, err := r.Peek(3); err == nil && string(head) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	return r
}

// read reads all events.
func (c *chromeReader) read() error {
	start, err := c.dec.Token()
	if err != nil {
		return err
	}
	if start == json.Delim('[') {
		return c.list()
	}
	for c.dec.More() {
		key, err := c.dec.Token()
		if err != nil {
			return c.end(err)
		}
		switch key {
		case "traceEvents":
			if t, err := c.dec.Token(); err != nil || t != json.Delim('[') {
				return c.end(errors.Join(err, errors.New("traceEvents is no list")))
			}
			if err := c.list(); err != nil || c.cut {
				return err
			}
			if _, err := c.dec.Token(); err != nil {
				return c.end(err)
			}
		case "metadata", "otherData":
			var facts json.RawMessage
			if err := c.dec.Decode(&facts); err != nil {
				return c.end(err)
			}
			_ = json.Unmarshal(facts, &c.facts) // what it lacks, nobody misses
		default:
			var other json.RawMessage
			if err := c.dec.Decode(&other); err != nil {
				return c.end(err)
			}
			var list []json.RawMessage
			if key == "samples" && json.Unmarshal(other, &list) == nil {
				c.sampled += int64(len(list))
			}
		}
	}
	return nil
}

// end says whether an error is one: a trace may end early.
func (c *chromeReader) end(err error) error {
	switch ends := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); {
	case !ends:
		return fmt.Errorf("at %#x: %w", c.dec.InputOffset(), err)
	case c.events == 0:
		return errors.New("ends before the first event")
	}
	c.cut = true
	return nil
}

// list reads events up to the end of their list.
func (c *chromeReader) list() error {
	var e chromeEvent
	for c.dec.More() {
		e = chromeEvent{}
		var wrong *json.UnmarshalTypeError
		switch err := c.dec.Decode(&e); {
		case errors.As(err, &wrong):
			c.events++
			c.malformed++
		case err != nil:
			return c.end(err)
		default:
			c.events++
			c.event(&e)
		}
	}
	return nil
}

// event tells the timeline what happened.
func (c *chromeReader) event(e *chromeEvent) {
	if isSum(e) {
		c.sums++
		return
	}
	pid, tid := c.number(e.PID, true), c.number(e.TID, false)
	if tid == 0 {
		tid = firstWord | pid // a thread like others; the timeline has 0 for a CPU without work
	}
	process := c.tl.Process(0, pid)
	if e.Ph == "M" {
		c.describeThread(e, process, pid, tid)
		return
	}
	at, ok := nanoseconds(e.TS)
	if !ok {
		c.timeless++
		return
	}
	thread := c.tl.Thread(0, pid, tid)
	track := c.tl.ThreadTrack(thread)
	name, category := c.tl.NameString(e.Name), c.tl.NameString(e.Cat)
	switch e.Ph {
	case "B":
		c.tl.Begin(track, at, name, category)
	case "E":
		c.tl.End(track, at, name, 0)
	case "X":
		d, _ := nanoseconds(e.Dur)
		c.tl.Complete(track, at, d, name, category)
	case "I", "i", "R":
		if e.Scope == "g" || e.Scope == "p" {
			track = c.tl.AsyncTrack(process, 0)
		}
		c.tl.Complete(track, at, 0, name, category)
	case "b", "e", "n", "S", "F":
		c.asyncEvent(e, process, at, name, category)
	case "C":
		var values map[string]json.Number
		if json.Unmarshal(e.Args, &values) == nil {
			for _, key := range slices.Sorted(maps.Keys(values)) {
				if v, err := values[key].Float64(); err == nil {
					c.tl.Count(process, c.tl.NameString(strings.TrimSpace(e.Name+" "+key)), at, v)
				}
			}
		}
	case "P":
		var args struct {
			Data json.RawMessage `json:"data"`
		}
		if isV8Event(e.Name) && json.Unmarshal(e.Args, &args) == nil {
			id := c.id(e)
			c.samples.v8.add(v8Part{thread, process, uint64(id)}, e.Name == v8Profile, at, args.Data, func(us int64) int64 { return us * 1000 })
		} else {
			c.others[e.Ph]++
		}
	case "s", "t", "f", "T", "p", "N", "D", "O", "v", "V", "(", ")", "c":
		// Arrows, steps, objects, memory, marks of contexts and clocks.
	default:
		c.others[e.Ph]++
	}
}

// isSum reports whether an event is no slice but the sum of all slices of a name, as clang -ftime-trace writes
// them behind the others (TimeTraceProfiler::write in llvm/lib/Support/TimeProfiler.cpp).
func isSum(e *chromeEvent) bool {
	return e.Ph == "X" && strings.HasPrefix(e.Name, "Total ") && bytes.Contains(e.Args, []byte(`"avg ms"`))
}

// describeThread reads what a process or a thread is called.
func (c *chromeReader) describeThread(e *chromeEvent, process trace.ProcessID, pid, tid int64) {
	var args struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(e.Args, &args) != nil {
		return
	}
	name := clean([]byte(args.Name))
	switch e.Name {
	case "process_name":
		c.tl.NameProcess(process, name, trace.GivenRank)
	case "thread_name":
		c.tl.NameThread(c.tl.Thread(0, pid, tid), name, trace.GivenRank)
	}
}

// asyncEvent reads an event of what overlaps with others, as [reader.async] does.
func (c *chromeReader) asyncEvent(e *chromeEvent, process trace.ProcessID, at int64, name, category trace.NameID) {
	scope := category
	if e.Ph == "S" || e.Ph == "F" {
		scope = name
	}
	track := c.tl.AsyncTrack(process, scope)
	switch e.Ph {
	case "b", "S":
		c.tl.AsyncNest(track, at, name, c.id(e))
	case "e", "F":
		c.tl.AsyncEnd(track, at, c.id(e))
	case "n":
		c.tl.Complete(track, at, 0, name, category)
	}
}

// id is the number of an event's id: a number, or a word, which is mostly one in hexadecimal.
func (c *chromeReader) id(e *chromeEvent) int64 {
	for _, raw := range []json.RawMessage{e.ID, e.ID2.Local, e.ID2.Global} {
		if len(raw) == 0 {
			continue
		}
		text := strings.Trim(string(raw), `"`)
		if n, err := strconv.ParseUint(text, 0, 64); err == nil {
			return int64(n)
		}
		h := fnv.New64a()
		h.Write([]byte(text))
		return int64(h.Sum64())
	}
	return 0
}

// firstWord is where the numbers of processes and threads start that are words.
const firstWord = 1 << 40

// number is that of a process or thread. A process that is a word is called so.
func (c *chromeReader) number(raw json.RawMessage, isProcess bool) int64 {
	if len(raw) == 0 {
		return 0
	}
	text := strings.Trim(string(raw), `"`)
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < firstWord {
		return int64(f)
	}
	n, ok := c.words[text]
	if !ok {
		n = 2*firstWord + int64(len(c.words))
		c.words[text] = n
		if isProcess {
			c.tl.NameProcess(c.tl.Process(0, n), clean([]byte(text)), trace.TreeRank)
		}
	}
	return n
}

// nanoseconds is a time in microseconds.
func nanoseconds(us json.Number) (ns int64, ok bool) {
	f, err := us.Float64()
	if err != nil || math.Abs(f) > 1<<52 {
		return 0, false
	}
	return int64(math.Round(f * 1000)), true
}

// browser is what a browser calls itself among the names of others.
var browser = regexp.MustCompile(`(Headless)?Chrome/[0-9.]+`)

// finish makes the run.
func (c *chromeReader) finish() (*run.Run, error) {
	tl := c.tl.Finish()
	out := c.b.Run()
	rec := &out.Recording
	rec.Format, rec.Timeline, rec.CommandLine = ChromeJSON, true, c.facts.Command
	switch {
	case c.facts.Version != "":
		rec.Tool = c.facts.Version
	case browser.MatchString(c.facts.Agent):
		rec.Tool = strings.Replace(browser.FindString(c.facts.Agent), "/", " ", 1)
	case c.facts.Bazel != "":
		rec.Tool = c.facts.Bazel
	}
	p, err := newProfile(c.b, tl, c.opt)
	if err != nil {
		return nil, err
	}
	c.samples.finish(tl, p.spans)
	loss := p.add()
	start, end := c.samples.span(tl)
	setTimes(rec, start, end)
	rec.Holds = contents(tl)
	line := func(n int64, format string, args ...any) {
		if n != 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf(format, append([]any{n}, args...)...))
		}
	}
	if c.cut {
		out.Warnings = append(out.Warnings, "the list of events has no end: what was not written yet is missing")
	}
	a := &out.Accounting
	a.In += c.malformed + c.sums + c.timeless + c.sampled
	a.Drop("CPU samples beside the events", c.sampled)
	a.Drop("events that are not understood", c.malformed)
	a.Drop("sums of other events", c.sums)
	a.Drop("without a time", c.timeless)
	line(c.malformed, "%d of %d events are left out because they are not understood", c.events)
	line(c.sums, "%d events are sums of others, and are left out")
	line(c.sampled, "%d CPU samples that stand beside the events are not read: the recording that they were taken from, such as perf.data, has them")
	line(c.timeless, "%d events have no time and are left out")
	if len(c.others) > 0 {
		out.Warnings = append(out.Warnings, "phases of events that are not read: "+otherEvents(c.others))
	}
	out.Warnings = append(out.Warnings, timelineWarnings(out, tl, loss, "")...)
	done, err := c.b.Finish()
	if err != nil {
		return nil, err
	}
	if a := &done.Accounting; a.Out+a.Filtered == 0 && len(done.Samples) == 0 {
		return nil, fmt.Errorf("has too little: of %d events no slice follows, and V8 sampled nothing", c.events)
	}
	done.Recording.Holds += busiest(done)
	return done, nil
}
