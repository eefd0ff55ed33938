package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// jitDump is what compilers call the file with the code that they made, which they map so that
// the recording has its name (tools/perf/Documentation/jitdump-specification.txt of Linux).
var jitDump = regexp.MustCompile(`/jit-([0-9]+)\.dump$`)

// namesOfCode are the files in which processes name the code that they made while they ran,
// as far as samples are in such code: perf maps (tools/perf/Documentation/jit-interface.txt) and
// jitdump files. The code is in other memory than what is mapped of a jitdump file.
func (h *hits) namesOfCode() (names []string) {
	for pid := range h.generated {
		names = append(names, fmt.Sprintf("/tmp/perf-%d.map", pid))
	}
	for _, file := range h.mapped {
		m := jitDump.FindStringSubmatch(file)
		if m == nil {
			continue
		}
		if pid, err := strconv.ParseInt(m[1], 10, 32); h.files[file] || err == nil && h.generated[int32(pid)] {
			names = append(names, file)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// keepNamesOfCode copies files of names under root to the folder of a recording that began at a
// time, in the same place: the next run of a program may replace them, and other
// machines have none. Files that are not there, or older, are of no use; those of an earlier
// recording, of a process with the same number, stay.
func keepNamesOfCode(dir, root string, names []string, began time.Time) (notes []string, err error) {
	for _, name := range names {
		from, to := filepath.Join(root, name), filepath.Join(dir, SymbolsName, name)
		info, err := os.Stat(from)
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(began) {
			continue
		}
		if exists(to) || info.Size() > MaxDebug {
			why := fmt.Sprintf("it is larger than %d MB", MaxDebug>>20)
			if info.Size() <= MaxDebug {
				why = "an earlier run had a process with the same number"
			}
			notes = append(notes, fmt.Sprintf("%s is not kept: %s", name, why))
			continue
		}
		f, err := os.Open(from)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s is not kept: %v", name, err))
			continue
		}
		if err = os.MkdirAll(filepath.Dir(to), dirMode); err == nil {
			err = write(to, io.LimitReader(f, MaxDebug))
		}
		f.Close()
		if err != nil {
			return notes, err
		}
	}
	return notes, nil
}

// anonymous reports whether a mapping is of no file, as memory is that a compiler filled.
func anonymous(path string) bool {
	return path == "" || strings.HasPrefix(path, "//anon") || strings.HasPrefix(path, "[anon") || strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/zero")
}
