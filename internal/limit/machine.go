package limit

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Machine is the limit where a user sets none: half of the memory that the machine has left
// (MemAvailable in /proc/meminfo), or three quarters of what the control group of the process may use
// (memory.max, cgroups(7)), whichever is less; None if neither is known. root is the file system.
func Machine(root fs.FS) int64 {
	least := int64(None)
	if meminfo, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		if available, ok := field(meminfo, "MemAvailable:"); ok {
			least = available * 1024 / 2
		}
	}
	for _, file := range groupFiles(root) {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		if most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			least = min(least, most/4*3)
		}
	}
	return max(least, Least)
}

// field is the number behind a name in text of lines.
func field(text []byte, name string) (n int64, ok bool) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// groupFiles are the files that may have limits of the control group of this process: of its own,
// and of those that it is in, of version 2 and 1.
func groupFiles(root fs.FS) (files []string) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		var dir, name string
		switch {
		case parts[0] == "0":
			dir, name = "sys/fs/cgroup", "memory.max"
		case strings.Contains(parts[1], "memory"):
			dir, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			files = append(files, path.Join(dir, group, name))
			if group == "/" {
				break
			}
		}
	}
	return files
}
