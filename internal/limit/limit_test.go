package limit

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"none": None, "64M": 64 << 20, "800M": 800 << 20, "2G": 2 << 30, "1.5GiB": 3 << 29, "100000000": 100_000_000, "2gb": 2 << 30, "1T": 1 << 40, "70000k": 70_000 << 10,
		"": 0, "63M": 0, "-1G": 0, "NaN": 0, "many": 0, "1e30G": 0, "1GG": 0, "0": 0,
	} {
		got, err := Parse(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestMachine(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const meminfo = "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   8388608 kB\n"
	for _, test := range []struct {
		name string
		root fstest.MapFS
		want int64
	}{
		{"nothing is known", fstest.MapFS{}, None},
		{"machine", fstest.MapFS{"proc/meminfo": file(meminfo)}, 4 << 30},
		{"group", fstest.MapFS{
			"proc/meminfo": file(meminfo), "proc/self/cgroup": file("0::/ci/job\n"), "sys/fs/cgroup/ci/memory.max": file("2147483648\n"), "sys/fs/cgroup/ci/job/memory.max": file("max\n"),
		}, 3 << 29},
		{"namespace", fstest.MapFS{"proc/meminfo": file(meminfo), "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("1073741824\n")}, 3 << 28},
		{"version 1", fstest.MapFS{
			"proc/meminfo": file(meminfo), "proc/self/cgroup": file("5:cpu:/x\n4:memory:/docker/1\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("1073741824\n"),
		}, 3 << 28},
		{"group without a limit", fstest.MapFS{"proc/meminfo": file(meminfo), "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, 4 << 30},
		{"hardly any", fstest.MapFS{"proc/meminfo": file("MemAvailable: 1000 kB\n")}, Least},
		{"no numbers", fstest.MapFS{"proc/meminfo": file("MemAvailable: x kB\n"), "proc/self/cgroup": file("0\n")}, None},
	} {
		if got := Machine(test.root); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestExpect checks that the collector is told what inputs let expect, and what a user allows if that is less.
func TestExpect(t *testing.T) {
	defer func(limitBefore, expectedBefore, memory int64) {
		limit.Store(limitBefore)
		expected.Store(expectedBefore)
		debug.SetMemoryLimit(memory)
	}(limit.Load(), expected.Load(), debug.SetMemoryLimit(-1))
	const input = 10 << 20
	Expect(input)
	for _, test := range []struct{ allowed, want int64 }{
		{None, own + perByte*input + Ballast},
		{Least, Least + Ballast},
	} {
		Set(test.allowed)
		check()
		if got := debug.SetMemoryLimit(-1); got != test.want {
			t.Errorf("allowed %d: the limit is %d, want %d", test.allowed, got, test.want)
		}
	}
}

// TestFreed checks that garbage is collected when much is freed, and not when little is or when little is in use.
func TestFreed(t *testing.T) {
	defer func(before int64) { expected.Store(before) }(expected.Load())
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	kept := make([]byte, 2*own)
	for _, test := range []struct {
		freed, input int64
		want         bool
	}{{own, 0, true}, {1 << 20, 0, false}, {own, own, false}} {
		var before, after runtime.MemStats
		expected.Store(test.input)
		runtime.ReadMemStats(&before)
		Freed(test.freed)
		runtime.ReadMemStats(&after)
		if got := after.NumGC > before.NumGC; got != test.want {
			t.Errorf("freed %d of an input of %d: %v", test.freed, test.input, got)
		}
	}
	runtime.KeepAlive(kept)
}

func TestMessage(t *testing.T) {
	defer func() {
		for i := range counts {
			counts[i].Store(0)
		}
		advice.Store(nil)
	}()
	if got := message(1<<30, 1<<30); !strings.HasPrefix(got, "what was read takes 1.0G of memory") || !strings.HasSuffix(got, "and filters such as --event, or a shorter recording, need less") {
		t.Error(got)
	}
	Advise("--jobs 1 needs less")
	if got := message(1<<30, 1<<30); !strings.HasSuffix(got, "--max-memory SIZE allows more, and --jobs 1 needs less") {
		t.Error(got)
	}
	Functions.Add(5)
	Stacks.Add(70)
	Labels.Add(3)
	Mappings.Add(2)
	const want = "70 stacks, 5 functions, 3 labels of samples take 1.5G of memory, and 900M are allowed: "
	if got := message(3<<29, 900<<20); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
