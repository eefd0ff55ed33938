// Package parca asks servers of Parca for profiles, and sends profiles to them.
//
//  1. [Types] lists the kinds of profiles that a server has.
//  2. [Query] has the server merge all profiles of one kind that have some labels, in a time: the
//     answer is a profile of pprof, compressed with gzip, with one type of values.
//  3. [Write] sends a profile of pprof with its labels; the server makes a series of each of its types.
//
// Calls are unary ones of gRPC, see package transport. Sources: query/v1alpha1/query.proto and
// profilestore/v1alpha1/profilestore.proto of github.com/parca-dev/parca.
package parca

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/exchange/transport"
	"profdiff/internal/protobuf"
)

// Methods of the calls.
const (
	writeMethod  = "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"
	queryMethod  = "/parca.query.v1alpha1.QueryService/Query"
	typesMethod  = "/parca.query.v1alpha1.QueryService/ProfileTypes"
	labelsMethod = "/parca.query.v1alpha1.QueryService/Labels"
	valuesMethod = "/parca.query.v1alpha1.QueryService/Values"
)

// JobLabel is the label that tells programs apart.
const JobLabel = "job"

// timestamp is a google.protobuf.Timestamp.
func timestamp(t time.Time) []byte {
	return protobuf.Number(protobuf.Number(nil, 1, uint64(t.Unix())), 2, uint64(t.Nanosecond()))
}

// Types lists the kinds of profiles of a server: name, type and unit of values, type and unit of the
// period, with colons between, and delta behind those that are of a time.
func Types(ctx context.Context, c *transport.Client) ([]string, error) {
	answer, err := c.Call(ctx, typesMethod, nil)
	if err != nil {
		return nil, err
	}
	var types []string
	err = transport.Each(answer, 1, func(body []byte) error {
		var parts [5]string
		delta := ""
		err := protobuf.Each(body, func(f protowire.Number, body []byte, number uint64) {
			switch {
			case f >= 1 && int(f) <= len(parts):
				parts[f-1] = string(body)
			case number != 0:
				delta = ":delta"
			}
		})
		types = append(types, strings.Join(parts[:], ":")+delta)
		return err
	})
	slices.Sort(types)
	return slices.Compact(types), err
}

// Jobs lists the values of the label job that profiles of a time have.
func Jobs(ctx context.Context, c *transport.Client, from, until time.Time) ([]string, error) {
	m := protobuf.String(nil, 1, JobLabel)
	m = protobuf.Message(m, 3, timestamp(from))
	return names(ctx, c, valuesMethod, protobuf.Message(m, 4, timestamp(until)))
}

// Labels lists the names of the labels that profiles of a time have.
func Labels(ctx context.Context, c *transport.Client, from, until time.Time) ([]string, error) {
	m := protobuf.Message(nil, 2, timestamp(from))
	return names(ctx, c, labelsMethod, protobuf.Message(m, 3, timestamp(until)))
}

// names makes a call whose answer is a list of names.
func names(ctx context.Context, c *transport.Client, method string, message []byte) ([]string, error) {
	answer, err := c.Call(ctx, method, message)
	if err != nil {
		return nil, err
	}
	return transport.Names(answer)
}

// Query returns all profiles of a type that the selection has as one profile of pprof.
func Query(ctx context.Context, c *transport.Client, s transport.Selection, typ string) ([]byte, error) {
	const modeMerge, reportPprof = 2, 1
	merge := protobuf.String(nil, 1, typ+s.Selector())
	merge = protobuf.Message(merge, 2, timestamp(s.From))
	merge = protobuf.Message(merge, 3, timestamp(s.Until))
	m := protobuf.Number(nil, 1, modeMerge)
	m = protobuf.Message(m, 3, merge)
	m = protobuf.Number(m, 5, reportPprof)
	answer, err := c.Call(ctx, queryMethod, m)
	if err != nil {
		return nil, err
	}
	var profile []byte
	err = transport.Each(answer, 6, func(body []byte) error {
		profile = body
		return nil
	})
	return profile, err
}

// Write sends a profile of pprof. name is what its types are grouped under, such as process_cpu.
func Write(ctx context.Context, c *transport.Client, name string, labels [][2]string, profile []byte) error {
	set := transport.Labels(name, labels)
	series := protobuf.Message(nil, 1, set)
	series = protobuf.Message(series, 2, protobuf.Message(nil, 1, profile))
	_, err := c.Call(ctx, writeMethod, protobuf.Message(nil, 2, series))
	return err
}
