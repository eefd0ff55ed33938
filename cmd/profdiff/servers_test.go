package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// port returns a port that nothing listens on.
func port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// started starts a server and waits until it answers with a status.
func started(t *testing.T, url string, status int, dir, program string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s", text[max(0, len(text)-3000):])
		}
		log.Close()
	})
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == status {
				return
			}
		}
	}
	t.Fatalf("%s does not answer", program)
}

// TestServers sends recordings to real servers and asks for them again: the totals are the same.
// PROFDIFF_SERVERS is where .ci/servers built the servers.
func TestServers(t *testing.T) {
	programs := os.Getenv("PROFDIFF_SERVERS")
	if programs == "" {
		t.Skip("PROFDIFF_SERVERS is not set: .ci/servers builds servers and runs this")
	}
	recordings := []string{"../../profiles/message-heap/before/01.data", "../../profiles/message-heap/before/02.data", "../../profiles/xz-decoder/before/01.data"}
	for _, tt := range []struct {
		name  string
		start func(t *testing.T, dir string) (host string)
	}{
		{"pyroscope", func(t *testing.T, dir string) string {
			web, grpc, members := port(t), port(t), port(t)
			config := fmt.Sprintf("server: {http_listen_port: %d, grpc_listen_port: %d}\nanalytics: {reporting_enabled: false}\nself_profiling: {disable_push: true}\nmemberlist: {bind_addr: [127.0.0.1], bind_port: %d}\n", web, grpc, members)
			if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
			started(t, fmt.Sprintf("http://127.0.0.1:%d/ready", web), http.StatusOK, dir, filepath.Join(programs, "pyroscope-1.2.0"), "-config.file=config.yaml")
			return fmt.Sprintf("127.0.0.1:%d", web)
		}},
		{"parca", func(t *testing.T, dir string) string {
			port := port(t)
			config := "object_storage: {bucket: {type: FILESYSTEM, config: {directory: ./data}}}\n"
			if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
			started(t, fmt.Sprintf("http://127.0.0.1:%d/", port), http.StatusOK, dir, filepath.Join(programs, "parca-0.21.0"), "--config-path=config.yaml", fmt.Sprintf("--http-address=127.0.0.1:%d", port), "--storage-active-memory=268435456")
			return fmt.Sprintf("127.0.0.1:%d", port)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := tt.start(t, t.TempDir())
			for i, files := range [][]string{recordings[:2], recordings[2:]} {
				address := fmt.Sprintf("%s://%s/service-%d", tt.name, host, i)
				for _, file := range files {
					code, _, stderr := printed(t, "convert", file, "-o", address+"?at=now")
					for range 60 { // a server that has just started refuses with 500
						if code == exitOK {
							break
						}
						time.Sleep(time.Second)
						code, _, stderr = printed(t, "convert", file, "-o", address+"?at=now")
					}
					if code != exitOK {
						t.Fatalf("%s: %s", file, stderr)
					}
				}
				_, want, _ := printed(t, append([]string{"convert", "--to", "json", "-o", "-"}, files...)...)
				weight := regexp.MustCompile(`"weight": [0-9]+,`)
				var got, stderr string
				for range 20 { // a server answers when it has stored
					if _, got, stderr = printed(t, "convert", address, "--to", "json", "-o", "-"); weight.FindString(got) == weight.FindString(want) {
						break
					}
					time.Sleep(500 * time.Millisecond)
				}
				if w := weight.FindString(want); w == "" || weight.FindString(got) != w {
					t.Errorf("%s: %s, want %s: %s", address, weight.FindString(got), w, stderr)
				}
				t.Logf("%s: %s", address, weight.FindString(got))
			}
			if _, _, stderr := printed(t, "show", tt.name+"://"+host+"/nobody"); !strings.Contains(stderr, "service-0, service-1") {
				t.Errorf("of a service that is not there: %s", stderr)
			}
		})
	}
}

// TestCollector sends recordings to a collector of OpenTelemetry, which prints the samples that came: it keeps nothing.
func TestCollector(t *testing.T) {
	programs := os.Getenv("PROFDIFF_SERVERS")
	if programs == "" {
		t.Skip("PROFDIFF_SERVERS is not set: .ci/servers builds servers and runs this")
	}
	dir, host := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", port(t))
	config := fmt.Sprintf(`receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {profiles: {receivers: [otlp], exporters: [debug]}}
`, host)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	// It has no page: what it says of a request that is none tells that it answers.
	started(t, "http://"+host+"/", http.StatusNotFound, dir, filepath.Join(programs, "otelcol-0.165.0"), "--config=file:config.yaml", "--feature-gates=+service.profilesSupport")
	want := int64(0)
	weight, count, values := regexp.MustCompile(`"weight": ([0-9]+),`), regexp.MustCompile(`samples: ([0-9]+) in`), regexp.MustCompile(`Values: \[([0-9]+)\]`)
	for _, file := range []string{"../../profiles/message-heap/before/01.data", "../../profiles/xz-decoder/before/01.data"} {
		if code, _, stderr := printed(t, "convert", file, "-o", "otlp://"+host); code != exitOK {
			t.Fatalf("%s: %s", file, stderr)
		}
		_, text, stderr := printed(t, "convert", "--to", "json", "-o", "-", file)
		weighs, counted := weight.FindStringSubmatch(text), count.FindStringSubmatch(stderr)
		if weighs == nil || counted == nil {
			t.Fatalf("%s: no weight, or no count: %s", file, stderr)
		}
		// There are two profiles of each: what samples weigh, and how many there are.
		want += number(t, weighs[1]) + number(t, counted[1])
		// Its log has what came until now.
		got, records := int64(0), 0
		for range 20 {
			log, err := os.ReadFile(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			got, records = 0, 0
			for _, m := range values.FindAllStringSubmatch(string(log), -1) {
				got += number(t, m[1])
				records++
			}
			if got == want {
				break
			}
			time.Sleep(500 * time.Millisecond)
		}
		if got != want {
			t.Errorf("%s: values of samples add up to %d until now, want %d", file, got, want)
		}
		t.Logf("%d samples add up to %d", records, got)
	}
}
