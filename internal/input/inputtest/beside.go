package inputtest

import (
	"bytes"
	"fmt"
	"strings"
)

// What stands beside recordings, and is named by flags: budgets, lists of profiles and of symbols, rules, measured values.
const (
	Manifest   = "manifest"
	Specs      = "batches of profiles"
	Budget     = "budget"
	Categories = "categories"
	Renamed    = "renamed by R8"
	Kallsyms   = "kallsyms"
	Metrics    = "metrics"
	PerfStat   = "perf stat"
)

// reportCSV is what simpleperf report --csv prints.
func (m *maker) reportCSV() []byte {
	var b bytes.Buffer
	for range 1 + m.rng.IntN(3) {
		fmt.Fprintf(&b, "Event: %s (type 0, config 0)\nSamples: %d\nEvent count: %d\n\n", m.pick("cpu-clock", strings.ReplaceAll(m.name(), "\n", "")), m.number(), m.number())
		b.WriteString("Overhead,Sample,Command,Pid,Tid,Shared Object,Symbol,EventCount,EventName\n")
		for range 1 + m.n(50, 3000) {
			fmt.Fprintf(&b, "%d.%02d%%,%d,\"%s\",%d,%d,%s,\"%s\",%d,x\n", m.rng.IntN(101), m.rng.IntN(100), m.number(), strings.ReplaceAll(m.name(), "\"", ""), m.number()>>33, m.number()>>33, m.pick("/lib/libc.so", "unknown"), strings.ReplaceAll(m.name(), "\"", ""), m.number())
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

// bpftrace is maps of stacks as bpftrace prints them.
func (m *maker) bpftrace() []byte {
	var b bytes.Buffer
	b.WriteString("Attaching 2 probes...\n\n\n")
	for range 1 + m.n(50, 2000) {
		fmt.Fprintf(&b, "@%s[", m.pick("", "", "x", "cpu"))
		for range 1 + m.rng.IntN(2) {
			for range m.n(20, 500) {
				name := m.name()
				if m.calm {
					name = fmt.Sprintf("function_%d", m.rng.IntN(300))
				}
				fmt.Fprintf(&b, "\n    %s+%d", name, m.number())
			}
			b.WriteString("\n, ")
		}
		name := "thread"
		if !m.calm {
			name = m.name()
		}
		fmt.Fprintf(&b, "%s]: %d\n", name, m.number())
	}
	return b.Bytes()
}

// tombstone is a crash of Android as text.
func (m *maker) tombstone() []byte {
	var b bytes.Buffer
	b.WriteString("*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\nBuild fingerprint: 'x'\nABI: 'arm64'\n")
	for i := range 1 + m.n(20, 300) {
		fmt.Fprintf(&b, "pid: %d, tid: %d, name: %s  >>> %s <<<\nsignal 6 (SIGABRT), code -1 (SI_QUEUE), fault addr --------\n\nbacktrace:\n", m.rng.IntN(9), i, m.name(), m.name())
		for depth := range m.n(20, 300) {
			fmt.Fprintf(&b, "      #%02d pc %016x  %s (%s+%d)\n", depth, m.number(), m.pick("/system/lib64/libc.so", "<anonymous:0>", m.name()), m.name(), m.number())
		}
		b.WriteString("\n--- --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---\n")
	}
	return b.Bytes()
}

// manifest is a list of profiles of a fleet, which names files that are there and others.
func (m *maker) manifest() []byte {
	var b bytes.Buffer
	path := func() string {
		return m.pick("../other", "../other", "../other", "in", "..", "/dev/null", "/proc/self/mem", "a\x00b", m.name())
	}
	if m.rng.IntN(2) == 0 {
		for range 1 + m.n(20, 500) {
			b.WriteString(m.object("path", fmt.Sprintf("%q", path()), "release", m.quoted(), "device", m.quoted(), "time", m.json(1), "work_units", m.json(1)) + "\n")
		}
		return b.Bytes()
	}
	b.WriteString(m.pick("path,release,device,time,duration,work_units\n", "path,release,device,time,duration,work_units\n", "path,path\n", m.name()+"\n"))
	for range 1 + m.n(20, 500) {
		fmt.Fprintf(&b, "%s,\"%s\",%s,%s,%s,%d\n", path(), m.name(), m.pick("a", "b", m.name()), m.pick("2026-11-23", "2026-11-23T10:00:00Z", fmt.Sprint(m.number())), m.pick("30s", "1e9h", fmt.Sprint(m.number())), m.number())
	}
	return b.Bytes()
}

// specs are batches as profdiff fleet plan writes them.
func (m *maker) specs() []byte {
	var b bytes.Buffer
	for range 1 + m.n(5, 50) {
		profile := func(int) string {
			return m.object("path", fmt.Sprintf("%q", m.pick("../other", "in", "/dev/null", "../../..")), "source", m.quoted(), "device_model", m.quoted(), "device_id", m.quoted(), "ts_ns", m.json(1))
		}
		b.WriteString(m.object("spec", m.quoted(), "release", m.quoted(), "profiles", m.list(m.rng.IntN(5), profile)) + "\n")
	}
	return b.Bytes()
}

// budget is YAML: limits that are none, patterns that take long, aliases that refer to themselves or to much.
func (m *maker) budget() []byte {
	var b bytes.Buffer
	limits := []string{"limit: {fail: +10%}", "max: {warn: 1k, fail: 2M}"}
	if m.calm {
		b.WriteString("version: 1\n")
	} else {
		b.WriteString(m.pick("version: 1\n", "version: 1\n", "version: 1\n", "version: [1\n", "a: &a [*a]\nversion: 1\n", "version: &v 1\n"))
		limits = append(limits, fmt.Sprintf("max: {fail: %d}", m.number()), "limit: {fail: "+m.json(2)+"}", "limit: &x {fail: *x}")
	}
	b.WriteString("defaults: {normalize: none}\nbudgets:\n")
	for i := range 1 + m.n(20, 2000) {
		fmt.Fprintf(&b, "  - {id: b%d, match: {function: %s, regexp: %s}, %s}\n", i, m.quoted(), m.pick("false", "false", "false", "true"), m.pick(limits...))
	}
	if !m.calm && m.rng.IntN(4) == 0 { // aliases of aliases
		b.WriteString("x0: &x0 [a, a, a, a, a, a, a, a, a]\n")
		for i := range 12 {
			fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i), 9), ", "))
		}
	}
	return b.Bytes()
}

