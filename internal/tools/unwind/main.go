// Command unwind compares the stacks that profdiff unwinds with those of perf script, sample
// by sample, in recordings with --call-graph dwarf, and in others the call chains that both read
// (go -C internal/tools run ./unwind [-v N] [-floor 99.9] PERF.DATA…).
//
//  1. The recording is replayed as profdiff does, with the files of this machine.
//  2. perf script prints it with --max-stack 4000 (its default of 127 cuts silently) and without
//     inlined functions.
//  3. Samples are paired by thread and time. What is compared of a frame is its file and the offset
//     in it; the kernel's frames are left out. The frame ffffffffffffffff that
//     libunwind adds to stacks that are cut off is removed.
//  4. Each difference is put in a class, which says who is right.
//
// perf takes the lowest mapping of a file for where it is, also if that is one of the program before an
// exec. Record under setarch -R, which hides that, where perf is to be right.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/objects"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/userstack"
)

func main() {
	verbose := flag.Int("v", 0, "print `N` examples of each class of difference")
	floor := flag.Float64("floor", 0, "exit 1 if less than `PERCENT` of the stacks of a recording are equal or profdiff's to be right")
	script := flag.String("script", "", "read what perf script printed from files NAME.`SUFFIX` instead of running it")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ok := true
	for _, name := range flag.Args() {
		c, err := compare(name, *script)
		if err != nil {
			fmt.Fprintf(os.Stderr, "unwind: %s: %v\n", name, err)
			os.Exit(3)
		}
		c.print(os.Stdout, name, *verbose)
		ok = ok && c.right() >= *floor
	}
	if !ok {
		os.Exit(1)
	}
}

// compare compares the stacks of a recording.
func compare(name, suffix string) (*comparison, error) {
	theirs, err := perfStacks(name, suffix)
	if err != nil {
		return nil, err
	}
	c := &comparison{theirs: theirs, classes: make(map[string]*class)}
	if err := c.replay(name); err != nil {
		return nil, err
	}
	return c, nil
}

// perfStacks are the stacks that perf script prints.
func perfStacks(name, suffix string) (map[sampleKey]*stack, error) {
	if suffix != "" {
		f, err := os.Open(strings.TrimSuffix(name, ".data") + "." + suffix)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readScript(f)
	}
	cmd := exec.Command("perf", "script", "-i", name, "--ns", "--no-inline", "--max-stack", "4000", "-F", "comm,pid,tid,time,ip,sym,dso")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	list, err := readScript(out)
	return list, errors.Join(err, cmd.Wait())
}

// replay unwinds the stacks of a recording and compares each.
func (c *comparison) replay(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		return err
	}
	session := perfsession.New(file)
	store := objects.New(objects.Options{Machine: objects.ThisMachine(os.Getenv)})
	c.unwinder = userstack.New(store.Of(objects.Recording{
		Dir: filepath.Dir(name), Host: file.Info.Hostname, Ended: perfsession.Ended(&file.Info, info.ModTime()),
	}))
	session.Unwinder = c
	c.chains = !slices.ContainsFunc(file.Attrs, func(a perffile.Attr) bool { return a.SampleStackUser > 0 })
	return session.Replay(c)
}

// comparison implements perfsession's Handler and Unwinder.
type comparison struct {
	unwinder *userstack.Unwinder
	theirs   map[sampleKey]*stack
	end      perfsession.StackEnd // of the latest stack
	unwound  bool
	chains   bool // the kernel followed frame pointers: nothing is unwound

	stacks, frames int
	ends           [perfsession.NumStackEndReasons]int
	classes        map[string]*class
}

// A class is a kind of outcome.
type class struct {
	name     string
	right    bool // profdiff is, or both are
	n        int
	examples []string
}

func (c *comparison) Unwind(frames []perfsession.Frame, code *perfsession.UserCode) ([]perfsession.Frame, perfsession.StackEnd) {
	frames, c.end = c.unwinder.Unwind(frames, code)
	c.unwound = true
	return frames, c.end
}

func (c *comparison) Switch(perfsession.Switch) error { return nil }

// Sample compares the stack of a sample with perf's.
func (c *comparison) Sample(s *perfsession.Sample) error {
	if !c.unwound && !c.chains {
		return nil
	}
	c.unwound = false
	c.stacks++
	c.ends[c.end.Why]++
	ours := &stack{}
	for _, f := range s.Frames {
		if f.Kernel || f.CutOff {
			continue
		}
		next := frameOf(f)
		if c.chains && len(ours.frames) > 0 {
			next.off++ // perf prints where a call returns to, not the call
		}
		ours.frames = append(ours.frames, next)
	}
	c.frames += len(ours.frames)
	theirs, ok := c.theirs[sampleKey{s.Raw.TID, s.Raw.Time}]
	if !ok {
		c.add(class{name: "not printed by perf"}, nil, nil)
		return nil
	}
	c.add(classify(ours, theirs, c.end.Why), ours, theirs)
	return nil
}

func (c *comparison) add(k class, ours, theirs *stack) {
	known := c.classes[k.name]
	if known == nil {
		known = &k
		c.classes[k.name] = known
	}
	known.n++
	if len(known.examples) < 20 && ours != nil {
		known.examples = append(known.examples, fmt.Sprintf("    profdiff (%v):\n%s    perf:\n%s", reasons[c.end.Why], ours, theirs))
	}
}

var reasons = [perfsession.NumStackEndReasons]string{
	"whole", "cut off by the dump's size", "no unwind information", "file missing or another build", "ran off", "no registers",
}

// right is the percentage of stacks that are equal, or of which profdiff's is right.
func (c *comparison) right() float64 {
	n := 0
	for _, k := range c.classes {
		if k.right {
			n += k.n
		}
	}
	return 100 * float64(n) / float64(max(c.stacks, 1))
}

func (c *comparison) print(w *os.File, name string, examples int) {
	percent := func(n int) float64 { return 100 * float64(n) / float64(max(c.stacks, 1)) }
	fmt.Fprintf(w, "%s: %d stacks of %d user frames\n", name, c.stacks, c.frames)
	for why, n := range c.ends {
		if n > 0 {
			fmt.Fprintf(w, "  %7.2f%% %7d  %s\n", percent(n), n, reasons[why])
		}
	}
	fmt.Fprintf(w, "  compared with perf script: %.2f%% equal, or right against it\n", c.right())
	list := slices.SortedFunc(maps.Values(c.classes), func(a, b *class) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.name, b.name)
	})
	for _, k := range list {
		fmt.Fprintf(w, "  %7.2f%% %7d  %s\n", percent(k.n), k.n, k.name)
		if k.name != "equal, whole" {
			for _, e := range k.examples[:min(examples, len(k.examples))] {
				fmt.Fprint(w, e)
			}
		}
	}
}
