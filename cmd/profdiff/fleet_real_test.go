package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestFleetSimilar ingests two releases of SQLite as a fleet and has renames found: of what was divided in the later one, and of what
// only its callers and callees tell. Nothing else that costs something gets another name.
func TestFleetSimilar(t *testing.T) {
	dir, store := filepath.Join("..", "..", "profiles", "releases", "sqlite"), filepath.Join(t.TempDir(), "store")
	run := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := execute(t.Context(), append([]string{"fleet"}, args...), nil, &stdout, &stderr); code != exitOK {
			t.Fatalf("%q ends with %d: %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	for _, release := range []string{"before", "after"} {
		run("ingest", filepath.Join(dir, release), "--release", release, "--symfs", filepath.Join(dir, "symbols"), "--out", store)
	}
	if text := run("compare", store, "--full"); !strings.Contains(text, "sqlite3BtreeMovetoUnpacked (gone)") {
		t.Errorf("without renames the comparison is\n%s", text)
	}
	found := make(map[string]string)
	for line := range strings.Lines(run("rename", store, "--similar")) {
		if rest, ok := strings.CutPrefix(line, "aligned  "); ok && !strings.Contains(rest, "*ABS*") {
			names, why, _ := strings.Cut(rest, "  (")
			from, to, _ := strings.Cut(names, " → ")
			if found[from] = to; !strings.Contains(why, "%: ") {
				t.Errorf("%q does not say how sure it is, and why", line)
			}
		}
	}
	for from, to := range map[string]string{
		"sqlite3BtreeMovetoUnpacked": "sqlite3BtreeTableMoveto", "sqlite3BtreeIndexMoveto": "sqlite3BtreeTableMoveto", "sqlite3BtreeBeginTrans": "btreeBeginTrans",
	} {
		if found[from] != to {
			t.Errorf("%s is found to be %q, want %s", from, found[from], to)
		}
		delete(found, from)
	}
	if len(found) > 0 {
		t.Errorf("these were renamed, too: %q", found)
	}
	if text := run("compare", store, "--full"); strings.Contains(text, "Moveto (new)") || strings.Contains(text, "MovetoUnpacked") {
		t.Errorf("with renames the comparison is\n%s", text)
	}
}
