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
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// Labels with a meaning of their own.
const (
	JobLabel  = "job"
	nameLabel = "__name__"
)

// A Selection is what is asked for.
type Selection struct {
	// Labels are names and the values that profiles are to have.
	Labels      [][2]string
	From, Until time.Time
}

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
	var damaged error
	err = protobuf.Each(answer, func(f protowire.Number, body []byte, _ uint64) {
		if f != 1 || damaged != nil {
			return
		}
		var parts [5]string
		delta := ""
		damaged = protobuf.Each(body, func(f protowire.Number, body []byte, number uint64) {
			switch {
			case f >= 1 && int(f) <= len(parts):
				parts[f-1] = string(body)
			case number != 0:
				delta = ":delta"
			}
		})
		types = append(types, strings.Join(parts[:], ":")+delta)
	})
	if err = errors.Join(err, damaged); err != nil {
		return nil, fmt.Errorf("the server's answer is damaged: %w", err)
	}
	slices.Sort(types)
	return slices.Compact(types), nil
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
	var list []string
	if err := protobuf.Each(answer, func(f protowire.Number, body []byte, _ uint64) {
		if f == 1 {
			list = append(list, string(body))
		}
	}); err != nil {
		return nil, fmt.Errorf("the server's answer is damaged: %w", err)
	}
	slices.Sort(list)
	return list, nil
}

// Query returns all profiles of a type that the selection has as one profile of pprof.
func Query(ctx context.Context, c *transport.Client, s Selection, typ string) ([]byte, error) {
	var list []string
	for _, l := range s.Labels {
		list = append(list, l[0]+"="+strconv.Quote(l[1]))
	}
	const modeMerge, reportPprof = 2, 1
	merge := protobuf.String(nil, 1, typ+"{"+strings.Join(list, ", ")+"}")
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
	if err := protobuf.Each(answer, func(f protowire.Number, body []byte, _ uint64) {
		if f == 6 {
			profile = body
		}
	}); err != nil {
		return nil, fmt.Errorf("the server's answer is damaged: %w", err)
	}
	return profile, nil
}

// Write sends a profile of pprof. name is what its types are grouped under, such as process_cpu.
func Write(ctx context.Context, c *transport.Client, name string, labels [][2]string, profile []byte) error {
	var set []byte
	for _, l := range append([][2]string{{nameLabel, name}}, labels...) {
		set = protobuf.Message(set, 1, protobuf.String(protobuf.String(nil, 1, l[0]), 2, l[1]))
	}
	series := protobuf.Message(nil, 1, set)
	series = protobuf.Message(series, 2, protobuf.Message(nil, 1, profile))
	_, err := c.Call(ctx, writeMethod, protobuf.Message(nil, 2, series))
	return err
}
