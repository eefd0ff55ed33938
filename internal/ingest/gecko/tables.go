package gecko

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// names turns the tables of a thread into stacks of the run.
type names struct {
	g      *reader
	libs   []lib
	tables tables
}

// index reads a reference to a row of another table. null and -1 refer to none: ok is
// false.
func index(column []float64, row, rows int) (i int, ok bool, err error) {
	if row >= len(column) {
		return 0, false, nil
	}
	v := column[row]
	if math.IsNaN(v) || v == -1 {
		return 0, false, nil
	}
	if v != math.Trunc(v) || v < 0 || v >= float64(rows) {
		return 0, false, fmt.Errorf("row %d refers to row %v of %d", row, v, rows)
	}
	return int(v), true, nil
}

// stacks returns the stack of each sample.
func (n *names) stacks(samples []float64) ([]run.StackID, error) {
	t := &n.tables.stacks
	prefixes, _ := t.column("prefix")
	frames, _ := t.column("frame")
	used := make([]bool, t.rows)
	for row := range samples {
		i, ok, err := index(samples, row, t.rows)
		if err != nil {
			return nil, fmt.Errorf("samples: stack: %w", err)
		}
		if ok {
			used[i] = true
		}
	}
	// The stack of the caller stands before, so one pass back finds all that are used
	// and one forward can build them.
	parents := make([]int, t.rows)
	for row := t.rows - 1; row >= 0; row-- {
		parent, ok, err := index(prefixes, row, row)
		if err != nil {
			return nil, fmt.Errorf("stackTable: prefix: %w", err)
		}
		parents[row] = -1
		if ok {
			parents[row] = parent
			used[parent] = used[parent] || used[row]
		}
	}
	ids := make([]run.StackID, t.rows)
	locations := make(map[int]uint32)
	for row := range ids {
		if !used[row] {
			continue
		}
		frame, ok, err := index(frames, row, n.tables.frames.rows)
		if err != nil || !ok {
			return nil, fmt.Errorf("stackTable: frame: row %d refers to no frame", row)
		}
		loc, ok := locations[frame]
		if !ok {
			if loc, err = n.location(frame); err != nil {
				return nil, err
			}
			locations[frame] = loc
		}
		var caller run.StackID
		if parents[row] >= 0 {
			caller = ids[parents[row]]
		}
		ids[row] = n.g.b.Stack(caller, loc)
	}
	out := make([]run.StackID, len(samples))
	for row := range samples {
		if i, ok, _ := index(samples, row, t.rows); ok {
			out[row] = ids[i]
		}
	}
	return out, nil
}

// location makes the location of a frame.
func (n *names) location(frame int) (uint32, error) {
	frames := &n.tables.frames
	if funcs, ok := frames.column("func"); ok {
		return n.processedLocation(frame, funcs)
	}
	locations, _ := frames.column("location")
	i, ok, err := index(locations, frame, len(n.tables.strings))
	if err != nil || !ok {
		return 0, fmt.Errorf("frameTable: location: row %d refers to no string", frame)
	}
	// symbol (in file), by simpleperf
	name := n.tables.strings[i]
	var file string
	if s, ok := strings.CutSuffix(name, ")"); ok {
		if at := strings.LastIndex(s, " (in "); at >= 0 {
			name, file = s[:at], s[at+len(" (in "):]
		}
	}
	return n.add(run.Function{Name: name}, file, "", 0, n.line(frame)), nil
}

// processedLocation makes the location of a frame of the processed format.
func (n *names) processedLocation(frame int, funcs []float64) (uint32, error) {
	table := &n.tables.funcs
	fn, ok, err := index(funcs, frame, table.rows)
	if err != nil || !ok {
		return 0, fmt.Errorf("frameTable: func: row %d refers to no function", frame)
	}
	str := func(column string) (string, error) {
		c, _ := table.column(column)
		i, ok, err := index(c, fn, len(n.tables.strings))
		if err != nil || !ok {
			return "", err
		}
		return n.tables.strings[i], nil
	}
	var f run.Function
	if f.Name, err = str("name"); err != nil {
		return 0, fmt.Errorf("funcTable: name: %w", err)
	}
	if f.File, err = str("fileName"); err != nil {
		return 0, fmt.Errorf("funcTable: fileName: %w", err)
	}
	if c, ok := table.column("source"); ok {
		i, ok, err := index(c, fn, n.tables.sources.rows)
		if err != nil {
			return 0, fmt.Errorf("funcTable: source: %w", err)
		}
		if ok {
			names, _ := n.tables.sources.column("filename")
			s, ok, err := index(names, i, len(n.tables.strings))
			if err != nil {
				return 0, fmt.Errorf("sources: filename: %w", err)
			}
			if ok {
				f.File = n.tables.strings[s]
			}
		}
	}
	if c, ok := table.column("lineNumber"); ok {
		f.StartLine = positive(c, fn)
	}
	lib, err := n.lib(fn)
	if err != nil {
		return 0, err
	}
	var addr uint64
	if c, ok := n.tables.frames.column("address"); ok {
		addr = uint64(positive(c, frame))
	}
	return n.add(f, lib.path, lib.buildID, addr, n.line(frame)), nil
}

// lib returns the library of a function.
func (n *names) lib(fn int) (lib, error) {
	c, _ := n.tables.funcs.column("resource")
	res, ok, err := index(c, fn, n.tables.resources.rows)
	if err != nil {
		return lib{}, fmt.Errorf("funcTable: resource: %w", err)
	}
	if !ok {
		return lib{}, nil
	}
	c, _ = n.tables.resources.column("lib")
	i, ok, err := index(c, res, len(n.libs))
	if err != nil {
		return lib{}, fmt.Errorf("resourceTable: lib: %w", err)
	}
	if !ok {
		return lib{}, nil
	}
	return n.libs[i], nil
}

func (n *names) line(frame int) run.Line {
	var l run.Line
	if c, ok := n.tables.frames.column("line"); ok {
		l.Line = positive(c, frame)
	}
	if c, ok := n.tables.frames.column("column"); ok {
		l.Column = positive(c, frame)
	}
	return l
}

// positive reads a number for which 0 stands where there is none.
func positive(column []float64, row int) int64 {
	const most = 1 << 53
	if row >= len(column) || !(column[row] > 0 && column[row] < most) {
		return 0
	}
	return int64(column[row])
}

func (n *names) add(f run.Function, file, buildID string, addr uint64, line run.Line) uint32 {
	b := n.g.b
	dso, offset, unknown := reading.UnknownSymbol(f.Name)
	if file == "" {
		file = dso
	}
	if addr == 0 {
		addr = offset
	}
	if unknown {
		f = reading.UnknownFunction(file, addr, n.g.opt)
	}
	mapping := n.g.files.Mapping(file)
	n.g.files.Named(mapping, !unknown, f.File != "" && line.Line > 0, false)
	if mapping != 0 && buildID != "" {
		b.Run().Mappings[mapping].BuildID = buildID
	}
	line.Function = b.Function(f)
	return b.Location(mapping, addr, line)
}
