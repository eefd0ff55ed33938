package stackdump

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
)

// TestHotSpot reads what jstack -l of OpenJDK 17 printed of a program with two threads that wait
// for each other.
func TestHotSpot(t *testing.T) {
	data := dumpFileOf(t, "jstack.txt")
	if !RecogniseHotSpot(data).Is {
		t.Error("is not recognised")
	}
	r := ingesttest.Read(t, ReadHotSpot, data, &reading.Options{TID: true, Waits: true})
	if got, want := r.Accounting.String(), "samples: 28 in = 13 out + 0 filtered + 15 dropped (thread without a stack: 15); 0 lost; 0.0% of frames unknown"; got != want {
		t.Errorf("accounting %s, want %s", got, want)
	}
	if want := time.Duration(0); r.Recording.Duration != want || !r.Recording.Start.IsZero() {
		t.Errorf("from %v for %v: where it was is not known", r.Recording.Start, r.Recording.Duration)
	}
	var got []string
	for _, s := range dumpSamples(t, r) {
		if s.thread == "first" || s.thread == "busy" {
			got = append(got, s.thread+" "+s.state+" "+s.stack)
		}
	}
	if d := cmp.Diff([]string{
		"first BLOCKED (on object monitor) java.lang.Thread.run;L$$Lambda$1.run;L.lambda$main$0;L.ab",
		"busy RUNNABLE java.lang.Thread.run;L$$Lambda$7.run;L.lambda$main$6",
	}, got); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	got = nil
	for _, line := range lockLines(r) {
		if !strings.Contains(line, "ReferenceQueue") {
			got = append(got, line)
		}
	}
	if d := cmp.Diff([]string{
		"1: /first -1/25471 (BLOCKED (on object monitor)) in L.ab<L.lambda$main$0<L$$Lambda$1.run<java.lang.Thread.run waits for 0x000000069ec1a4d8 (a java.lang.Object) of /second \"q\" -1/25472 in L.ab<L.lambda$main$1<L$$Lambda$2.run<java.lang.Thread.run",
		"1: /second \"q\" -1/25472 (BLOCKED (on object monitor)) in L.ab<L.lambda$main$1<L$$Lambda$2.run<java.lang.Thread.run waits for 0x000000069ec1a4c8 (a java.lang.Object) of /first -1/25471 in L.ab<L.lambda$main$0<L$$Lambda$1.run<java.lang.Thread.run",
	}, got[:2]); d != "" {
		t.Errorf("cycle (-want +got):\n%s", d)
	}
	var owned []string
	for _, line := range got {
		if strings.Contains(line, "NonfairSync") || strings.Contains(line, "took") {
			owned = append(owned, line[:min(len(line), 70)])
		}
	}
	if d := cmp.Diff([]string{
		"1: /parked -1/25476 (WAITING (parking)) in jdk.internal.misc.Unsafe.pa",
		"1: /first -1/25471 took 0x000000069ec1a4c8 (a java.lang.Object) in L.a",
		"1: /second \"q\" -1/25472 took 0x000000069ec1a4d8 (a java.lang.Object) i",
		"1: /owner -1/25475 took 0x000000069ec1a650 (a java.util.concurrent.loc",
		"1: /slow holder -1/25478 took 0x000000069ec19c78 (a java.lang.Class fo",
	}, owned); d != "" {
		t.Errorf("what threads have (-want +got):\n%s", d)
	}
	if w := ingesttest.ReaderWarnings(r); w != nil {
		t.Errorf("warnings %q", w)
	}
}

