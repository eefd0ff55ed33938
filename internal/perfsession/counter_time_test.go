package perfsession

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCounterTimes adds up for how long counters were on the hardware: by thread where they
// are inherited, and without what makes no sense.
func TestCounterTimes(t *testing.T) {
	const attr = "header\nattr type=hardware sample_period=9 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID flags=sample_id_all|inherit ids=[1]\n"
	for _, test := range []struct {
		name, text string
		want       map[int]CounterTime
	}{
		{
			"two threads", attr + `SAMPLE misc=USER ip=1 pid=1 tid=1 time=1 id=1 read={value=1,time_enabled=100,time_running=40,id=1}
SAMPLE misc=USER ip=1 pid=1 tid=2 time=2 id=1 read={value=1,time_enabled=10,time_running=10,id=1}
SAMPLE misc=USER ip=1 pid=1 tid=1 time=3 id=1 read={value=2,time_enabled=300,time_running=140,id=1}
`,
			map[int]CounterTime{0: {310, 150}},
		},
		{
			"times that run back, and more on the hardware than there was", attr + `SAMPLE misc=USER ip=1 pid=1 tid=1 time=1 id=1 read={value=1,time_enabled=100,time_running=40,id=1}
SAMPLE misc=USER ip=1 pid=1 tid=1 time=2 id=1 read={value=1,time_enabled=50,time_running=40,id=1}
SAMPLE misc=USER ip=1 pid=1 tid=2 time=3 id=1 read={value=1,time_enabled=50,time_running=60,id=1}
`,
			map[int]CounterTime{0: {100, 40}},
		},
		{
			"an event of a group counts with its leader",
			`header
attr type=hardware sample_period=9 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP flags=sample_id_all ids=[1]
attr type=hardware config=1 sample_period=9 sample_type=IP|TID|TIME|READ|ID read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP flags=sample_id_all ids=[2]
SAMPLE misc=USER ip=1 pid=1 tid=1 time=1 id=1 read={time_enabled=100,time_running=50,values=[{value=1,id=1},{value=1,id=2}]}
SAMPLE misc=USER ip=1 pid=1 tid=1 time=2 id=2 read={time_enabled=300,time_running=150,values=[{value=1,id=1},{value=2,id=2}]}
`,
			map[int]CounterTime{0: {100, 50}, 1: {200, 100}},
		},
		{"nothing read", clockAttr + app + "SAMPLE misc=USER ip=0x400010 pid=10 tid=10 time=10\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := replayText(t, test.text)
			if diff := cmp.Diff(test.want, s.Stats.Times); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
