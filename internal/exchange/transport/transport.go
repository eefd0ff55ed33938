// Package transport asks servers, by HTTP and by unary calls of gRPC, and says in one line what went
// wrong.
//
//  1. A request has a time limit, for the connection and in all, and an answer a limit of size.
//     Answers are not inflated here: package input does so, with bounds of its own.
//  2. Credentials come from the environment, never from an address, so that no message, report or
//     list of processes has them. A redirect is not followed: it might take them elsewhere.
//  3. A call of gRPC is a request of HTTP/2 with the message behind five bytes, a flag and its
//     length, and the outcome in the trailers. Go's net/http speaks HTTP/2 without TLS as well, so
//     that this takes a page; google.golang.org/grpc would add several megabytes to the program,
//     for names, balancing and streams that one call to one server has no use for.
//
// Sources: https://grpc.io/docs/guides/, PROTOCOL-HTTP2.md of gRPC; RFC 9110.
package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// MaxAnswer is how many bytes an answer may have.
const MaxAnswer = 256 << 20

// How long servers may take.
const (
	connectTime = 10 * time.Second
	answerTime  = 2 * time.Minute
)

// The environment variables that hold credentials.
const (
	TokenVariable    = "PROFDIFF_TOKEN"
	UserVariable     = "PROFDIFF_USER"
	PasswordVariable = "PROFDIFF_PASSWORD"
	TenantVariable   = "PROFDIFF_TENANT"
)

// A Client asks one server.
type Client struct {
	// Host is the name and port of the server, and TLS is set if it is asked by TLS.
	Host string
	TLS  bool
	// Header has what is sent with each request.
	Header http.Header
	// Time is how long an answer may take, two minutes if it is zero.
	Time time.Duration
	// Size is how many bytes an answer may have, MaxAnswer if it is zero.
	Size int64
	// TLSConfig is for tests.
	TLSConfig *tls.Config
}

// New returns a client with the credentials of the environment, which getenv reads.
func New(host string, secure bool, getenv func(string) string) (*Client, error) {
	c := &Client{Host: host, TLS: secure, Header: make(http.Header)}
	token, user, password := getenv(TokenVariable), getenv(UserVariable), getenv(PasswordVariable)
	for name, value := range map[string]string{TokenVariable: token, UserVariable: user, PasswordVariable: password, TenantVariable: getenv(TenantVariable)} {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("%s has a line break or another control character", name)
		}
	}
	switch {
	case token != "" && user != "":
		return nil, fmt.Errorf("%s and %s are both set: a server takes one of a token and a user", TokenVariable, UserVariable)
	case token != "":
		c.Header.Set("Authorization", "Bearer "+token)
	case user != "":
		c.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	if tenant := getenv(TenantVariable); tenant != "" {
		c.Header.Set("X-Scope-OrgID", tenant)
	}
	return c, nil
}

// A StatusError is an answer that says no.
type StatusError struct {
	Host string
	// Status is that of HTTP. A call of gRPC has the nearest one.
	Status int
	// Message is what the server says, in a line; it may be empty.
	Message string
}

func (e *StatusError) Error() string {
	said := ""
	if e.Message != "" {
		said = ": " + e.Message
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("%s refuses access (%d)%s; %s, or %s and %s, sign in, and %s names a tenant", e.Host, e.Status, said, TokenVariable, UserVariable, PasswordVariable, TenantVariable)
	case http.StatusTooManyRequests:
		return fmt.Sprintf("%s has too many requests (429)%s; try later, or ask for less", e.Host, said)
	}
	return fmt.Sprintf("%s answers %d %s%s", e.Host, e.Status, http.StatusText(e.Status), said)
}

// Post sends a body to a path of the server and returns the body of the answer.
func (c *Client) Post(ctx context.Context, path, contentType string, body []byte) ([]byte, error) {
	answer, _, err := c.post(ctx, path, contentType, body, false)
	return answer, err
}

