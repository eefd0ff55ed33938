package branch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadStatText(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []Counter
		warnings   []string
		err        string
	}{
		{
			"perf",
			"started\n\n Performance counter stats for './app -x':\n\n         0.98 msec task-clock:u    #    0.218 CPUs utilized  \n" +
				"     1,234,567      branch-misses:u     #    7.60% of all branches          ( +-  0.50% )  (83.21%)\n" +
				"   <not supported>      cycles\n     16244302 cpu_core/branches/u\n\n       0.0045 seconds time elapsed\n\n       0.1 seconds user\n bye\n",
			[]Counter{{"task-clock:u", 0.98, 0}, {"branch-misses:u", 1234567, 0.8321}, {"cpu_core/branches/u", 16244302, 0}},
			[]string{"cycles was not counted"},
			"",
		},
		{
			"repeated", " Performance counter stats for 'a' (5 runs):\n 12 branch-misses ( +- 1.00% )\n 12 branch-misses\n  0.0045 +- 0.0001 seconds time elapsed  ( +-  1.51% )\n",
			[]Counter{{"branch-misses", 12, 0}},
			[]string{"values are means of repeated runs", "branch-misses is counted more than once, the first is taken"},
			"",
		},
		{
			"simpleperf",
			"Performance counter statistics:\n\n#           count  event_name                # count / runtime\n       16,513,564  raw-br-mis-pred:u         # 1.612 M/sec  (75%)\n      688.190(ms)  task-clock                # 0.9 cpus used\n\nTotal test time: 1.005 seconds.\n",
			[]Counter{{"raw-br-mis-pred:u", 16513564, 0.75}, {"task-clock", 688.19, 0}},
			nil, "",
		},
		{"another locale", " Performance counter stats for 'a':\n 1.234.567 branch-misses\n", []Counter{{"branch-misses", 1234567, 0}}, nil, ""},
		{"old unit", " Performance counter stats for 'a':\n 0.98 task-clock (msec) # 0.2 CPUs utilized\n", []Counter{{"task-clock", 0.98, 0}}, nil, ""},
		{"nothing", " Performance counter stats for 'a':\n", nil, nil, "no counters"},
		{"no number", " Performance counter stats for 'a':\n x branch-misses\n", nil, nil, `line 2: "x branch-misses" is no count of perf stat or simpleperf stat`},
		{"bad part", " Performance counter stats for 'a':\n 1 branch-misses (120%)\n", nil, nil, `line 2: "(120%)" is no part of the time`},
		{"two runs", "Performance counter statistics:\n 1 cycles\nPerformance counter statistics:\n", nil, nil, "line 3: a second interval: give one"},
		{"by thread", "Performance counter statistics:\n\n# thread_name pid tid count event_name # x\n app 1 1 5 cycles\n", nil, nil, "line 3: counts by thread or CPU: only those of all are read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := ReadStatText("x", strings.NewReader(test.text))
			if test.err != "" {
				if s != nil || err == nil || err.Error() != test.err {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.Counters); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.warnings, s.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}
