package run

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SystemWide is the window of a recording of all processes.
const SystemWide = "recorded system-wide"

// Window says why a recording is a window of time, "" if nothing tells that it is one. A
// window ends when a clock says so, and not when the work is done: what it costs in all is
// how long it was, however fast the program is.
//
//  1. Whether a server merged it of all that it had of a time.
//  2. What the recorder noted of its plan: an app, a process, a duration.
//  3. The command line of perf and of simpleperf: all of a system, processes that ran
//     before, a duration; and the command, if it sleeps, or if a clock stops it.
//  4. Functions of frameworks for benchmarks that choose by the clock how often they run.
func (r *Run) Window() string {
	rec := &r.Recording
	if rec.Merged != "" {
		return rec.Merged
	}
	if rec.Bound != "" {
		return rec.Bound
	}
	window, fixed := rec.commandWindow()
	if window != "" || fixed {
		return window
	}
	if rec.App != "" {
		return "the app " + rec.App + " was recorded"
	}
	for i := range r.Functions {
		for _, b := range benchmarks {
			if strings.HasPrefix(r.Functions[i].Name, b.prefix) {
				return b.framework + " runs its benchmarks until their time is over"
			}
		}
	}
	return ""
}

// Took is how long the recording was: the time of the command if it was noted, else from the
// first sample to the last.
func (r *Recording) Took() time.Duration { return cmp.Or(r.CommandTime, r.Duration) }

// benchmarks are frameworks that choose by the clock how often they run what they measure.
var benchmarks = []struct{ prefix, framework string }{
	{"testing.(*B).", "Go's testing"},
	{"benchmark::internal::BenchmarkRunner", "Google Benchmark"},
	{"benchmark::RunSpecifiedBenchmarks", "Google Benchmark"},
	{"criterion::", "Criterion"},
	{"divan::", "Divan"},
	{"test::bench::", "Rust's libtest"},
	{"ankerl::nanobench::", "nanobench"},
	{"org.openjdk.jmh.", "JMH"},
}

// commandWindow looks at the command line of the recorder. fixed is set if the command says
// that its work is fixed.
func (r *Recording) commandWindow() (window string, fixed bool) {
	words, window, known := r.recorded()
	switch {
	case !known:
		words = splitWords(r.Command)
	case window != "":
		return window, false
	case len(words) == 0:
		return "recorded without a command", false
	}
	return commandStopped(words, r.Took())
}

// ProgramLine is the command line that was recorded, for a shell, "" if it is not known: what
// notes say, or what follows the options of perf and of simpleperf.
func (r *Recording) ProgramLine() string {
	if r.Command != "" {
		return r.Command
	}
	words, _, _ := r.recorded()
	if len(words) == 3 && path.Base(words[0]) == "sh" && words[1] == "-c" {
		return words[2]
	}
	return JoinWords(words)
}

