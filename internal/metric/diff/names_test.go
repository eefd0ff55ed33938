package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/metric"
)

// TestNames checks what meets what where the sides name commands or benchmarks.
func TestNames(t *testing.T) {
	// A metric is KIND:SUBJECT:QUANTITY.
	list := func(text string) (metrics []*metric.Metric) {
		for name := range strings.FieldsSeq(text) {
			parts := strings.Split(name, ":")
			m := of(parts[2], "ms", [][]float64{{1}, {2}})
			m.Kind, m.Subject = parts[0], parts[1]
			metrics = append(metrics, m)
		}
		return metrics
	}
	type result struct {
		Compared []string
		Only     [2][]string
		Names    string
	}
	for _, test := range []struct {
		name, base, head string
		want             result
	}{
		{"one a side", "command:./old:time command:./old:memory", "command:./new:memory command:./new:time command:./new:user", result{
			[]string{"./old → ./new time", "./old → ./new memory"},
			[2][]string{nil, {"./new user"}},
			"base has one command, ./old, and head one, ./new: these are compared",
		}},
		{"the same", "command:./x:time", "command:./x:time", result{[]string{"./x time"}, [2][]string{}, ""}},
		{"several", "benchmark:A:time benchmark:B:time", "benchmark:A:time benchmark:C:time", result{
			[]string{"A time"},
			[2][]string{{"B time"}, {"C time"}},
			"base alone has the benchmark B, and head alone C: --metric REGEXP that leaves one benchmark a side compares these",
		}},
		{"one of several", "benchmark:A:time", "benchmark:B:time benchmark:C:time", result{
			nil,
			[2][]string{{"A time"}, {"B time", "C time"}},
			"base alone has the benchmark A, and head alone B: --metric REGEXP that leaves one benchmark a side compares these",
		}},
		{"one more", "benchmark:A:time", "benchmark:A:time benchmark:B:time", result{[]string{"A time"}, [2][]string{nil, {"B time"}}, ""}},
		{"other tools", "command:./old:time", "benchmark:A:time", result{nil, [2][]string{{"./old time"}, {"A time"}}, ""}},
		{"no quantity in common", "command:./old:time", "command:./new:memory", result{nil, [2][]string{{"./old time"}, {"./new memory"}}, ""}},
		// What is sent is not what was received, whatever each side has alone.
		{"no program", ":sent:throughput", ":received:throughput", result{nil, [2][]string{{"sent throughput"}, {"received throughput"}}, ""}},
	} {
		c := Compare(list(test.base), list(test.head), Options{})
		got := result{Only: c.Only, Names: c.Names}
		for i := range c.Metrics {
			got.Compared = append(got.Compared, c.Metrics[i].Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
