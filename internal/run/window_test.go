package run

import (
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	for _, test := range []struct {
		command string
		took    float64 // seconds
		want    string
	}{
		{"/usr/bin/perf record -g -- ./program 1000", 3, ""},
		{"perf record -e cpu-clock -c 1003009 --call-graph fp -o out/01.data -- ./program", 3, ""},
		{"perf record -a sleep 2", 2, "recorded system-wide"},
		{"perf record -F 99 -ag -- ./program", 2, "recorded system-wide"},
		{"perf record -F99 -g ./program -a", 2, ""},
		{"perf record --all-cpus ./program", 2, "recorded system-wide"},
		{"perf record -C 0-3 ./program", 2, "recorded system-wide"},
		{"perf record -gp 1234", 2, "attached to a process that ran before"},
		{"perf record --pid=1234 -- sleep 5", 5, "attached to a process that ran before"},
		{"perf record -g", 5, "recorded without a command"},
		{"perf record -e cycles sleep 5", 5, "the command is sleep"},
		{"perf record -- timeout 3 ./program", 2.99, "timeout 3 stopped the command"},
		{"perf record -- timeout -k 1 1m ./program", 3, ""},
		{"perf record -- timeout 60 sleep 1", 1, "the command is sleep"},
		{"perf record -- nice -n 5 taskset -c 1 stress-ng --cpu 1 -t 10", 10, "a clock stops the command: stress-ng -t"},
		{"perf record -- stress-ng --cpu 1 --cpu-ops 500 -t 10", 7, ""},
		{"perf record -- env A=1 /bin/sh -c 'B=2 exec openssl speed sha256'", 3, "a clock stops the command: openssl speed"},
		{"perf record -- sh -c 'sleep 0.1; ./program'", 3, ""},
		{"perf record -- setarch x86_64 -R ./program", 3, ""},
		{"perf record -- setarch -R sleep 3", 3, "the command is sleep"},
		{"perf record ./json.test -test.bench Marshal", 3, "a clock stops the command: json.test -test.bench"},
		{"perf record ./json.test -test.bench=Marshal -test.benchtime=100x", 3, ""},
		{"perf record go test -bench . -benchtime 1s", 3, "a clock stops the command: go -bench"},
		{"perf record ./bench --benchmark_min_time=0.5", 3, "a clock stops the command: bench --benchmark_min_time=0.5"},
		{"simpleperf record --app com.example.app --duration 10", 10, "the app com.example.app was recorded"},
		{"/data/local/tmp/simpleperf record -f 1000 --duration 10 ls", 10, "recorded for 10 s"},
		{"simpleperf record --cpu 0 -g /data/local/tmp/program", 10, ""},
		{"simpleperf record --kprobes x", 10, ""},
		{"/data/simpleperf_ndk64 record --add-counter instructions --no-inherit -g sleep 1", 1, "the command is sleep"},
		{"/data/simpleperf64 record --size-limit 300k -g ./program", 1, ""},
		{"/usr/bin/perf_3.16 record -a sleep 5", 5, "recorded system-wide"},
		{"/usr/bin/perf5 record -c 10009 -d --pfm-events X:ldlat=64 -W sleep 10", 10, "the command is sleep"},
		{"performance record -a", 3, ""},
		{"./program sleep", 3, ""},
		{"", 3, ""},
		{"perf", 3, ""},
		{"perf stat sleep 3", 3, ""},
		{"perf record -- 'it'\\''s' \"-a\"", 3, ""},
	} {
		r := &Run{Recording: Recording{CommandLine: test.command, Duration: time.Duration(test.took * 1e9)}}
		if got := r.Window(); got != test.want {
			t.Errorf("%s: %q, want %q", test.command, got, test.want)
		}
	}
}

func TestWindowOfFacts(t *testing.T) {
	r := &Run{Recording: Recording{Bound: "recorded for 3 s", CommandLine: "perf record ./program"}}
	if got := r.Window(); got != "recorded for 3 s" {
		t.Errorf("noted: %q", got)
	}
	r = &Run{Recording: Recording{App: "com.example.app"}}
	if got := r.Window(); got != "the app com.example.app was recorded" {
		t.Errorf("app: %q", got)
	}
	r = &Run{Functions: []Function{{Name: "main.main"}, {Name: "testing.(*B).runN"}}}
	if got := r.Window(); got != "Go's testing runs its benchmarks until their time is over" {
		t.Errorf("benchmark: %q", got)
	}
	r.Recording.CommandLine = "perf record ./x.test -test.bench . -test.benchtime 50x"
	if got := r.Window(); got != "" {
		t.Errorf("benchmark that runs fifty times: %q", got)
	}
}

// TestProgramLine takes the command out of the command line of the recorder, for a shell.
func TestProgramLine(t *testing.T) {
	for _, test := range []struct {
		rec  Recording
		want string
	}{
		{Recording{CommandLine: "perf record -g -o x ./old bench.lua"}, "./old bench.lua"},
		{Recording{CommandLine: "/usr/bin/perf record -F 999 --call-graph dwarf,8192 -- taskset -c 1 ./app --size 7"}, "taskset -c 1 ./app --size 7"},
		{Recording{CommandLine: "perf record -a -- ./app 'two words' '' 'it'\\''s'"}, `./app 'two words' '' 'it'\''s'`},
		{Recording{CommandLine: "perf record -g sh -c './gzip < corpus > /dev/null'"}, "./gzip < corpus > /dev/null"},
		{Recording{CommandLine: "simpleperf record --app com.example"}, ""},
		{Recording{CommandLine: "perf record -p 77"}, ""},
		{Recording{CommandLine: "perf record -p 77", Command: "./app | cat"}, "./app | cat"},
		{Recording{CommandLine: "./app of another recorder"}, ""},
		{Recording{}, ""},
	} {
		if got := test.rec.ProgramLine(); got != test.want {
			t.Errorf("%q: %q, want %q", test.rec.CommandLine, got, test.want)
		}
	}
}
