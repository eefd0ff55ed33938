// Package android records with simpleperf on a device or emulator that adb reaches.
//
//  1. The device is found, and simpleperf on it, which is copied there if it is given; what
//     it can record is asked of it and of the system (simpleperf/doc/README.md of AOSP).
//  2. A script of the shell of the device starts the recorder and the command, waits for
//     both, and prints how they ended and what the device was doing.
//  3. The recording is pulled, and the object files that its samples hit.
package android

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"profdiff/internal/objfile"
	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// A Backend records with simpleperf on a device or emulator that adb reaches. The
// commands of a plan run on the device, in the folder deviceTemp. If the plan names an
// app or a process, simpleperf records that while they run.
type Backend struct {
	// Serial is the device, as adb devices lists it. It may be "" if there is one.
	Serial string
	// Simpleperf is a file on this machine that is copied to the device; if it is "",
	// the device's own is used.
	Simpleperf string

	adb     *adb
	program string          // simpleperf on the device
	options map[string]bool // which of recordOptions simpleperf record has
	root    bool
	app     string // whose CPU time is known, apart from the CPU time of others
	process string
	largest int64           // bytes of the largest recording so far
	passed  map[string]bool // object files that cannot be had
}

// Folders on the device.
const (
	deviceTemp = "/data/local/tmp" // what the shell of any device may write to and run from
	deviceDir  = deviceTemp + "/profdiff"
	deviceData = deviceDir + "/perf.data"
)

// minSDK is the first version of Android that tells adb how a command ended (7.0).
const minSDK = 24

// recordOptions are options of simpleperf record that old versions do not have.
var recordOptions = []string{"--exit-with-parent", "--start_profiling_fd", "--use-cmd-exit-code"}

// Name implements [record.Backend].
func (*Backend) Name() string { return "simpleperf" }

// Suffix implements [record.Backend].
func (*Backend) Suffix() string { return ".data" }

