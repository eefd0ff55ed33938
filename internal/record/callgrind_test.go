package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHintGo checks that a failure of Valgrind says what helps a program of Go, and no other.
func TestHintGo(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("exit status 1")
	for _, test := range []struct {
		program, dir string
		want         bool
	}{
		{own, "", true},
		{filepath.Base(own), filepath.Dir(own), true},
		{"/bin/sh", "", false},
		{"none", "", false},
	} {
		err := hintGo(test.program, test.dir, failed)
		if got := strings.Contains(err.Error(), "GODEBUG=asyncpreemptoff=1"); got != test.want || !errors.Is(err, failed) {
			t.Errorf("%s: %v", test.program, err)
		}
	}
}
