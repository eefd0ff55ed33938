package input

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
