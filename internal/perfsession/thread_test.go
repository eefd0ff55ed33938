package perfsession

import (
	"fmt"
	"slices"
	"testing"
)

// userMapOf maps a file over the program of app.
func userMapOf(tid, time int, file string) string {
	return fmt.Sprintf("MMAP2 misc=USER pid=10 tid=%d start=0x400000 len=0x1000 prot=EXEC filename=%q", tid, file) + sampleID(10, tid, time)
}

// TestThreads: which thread, process and address space a sample is of.
func TestThreads(t *testing.T) {
	fork := func(pid, ppid, tid, ptid string) string {
		return "FORK pid=" + pid + " ppid=" + ppid + " tid=" + tid + " ptid=" + ptid
	}
	runReplayTests(t, []replayTest{
		{
			"names are those at the time",
			clockAttr + app + sampleOf(10, 10, 1) +
				"COMM pid=10 tid=10 comm=\"new\"" + sampleID(10, 10, 2) + sampleOf(10, 10, 3),
			[]string{"1 app/app app+1010", "3 new/new app+1010"},
		},
		{
			"that of a thread is not that of its process",
			clockAttr + app + "COMM pid=10 tid=11 comm=\"worker\"" + sampleID(10, 11, 1) +
				sampleOf(10, 11, 2) + sampleOf(10, 10, 3),
			[]string{"2 app/worker app+1010", "3 app/app app+1010"},
		},
		{
			"that of the process is not that of its threads",
			clockAttr + app + sampleOf(10, 11, 1) + "COMM pid=10 tid=10 comm=\"main\"" + sampleID(10, 10, 2) + sampleOf(10, 11, 3),
			[]string{"1 app/app app+1010", "3 main/app app+1010"},
		},
		{
			"threads that no record tells of are named as their process",
			clockAttr + app + sampleOf(10, 12, 1) + sampleOf(99, 99, 2),
			[]string{"1 app/app app+1010", "2 ?/? ?400010"},
		},
		{
			"the kernel's idle threads",
			clockAttr + "SAMPLE misc=KERNEL ip=0xffffffff81000010 pid=0 tid=0 time=1",
			[]string{"1 swapper/swapper K:?ffffffff81000010"},
		},
		{
			"threads share the address space of their process",
			clockAttr + app + fork("10", "10", "11", "10") + sampleID(10, 10, 1) + sampleOf(10, 11, 2) +
				userMapOf(11, 3, "/bin/other") +
				sampleOf(10, 11, 4) + sampleOf(10, 10, 5),
			[]string{"2 app/app app+1010", "4 app/app other+10", "5 app/app other+10"},
		},
		{
			"threads start with the name of the thread that makes them",
			clockAttr + app + "COMM pid=10 tid=11 comm=\"worker\"" + sampleID(10, 11, 1) +
				fork("10", "10", "12", "11") + sampleID(10, 11, 2) + sampleOf(10, 12, 3),
			[]string{"3 app/worker app+1010"},
		},
		{
			"a process starts with a copy of its parent's address space",
			clockAttr + app + fork("20", "10", "20", "10") + sampleID(10, 10, 1) + sampleOf(20, 20, 2) +
				"MMAP2 misc=USER pid=20 tid=20 start=0x400000 len=0x1000 prot=EXEC filename=\"/bin/child\"" + sampleID(20, 20, 3) +
				sampleOf(20, 20, 4) + sampleOf(10, 10, 5) +
				userMapOf(10, 6, "/bin/parent") +
				sampleOf(20, 20, 7) + sampleOf(10, 10, 8),
			[]string{"2 app/app app+1010", "4 app/app child+10", "5 app/app app+1010", "7 app/app child+10", "8 app/app parent+10"},
		},
		{
			"and with the name of the thread that makes it",
			clockAttr + app + "COMM pid=10 tid=11 comm=\"worker\"" + sampleID(10, 11, 1) +
				fork("20", "10", "20", "11") + sampleID(10, 11, 2) + sampleOf(20, 20, 3) +
				"COMM pid=20 tid=20 comm=\"child\"" + sampleID(20, 20, 4) + sampleOf(20, 20, 5) + sampleOf(10, 11, 6),
			[]string{"3 worker/worker app+1010", "5 child/child app+1010", "6 app/worker app+1010"},
		},
		{
			// perf writes such records of the processes that run when it starts,
			// with their mappings behind.
			"a process that perf notes has the mappings that it notes",
			clockAttr + app + "FORK misc=FORK_EXEC pid=20 ppid=10 tid=20 ptid=10" + sampleID(0, 0, 0) + sampleOf(20, 20, 2),
			[]string{"2 app/app ?400010"},
		},
		{
			"exec: the mappings of the old program are gone",
			clockAttr + app + "COMM misc=COMM_EXEC pid=10 tid=10 comm=\"next\"" + sampleID(10, 10, 1) +
				"MMAP2 misc=USER pid=10 tid=10 start=0x400000 len=0x800 prot=EXEC filename=\"/bin/next\"" + sampleID(10, 10, 3) +
				sampleOf(10, 10, 2) + sampleOf(10, 10, 4) +
				"SAMPLE misc=USER ip=0x400810 pid=10 tid=10 time=5\n",
			[]string{"2 next/next ?400010", "4 next/next next+10", "5 next/next ?400810"},
		},
		{
			// What perf gets wrong: it takes the lowest mapping of a library for where
			// the library is, whichever of the two programs mapped it.
			"exec after fork: the child's libraries are where it mapped them",
			clockAttr + app + fork("20", "10", "20", "10") + sampleID(10, 10, 1) +
				"COMM misc=COMM_EXEC pid=20 tid=20 comm=\"next\"" + sampleID(20, 20, 2) +
				"MMAP2 misc=USER pid=20 tid=20 start=0x900000 len=0x1000 pgoff=0x2000 prot=EXEC filename=\"/lib/libx.so\"" + sampleID(20, 20, 3) +
				"SAMPLE misc=USER ip=0x900010 pid=20 tid=20 time=4\nSAMPLE misc=USER ip=0x700010 pid=20 tid=20 time=5\n" +
				"SAMPLE misc=USER ip=0x700010 pid=10 tid=10 time=6\n",
			[]string{"4 next/next libx.so+2010", "5 next/next ?700010", "6 app/app libx.so+10"},
		},
		{
			"a name without exec changes no mapping",
			clockAttr + app + "COMM pid=10 tid=10 comm=\"next\"" + sampleID(10, 10, 1) + sampleOf(10, 10, 2),
			[]string{"2 next/next app+1010"},
		},
		{
			"a process number that is used again",
			clockAttr + app +
				"COMM pid=20 tid=20 comm=\"old\"\nMMAP2 misc=USER pid=20 tid=20 start=0x400000 len=0x1000 prot=EXEC filename=\"/bin/old\"\n" +
				sampleOf(20, 20, 1) + "EXIT pid=20 ppid=10 tid=20 ptid=10" + sampleID(20, 20, 2) +
				fork("20", "10", "20", "10") + sampleID(10, 10, 3) + sampleOf(20, 20, 4),
			[]string{"1 old/old old+10", "4 app/app app+1010"},
		},
		{
			"a thread number that is used again in another process",
			clockAttr + app + "COMM pid=10 tid=11 comm=\"worker\"" + sampleID(10, 11, 1) + sampleOf(10, 11, 2) +
				"EXIT pid=10 ppid=10 tid=11 ptid=10" + sampleID(10, 11, 3) +
				"COMM pid=20 tid=20 comm=\"b\"" + sampleID(20, 20, 4) + sampleOf(20, 11, 5),
			[]string{"2 app/worker app+1010", "5 b/b ?400010"},
		},
		{
			"samples after the end of their thread",
			clockAttr + app + sampleOf(10, 10, 1) + "EXIT pid=10 ppid=1 tid=10 ptid=1" + sampleID(10, 10, 2) + sampleOf(10, 10, 3),
			[]string{"1 app/app app+1010", "3 app/app app+1010"},
		},
		{
			"a thread that makes itself changes nothing",
			clockAttr + app + fork("10", "0", "10", "10") + sampleID(10, 10, 1) + sampleOf(10, 10, 2),
			[]string{"2 app/app app+1010"},
		},
		{
			"a thread that takes over the number of its process stays in it",
			clockAttr + app + fork("10", "10", "10", "11") + sampleID(10, 11, 1) + userMapOf(11, 2, "/bin/other") + sampleOf(10, 10, 3),
			[]string{"3 app/app other+10"},
		},
		{
			// A mapping of the child was noted first; the parent's are added, and
			// cover it.
			"simpleperf: mappings of a child may come before it",
			clockAttr + app +
				"MMAP2 misc=USER pid=20 tid=20 start=0x800000 len=0x1000 prot=EXEC filename=\"/lib/early.so\"" + sampleID(20, 20, 1) +
				"MMAP2 misc=USER pid=20 tid=20 start=0x400800 len=0x1000 prot=EXEC filename=\"/lib/under.so\"" + sampleID(20, 20, 1) +
				fork("20", "10", "20", "10") + sampleID(10, 10, 2) + sampleOf(20, 20, 3) +
				"SAMPLE misc=USER ip=0x800010 pid=20 tid=20 time=4\n" +
				"SAMPLE misc=USER ip=0x400810 pid=20 tid=20 time=5\n" +
				"SAMPLE misc=USER ip=0x401010 pid=20 tid=20 time=6\n" +
				"SAMPLE misc=USER ip=0x800010 pid=10 tid=10 time=7\n" + bySimpleperf,
			[]string{
				"3 app/app app+1010", "4 app/app early.so+10", "5 app/app app+1810",
				"6 app/app under.so+810", "7 app/app ?800010",
			},
		},
		{
			"perf: a process that starts has none but its parent's",
			clockAttr + app +
				"MMAP2 misc=USER pid=20 tid=20 start=0x800000 len=0x1000 prot=EXEC filename=\"/lib/early.so\"" + sampleID(20, 20, 1) +
				fork("20", "10", "20", "10") + sampleID(10, 10, 2) +
				"SAMPLE misc=USER ip=0x800010 pid=20 tid=20 time=4\n",
			[]string{"4 app/app ?800010"},
		},
	})
}

// threadIDs notes the number of each sample's thread.
type threadIDs []int

func (n *threadIDs) Sample(s *Sample) error { *n = append(*n, s.Thread.ID); return nil }
func (n *threadIDs) Switch(Switch) error    { return nil }

// TestThreadIDs: a thread has one number for as long as it lives, and no other thread
// gets it.
func TestThreadIDs(t *testing.T) {
	s := New(openData(t, fixture(t, clockAttr+
		sampleOf(10, 10, 1)+sampleOf(10, 11, 2)+sampleOf(10, 10, 3)+sampleOf(20, 11, 4)+sampleOf(20, 11, 5)+
		"FORK pid=10 ppid=10 tid=10 ptid=11"+sampleID(10, 11, 6)+sampleOf(10, 10, 7))))
	var got threadIDs
	if err := s.Replay(&got); err != nil {
		t.Fatal(err)
	}
	// The parent of the fork is thread 11 of process 10: number 3.
	if want := (threadIDs{0, 1, 0, 2, 2, 4}); !slices.Equal(got, want) || s.Threads != 5 {
		t.Errorf("got %v of %d threads, want %v of 5", got, s.Threads, want)
	}
}
