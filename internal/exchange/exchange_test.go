package exchange

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/exchange/transport"
	"profdiff/internal/protobuf"
)

// golden is what a real server answered: Pyroscope 1.2.0 and Parca 0.21.0, after two recordings
// of profiles/message-heap were sent to them. The first five bytes of gRPC are left out.
func golden(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A server plays a store: it answers calls by their paths, and keeps what it was asked.
type server struct {
	*httptest.Server
	answers  map[string]string // names of golden files, or what starts with =, by path
	requests []string
}

// newServer starts a server. Of gRPC, answers are messages behind five bytes, with the outcome behind
// them.
func newServer(t *testing.T, answers map[string]string) *server {
	s := &server{answers: answers}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		grpc := r.Header.Get("Content-Type") == "application/grpc"
		if grpc {
			if r.ProtoMajor != 2 || r.Header.Get("Te") != "trailers" || len(body) < 5 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-5 {
				t.Errorf("%s: %s, %v, %d bytes", r.URL.Path, r.Proto, r.Header, len(body))
			}
			body = body[5:]
		}
		s.requests = append(s.requests, r.URL.Path+" "+r.Header.Get("Content-Type")+" "+text(body))
		name, ok := s.answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		answer, made := strings.CutPrefix(name, "=")
		if !made {
			answer = string(golden(t, name))
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		if grpc {
			answer = string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer)))) + answer
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
		_, _ = io.WriteString(w, answer)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// address is an address on the server.
func (s *server) address(scheme, rest string) string {
	return scheme + "://" + strings.TrimPrefix(s.URL, "http://") + rest
}

// text shows a message: its fields with their numbers, those that are long by their size.
func text(message []byte) string {
	var list []string
	err := protobuf.Each(message, func(f protowire.Number, body []byte, number uint64) {
		inner := text(body)
		switch {
		case body == nil:
			list = append(list, fmt.Sprintf("%d=%d", f, number))
		case len(body) > 200:
			list = append(list, fmt.Sprintf("%d=…", f))
		case strings.ContainsFunc(string(body), func(r rune) bool { return r < ' ' }) && inner != "?":
			list = append(list, fmt.Sprintf("%d={%s}", f, inner))
		default:
			list = append(list, fmt.Sprintf("%d=%s", f, body))
		}
	})
	if err != nil {
		return "?"
	}
	return strings.Join(list, " ")
}

// total sums a profile of pprof.
func total(t *testing.T, data []byte) (types []string, sum []int64) {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	sum = make([]int64, len(p.SampleType))
	for _, typ := range p.SampleType {
		types = append(types, typ.Type+"/"+typ.Unit)
	}
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sum[i] += v
		}
	}
	return types, sum
}

// messageHeap is the CPU time of both recordings of profiles/message-heap/before that were sent.
const messageHeap = 2814443254

// TestGet reads what real servers answered, and checks what they were asked.
func TestGet(t *testing.T) {
	pyroscopes := map[string]string{"/querier.v1.QuerierService/Series": "pyroscope-series", "/querier.v1.QuerierService/LabelValues": "pyroscope-values", "/querier.v1.QuerierService/SelectMergeProfile": "pyroscope-merge"}
	parcas := map[string]string{"/parca.query.v1alpha1.QueryService/ProfileTypes": "parca-types", "/parca.query.v1alpha1.QueryService/Values": "parca-values", "/parca.query.v1alpha1.QueryService/Query": "=" + string(protobuf.Message(nil, 6, golden(t, "parca-profile")))}
	for _, tt := range []struct {
		scheme, rest string
		answers      map[string]string
		merged       string
		requests     []string
	}{
		{"pyroscope", "/golden?from=1000&until=2000&region=eu", pyroscopes, "profiles that Pyroscope merged", []string{
			`/querier.v1.QuerierService/Series application/proto 1={service_name="golden", region="eu"} 2=__profile_type__ 3=1000000 4=2000000`,
			`/querier.v1.QuerierService/SelectMergeProfile application/proto 1=process_cpu:cpu_clock:nanoseconds:cpu_clock:nanoseconds 2={service_name="golden", region="eu"} 3=1000000 4=2000000`,
		}},
		{"parca", "/golden?from=1000&until=2000", parcas, "profiles that Parca merged", []string{
			"/parca.query.v1alpha1.QueryService/ProfileTypes application/grpc ",
			`/parca.query.v1alpha1.QueryService/Query application/grpc 1=2 3={1=process_cpu:cpu_clock:nanoseconds:cpu_clock:nanoseconds:delta{job="golden"} 2={1=1000} 3={1=2000}} 5=1`,
		}},
	} {
		t.Run(tt.scheme, func(t *testing.T) {
			s := newServer(t, tt.answers)
			p, err := Get(context.Background(), s.address(tt.scheme, tt.rest))
			if err != nil {
				t.Fatal(err)
			}
			if types, sum := total(t, p.Data); !slices.Equal(types, []string{"cpu_clock/nanoseconds"}) || sum[0] != messageHeap || p.Merged != tt.merged {
				t.Errorf("types %q, sums %d, %q", types, sum, p.Merged)
			}
			if d := cmp.Diff(tt.requests, s.requests); d != "" {
				t.Errorf("requests (-want +got):\n%s", d)
			}
		})
	}
}

