package perfscript

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// FindRecord is where a line tells of a record that is no sample, from PERF_RECORD_ on,
// nil if it does not.
func FindRecord(line []byte) []byte {
	i := bytes.Index(line, []byte("PERF_RECORD_"))
	if i < 0 {
		return nil
	}
	return line[i:]
}

// A Mapping is what PERF_RECORD_MMAP and PERF_RECORD_MMAP2 tell.
type Mapping struct {
	PID               int32
	Kernel            bool
	Start, Len, PgOff uint64
	Path, BuildID     string
}

// A Record is a record that is no sample: a mapping, a fork, or lost samples.
type Record struct {
	Mapping *Mapping
	// Fork is the parent and the new process, nil of other records.
	Fork *[2]int32
	Lost int64
}

// ParseRecord reads a record as [FindRecord] found it. Of other kinds it is empty.
func ParseRecord(record []byte) (r Record, err error) {
	kind, rest, _ := strings.Cut(string(record), " ")
	switch {
	case kind == "PERF_RECORD_MMAP" || kind == "PERF_RECORD_MMAP2":
		m, err := parseMapping(rest)
		if err != nil {
			return r, fmt.Errorf("%s: %w", kind, err)
		}
		r.Mapping = &m
	case strings.HasPrefix(kind, "PERF_RECORD_FORK("):
		// PERF_RECORD_FORK(pid:tid):(ppid:ptid)
		var pid, tid, ppid, ptid int32
		if n, _ := fmt.Sscanf(kind, "PERF_RECORD_FORK(%d:%d):(%d:%d)", &pid, &tid, &ppid, &ptid); n != 4 {
			return r, fmt.Errorf("PERF_RECORD_FORK: is not (pid:tid):(ppid:ptid)")
		}
		r.Fork = &[2]int32{ppid, pid}
	case strings.HasPrefix(kind, "PERF_RECORD_LOST"):
		if i := strings.LastIndex(rest, "lost"); i >= 0 {
			n, err := strconv.ParseUint(strings.Trim(rest[i+len("lost"):], ": "), 10, 32)
			if err == nil {
				r.Lost = int64(n)
			}
		}
	}
	return r, nil
}

// parseMapping reads "PID/TID: [START(LEN) @ PGOFF …]: PROT FILE".
func parseMapping(text string) (m Mapping, err error) {
	bad := func(what string) (Mapping, error) {
		return Mapping{}, fmt.Errorf("%s in %q", what, input.Clip(text))
	}
	head, rest, ok := strings.Cut(text, ": [")
	pid, _, okPID := strings.Cut(head, "/")
	n, errPID := strconv.ParseInt(pid, 10, 32)
	if !ok || !okPID || errPID != nil {
		return bad("no process")
	}
	m.PID, m.Kernel = int32(n), n == -1
	place, rest, ok := strings.Cut(rest, "]: ")
	start, place, okStart := strings.Cut(place, "(")
	length, place, okLen := strings.Cut(place, ") @ ")
	f := strings.Fields(place)
	if !ok || !okStart || !okLen || len(f) == 0 {
		return bad("no [START(LEN) @ OFFSET]")
	}
	for _, v := range []struct {
		text string
		to   *uint64
	}{{start, &m.Start}, {length, &m.Len}, {f[0], &m.PgOff}} {
		if *v.to, err = strconv.ParseUint(v.text, 0, 64); err != nil {
			return bad("no number " + strconv.Quote(input.Clip(v.text)))
		}
	}
	if len(f) > 1 && strings.HasPrefix(f[1], "<") {
		m.BuildID = strings.Trim(f[1], "<>")
	}
	_, m.Path, _ = strings.Cut(rest, " ") // behind the protection
	return m, nil
}

// ParseComment reads a line "# key : value" of --header.
func ParseComment(line []byte) (key, value string, ok bool) {
	k, v, ok := bytes.Cut(bytes.TrimLeft(line, "# "), []byte(" :"))
	return strings.TrimSpace(string(k)), input.Text(bytes.TrimSpace(v)), ok
}

// An EventDesc is how an event was sampled, as the comment "event" of --header has it.
type EventDesc struct {
	Name string
	// Period is 0 if there is a Frequency.
	Period, Frequency uint64
	// BranchTypes are the kinds of branches in branch stacks, such as ANY, nil if the
	// comment does not say.
	BranchTypes []string
}

// ParseEventDesc reads the value of a comment "event": name = cycles, , id = { 1, 2 },
// type = 0, { sample_period, sample_freq } = 4000, …, freq = 1, …. Must match
// print_event_desc in tools/perf/util/header.c.
func ParseEventDesc(value string) (e EventDesc, ok bool) {
	rest, ok := strings.CutPrefix(value, "name = ")
	if !ok {
		return e, false
	}
	e.Name, rest, _ = strings.Cut(rest, ", ")
	field := func(key string) string {
		_, v, _ := strings.Cut(", "+rest, ", "+key+" = ")
		v, _, _ = strings.Cut(v, ",")
		return strings.TrimSpace(v)
	}
	number := func(key string) uint64 {
		n, err := strconv.ParseUint(field(key), 0, 64)
		if err != nil {
			return 0
		}
		return n
	}
	e.Name = strings.TrimSpace(e.Name)
	e.Period = max(number("sample_period"), number("{ sample_period, sample_freq }"))
	if number("freq") == 1 {
		e.Period, e.Frequency = 0, e.Period
	}
	if types := field("branch_sample_type"); types != "" {
		e.BranchTypes = strings.Split(types, "|")
	}
	return e, true
}
