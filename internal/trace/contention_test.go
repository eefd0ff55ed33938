package trace

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseContention(t *testing.T) {
	next := Site{"android.os.Message android.os.MessageQueue.next()", "MessageQueue.java", 337}
	wake := Site{"void android.os.MessageQueue.nativeWake(long)", "MessageQueue.java", -2}
	for _, c := range []struct {
		name string
		want Contention
		ok   bool
	}{
		{
			"monitor contention with owner binder:642_1 (657) at void android.os.MessageQueue.nativeWake(long)(MessageQueue.java:-2) waiters=3 blocking from android.os.Message android.os.MessageQueue.next()(MessageQueue.java:337)",
			Contention{Owner: "binder:642_1", OwnerTID: 657, Held: wake, Blocked: next, Waiters: 3},
			true,
		},
		{
			"monitor contention with owner pool (1) (30) waiters=0 blocking from android.os.Message android.os.MessageQueue.next()(MessageQueue.java:337)",
			Contention{Owner: "pool (1)", OwnerTID: 30, Blocked: next},
			true,
		},
		{
			"monitor contention with owner pool (1) at 3 (30) waiters=0",
			Contention{Owner: "pool (1) at 3", OwnerTID: 30},
			true,
		},
		{
			"monitor contention with owner a waiters=2 blocking from b (30) waiters=1",
			Contention{Owner: "a waiters=2 blocking from b", OwnerTID: 30, Waiters: 1},
			true,
		},
		{
			"monitor contention with owner  (0) at void a.b()(null:0) waiters=0 blocking from void a.c(java.lang.Str",
			Contention{Held: Site{"void a.b()", "null", 0}, Blocked: Site{Method: "void a.c(java.lang.Str"}},
			true,
		},
		{"monitor contention with owner main (1204)", Contention{Owner: "main", OwnerTID: 1204}, true},
		{"Lock contention on thread list lock (owner tid: 1665)", Contention{Lock: "thread list lock", OwnerTID: 1665}, true},
		{"Lock contention on a monitor lock (owner tid: 0)", Contention{Lock: MonitorLock}, true},
		{"Lock contention on x (y) (owner tid: 2)", Contention{Lock: "x (y)", OwnerTID: 2}, true},
		{name: "Lock contention on non-main thread"},
		{name: "Lock contention on  (owner tid: -1)"},
		{name: "monitor contention with something else"},
		{name: "monitor contention with owner x"},
		{name: "monitor contention with owner x (99999999999)"},
		{name: "Long monitor contention with owner x (1)"},
		{name: ""},
	} {
		got, ok := ParseContention(c.name)
		if ok != c.ok {
			t.Errorf("%q: %v, want %v", c.name, ok, c.ok)
		}
		if !ok {
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", c.name, diff)
		}
	}
}

func TestSiteName(t *testing.T) {
	for method, want := range map[string]string{
		"boolean android.os.MessageQueue.enqueueMessage(android.os.Message, long)": "android.os.MessageQueue.enqueueMessage",
		"a.b.C$D[] a.b.E.<init>(int, int)":                                         "a.b.E.<init>",
		"main":                                                                     "main",
		"":                                                                         "",
	} {
		if got := (Site{Method: method}).Name(); got != want {
			t.Errorf("%q is called %q, want %q", method, got, want)
		}
	}
}

// print writes a contention as the runtime does.
func (c *Contention) print() string {
	if c.Lock != "" {
		return fmt.Sprintf("Lock contention on %s (owner tid: %d)", c.Lock, c.OwnerTID)
	}
	name := fmt.Sprintf("monitor contention with owner %s (%d)", c.Owner, c.OwnerTID)
	if c.Held != (Site{}) {
		name += fmt.Sprintf(" at %s(%s:%d)", c.Held.Method, c.Held.File, c.Held.Line)
	}
	name += fmt.Sprintf(" waiters=%d", c.Waiters)
	if c.Blocked != (Site{}) {
		name += fmt.Sprintf(" blocking from %s(%s:%d)", c.Blocked.Method, c.Blocked.File, c.Blocked.Line)
	}
	return name
}

// FuzzParseContention checks that what was parsed and is printed is parsed to the same: no part of a
// name is lost, whatever threads and locks are called.
func FuzzParseContention(f *testing.F) {
	f.Add("monitor contention with owner pool (1) at 3 (30) at void a.b()(F.java:3) waiters=0 blocking from void a.c()(G.java:-2)")
	f.Add("Lock contention on x (y) (owner tid: 2)")
	f.Add("monitor contention with owner a blocking from b (1) waiters=2")
	f.Fuzz(func(t *testing.T, name string) {
		c, ok := ParseContention(name)
		if !ok {
			return
		}
		if c.Blocked.File == "" && c.Blocked.Line == 0 {
			return // cut, so that it is printed with what was cut
		}
		again, ok := ParseContention(c.print())
		if diff := cmp.Diff(c, again); !ok || diff != "" {
			t.Errorf("%q is printed %q: -first +second\n%s", name, c.print(), diff)
		}
	})
}
