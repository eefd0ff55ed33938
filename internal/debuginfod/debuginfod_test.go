package debuginfod

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	id      = "00112233445566778899aabbccddeeff00112233"
	otherID = "ff112233445566778899aabbccddeeff00112233"
)

// image is an ELF file with a build ID and size bytes of contents, the section headers last.
func image(t testing.TB, buildID string, size int) []byte {
	t.Helper()
	raw, err := hex.DecodeString(buildID)
	if err != nil {
		t.Fatal(err)
	}
	note := slices.Concat(
		binary.LittleEndian.AppendUint32(nil, 4), binary.LittleEndian.AppendUint32(nil, uint32(len(raw))),
		binary.LittleEndian.AppendUint32(nil, 3), []byte("GNU\x00"), raw)
	names := []byte("\x00.note.gnu.build-id\x00.debug_info\x00.shstrtab\x00")
	const start = 64
	sections := []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_NOTE), Off: start, Size: uint64(len(note)), Addralign: 4},
		{Name: 20, Type: uint32(elf.SHT_PROGBITS), Off: start + uint64(len(note)), Size: uint64(size), Addralign: 1},
		{Name: 32, Type: uint32(elf.SHT_STRTAB), Off: start + uint64(len(note)+size), Size: uint64(len(names)), Addralign: 1},
	}
	header := elf.Header64{
		Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: start + uint64(len(note)+size+len(names)),
		Ehsize: start, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: 3,
	}
	copy(header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var out bytes.Buffer
	for _, part := range []any{header, note, bytes.Repeat([]byte{'i'}, size), names, sections} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// setting is an environment with a cache of its own, and what a client said.
type setting struct {
	env      map[string]string
	dir      string
	warnings []string
}

func newSetting(t testing.TB, urls ...string) *setting {
	dir := filepath.Join(t.TempDir(), "cache")
	return &setting{dir: dir, env: map[string]string{
		"DEBUGINFOD_URLS": strings.Join(urls, " "), "DEBUGINFOD_CACHE_PATH": dir, "DEBUGINFOD_TIMEOUT": "1",
	}}
}

func (s *setting) client(t testing.TB) *Client {
	t.Helper()
	c := New(t.Context(), Options{
		Getenv: func(name string) string { return s.env[name] },
		Warn:   func(text string) { s.warnings = append(s.warnings, text) },
	})
	if c == nil {
		t.Fatalf("no client; warnings: %q", s.warnings)
	}
	return c
}

// left are the files in the cache besides those that say how long it keeps what.
func (s *setting) left(t testing.TB) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(s.dir, name)
		names = append(names, fmt.Sprintf("%s %d", rel, info.Size()))
	}
	return names
}

// serve starts a server and counts its requests.
func serve(t testing.TB, handler http.HandlerFunc) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL, requests
}

