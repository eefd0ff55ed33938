package reportsample

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// ReadText reads what simpleperf report-sample writes without --protobuf:
// the same records as text, a name and a colon, and below it fields "key: value",
// two spaces deeper. Must match ReportSampleCommand::PrintSample in
// simpleperf/cmd_report_sample.cpp.
func ReadText(src *input.Source, opt *reading.Options) (*run.Run, error) {
	t := textReader{r: newReader(src, opt), lines: src.Lines(), frames: make(map[string]uint32)}
	t.files = reading.NewFiles(t.r.b)
	for {
		line, ok := t.lines.Next()
		if !ok {
			break
		}
		t.line(line)
	}
	if t.lines.Err() == nil {
		t.end()
	}
	if t.lines.Err() != nil {
		return nil, t.lines.Err()
	}
	if err := t.r.finish(); err != nil {
		return nil, err
	}
	return t.r.b.Finish()
}

type textReader struct {
	r      *reader
	lines  *input.Lines
	files  reading.Files
	frames map[string]uint32 // locations, by their lines

	record string
	sample reported
	tick   tick
	on     bool
	frame  [3][]byte // vaddr_in_file, file, symbol
	has    int       // how many of them
}

// line reads one line.
func (t *textReader) line(line []byte) {
	depth := 0
	for depth < len(line) && line[depth] == ' ' {
		depth++
	}
	key, value, ok := bytes.Cut(line[depth:], []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case len(line) == 0:
	case !ok:
		t.lines.Fail("%q is no field", input.Clip(line))
	case depth == 0:
		t.end()
		t.begin(string(key))
	default:
		if err := t.field(string(key), value); err != nil {
			t.lines.Fail("%s of %s: %w", key, t.record, err)
		}
	}
}

func (t *textReader) begin(record string) {
	switch record {
	case "meta_info", "sample", "context_switch", "lost_situation":
	case "magic":
		t.lines.Fail("is the text of a protobuf report: read the report itself")
	default:
		t.lines.Fail("unknown record %q", input.Clip([]byte(record)))
	}
	t.record = record
	t.sample = reported{Thread: reading.Thread{PID: -1, TID: -1, CPU: -1}, event: noEventType}
	t.tick, t.on = tick{kind: switchOnTick}, false
	t.r.stack = t.r.stack[:0]
	t.has = 0
}

// noEventType stands for an event_type that meta_info does not have.
const noEventType = mostEventTypes

// end adds the record that has been read.
func (t *textReader) end() {
	switch t.record {
	case "meta_info":
		t.r.hasMeta = true
	case "sample":
		t.endFrame()
		if t.sample.event == noEventType {
			t.lines.Fail("sample of an event type that meta_info does not have")
			return
		}
		t.r.add(&t.sample)
	case "context_switch":
		if t.on {
			t.r.offCPU.ticks = append(t.r.offCPU.ticks, t.tick)
		}
	}
}

func (t *textReader) field(key string, value []byte) (err error) {
	number := func() (v uint64) {
		if v, err = strconv.ParseUint(string(value), 10, 64); err != nil {
			err = errors.New(input.Clip(value) + " is no number")
		}
		return v
	}
	threadID := func() int32 {
		v, perr := strconv.ParseInt(string(value), 10, 32)
		if perr != nil {
			err = fmt.Errorf("%q is no thread", input.Clip(value))
		}
		return int32(v)
	}
	switch t.record + "." + key {
	case "meta_info.event_type":
		t.r.events = append(t.r.events, input.Text(value))
	case "meta_info.trace_offcpu":
		t.r.traceOffCPU = string(value) == "true"
	case "meta_info.app_package_name":
		t.r.b.Run().Recording.App = input.Text(value)
	case "meta_info.android_sdk_version":
		t.r.b.Run().Recording.SDK = input.Text(value)
	case "lost_situation.sample_count":
		t.r.hasLost = true
		t.r.sampleCount += number()
	case "lost_situation.lost_count":
		t.r.lostCount += number()
	case "context_switch.switch_on":
		t.on = string(value) == "true"
	case "context_switch.time":
		t.tick.time = number()
	case "context_switch.thread_id":
		t.tick.tid = threadID()
	case "sample.event_type":
		if i := slices.Index(t.r.events, input.Text(value)); i >= 0 && i < mostEventTypes {
			t.sample.event = uint32(i)
		}
	case "sample.time":
		t.sample.time = number()
	case "sample.event_count":
		t.sample.weight = number()
	case "sample.thread_id":
		t.sample.TID = int64(threadID())
	case "sample.thread_name":
		t.sample.Comm = input.Text(value)
	case "sample.vaddr_in_file":
		t.endFrame()
		t.has = 1
		t.frame[0] = append(t.frame[0][:0], value...)
	case "sample.file", "sample.symbol":
		i := 1
		if key == "symbol" {
			i = 2
		}
		if t.has != i {
			return errors.New("is out of place")
		}
		t.frame[i] = append(t.frame[i][:0], value...)
		t.has++
	}
	return err
}

// endFrame adds the frame that has been read to the stack.
func (t *textReader) endFrame() {
	if t.has == 0 {
		return
	}
	if t.has < len(t.frame) {
		t.lines.Fail("frame above lacks its file or symbol")
		return
	}
	t.has = 0
	key := bytes.Join(t.frame[:], []byte("\n"))
	loc, ok := t.frames[string(key)]
	if !ok {
		addr, err := strconv.ParseUint(string(t.frame[0]), 16, 64)
		if err != nil {
			t.lines.Fail("vaddr_in_file above: %q is no address", input.Clip(t.frame[0]))
			return
		}
		file, symbol := input.Text(t.frame[1]), input.Text(t.frame[2])
		fn := run.Function{Name: symbol}
		_, _, unknown := reading.UnknownSymbol(symbol)
		if unknown {
			fn = reading.UnknownFunction(file, addr, t.r.opt)
		}
		mapping := t.files.Mapping(file)
		t.files.Named(mapping, !unknown, false, false)
		loc = t.r.b.Location(mapping, addr, run.Line{Function: t.r.b.Function(fn)})
		t.frames[string(key)] = loc
	}
	t.r.stack = append(t.r.stack, loc)
}

// RecogniseText tells the text of a report by its first line.
func RecogniseText(head input.Head) input.Evidence {
	return input.Evidence{Is: isReportSampleText(head)}
}

// isReportSampleText reports whether head starts what simpleperf report-sample prints.
func isReportSampleText(head input.Head) bool {
	switch string(head.FirstLine()) {
	case "meta_info:", "sample:", "magic: " + magic:
		return true
	}
	return false
}