// Probe implements [record.Backend]. Without counters in hardware it records time.
func (b *Backend) Probe(ctx context.Context, p *record.Plan) (*record.Machine, []string, error) {
	if err := b.check(p); err != nil {
		return nil, nil, err
	}
	b.app, b.process, b.passed = p.App, p.Process, make(map[string]bool)
	var err error
	if b.adb, err = connect(ctx, b.Serial); err != nil {
		return nil, nil, err
	}
	f, err := b.facts(ctx)
	if err != nil {
		return nil, nil, err
	}
	if sdk := int(record.Number(f.values["ro.build.version.sdk"])); sdk > 0 && sdk < minSDK {
		return nil, nil, fmt.Errorf("%s has Android %s: recording needs 7.0 or later", b.adb.serial, f.values["ro.build.version.release"])
	}
	b.root = f.values["uid"] == "0"
	m := f.machine()
	m.Serial = b.adb.serial
	version, err := b.install(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	m.Tools = []string{version}
	notes, err := b.permit(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	if err := b.checkTarget(ctx, p); err != nil {
		return nil, nil, err
	}
	more, err := b.chooseEvents(ctx, p)
	return m, append(notes, more...), err
}

// check refuses what simpleperf cannot record.
func (b *Backend) check(p *record.Plan) error {
	switch {
	case p.CallGraph == "lbr":
		return errors.New("simpleperf has no call chains by lbr: fp or dwarf")
	case p.App != "" && p.Process != "":
		return errors.New("an app or a process is recorded, not both")
	case p.SystemWide && (p.App != "" || p.Process != ""):
		return errors.New("the system is recorded, or one app or process")
	case p.App != "" && !packageName(p.App):
		return fmt.Errorf("%q is no name of a package, such as com.example.app", p.App)
	case !p.OffCPU:
		return nil
	}
	for _, e := range p.Events {
		if name, _, _ := strings.Cut(e.Name, ":"); !record.IsClock(name) || len(p.Events) > 1 {
			return errors.New("simpleperf records off-CPU time with one event, which is cpu-clock or task-clock")
		}
	}
	return nil
}

// packageName reports whether a text may name an app.
func packageName(text string) bool {
	return !strings.HasPrefix(text, "-") && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._") == ""
}

// install finds out which simpleperf to run, copies it to the device if it is given,
// and returns its version.
func (b *Backend) install(ctx context.Context, f *facts) (string, error) {
	b.program = "simpleperf"
	abi := f.values["ro.product.cpu.abi"]
	if b.Simpleperf != "" {
		o, err := objfile.Open(b.Simpleperf)
		if err != nil {
			return "", fmt.Errorf("simpleperf for the device: %w", err)
		}
		arch := o.Arch()
		if err := o.Close(); err != nil {
			return "", err
		}
		b.program = deviceTemp + "/profdiff-simpleperf"
		if err := b.adb.push(ctx, b.Simpleperf, b.program); err != nil {
			return "", err
		}
		reply, err := b.adb.ask(ctx, "chmod 755 "+command.Quote(b.program)+" && "+command.Quote(b.program)+" --version", "")
		if err != nil {
			return "", err
		}
		if reply.status != 0 {
			return "", fmt.Errorf("%s (%s) does not run on the device, which has the ABI %s: %s", b.Simpleperf, arch, abi, reply.lastError())
		}
		return b.version(ctx, reply)
	}
	reply, err := b.adb.ask(ctx, "simpleperf --version", "")
	if err != nil {
		return "", err
	}
	if reply.status != 0 {
		return "", fmt.Errorf("the device has no simpleperf: give that of the NDK, --simpleperf NDK/simpleperf/bin/android/%s/simpleperf", ndkArch(abi))
	}
	return b.version(ctx, reply)
}

// ndkArch is how the NDK names the folder for an ABI.
func ndkArch(abi string) string {
	switch abi {
	case "arm64-v8a":
		return "arm64"
	case "armeabi-v7a", "armeabi":
		return "arm"
	case "":
		return "ABI"
	}
	return abi
}

// version takes the version from what simpleperf --version wrote, and asks for its
// options.
func (b *Backend) version(ctx context.Context, reply *reply) (string, error) {
	version := "simpleperf"
	if v := command.After(string(reply.output)+string(reply.stderr), "ersion "); v != "" {
		version += " " + strings.TrimSpace(v)
	}
	help, err := b.adb.ask(ctx, command.Quote(b.program)+" record --help", "")
	if err != nil {
		return "", err
	}
	b.options = make(map[string]bool)
	for _, o := range recordOptions {
		b.options[o] = strings.Contains(string(help.output)+string(help.stderr), o)
	}
	return version, nil
}

// allowScript allows to record, and gives init up to a second to do what the property
// says, if that can be seen.
const allowScript = `setprop security.perf_harden 0
i=0; while [ $i -lt 10 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 1)" -gt 1 ]; do sleep 0.1; i=$((i + 1)); done
getprop security.perf_harden`

// permit lets the shell record, where it may do that, and ends what an earlier call
// that lost the device left running.
func (b *Backend) permit(ctx context.Context, f *facts) (notes []string, err error) {
	if f.values["recorder"] != "" {
		if err := b.end(ctx); err != nil {
			return nil, err
		}
		notes = append(notes, "a recorder that was left running on the device was ended")
	}
	if b.root || f.values["security.perf_harden"] != "1" {
		return notes, nil
	}
	reply, err := b.adb.ask(ctx, allowScript, "")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(reply.output)) != "0" {
		return nil, fmt.Errorf("the device does not allow to record: security.perf_harden is 1, perf_event_paranoid %s, and the shell may not change that; on a build that allows it: adb root", cmp.Or(f.values["paranoid"], "unknown"))
	}
	return append(notes, "set security.perf_harden of the device to 0, which allows to record, until it restarts"), nil
}

// checkTarget says whether the app or process is there. An app does not have to run
// yet.
func (b *Backend) checkTarget(ctx context.Context, p *record.Plan) error {
	switch {
	case p.App != "":
		reply, err := b.adb.ask(ctx, "pm path "+command.Quote(p.App), "")
		if err != nil {
			return err
		}
		// Before there is one to compare, --prepare may install the app.
		if !strings.Contains(string(reply.output), "package:") && p.Before.Prepare == "" {
			return fmt.Errorf("the app %s is not installed on the device", p.App)
		}
	case p.Process != "" && p.Before.Prepare == "":
		reply, err := b.adb.ask(ctx, b.findProcess()+`; [ -n "$pids" ]`, "")
		if err != nil {
			return err
		}
		if reply.status != 0 {
			return noProcess(p.Process)
		}
	}
	return nil
}

func noProcess(name string) error {
	return fmt.Errorf("no process %s runs on the device", name)
}

// chooseEvents completes events and periods.
func (b *Backend) chooseEvents(ctx context.Context, p *record.Plan) (notes []string, err error) {
	if len(p.Events) == 0 && p.OffCPU {
		p.Events = []record.Event{{Name: "cpu-clock", Frequency: p.Frequency}}
	}
	return record.ChooseEvents(ctx, p, "the device has no hardware counters: recording cpu-clock, which is time", func(c *record.Command) (*record.Counts, error) {
		counted, err := b.count(ctx, p, c)
		if err != nil && c != nil {
			err = fmt.Errorf("before, counting events: %w", err)
		}
		return counted, err
	})
}

// Warm implements [record.Backend].
func (b *Backend) Warm(ctx context.Context, p *record.Plan, side record.Side) ([]byte, error) {
	c := p.Side(side)
	reply, err := b.adb.shell(ctx, "cd "+deviceTemp+"; "+deviceCommand(c.Run), "")
	if err != nil {
		return nil, err
	}
	if err := reply.failed(c.Run); err != nil {
		return nil, err
	}
	return reply.output, nil
}

// Record implements [record.Backend]. The file is in the folder of the recording.
func (b *Backend) Record(ctx context.Context, p *record.Plan, side record.Side, file string) (*record.Result, error) {
	if err := b.makeRoom(ctx); err != nil {
		return nil, err
	}
	c := p.Side(side)
	var reply *reply
	var err error
	if p.App == "" && p.Process == "" {
		reply, err = b.recordCommand(ctx, p, c)
	} else {
		reply, err = b.recordProcess(ctx, c, b.arguments(p), p.Duration)
	}
	if ctx.Err() != nil {
		b.abandon(ctx)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	result, err := b.result(p, reply, c)
	if err != nil {
		return nil, err
	}
	if err := b.adb.pull(ctx, deviceData, file); err != nil {
		return nil, err
	}
	if _, err := b.adb.ask(ctx, "rm -rf "+deviceDir, ""); err != nil {
		return nil, err
	}
	s, err := record.Summarize(file)
	if err != nil {
		return nil, err
	}
	result.Samples, result.Lost = s.Samples, s.Lost
	if result.Notes, err = b.keepObjects(ctx, filepath.Dir(file), s.Objects); result.Samples == 0 {
		result.Notes = append(result.Notes, "simpleperf took no sample: did what it recorded run?")
	}
	return result, err
}

// makeRoom makes an empty folder on the device, and checks that a recording as large
// as the largest so far fits there.
func (b *Backend) makeRoom(ctx context.Context) error {
	reply, err := b.adb.ask(ctx, "rm -rf "+deviceDir+"; mkdir -p "+deviceDir+" && df -k "+deviceDir, "")
	if err != nil {
		return err
	}
	if reply.status != 0 {
		return fmt.Errorf("%s on the device: %s", deviceDir, reply.lastError())
	}
	fields := strings.Fields(command.LastLine(reply.output))
	if len(fields) < 4 {
		return nil // what cannot be asked is found out
	}
	free := int64(min(record.Number(fields[3]), 1<<40)) << 10
	if free < b.largest+record.Spare {
		return fmt.Errorf("%s on the device has %d MB free, a run needs about %d MB and %d MB to spare: make room there", deviceTemp, free>>20, b.largest>>20, record.Spare>>20)
	}
	return nil
}

// result is what a recorder left behind.
func (b *Backend) result(p *record.Plan, reply *reply, c *record.Command) (*record.Result, error) {
	rest := parseValues(reply.rest)
	recorder := int(record.Number(rest["recorder"]))
	if p.App != "" || p.Process != "" {
		switch {
		case rest["absent"] == "process":
			return nil, noProcess(p.Process)
		case rest["absent"] == "app":
			return nil, fmt.Errorf("no process of %s that can be recorded appeared within %d s of the command's end: the command has to start the app, or it has to run before", p.App, appearSeconds)
		}
		if recorder != 0 {
			return nil, explainSimpleperf(reply)
		}
		if err := reply.failed(c.Run); err != nil {
			return nil, err
		}
	} else if reply.status != 0 {
		if len(simpleperfErrors(reply.stderr)) > 0 {
			return nil, explainSimpleperf(reply)
		}
		return nil, reply.failed(c.Run)
	} else if err := commandError(c.Run, reply.output); err != nil {
		return nil, err
	}
	if record.Number(rest["size"]) == 0 {
		return nil, explainSimpleperf(reply)
	}
	b.largest = max(b.largest, int64(record.Number(rest["size"])))
	r := &record.Result{
		Process: command.Process{Start: reply.start, Duration: reply.took, Output: reply.output},
		After:   parseMoment(rest, reply.rest),
	}
	if s := record.Number(strings.Fields(command.After(string(reply.stderr), "Recorded for ") + " 0")[0]); s > 0 {
		r.Duration = time.Duration(s * float64(time.Second))
	}
	user, system := shellTimes(reply.rest)
	if p.App == "" && p.Process == "" {
		r.User, r.System = user, system
		return r, nil
	}
	// The recorder and the command are neither the app nor others.
	r.After.Busy -= (user + system).Seconds()
	return r, nil
}

// Moment implements [record.Backend].
func (b *Backend) Moment(ctx context.Context) (*record.Moment, error) {
	reply, err := b.adb.ask(ctx, ":", b.momentScript()+thermalScript)
	if err != nil {
		return nil, err
	}
	return parseMoment(parseValues(reply.rest), reply.rest), nil
}