// categories are rules by which samples are sorted, or more in each other than anybody writes.
func (m *maker) categories() []byte {
	if !m.calm && m.rng.IntN(8) == 0 {
		n := m.n(1000, 100_000)
		return []byte("categories: " + strings.Repeat(m.pick("[", "{a: ", "[{any: "), n))
	}
	patterns := []string{"main", "'(a*)*b'", "'(((a{1,9}){1,9}){1,9})'"}
	if !m.calm {
		patterns = append(patterns, "'(((a{1,100}){1,100}){1,100})'", "'['", m.quoted())
	}
	var b bytes.Buffer
	b.WriteString("categories:\n")
	for i := range 1 + m.n(20, 500) {
		fmt.Fprintf(&b, "  - {name: c%d, %s: [%s]}\n", i, m.pick("match", "leaf", "thread", "process"), m.pick(patterns...))
	}
	return b.Bytes()
}

// renamed is a mapping of ProGuard or R8: classes and methods with their shorter names.
func (m *maker) renamed() []byte {
	var b bytes.Buffer
	for range 1 + m.n(30, 2000) {
		fmt.Fprintf(&b, "a.b.%s -> %s:\n", m.name(), m.pick("a", "function_1", m.name()))
		for range m.n(10, 200) {
			fmt.Fprintf(&b, "    %d:%d:void %s(%s):%d:%d -> %s\n", m.number(), m.number(), m.name(), m.pick("", "int", "int[]"), m.number(), m.number(), m.pick("a", "b", m.name()))
		}
		if m.rng.IntN(5) == 0 {
			b.WriteString("# {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":" + m.json(3) + "}\n")
		}
	}
	return b.Bytes()
}

// kallsyms is symbols of a kernel.
func (m *maker) kallsyms() []byte {
	var b bytes.Buffer
	for i := range 1 + m.n(100, 5000) {
		if m.calm {
			fmt.Fprintf(&b, "%016x t %s\n", 0xffffffff81000000+uint64(i)*64, strings.ReplaceAll(m.name(), " ", "_"))
			continue
		}
		fmt.Fprintf(&b, "%016x %s %s%s\n", m.number(), m.pick("t", "T", "d", "a", m.name()), m.name(), m.pick("", "\t[module]", "\t[", "\t["+m.name()+"]"))
	}
	return b.Bytes()
}

