package android

import (
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/record"
)

// simpleperfErrors are the messages of level error or worse in a log of simpleperf,
// whose lines are: simpleperf E file.cpp:12] message.
func simpleperfErrors(log []byte) (messages []string) {
	for line := range strings.Lines(string(log)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "simpleperf ")
		if !ok || !strings.HasPrefix(rest, "E ") && !strings.HasPrefix(rest, "F ") {
			continue
		}
		if _, message, ok := strings.Cut(rest, "] "); ok {
			messages = append(messages, strings.TrimSpace(message))
		}
	}
	return messages
}

// withoutLog is what a command wrote beside the log of simpleperf.
func withoutLog(stderr []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(stderr)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "simpleperf" && len(f[1]) == 1 {
			continue
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

// explainSimpleperf says what to do about an error of simpleperf, in one line.
func explainSimpleperf(r *reply) error {
	messages := simpleperfErrors(r.stderr)
	for _, m := range messages {
		if err := explainMessage(m); err != nil {
			return err
		}
	}
	switch {
	case len(messages) > 0:
		return errors.New("simpleperf: " + messages[0])
	case r.status != 0:
		return fmt.Errorf("simpleperf: exit status %d: %s", r.status, r.lastError())
	}
	return errors.New("simpleperf left no recording: " + r.lastError())
}

func explainMessage(m string) error {
	quoted := func() string {
		_, rest, _ := strings.Cut(m, "'")
		name, _, _ := strings.Cut(rest, "'")
		return name
	}
	has := func(text string) bool { return strings.Contains(m, text) }
	switch {
	case has("Event type '") && has("is not supported"):
		return fmt.Errorf("%s %w on the device: -e cpu-clock records time", quoted(), record.ErrUnsupported)
	case has("Unknown event_type"):
		return fmt.Errorf("simpleperf does not know the event %s: simpleperf list on the device shows those that it has", quoted())
	case has("isn't debuggable/profileable"), has("not debuggable"), has("is not profileable"):
		return errors.New("the app may not be recorded: build it with android:debuggable, or with <profileable android:shell=\"true\"/> (Android 10 or later), or make the shell root (adb root)")
	case has("security.perf_harden"), has("perf_event_paranoid"):
		return errors.New("the device does not allow to record: " + m)
	case has("No space left on device"), has("isn't enough space"):
		return errors.New("no space left on the device: make room there and call again, runs that are there are kept")
	case has("failed to execvp("):
		_, rest, _ := strings.Cut(m, "execvp(")
		name, why, _ := strings.Cut(rest, "): ")
		return fmt.Errorf("the device cannot run %s: %s (commands run in %s; adb push copies a program there)", name, strings.ToLower(why), deviceTemp)
	case has("no process with pid"), has("Non existing thread"):
		return errors.New("the process ended before it could be recorded: " + m)
	case has("sched:sched_switch event is not available"), has("Dumping regs for tracepoint events"):
		return errors.New("the device cannot record off-CPU time: " + m)
	case has("System wide profiling needs root"):
		return errors.New("the whole system can be recorded by root only: adb root, on a build that allows it")
	case has("dwarf callchain sampling is not supported"):
		return errors.New("the device has no call chains by dwarf: --call-graph fp")
	case has("failed to open perf event file") && has("Permission denied"), has("open perf_event_file") && has("Permission denied"):
		return errors.New("the device does not allow to record: permission denied; setprop security.perf_harden 0 or adb root, on a build that allows it")
	}
	return nil
}
