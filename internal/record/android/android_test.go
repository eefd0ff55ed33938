package android

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/record"
)

func TestDeviceCommand(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"./bench -n 5", "./bench -n 5"},
		{"./bench 'a b' | head", `sh -c './bench '\''a b'\'' | head'`},
		{"am start -W com.example/.Main", "am start -W com.example/.Main"},
	} {
		if got := deviceCommand(test.command); got != test.want {
			t.Errorf("%s: %s, want %s", test.command, got, test.want)
		}
	}
}

func TestParseDevices(t *testing.T) {
	const text = `* daemon not running; starting now at tcp:5037
* daemon started successfully
List of devices attached
0A1B                   device usb:1-1 product:shiba model:Pixel_8 device:shiba transport_id:1
emulator-5554          offline transport_id:2
????????????           no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html]
192.168.1.5:5555       unauthorized transport_id:4

`
	want := []attached{
		{"0A1B", "device", "Pixel_8"}, {"emulator-5554", "offline", ""}, {"????????????", "no permissions", ""}, {"192.168.1.5:5555", "unauthorized", ""},
	}
	if diff := cmp.Diff(want, parseDevices(text), cmp.AllowUnexported(attached{})); diff != "" {
		t.Error(diff)
	}
	if got, want := deviceNames(want), "0A1B (Pixel_8), emulator-5554 (offline), ???????????? (no permissions), 192.168.1.5:5555 (unauthorized)"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
}

func TestParseCounts(t *testing.T) {
	const text = `7,cpu-cycles,this is what the command printed
Performance counter statistics,
0.791460(ms),cpu-clock,,
123456789,cpu-cycles:u,1.5,GHz,(91%)
64,raw-br-mis-pred,874.475,/sec,
Total test time,0.171681,seconds,
`
	got, err := parseCounts(text, []string{"cpu-clock", "cpu-cycles:u", "r10"})
	if err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]float64{"cpu-clock": 791460, "cpu-cycles:u": 123456789, "r10": 64} {
		if got.Events[event] != want {
			t.Errorf("%s: %v, want %v", event, got.Events[event], want)
		}
	}
	if got.Seconds != 0.171681 {
		t.Errorf("%v s", got.Seconds)
	}
	if _, err := parseCounts(text, []string{"branch-misses"}); err == nil || err.Error() != "simpleperf stat did not count branch-misses" {
		t.Errorf("an event that is not there: %v", err)
	}
}

func TestExplainSimpleperf(t *testing.T) {
	for _, test := range []struct{ stderr, want string }{
		{"simpleperf E event_selection_set.cpp:257] Event type 'cpu-cycles' is not supported on the device", "cpu-cycles is not supported on the device: -e cpu-clock records time"},
		{"simpleperf E event_type.cpp:503] Unknown event_type 'foo', try `simpleperf list` to list all possible event type names", "simpleperf does not know the event foo: "},
		{"simpleperf E workload.cpp:157] child process failed to execvp(./bench): No such file or directory\nsimpleperf E workload.cpp:190] received error message from child process", "the device cannot run ./bench: no such file or directory "},
		{"simpleperf E utils.cpp:440] no process with pid 99", "the process ended before it could be recorded: no process with pid 99"},
		{"simpleperf E environment.cpp:834] Package com.example isn't debuggable/profileable.", "the app may not be recorded: "},
		{"simpleperf E environment.cpp:321] /proc/sys/kernel/perf_event_paranoid is 3, disallowing user profiling for unpriv.", "the device does not allow to record: /proc/sys/kernel/perf_event_paranoid is 3"},
		{"simpleperf W cmd_record.cpp:1] low on memory\nsimpleperf E record_file_writer.cpp:274] failed to write to record file '/data/local/tmp/profdiff/perf.data': No space left on device", "no space left on the device: "},
		{"simpleperf E cmd_record.cpp:1412] Can't trace off cpu because sched:sched_switch event is not available", "the device cannot record off-CPU time: "},
		{"simpleperf E cmd_record.cpp:1363] System wide profiling needs root privilege.", "the whole system can be recorded by root only"},
		{"simpleperf E event_selection_set.cpp:742] failed to open perf event file for event_type cpu-cycles for threads 7: Permission denied", "the device does not allow to record: permission denied"},
		{"simpleperf E event_selection_set.cpp:555] dwarf callchain sampling is not supported on this device.", "the device has no call chains by dwarf"},
		{"simpleperf E cmd_record.cpp:1] something new\nsimpleperf E cmd_record.cpp:2] more of it", "simpleperf: something new"},
		{"Segmentation fault", "simpleperf: exit status 139: Segmentation fault"},
	} {
		got := explainSimpleperf(&reply{status: 139, stderr: []byte(test.stderr + "\n")}).Error()
		if !strings.HasPrefix(got, test.want) || strings.Contains(got, "\n") {
			t.Errorf("%q:\n%s, want %s", test.stderr, got, test.want)
		}
	}
}