// metrics are measured values in the form of one of the programs that print such.
func (m *maker) metrics() []byte {
	values := func() string { return m.list(1+m.n(10, 2000), func(int) string { return m.json(1) }) }
	some := func(make func(int) string) string { return m.list(1+m.n(5, 200), make) }
	switch m.rng.IntN(12) {
	case 0:
		return []byte(m.object("results", some(func(int) string {
			return m.object("command", m.quoted(), "mean", m.json(1), "stddev", m.json(1), "median", m.json(1), "user", m.json(1), "system", m.json(1), "min", m.json(1), "max", m.json(1), "times", values(), "exit_codes", values())
		})))
	case 1:
		return []byte(m.object("context", m.object("date", m.quoted(), "num_cpus", m.json(1)), "benchmarks", some(func(int) string {
			return m.object("name", m.quoted(), "run_name", m.quoted(), "run_type", `"iteration"`, "repetitions", m.json(0), "iterations", m.json(0), "real_time", m.json(0), "cpu_time", m.json(0), "time_unit", m.pick(`"ns"`, `"us"`, m.quoted()))
		})))
	case 2:
		return []byte(m.object("context", m.object("build", "{}"), "benchmarks", some(func(int) string {
			return m.object("name", m.quoted(), "className", m.quoted(), "params", "{}", "metrics", m.object("timeNs", m.object("minimum", m.json(0), "maximum", m.json(0), "median", m.json(0), "runs", values())), "totalRunTimeNs", m.json(0))
		})))
	case 3:
		return []byte(m.object("sampling_mode", `"Linear"`, "iters", values(), "times", values()))
	case 4:
		return []byte(m.object("machine_info", "{}", "benchmarks", some(func(int) string {
			return m.object("name", m.quoted(), "fullname", m.quoted(), "stats", m.object("min", m.json(0), "max", m.json(0), "mean", m.json(0), "data", values()))
		}), "version", `"5.1"`))
	case 5:
		return []byte(some(func(int) string {
			return m.object("jmhVersion", `"1.37"`, "benchmark", m.quoted(), "mode", m.pick(`"avgt"`, `"thrpt"`, m.quoted()), "primaryMetric", m.object("score", m.json(0), "scoreUnit", m.pick(`"ns/op"`, m.quoted()), "rawData", m.list(m.rng.IntN(3), func(int) string { return values() })))
		}))
	case 6:
		return []byte(m.object("start", m.object("version", `"iperf 3.12"`), "intervals", some(func(int) string {
			return m.object("sum", m.object("bits_per_second", m.json(0), "seconds", m.json(0), "bytes", m.json(0)))
		}), "end", m.object("sum_sent", m.object("bits_per_second", m.json(0)))))
	case 7:
		return []byte(m.object("fio version", `"fio-3.33"`, "jobs", some(func(int) string {
			return m.object("jobname", m.quoted(), "read", m.object("iops", m.json(0), "bw_bytes", m.json(0), "clat_ns", m.object("mean", m.json(0), "percentile", m.object("99.000000", m.json(0)))))
		})))
	case 8:
		var b bytes.Buffer
		b.WriteString("goos: linux\n")
		for range 1 + m.n(20, 2000) {
			fmt.Fprintf(&b, "Benchmark%s-8 \t %d\t %s ns/op\t %d %s\n", m.name(), m.number(), m.json(0), m.number(), m.pick("B/op", m.name()))
		}
		return b.Bytes()
	case 9:
		var b bytes.Buffer
		for range 1 + m.n(20, 2000) {
			b.WriteString(m.object("name", m.quoted(), "time_ms", m.json(0), "ok", "true", "run", m.json(0)) + "\n")
		}
		return b.Bytes()
	case 10:
		return []byte(some(func(int) string { return m.object("name", m.quoted(), "unit", m.quoted(), "value", m.json(1)) }))
	}
	var b bytes.Buffer
	b.WriteString("run,elapsed_s,max_rss_kib,command\n")
	for i := range 1 + m.n(20, 3000) {
		fmt.Fprintf(&b, "%d,%s,%d,%s\n", i, m.json(0), m.number(), m.name())
	}
	return b.Bytes()
}
