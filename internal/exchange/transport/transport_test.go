package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// client is a client of a server that a handler makes.
func client(t *testing.T, secure bool, handler http.HandlerFunc) *Client {
	s := httptest.NewUnstartedServer(handler)
	c := &Client{TLS: secure, Header: make(http.Header)}
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
		pool := x509.NewCertPool()
		pool.AddCert(s.Certificate())
		c.TLSConfig = &tls.Config{RootCAs: pool}
	} else {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	c.Host = s.Listener.Addr().String()
	return c
}

// TestCall calls a server of gRPC, with and without TLS.
func TestCall(t *testing.T) {
	for _, tt := range []struct {
		name, body, status, message string
		header                      bool // the outcome is in the header
		want, err                   string
	}{
		{name: "answer", body: "\x00\x00\x00\x00\x02ab", status: "0", want: "ab"},
		{name: "no message", body: "\x00\x00\x00\x00\x00", status: "0"},
		{name: "an outcome at once", status: "5", message: "no%20profiles", header: true, err: "answers 404 Not Found: no profiles"},
		{name: "an outcome behind nothing", status: "16", err: "refuses access (401); "},
		{name: "unknown", status: "2", message: "arrow: index", err: "answers 500 Internal Server Error: arrow: index"},
		{name: "no outcome", body: "\x00\x00\x00\x00\x02ab", err: "no outcome of a call of gRPC"},
		{name: "too short", body: "\x00\x00", status: "0", err: "answers with 2 bytes, which are no message of gRPC"},
		{name: "compressed", body: "\x01\x00\x00\x00\x02ab", status: "0", err: "compresses messages of gRPC without being asked to"},
		{name: "a length that lies", body: "\x00\xff\xff\xff\xffab", status: "0", err: "announces 4294967295 bytes and sends 2"},
		{name: "busy", status: "8", err: "has too many requests (429)"},
	} {
		for _, secure := range []bool{false, true} {
			c := client(t, secure, func(w http.ResponseWriter, r *http.Request) {
				got, err := io.ReadAll(r.Body)
				if err != nil || string(got) != "\x00\x00\x00\x00\x03abc" || r.ProtoMajor != 2 || r.Header.Get("Te") != "trailers" || r.URL.Path != "/pkg.Service/Method" {
					t.Errorf("%s: %q %s %v %v", r.URL.Path, got, r.Proto, r.Header, err)
				}
				prefix := http.TrailerPrefix
				if tt.header {
					prefix = ""
				}
				if tt.status != "" {
					w.Header().Set(prefix+"Grpc-Status", tt.status)
					w.Header().Set(prefix+"Grpc-Message", tt.message)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			got, err := c.Call(context.Background(), "/pkg.Service/Method", []byte("abc"))
			if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %q, %v, want %q, %q", tt.name, got, err, tt.want, tt.err)
			}
		}
	}
}

// wait waits until the client has gone, which a server sees once the request is read.
func wait(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestFailures says in one line why there is no answer.
func TestFailures(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	for _, tt := range []struct {
		name    string
		secure  bool
		change  func(c *Client)
		handler http.HandlerFunc
		want    string
	}{
		{"too large", false, func(c *Client) { c.Size = 3 << 20 }, endless, "answers with more than 3 MB: ask for a shorter time"},
		{"too large, of gRPC", true, func(c *Client) { c.Size = 3 << 20 }, endless, "answers with more than 3 MB"},
		{"too slow", false, func(c *Client) { c.Time = 50 * time.Millisecond }, func(_ http.ResponseWriter, r *http.Request) { wait(r) }, "does not answer within 50ms"},
		{"drips", false, func(c *Client) { c.Time = 50 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			wait(r)
		}, "does not answer within 50ms"},
		{"TLS without being asked", true, func(c *Client) { c.TLS = false }, nil, "speaks TLS: write +https behind the protocol"},
		{"no TLS", false, func(c *Client) { c.TLS = true }, nil, "does not speak TLS: leave +https out"},
		{"unknown certificate", true, func(c *Client) { c.TLSConfig = nil }, nil, "has a certificate that is not trusted: "},
		{"no such host", false, func(c *Client) { c.Host = "nowhere.invalid:1" }, nil, "no server is called nowhere.invalid:1"},
		{"a page", false, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html><html>") }, "answers 404 Not Found: a web page"},
		{"JSON", false, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"code":"invalid_argument","message":"query is\nwrong"}`)
		}, "answers 400 Bad Request: query is"},
		{"a page that is an error", false, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "<html>long</html>")
		}, "answers 502 Bad Gateway"},
		{"a long message", false, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, strings.Repeat("x", 5000))
		}, "xxx …"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.handler == nil {
				tt.handler = func(http.ResponseWriter, *http.Request) {}
			}
			c := client(t, tt.secure, tt.handler)
			if tt.change != nil {
				tt.change(c)
			}
			_, err := c.Post(context.Background(), "/x", "application/proto", []byte("abc"))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
