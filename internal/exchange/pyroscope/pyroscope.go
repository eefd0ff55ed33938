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
	"context"
	"slices"
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
)

// Types lists the kinds of profiles that the selection has: name, type and unit of values, type and
// unit of the period, with colons between.
func Types(ctx context.Context, c *transport.Client, s transport.Selection) ([]string, error) {
	m := protobuf.String(nil, 1, s.Selector())
	m = protobuf.String(m, 2, typeLabel)
	m = protobuf.Number(m, 3, uint64(s.From.UnixMilli()))
	m = protobuf.Number(m, 4, uint64(s.Until.UnixMilli()))
	answer, err := c.Post(ctx, seriesPath, contentType, m)
	if err != nil {
		return nil, err
	}
	var types []string
	err = transport.Each(answer, 2, func(series []byte) error {
		return transport.Each(series, 1, func(label []byte) error {
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
	return transport.Names(answer)
}

// Query returns all profiles of a type that the selection has as one profile of pprof, which has no
// samples if there are none.
func Query(ctx context.Context, c *transport.Client, s transport.Selection, typ string) ([]byte, error) {
	m := protobuf.String(nil, 1, typ)
	m = protobuf.String(m, 2, s.Selector())
	m = protobuf.Number(m, 3, uint64(s.From.UnixMilli()))
	m = protobuf.Number(m, 4, uint64(s.Until.UnixMilli()))
	return c.Post(ctx, mergePath, contentType, m)
}

// Push sends a profile of pprof. name is what its types are grouped under, such as process_cpu.
func Push(ctx context.Context, c *transport.Client, name string, labels [][2]string, profile []byte) error {
	series := protobuf.Message(transport.Labels(name, labels), 2, protobuf.Message(nil, 1, profile))
	_, err := c.Post(ctx, pushPath, contentType, protobuf.Message(nil, 1, series))
	return err
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
