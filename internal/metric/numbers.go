package metric

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// recogniseNumbers recognises lines that are one number each, but for comments. One number alone
// may be anything.
func recogniseNumbers(head input.Head) (e input.Evidence) {
	for line := range head.Lines() {
		text := numberText(line)
		if text == "" {
			continue
		}
		e.Seen++
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			e.Known++
		}
	}
	e.Is = e.Known > 1 && e.Known == e.Seen
	if e.Why = "others are no number"; e.Known == e.Seen {
		e.Why = "one is too few to tell"
	}
	return e
}

// numberText is a line without what follows #.
func numberText(line []byte) string {
	line, _, _ = bytes.Cut(line, []byte("#"))
	return string(bytes.TrimSpace(line))
}

// readNumbers reads the values of one run. The name of the file says what they are:
// frame_ms.txt.
func readNumbers(src *input.Source, s *Set) error {
	values, err := ReadNumbers(src.Reader)
	if err != nil {
		return err
	}
	name := filepath.Base(src.Name)
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); stem != "" && src.Dir != "" {
		name = stem
	} else {
		name = "value"
	}
	s.Read = len(values)
	s.put(s.Add("", name, ""), 0, values...)
	return nil
}

// Numbers is the name of the format of files that have numbers alone: only their names say of what.
const Numbers = "one number a line"

// ReadNumbers reads one number a line that is not negative; empty lines and what follows #
// are left out. Errors have the line.
func ReadNumbers(r io.Reader) (values []float64, err error) {
	lines := input.NewLines(r)
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		text := numberText(line)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || !(v >= 0) || math.IsInf(v, 0):
			return nil, fmt.Errorf("line %d: want a number that is not negative, not %.40q", lines.Number(), text)
		case len(values) == maxValues:
			return nil, fmt.Errorf("line %d: more than %d values", lines.Number(), maxValues)
		}
		values = append(values, v)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, errors.New("has no values")
	}
	return values, nil
}