func TestFind(t *testing.T) {
	data := image(t, id, 5000)
	modified := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	url, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("X-DEBUGINFOD-MAXSIZE") + r.Header.Get("X-Key") + r.UserAgent(); got != "100000secret"+"me" {
			t.Errorf("headers: %q", got)
		}
		if r.URL.Path != "/x/buildid/"+id+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data)
	})
	none, asked := serve(t, http.NotFound)
	s := newSetting(t, none, url+"/x/", url+"/x")
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("X-Key: secret\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env["DEBUGINFOD_HEADERS_FILE"] = headers
	s.env["DEBUGINFOD_MAXSIZE"] = "100000"
	var log strings.Builder
	s.env["DEBUGINFOD_VERBOSE"] = "1"
	var progress []Progress
	c := New(t.Context(), Options{
		Getenv: func(name string) string { return s.env[name] }, Warn: func(text string) { t.Error(text) }, UserAgent: "me",
		Log: &log, Progress: func(p Progress) { progress = append(progress, p) },
	})
	path, err := c.Find(Debuginfo, id, "libx.so")
	if want := filepath.Join(s.dir, id, "debuginfo"); path != want || err != nil {
		t.Fatalf("got %q, %v, want %q", path, err, want)
	}
	if got, err := os.ReadFile(path); !bytes.Equal(got, data) || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o400 || !info.ModTime().Equal(modified) {
		t.Errorf("got %v, %v", info, err)
	}
	if n := len(progress); n < 2 || progress[0].Name != "libx.so" || progress[0].Total != int64(len(data)) || progress[n-1] != (Progress{}) {
		t.Errorf("progress: %v", progress)
	}
	if _, err := c.Find(Executable, id, "libx.so"); !errors.Is(err, ErrNotFound) {
		t.Errorf("executable: got %v", err)
	}
	if got := log.String(); !strings.Contains(got, "debuginfod: "+url+"/x/buildid/"+id+"/debuginfo: 200 OK\n") || !strings.Contains(got, "404 Not Found\n") {
		t.Errorf("log: %s", got)
	}
	want := []string{id + "/debuginfo " + fmt.Sprint(len(data)), id + "/executable 0"}
	if got := s.left(t); !cmp.Equal(got, want) {
		t.Errorf("cache: %s", cmp.Diff(want, got))
	}
	// Another command asks nobody, whether the file was there or not.
	n := requests.Load() + asked.Load()
	c = s.client(t)
	if got, err := c.Find(Debuginfo, id, "libx.so"); got != path || err != nil {
		t.Errorf("from the cache: got %q, %v", got, err)
	}
	if _, err := c.Find(Executable, id, "libx.so"); !errors.Is(err, ErrNotFound) {
		t.Errorf("executable, remembered: got %v", err)
	}
	if got := requests.Load() + asked.Load(); got != n {
		t.Errorf("%d more requests", got-n)
	}
	// What was not there is asked for again after a while, which a file of the cache says.
	if err := os.WriteFile(filepath.Join(s.dir, "cache_miss_s"), []byte("5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(s.dir, id, "executable"), old, old); err != nil {
		t.Fatal(err)
	}
	s.env["DEBUGINFOD_HEADERS_FILE"], s.env["DEBUGINFOD_URLS"] = "", none
	if _, err := s.client(t).Find(Executable, id, "libx.so"); !errors.Is(err, ErrNotFound) || asked.Load() == 0 || requests.Load()+asked.Load() != n+1 {
		t.Errorf("executable, after a while: got %v, %d more requests", err, requests.Load()+asked.Load()-n)
	}
	// What the cache holds is checked: somebody else may have put it there.
	if err := os.Rename(path, path+".whole"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, image(t, otherID, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.client(t).Find(Debuginfo, id, "libx.so"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another file in the cache: got %q, %v", got, err)
	}
}

// TestServers are servers that do not send the file, as they do on purpose or because
// something is between.
func TestServers(t *testing.T) {
	data := image(t, id, 300_000)
	stop := make(chan struct{})
	defer close(stop)
	wait := func(r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	// raw answers with bytes as they are.
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(conn, answer)
			conn.Close()
		}
	}
	here, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	tests := []struct {
		name    string
		handler http.HandlerFunc
		maxSize string
		warning string // with S for the server; "" if the file is found
		again   bool   // whether the server is asked for another file
		slow    bool
	}{
		{"good", func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }, "", "", true, false},
		{"without its length", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(data)
		}, "", "", true, false},
		{"sent on", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, here+r.URL.Path, http.StatusFound) }, "", "", true, false},
		{
			"a page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>log in first") }, "",
			"S is not asked any more, after it was for libx.so: what it sent is not the file: ELF header: not an ELF file at 0x0", false, false,
		},
		{
			"empty", func(http.ResponseWriter, *http.Request) {}, "",
			"S is not asked any more, after it was for libx.so: what it sent is not the file: ELF header: not an ELF file at 0x0", false, false,
		},
		{
			"another build", func(w http.ResponseWriter, _ *http.Request) { w.Write(image(t, otherID, 10)) }, "",
			"S is not asked any more, after it was for libx.so: what it sent is not the file: its build ID is " + otherID + ", not " + id, false, false,
		},
		{
			"cut off", raw("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + string(data[:1000])), "",
			"S is not asked any more, after it was for libx.so: unexpected EOF", false, false,
		},
		{
			"cut off, chunked", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + string(data[:1000])), "",
			"S is not asked any more, after it was for libx.so: unexpected EOF", false, false,
		},
		{
			"cut off, without its length", raw("HTTP/1.0 200 OK\r\n\r\n" + string(data[:1000])), "",
			fmt.Sprintf("S is not asked any more, after it was for libx.so: what it sent is not the file: section headers: 256 bytes exceed the file of 1000 bytes at %#x", len(data)-256), false, false,
		},
		{
			"cut off, with its size", raw("HTTP/1.0 200 OK\r\nX-DEBUGINFOD-SIZE: 300\r\n\r\n" + string(data[:200])), "",
			"S is not asked any more, after it was for libx.so: it sent 200 of 300 bytes", false, false,
		},
		{"no HTTP", raw("\x7fELF, come and get it"), "", `S is not asked any more, after it was for libx.so: net/http: HTTP/1.x transport connection broken: malformed HTTP status code "come"`, false, false},
		{
			"failing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "",
			"S is not asked any more, after it was for libx.so: it answered 502 Bad Gateway", false, false,
		},
		{
			"too large by its own word", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotAcceptable) }, "1000",
			"libx.so of S is not taken: it is larger than 1000 bytes, which DEBUGINFOD_MAXSIZE can change", true, false,
		},
		{"too large", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data)
		}, "1000", "libx.so of S is not taken: it is larger than 1000 bytes, which DEBUGINFOD_MAXSIZE can change", true, false},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(data); err != nil {
					return
				}
			}
		}, "1000000", "libx.so of S is not taken: it is larger than 1000000 bytes, which DEBUGINFOD_MAXSIZE can change", true, false},
		{
			"silent", func(_ http.ResponseWriter, r *http.Request) { wait(r) }, "",
			"S is not asked any more, after it was for libx.so: it sent less than 100 KiB in DEBUGINFOD_TIMEOUT", false, true,
		},
		{"silent in between", func(w http.ResponseWriter, r *http.Request) {
			w.Write(data[:150_000])
			w.(http.Flusher).Flush()
			wait(r)
		}, "", "S is not asked any more, after it was for libx.so: it sent less than 100 KiB in DEBUGINFOD_TIMEOUT", false, true},
		{"slow", func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(data) && r.Context().Err() == nil; i++ {
				w.Write(data[i : i+1])
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, "", "S is not asked any more, after it was for libx.so: it sent less than 100 KiB in DEBUGINFOD_TIMEOUT", false, true},
		{
			"in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "",
			"S is not asked any more, after it was for libx.so: more than 5 redirections", false, false,
		},
		{"to a file of this machine", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "", "S is not asked any more, after it was for libx.so: a redirection from http to file", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url, requests := serve(t, test.handler)
			s := newSetting(t, url)
			s.env["DEBUGINFOD_MAXSIZE"] = test.maxSize
			c := s.client(t)
			if test.slow {
				c.timeout = 100 * time.Millisecond
			}
			_, err := c.Find(Debuginfo, id, "libx.so")
			if test.warning == "" {
				if err != nil || s.warnings != nil || len(s.left(t)) != 1 {
					t.Errorf("got %v, warnings %q, cache %q", err, s.warnings, s.left(t))
				}
				return
			}
			want := []string{"debuginfod: " + strings.ReplaceAll(test.warning, "S ", strings.TrimPrefix(url, "http://")+" ")}
			if !errors.Is(err, ErrFailed) || !cmp.Equal(s.warnings, want) {
				t.Errorf("got %v: %s", err, cmp.Diff(want, s.warnings))
			}
			if left := s.left(t); left != nil {
				t.Errorf("the cache holds %q", left)
			}
			n := requests.Load()
			c.Find(Executable, id, "libx.so")
			if again := requests.Load() > n; again != test.again {
				t.Errorf("asked again: %v", again)
			}
			if !test.again && len(s.warnings) > 1 {
				t.Errorf("warnings: %q", s.warnings)
			}
			// Beside a server that has the file nothing of this is in the way, and it
			// is kept; what is not known is not taken for missing.
			s = newSetting(t, url, here)
			s.env["DEBUGINFOD_MAXSIZE"] = "1000000"
			if _, err := s.client(t).Find(Debuginfo, id, "libx.so"); err != nil {
				t.Errorf("with another server: %v", err)
			}
		})
	}
}

