//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"profdiff/internal/input/inputtest"
)

// TestHostile gives hostile inputs of each kind to every command that reads. An input at which one
// ends badly is kept in the folder for temporary files, with its number.
func TestHostile(t *testing.T) {
	inputs := 300
	switch {
	case *longMode:
		inputs = 5000
	case testing.Short():
		inputs = 45
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("main;function_1 10\nmain;function_2;function_3 20\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	codes := make(map[string]map[int]int) // by kind
	for seed := range uint64(inputs) {
		h := inputtest.NewHostile(seed)
		root, dir := t.TempDir(), t.TempDir()
		size := len(h.Data)
		for name, data := range h.Files {
			size += len(data)
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.WriteFile(in, h.Data, 0o666); err != nil {
			t.Fatal(err)
		}
		if codes[h.Kind] == nil {
			codes[h.Kind] = make(map[int]int)
		}
		bad := t.Failed()
		for i, args := range [][]string{
			{"show", in, "-o", out, "--symfs", root},
			{"convert", in, "-o", out, "--symfs", root},
			{"diff", in, other, "-o", out},
			{"show", in, "-o", out, "--format", "json", "--by", "dso"},
			{"convert", in, "-o", out, "--to", "folded"},
			{"diff", other, in, "--html", out},
			{"dump", in, "-o", out},
			{"branches", in, "-o", out, "--symfs", root},
			{"report", in, "-o", out},
		} {
			if i > 2 && (int(seed)/len(codes)+i)%3 != 0 {
				continue // two of the others at a time
			}
			code := survive(t, fmt.Sprintf("hostile input %d (%s): profdiff %q", seed, h.Kind, args), dir, args, size)
			if args[0] != "report" && args[0] != "dump" && args[0] != "branches" {
				codes[h.Kind][code]++
			}
			os.Remove(out)
		}
		if t.Failed() && !bad {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("profdiff-hostile-%d", seed))
			t.Logf("kept as %s: %v", kept, os.CopyFS(kept, os.DirFS(filepath.Dir(in))))
		}
	}
	for kind, by := range codes {
		t.Logf("%s: exit codes %v", kind, by)
		// Of a kind of which nothing is read, no reader is tested.
		if by[exitOK] == 0 && kind != "page" && !testing.Short() {
			t.Errorf("%s: no input was read", kind)
		}
	}
}
