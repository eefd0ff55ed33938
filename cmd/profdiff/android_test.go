package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"profdiff/internal/objfile"
	"profdiff/internal/perffile/perffiletest"
)

// devicePrograms are the programs that the device of scripts has.
var devicePrograms = []string{"simpleperf", "getprop", "setprop", "id", "uname", "pm", "dumpsys", "pidof", "df", "am"}

// androidDevice makes a device for testdata/android/adb, and returns what the
// environment has to be. It has the programs, if they are given, and an app with a
// library that its recordings hit.
func androidDevice(work string, programs []string) (env []string, err error) {
	from, err := filepath.Abs("testdata/android")
	if err != nil {
		return nil, err
	}
	device := filepath.Join(work, "device")
	for _, dir := range []string{"bin", "data/local/tmp", "data/app/com.example.app", "sys/class/thermal/thermal_zone0", "proc"} {
		if err := os.MkdirAll(filepath.Join(device, dir), 0o777); err != nil {
			return nil, err
		}
	}
	host := filepath.Join(work, "host")
	if err := os.Mkdir(host, 0o777); err != nil {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(from, "adb"), filepath.Join(host, "adb")); err != nil {
		return nil, err
	}
	for _, name := range programs {
		if err := os.Symlink(filepath.Join(from, "device"), filepath.Join(device, "bin", name)); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"devices": "0A1B device usb:1-1 product:shiba model:Pixel_8 device:shiba transport_id:1\n",
		"props": `ro.product.manufacturer=Google
ro.product.model=Pixel 8
ro.product.name=shiba
ro.build.fingerprint=google/shiba/shiba:14/UD1A.231105.004/11010374:user/release-keys
ro.build.version.release=14
ro.build.version.sdk=34
ro.product.cpu.abi=arm64-v8a
ro.soc.manufacturer=Google
ro.soc.model=Tensor G3
security.perf_harden=1
`,
		"packages":                             "com.example.app\n",
		"processes":                            "surfaceflinger 1\n",
		"sys/class/thermal/thermal_zone0/temp": "41500\n",
	} {
		if err := os.WriteFile(filepath.Join(device, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	profdiff, err := exec.LookPath("profdiff")
	if err != nil {
		return nil, err
	}
	return []string{"PROFDIFF=" + profdiff, "DEVICE=" + device, "PATH=" + host + string(os.PathListSeparator) + os.Getenv("PATH")}, nil
}

// deviceRecordings makes what simpleperf of the device of scripts writes: recordings after
// the change have half the time of recordings before it.
func deviceRecordings(device string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	library, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	object, err := objfile.New(bytes.NewReader(library), int64(len(library)))
	if err != nil {
		return err
	}
	apk, err := os.Create(filepath.Join(device, "data/app/com.example.app/base.apk"))
	if err != nil {
		return err
	}
	defer apk.Close()
	archive := zip.NewWriter(apk)
	entry, err := archive.CreateHeader(&zip.FileHeader{Name: "lib/arm64-v8a/libexample.so", Method: zip.Store})
	if err != nil {
		return err
	}
	if _, err := entry.Write(library); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	for name, first := range map[string]int{"recording": 1_000_000, "before": 2_000_000, "after": 1_000_000} {
		for n := range deviceRecordingsEach {
			period := first + n // no two recordings are alike
			if name == "recording" && n%2 == 0 {
				period *= 2
			}
			data, err := perffiletest.Build(deviceRecording(period, object.BuildID()))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(device, fmt.Sprintf("%s.%d.data", name, n+1)), data, 0o666); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(device, "library-id"), []byte(object.BuildID()[:2]+"/"+object.BuildID()[2:]), 0o666)
}

// deviceRecordingsEach is how many there are of each kind.
const deviceRecordingsEach = 8

// deviceRecording is the text of a recording with four samples.
func deviceRecording(period int, library string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `header
attr type=software config=0 size=128 sample_period=%d sample_type=IP|TID|TIME|ID|CPU|PERIOD flags=sample_id_all ids=[50]
MMAP2 misc=USER pid=7 tid=7 start=0x10000 len=4096 prot=READ|EXEC filename="/system/lib64/libgone.so" sample_id={pid=7,tid=7,time=1,id=50,cpu=0}
`, period)
	for i := range 4 {
		fmt.Fprintf(&b, "SAMPLE misc=USER ip=0x10010 pid=7 tid=7 time=%d id=50 cpu=1 period=%d\n", i+2, period)
	}
	fmt.Fprintf(&b, `feature BUILD_ID
build_id misc=KERNEL pid=-1 build_id=0102030405060708090a0b0c0d0e0f1011121314 filename="[kernel.kallsyms]"
build_id misc=USER pid=-1 build_id=1111111111111111111111111111111111111111 filename="/data/app/com.example.app/base.apk!/lib/arm64-v8a/libold.so"
build_id misc=USER pid=-1 build_id=%s filename="/data/app/com.example.app/base.apk!/lib/arm64-v8a/libexample.so"
build_id misc=USER pid=-1 build_id=2222222222222222222222222222222222222222 filename="/system/lib64/libgone.so"
feature FILE2
file2 path="/system/lib64/libgone.so" type=ELF min_vaddr=0x0
symbol2 vaddr=0x10 len=16 name="work"
feature META_INFO
meta key="simpleperf_version" value="1.build.1"
meta key="event_type_info" value="cpu-clock,1,0"
`, library)
	return b.Bytes()
}

// What was interrupted leaves no recorder behind on the device.
func TestRecordAndroidInterrupted(t *testing.T) {
	work := t.TempDir()
	env, err := androidDevice(work, devicePrograms)
	if err != nil {
		t.Fatal(err)
	}
	setenv(t, env)
	device := filepath.Join(work, "device")
	if err := os.WriteFile(filepath.Join(device, "processes"), []byte("com.example.app 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := deviceRecordings(device); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	noted := filepath.Join(device, "data/local/tmp/profdiff/pid")
	var pid string
	go func() {
		defer stop()
		for range 200 {
			if text, err := os.ReadFile(noted); err == nil && len(text) > 0 {
				pid = strings.TrimSpace(string(text))
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	dir := filepath.Join(work, "rec")
	var stderr bytes.Buffer
	args := []string{"record", "--with", "simpleperf", "--app", "com.example.app", "--before", "sleep 3", "--after", "sleep 3", "--seed", "20", "--runs", "1", "--warmup", "0", "-e", "cpu-clock", "-o", dir}
	if code := execute(ctx, args, nil, new(bytes.Buffer), &stderr); code != exitInput || !strings.Contains(stderr.String(), "before, run 1: context canceled") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if pid == "" {
		t.Fatal("nothing was recorded")
	}
	if line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err == nil && len(line) > 0 {
		t.Errorf("the recorder, process %s, still runs: %q", pid, line)
	}
	if _, err := os.Stat(filepath.Dir(noted)); err == nil {
		t.Error("the folder on the device is still there")
	}
}

func setenv(t *testing.T, env []string) {
	t.Helper()
	for _, e := range env {
		key, value, _ := strings.Cut(e, "=")
		t.Setenv(key, value)
	}
	t.Setenv("ANDROID_SERIAL", "")
}

var halved = regexp.MustCompile(`(?m)ratio 0\.[456]\d* \[.*\]: faster$`)

// TestSimpleperfLive records with a real simpleperf: sides are told apart, an app and a
// process are found, and off-CPU time is there.
func TestSimpleperfLive(t *testing.T) {
	needTool(t, "simpleperf")
	needTool(t, "bash")
	simpleperf, err := exec.LookPath("simpleperf")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	env, err := androidDevice(work, []string{"getprop", "setprop", "pm", "dumpsys", "am"})
	if err != nil {
		t.Fatal(err)
	}
	setenv(t, env)
	device := filepath.Join(work, "device")
	for name, text := range map[string]string{
		"data/local/tmp/loop.sh":            `i=0; while [ $i -lt $1 ]; do i=$((i + 1)); done; sleep 0.02; echo loops $1` + "\n",
		"data/local/tmp/app.sh":             "while :; do i=$((i + 1)); done\n",
		"data/app/com.example.app/base.apk": "",
		"packages":                          "com.example.app\n",
		"data/local/tmp/start.sh":           `cd "$DEVICE/data/local/tmp"; exec -a com.example.app sh app.sh 3<"$DEVICE/data/app/com.example.app/base.apk"` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(device, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	profdiff := func(t *testing.T, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := execute(t.Context(), args, nil, &out, &errs); code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		return out.String(), errs.String()
	}
	record := func(t *testing.T, dir, before, after string, args ...string) {
		t.Helper()
		args = append([]string{"record", "--with", "simpleperf", "--simpleperf", simpleperf, "--warmup", "0", "--before", before, "--after", after, "-o", dir}, args...)
		_, stderr := profdiff(t, args...)
		if !strings.Contains(stderr, " samples, 0 lost; ") || strings.Contains(stderr, "took no sample") {
			t.Errorf("it says %s", stderr)
		}
	}
	t.Run("command", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "rec")
		record(t, dir, "sh loop.sh 300000", "sh loop.sh 150000", "--runs", "6")
		stdout, _ := profdiff(t, "diff", dir, "--limit", "5")
		if !halved.MatchString(stdout) {
			t.Errorf("no decrease of the total in\n%s", stdout)
		}
	})
	t.Run("off-CPU", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "rec")
		record(t, dir, "sh loop.sh 100000", "sh loop.sh 100000", "--runs", "1", "--off-cpu")
		stdout, _ := profdiff(t, "show", filepath.Join(dir, "before", "01.data"))
		if !strings.Contains(stdout, "off-cpu (derived): ") || !strings.Contains(stdout, "nanosleep") {
			t.Errorf("no off-CPU time in\n%s", stdout)
		}
	})
	t.Run("app", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "rec")
		start := "bash start.sh & sleep 0.4; kill $!"
		record(t, dir, start, start, "--runs", "1", "--app", "com.example.app")
	})
	t.Run("process", func(t *testing.T) {
		app := exec.Command("sh", filepath.Join(device, "data/local/tmp/app.sh"))
		if err := app.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = app.Process.Kill()
			_ = app.Wait()
		}()
		dir := filepath.Join(t.TempDir(), "rec")
		record(t, dir, "true", "true", "--runs", "1", "--process", strconv.Itoa(app.Process.Pid), "--duration", "0.3")
	})
}
