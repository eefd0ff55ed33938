package ingest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"profdiff/internal/cputime"
	"profdiff/internal/ingest/gecko"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/ingest/reportsample"
	"profdiff/internal/input"
)

// A repeated is a large input that is made of a small recording of a real program: a head, a body
// again and again, and a tail.
type repeated struct {
	name       string
	size       int64 // of the benchmark, about
	head, body []byte
	tail       func(times int) []byte
	// vary changes the body for its n-th repetition in place. It may be nil.
	vary func(body []byte, n int)
	// plain reads the lines or fields alone: lines, numbers in lines, fields of messages, tokens.
	plain func(r io.Reader) error
	read  reading.Reader
}

// large are the inputs. The recordings are of ../shared/perfdata and of profiles; a profile of the
// Firefox Profiler is made up, with the stacks that other tests have.
func large(t testing.TB) []*repeated {
	t.Helper()
	script := ingesttest.ReadFile(t, ingesttest.Recording(t, "simpleperf/perf_display_bitmaps.perf-script"))
	report := ingesttest.ReadFile(t, ingesttest.Recording(t, "simpleperf/display_bitmaps.proto_data"))
	simulated, err := os.ReadFile(filepath.Join("..", "..", "profiles", "message-heap", "callgrind", "after.out"))
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(simulated, []byte("\nob=(1)")) + 1
	header := bytes.Split(simulated[:start], []byte("summary:"))[0]
	end := bytes.LastIndex(simulated, []byte("\ntotals:")) + 1
	first, samples, others := splitReport(t, report)
	profile := geckoProfile(20_000)
	list := []*repeated{
		{"perf-script", 500e6, nil, script, same(nil), shiftSeconds, readLines, readPerfScript},
		{"callgrind", 100e6, header, simulated[start:end], totals(t, simulated[end:]), nil, readNumbers, readCallgrind},
		{"report-sample", 100e6, first, samples, same(append(others, 0, 0, 0, 0)), nil, readRecords, reportsample.Read},
		{"gecko", 100e6, profile[0], profile[1], same(profile[2]), nil, readTokens, gecko.Read},
	}
	return list
}

// open is the input with the body so many times.
func (l *repeated) open(times int) io.Reader {
	n := 0
	body := &cycle{l: l, left: times, body: bytes.Clone(l.body), next: func(b []byte) {
		if l.vary != nil {
			l.vary(b, n)
		}
		n++
	}}
	return io.MultiReader(bytes.NewReader(l.head), body, bytes.NewReader(l.tail(times)))
}

// A cycle reads a body again and again.
type cycle struct {
	l    *repeated
	left int
	body []byte
	at   int
	next func([]byte)
}

func (c *cycle) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	if c.at == 0 {
		c.next(c.body)
	}
	n := copy(p, c.body[c.at:])
	if c.at += n; c.at == len(c.body) {
		c.at = 0
		c.left--
	}
	return n, nil
}

// same is a tail that does not depend on the body.
func same(tail []byte) func(int) []byte { return func(int) []byte { return tail } }

// totals are the sums that end a file of Callgrind, from those of one body.
func totals(t testing.TB, line []byte) func(int) []byte {
	t.Helper()
	return func(times int) []byte {
		sums := []byte("totals:")
		for _, f := range bytes.Fields(line)[1:] {
			n, err := strconv.Atoi(string(f))
			if err != nil {
				t.Fatal(err)
			}
			sums = fmt.Appendf(sums, " %d", times*n)
		}
		return append(sums, '\n')
	}
}

// shiftSeconds moves the times of a perf script text by one hour each time.
func shiftSeconds(body []byte, n int) {
	for at := 0; ; {
		i := bytes.Index(body[at:], []byte("] "))
		if i < 0 {
			return
		}
		at += i + 2
		if dot := bytes.IndexByte(body[at:], '.'); dot == 6 {
			copy(body[at:], fmt.Sprintf("%06d", 100000+(3600*n+at%3600)%899999))
		}
	}
}

// splitReport parts the records of report-sample: what describes the recording, samples, and others,
// which name what is in samples.
func splitReport(t testing.TB, report []byte) (first, samples, others []byte) {
	t.Helper()
	const magic = len("SIMPLEPERF") + 2
	first = bytes.Clone(report[:magic])
	for at := magic; ; {
		size := int(binary.LittleEndian.Uint32(report[at:]))
		if size == 0 {
			return first, samples, others
		}
		record := report[at : at+4+size]
		at += len(record)
		fields := input.NewFields(record[4:], 0)
		fields.Next()
		switch fields.Num {
		case 1: // samples
			samples = append(samples, record...)
		case 5: // about the recording
			first = append(first, record...)
		default:
			others = append(others, record...)
		}
	}
}

