package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/rogpeppe/go-internal/txtar"
)

// leastRefused is how many files TestRefused has on every machine.
const leastRefused = 200

// TestRefused gives every command files that are no profiles: texts of tools that print
// numbers, names and addresses, too, source code, binaries, and what this machine has. Each
// is refused with one line, and nothing is written.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := filepath.Join(dir, "good.folded")
	stacks := filepath.Join(dir, "good.lbr")
	budget := filepath.Join(dir, "budget.yaml")
	for name, text := range map[string]string{
		good:   "main;work 90\nmain;idle 10\n",
		stacks: "app 1/1 1.0: 100 cycles: " + strings.Repeat("0x1010/0x1000/P/-/-/1 0x1014/0x1000/M/-/-/1 ", 8) + "\n",
		budget: "version: 1\nbudgets:\n  - id: work\n    match: {function: work}\n    limit: {fail: +10%}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files := refused(t)
	if len(files) < leastRefused && !testing.Short() {
		t.Errorf("there are %d files, want %d", len(files), leastRefused)
	}
	out := filepath.Join(dir, "out")
	for name, data := range files {
		file := filepath.Join(dir, "x", strings.NewReplacer("/", "_", " ", "_").Replace(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"show", file, "-o", out},
			{"convert", file, "-o", out},
			{"dump", file, "-o", out},
			{"diff", file, good, "-o", out},
			{"diff", good, file, "-o", out},
			{"branches", file, "-o", out},
			{"branches", "--stat", file, stacks, "-o", out},
			{"branches", "--calibration", file, stacks, "-o", out},
			{"check", "--budget", budget, "--base", good, "--head", file, "--out", "json=" + out},
			{"report", "--from", file, "-o", out},
			{"predict", file, file, "-o", out},
			{"loops", file, "-o", out},
		} {
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
			lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			if last := lines[len(lines)-1]; len(lines) > 1 && strings.HasPrefix(last, "profdiff: hint: ") {
				lines = lines[:len(lines)-1]
			}
			if code != exitInput || len(lines) != 1 || !strings.HasPrefix(lines[0], "profdiff: ") || stdout.Len() > 0 {
				t.Errorf("%s %s: exit code %d, standard error %q, %d bytes of output", args[0], name, code, stderr.String(), stdout.Len())
			}
			// Lines that could be of any text are no evidence, however many there are.
			if strings.Contains(lines[0], "lines, but none has a process") {
				t.Errorf("%s %s: is said to be close to perf script, of which it has no line: %q", args[0], name, lines[0])
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s %s: wrote a file", args[0], name)
				if err := os.Remove(out); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 4 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// refused returns files that are no profiles, by name.
func refused(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	archive, err := txtar.ParseFile("testdata/refused.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
		if len(files)%8 == 0 {
			files[f.Name+".gz"] = compressed(t, f.Data)
		}
	}
	if testing.Short() {
		return files
	}
	maps.Copy(files, binaries(t))
	// Texts with other ends of lines and of text that repeats.
	files["empty"] = nil
	files["carriage returns"] = bytes.ReplaceAll(files["meminfo"], []byte("\n"), []byte("\r\n"))
	files["long line"] = bytes.Repeat([]byte("word "), 100_000)
	files["many lines"] = bytes.Repeat(files["vmstat"], 5000)
	// Source code, and what else there is.
	add := func(root string, most int, extensions string) {
		n := 0
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || n == most:
				return nil
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case !d.Type().IsRegular() || extensions != "" && !strings.Contains(extensions, filepath.Ext(name)+" "):
				return nil
			}
			data, err := readSome(name)
			if err != nil || len(data) == 0 {
				return nil
			}
			files[name] = data
			n++
			return nil
		})
	}
	add("../../internal", 40, ".go .html .js .css .md ")
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		add(filepath.Join(strings.TrimSpace(string(root)), "src"), 40, ".go .s .h .txt .md ")
	}
	add("/etc", 40, "")
	add("/usr/share/doc", 20, "")
	add("/usr/share/perl", 10, "")
	for _, name := range []string{
		"cpuinfo", "meminfo", "vmstat", "stat", "loadavg", "uptime", "version", "cmdline", "interrupts", "softirqs", "zoneinfo",
		"buddyinfo", "diskstats", "partitions", "mounts", "filesystems", "modules", "iomem", "ioports", "devices", "locks", "crypto",
		"self/status", "self/maps", "self/smaps", "self/limits", "self/io", "self/sched", "self/stat", "self/statm", "self/mountinfo",
		"net/dev", "net/tcp", "net/unix", "net/snmp", "net/netstat", "schedstat", "timer_list", "swaps", "misc", "kallsyms", "pagetypeinfo",
	} {
		if data, err := readSome(filepath.Join("/proc", name)); err == nil && len(data) > 0 {
			files["/proc/"+name] = data
		}
	}
	return files
}