// ProgramName is what was recorded, or else the recorder, without directories and arguments; "" if
// neither is known. What is set in the environment of a program stands in front of it.
func (r *Recording) ProgramName() string {
	for _, word := range splitWords(cmp.Or(r.ProgramLine(), r.CommandLine)) {
		if word != "env" && !strings.Contains(word, "=") {
			return path.Base(strings.ReplaceAll(word, `\`, "/"))
		}
	}
	return ""
}

// ProgramHint is the command line that was recorded as its program knows it again: with … instead of
// arguments, which may be secret; "" if it is not known.
func (r *Recording) ProgramHint() string {
	if len(splitWords(r.ProgramLine())) > 1 {
		return r.ProgramName() + " …"
	}
	return r.ProgramLine()
}

// recorded takes the command line of the recorder apart: the words of the command that it
// started, and why the recording is a window of time, whatever that does. known is unset if
// it is of no recorder that is known.
func (r *Recording) recorded() (words []string, window string, known bool) {
	words = splitWords(r.CommandLine)
	at := slices.Index(words, "record")
	if at <= 0 || !recorders.MatchString(path.Base(words[0])) {
		return nil, "", false
	}
	simpleperf := strings.HasPrefix(path.Base(words[0]), "simpleperf")
	words = words[at+1:]
	why := func(s string) {
		if window == "" {
			window = s
		}
	}
	for len(words) > 0 {
		name, value := words[0], ""
		if name == "--" {
			words = words[1:]
			break
		}
		if !strings.HasPrefix(name, "-") || name == "-" {
			break
		}
		words = words[1:]
		switch {
		case strings.HasPrefix(name, "--"):
			var given bool
			if name, value, given = strings.Cut(name, "="); !given && slices.Contains(valued, name) && len(words) > 0 {
				value, words = words[0], words[1:]
			}
		default:
			// Flags of one letter may stand together: -ag.
			letters := name[1:]
			for i := range len(letters) {
				name = "-" + letters[i:i+1]
				if slices.Contains(valued, name) {
					if value = letters[i+1:]; value == "" && len(words) > 0 {
						value, words = words[0], words[1:]
					}
					break
				}
				if name == "-a" {
					why(SystemWide)
				}
			}
		}
		switch {
		case name == "--all-cpus" || !simpleperf && (name == "-C" || name == "--cpu"):
			why(SystemWide)
		case name == "-p" || name == "-t" || name == "--pid" || name == "--tid":
			why("attached to a process that ran before")
		case name == "-u" || name == "--uid":
			why("attached to processes of a user")
		case name == "--app":
			why("the app " + value + " was recorded")
		case name == "--duration":
			why("recorded for " + value + " s")
		}
	}
	return words, window, true
}

// recorders are perf and simpleperf, whose names distributions and NDKs add to: perf_6.1,
// simpleperf64; and profdiff, with the same options.
var recorders = regexp.MustCompile(`^(profdiff|(simple)?perf(_?[0-9][0-9.]*|_[a-z0-9]+)?)$`)

// valued are options of perf record and of simpleperf record that a value follows.
var valued = strings.Fields("-e --event -f -F --freq -c --count -p --pid -t --tid -o --output -m --mmap-pages -r --realtime -u --uid -C --cpu " +
	"-D --delay -G --cgroup -j --branch-filter -k --clockid --call-graph --filter --app --duration --switch-output --max-size --num-thread-synthesize " +
	"--proc-map-timeout --cpu-percent --tracepoint-events --user-buffer-size --aux-buffer-size --addr-filter --symfs --vmlinux --group --max-events " +
	"--pfm-events --affinity --control --add-counter --size-limit --add-meta-info --kprobe --uprobe --tp-filter --out-fd --stop-signal-fd --callchain-joiner-min-matching-nodes --binary --decode-etm")

// clocked are programs that a clock stops, as their options say; all of them do if there is no
// option, and none if one of the last says how much to do.
var clocked = []struct {
	program        *regexp.Regexp
	until, counted *regexp.Regexp
}{
	{regexp.MustCompile(`^(usleep|sleep|iperf3?|netperf)$`), nil, nil},
	{regexp.MustCompile(`^stress(-ng|app-?test)?$`), regexp.MustCompile(`^(-t|--timeout)`), regexp.MustCompile(`-ops(=|$)`)},
	{regexp.MustCompile(`^(wrk2?|bombardier|cyclictest)$`), regexp.MustCompile(`^(-[dD]|--duration)`), regexp.MustCompile(`^(-n|--requests|-l|--loops)`)},
	{regexp.MustCompile(`^(hey|oha)$`), regexp.MustCompile(`^-z`), nil},
	{regexp.MustCompile(`^(ab|pgbench|schbench)$`), regexp.MustCompile(`^(-t|-T|--time|-r|--runtime)`), nil},
	{regexp.MustCompile(`^fio$`), regexp.MustCompile(`^--time_based`), nil},
	{regexp.MustCompile(`^sysbench$`), nil, regexp.MustCompile(`^--events=[1-9]`)},
	{regexp.MustCompile(`^memtier_benchmark$`), regexp.MustCompile(`^--test-time`), nil},
	{regexp.MustCompile(`^openssl$`), regexp.MustCompile(`^speed$`), nil},
	{regexp.MustCompile(``), regexp.MustCompile(`^--?(test\.)?bench(=|$)|^--?(test\.)?benchtime|^--benchmark_min_time|^--profile-time`), regexp.MustCompile(`^--?(test\.)?benchtime=\d+x$|^--benchmark_min_time=\d+x$`)},
}

// wrappers are programs that run another one, whose options and first arguments are skipped;
// a value follows those of the second list.
var wrappers = map[string]struct {
	valued    string
	arguments int
}{
	"env": {"-u -C", 0}, "nice": {"-n", 0}, "ionice": {"-c -n", 0}, "taskset": {"", 1}, "chrt": {"", 1}, "setarch": {"", 0}, "stdbuf": {"-i -o -e", 0},
	"numactl": {"-m -N -C", 0}, "time": {"-o -f", 0}, "sudo": {"-u -g", 0}, "nohup": {"", 0}, "exec": {"", 0}, "timeout": {"-k -s", 1},
}

// commandStopped says what clock stops a command, "" if none is known. A timeout that is
// longer than the recording did not stop it.
func commandStopped(words []string, took time.Duration) (window string, fixed bool) {
	for len(words) > 0 {
		program := path.Base(words[0])
		if shell := program == "sh" || program == "bash" || program == "dash"; shell {
			if len(words) < 3 || words[1] != "-c" || strings.ContainsAny(words[2], "|&;\n") {
				return "", false
			}
			words = splitWords(words[2])
			continue
		}
		if assigns.MatchString(words[0]) {
			words = words[1:]
			continue
		}
		w, wraps := wrappers[program]
		if !wraps {
			break
		}
		for words = words[1:]; len(words) > 0 && (strings.HasPrefix(words[0], "-") || program == "setarch" && !strings.Contains(words[0], "/") && len(words) > 1 && strings.HasPrefix(words[1], "-")); {
			if slices.Contains(strings.Fields(w.valued), words[0]) && len(words) > 1 {
				words = words[1:]
			}
			words = words[1:]
		}
		if len(words) < w.arguments {
			return "", false
		}
		if program == "timeout" {
			if limit := seconds(words[0]); limit > 0 && took.Seconds() >= 0.9*limit {
				return "timeout " + words[0] + " stopped the command", false
			}
		}
		words = words[w.arguments:]
	}
	if len(words) == 0 {
		return "", false
	}
	program := path.Base(words[0])
	for i := 1; i+1 < len(words); i++ {
		if benchtime.MatchString(words[i]) { // with its value a word
			words = slices.Concat(words[:i], []string{words[i] + "=" + words[i+1]}, words[i+2:])
		}
	}
	for _, c := range clocked {
		if !c.program.MatchString(program) {
			continue
		}
		if c.counted != nil && slices.ContainsFunc(words[1:], c.counted.MatchString) {
			return "", true
		}
		if c.until == nil {
			return fmt.Sprintf("the command is %s", program), false
		}
		if i := slices.IndexFunc(words[1:], c.until.MatchString); i >= 0 {
			return fmt.Sprintf("a clock stops the command: %s %s", program, words[1+i]), false
		}
	}
	return "", false
}

var benchtime = regexp.MustCompile(`^--?(test\.)?benchtime$`)

var assigns = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// seconds reads a duration as timeout takes it, 0 if it is none.
func seconds(s string) float64 {
	unit := 1.0
	if n := len(s) - 1; n > 0 {
		if u, ok := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[s[n]]; ok {
			s, unit = s[:n], u
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v * unit
}

// JoinWords makes a command line for a shell of words.
func JoinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`&|;<>()*?[]#~{}!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

// splitWords takes a command line apart as a shell would, without any expansion.
func splitWords(line string) (words []string) {
	var word strings.Builder
	quote, in := byte(0), false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			in = true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}
