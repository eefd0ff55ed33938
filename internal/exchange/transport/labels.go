package transport

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/protobuf"
)

// A Selection is what a server is asked for.
type Selection struct {
	// Labels are names and the values that profiles are to have.
	Labels      [][2]string
	From, Until time.Time
}

// Selector is the selection of labels as servers read it: {service_name="shop", region="eu"}.
func (s *Selection) Selector() string {
	var list []string
	for _, l := range s.Labels {
		list = append(list, l[0]+"="+strconv.Quote(l[1]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// nameLabel is the label with the name of a series.
const nameLabel = "__name__"

// Labels is a list of labels as field 1 of a message: the name of the series, then the others.
func Labels(name string, labels [][2]string) (set []byte) {
	for _, l := range append([][2]string{{nameLabel, name}}, labels...) {
		set = protobuf.Message(set, 1, protobuf.String(protobuf.String(nil, 1, l[0]), 2, l[1]))
	}
	return set
}

// Each calls read with the values of a field of a server's answer.
func Each(answer []byte, field protowire.Number, read func(body []byte) error) error {
	var first error
	err := protobuf.Each(answer, func(f protowire.Number, body []byte, _ uint64) {
		if f == field && first == nil {
			first = read(body)
		}
	})
	if err = cmp.Or(err, first); err != nil {
		return fmt.Errorf("the server's answer is damaged: %w", err)
	}
	return nil
}

// Names is an answer that is a list of names, sorted.
func Names(answer []byte) (names []string, err error) {
	err = Each(answer, 1, func(name []byte) error {
		names = append(names, string(name))
		return nil
	})
	slices.Sort(names)
	return names, err
}
