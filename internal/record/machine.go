package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"profdiff/internal/record/command"
	"profdiff/internal/run"
)

// A Machine is where the runs were recorded.
type Machine struct {
	CPU      string   `yaml:"cpu"`
	Cores    int      `yaml:"cores"`
	Arch     string   `yaml:"arch"` // as uname -m prints it
	Kernel   string   `yaml:"kernel"`
	Governor string   `yaml:"governor,omitempty"`
	Virtual  bool     `yaml:"virtual,omitempty"`
	Device   string   `yaml:"device,omitempty"` // of Android
	Serial   string   `yaml:"serial,omitempty"` // as adb lists the device
	Tools    []string `yaml:"tools"`
}

// differs says in what two machines differ that makes their runs another experiment, ""
// if they do not.
func (m *Machine) differs(o *Machine) string {
	for _, f := range []struct{ name, have, want string }{
		{"device", m.Device, o.Device},
		{"serial number", m.Serial, o.Serial},
		{"CPU", m.CPU, o.CPU},
	} {
		if f.have != f.want {
			return fmt.Sprintf("%s was %q, is %q", f.name, f.have, f.want)
		}
	}
	return ""
}

// Conditions are what a machine was doing during a run.
type Conditions struct {
	// Load is the load average of the last minute when the run began.
	Load float64 `yaml:"load"`
	// BackgroundCPUs is how many CPUs were busy with something else.
	BackgroundCPUs float64 `yaml:"background_cpus"`
	// BackgroundUnknown says that it is not known.
	BackgroundUnknown bool `yaml:"background_unknown,omitempty"`
	// StolenCPUs is how many the host of a virtual machine took.
	StolenCPUs   float64 `yaml:"stolen_cpus,omitempty"`
	FrequencyMHz float64 `yaml:"frequency_mhz,omitempty"`
	// FrequencyLimitMHz is what the CPUs may run at when the run ended, their mean.
	FrequencyLimitMHz float64 `yaml:"frequency_limit_mhz,omitempty"`
	// Throttled is how often a CPU was slowed down because it was hot.
	Throttled int64 `yaml:"throttled,omitempty"`
	// CelsiusBefore is the highest temperature when the run began.
	CelsiusBefore float64 `yaml:"celsius_before,omitempty"`
	// ThermalStatus is what Android says, before or after, whichever is worse: 0 none,
	// 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown.
	ThermalStatus int `yaml:"thermal_status,omitempty"`

	limitChange float64 // of FrequencyLimitMHz
}

// A Moment is what a machine is doing at a time. What is not known is zero.
type Moment struct {
	Load float64 // average of the last minute
	// Busy and Stolen are the CPU seconds since boot that all CPUs worked, and that the host
	// of a virtual machine took.
	Busy, Stolen float64
	BusyUnknown  bool
	Uptime       float64 // seconds since boot
	// Processes are the CPU seconds of what is recorded by process ID, if the recorder does
	// not start it.
	Processes                       map[string]float64
	FrequencyMHz, FrequencyLimitMHz float64 // means of the CPUs
	Throttled                       int64   // how often since boot
	Celsius                         float64 // the highest temperature
	ThermalStatus                   int     // see Conditions
}

// between are the conditions of a run from the moments before and after it.
func between(before, after *Moment, r *Result) Conditions {
	c := Conditions{
		Load: before.Load, FrequencyMHz: (before.FrequencyMHz + after.FrequencyMHz) / 2,
		FrequencyLimitMHz: after.FrequencyLimitMHz, limitChange: after.FrequencyLimitMHz - before.FrequencyLimitMHz,
		Throttled: after.Throttled - before.Throttled, CelsiusBefore: before.Celsius,
		ThermalStatus:     max(before.ThermalStatus, after.ThermalStatus),
		BackgroundUnknown: before.BusyUnknown || after.BusyUnknown,
	}
	s := r.Duration.Seconds()
	if before.Uptime > 0 && after.Uptime > before.Uptime {
		s = after.Uptime - before.Uptime // with what the recorder does before and after
	}
	own := r.User.Seconds() + r.System.Seconds()
	if before.Processes != nil || after.Processes != nil {
		seconds, known := processTime(before.Processes, after.Processes)
		own += seconds
		c.BackgroundUnknown = c.BackgroundUnknown || !known
	}
	// Times are in ticks of 10 ms.
	c.BackgroundUnknown = c.BackgroundUnknown || s < 0.1
	if !c.BackgroundUnknown {
		c.BackgroundCPUs = math.Round(100*max(0, after.Busy-before.Busy-own)/s) / 100
		c.StolenCPUs = math.Round(100*max(0, after.Stolen-before.Stolen)/s) / 100
	}
	return c
}

