package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemoveAll(t *testing.T) {
	dir := t.TempDir()
	name := func(base string) string {
		path := filepath.Join(dir, base)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kept, twice, removed := name("kept"), name("twice"), name("removed")
	forget := Add(kept)
	Add(twice)()
	Add(twice)
	Add(removed)
	Add(filepath.Join(dir, "never made"))
	Add(dir + "/nothing/here")
	forget()
	forget() // again changes nothing
	if err := removeAll(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{kept: true, twice: false, removed: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v", filepath.Base(path), err == nil)
		}
	}
	Add(kept)()
	if err := removeAll(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
