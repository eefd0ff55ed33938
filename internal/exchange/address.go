package exchange

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Protocol is how a server is spoken to.
type Protocol string

// The protocols.
const (
	Pyroscope Protocol = "pyroscope"
	Parca     Protocol = "parca"
	OTLP      Protocol = "otlp"
)

// ports are where servers listen if an address names no port: those of their defaults, and that of
// HTTPS.
var ports = map[Protocol]string{Pyroscope: "4040", Parca: "7070", OTLP: "4318"}

const (
	separator  = "://"
	secureMark = "+https"
	securePort = "443"
)

// An Address names profiles on a server.
type Address struct {
	Protocol Protocol
	TLS      bool
	Host     string // with the port
	// Service is the path: the service or job that is asked for; of OTLP, what stands before the
	// path of the protocol.
	Service string
	// Type is the kind of profiles, as the server calls it or a part of that; "" if it is not said.
	Type string
	// Labels are names and values that profiles have, or get, in the order of their names.
	Labels []Label
	// From and Until are the time that is asked for.
	From, Until time.Time
	// At is when what is sent was recorded, zero if the recording says so itself.
	At time.Time
}

// A Label is a name and a value.
type Label struct{ Name, Value string }

// Is reports whether what a user names is an address of a server.
func Is(name string) bool {
	_, ok := protocolOf(name)
	return ok
}

func protocolOf(name string) (Protocol, bool) {
	scheme, _, ok := strings.Cut(name, separator)
	p := Protocol(strings.TrimSuffix(scheme, secureMark))
	return p, ok && ports[p] != ""
}

// Shown is an address without what must not be shown: a user and a password, if somebody writes
// them into one.
func Shown(name string) string {
	scheme, rest, _ := strings.Cut(name, separator)
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if base, query, ok := strings.Cut(rest, "?"); ok {
		parts := strings.Split(query, "&")
		for i, part := range parts {
			if key, _, ok := strings.Cut(part, "="); ok && isSecret(key) {
				parts[i] = key + "=…"
			}
		}
		rest = base + "?" + strings.Join(parts, "&")
	}
	return scheme + separator + rest
}

// isSecret tells by its name what holds a credential.
func isSecret(key string) bool { return secrets.MatchString(key) }

var secrets = regexp.MustCompile(`(?i)^(.*_)?(token|password|passwd|secret|api_?key|authorization|bearer)$`)

var errCredentials = errors.New("an address has no credentials, which would show in reports and in lists of processes: set PROFDIFF_TOKEN, or PROFDIFF_USER and PROFDIFF_PASSWORD")

// defaultRange is how long the time is that is asked for if an address does not say.
const defaultRange = time.Hour

// Parse reads an address: PROTOCOL[+https]://HOST[:PORT]/SERVICE?type=…&from=…&until=…&LABEL=VALUE.
// Times are relative to now.
func Parse(name string, now time.Time) (*Address, error) {
	protocol, ok := protocolOf(name)
	if !ok {
		return nil, errors.New("is no address of a server")
	}
	u, err := url.Parse(name)
	if err != nil {
		return nil, errors.New("is no address as pyroscope://HOST[:PORT]/SERVICE?type=TYPE is one")
	}
	if u.User != nil {
		return nil, errCredentials
	}
	a := &Address{Protocol: protocol, TLS: strings.HasSuffix(u.Scheme, secureMark), Host: u.Host, Service: strings.Trim(u.Path, "/"), Until: now}
	if u.Hostname() == "" {
		return nil, errors.New("names no host")
	}
	if u.Port() == "" {
		port := ports[protocol]
		if a.TLS {
			port = securePort
		}
		a.Host = net.JoinHostPort(u.Hostname(), port)
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("has a query that is damaged")
	}
	for key, list := range values {
		value := list[0]
		switch {
		case isSecret(key):
			return nil, errCredentials
		case len(list) > 1:
			return nil, fmt.Errorf("names %s twice", key)
		case protocol == OTLP:
			a.Labels = append(a.Labels, Label{key, value})
		case key == "type":
			a.Type = value
		case key == "from":
			a.From, err = parseTime(value, now)
		case key == "until":
			a.Until, err = parseTime(value, now)
		case key == "at":
			a.At, err = parseTime(value, now)
		default:
			a.Labels = append(a.Labels, Label{key, value})
		}
		if err != nil {
			return nil, fmt.Errorf("%s is %w", key, err)
		}
	}
	slices.SortFunc(a.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	if a.From.IsZero() {
		a.From = a.Until.Add(-defaultRange)
	}
	if !a.From.Before(a.Until) {
		return nil, fmt.Errorf("asks for the time from %s until %s, which is none", a.From.UTC().Format(time.RFC3339), a.Until.UTC().Format(time.RFC3339))
	}
	return a, nil
}

// parseTime reads now, now-2h30m, now-7d, a time by RFC 3339, a date, or seconds or milliseconds since 1970.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	if back, ok := strings.CutPrefix(text, "now-"); ok {
		unit := time.Duration(0)
		switch back[max(0, len(back)-1):] {
		case "d":
			unit = 24 * time.Hour
		case "w":
			unit = 7 * 24 * time.Hour
		}
		const most = 100 * 365 * 24 * time.Hour
		if n, err := strconv.ParseUint(strings.TrimRight(back, "dw"), 10, 16); unit > 0 && err == nil && time.Duration(n) <= most/unit {
			return now.Add(-time.Duration(n) * unit), nil
		}
		if d, err := time.ParseDuration(back); err == nil && d >= 0 && d <= most {
			return now.Add(-d), nil
		}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	const milliseconds = 1e11 // larger numbers than this are
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < 1e14 {
		if n > milliseconds {
			return time.UnixMilli(n), nil
		}
		return time.Unix(n, 0), nil
	}
	return time.Time{}, fmt.Errorf("no time such as now, now-2h, now-7d, 2026-01-31, 2026-01-31T12:00:00Z or seconds since 1970: %q", text)
}
