package input

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// header is the header of a perf.data file, with or without files beside it.
func header(order string, parts bool) string {
	head := make([]byte, 104)
	copy(head, order)
	if parts {
		if order == "PERFILE2" {
			head[72+3] = 1 // HEADER_DIR_FORMAT is bit 24
		} else {
			head[72+4] = 1
		}
	}
	return string(head)
}

// TestIsRecording tells a directory that is one recording from one with several.
func TestIsRecording(t *testing.T) {
	single, both := header("PERFILE2", false), header("PERFILE2", true)
	for _, test := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"perf record --threads", map[string]string{"data": both, "data.0": "", "data.1": ""}, true},
		{"big-endian", map[string]string{"data": header("2ELIFREP", true), "data.0": ""}, true},
		{"perf record --kcore", map[string]string{"data": single, "kcore_dir/kallsyms": "", "notes": ""}, true},
		{"with nothing beside it", map[string]string{"data": single}, true},
		{"runs, of which one is called data", map[string]string{"data": single, "data.1": single, "data.2": single}, false},
		{"the kernel's copy is a directory", map[string]string{"data": single, "kcore_dir": ""}, false},
		{"runs with other names", map[string]string{"a.data": both, "b.data": both}, false},
		{"no perf.data", map[string]string{"data": "main;f 1", "data.0": ""}, false},
		{"too short", map[string]string{"data": "PERFIL"}, false},
		{"nothing", nil, false},
	} {
		dir := filepath.Join(t.TempDir(), "side")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range test.files {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := IsRecording(dir); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
		if files, _, err := Files([]string{dir}); test.want && (err != nil || !slices.Equal(files, []string{dir})) {
			t.Errorf("%s: as a side %q, %v", test.name, files, err)
		}
		// One run of several.
		if err := os.WriteFile(dir+".data", nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if files, _, err := Files([]string{filepath.Dir(dir)}); test.want && (err != nil || !slices.Equal(files, []string{dir, dir + ".data"})) {
			t.Errorf("%s: within a side %q, %v", test.name, files, err)
		}
	}
}

// TestDirectory opens a recording that is a directory.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"data": header("PERFILE2", true), "data.0": "first", "data.1": "", "data.2": "third", "data.4": "not perf's",
		"kcore_dir/kallsyms": "0 t f",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	digests := make(Digests)
	err := digests.Read(dir, nil, func(src *Source) error {
		var parts []string
		for _, part := range src.Parts {
			data, err := io.ReadAll(part)
			if err != nil {
				return err
			}
			parts = append(parts, string(data))
		}
		if want := []string{"first", "", "third"}; src.Name != dir || !slices.Equal(parts, want) || string(src.Kallsyms) != "0 t f" {
			t.Errorf("%s: parts %q, want %q; kallsyms %q", src.Name, parts, want, src.Kallsyms)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFiles lists what is in folders, without what perf record and editors leave there.
func TestFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		in    []string // the folder
		paths []string // in it, "." for itself
		want  []string
		note  string
		err   string
	}{
		{"runs", []string{"02.data", "01.data"}, []string{"."}, []string{"01.data", "02.data"}, "", ""},
		{"perf's backup", []string{"perf.data", "perf.data.old"}, []string{"."}, []string{"perf.data"}, "perf.data.old is a backup and no run; name the file to have it read", ""},
		{
			"backups of editors",
			[]string{"a.folded", "a.folded~", ".#a.folded", "b.old", "c~"},
			[]string{"."},
			[]string{"a.folded"},
			"3 backups are no runs, a.folded~ … c~; name a file to have it read", "",
		},
		{"a backup that is named", []string{"perf.data", "perf.data.old"}, []string{"perf.data.old", "."}, []string{"perf.data.old", "perf.data"}, "perf.data.old is a backup and no run; name the file to have it read", ""},
		{"names that only look so", []string{"threshold", "old", "~a", "old.data"}, []string{"."}, []string{"old", "old.data", "threshold", "~a"}, "", ""},
		{"backups alone", []string{"perf.data.old"}, []string{"."}, nil, "", "has no recordings but backups: name perf.data.old to have it read"},
		{"nothing", nil, []string{"."}, nil, "", "directory has no recordings"},
	} {
		dir := t.TempDir()
		for _, name := range test.in {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var paths []string
		for _, path := range test.paths {
			paths = append(paths, filepath.Join(dir, path))
		}
		files, note, err := Files(paths)
		bare := func(s string) string { return strings.ReplaceAll(s, dir+string(filepath.Separator), "") }
		for i := range files {
			files[i] = bare(files[i])
		}
		switch {
		case test.err != "":
			if err == nil || !strings.HasSuffix(bare(err.Error()), test.err) {
				t.Errorf("%s: error %v, want %s", test.name, err, test.err)
			}
		case err != nil || !slices.Equal(files, test.want) || bare(note) != test.note:
			t.Errorf("%s: %q, %q, %v, want %q, %q", test.name, files, bare(note), err, test.want, test.note)
		}
	}
}

// TestOpenDirectory checks that a directory that is no recording is refused with a file to name instead.
func TestOpenDirectory(t *testing.T) {
	for _, test := range []struct {
		files []string
		want  string
	}{
		{nil, "DIR: is a directory: name a file"},
		{[]string{".hidden", "old.data~", "symbols/app"}, "DIR: is a directory: name a file"},
		{[]string{"b.data", "a.data", "symbols/app"}, "DIR: is a directory: name files in it, such as DIR/a.data"},
		{[]string{"README.md", ".git/config", "after/01.data", "before/02.data"}, "DIR: is a directory: name files in it, such as DIR/before/02.data"},
		{[]string{"new/01.data", "old/02.data"}, "DIR: is a directory: name files in it, such as DIR/new/01.data"},
		{[]string{"README.md", "empty/in/it"}, "DIR: is a directory: name files in it, such as DIR/README.md"},
	} {
		dir := t.TempDir()
		for _, name := range test.files {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("main;f 1\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(dir, nil)
		if err == nil {
			t.Fatalf("%v: no error", test.files)
		}
		if got := filepath.ToSlash(strings.ReplaceAll(err.Error(), dir, "DIR")); got != test.want {
			t.Errorf("%v: %s, want %s", test.files, got, test.want)
		}
	}
}
