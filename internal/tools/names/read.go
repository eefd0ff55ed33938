package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// A frame is an address in a file and the symbol that it lies in, "" if that is unknown.
type frame struct {
	file string // the path
	addr uint64 // the offset in the file, or the address itself in code of no file
	name string
}

// A stack has its leaf first.
type stack struct {
	frames []frame
	weight int64
}

type listing struct {
	samples int
	stacks  []stack
}

// readProfdiff has profdiff convert a recording.
func readProfdiff(program, file string) (*listing, error) {
	cmd := exec.Command(program, "convert", file, "-o", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(stderr.Bytes()))
	}
	p, err := profile.ParseData(out)
	if err != nil {
		return nil, err
	}
	count, weight := -1, -1
	for i, t := range p.SampleType {
		if t.Unit == "count" {
			count = i
		} else {
			weight = i
		}
	}
	if weight < 0 {
		weight = count
	}
	l := &listing{}
	for _, s := range p.Sample {
		if count >= 0 {
			l.samples += int(s.Value[count])
		}
		var frames []frame
		for _, loc := range s.Location {
			frames = append(frames, location(loc))
		}
		l.stacks = append(l.stacks, stack{frames, s.Value[weight]})
	}
	return l, nil
}

func location(l *profile.Location) frame {
	f := frame{addr: l.Address}
	if m := l.Mapping; m != nil {
		f.file = m.File
		if strings.HasPrefix(m.File, "/") {
			f.addr = l.Address - m.Start + m.Offset
		}
	}
	if n := len(l.Line); n > 0 && l.Line[n-1].Function != nil {
		f.name = l.Line[n-1].Function.SystemName
		if f.name == "" {
			f.name = l.Line[n-1].Function.Name
		}
	}
	// [libfoo.so] and [unknown] are what has no name.
	if strings.HasPrefix(f.name, "[") && strings.HasSuffix(f.name, "]") {
		f.name = ""
	}
	return f
}

var frameLine = regexp.MustCompile(`^\s+([0-9a-f]+) (.*) \((.*)\)$`)

// readPerf has perf script list a recording.
func readPerf(file string) (*listing, error) {
	cmd := exec.Command("perf", "script", "-i", file, "--no-inline", "--no-demangle", "--max-stack", "4000", "-F", "period,event,ip,sym,dso")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &listing{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := frameLine.FindStringSubmatch(line); m != nil && len(l.stacks) > 0 {
			s := &l.stacks[len(l.stacks)-1]
			s.frames = append(s.frames, perfFrame(m[1], m[2], m[3]))
		} else if fields := strings.Fields(line); len(fields) >= 2 {
			period, err := strconv.ParseInt(fields[0], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("perf script: %q", line)
			}
			l.stacks = append(l.stacks, stack{weight: period})
			l.samples++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("perf script: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return l, nil
}

func perfFrame(addr, name, file string) frame {
	f := frame{file: file, name: name}
	f.addr, _ = strconv.ParseUint(addr, 16, 64)
	if name == "[unknown]" {
		f.name = ""
	}
	if file == "[unknown]" {
		f.file = ""
	}
	return f
}

var jitFile = regexp.MustCompile(`^(/tmp/perf-\d+\.map|(//)?anon|\[anon\]|\[JIT.*\]|JIT.*|/memfd:.*|/dev/zero.*)$`)

// base is the last part of a path, the same for all that code of JIT compilers is put in.
func base(file string) string {
	if file == "" {
		return "?"
	}
	if jitFile.MatchString(file) {
		return "JIT"
	}
	return filepath.Base(file)
}