func TestCommandError(t *testing.T) {
	for _, test := range []struct{ command, output, want string }{
		{"am start -W a/.B", "Starting: Intent { }\nStatus: ok\nTotalTime: 350\n", ""},
		{"am start -W a/.B", "Starting: Intent { }\nError type 3\nError: Activity class {a/.B} does not exist.\n", "am: Error type 3"},
		{"am instrument -w a/b", "INSTRUMENTATION_FAILED: a/b\n", "am: INSTRUMENTATION_FAILED: a/b"},
		{"am instrument -w a/b", "FAILURES!!!\nTests run: 1,  Failures: 1\n", "am: FAILURES!!!"},
		{"./bench", "Error: is a word that a benchmark may print\n", ""},
	} {
		got := ""
		if err := commandError(test.command, []byte(test.output)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.command, got, test.want)
		}
	}
}

func TestDeviceCPU(t *testing.T) {
	var arm strings.Builder
	for i, part := range []string{"0xd46", "0xd46", "0xd4d", "0xd44"} {
		fmt.Fprintf(&arm, "processor\t: %d\nBogoMIPS\t: 49.15\nCPU implementer\t: 0x41\nCPU part\t: %s\n\n", i, part)
	}
	name, cores := deviceCPU(arm.String())
	if want := "2 of implementer 0x41 part 0xd46, 1 of implementer 0x41 part 0xd4d, 1 of implementer 0x41 part 0xd44"; name != want || cores != 4 {
		t.Errorf("%d cores, %s, want %s", cores, name, want)
	}
	name, cores = deviceCPU("processor\t: 0\nmodel name\t: Intel Atom\ncpu family\t: 6\nmodel\t: 90\nstepping\t: 3\n")
	if want := "Intel Atom (family 6, model 90, stepping 3)"; name != want || cores != 1 {
		t.Errorf("%d cores, %s, want %s", cores, name, want)
	}
}

func TestDeviceConditions(t *testing.T) {
	const thermal = `IsStatusOverride: false
Thermal Status: 3
Cached temperatures:
	Temperature{mValue=31.0, mType=2, mName=battery, mStatus=0}
	Temperature{mValue=44.54, mType=3, mName=skin, mStatus=3}
`
	const text = `/proc/loadavg=5.25 4.10 3.90 2/4711 12345
/proc/uptime=1000.50 7000.00
/proc/stat=cpu  100 20 300 4000 50 6 7 0 0 0
/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq=300000
/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq=2000000
/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq=1700000
/sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq=2900000
pid 77=77 (a (b) c) S 1 77 0 0 -1 4194560 1 2 3 4 150 50 0 0 20 0
` + thermal
	c := parseMoment(parseValues(text), text)
	want := &record.Moment{
		Load: 5.25, FrequencyMHz: 1150, FrequencyLimitMHz: 2300, Celsius: 44.5, ThermalStatus: 3,
		Busy: 4.33, Uptime: 1000.5, Processes: map[string]float64{"77": 2},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if got := parseMoment(parseValues("/sys/class/thermal/thermal_zone0/temp=38500\n/sys/class/thermal/thermal_zone1/temp=-273000\n"), ""); got.Celsius != 38.5 || !got.BusyUnknown {
		t.Errorf("thermal zones, and no CPU times: %+v", got)
	}
	if user, system := shellTimes("recorder=0\n0m0.01s 0m0.02s\n1m02.50s 0m00.25s\n"); user != 62500*time.Millisecond || system != 250*time.Millisecond {
		t.Errorf("times of the shell: %v, %v", user, system)
	}
}

func TestCheck(t *testing.T) {
	b := new(Backend)
	for _, test := range []struct {
		change func(*record.Plan)
		want   string
	}{
		{func(*record.Plan) {}, ""},
		{func(p *record.Plan) { p.CallGraph = "lbr" }, "no call chains by lbr"},
		{func(p *record.Plan) { p.App, p.Process = "a", "b" }, "an app or a process"},
		{func(p *record.Plan) { p.App, p.SystemWide = "a", true }, "the system is recorded"},
		{func(p *record.Plan) { p.App = "a$(reboot)" }, "no name of a package"},
		{func(p *record.Plan) { p.OffCPU = true }, ""},
		{func(p *record.Plan) { p.OffCPU, p.Events = true, []record.Event{{Name: "cpu-clock:u"}} }, ""},
		{func(p *record.Plan) {
			p.OffCPU, p.Events = true, []record.Event{{Name: "cpu-clock"}, {Name: "task-clock"}}
		}, "with one event"},
		{func(p *record.Plan) { p.OffCPU, p.Events = true, []record.Event{{Name: "cpu-cycles"}} }, "with one event"},
	} {
		p := &record.Plan{CallGraph: "fp"}
		test.change(p)
		err := b.check(p)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", p, err, test.want)
		}
	}
}