// processTime is the CPU time that processes took between two moments. It is not known
// if one of them ended.
func processTime(before, after map[string]float64) (seconds float64, known bool) {
	for pid, s := range after {
		seconds += s - before[pid]
	}
	for pid := range before {
		if _, ok := after[pid]; !ok {
			return 0, false
		}
	}
	return seconds, len(after) > 0
}

// On is what the conditions of the run on a machine were.
func (r *Run) On(m *Machine) run.Conditions {
	c := run.Conditions{
		Governor: m.Governor, FrequencyMHz: r.Conditions.FrequencyMHz, FrequencyLimitMHz: r.Conditions.FrequencyLimitMHz,
		Throttled: r.Conditions.Throttled, ThermalStatus: r.Conditions.ThermalStatus,
		Cores: m.Cores, BackgroundCPUs: r.Conditions.BackgroundCPUs, StolenCPUs: r.Conditions.StolenCPUs,
	}
	if r.Seconds > 0 {
		c.OwnCPUs = (r.UserSeconds + r.SystemSeconds) / r.Seconds
	}
	return c
}

// notes are what makes a run less trustworthy.
func (r *Run) notes(m *Machine) (notes []string) {
	c, on := &r.Conditions, r.On(m)
	if c.Throttled > 0 {
		notes = append(notes, fmt.Sprintf("CPUs were throttled %d times: they are too hot", c.Throttled))
	}
	if c.ThermalStatus > 0 {
		notes = append(notes, fmt.Sprintf("the device is hot and slows down: thermal status %s", thermalStatus(c.ThermalStatus)))
	}
	if c.limitChange != 0 {
		notes = append(notes, fmt.Sprintf("the limit of the CPUs changed by %+.0f MHz to %.0f MHz", c.limitChange, c.FrequencyLimitMHz))
	}
	if on.Crowded() {
		notes = append(notes, fmt.Sprintf("other programs took %.2f CPUs, so that none was free", c.BackgroundCPUs))
	}
	if on.StolenShare() > run.MaxStolen {
		notes = append(notes, fmt.Sprintf("the host took %.2f CPUs from this virtual machine", c.StolenCPUs))
	}
	return notes
}

// thermalStatus names a status as android.os.PowerManager does.
func thermalStatus(status int) string {
	names := []string{"none", "light", "moderate", "severe", "critical", "emergency", "shutdown"}
	if status < 0 || status >= len(names) {
		return fmt.Sprint(status)
	}
	return names[status]
}

// A host is this machine.
type host struct{}

func (host) machine() *Machine {
	m := &Machine{Cores: runtime.NumCPU(), CPU: CPUName(readText("/proc/cpuinfo")), Kernel: readText("/proc/sys/kernel/osrelease")}
	m.Arch = machineName()
	m.Governor = readText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	m.Virtual = strings.Contains(readText("/proc/cpuinfo"), " hypervisor")
	return m
}

// CPUName is the model in the text of /proc/cpuinfo, or what there is of one.
func CPUName(cpuinfo string) string {
	fields := make(map[string]string)
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	name := fields["model name"]
	if name == "" && fields["CPU part"] != "" {
		name = "implementer " + fields["CPU implementer"] + " part " + fields["CPU part"]
	}
	if f := fields["cpu family"]; f != "" {
		name = fmt.Sprintf("%s (family %s, model %s, stepping %s)", name, f, fields["model"], fields["stepping"])
	}
	return name
}

