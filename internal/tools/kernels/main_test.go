package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFiles checks that the files are what the tables give.
func TestFiles(t *testing.T) {
	const mc = "llvm-mc"
	if _, err := exec.LookPath(mc); err != nil {
		t.Skip(err)
	}
	for _, target := range targets {
		files, err := target.files(t.Context(), mc)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			if got, err := os.ReadFile(filepath.Join("../../probe", name)); err != nil || string(got) != string(want) {
				t.Errorf("%s is not what the table gives: go run -C internal/tools ./kernels (%v)", name, err)
			}
		}
	}
}
