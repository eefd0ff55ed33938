package batch

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// columns are what a manifest may say of a profile, and how that is read.
var columns = []struct {
	name string
	set  func(l *Listed, value string) error
}{
	{"path", func(l *Listed, v string) error { l.Path = v; return nil }},
	{"release", func(l *Listed, v string) error { l.Release = v; return nil }},
	{"device_model", func(l *Listed, v string) error { l.Model = v; return nil }},
	{"device", func(l *Listed, v string) error { l.Identifier = v; return nil }},
	{"device_id", func(l *Listed, v string) error { l.Device = v; return nil }},
	{"time", func(l *Listed, v string) (err error) { l.TimeNS, err = parseTime(v); return err }},
	{"duration", func(l *Listed, v string) (err error) { l.DurationNS, err = parseDuration(v); return err }},
	{"work_units", func(l *Listed, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 {
			return errors.New("is no whole number")
		}
		l.WorkUnits = &n
		return nil
	}},
	{"abi", func(l *Listed, v string) error { l.ABI = v; return nil }},
	{"os_build", func(l *Listed, v string) error { l.OSBuild = v; return nil }},
}

// Columns are the columns that a manifest may have.
func Columns() (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// parseTime reads a time as RFC 3339 has it, a date, or nanoseconds since 1970.
func parseTime(v string) (int64, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, v); err == nil && t.Year() >= 1970 && t.Year() < 2262 {
			return t.UnixNano(), nil
		}
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	return 0, errors.New("is no time such as 2026-11-23T10:00:00Z, and no number of nanoseconds since 1970")
}

// parseDuration reads a duration as Go has it, or nanoseconds.
func parseDuration(v string) (int64, error) {
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return int64(d), nil
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	return 0, errors.New("is no duration such as 30s, and no number of nanoseconds")
}

// set sets a column. Values that are missing say nothing.
func (l *Listed) set(column, value string) error {
	i := slices.Index(Columns(), column)
	if i < 0 {
		return fmt.Errorf("column %q is none of %s", column, strings.Join(Columns(), ", "))
	}
	if value == "" {
		return nil
	}
	if err := columns[i].set(l, value); err != nil {
		return fmt.Errorf("%s: %q %w", column, value, err)
	}
	return nil
}

// Manifest reads a list of profiles: CSV whose first line names the columns, or a JSON object a line. Relative paths are relative to
// dir. Errors say the line.
func Manifest(r io.Reader, dir string, each func(Listed) error) error {
	add := func(l Listed) error {
		switch {
		case l.Path == "":
			return errors.New("has no path")
		case l.Identifier != "" && l.Device != "":
			return errors.New("has a device and a device_id: one of them is to be made a pseudonym, the other is one")
		}
		l.Source = l.Path
		if !filepath.IsAbs(l.Path) {
			l.Path = filepath.Join(dir, filepath.FromSlash(l.Path))
		}
		return each(l)
	}
	b := bufio.NewReader(r)
	if start, err := b.Peek(1); err == nil && start[0] == '{' {
		return readObjects(b, add)
	}
	return readCSV(b, add)
}

func readCSV(r io.Reader, add func(Listed) error) error {
	c := csv.NewReader(r)
	c.ReuseRecord, c.TrimLeadingSpace = true, true
	record, err := c.Read()
	if err != nil {
		return fmt.Errorf("is no list of profiles: %w", err)
	}
	names := slices.Clone(record)
	if !slices.Contains(names, "path") {
		return fmt.Errorf("is no list of profiles: its first line names no column path; columns are %s", strings.Join(Columns(), ", "))
	}
	for {
		record, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var l Listed
		for i, v := range record {
			if err = l.set(names[i], strings.Clone(v)); err != nil {
				break
			}
		}
		if err == nil {
			err = add(l)
		}
		if err != nil {
			line, _ := c.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func readObjects(r io.Reader, add func(Listed) error) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	for line := 1; ; line++ {
		var object map[string]any
		err := d.Decode(&object)
		if err == io.EOF {
			return nil
		}
		var l Listed
		for name, v := range object {
			switch v := v.(type) {
			case nil:
			case string:
				err = errors.Join(err, l.set(name, v))
			case json.Number:
				err = errors.Join(err, l.set(name, v.String()))
			default:
				err = errors.Join(err, fmt.Errorf("%s: is neither text nor a number", name))
			}
		}
		if err == nil {
			err = add(l)
		}
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			return fmt.Errorf("object %d: %s", line, first)
		}
	}
}