// post sends a request. What is not answered by status 200 is an error.
func (c *Client) post(ctx context.Context, path, contentType string, body []byte, http2 bool) ([]byte, *http.Response, error) {
	limit := cmp.Or(c.Time, answerTime)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	u := url.URL{Scheme: "http", Host: c.Host, Path: path}
	if c.TLS {
		u.Scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(req.Header, c.Header)
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "profdiff")
	if http2 {
		req.Header.Set("Te", "trailers")
	}
	transport := c.transport(http2)
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, c.failure(err, limit)
	}
	defer resp.Body.Close()
	size := cmp.Or(c.Size, MaxAnswer)
	answer, err := io.ReadAll(io.LimitReader(resp.Body, size+1))
	switch {
	case err != nil && resp.StatusCode == http.StatusOK:
		return nil, nil, c.failure(err, limit)
	case int64(len(answer)) > size:
		return nil, nil, fmt.Errorf("%s answers with more than %d MB: ask for a shorter time, or for fewer profiles", c.Host, size>>20)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		to := "elsewhere"
		if location, err := resp.Location(); err == nil {
			to = "to " + location.Host
		}
		return nil, nil, fmt.Errorf("%s redirects %s (%d): name that server", c.Host, to, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		message := messageOf(answer)
		if !c.TLS && strings.Contains(message, "HTTP request to an HTTPS server") {
			return nil, nil, fmt.Errorf("%s speaks TLS: write +https behind the protocol, as in pyroscope+https://", c.Host)
		}
		return nil, nil, &StatusError{c.Host, resp.StatusCode, message}
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return nil, nil, &StatusError{c.Host, http.StatusNotFound, "a web page"}
	}
	return answer, resp, nil
}

// transport is a connection to the server that is used once.
func (c *Client) transport(http2 bool) *http.Transport {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectTime}).DialContext,
		TLSHandshakeTimeout: connectTime,
		TLSClientConfig:     c.TLSConfig,
		DisableCompression:  true, // an answer that is small on the wire is small here
		// Headers of an answer are few.
		MaxResponseHeaderBytes: 64 << 10,
	}
	if http2 {
		t.Protocols = new(http.Protocols)
		if t.Protocols.SetHTTP2(c.TLS); !c.TLS {
			t.Proxy = nil // a proxy would have to speak HTTP/2 without TLS
			t.Protocols.SetUnencryptedHTTP2(true)
		}
	}
	return t
}

// failure says why there is no answer.
func (c *Client) failure(err error, limit time.Duration) error {
	var dns *net.DNSError
	var number syscall.Errno
	var certificate *tls.CertificateVerificationError
	switch message := err.Error(); {
	case errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err):
		return fmt.Errorf("%s does not answer within %v", c.Host, limit)
	case errors.As(err, &dns):
		return fmt.Errorf("no server is called %s", c.Host)
	case errors.As(err, &certificate):
		return fmt.Errorf("%s has a certificate that is not trusted: %v", c.Host, certificate.Err)
	case errors.As(err, &number):
		return fmt.Errorf("no connection to %s: %v", c.Host, number)
	case c.TLS && (strings.Contains(message, "HTTP response to HTTPS client") || strings.Contains(message, "first record does not look like a TLS handshake")):
		return fmt.Errorf("%s does not speak TLS: leave +https out", c.Host)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("no answer from %s: %s", c.Host, line(err.Error()))
}

// messageOf is what the body of an answer says, JSON of the Connect protocol or text.
func messageOf(body []byte) string {
	var connect struct{ Message, Error string }
	if err := json.Unmarshal(body, &connect); err == nil && connect.Message+connect.Error != "" {
		return line(connect.Message + connect.Error)
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) || !utf8.Valid(body) {
		return "" // a page for people, or protobuf
	}
	return line(string(body))
}

// line is the first line of what a server says, not too long.
func line(s string) string {
	const longest = 300
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + " …"
	}
	return s
}
