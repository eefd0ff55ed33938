// Measure prints what HTML reports cost: bytes, the time to write them, and the time
// of a browser to show them. With the arguments of profdiff diff, it prints what
// the report adds to the CPU time of that command. Where N is more than one, times are the least, as the
// machine may have other work.
//
//	go -C internal/tools run ./measure [-n N] [-only SIZE]
//	go -C internal/tools run ./measure [-n N] -profdiff PROGRAM BEFORE AFTER [flag…]
//
// Names of files are relative to internal/tools.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/compare/comparetest"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/html"
	"profdiff/internal/tools/browser"
)

func main() {
	repeat := flag.Int("n", 3, "open each page or run each command `N` times, and print the least")
	program := flag.String("profdiff", "profdiff", "the `PROGRAM` to run")
	only := flag.String("only", "", "the one `SIZE` to measure, as 50k")
	flag.Parse()
	var err error
	if args := flag.Args(); len(args) > 0 {
		err = measureDiff(*repeat, *program, args)
	} else {
		err = measure(*repeat, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

type size struct {
	name          string
	frames, depth int
	varied        bool // weights of samples
}

var sizes = []size{
	{"1k", 1000, 60, false},
	{"20k", 20_000, 80, false},
	{"50k", 50_000, 100, false},
	{"50k-varied", 50_000, 100, true},
	{"200k", 200_000, 120, false},
	{"500k", 500_000, 120, false},
	{"deep", 12_000, 3000, false},
}

func measure(repeat int, only string) error {
	dir, err := os.MkdirTemp("", "profdiff-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "page\tframes\tfunctions\tbytes\tcompare\treport\tready\tready CPU\tzoom CPU\tsearch CPU\tbrush CPU\theap\t")
	for _, s := range sizes {
		if only != "" && s.name != only {
			continue
		}
		if err := s.measure(out, dir, repeat); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return out.Flush()
}

func (s *size) measure(out *tabwriter.Writer, dir string, repeat int) error {
	c, err := comparetest.Compare(comparetest.Options{Frames: s.frames, Depth: s.depth, Runs: 5, Change: true, Times: true, Varied: s.varied})
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := compare.Compare(c.Base, c.Head, compare.Options{Normalize: compare.None}); err != nil {
		return err
	}
	compared := time.Since(start)
	start = time.Now()
	d := html.FromComparison(diff.New(c, diff.Parts{Page: &diff.Page{}}), html.Options{Tool: "profdiff"})
	var page bytes.Buffer
	if err := html.Write(&page, d); err != nil {
		return err
	}
	written := time.Since(start)
	file := filepath.Join(dir, s.name+".html")
	if err := os.WriteFile(file, page.Bytes(), 0o666); err != nil {
		return err
	}
	var ready, cpu, zoom, search, brush []float64
	var heap int64
	for range repeat {
		t, err := open(file)
		if err != nil {
			return err
		}
		ready, cpu, zoom, search, brush = append(ready, t.ready), append(cpu, t.cpu), append(zoom, t.zoom), append(search, t.search), append(brush, t.brush)
		heap = t.heap
	}
	fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d ms\t%d ms\t%.0f ms\t%.0f ms\t%.0f ms\t%.0f ms\t%.0f ms\t%.1f MB\t\n", s.name, len(d.Events[0].Frames.Level), len(d.Events[0].Functions),
		page.Len(), compared.Milliseconds(), written.Milliseconds(), slices.Min(ready), slices.Min(cpu), slices.Min(zoom), slices.Min(search), slices.Min(brush), float64(heap)/1e6)
	return nil
}

type times struct {
	ready, cpu, zoom, search, brush float64 // ms
	heap                            int64
}

// open shows the flame graph of a page, zooms and searches.
func open(file string) (t times, err error) {
	p, err := browser.Open(context.Background(), "file://"+file+"#view=flame", browser.Options{})
	if err != nil {
		return t, err
	}
	defer p.Close()
	if t.ready, err = browser.Eval[float64](p, `Number(document.documentElement.dataset.ready)`); err != nil {
		return t, err
	}
	cpu, _, err := p.CPU()
	if err != nil {
		return t, err
	}
	t.cpu = milliseconds(cpu)
	work := func(script string) (float64, error) {
		before, _, err := p.CPU()
		if err != nil {
			return 0, err
		}
		if err := p.Do(script); err != nil {
			return 0, err
		}
		after, heap, err := p.CPU()
		t.heap = heap
		return milliseconds(after - before), err
	}
	const frame = `const c = document.querySelector("canvas"); c.scrollIntoView(); const b = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: b.left + b.width / 4, clientY: b.top + 19 * 5.5}))`
	if t.zoom, err = work(frame); err != nil {
		return t, err
	}
	const search = `const i = document.querySelector("input[type=search]"); i.value = "merge"; i.dispatchEvent(new Event("input", {bubbles: true}))`
	if t.search, err = work(search); err != nil {
		return t, err
	}
	// What the tab takes at first is not of brushing.
	if err := p.Do(`location.hash = "view=times"; for (let i = 0; i < 500 && !document.querySelector(".heat-map canvas"); i++) await new Promise(r => setTimeout(r, 10)); document.querySelector(".heat-map canvas").scrollIntoView()`); err != nil {
		return t, err
	}
	const brush = `const c = document.querySelector(".heat-map canvas"), b = c.getBoundingClientRect(); c.setPointerCapture = () => {};
		for (const [type, at] of [["pointerdown", 0.2], ["pointermove", 0.3], ["pointermove", 0.4], ["pointerup", 0.4]]) {
			c.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, clientX: b.left + b.width * at, clientY: b.top + 8}));
			await new Promise(r => setTimeout(r, 0));
		}`
	t.brush, err = work(brush)
	return t, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measureDiff compares the CPU time of a comparison without a report and with one. The runs
// take turns.
func measureDiff(repeat int, program string, args []string) error {
	dir, err := os.MkdirTemp("", "profdiff-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	page := filepath.Join(dir, "report.html")
	var plain, report []float64
	for range repeat {
		for _, x := range []struct {
			to   *[]float64
			more []string
		}{{&plain, nil}, {&report, []string{"--html", page}}} {
			cmd := exec.Command(program, slices.Concat([]string{"diff"}, args, x.more)...)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%w: %s", err, errs.Bytes())
			}
			*x.to = append(*x.to, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
		}
	}
	info, err := os.Stat(page)
	if err != nil {
		return err
	}
	least, with := slices.Min(plain), slices.Min(report)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "diff\tdiff --html\tmore\tbytes\t")
	fmt.Fprintf(out, "%.3f s\t%.3f s\t%+.1f%%\t%d\t\n", least, with, 100*(with/least-1), info.Size())
	return out.Flush()
}
