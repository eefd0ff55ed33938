package objects_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/objects"
)

// TestBeside finds what a set has for recordings in it.
func TestBeside(t *testing.T) {
	const path, list = "/opt/a", "ffffffff81000000 T _text\n"
	elf := string(program(idA, 0).Build(t))
	for _, test := range []struct {
		name     string
		files    map[string]string // with those of the recording in set/before
		found    string            // object file
		kallsyms string
	}{
		{"nothing", nil, "", ""},
		{"beside the recording", map[string]string{"set/before/symbols/opt/a": elf}, "set/before/symbols/opt/a", ""},
		{"with symbols of the kernel", map[string]string{"set/before/symbols/kallsyms": list}, "", "set/before/symbols/kallsyms"},
		{"profdiff's set", map[string]string{"set/recording.yaml": "", "set/symbols/opt/a": elf, "set/kallsyms": list}, "set/symbols/opt/a", "set/kallsyms"},
		{"a set without notes", map[string]string{"set/symbols/kallsyms": list, "set/symbols/opt/a": elf}, "set/symbols/opt/a", "set/symbols/kallsyms"},
		{"a set by build IDs", map[string]string{"set/symbols/.build-id/aa/" + idA[2:] + "/elf": elf}, "set/symbols/.build-id/aa/" + idA[2:] + "/elf", ""},
		{"by the build ID of any file", map[string]string{"set/recording.yaml": "", "set/symbols/x/y": elf}, "set/symbols/x/y", ""},
		{"another build", map[string]string{"set/recording.yaml": "", "set/symbols/opt/a": string(program(idB, 0).Build(t))}, "", ""},
		{"no set", map[string]string{"set/symbols/opt/a": elf, "set/kallsyms": list}, "", ""},
		{"two levels up", map[string]string{"recording.yaml": "", "symbols/opt/a": elf}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := root(t.TempDir())
			for name, text := range test.files {
				dir.write(t, name, []byte(text))
			}
			files := objects.New(objects.Options{}).Of(objects.Recording{Dir: filepath.Join(string(dir), "set/before")})
			found, kallsyms := "", ""
			if o, err := files.Names(objects.Recorded{Path: path, BuildID: idA}); err == nil {
				found = o.Name()
			}
			k, err := files.Kallsyms()
			if err != nil {
				t.Fatal(err)
			}
			if k != nil {
				kallsyms = k.Name
			}
			for got, want := range map[string]string{found: test.found, kallsyms: test.kallsyms} {
				if strings.TrimPrefix(got, string(dir)+"/") != want {
					t.Errorf("found %q, want %q", got, want)
				}
			}
		})
	}
}

// TestBesideMuch bounds what is looked at beside a recording.
func TestBesideMuch(t *testing.T) {
	dir := root(t.TempDir())
	for i := range 5001 {
		dir.write(t, fmt.Sprintf("symbols/%05d", i), nil)
	}
	files := objects.New(objects.Options{}).Of(objects.Recording{Dir: string(dir)})
	if o, err := files.Names(objects.Recorded{Path: "/opt/a", BuildID: idA}); err == nil {
		t.Errorf("found %s", o.Name())
	}
	if w := strings.Join(files.Warnings(), "\n"); !strings.Contains(w, "symbols has more than 5000 files") {
		t.Errorf("warnings %q", w)
	}
}

// TestBesideBad says why a list of the kernel's symbols is not used.
func TestBesideBad(t *testing.T) {
	dir := root(t.TempDir())
	name := dir.write(t, "symbols/kallsyms", []byte("no list\n"))
	if k, err := objects.New(objects.Options{}).Of(objects.Recording{Dir: string(dir)}).Kallsyms(); k != nil || err == nil || !strings.HasPrefix(err.Error(), name+" is not used: ") {
		t.Errorf("%v, %v", k, err)
	}
}
