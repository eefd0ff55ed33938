// Package exchange gets profiles from the servers in which people keep them, and sends profiles there.
//
//  1. An address names a server by the protocol that it speaks, and what is asked for: a service, the
//     type of profiles, their labels, a time ([Parse]).
//  2. [Get] finds out which types of profiles the server has of that, chooses the one that is meant,
//     and has the server merge them. What it answers is a profile of pprof.
//  3. [Send] sends a profile: one of pprof to Pyroscope and Parca, one of OTLP to a collector.
//
// A server merges profiles before it gives them away, so that nothing tells any more how much they
// vary: whoever reads an answer is told so ([Profile.Merged]), and takes it for one run. Each
// protocol has a package of its own, and package transport the credentials and the limits.
package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/exchange/parca"
	"profdiff/internal/exchange/pyroscope"
	"profdiff/internal/exchange/transport"
	"profdiff/internal/protobuf"
)

// A Profile is what a server answered.
type Profile struct {
	// Data is a profile of pprof, which may be compressed.
	Data []byte
	// Merged says who made one profile of many.
	Merged string
}

// names are what the servers are called.
var names = map[Protocol]string{Pyroscope: "Pyroscope", Parca: "Parca", OTLP: "OpenTelemetry"}

// Get asks for the profiles that an address names. Errors do not name the address.
func Get(ctx context.Context, name string) (*Profile, error) {
	a, err := Parse(name, time.Now())
	if err != nil {
		return nil, err
	}
	if a.Protocol == OTLP {
		return nil, errors.New("a collector takes profiles and gives none: read the file that it exports, or ask the store behind it")
	}
	c, err := transport.New(a.Host, a.TLS, os.Getenv)
	if err != nil {
		return nil, err
	}
	get := getPyroscope
	if a.Protocol == Parca {
		get = getParca
	}
	data, err := get(ctx, a, c)
	if err != nil {
		return nil, a.explain(err)
	}
	return &Profile{Data: data, Merged: "profiles that " + names[a.Protocol] + " merged"}, nil
}

// labels are the labels of the address, with the service under the name that the server has for it.
func (a *Address) labels(service string) [][2]string {
	var list [][2]string
	if a.Service != "" {
		list = append(list, [2]string{service, a.Service})
	}
	for _, l := range a.Labels {
		list = append(list, [2]string{l.Name, l.Value})
	}
	return list
}

// getPyroscope asks a server of Pyroscope.
func getPyroscope(ctx context.Context, a *Address, c *transport.Client) ([]byte, error) {
	s := transport.Selection{Labels: a.labels(pyroscope.ServiceLabel), From: a.From, Until: a.Until}
	nothing := func() error {
		services, err := pyroscope.Services(ctx, c, a.From, a.Until)
		if err != nil {
			return err
		}
		return a.nothing("services", services)
	}
	if len(s.Labels) == 0 {
		return nil, nothing()
	}
	types, err := pyroscope.Types(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, nothing()
	}
	typ, err := choose(types, a.Type)
	if err != nil {
		return nil, err
	}
	data, err := pyroscope.Query(ctx, c, s, typ)
	if err == nil && !hasSamples(data) {
		err = nothing()
	}
	return data, err
}

// hasSamples looks for a sample at the start of a profile of pprof, which may be compressed.
func hasSamples(profile []byte) bool {
	const sample, start = 2, 64 << 10
	if z, err := gzip.NewReader(bytes.NewReader(profile)); err == nil {
		if profile, err = io.ReadAll(io.LimitReader(z, start)); err != nil {
			return true
		}
	}
	found := false
	err := protobuf.Each(profile, func(f protowire.Number, _ []byte, _ uint64) { found = found || f == sample })
	return found || err != nil // the reader says what is wrong
}

// getParca asks a server of Parca.
func getParca(ctx context.Context, a *Address, c *transport.Client) ([]byte, error) {
	types, err := parca.Types(ctx, c)
	if err != nil {
		return nil, err
	}
	nothing := func() error {
		// Errors of these are not what is to be said.
		if jobs, _ := parca.Jobs(ctx, c, a.From, a.Until); len(jobs) > 0 {
			return a.nothing("jobs", jobs)
		}
		labels, _ := parca.Labels(ctx, c, a.From, a.Until)
		return a.nothing("labels", labels)
	}
	if len(types) == 0 || a.Service == "" && len(a.Labels) == 0 {
		return nil, nothing()
	}
	typ, err := choose(types, a.Type)
	if err != nil {
		return nil, err
	}
	data, err := parca.Query(ctx, c, transport.Selection{Labels: a.labels(parca.JobLabel), From: a.From, Until: a.Until}, typ)
	if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Status == http.StatusNotFound {
		return nil, nothing()
	}
	if err == nil && !hasSamples(data) {
		err = nothing()
	}
	return data, err
}

