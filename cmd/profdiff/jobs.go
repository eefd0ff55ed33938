package main

import (
	"maps"
	"os"
	"runtime"
	"sync"

	"profdiff/internal/limit"
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// A job is an input to be read as a run, by the loader of its side.
type job struct {
	loader *loader
	name   string
}

// memoryPerByte is how many bytes of memory a byte of an input may take: what is compressed takes
// more than what is not.
const memoryPerByte = 8

// loadJobs reads inputs, several at a time if there are processors and memory for them. It makes
// no difference to runs, to the error, nor to which object files are found: names are looked for in turn.
func loadJobs(jobs []job) ([]*run.Run, error) {
	workers := runtime.GOMAXPROCS(0)
	for _, j := range jobs {
		if j.name == "-" || j.loader.opt.Retrace != nil {
			workers = 1 // a stream has no size, and a mapping keeps what was asked for
		}
	}
	type result struct {
		run   *run.Run
		waits map[*run.Run]*wait.Report
		err   error
	}
	results := make([]result, len(jobs))
	done := make([]chan struct{}, len(jobs)) // closed when the input and all before it are read
	finished := make(chan int)
	running, held, started, failed := 0, int64(0), 0, false
	join := func() {
		i := <-finished
		running--
		held -= sizeOf(jobs[i].name)
		failed = failed || results[i].err != nil
	}
	for i, j := range jobs {
		size := sizeOf(j.name)
		for running > 0 && (running >= workers || held+size > limit.Allowed()/memoryPerByte) {
			join()
		}
		if failed {
			break
		}
		running, held, started = running+1, held+size, started+1
		done[i] = make(chan struct{})
		before := func() {
			if i > 0 {
				<-done[i-1]
			}
		}
		own := *j.loader
		own.opt.Last = i == len(jobs)-1
		own.opt.Objects = own.opt.Objects.InTurn(sync.OnceFunc(before))
		if own.waits != nil {
			own.waits = make(map[*run.Run]*wait.Report)
		}
		go func() {
			r, err := own.load(j.name)
			results[i] = result{r, own.waits, err}
			before()
			close(done[i])
			finished <- i
		}()
	}
	for running > 0 {
		join()
	}
	var runs []*run.Run
	for i := range started {
		if err := results[i].err; err != nil {
			return nil, err
		}
		maps.Copy(jobs[i].loader.waits, results[i].waits)
		runs = append(runs, results[i].run)
	}
	return runs, nil
}

// sizeOf is the size of a file, 0 if it has none.
func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
