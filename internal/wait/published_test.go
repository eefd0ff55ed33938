package wait

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/run"
)

// A contention is a row of testdata/contention.tsv.
type contention struct {
	start, duration    int64
	pid, waiter, owner int64
	blocked, held      string
}

// published reads the contentions of a recording of a phone, whose figures Perfetto publishes.
func published(t *testing.T) (all []contention) {
	t.Helper()
	f, err := os.Open("testdata/contention.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		fields := strings.Split(s.Text(), "\t")
		var n [5]int64
		for i := range n {
			if n[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, contention{n[0], n[1], n[2], n[3], n[4], fields[5], fields[6]})
	}
	return all
}

// A recording makes runs with waits.
type recording struct {
	*run.Builder
	threads map[string]run.ThreadID
}

func newRecording() *recording {
	b := run.NewBuilder("test")
	b.Run().Threads = []run.Thread{{}}
	return &recording{b, make(map[string]run.ThreadID)}
}

// thread returns the thread of a name: "main" is that of its process.
func (r *recording) thread(name string, pid, tid int64) run.ThreadID {
	if name == "" {
		return 0
	}
	id, ok := r.threads[name]
	if !ok {
		id = run.ThreadID(len(r.Run().Threads))
		r.Run().Threads = append(r.Run().Threads, run.Thread{Process: "app", Name: name, PID: pid, TID: tid, Main: name == "main" || pid == tid && pid > 0})
		r.threads[name] = id
	}
	return id
}

// stack makes a stack of functions, outermost first, of "a;b".
func (r *recording) stack(functions string) (stack run.StackID) {
	if functions == "" {
		return 0
	}
	for name := range strings.SplitSeq(functions, ";") {
		f := r.Function(run.Function{Name: name})
		stack = r.Stack(stack, r.Location(0, 0, run.Line{Function: f}))
	}
	return stack
}

func (r *recording) finish(t *testing.T) *run.Run {
	t.Helper()
	done, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// ofPublished makes a run of the published contentions.
func ofPublished(t *testing.T) *run.Run {
	t.Helper()
	rec := newRecording()
	thread := func(pid, tid int64) run.ThreadID { return rec.thread(strconv.FormatInt(tid, 10), pid, tid) }
	for _, c := range published(t) {
		w := run.Wait{
			Kind: run.Contended, Start: c.start, End: c.start + c.duration,
			Thread: thread(c.pid, c.waiter), Stack: rec.stack(c.blocked), Owner: thread(c.pid, c.owner), OwnerStack: rec.stack(c.held),
		}
		rec.Run().Waits = append(rec.Run().Waits, w)
	}
	return rec.finish(t)
}

// TestPublished checks the figures that Perfetto publishes: the sum of durations, what of it is in
// MessageQueue and of main threads. The time behind a second thread is of every overlap of two
// waits, of which Perfetto's own table has those three that begin within the other.
func TestPublished(t *testing.T) {
	report := New(ofPublished(t), nil)
	check := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	check("contentions", report.All.Count, 381)
	check("sum of waits", report.All.TotalNS, 381_407_563)
	check("sum of chains", report.Waited.TotalNS, 381_407_563)
	check("union by holder", report.HeldNS, 213_519_745)
	check("behind a second thread", report.Behind.TotalNS, 17_894_362)
	check("deadlocks", int64(len(report.Cycles)), 0)
	var pairs int64
	for _, c := range report.Chains {
		if len(c.Links) == 3 {
			pairs += c.Count
		}
		if len(c.Links) > 3 {
			t.Errorf("a chain of %d threads", len(c.Links))
		}
	}
	check("pairs", pairs, 8)
	var queue, main Sum
	for _, l := range report.Locks {
		if strings.HasPrefix(l.Blocked.Function, "MessageQueue.java:") {
			queue.Add(&l.Sum)
			main.Add(&l.Main)
		}
	}
	check("in MessageQueue", queue.Count, 198)
	check("time in MessageQueue", queue.TotalNS, 51_111_724)
	check("time in MessageQueue of main threads", main.TotalNS, 21_996_792)
	var held int64
	for _, b := range report.Blockers {
		held += b.HeldNS
	}
	check("union by holder, of the sweep", held, 213_519_745)
}
