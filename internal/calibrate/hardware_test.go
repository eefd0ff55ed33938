package calibrate

import (
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"profdiff/internal/asm"
)

// TestKernels compares what the kernels count with what Go counts.
func TestKernels(t *testing.T) {
	if !supported {
		t.Skip("no kernels for this architecture")
	}
	h := newHardware()
	// The table turns the values round, so that the second load matters.
	for i := range h.table {
		h.table[i] = ^byte(i)
	}
	for _, misses := range []int{0, 2, 8, 16, half} {
		for _, from := range []int{0, 64, branches / warmPart} {
			const n = branches
			want := h.fill(trial{onRegister, misses}, from, n)
			var ones int
			for _, w := range h.outcomes[from/32 : (from+n)/32] {
				ones += bits.OnesCount32(w)
			}
			if got := h.branches(onRegister, from, n); got != want || got != uint64(ones) {
				t.Errorf("on a register, %d misses of 64, from %d: %d not taken, want %d, %d", misses, from, got, want, ones)
			}
			want = h.fill(trial{onLoad, misses}, from, n)
			var high uint64
			for _, v := range h.values[from : from+n] {
				high += uint64(v >> 7)
			}
			for _, k := range []code{onLoad, noBranch} {
				if got := h.branches(k, from, n); got != want || got != high {
					t.Errorf("%s, %d misses of 64, from %d: %d not taken, want %d, %d", codeNames[k], misses, from, got, want, high)
				}
			}
			if got := h.branches(onTwoLoads, from, n); got != n-high {
				t.Errorf("behind two loads, %d misses of 64, from %d: %d not taken, want %d", misses, from, got, n-high)
			}
		}
	}
	for _, k := range []code{nearJumps, farJumps} {
		if got := h.branches(k, 0, branches); got != branches/4 {
			t.Errorf("jumps: %d rounds, want %d", got, branches/4)
		}
	}
	for _, t2 := range trials {
		k := &kernel{name: t2.String(), trial: t2}
		h.table = newHardware().table
		h.prepare(k, branches)
		if err := h.warm(k, branches); err != nil {
			t.Error(err)
		}
		if err := h.run(k, branches); err != nil {
			t.Error(err)
		}
	}
}

// TestOutcomes checks that known outcomes are the same every time and half of them
// taken, and that random ones are fresh.
func TestOutcomes(t *testing.T) {
	h := newHardware()
	fill := func(misses int) [branches / 32]uint32 {
		h.fill(trial{onRegister, misses}, 0, branches)
		return [branches / 32]uint32(h.outcomes[:branches/32])
	}
	if a, b := fill(0), fill(0); a != b || a[0] != 0x55555555 {
		t.Errorf("known outcomes start with %#x and %#x", a[0], b[0])
	}
	for _, misses := range []int{2, 8, 16, half} {
		if got := bits.OnesCount64(randomPlaces(misses)); got != 2*misses {
			t.Errorf("%d misses of 64: %d random places", misses, got)
		}
		a, b, same, taken := fill(misses), fill(misses), 0, 0
		for i := range a {
			same += bits.OnesCount32(a[i] ^ b[i])
			taken += bits.OnesCount32(a[i])
		}
		// Each of 2*misses/64 outcomes differs with probability 1/2.
		if part := float64(same) / branches * 64; part < 0.9*float64(misses) || part > 1.1*float64(misses) {
			t.Errorf("%d misses of 64: %.1f outcomes differ", misses, part)
		}
		if part := float64(taken) / branches; part < 0.48 || part > 0.52 {
			t.Errorf("%d misses of 64: %.3f of branches taken", misses, part)
		}
	}
}

// TestKernelsARM64 runs the kernels of the other architecture.
func TestKernelsARM64(t *testing.T) {
	const qemu = "qemu-aarch64"
	if _, err := exec.LookPath(qemu); err != nil {
		t.Skipf("%s is not installed (package qemu-user)", qemu)
	}
	if testing.Short() {
		t.Skip("builds the package for arm64")
	}
	cmd := exec.Command("go", "test", "-count=1", "-v", "-exec", qemu, "-run", "^(TestKernels|TestOutcomes|TestEmulatorRefused)$", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestKernels") || !strings.Contains(string(out), "this is an emulator") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestEmulatorRefused is for TestKernelsARM64: what runs it is no core.
func TestEmulatorRefused(t *testing.T) {
	if runtime.GOARCH != "arm64" {
		t.Skip("for arm64")
	}
	c, err := measure(newHardware(), asm.AArch64, 0, Options{Rounds: MinRounds, Limit: 10 * time.Second})
	t.Logf("%+v, %v", c, err)
}

// TestMeasure checks that this machine gives a result or says why not.
func TestMeasure(t *testing.T) {
	c, err := measure(newHardware(), architecture(t), 0, Options{Rounds: MinRounds, Limit: 2 * time.Second})
	if err != nil {
		t.Log(err)
		return
	}
	if err := c.valid(Schema); err != nil {
		t.Error(err)
	}
}

func TestPin(t *testing.T) {
	list, err := allowed()
	if err != nil {
		t.Skip(err)
	}
	if len(list) == 0 {
		t.Fatal("no CPU to run on")
	}
	last := list[len(list)-1]
	unpin, err := pin(last)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := allowed(); err != nil || len(now) != 1 || now[0] != last {
		t.Errorf("pinned to %d: allowed are %v, %v", last, now, err)
	}
	unpin()
	if now, err := allowed(); err != nil || len(now) != len(list) {
		t.Errorf("unpinned: allowed are %v, %v, want %v", now, err, list)
	}
	for _, cpu := range []int{-1, 1000, 5000} {
		if _, err := pin(cpu); err == nil {
			t.Errorf("pinned to CPU %d", cpu)
		}
	}
}
