package objfile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenRegular opens what nobody writes to: that would wait for ever.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, dir} {
		if _, err := Open(name); err == nil || !strings.HasSuffix(err.Error(), ": not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
