package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/report/diff"
)

// A toldCase is a comparison of a case study, and what a reviewer should read of it first.
type toldCase struct {
	name      string
	args      []string
	word      string
	sentences []string
	mover     string // the first of the page's table in the direction of the headline, "" if nothing moved
}

// TestStories compares what is told of the case studies with what a reviewer who knows them would
// say: each has a README that says what was changed and what that did.
func TestStories(t *testing.T) {
	told := make(map[string]bool)
	for _, c := range toldCases {
		told[strings.Fields(c.name)[0]] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			page, document := filepath.Join(dir, "report.html"), filepath.Join(dir, "diff.json")
			args := []string{"diff"}
			for _, a := range c.args {
				args = append(args, strings.ReplaceAll(a, "PROFILES", "../../profiles"))
			}
			if len(c.args) == 0 {
				args = append(args, "../../profiles/"+c.name)
			}
			var out, errs bytes.Buffer
			if code := execute(context.Background(), append(args, "--html", page, "--format", "json", "-o", document), strings.NewReader(""), &out, &errs); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			var d diff.Document
			if err := json.Unmarshal([]byte(readText(t, document)), &d); err != nil {
				t.Fatal(err)
			}
			var sentences []string
			for _, s := range d.Story.Sentences {
				sentences = append(sentences, s.Text)
			}
			if diff := cmp.Diff(c.sentences, sentences); diff != "" {
				t.Errorf("the story (-want +got):\n%s", diff)
			}
			if d.Story.Word != c.word {
				t.Errorf("the word is %q, want %q", d.Story.Word, c.word)
			}
			var meta htmlMeta
			if err := json.Unmarshal([]byte(metaBlock.FindStringSubmatch(readText(t, page))[1]), &meta); err != nil {
				t.Fatal(err)
			}
			if mover := firstMover(&meta, d.Story.Outcome.Better()); mover != c.mover {
				t.Errorf("the first mover is %q, want %q", mover, c.mover)
			}
		})
	}
	// What is compared has two sides; others are shown.
	for _, pattern := range []string{"../../profiles/*/before", "../../profiles/*/*/before"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range list {
			dir := filepath.Dir(side)
			if _, err := os.Stat(filepath.Join(dir, "case.yaml")); err != nil {
				continue
			}
			if name := strings.TrimPrefix(filepath.ToSlash(dir), "../../profiles/"); !told[name] {
				t.Errorf("nobody said what a reviewer should read of %s", name)
			}
		}
	}
}

// firstMover is the first function of the page's first table, of what shrank if better is set.
func firstMover(meta *htmlMeta, better bool) string {
	main := meta.Events[meta.Main]
	for _, e := range slices.Insert(slices.Clone(meta.Events), 0, main) {
		lists := [][]htmlMover{e.Grew, e.Shrank}
		if better {
			slices.Reverse(lists)
		}
		for _, list := range lists {
			if len(list) > 0 {
				return list[0].Name
			}
		}
	}
	return ""
}

// halves are two halves of the runs of one program, in turns.
func halves() (args []string) {
	for i := 1; i <= 20; i++ {
		side := "--base"
		if i%4 == 2 || i%4 == 3 {
			side = "--head"
		}
		args = append(args, side, fmt.Sprintf("PROFILES/known-slowdown/same/%02d.data", i))
	}
	return args
}

