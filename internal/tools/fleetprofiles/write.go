package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// totals are what was written.
type totals struct {
	profiles, devices, samples, stacks, functions int
	bytes                                         int64
	distinctFunctions, distinctStacks             int
}

// An entry is a line of the manifest.
type entry struct {
	path string
	*drawn
}

// writeProfiles writes files and the manifest. Devices are shared out among the processors; the manifest is
// in their order.
func (f *fleet) writeProfiles(dir string) (*totals, error) {
	lines := make([][]entry, len(f.devices))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	t := &totals{}
	functions, stacks := make(map[int]bool), make(map[int]bool)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			zip, err := gzip.NewWriterLevel(nil, 6)
			p := &pen{f: f, zip: zip, seenStacks: make(map[int]bool), seenFuncs: make(map[int]bool)}
			for i := range next {
				if err == nil {
					lines[i], err = p.writeDevice(dir, f.devices[i])
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for id := range p.seenFuncs {
				functions[id] = true
			}
			for id := range p.seenStacks {
				stacks[id] = true
			}
			if err != nil {
				failed = err
			}
		})
	}
	for i := range f.devices {
		next <- i
	}
	close(next)
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	t.distinctFunctions, t.distinctStacks = len(functions), len(stacks)
	return t, f.writeManifest(dir, lines, t)
}

// writeDevice writes the profiles of a device. A directory has those of a hundred devices.
func (p *pen) writeDevice(dir string, d device) ([]entry, error) {
	if d.profiles == 0 {
		return nil, nil
	}
	p.take(d)
	folder := filepath.Join("profiles", fmt.Sprintf("%03d", d.number/100))
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
		return nil, err
	}
	var entries []entry
	for i := range d.profiles {
		out, err := p.draw()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(folder, fmt.Sprintf("%s-%04d.pb.gz", p.f.deviceName(d), i))
		if err := os.WriteFile(filepath.Join(dir, path), out.data, 0o644); err != nil {
			return nil, err
		}
		e := entry{path, out}
		e.size, e.data = len(out.data), nil
		entries = append(entries, e)
	}
	return entries, nil
}

// writeManifest writes what a manifest of profiles has.
func (f *fleet) writeManifest(dir string, lines [][]entry, t *totals) error {
	file, err := os.Create(filepath.Join(dir, "manifest.csv"))
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, "path,release,device_model,device,time,work_units")
	for i, entries := range lines {
		d := f.devices[i]
		if len(entries) > 0 {
			t.devices++
		}
		for _, e := range entries {
			t.profiles++
			t.samples += e.samples
			t.stacks += e.stacks
			t.functions += e.functions
			t.bytes += int64(e.size)
			fmt.Fprintf(w, "%s,%s,%s,%s,%s,%d\n", filepath.ToSlash(e.path), releases[d.release], modelName(d.model), f.deviceName(d),
				time.Unix(0, e.time).UTC().Format(time.RFC3339), e.work)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