// TestSend checks what servers are sent.
func TestSend(t *testing.T) {
	long := strings.Repeat("profile", 100)
	for _, tt := range []struct {
		scheme, rest, path, answer string
		said, request, err         string
	}{
		{
			"pyroscope", "/shop?region=eu&at=now", "/push.v1.PusherService/Push", "=", "as process_cpu of service shop",
			"application/proto 1=…", "",
		},
		{"pyroscope", "?region=eu", "/push.v1.PusherService/Push", "=", "", "", "names no service"},
		{"parca", "/shop?type=memory", "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", "=", "as memory with job shop", "application/grpc 2=…", ""},
		{"parca", "", "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", "=", "", "", "names no label"},
		{"otlp", "?service.name=shop", "/v1development/profiles", "=", "as OTLP profiles v1development", "application/x-protobuf ?", ""},
		{"otlp", "/base", "/base/v1development/profiles", "=", "as OTLP profiles v1development", "application/x-protobuf ?", ""},
		{"otlp", "", "/v1development/profiles", "=" + string(protobuf.Message(nil, 1, protobuf.String(protobuf.Number(nil, 1, 3), 2, "no stacks"))), "", "application/x-protobuf ?", "rejects 3 profiles: no stacks"},
		{"otlp", "", "/v1/profiles", "=", "", "application/x-protobuf ?", "404 Not Found: 404 page not found: it takes no OTLP profiles at /v1development/profiles; a collector does with the feature gate service.profilesSupport"},
	} {
		s := newServer(t, map[string]string{tt.path: tt.answer})
		a, err := Parse(s.address(tt.scheme, tt.rest), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		said, err := Send(context.Background(), a, "process_cpu", []byte(long))
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s%s: error %v, want %q", tt.scheme, tt.rest, err, tt.err)
		}
		if !strings.Contains(said, tt.said) {
			t.Errorf("%s%s: %q", tt.scheme, tt.rest, said)
		}
		if tt.request != "" && (len(s.requests) != 1 || !strings.HasSuffix(s.requests[0], " "+tt.request)) {
			t.Errorf("%s%s: requests %q, want %q", tt.scheme, tt.rest, s.requests, tt.request)
		}
	}
}

