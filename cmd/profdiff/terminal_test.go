package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"profdiff/internal/llvm"
	"profdiff/internal/report/text"
)

// openTerminal makes a pseudo-terminal of a width: what is written to it, and a function that closes
// it and returns that.
func openTerminal(t *testing.T, columns uint16) (terminal *os.File, written func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	out := make(chan string)
	go func() {
		data, _ := io.ReadAll(master) // the end of a terminal is an error
		out <- strings.ReplaceAll(string(data), "\r\n", "\n")
	}()
	return terminal, func() string {
		terminal.Close()
		s := <-out
		master.Close()
		return s
	}
}

var (
	painted = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// shownNumber is one in a table or a sentence, with its unit.
	shownNumber = regexp.MustCompile(`[-+±×]?[0-9][0-9.,]*(?: (?:ns|µs|ms|s|k|M|G)\b)?%?`)
)

// TestTerminal checks that no line is wider than the terminal, and that no number is other than it is
// where there is room.
func TestTerminal(t *testing.T) {
	for name, value := range map[string]string{"TERM": "xterm", "COLUMNS": "", "NO_COLOR": "", "CLICOLOR_FORCE": ""} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	for name, weights := range map[string][2]int{"a.folded": {900, 500}, "b.folded": {400, 900}} {
		stacks := fmt.Sprintf("メイン;画像を復号する::処理器<ピクセル>::行を復号する(整数) %d\n"+
			"メイン;void ns::outer::Class<std::vector<int>>::aMethodWithALongName<char>(std::string const&, int) %d\n"+
			"メイン;github.com/some/module/package.(*Receiver).Method.func1 30\n", weights[0], weights[1])
		if err := os.WriteFile(filepath.Join(dir, name), []byte(stacks), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	wide := dir + "/a.folded " + dir + "/b.folded"
	freeze, heap := "../../profiles/usb-freeze", "../../profiles/message-heap"
	budgets := " --budget " + freeze + "/budget.yaml --base-values navigation_ms=" + freeze + "/values/before --head-values navigation_ms=" + freeze + "/values/after"
	for _, command := range []string{
		"diff ../../profiles/message-heap", "diff ../../profiles/message-heap --full", "diff ../../profiles/message-heap --tree",
		"diff ../../profiles/lock-free-queue", "diff ../../profiles/snapshot-merge --by category", "diff " + freeze, "diff " + freeze + " --full",
		"diff testdata/foreign/lua/a.data.xz testdata/foreign/lua/b.data.xz", "diff testdata/foreign/node/a.data.xz testdata/foreign/node/b.data.xz",
		"diff " + wide, "diff " + wide + " --full", "diff " + freeze + "/values --better lower", "show " + dir + "/a.folded",
		"show ../../profiles/message-heap/before/01.data", "show " + freeze + "/before/01.data", "show " + freeze + "/before/01.data --by lock",
		"show testdata/foreign/node/a.data.xz --tree",
		"branches " + heap + "/callgrind/before.out --limit 3", "branches " + heap + "/callgrind/before.out " + heap + "/callgrind/after.out --limit 6",
		"branches " + heap + "/callgrind/before.out --annotate message_compare",
		"check " + freeze + budgets + " --report-only", "budget explain " + freeze + budgets, "budget tighten " + freeze + budgets,
		"predict --cpu znver5 ../../mca-cases/message-compare",
	} {
		t.Run(strings.ReplaceAll(command, dir, ""), func(t *testing.T) {
			if strings.HasPrefix(command, "predict") {
				if tools, err := llvm.Find(t.Context(), ""); err != nil || tools.Major != 22 {
					t.Skip("llvm-mca-22 is not installed")
				}
			}
			whole, _ := onTerminal(t, 0, command)
			known := make(map[string]bool)
			for _, n := range shownNumber.FindAllString(whole, -1) {
				known[strings.TrimRight(n, ".,")] = true
			}
			for _, columns := range []int{60, 80, 120} {
				shown, next := onTerminal(t, columns, command)
				for line := range strings.Lines(shown) {
					line = strings.TrimSuffix(line, "\n")
					if w := text.Width(line); w > columns {
						t.Errorf("%d columns: a line of %d: %s", columns, w, line)
					}
					for word := range strings.FieldsSeq(line) {
						if strings.Contains(word, "…") {
							line = strings.Replace(line, word, "", 1)
						}
					}
					for _, n := range shownNumber.FindAllString(line, -1) {
						if n := strings.TrimRight(n, ".,"); !known[n] && n != fmt.Sprint(columns) {
							t.Errorf("%d columns: %q is no number that is there without a limit: %s", columns, n, line)
						}
					}
				}
				if summary := strings.HasPrefix(command, "diff") && !strings.Contains(command, "--"); summary != strings.HasPrefix(next, "next: profdiff ") {
					t.Errorf("%d columns: the last line is %q", columns, next)
				}
			}
		})
	}
}

// onTerminal is what a command prints on a terminal of a width, and the command that it proposes last;
// with no width it is what it prints to a file.
func onTerminal(t *testing.T, columns int, command string) (shown, next string) {
	t.Helper()
	if columns == 0 {
		var out strings.Builder
		if code := execute(context.Background(), strings.Fields(command), strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
		return out.String(), ""
	}
	terminal, written := openTerminal(t, uint16(columns))
	code := execute(context.Background(), strings.Fields(command), strings.NewReader(""), terminal, terminal)
	shown = written()
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, shown)
	}
	verdicts := strings.HasPrefix(command, "diff") && !strings.Contains(command, "--") || strings.HasPrefix(command, "check") ||
		strings.HasPrefix(command, "predict") || strings.Contains(command, "callgrind/after.out")
	if verdicts && !painted.MatchString(shown) {
		t.Error("there are no colours")
	}
	shown = painted.ReplaceAllString(shown, "")
	if i := strings.LastIndex(shown, "\nnext: "); i >= 0 {
		return shown[:i+1], shown[i+1:]
	}
	return shown, ""
}

// TestNextLine checks that a proposed command is broken between words only, and is still one command.
func TestNextLine(t *testing.T) {
	for _, command := range []string{
		"profdiff diff before after --focus '^heap_sift_up$' --lines",
		`profdiff record --before './old x '\''a b'\''' --after './new y "c d" e' --until decided -o runs`,
	} {
		lines := shellLines(command, 40)
		if len(lines) < 2 {
			t.Errorf("%q is one line", command)
		}
		if got := strings.Join(lines, " "); got != command {
			t.Errorf("%q became %q", command, got)
		}
		for _, line := range lines {
			if strings.Count(line, "'")%2 != 0 {
				t.Errorf("%q is broken in quotes", line)
			}
		}
	}
}
