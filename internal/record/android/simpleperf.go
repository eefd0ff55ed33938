package android

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// appearSeconds is how long an app may take to appear after the command that starts it
// has ended.
const appearSeconds = 5

// epilogue prints what became of a recording, and what the device was doing.
func (b *Backend) epilogue() string {
	return "times; echo \"size=$(stat -c %s " + deviceData + " 2>/dev/null)\"\n" + b.momentScript() + thermalScript
}

// arguments is the command line of simpleperf record, without the target.
func (b *Backend) arguments(p *record.Plan) []string {
	args := []string{b.program, "record", "-o", deviceData}
	if b.options["--exit-with-parent"] {
		args = append(args, "--exit-with-parent")
	}
	for _, e := range p.Events {
		// These are for the events that follow.
		switch {
		case e.Frequency > 0:
			args = append(args, "-f", strconv.Itoa(e.Frequency))
		case e.Period > 0:
			args = append(args, "-c", strconv.FormatUint(e.Period, 10))
		}
		args = append(args, "-e", e.Name)
	}
	if p.OffCPU {
		args = append(args, "--trace-offcpu")
	}
	if p.CallGraph != "none" {
		args = append(args, "--call-graph", p.CallGraph)
	}
	if p.SystemWide {
		args = append(args, "-a")
	}
	return append(args, p.Arguments...)
}

// withPID runs a program as the process whose ID it leaves for [Backend.end].
func withPID(argv []string) string {
	return "sh -c " + command.Quote("echo $$ >"+deviceDir+"/pid; exec \"$@\"") + " sh " + command.Quote(argv...)
}

// recordCommand records a command that simpleperf starts.
func (b *Backend) recordCommand(ctx context.Context, p *record.Plan, c *record.Command) (*reply, error) {
	argv := b.arguments(p)
	if b.options["--use-cmd-exit-code"] {
		argv = append(argv, "--use-cmd-exit-code")
	}
	return b.adb.shell(ctx, "cd "+deviceTemp+"; "+withPID(append(argv, deviceWords(c.Run)...)), b.epilogue())
}

// findProcess sets pids to the processes to record, with commas between.
func (b *Backend) findProcess() string {
	if pid, err := strconv.Atoi(b.process); err == nil {
		return fmt.Sprintf("pids=%d; [ -d /proc/%d ] || pids=", pid, pid)
	}
	return "pids=$(pidof " + command.Quote(b.process) + " | tr ' ' ',')"
}

// recordProcess runs a recorder on the app or process while a command runs. An app that
// does not run yet is waited for by simpleperf, for ever; here, until appearSeconds
// after the command.
func (b *Backend) recordProcess(ctx context.Context, c *record.Command, argv []string, seconds float64) (*reply, error) {
	var s strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	started := deviceDir + "/started"
	log := deviceDir + "/log"
	line("cd %s; code=; absent=", deviceTemp)
	line(": >%s; : >%s", started, log)
	target := "--app " + command.Quote(b.app)
	line("record() {")
	if b.process != "" {
		line("%s", b.findProcess())
		line(`if [ -z "$pids" ]; then absent=process; return 1; fi`)
		target = `-p "$pids"`
	}
	descriptor := ""
	if argv[1] == "record" && b.options["--start_profiling_fd"] {
		argv = append(argv, "--start_profiling_fd", "3")
		descriptor = "3>" + started + " "
	}
	if seconds > 0 {
		argv = append(argv, "--duration", strconv.FormatFloat(seconds, 'f', -1, 64))
	}
	line("%s %s %s>/dev/null 2>%s </dev/null &", withPID(argv), target, descriptor, log)
	line("recorder=$!")
	// begun says that it records, waiting that it cannot begin yet. Without the
	// descriptor there is no message that it records: half a second has to do.
	line(`waiting() { grep -q "Waiting for process" %s && ! grep -q "Got process" %s && [ ! -s %s ]; }`, log, log, started)
	line(`alive() { kill -0 $recorder 2>/dev/null; }`)
	if descriptor != "" {
		line(`begun() { [ -s %s ]; }`, started)
	} else {
		line(`begun() { ! waiting && [ $i -ge 5 ]; }`)
	}
	line(`i=0; while alive && ! begun && ! waiting && [ $i -lt %d ]; do sleep 0.1; i=$((i + 1)); done`, appearSeconds*10)
	line(`if ! alive; then wait $recorder; code=$?; fi`)
	line(`[ "${code:-0}" = 0 ] || return 1`)
	line("%s", deviceCommand(c.Run))
	line("result=$?")
	line(`i=0; while alive && ! begun && [ $i -lt %d ]; do sleep 0.1; i=$((i + 1)); done`, appearSeconds*10)
	line(`if alive && waiting; then`)
	line(`absent=app; kill -TERM $recorder; sleep 1; kill -KILL $recorder 2>/dev/null`)
	line(`else`)
	if seconds > 0 { // simpleperf ends by itself, or has a minute for that
		line(`i=0; while alive && ! grep -q "Recorded for" %s && [ $i -lt %.0f ]; do sleep 0.1; i=$((i + 1)); done`, log, 10*(seconds+60))
		line(`grep -q "Recorded for" %s ||`, log)
	}
	line(`kill -TERM $recorder 2>/dev/null`)
	line(`fi`)
	line(`[ -n "$code" ] || { wait $recorder; code=$?; }`)
	line("return $result; }")
	line("record")
	reply, err := b.adb.shell(ctx, s.String(), fmt.Sprintf("cat %s >&2; echo \"recorder=$code\"; echo \"absent=$absent\"\n%s", log, b.epilogue()))
	return reply, err
}

