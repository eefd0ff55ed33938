package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"

	"profdiff/internal/looks"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/record"
)

// recorded DIR [KEY=VALUE…] writes the notes of a folder whose recordings are there, in DIR/before
// and DIR/after. Keys are
//
//	work       NAME, the counter of work
//	before.run, after.run   the command of a side
//	governor   NAME, that of the machine
//	cores      how many CPUs the machine has
//	looks      how often it was looked at by an earlier version whether more runs are needed
//	until      what it is recorded until: total, /EXPRESSION for functions, or a budget file; runs
//	           after the last look are in the folder as well
//
// and of all runs, of a side as in after.throttled, or of one as in after/02.throttled
//
//	work, throttled, limit, frequency, thermal   a number
//	own, background, stolen                      a number of CPUs
func recorded(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	r := record.Recording{Schema: record.Schema, Backend: "perf", Order: "ABBA", Plan: record.Plan{CallGraph: "fp"}}
	for _, side := range []record.Side{record.Before, record.After} {
		entries, err := os.ReadDir(filepath.Join(dir, string(side)))
		ts.Check(err)
		for i, e := range entries {
			r.Runs = append(r.Runs, record.Run{Side: side, Number: i + 1, File: string(side) + "/" + e.Name()})
		}
	}
	r.Plan.Runs = len(r.Runs) / 2
	until := ""
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		of, field, some := strings.Cut(key, ".")
		switch {
		case field == "run":
			r.Plan.Side(record.Side(of)).Run = value
			continue
		case some:
		case key == "work":
			r.Plan.Work = value
			continue
		case key == "looks":
			n, err := strconv.Atoi(value)
			ts.Check(err)
			for i := range n {
				r.Looks = append(r.Looks, record.Look{Runs: r.Plan.Runs >> (n - 1 - i)})
			}
			continue
		case key == "cores":
			n, err := strconv.Atoi(value)
			ts.Check(err)
			r.Machine.Cores = n
			continue
		case key == "until":
			until = value
			continue
		case key == "governor":
			r.Machine.Governor = value
			continue
		default:
			of, field = "", key
		}
		number, err := strconv.ParseFloat(value, 64)
		ts.Check(err)
		for i := range r.Runs {
			run := &r.Runs[i]
			if !strings.HasPrefix(run.File, of) {
				continue
			}
			c := &run.Conditions
			switch field {
			case "work":
				run.Counters = []record.Counter{{Name: r.Plan.Work, Value: number}}
			case "throttled":
				c.Throttled = int64(number)
			case "limit":
				c.FrequencyLimitMHz = number
			case "frequency":
				c.FrequencyMHz = number
			case "own":
				run.Seconds, run.UserSeconds = 1, number
			case "background":
				c.BackgroundCPUs = number
			case "stolen":
				c.StolenCPUs = number
			case "thermal":
				c.ThermalStatus = int(number)
			default:
				ts.Fatalf("recorded: unknown key %q", key)
			}
		}
	}
	text, err := yaml.Marshal(&r)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, record.FileName), text, 0o666))
	if until != "" {
		lookAt(ts, dir, &r, until)
	}
}

// lookAt takes looks at the runs of a folder until what is declared is decided.
func lookAt(ts *testscript.TestScript, dir string, r *record.Recording, until string) {
	d := looks.Declaration{Cap: 40}
	switch {
	case until == "total":
	case strings.HasPrefix(until, "/"):
		d.Focus = until[1:]
	default:
		text, err := os.ReadFile(ts.MkAbs(until))
		ts.Check(err)
		d.Budget, d.Name, d.Today = text, until, "2026-01-02"
	}
	plan, err := looks.Declare(&d)
	ts.Check(err)
	runs := r.Runs
	slices.SortStableFunc(runs, func(a, b record.Run) int { return a.Number - b.Number })
	r.Runs = nil
	ts.Check(r.PlanLooks(dir, *plan))
	r.Runs = runs
	course, err := looks.Replay(r, nil, nil)
	ts.Check(err)
	pairs := &pairRuns{loader: &loader{io: &stdio{err: io.Discard}}, dir: dir, unnamed: !looks.Named(plan, &r.Plan)}
	for due := course.Due(); due > 0 && due <= len(runs)/2 && !course.Decided(); due = course.Due() {
		base, head, err := pairs.first(r, due)
		ts.Check(err)
		look, err := course.Look(base, head)
		ts.Check(err)
		ts.Check(r.AddLook(dir, *look))
	}
}

// perfdataRuns DIR RUNS KEY=VALUE… writes runs as perf.data. Keys are
//
//	first     the second at which the first run starts; the next starts two seconds later
//	every     seconds between samples: 0.001
//	throttle  how often the kernel throttles sampling in each run
//	running   the part of the time that the event is on the hardware
//
// and any other is a file in which so many samples are.
func perfdataRuns(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	runs, err := strconv.Atoi(args[1])
	ts.Check(err)
	type file struct {
		name  string
		count float64
	}
	var files []file
	first, every, throttle, running := 0.0, 0.001, 0, 1.0
	for _, arg := range args[2:] {
		key, text, _ := strings.Cut(arg, "=")
		value, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		switch key {
		case "first":
			first = value
		case "every":
			every = value
		case "throttle":
			throttle = int(value)
		case "running":
			running = value
		default:
			files = append(files, file{key, value})
		}
	}
	for run := range runs {
		var b strings.Builder
		b.WriteString("header\nattr type=software config=0 sample_period=1000000 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID flags=sample_id_all ids=[1]\n")
		at := 1e12 + 1e9*(first+2*float64(run))
		for i, f := range files {
			fmt.Fprintf(&b, "MMAP2 misc=USER pid=7 tid=7 start=%#x len=0x10000 pgoff=0 prot=READ|EXEC filename=%q sample_id={pid=7,tid=7,time=%.0f,id=1}\n", 0x100000*(i+1), "/usr/lib/"+f.name, at)
		}
		n := 0.0
		for i, f := range files {
			for range int(f.count*noise[(run+3*i)%len(noise)] + 0.5) {
				n++
				fmt.Fprintf(&b, "SAMPLE misc=USER ip=%#x pid=7 tid=7 time=%.0f id=1 read={value=%.0f,time_enabled=%.0f,time_running=%.0f,id=1}\n",
					0x100000*(i+1)+16, at+n*every*1e9, n*1e6, n*1e6, n*1e6*running)
			}
		}
		for range throttle {
			fmt.Fprintf(&b, "THROTTLE time=%[1]d id=1 stream_id=1 sample_id={pid=7,tid=7,time=%[1]d,id=1}\nUNTHROTTLE time=%[1]d id=1 stream_id=1 sample_id={pid=7,tid=7,time=%[1]d,id=1}\n", int64(at+n*every*1e9))
		}
		data, err := perffiletest.Build([]byte(b.String()))
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.data", run+1)), data, 0o666))
	}
}