func TestTime(t *testing.T) {
	url, requests := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := newSetting(t, url)
	s.env["DEBUGINFOD_TIMEOUT"], s.env["DEBUGINFOD_MAXTIME"] = "0", "1"
	c := s.client(t)
	c.left = 1100 * time.Millisecond
	for i, name := range []string{"a", "b", "c", "d"} {
		if _, err := c.Find(Debuginfo, fmt.Sprintf("%02x", i), name); !errors.Is(err, ErrFailed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if requests.Load() != 2 || len(s.warnings) != 3 {
		t.Errorf("%d requests, warnings %q", requests.Load(), s.warnings)
	}
	for i, want := range []string{
		"debuginfod: a was not there after 1s; DEBUGINFOD_MAXTIME=SECONDS allows more",
		"debuginfod: b was not there after ",
		"debuginfod: c and more are not asked for: servers were waited for long enough. What arrived is kept, so that another try goes on; DEBUGINFOD_MAXTIME=SECONDS allows more",
	} {
		if i >= len(s.warnings) || !strings.HasPrefix(s.warnings[i], want) {
			t.Errorf("got %q, want %q", s.warnings, want)
		}
	}
	// A command that is interrupted waits for nobody, and warns of nothing.
	ctx, cancel := context.WithCancel(t.Context())
	c = New(ctx, Options{Getenv: func(name string) string { return s.env[name] }, Warn: func(text string) { t.Error(text) }})
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Find(Debuginfo, id, "a"); !errors.Is(err, ErrFailed) {
		t.Errorf("interrupted: got %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	s := newSetting(t, gone.URL)
	c := s.client(t)
	for range 2 {
		for _, kind := range []Kind{Debuginfo, Executable} {
			if _, err := c.Find(kind, id, "libx.so"); !errors.Is(err, ErrFailed) {
				t.Errorf("got %v", err)
			}
		}
	}
	if len(s.warnings) != 1 || !strings.Contains(s.warnings[0], "connection refused") || s.left(t) != nil {
		t.Errorf("warnings %q, cache %q", s.warnings, s.left(t))
	}
}

func TestFileServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.MkdirAll(filepath.Join(dir, "buildid", id), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "buildid", id, "debuginfo"), image(t, id, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSetting(t, "file://"+strings.ReplaceAll(dir, " ", "%20"))
	c := s.client(t)
	if _, err := c.Find(Debuginfo, id, "libx.so"); err != nil {
		t.Errorf("got %v; warnings %q", err, s.warnings)
	}
	if _, err := c.Find(Executable, id, "libx.so"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v; warnings %q", err, s.warnings)
	}
}

// TestBuildIDs asks for what is no build ID: recordings may hold anything.
func TestBuildIDs(t *testing.T) {
	url, requests := serve(t, http.NotFound)
	s := newSetting(t, url)
	c := s.client(t)
	for _, bad := range []string{"", "0", "abc", "../../../../etc", "ABCD", "ab/d", strings.Repeat("ab", 65), "a\x00"} {
		if _, err := c.Find(Debuginfo, bad, "libx.so"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	if requests.Load() > 0 || s.left(t) != nil {
		t.Errorf("%d requests, cache %q", requests.Load(), s.left(t))
	}
}

func TestEnvironment(t *testing.T) {
	home := t.TempDir()
	tests := []struct {
		name     string
		env      map[string]string
		old      bool // the directory of old clients is there
		servers  []string
		dir      string
		timeout  time.Duration
		warnings []string
	}{
		{name: "nothing", env: map[string]string{"HOME": home}},
		{name: "spaces", env: map[string]string{"HOME": home, "DEBUGINFOD_URLS": "  "}},
		{
			name: "several", env: map[string]string{"HOME": home, "DEBUGINFOD_URLS": " https://a.org  http://b.org:8002/x/ https://a.org/ ftp://c.org d.org file:///srv"},
			servers: []string{"https://a.org/buildid", "http://b.org:8002/x/buildid", "file:///srv/buildid"}, dir: home + "/.cache/debuginfod_client", timeout: defaultTimeout,
			warnings: []string{
				"DEBUGINFOD_URLS: ftp://c.org is passed over: it is no address that starts with https://, http:// or file://",
				"DEBUGINFOD_URLS: d.org is passed over: it is no address that starts with https://, http:// or file://",
			},
		},
		{
			name: "signed", env: map[string]string{"HOME": home, "XDG_CACHE_HOME": "/xdg", "DEBUGINFOD_URLS": "ima:enforcing https://a.org ima:ignore https://b.org"},
			servers: []string{"https://b.org/buildid"}, dir: "/xdg/debuginfod_client", timeout: defaultTimeout,
			warnings: []string{"DEBUGINFOD_URLS: https://a.org is passed over: its files are to be signed, which is not checked here"},
		},
		{
			name: "old cache", env: map[string]string{"HOME": home, "XDG_CACHE_HOME": "/xdg", "DEBUGINFOD_URLS": "https://a.org", "DEBUGINFOD_TIMEOUT": "soon"}, old: true,
			servers: []string{"https://a.org/buildid"}, dir: home + "/.debuginfod_client_cache", timeout: defaultTimeout,
			warnings: []string{"DEBUGINFOD_TIMEOUT=soon is not used: it is no number"},
		},
		{
			name: "no bound", env: map[string]string{"DEBUGINFOD_CACHE_PATH": "/c", "DEBUGINFOD_URLS": "https://a.org", "DEBUGINFOD_TIMEOUT": "-1"},
			servers: []string{"https://a.org/buildid"}, dir: "/c",
		},
		{
			name: "no home", env: map[string]string{"DEBUGINFOD_URLS": "https://a.org"},
			warnings: []string{"debuginfod is not asked: without HOME there is no place for its cache, which DEBUGINFOD_CACHE_PATH can name"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old := filepath.Join(home, ".debuginfod_client_cache")
			if test.old {
				if err := os.Mkdir(old, 0o700); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(old)
			}
			var warnings, servers []string
			c := New(t.Context(), Options{Getenv: func(name string) string { return test.env[name] }, Warn: func(text string) { warnings = append(warnings, text) }})
			if !cmp.Equal(warnings, test.warnings) {
				t.Errorf("warnings: %s", cmp.Diff(test.warnings, warnings))
			}
			if c == nil {
				if test.servers != nil {
					t.Error("no client")
				}
				return
			}
			for _, s := range c.servers {
				servers = append(servers, s.base)
			}
			if !cmp.Equal(servers, test.servers) || c.cache.dir != test.dir || c.timeout != test.timeout {
				t.Errorf("got servers %q, cache %s, timeout %v", servers, c.cache.dir, c.timeout)
			}
		})
	}
}

// TestClean removes from the cache what nobody used for a week, and nothing else.
func TestClean(t *testing.T) {
	url, _ := serve(t, http.NotFound)
	s := newSetting(t, url)
	long := time.Now().Add(-8 * 24 * time.Hour)
	files := map[string]time.Time{ // when it was used
		"00/debuginfo": long, "01/debuginfo": time.Now(), "02/executable": long, "02/debuginfo": time.Now(),
		"03/source-00-#a.c": long, "mine/debuginfo": long, "04/notes": long, "cache_clean_interval_s": long,
	}
	for name, used := range files {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("3600"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, used, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(s.dir, "00"), long, long); err != nil {
		t.Fatal(err)
	}
	s.client(t).Find(Debuginfo, id, "libx.so")
	want := []string{id + "/debuginfo 0", "01/debuginfo 4", "02/debuginfo 4", "04/notes 4", "mine/debuginfo 4"}
	slices.Sort(want)
	if got := s.left(t); !cmp.Equal(got, want) {
		t.Errorf("after cleaning: %s", cmp.Diff(want, got))
	}
	for name, want := range map[string]string{"cache_clean_interval_s": "3600", "max_unused_age_s": "604800", "cache_miss_s": "600"} {
		switch got, err := os.ReadFile(filepath.Join(s.dir, name)); {
		case name == "cache_miss_s" && errors.Is(err, os.ErrNotExist): // nothing was missed before
		case string(got) != want || err != nil:
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestCacheWithoutPlace(t *testing.T) {
	url, requests := serve(t, http.NotFound)
	s := newSetting(t, url)
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := s.client(t)
	for _, kind := range []Kind{Debuginfo, Executable} {
		if _, err := c.Find(kind, id, "libx.so"); !errors.Is(err, ErrFailed) {
			t.Errorf("got %v", err)
		}
	}
	if len(s.warnings) != 1 || !strings.Contains(s.warnings[0], "its cache cannot be used") || requests.Load() > 0 {
		t.Errorf("%d requests, warnings %q", requests.Load(), s.warnings)
	}
}
