package callgrind

import "bytes"

// Detect reports whether a file that begins with head is a callgrind.out or
// cachegrind.out: only theirs have events: below other lines of their header. A last
// line that is not complete does not count.
func Detect(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if bytes.HasPrefix(head, []byte("# callgrind format")) {
		return true
	}
	for line := range bytes.Lines(head) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			return false
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return false
		}
		switch string(key) {
		case "events":
			return true
		case "version", "creator", "pid", "cmd", "part", "thread", "desc", "positions", "event":
		default:
			return false
		}
	}
	return false
}