// TestNothing says what there is instead of what is not there.
func TestNothing(t *testing.T) {
	empty := "=" + string(protobuf.Message(nil, 1, protobuf.Number(nil, 1, 1)))
	const series, values, merge = "/querier.v1.QuerierService/Series", "/querier.v1.QuerierService/LabelValues", "/querier.v1.QuerierService/SelectMergeProfile"
	const types, query, jobs, labels = "/parca.query.v1alpha1.QueryService/ProfileTypes", "/parca.query.v1alpha1.QueryService/Query", "/parca.query.v1alpha1.QueryService/Values", "/parca.query.v1alpha1.QueryService/Labels"
	for _, tt := range []struct {
		name, scheme, rest string
		answers            map[string]string
		want               string
	}{
		{"no such service", "pyroscope", "/shop?from=1000&until=2000", map[string]string{series: "=", values: "pyroscope-values"}, "no profiles with service shop from 1970-01-01T00:16:40Z until 1970-01-01T00:33:20Z; services that it has: golden, heap, shop"},
		{"no service", "pyroscope", "", map[string]string{values: "pyroscope-values"}, "names no service and no label: services that it has: golden"},
		{"nothing at all", "pyroscope", "/shop", map[string]string{series: "=", values: "="}, "it has no services at all in that time"},
		{"no samples", "pyroscope", "/golden?x=y", map[string]string{series: "pyroscope-series", values: "=", merge: empty}, "no profiles with service golden, x y from"},
		{"no such type", "pyroscope", "/golden?type=memory", map[string]string{series: "pyroscope-series"}, `has no profiles of type "memory": it has process_cpu:cpu_clock:nanoseconds:cpu_clock:nanoseconds, process_cpu:cpu_clock_samples`},
		{"not Pyroscope", "pyroscope", "/golden", nil, "answers 404 Not Found: 404 page not found: is there a server of Pyroscope at 127.0.0.1:"},
		{"damaged", "pyroscope", "/golden", map[string]string{series: "=\xff"}, "the server's answer is damaged"},
		{"no such job", "parca", "/shop", map[string]string{types: "parca-types", query: empty, jobs: "parca-values"}, "no profiles with job shop from"},
		{"no job", "parca", "", map[string]string{types: "parca-types", jobs: "=", labels: "=" + string(protobuf.String(nil, 1, "comm"))}, "names no service and no label: labels that it has: comm"},
		{"not Parca", "parca", "/golden", nil, "is there a server of Parca at 127.0.0.1:"},
		{"a collector", "otlp", "", nil, "a collector takes profiles and gives none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Get(context.Background(), newServer(t, tt.answers).address(tt.scheme, tt.rest))
			if err == nil || p != nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	goTypes := []string{"memory:alloc_objects:count:space:bytes", "memory:alloc_space:bytes:space:bytes", "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "process_cpu:samples:count:cpu:nanoseconds"}
	counted := []string{"process_cpu:cpu_clock:nanoseconds::", "process_cpu:cpu_clock_samples:samples::"}
	for _, tt := range []struct {
		types           []string
		want, typ, fail string
	}{
		{goTypes, "", goTypes[2], ""},
		{goTypes, "cpu", goTypes[2], ""},
		{goTypes, "alloc_space", goTypes[1], ""},
		{goTypes, goTypes[0], goTypes[0], ""},
		{goTypes, "memory", "", "has several types of profiles: choose one with type=TYPE of memory:alloc_objects:count:space:bytes, memory:alloc_space:bytes:space:bytes"},
		{goTypes[:2], "", "", "has no profile of the CPU: choose one with type=TYPE of memory:alloc_objects"},
		{goTypes[:1], "", goTypes[0], ""},
		{goTypes, "lock", "", `has no profiles of type "lock"`},
		{counted, "", counted[0], ""},
		{counted, "process_cpu", counted[0], ""},
		{counted, "cpu_clock_samples", counted[1], ""},
		{[]string{"odd"}, "", "odd", ""},
	} {
		typ, err := choose(tt.types, tt.want)
		if typ != tt.typ || (err == nil) != (tt.fail == "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
			t.Errorf("choose(%q, %q) = %q, %v", tt.types, tt.want, typ, err)
		}
	}
}

func TestParse(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ name, want string }{
		{"pyroscope://h/shop", "pyroscope h:4040 shop  [] 11:00:00 12:00:00"},
		{"pyroscope+https://h/a/b?type=cpu", "pyroscope h:443 a/b cpu [] 11:00:00 12:00:00"},
		{"parca://h:1?from=now-90m&until=now-1h&job=x&a=%22", `parca h:1   [{a "} {job x}] 10:30:00 11:00:00`},
		{"parca://[::1]/", "parca [::1]:7070   [] 11:00:00 12:00:00"},
		{"otlp://h?type=x", "otlp h:4318   [{type x}] 11:00:00 12:00:00"},
		{"parca://h?from=2026-01-31T01:02:03Z&until=2026-01-31T09:00", "parca h:7070   [] 01:02:03 09:00:00"},
		{"parca://h?from=1769850000&until=1769853600000", "parca h:7070   [] 09:00:00 10:00:00"},
		{"parca://h?from=now-2d&until=now-1d", "parca h:7070   [] 12:00:00 12:00:00"},
	} {
		a, err := Parse(tt.name, now)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := fmt.Sprint(a.Protocol, " ", a.Host, " ", a.Service, " ", a.Type, " ", a.Labels, " ", a.From.UTC().Format(time.TimeOnly), " ", a.Until.UTC().Format(time.TimeOnly)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for name, want := range map[string]string{
		"pyroscope://me:word@h/x":                  "an address has no credentials",
		"pyroscope://h/x?token=word":               "an address has no credentials",
		"pyroscope://h/x?X_API_KEY=word":           "an address has no credentials",
		"pyroscope:///x":                           "names no host",
		"pyroscope://h/x?from=yesterday":           `from is no time such as now, now-2h, now-7d`,
		"pyroscope://h/x?from=now-1y":              `from is no time such as`,
		"pyroscope://h/x?from=now-d":               `from is no time such as`,
		"pyroscope://h/x?until=now-2h&from=now-1h": "asks for the time from 2026-01-31T11:00:00Z until 2026-01-31T10:00:00Z, which is none",
		"pyroscope://h/x?a=1&a=2":                  "names a twice",
		"pyroscope://h:word/x":                     "is no address as pyroscope://HOST",
		"pyroscope://h/x?a=%zz":                    "has a query that is damaged",
		"http://h/x":                               "is no address of a server",
	} {
		if a, err := Parse(name, now); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "word") {
			t.Errorf("%s: %+v, %v, want %q", name, a, err, want)
		}
		if shown := Shown(name); strings.Contains(shown, "me:word") || strings.Contains(shown, "=word") {
			t.Errorf("%s is shown as %s", name, shown)
		}
	}
	for _, name := range []string{"perf.data", "-", "http://h", "pyroscope", "pyroscope:x", "/tmp/pyroscope://"} {
		if Is(name) {
			t.Errorf("%s is taken for an address", name)
		}
	}
}

// TestCredentials sends the credentials of the environment, and to no other server.
func TestCredentials(t *testing.T) {
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		switch r.URL.Path {
		case "/querier.v1.QuerierService/Series":
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
		default:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"unauthenticated","message":"who are you?\nreally"}`)
		}
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	t.Setenv(transport.TokenVariable, "hidden")
	t.Setenv(transport.TenantVariable, "team")
	_, err := Get(context.Background(), "pyroscope://"+host+"/shop")
	if err == nil || !strings.Contains(err.Error(), "redirects to 127.0.0.1:1 (307): name that server") {
		t.Errorf("got %v", err)
	}
	if got.Get("Authorization") != "Bearer hidden" || got.Get("X-Scope-OrgID") != "team" {
		t.Errorf("header %v", got)
	}
	_, err = Get(context.Background(), "pyroscope://"+host)
	if want := host + " refuses access (401): who are you?; PROFDIFF_TOKEN, or PROFDIFF_USER and PROFDIFF_PASSWORD, sign in, and PROFDIFF_TENANT names a tenant"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	t.Setenv(transport.UserVariable, "me")
	if _, err = Get(context.Background(), "pyroscope://"+host); err == nil || !strings.Contains(err.Error(), "PROFDIFF_TOKEN and PROFDIFF_USER are both set") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v", err)
	}
	t.Setenv(transport.TokenVariable, "")
	t.Setenv(transport.PasswordVariable, "hidden")
	_, _ = Get(context.Background(), "pyroscope://"+host)
	if user, password, ok := (&http.Request{Header: got}).BasicAuth(); !ok || user != "me" || password != "hidden" {
		t.Errorf("header %v", got)
	}
	t.Setenv(transport.UserVariable, "")
	t.Setenv(transport.TokenVariable, "hidden\r\nX: y")
	if _, err = Get(context.Background(), "pyroscope://"+host); err == nil || !strings.Contains(err.Error(), "PROFDIFF_TOKEN has a line break") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v", err)
	}
	t.Setenv(transport.TokenVariable, "")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b,other=x")
	a, err := Parse("otlp://"+host, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Send(context.Background(), a, "", nil); err == nil || got.Get("Api-Key") != "a b" || got.Get("Other") != "x" {
		t.Errorf("header %v, error %v", got, err)
	}
}