var toldCases = []toldCase{
	{
		name: "lock-free-queue",
		word: "faster",
		sentences: []string{
			"CPU time per operation (messages) fell by 69.2% [67.6% to 71.9%]: means 680.0 ns → 206.1 ns.",
			"Most of it is produce with what it calls (512.1 ns → 92.33 ns): -419.8 ns of -473.9 ns; by category, locks -353.6 ns.",
			"Against it, queue_post costs 18.5 times [12.2 to 28.0] as much: means 1.671 ns → 27.04 ns.",
		},
		mover: "list_insert",
	},
	{
		name: "lock-free-queue/off-cpu",
		word: "faster",
		sentences: []string{
			"CPU time per operation (messages) fell by 68.9% [58.9% to 76.0%]: means 765.3 ns → 233.7 ns.",
			"Most of it is produce with what it calls (540.7 ns → 101.5 ns): -439.2 ns of -531.6 ns; by category, locks -355.2 ns.",
			"By themselves, the largest are list_insert (240.4 ns → gone) and _raw_spin_unlock_irqrestore (139.8 ns → 13.31 ns).",
		},
		mover: "list_insert",
	},
	{
		name: "message-heap",
		args: []string{"PROFILES/message-heap", "--symfs", "PROFILES/message-heap/symbols"},
		word: "faster",
		sentences: []string{
			"CPU time per run fell by 17.7% [16.2% to 19.8%]: 1.419 s → 1.166 s.",
			"Most of it is message_compare (507.4 ms → 386.9 ms), heap_first_child (125.1 ms → 78.64 ms) and heap_sift_down (192.2 ms → 150.8 ms): together -208.4 ms of -253.1 ms.",
			"Against it, heap_sift_up costs 38.8% [26.0% to 53.0%] more: 60.28 ms → 83.85 ms.",
		},
		mover: "message_compare",
	},
	{
		name: "message-heap/go",
		word: "faster",
		sentences: []string{
			"CPU time per operation (messages) fell by 25.7% [24.4% to 27.1%]: 139.8 ns → 103.8 ns.",
			"Most of it is main.compare (46.21 ns → 28.89 ns), main.(*heap).firstChild (20.73 ns → 12.02 ns) and main.(*heap).siftDown (16.62 ns → 13.51 ns): together -29.14 ns of -36.01 ns.",
			"Against it, main.(*heap).siftUp costs 29.0% [19.1% to 39.6%] more: 6.269 ns → 8.124 ns.",
		},
		mover: "main.compare",
	},
	{
		name: "message-heap/nearly-sorted",
		word: "slower",
		sentences: []string{
			"CPU time per operation (messages) rose by 14.2% [12.1% to 16.6%]: 40.02 ns → 45.76 ns.",
			"Most of it is heap_sift_down with what it calls (4.699 ns → 7.533 ns), heap_sift_up with what it calls (2.663 ns → 3.691 ns) and format_decimal with what it calls (5.045 ns → 5.476 ns): together +4.293 ns of +5.742 ns.",
			"By themselves, the largest are message_compare (2.252 ns → 5.361 ns) and dispatch_frame (2.733 ns → 3.581 ns).",
		},
		mover: "message_compare",
	},
	{
		name: "message-heap callgrind",
		args: []string{"PROFILES/message-heap/callgrind/before.out", "PROFILES/message-heap/callgrind/after.out"},
		word: "more",
		sentences: []string{
			"Instructions per run rose by 20.5%: 304.3 M → 366.8 M.",
			"Most of it is message_compare (54.68 M → 117.2 M): +62.48 M of +62.48 M.",
			"But mispredicted conditional branches per run fell by 47.9%: 3.077 M → 1.604 M.",
		},
		mover: "message_compare",
	},
	{
		name: "message-heap one run",
		args: []string{"PROFILES/message-heap/before/01.data", "PROFILES/message-heap/after/01.data"},
		word: "can't tell yet",
		sentences: []string{
			"With one run a side CPU time per run differs by -17.1% [-23.3% to -10.4%], 1.390 s → 1.152 s, which is beyond sampling noise.",
			"The strongest leads: message_compare costs 26.0% [15.3% to 35.4%] less: 524.6 ms → 388.2 ms, 4.4σ from noise; heap_first_child costs 37.2% [16.9% to 52.5%] less: 129.4 ms → 81.24 ms, 3.3σ from noise.",
			"10 runs a side would probably decide.",
		},
		mover: "heap_sift_up",
	},
	{
		name: "snapshot-merge",
		word: "faster",
		sentences: []string{
			"CPU time per operation (operations) fell by 61.8% [60.2% to 63.5%]: 17.17 µs → 6.550 µs.",
			"Most of it is filemap_get_pages with what it calls (10.37 µs → 45.83 ns): -10.33 µs of -10.62 µs; by category, read -10.82 µs.",
			"Against it, category “io_uring submit” is new: 4.604 µs.",
		},
		mover: "iowrite16",
	},
	{
		name: "snapshot-merge with categories",
		args: []string{"PROFILES/snapshot-merge", "--categories", "PROFILES/snapshot-merge/categories.yaml"},
		word: "faster",
		sentences: []string{
			"CPU time per operation (operations) fell by 61.8% [60.2% to 63.5%]: 17.17 µs → 6.550 µs.",
			"Most of it is filemap_get_pages with what it calls (10.37 µs → 45.83 ns): -10.33 µs of -10.62 µs; by category, read -9.350 µs.",
			"Against it, ext4_file_read_iter with what it calls costs 42.6 times [24.0 to 75.4] as much: means 27.08 ns → 1.248 µs.",
		},
		mover: "iowrite16",
	},
	{
		name: "usb-freeze",
		word: "faster",
		sentences: []string{
			"main no longer waits for HeapTaskDaemon, which waited for usb_barcode (flip of the collector): 3.013 ms → 992.3 ns per operation (navigations); at most 2.1% of before remains.",
			"CPU time per operation can't be told apart yet: -0.2% [-2.0% to +1.5%], 5.073 ms → 5.065 ms; about 22 runs a side would decide.",
			"Context switches per operation fell by 27.6% [24.9% to 29.9%]: 5.336 → 3.880.",
		},
		mover: "locks",
	},
	{
		name: "usb-freeze with categories",
		args: []string{"PROFILES/usb-freeze", "--categories", "PROFILES/usb-freeze/categories.yaml"},
		word: "faster",
		sentences: []string{
			"main no longer waits for HeapTaskDaemon, which waited for usb_barcode (flip of the collector): 3.013 ms → 992.3 ns per operation (navigations); at most 2.1% of before remains.",
			"CPU time per operation can't be told apart yet: -0.2% [-2.0% to +1.5%], 5.073 ms → 5.065 ms; about 22 runs a side would decide.",
			"Context switches per operation fell by 27.6% [24.9% to 29.9%]: 5.336 → 3.880.",
		},
		mover: "arrays that are held",
	},
	{
		name: "usb-freeze the other way round",
		args: []string{"PROFILES/usb-freeze/after", "PROFILES/usb-freeze/before"},
		word: "slower",
		sentences: []string{
			"main now waits for HeapTaskDaemon, which waits for usb_barcode (flip of the collector): 992.3 ns → 3.013 ms per operation (navigations).",
			"CPU time per operation can't be told apart yet: +0.2% [-1.5% to +2.0%], 5.065 ms → 5.073 ms; about 22 runs a side would decide.",
			"Context switches per operation rose by 38.1% [33.1% to 42.6%]: 3.880 → 5.336.",
		},
		mover: "locks",
	},
	{
		name: "xz-decoder",
		args: []string{"PROFILES/xz-decoder", "--symfs", "PROFILES/xz-decoder/symbols"},
		word: "faster",
		sentences: []string{
			"CPU time per run fell by 30.4% [28.7% to 32.0%]: 517.2 ms → 360.1 ms.",
			"Most of it is lzma_decode (427.1 ms → 319.3 ms) and dict_repeat (73.39 ms → 6.018 ms): together -175.2 ms, all others +18.05 ms.",
			"Against it, __memcpy_evex_unaligned_erms costs 5.64 times [3.25 to 9.78] as much: means 4.681 ms → 25.58 ms.",
		},
		mover: "lzma_decode",
	},
	{
		name: "renderer-start/recorded",
		word: "faster",
		sentences: []string{
			"CPU time per operation (starts) fell by 67.4% [65.0% to 71.5%]: means 2.365 ms → 755.2 µs.",
			"Most of it is renderer with what it calls (1.677 ms → 153.1 µs): -1.524 ms of -1.610 ms.",
			"By themselves, the largest are unpack (748.0 µs → gone) and verify_method (385.3 µs → gone).",
		},
		mover: "unpack",
	},
	{
		name: "known-slowdown same",
		args: halves(),
		word: "can't tell yet",
		sentences: []string{
			"CPU time per run can't be told apart yet: -0.9% [-4.8% to +1.3%], 1.115 s → 1.098 s; about 161 runs a side would decide.",
			"The largest difference is dot_product (246.2 ms → 230.8 ms), which is not decided either; about 32 runs a side would decide.",
		},
		mover: "",
	},
	{
		name: "known-slowdown slow10",
		args: []string{"PROFILES/known-slowdown/same", "PROFILES/known-slowdown/slow10"},
		word: "slower",
		sentences: []string{
			"digest_block costs 11.0% [6.2% to 17.0%] more: means 159.4 ms → 179.3 ms.",
			"CPU time per run can't be told apart yet: +2.5% [+0.0% to +4.6%], 1.107 s → 1.127 s; about 33 runs a side would decide.",
		},
		mover: "digest_block",
	},
	{
		name: "known-slowdown slow30",
		args: []string{"PROFILES/known-slowdown/same", "PROFILES/known-slowdown/slow30"},
		word: "slower",
		sentences: []string{
			"CPU time per run rose by 4.3% [2.3% to 5.6%]: means 1.107 s → 1.142 s.",
			"Most of it is digest_block (159.4 ms → 212.5 ms): +53.11 ms, all others -17.75 ms.",
		},
		mover: "digest_block",
	},
	{
		name: "known-slowdown half",
		args: []string{"PROFILES/known-slowdown/same", "PROFILES/known-slowdown/half"},
		word: "faster",
		sentences: []string{
			"CPU time per run fell by 7.3% [6.0% to 8.9%]: 1.107 s → 1.022 s.",
			"Most of it is smooth_signal (158.2 ms → 81.34 ms): -76.88 ms of -84.20 ms.",
		},
		mover: "smooth_signal",
	},
	{
		name: "known-slowdown one run",
		args: []string{"PROFILES/known-slowdown/same/01.data", "PROFILES/known-slowdown/slow30/01.data.gz"},
		word: "can't tell yet",
		sentences: []string{
			"With one run a side CPU time per run differs by +2.7% [-5.4% to +11.5%], 1.126 s → 1.156 s, which is within sampling noise.",
			"The strongest lead: digest_block costs 42.4% [16.2% to 74.5%] more: 158.5 ms → 225.7 ms, 3.4σ from noise.",
			"10 runs a side would probably decide.",
		},
		mover: "digest_block",
	},
	{
		name: "known-slowdown one run of the same",
		args: []string{"PROFILES/known-slowdown/same/01.data", "PROFILES/known-slowdown/same/02.data"},
		word: "can't tell yet",
		sentences: []string{
			"With one run a side CPU time per run differs by -4.7% [-12.4% to +3.6%], 1.126 s → 1.073 s, which is within sampling noise.",
			"No function differs beyond sampling noise.",
			"12 runs a side would probably decide.",
		},
		mover: "",
	},
	{
		name: "known-slowdown shares",
		args: []string{"PROFILES/known-slowdown/same", "PROFILES/known-slowdown/slow30", "--normalize", "total"},
		word: "more",
		sentences: []string{
			"digest_block went from 14.41% to 18.61% of CPU time.",
			"CPU time per run has no verdict: shares add up to 100%, whatever changed; --work or --ops gives the work done.",
		},
		mover: "digest_block",
	},
	{
		name: "known-slowdown callgrind",
		args: []string{"PROFILES/known-slowdown/callgrind/same.out", "PROFILES/known-slowdown/callgrind/slow10.out"},
		word: "same",
		sentences: []string{
			"Instructions per run are the same within 2.0%: +0.6%, 19.14 M → 19.26 M.",
			"Inside it, digest_block has 10.0% more instructions: 1.201 M → 1.321 M.",
		},
		mover: "digest_block",
	},
	{
		name: "refactorings/split",
		args: []string{"PROFILES/refactorings/split", "--symfs", "PROFILES/refactorings/split/symbols"},
		word: "can't tell yet",
		sentences: []string{
			"CPU time per run can't be told apart yet: -1.1% [-2.7% to +0.6%], 554.2 ms → 547.9 ms; about 37 runs a side would decide.",
			"The largest difference is score_page (126.8 ms → 121.5 ms), which is not decided either; about 78 runs a side would decide.",
			"Cost moved from apply_update to apply_update_slow: 131.5 ms, of which +125.4 µs remains.",
		},
		mover: "",
	},
	{
		name: "refactorings/inline",
		args: []string{"PROFILES/refactorings/inline", "--symfs", "PROFILES/refactorings/inline/symbols"},
		word: "same",
		sentences: []string{
			"CPU time per run is the same within 2.0%: -0.1% [-1.6% to +1.1%], 547.1 ms → 546.0 ms.",
			"Cost moved from blend_pixel to blend_row: 306.7 ms, of which +6.269 ms remains.",
		},
		mover: "",
	},
	{
		name: "refactorings/lambda",
		args: []string{"PROFILES/refactorings/lambda", "--symfs", "PROFILES/refactorings/lambda/symbols"},
		word: "same",
		sentences: []string{
			"CPU time per run is the same within 2.0%: +0.1% [-1.4% to +1.3%], 561.1 ms → 561.3 ms.",
		},
		mover: "",
	},
	{
		name: "refactorings/removed-path",
		args: []string{"PROFILES/refactorings/removed-path", "--symfs", "PROFILES/refactorings/removed-path/symbols"},
		word: "faster",
		sentences: []string{
			"CPU time per run fell by 32.5% [29.9% to 33.5%]: 519.8 ms → 353.3 ms.",
			"Most of it is normalize_text (316.4 ms → 155.7 ms): -160.7 ms of -166.5 ms.",
		},
		mover: "normalize_text",
	},
	{
		name: "refactorings/rename",
		args: []string{"PROFILES/refactorings/rename", "--symfs", "PROFILES/refactorings/rename/symbols"},
		word: "can't tell yet",
		sentences: []string{
			"CPU time per run can't be told apart yet: +1.0% [-1.2% to +4.3%], 503.1 ms → 509.5 ms; about 114 runs a side would decide.",
			"hash_v1 is called hash_v2 now: 326.0 ms → 312.9 ms, -4.1% [-10.1% to +2.3%]; it is the largest difference, and not decided either; about 52 runs a side would decide.",
		},
		mover: "",
	},
	{
		name: "releases/lua",
		args: []string{"PROFILES/releases/lua", "--symfs", "PROFILES/releases/lua/symbols"},
		word: "faster",
		sentences: []string{
			"CPU time per run fell by 26.6% [23.4% to 31.0%]: 365.7 ms → 266.4 ms.",
			"Most of it is luaV_execute (138.7 ms → 96.09 ms), sweeplist (11.53 ms → gone) and luaV_tonumber_ (9.629 ms → gone): together -63.79 ms of -99.30 ms.",
			"Against it, sweepstep.constprop.0 is new: 5.717 ms.",
		},
		mover: "luaV_execute",
	},
	{
		name: "releases/sqlite",
		args: []string{"PROFILES/releases/sqlite", "--symfs", "PROFILES/releases/sqlite/symbols"},
		word: "faster",
		sentences: []string{
			"CPU time per run fell by 3.2% [0.6% to 7.2%]: 458.8 ms → 442.2 ms.",
			"Most of it is sqlite3VdbeExec (99.80 ms → 85.36 ms): -14.44 ms of -16.55 ms.",
			"Against it, kahanBabuskaNeumaierStep is new: 4.213 ms.",
		},
		mover: "sqlite3VdbeExec",
	},
}
