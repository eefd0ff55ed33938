package html

import (
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/report/diff"
	"profdiff/internal/wait"
)

// TestWaiting checks that chains are read without scripts and styles: the threads in order, an arrow
// between them, and how each waits.
func TestWaiting(t *testing.T) {
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, c := range []struct {
		name string
		doc  *Document
		want string
	}{
		{
			"one recording", FromWaits("/data/local/tmp/shop/anr.txt", deadlock(), Options{}),
			"Waiting waiting: 2 waits for locks, 4.000 ms " +
				"Deadlock for 2.000 ms; 1 thread waits behind it ↻ main waits in Cart.get for 0x0a; worker had it when that began ← worker waits in Cart.put for 0x0b; main had it when that began " +
				"Held across a wait: worker waited in transfer while it held an array (JNI critical section): 2.000 ms in 1 wait ",
		},
		{
			"two sides", &Document{Waiting: waitingOf(diff.NewWaits(deadlock(), new(wait.Report), 2, 2))},
			"Waiting Who waits ← for whom, time in a run Before After Longest deadlock: main ← worker ← main 1.000 ms none 2.000 ms → none before waiting: 2 waits",
		},
	} {
		page := string(render(t, c.doc))
		start := strings.Index(page, `<section class="waiting"`)
		if start < 0 {
			t.Fatalf("%s: no section", c.name)
		}
		section, _, _ := strings.Cut(page[start:], "</section>")
		text := strings.Join(strings.Fields(tags.ReplaceAllString(strings.ReplaceAll(section, "><", "> <"), " ")), " ") + " "
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %s", c.name, text)
		}
		if strings.Contains(page, "/data/local/tmp") {
			t.Errorf("%s: the page tells the paths of whoever recorded", c.name)
		}
	}
	if waitingOf(nil) != nil {
		t.Error("a section of nothing")
	}
}
