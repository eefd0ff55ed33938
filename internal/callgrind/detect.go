package callgrind

import (
	"bytes"

	"profdiff/internal/input"
)

// Recognise tells a callgrind.out or cachegrind.out by its head: only theirs have events:
// below other lines of their header. A last line that is not complete does not count. Lines
// of a header are evidence only if one names Callgrind or Cachegrind, because other text has
// such keys, too.
func Recognise(head input.Head) (e input.Evidence) {
	text := bytes.TrimPrefix(head, []byte("\ufeff"))
	if bytes.HasPrefix(text, []byte("# callgrind format")) {
		return input.Evidence{Is: true}
	}
	known, named := 0, false
	defer func() {
		if !e.Is && named {
			e.Known, e.Why = known, "no line events: follows"
		}
	}()
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			return e
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		e.Seen++
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return e
		}
		switch string(key) {
		case "events":
			e.Is = true
			return e
		case "creator":
			named = named || bytes.Contains(value, []byte("callgrind")) || bytes.Contains(value, []byte("cachegrind"))
		case "version", "pid", "cmd", "part", "thread", "desc", "positions", "event":
		default:
			return e
		}
		known++
	}
	return e
}