func TestHotSpotParts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		warnings   []string
	}{
		{
			"JDK 7, two dumps", "Full thread dump Java HotSpot(TM) 64-Bit Server VM (24.80-b11 mixed mode):\n\n\"main\" prio=10 tid=0x00007f5e3c008800 nid=0x2a11 waiting for monitor entry [0x00007f5e44a2d000]\n   java.lang.Thread.State: BLOCKED (on object monitor)\n" +
				"\tat a.B.c(B.java:3)\n\t- waiting to lock <0x00000007d5e567c8> (a java.lang.Object)\n\n\"x\" daemon prio=10 tid=0x00007f5e3c008900 nid=0x2a12 runnable [0x0]\n   java.lang.Thread.State: RUNNABLE\n\tat a.B.d(B.java:4)\n\t- locked <0x00000007d5e567c8> (a java.lang.Object)\n" +
				"Full thread dump Java HotSpot(TM) 64-Bit Server VM (24.80-b11 mixed mode):\n\n\"main\" prio=10 tid=0x00007f5e3c008800 nid=0x2a11 in Object.wait() [0x00007f5e44a2d000]\n   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat a.B.c(B.java:3)\n\t- waiting to lock <0x00000007d5e567c8> (a java.lang.Object)\n",
			[]string{
				"1: /main -1/10769 (BLOCKED (on object monitor)) in a.B.c waits for 0x00000007d5e567c8 (a java.lang.Object) of /x -1/10770 in a.B.d",
				"2: /main -1/10769 (BLOCKED (on object monitor)) in a.B.c waits for 0x00000007d5e567c8 (a java.lang.Object)",
				"1: /x -1/10770 took 0x00000007d5e567c8 (a java.lang.Object) in a.B.d",
			},
			[]string{"1 of 2 threads that wait for a lock wait for what no thread lists as locked: who has it is not known"},
		},
		{
			"JDK 21", "\"main\" #1 [4711] prio=5 os_prio=0 cpu=1.0ms elapsed=1.0s tid=0x00007f1 nid=4711 waiting on condition  [0x0]\n   java.lang.Thread.State: WAITING (parking)\n\tat jdk.internal.misc.Unsafe.park(java.base@21/Native Method)\n\t- parking to wait for  <0x01> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)\n" +
				"\n\"G1 Conc#0\" os_prio=0 cpu=1.0ms elapsed=1.0s tid=0x00007f2 nid=4712 runnable\n\"y\" #2 tid=0x3 nid=4713 in Object.wait()  [0x0]\n\tat a.B.d(app//B.java:4)\n\t- waiting to re-lock in wait() <0x02> (a X)\n\tat a.B.e(B.java:4)\n\t- locked <0x02> (a X)\n\t- eliminated <owner is scalar replaced> (a X)\n\t- waiting on <no object reference available>\n",
			[]string{
				"1: /y -1/4713 (in Object.wait()) in a.B.d<a.B.e waits for 0x02 (a X)",
			},
			[]string{"1 of 1 threads that wait for a lock wait for what no thread lists as locked: who has it is not known"},
		},
		{
			"jcmd, of two processes, and lines that are not understood", "4711:\n2026-11-23 02:54:26\nFull thread dump OpenJDK\n\"a\" #1 tid=0x3 nid=0x9 runnable [0x0]\n\tat a.B.d(B.java:4)\n\t- locked 0x02 (a X)\n\n   Locked ownable synchronizers:\n\t- <0x03> (a Y)\n\t- 0x04\n\n4712:\n2026-11-23 02:54:26\nFull thread dump OpenJDK\n\"a\" #1 tid=0x3 nid=0x8 runnable [0x0]\n\tat a.B.d(B.java:4)\n\t- locked <0x02> (a X)\n",
			[]string{"1: /a 4711/9 took 0x03 (a Y) in ", "2: /a 4712/8 took 0x02 (a X) in a.B.d"},
			[]string{`2 lines on locks are left out because they are not understood: line 6 is "locked 0x02 (a X)"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !RecogniseHotSpot([]byte(tt.text)).Is {
				t.Error("is not recognised")
			}
			r := ingesttest.Read(t, ReadHotSpot, []byte(tt.text), &reading.Options{Waits: true})
			if d := cmp.Diff(tt.want, lockLines(r)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.warnings, ingesttest.ReaderWarnings(r)); d != "" {
				t.Errorf("warnings (-want +got):\n%s", d)
			}
		})
	}
	if _, err := ReadHotSpot(ingesttest.Source(t, []byte("\"a\" #1 tid=0x3 nid=0x9 runnable\n\tat nowhere\n")), &reading.Options{}); err == nil || err.Error() != `line 2: "nowhere" is no Java frame` {
		t.Errorf("got %v", err)
	}
}

// TestHotSpotNot checks that dumps of ART are none of HotSpot.
func TestHotSpotNot(t *testing.T) {
	for _, name := range []string{"anr.txt", "old.txt", "tombstone.txt"} {
		if RecogniseHotSpot(dumpFileOf(t, name)).Is {
			t.Errorf("%s is taken for a dump of HotSpot", name)
		}
	}
}

func FuzzHotSpot(f *testing.F) {
	f.Add(dumpFileOf(f, "jstack.txt"))
	f.Add([]byte("4711:\n2026-11-23 02:54:26\n\"a\" #1 tid=0x3 nid=0x9 runnable [0x0]\nat a.B$$Lambda/0x0f.d(m@1/B.java:4)\n- parking to wait for  <0x1> (a X)\nLocked ownable synchronizers:\n- <0x1> (a X)\nFound one Java-level deadlock:\n\"b\":\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return // gzip is undone before
		}
		ingesttest.Fuzz(t, ReadHotSpot, data, &reading.Options{PID: true, TID: true, Waits: true})
		RecogniseHotSpot(data)
	})
}
