// Package pyroscope asks servers of Grafana Pyroscope for profiles, and sends profiles to them.
//
//  1. [Types] lists the kinds of profiles that a selection of labels has in a time.
//  2. [Query] has the server merge all profiles of one kind: the answer is a profile of pprof, with
//     one type of values.
//  3. [Push] sends a profile of pprof with its labels; the server makes a series of each of its types.
//
// Calls are those of the Connect protocol: a request of HTTP with a message of protobuf, and errors as
// JSON. Sources: querier/v1/querier.proto, push/v1/push.proto and types/v1/types.proto of
// github.com/grafana/pyroscope/api, https://connectrpc.com/docs/protocol.
package pyroscope

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/exchange/transport"
	"profdiff/internal/protobuf"
)

// Paths of the calls.
const (
	pushPath   = "/push.v1.PusherService/Push"
	mergePath  = "/querier.v1.QuerierService/SelectMergeProfile"
	seriesPath = "/querier.v1.QuerierService/Series"
	valuesPath = "/querier.v1.QuerierService/LabelValues"
)

const contentType = "application/proto"

// Labels with a meaning of their own.
const (
	ServiceLabel = "service_name"
	typeLabel    = "__profile_type__"
	nameLabel    = "__name__"
)

// A Selection is what is asked for.
type Selection struct {
	// Labels are names and the values that profiles are to have.
	Labels      [][2]string
	From, Until time.Time
}

// selector is the selection as a server reads it: {service_name="shop", region="eu"}.
func (s *Selection) selector() string {
	var list []string
	for _, l := range s.Labels {
		list = append(list, l[0]+"="+strconv.Quote(l[1]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// Types lists the kinds of profiles that the selection has: name, type and unit of values, type and
// unit of the period, with colons between.
func Types(ctx context.Context, c *transport.Client, s Selection) ([]string, error) {
	m := protobuf.String(nil, 1, s.selector())
	m = protobuf.String(m, 2, typeLabel)
	m = protobuf.Number(m, 3, uint64(s.From.UnixMilli()))
	m = protobuf.Number(m, 4, uint64(s.Until.UnixMilli()))
	answer, err := c.Post(ctx, seriesPath, contentType, m)
	if err != nil {
		return nil, err
	}
	var types []string
	err = each(answer, 2, func(series []byte) error {
		return each(series, 1, func(label []byte) error {
			name, value, err := pair(label)
			if name == typeLabel && !slices.Contains(types, value) {
				types = append(types, value)
			}
			return err
		})
	})
	slices.Sort(types)
	return types, err
}

// Services lists the services of which there are profiles in a time.
func Services(ctx context.Context, c *transport.Client, from, until time.Time) ([]string, error) {
	m := protobuf.String(nil, 1, ServiceLabel)
	m = protobuf.Number(m, 3, uint64(from.UnixMilli()))
	m = protobuf.Number(m, 4, uint64(until.UnixMilli()))
	answer, err := c.Post(ctx, valuesPath, contentType, m)
	if err != nil {
		return nil, err
	}
	var names []string
	err = each(answer, 1, func(name []byte) error {
		names = append(names, string(name))
		return nil
	})
	slices.Sort(names)
	return names, err
}

// Query returns all profiles of a type that the selection has as one profile of pprof, which has no
// samples if there are none.
func Query(ctx context.Context, c *transport.Client, s Selection, typ string) ([]byte, error) {
	m := protobuf.String(nil, 1, typ)
	m = protobuf.String(m, 2, s.selector())
	m = protobuf.Number(m, 3, uint64(s.From.UnixMilli()))
	m = protobuf.Number(m, 4, uint64(s.Until.UnixMilli()))
	return c.Post(ctx, mergePath, contentType, m)
}

// Push sends a profile of pprof. name is what its types are grouped under, such as process_cpu.
func Push(ctx context.Context, c *transport.Client, name string, labels [][2]string, profile []byte) error {
	var series []byte
	for _, l := range append([][2]string{{nameLabel, name}}, labels...) {
		series = protobuf.Message(series, 1, protobuf.String(protobuf.String(nil, 1, l[0]), 2, l[1]))
	}
	series = protobuf.Message(series, 2, protobuf.Message(nil, 1, profile))
	_, err := c.Post(ctx, pushPath, contentType, protobuf.Message(nil, 1, series))
	return err
}

// each calls read with the values of a field of a message.
func each(message []byte, field protowire.Number, read func(body []byte) error) error {
	var first error
	err := protobuf.Each(message, func(f protowire.Number, body []byte, _ uint64) {
		if f == field && first == nil {
			first = read(body)
		}
	})
	if err != nil || first != nil {
		return fmt.Errorf("the server's answer is damaged: %w", cmp.Or(err, first))
	}
	return nil
}

// pair reads a name and a value.
func pair(message []byte) (name, value string, err error) {
	err = protobuf.Each(message, func(f protowire.Number, body []byte, _ uint64) {
		switch f {
		case 1:
			name = string(body)
		case 2:
			value = string(body)
		}
	})
	return name, value, err
}