// readSome reads a file, no more than 256 kB of it.
func readSome(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 256<<10)
	n := 0
	for n < len(data) {
		m, err := f.Read(data[n:])
		n += m
		if err != nil {
			break
		}
	}
	return data[:n], nil
}

func compressed(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// binaries are files of formats that are no text.
func binaries(t *testing.T) map[string][]byte {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"picture.png": picture.Bytes(), "picture.png.gz": compressed(t, picture.Bytes()),
		"twice.gz": compressed(t, compressed(t, []byte("main;work 5\n"))),
		"cut.gz":   compressed(t, bytes.Repeat([]byte("main;work 5\n"), 100))[:30],
	}
	for name, start := range map[string]string{
		"gif": "GIF89a\x01\x00\x01\x00\x80\x00\x00", "jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF\x00", "zip": "PK\x03\x04\x14\x00\x00\x00", "elf": "\x7fELF\x02\x01\x01\x00",
		"mach-o": "\xcf\xfa\xed\xfe\x07\x00\x00\x01", "windows": "MZ\x90\x00\x03\x00", "class": "\xca\xfe\xba\xbe\x00\x00\x00\x34", "dex": "dex\n035\x00",
		"wasm": "\x00asm\x01\x00\x00\x00", "sqlite": "SQLite format 3\x00\x10\x00", "pdf": "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "ar": "!<arch>\n\x00", "rpm": "\xed\xab\xee\xdb\x03\x00",
		"pcap": "\xd4\xc3\xb2\xa1\x02\x00\x04\x00", "bzip2": "BZh91AY&SY", "7z": "7z\xbc\xaf\x27\x1c", "utf-16": "\xff\xfem\x00a\x00i\x00n\x00", "mp3": "ID3\x03\x00\x00",
		"ogg": "OggS\x00\x02", "wav": "RIFF\x24\x00\x00\x00WAVE", "flac": "fLaC\x00\x00\x00\x22", "ttf": "\x00\x01\x00\x00\x00\x0c", "tar": "a\x00\x00\x00", "pyc": "\xa7\x0d\x0d\x0a\x00\x00",
		"perf of before 2.6.34": "PERFFILE\x00\x00", "cut perf.data": "PERFILE2\x68\x00",
		"lz4": "\x04\x22\x4d\x18\x64\x40", "dtb": "\xd0\x0d\xfe\xed\x00\x00", "trace.dat": "\x17\x08\x44tracing6\x00", "lz": "LZIP\x01\x0c", "ico": "\x00\x00\x01\x00\x01\x00",
	} {
		files[name] = append([]byte(start), make([]byte, 100)...)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 30 {
		data := make([]byte, 1<<(i%12))
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		files[fmt.Sprintf("random %d", i)] = data
		files[fmt.Sprintf("byte %d", i)] = bytes.Repeat([]byte{byte(8 * i)}, 1000)
	}
	return files
}