// Warm implements [Backend]. A simulator needs no warming up, but a command that fails does
// so here.
func (host) Warm(ctx context.Context, p *Plan, side Side) ([]byte, error) {
	done, err := p.Side(side).under(nil, nil).Run(ctx)
	if err != nil {
		return nil, err
	}
	return done.Output, nil
}

// Moment implements [Backend].
func (h host) Moment(context.Context) (*Moment, error) { return h.moment(), nil }

func (host) moment() *Moment {
	lines := make(map[string]string)
	for pattern := range strings.FieldsSeq(MomentFiles) {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			lines[name], _, _ = strings.Cut(readText(name), "\n")
		}
	}
	return ReadMoment(lines)
}

// MomentFiles are patterns of the files whose first lines say what Linux is doing.
const MomentFiles = "/proc/loadavg /proc/uptime /proc/stat /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq " +
	"/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count /sys/class/thermal/thermal_zone*/temp"

// ReadMoment reads the first lines of MomentFiles, and of scaling_max_freq, by the names of
// the files.
func ReadMoment(lines map[string]string) *Moment {
	m := &Moment{
		Load: Number(command.FirstWord(lines["/proc/loadavg"])), Uptime: Number(command.FirstWord(lines["/proc/uptime"])),
		BusyUnknown: lines["/proc/stat"] == "",
	}
	m.Busy, m.Stolen = cpuSeconds(lines["/proc/stat"])
	frequencies, limits := 0.0, 0.0
	for name, line := range lines {
		value := Number(line)
		switch filepath.Base(name) {
		case "scaling_cur_freq":
			m.FrequencyMHz += value / 1000
			frequencies++
		case "scaling_max_freq":
			m.FrequencyLimitMHz += value / 1000
			limits++
		case "core_throttle_count":
			m.Throttled += int64(value)
		case "temp":
			m.Celsius = max(m.Celsius, Celsius(value))
		}
	}
	m.FrequencyMHz = tenths(m.FrequencyMHz / max(frequencies, 1))
	m.FrequencyLimitMHz = tenths(m.FrequencyLimitMHz / max(limits, 1))
	m.Celsius = tenths(m.Celsius)
	return m
}

func tenths(v float64) float64 { return math.Round(10*v) / 10 }

// Celsius is what a thermal zone shows, most in thousandths. Sensors that are off show
// what cannot be.
func Celsius(v float64) float64 {
	if v > 1000 {
		v /= 1000
	}
	if v < 0 || v > 150 {
		return 0
	}
	return v
}

// cpuSeconds is how long all CPUs were busy, and how long stolen, by the text of
// /proc/stat, whose unit is USER_HZ, 100 a second on all architectures of today.
func cpuSeconds(stat string) (busy, stolen float64) {
	const hz = 100
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0, 0
	}
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		busy += Number(f[i]) / hz
	}
	return busy, Number(f[8]) / hz
}

// Number reads a number, 0 if it is none.
func Number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return v
}

func readText(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// Spare is what is left free on a disk, for other programs and for the notes.
const Spare = 64 << 20

// CheckSpace says whether so many bytes fit on the disk of a folder.
func CheckSpace(dir string, bytes int64, freeBytes func(string) (int64, bool)) error {
	free, known := freeBytes(dir)
	if known && free < bytes+Spare { // what cannot be asked is found out
		return fmt.Errorf("%s: %d MB free, the runs left need about %d MB and %d MB to spare: make room, or record to another disk", dir, free>>20, bytes>>20, Spare>>20)
	}
	return nil
}

// errFull is the error of a disk that filled up while a run was recorded.
var errFull = errors.New("no space left on the disk: make room and call again, runs that are there are kept")

// full reports whether the disk of a folder has next to nothing left.
func full(dir string) bool {
	free, known := FreeBytes(dir)
	return known && free < 64<<10
}