// choose returns the type that is meant: one whose name or type of values it is; or else the time on
// the CPU, or the one there is. What counts the samples of another type is not meant.
func choose(types []string, want string) (string, error) {
	var values, matching []string
	for _, t := range types {
		parts := append(strings.Split(t, ":"), "")
		counts, ok := strings.CutSuffix(parts[1], "_samples")
		counted := ok && slices.ContainsFunc(types, func(other string) bool { return strings.HasPrefix(other, parts[0]+":"+counts+":") })
		switch {
		case t == want:
			return t, nil
		case want != "" && parts[1] == want, parts[0] == want && !counted, want == "" && parts[1] == "cpu":
			matching = append(matching, t)
		}
		if !counted {
			values = append(values, t)
		}
	}
	if want == "" && len(matching) == 0 && len(values) == 1 {
		return values[0], nil
	}
	switch {
	case len(matching) == 1:
		return matching[0], nil
	case len(matching) > 1:
		return "", fmt.Errorf("has several types of profiles: choose one with type=TYPE of %s", list(matching))
	case want != "":
		return "", fmt.Errorf("has no profiles of type %q: it has %s", want, list(types))
	}
	return "", fmt.Errorf("has no profile of the CPU: choose one with type=TYPE of %s", list(types))
}

// list is a list for a message, not too long.
func list(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// nothing says that there are no profiles, and what there is.
func (a *Address) nothing(kind string, known []string) error {
	what := "profiles"
	if a.Type != "" {
		what += " of type " + a.Type
	}
	var with []string
	for _, l := range a.labels(map[Protocol]string{Pyroscope: "service", Parca: "job"}[a.Protocol]) {
		with = append(with, l[0]+" "+l[1])
	}
	if len(with) > 0 {
		what += " with " + strings.Join(with, ", ")
	}
	has := fmt.Sprintf("it has no %s at all in that time", kind)
	if len(known) > 0 {
		has = fmt.Sprintf("%s that it has: %s", kind, list(known))
	}
	if a.Service == "" && len(a.Labels) == 0 && len(known) > 0 {
		return fmt.Errorf("names no service and no label: %s", has)
	}
	const layout = "2006-01-02T15:04:05Z"
	return fmt.Errorf("no %s from %s until %s; %s; from=now-1d asks for a longer time", what, a.From.UTC().Format(layout), a.Until.UTC().Format(layout), has)
}

// explain says what an error of a server means for an address.
func (a *Address) explain(err error) error {
	status, ok := errors.AsType[*transport.StatusError](err)
	if !ok || !slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusNotImplemented}, status.Status) {
		return err
	}
	if a.Protocol == OTLP {
		return fmt.Errorf("%w: it takes no OTLP profiles at %s; a collector does with the feature gate service.profilesSupport", err, a.otlpPath())
	}
	return fmt.Errorf("%w: is there a server of %s at %s?", err, names[a.Protocol], a.Host)
}

// Send sends a profile to the server that an address names: of pprof, or of OTLP if that is the
// protocol. kind is what its types are grouped under there, see [Kind], if the address does not say.
// It returns a line for the user. Errors do not name the address.
func Send(ctx context.Context, a *Address, kind string, profile []byte) (string, error) {
	c, err := transport.New(a.Host, a.TLS, os.Getenv)
	if err != nil {
		return "", err
	}
	if a.Type != "" {
		kind, _, _ = strings.Cut(a.Type, ":")
	}
	said := "sent to " + a.Host
	switch a.Protocol {
	case Pyroscope:
		if a.Service == "" {
			return "", errors.New("names no service, under which the profile is to be found: pyroscope://HOST/SERVICE")
		}
		err = pyroscope.Push(ctx, c, kind, a.labels(pyroscope.ServiceLabel), profile)
		said += fmt.Sprintf(" as %s of service %s", kind, a.Service)
	case Parca:
		labels := a.labels(parca.JobLabel)
		if len(labels) == 0 {
			return "", errors.New("names no label, by which the profile is to be found: parca://HOST/JOB, or parca://HOST?LABEL=VALUE")
		}
		err = parca.Write(ctx, c, kind, labels, profile)
		said += fmt.Sprintf(" as %s with %s %s", kind, labels[0][0], labels[0][1])
	default:
		var rejected string
		if rejected, err = a.export(ctx, c, profile); err == nil && rejected != "" {
			err = errors.New(rejected)
		}
		said += ", as OTLP profiles v1development (experimental)"
	}
	if err != nil {
		return "", a.explain(err)
	}
	return said, nil
}

// kinds are what stores group types of profiles under, by events of Go's profiles.
var kinds = []struct {
	kind   string
	events []string
}{
	{"memory", []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}},
	{"mutex", []string{"contentions", "delay"}},
	{"goroutine", []string{"goroutine", "goroutines"}},
}

// Kind is what stores group the profile of an event under, by the name of the event.
func Kind(event string) string {
	for _, k := range kinds {
		if slices.Contains(k.events, event) {
			return k.kind
		}
	}
	return "process_cpu"
}