// geckoProfile is a profile in the processed format with stacks of [ingesttest.Stacks]: what is before
// samples, so many samples of which the last is followed by a comma, and what is behind.
func geckoProfile(samples int) (parts [3][]byte) {
	type node struct{ prefix, frame int }
	known, stacks := map[node]int{}, ingesttest.Stacks()
	var prefixes, frames, body bytes.Buffer
	for i := range samples {
		at := -1
		for _, f := range stacks[i%len(stacks)] {
			id, ok := known[node{at, f}]
			if !ok {
				id = len(known)
				known[node{at, f}] = id
				prefix := "null"
				if at >= 0 {
					prefix = strconv.Itoa(at)
				}
				fmt.Fprintf(&prefixes, "%s,", prefix)
				fmt.Fprintf(&frames, "%d,", f)
			}
			at = id
		}
		fmt.Fprintf(&body, "%d,", at)
	}
	var funcs, names, none bytes.Buffer
	for f := range 1000 {
		fmt.Fprintf(&names, "\"std::pair<int, symbol_%d>::method(int)\",", f)
		fmt.Fprintf(&funcs, "%d,", f)
		none.WriteString("-1,")
	}
	list := func(b *bytes.Buffer) []byte { return bytes.TrimSuffix(b.Bytes(), []byte(",")) }
	parts[0] = fmt.Appendf(nil, `{"meta":{"interval":1,"preprocessedProfileVersion":48,"product":"p","startTime":1636162232627},"libs":[],"threads":[{"name":"main","pid":"1","tid":1,`+
		`"stringArray":[%s],"stackTable":{"length":%d,"frame":[%s],"prefix":[%s]},"frameTable":{"length":1000,"address":[%s],"func":[%s]},"funcTable":{"length":1000,"name":[%[6]s],"resource":[%[5]s]},`+
		`"resourceTable":{"length":0,"lib":[],"name":[],"type":[]},"samples":{"weightType":"samples","weight":null,"stack":[`,
		list(&names), len(known), list(&frames), list(&prefixes), list(&none), list(&funcs))
	parts[1] = body.Bytes()
	parts[2] = []byte(`null]}}]}`)
	return parts
}

// readLines reads lines alone.
func readLines(r io.Reader) error {
	lines := input.NewLines(r)
	for _, ok := lines.Next(); ok; _, ok = lines.Next() {
	}
	return lines.Err()
}

// readNumbers reads lines, and the digits in them as numbers.
func readNumbers(r io.Reader) error {
	lines := input.NewLines(r)
	sum, n := 0, 0
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		for _, c := range line {
			if d := int(c) - '0'; d >= 0 && d <= 9 {
				n = 10*n + d
			} else {
				sum, n = sum+n, 0
			}
		}
	}
	runtime.KeepAlive(sum)
	return lines.Err()
}

// readTokens reads the tokens of JSON as the standard library has them.
func readTokens(r io.Reader) error {
	dec := json.NewDecoder(r)
	for {
		if _, err := dec.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// readRecords reads the fields of the records of report-sample, and of the messages in samples.
func readRecords(r io.Reader) error {
	stream := make([]byte, 64<<10)
	if _, err := io.ReadFull(r, stream[:len("SIMPLEPERF")+2]); err != nil {
		return err
	}
	sum := uint64(0)
	number := func(fields input.Fields) {
		for fields.Next() {
			sum += fields.Uint()
		}
	}
	sample := func(fields input.Fields) {
		for fields.Next() {
			if fields.Num == 3 { // a frame
				number(fields.Message())
			} else {
				sum += fields.Uint()
			}
		}
	}
	for {
		if _, err := io.ReadFull(r, stream[:4]); err != nil {
			return err
		}
		size := int(binary.LittleEndian.Uint32(stream))
		if size == 0 {
			runtime.KeepAlive(sum)
			return nil
		}
		if size > len(stream) {
			stream = make([]byte, size)
		}
		if _, err := io.ReadFull(r, stream[:size]); err != nil {
			return err
		}
		if fields := input.NewFields(stream[:size], 0); fields.Next() && fields.Num == 1 {
			sample(fields.Message())
		}
	}
}

// BenchmarkLarge reads large inputs, which it makes, and their lines or fields alone, in turn:
//
//	go test ./internal/ingest -run '^$' -bench Large -benchtime 7x
//
// The metric x-plain is the CPU time of reading as a multiple of that of the lines or fields, the median
// of all turns. At most 3 is asked for.
func BenchmarkLarge(b *testing.B) {
	for _, l := range large(b) {
		b.Run(l.name, func(b *testing.B) {
			times := int(l.size) / len(l.body)
			b.SetBytes(int64(times) * int64(len(l.body)))
			var plain, read []float64
			for b.Loop() {
				start := cputime.Now()
				if err := l.plain(l.open(times)); err != nil {
					b.Fatal(err)
				}
				middle := cputime.Now()
				l.mustRead(b, times)
				plain = append(plain, (middle - start).Seconds())
				read = append(read, (cputime.Now() - middle).Seconds())
			}
			ratios := make([]float64, len(read))
			for i := range ratios {
				ratios[i] = read[i] / plain[i]
			}
			b.ReportMetric(median(ratios), "x-plain")
			b.ReportMetric(median(read), "CPU-s/op")
		})
	}
}

// mustRead reads the input with the body so many times.
func (l *repeated) mustRead(t testing.TB, times int) {
	t.Helper()
	src, err := input.New("large", l.open(times))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.read(src, &reading.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestMemoryOfRepetition checks that what readers allocate depends on distinct stacks, not on samples:
// the same twelve times takes hardly more than once.
func TestMemoryOfRepetition(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, with which short tests run at night, has pools drop what they hold")
	}
	for _, l := range large(t) {
		t.Run(l.name, func(t *testing.T) {
			if l.name == "gecko" {
				t.Skip("a profile of the Firefox Profiler has a column of all samples")
			}
			allocated := func(times int) uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				l.mustRead(t, times)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			once, more := allocated(1), allocated(12)
			if more > once+once/4+uint64(len(l.body))/4 {
				t.Errorf("%d bytes are allocated for an input, %d for one that is twelve times as long", once, more)
			}
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
