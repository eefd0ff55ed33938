package objects

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"profdiff/internal/objfile"
)

// A Machine is where files of this machine are looked for.
type Machine struct {
	// Root has its files: /, or what PROFDIFF_SYSROOT names.
	Root fs.FS
	root *directory
	// cache is that of perf, nil if there is none.
	cache *directory
	host  string
	// kernels has the symbols of its kernels.
	kernels  *Kernels
	packages *packages // nil if nobody asked for them yet
	// own is set if this is the machine that profdiff runs on: it has the vDSO of it.
	own bool
}

// ThisMachine is what the environment says: PROFDIFF_SYSROOT is the root of its files, and an
// empty directory is a machine without files. perf's configuration names perf's cache of
// object files (perf-config(1), buildid.dir).
func ThisMachine(getenv func(string) string) *Machine {
	root := getenv("PROFDIFF_SYSROOT")
	m := &Machine{own: root == ""}
	name := strings.TrimSuffix(root, "/")
	m.Root = os.DirFS(name + "/")
	m.root = newDirectory(SearchPath{Name: name, FS: m.Root}, local)
	if text, err := fs.ReadFile(m.Root, "proc/sys/kernel/hostname"); err == nil {
		m.host = strings.TrimSpace(string(text))
	}
	home := getenv("HOME")
	configs := []string{name + "/etc/perfconfig", filepath.Join(home, ".perfconfig")}
	if own := getenv("PERF_CONFIG"); own != "" {
		configs = []string{own}
	}
	var dir string
	for _, config := range configs {
		if named := buildIDDir(config); named != "" {
			dir = named
		}
	}
	switch rest, below := strings.CutPrefix(dir, "~/"); {
	case below && home != "":
		dir = filepath.Join(home, rest)
	case dir == "" && home != "":
		dir = filepath.Join(home, ".debug")
	}
	var kept fs.FS
	if filepath.IsAbs(dir) && dir != "/" {
		kept = os.DirFS(dir)
		m.cache = newDirectory(SearchPath{Name: dir, FS: kept}, cached)
	}
	m.kernels = NewKernels(m.Root, kept)
	return m
}

// buildIDDir is what a configuration of perf calls buildid.dir, "" if it does not.
func buildIDDir(config string) (dir string) {
	f := os.DirFS(filepath.Dir(config))
	if !regular(f, filepath.Base(config)) {
		return ""
	}
	text, err := fs.ReadFile(f, filepath.Base(config))
	if err != nil {
		return ""
	}
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[] \t")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if ok && section == "buildid" && strings.TrimSpace(name) == "dir" {
			value, _, _ = strings.Cut(value, "#")
			dir = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return dir
}

// vdsoPath is what recordings call the code that the kernel maps into each process.
const vdsoPath = "[vdso]"

// vdso is that of this process, nil if there is none.
func (m *Machine) vdso() *source {
	if !m.own {
		return nil
	}
	data := VDSO()
	file, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil
	}
	return &source{File: file, from: &File{Name: "the vDSO of this machine", in: m.root, at: vdsoPath}, size: int64(len(data)), zipped: vdsoPath}
}

// VDSO is the code that the kernel maps into each process, read out of the memory of this one;
// nil if there is none.
func VDSO() []byte {
	proc := os.DirFS("/proc/self")
	maps, err := fs.ReadFile(proc, "maps")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(maps)) {
		span, rest, _ := strings.Cut(line, " ")
		from, to, _ := strings.Cut(span, "-")
		start, err := strconv.ParseInt(from, 16, 64)
		end, err2 := strconv.ParseInt(to, 16, 64)
		if !strings.HasSuffix(strings.TrimSpace(rest), vdsoPath) || err != nil || err2 != nil {
			continue
		}
		mem, err := proc.Open("mem")
		if err != nil {
			return nil
		}
		defer mem.Close()
		data := make([]byte, end-start)
		if at, ok := mem.(io.ReaderAt); ok {
			if _, err := at.ReadAt(data, start); err == nil {
				return data
			}
		}
	}
	return nil
}