// endScript ends the recorder whose ID is noted, if it still runs. One that was told to
// stop writes its file to the end, which nobody needs.
const endScript = `p=$(cat ` + deviceDir + `/pid 2>/dev/null)
if [ -n "$p" ] && grep -q simpleperf /proc/$p/cmdline 2>/dev/null; then kill -TERM $p; sleep 1; kill -KILL $p 2>/dev/null; fi
rm -rf ` + deviceDir

func (b *Backend) end(ctx context.Context) error {
	_, err := b.adb.ask(ctx, endScript, "")
	return err
}

// abandon ends the recorder after an interruption. The device may be gone.
func (b *Backend) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, _ = b.adb.shell(ctx, endScript, "")
}

// shellTimes are the CPU times of what a shell started. Its times prints them on the
// second line, the first being for the shell itself: 0m01.23s 0m00.45s.
func shellTimes(text string) (user, system time.Duration) {
	lines := 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		u, err1 := time.ParseDuration(f[0])
		s, err2 := time.ParseDuration(f[1])
		if err1 != nil || err2 != nil {
			continue
		}
		if lines++; lines == 2 {
			return u, s
		}
	}
	return 0, 0
}

// count counts the events while the command of a side runs, or while nothing does.
func (b *Backend) count(ctx context.Context, p *record.Plan, c *record.Command) (*record.Counts, error) {
	var names []string
	for _, e := range p.Events {
		names = append(names, e.Name)
	}
	argv := []string{b.program, "stat", "--csv", "-e", strings.Join(names, ",")}
	var reply *reply
	var err error
	if c != nil && (p.App != "" || p.Process != "") {
		csv := deviceDir + "/csv"
		if _, err := b.adb.ask(ctx, "mkdir -p "+deviceDir, ""); err != nil {
			return nil, err
		}
		if reply, err = b.recordProcess(ctx, c, append(argv, "-o", csv), p.Duration); err != nil {
			if ctx.Err() != nil {
				b.abandon(ctx)
			}
			return nil, err
		}
		rest := parseValues(reply.rest)
		switch {
		case rest["absent"] == "process":
			return nil, noProcess(p.Process)
		case rest["absent"] == "app":
			return nil, fmt.Errorf("no process of %s appeared", p.App)
		case record.Number(rest["recorder"]) != 0:
			return nil, explainSimpleperf(reply)
		}
		if err := reply.failed(c.Run); err != nil {
			return nil, err
		}
		if reply, err = b.adb.ask(ctx, "cat "+csv+"; rm -rf "+deviceDir, ""); err != nil {
			return nil, err
		}
		return parseCounts(string(reply.output), names)
	}
	program := []string{"true"}
	if c != nil {
		program = deviceWords(c.Run)
	}
	if p.SystemWide {
		argv = append(argv, "-a")
	}
	if reply, err = b.adb.shell(ctx, "cd "+deviceTemp+"; "+command.Quote(append(argv, program...)...), ""); err != nil {
		return nil, err
	}
	if reply.status != 0 {
		return nil, explainSimpleperf(reply)
	}
	return parseCounts(string(reply.output), names)
}

// parseCounts reads the output of simpleperf stat --csv: lines COUNT,EVENT,COMMENT, with
// clocks in ms.
func parseCounts(text string, names []string) (*record.Counts, error) {
	c := &record.Counts{Events: make(map[string]float64)}
	if i := strings.LastIndex(text, "Performance counter statistics"); i >= 0 {
		text = text[i:] // before is what the command printed
	}
	var values []float64 // in the order of the events
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) < 3 {
			continue
		}
		if f[0] == "Total test time" {
			c.Seconds = record.Number(f[1])
			continue
		}
		value, milliseconds := strings.CutSuffix(f[0], "(ms)")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		if milliseconds {
			v *= 1e6
		}
		c.Events[f[1]] = v
		values = append(values, v)
	}
	for i, name := range names {
		if _, ok := c.Events[name]; ok {
			continue
		}
		if len(values) != len(names) {
			return nil, fmt.Errorf("simpleperf stat did not count %s", name)
		}
		c.Events[name] = values[i] // it has another name for it
	}
	return c, nil
}
