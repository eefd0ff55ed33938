package command

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		command string
		want    []string
	}{
		{"./a  -n 5", []string{"./a", "-n", "5"}},
		{"./a > /dev/null", []string{"/bin/sh", "-c", "./a > /dev/null"}},
		{"A=1 ./a", []string{"/bin/sh", "-c", "A=1 ./a"}},
		{"./a --x=1", []string{"./a", "--x=1"}},
		{"./a 'b c'", []string{"./a", "b c"}},
		{"'./a b'  'c' x=1", []string{"./a b", "c", "x=1"}},
		{"'./a b' 'c", []string{"/bin/sh", "-c", "'./a b' 'c"}},
		{"./a '' 'b'\\''c' -x'=y z'", []string{"./a", "", "b'c", "-x=y z"}},
		{"./a 'b' $HOME", []string{"/bin/sh", "-c", "./a 'b' $HOME"}},
		{"A='b c' ./a", []string{"/bin/sh", "-c", "A='b c' ./a"}},
	} {
		if diff := cmp.Diff(test.want, Words(test.command)); diff != "" {
			t.Errorf("%s: %s", test.command, diff)
		}
	}
}

func TestWordsOfQuote(t *testing.T) {
	for _, words := range [][]string{{"python3", "-c", "print('a b')\n"}, {"./a", "", "'", "\\'x", "$(y)", "~"}, {"a b", "c"}} {
		if diff := cmp.Diff(words, Words(Quote(words...))); diff != "" {
			t.Errorf("%q: %s", Quote(words...), diff)
		}
	}
}

func TestRunCommand(t *testing.T) {
	if _, err := Run(t.Context(), []string{"/bin/sh", "-c", "echo out; echo first >&2; echo last >&2; exit 3"}, nil); err == nil || err.Error() != "/bin/sh: exit status 3: last" {
		t.Errorf("a command that fails: %v", err)
	}
	if _, err := Run(t.Context(), []string{"no-such-program"}, nil); err == nil || !strings.Contains(err.Error(), "no-such-program: is not installed") {
		t.Errorf("a command that is not there: %v", err)
	}
	// What a shell started ends with it.
	ctx, stop := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
	defer stop()
	begin := time.Now()
	if _, err := Run(ctx, []string{"/bin/sh", "-c", "sleep 60 & wait"}, nil); err == nil || err.Error() != "enough" {
		t.Errorf("interrupted: %v", err)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %v to end", d)
	}
	r, err := Run(t.Context(), []string{"/bin/sh", "-c", "yes | head -c 5000000; echo end 1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Output) != MaxOutput || !bytes.HasSuffix(r.Output, []byte("\ny\nend 1\n")) {
		t.Errorf("%d bytes are kept", len(r.Output))
	}
}

func TestQuote(t *testing.T) {
	for _, word := range []string{"a", "a b", "", "it's", `"$HOME"`, "a;b", "*", "~", "#", "a\nb", "\\", "$(id)", "-e", "a=b"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q: the shell reads %q, %v", word, out, err)
		}
	}
}
