package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"
)

// TestIDs holds ids to what was computed with sha256sum of coreutils: files that were written once
// have them for ever.
func TestIDs(t *testing.T) {
	if got, want := ProfileID([]byte("profile")), "1900eab6c028483d7126599ee6f50de0"; got != want {
		t.Errorf("ProfileID is %s, want %s", got, want)
	}
	if got, want := uint64(FunctionID("libc.so.6", "malloc", "malloc.c")), uint64(0xb6af5567a3948f99); got != want {
		t.Errorf("FunctionID is %#x, want %#x", got, want)
	}
	for _, n := range []int{0, 1, 63, 64, 65, 512, 513, 5000} {
		frames := make([]int64, n)
		var data []byte
		for i := range frames {
			frames[i] = int64(i) * -0x1234567890
			data = binary.BigEndian.AppendUint64(data, uint64(frames[i]))
		}
		if sum := sha256.Sum256(data); StackID(frames) != [16]byte(sum[:16]) {
			t.Errorf("StackID of %d frames is not the hash of their ids", n)
		}
	}
	units := make(map[int32]bool)
	for i := range 1000 {
		units[UnitID(string(rune('a'+i%26))+string(rune('a'+i/26)))] = true
	}
	if len(units) != 64 {
		t.Errorf("1000 devices fall into %d units, want all 64", len(units))
	}
	if Device("a", "b") == Device("b", "a") || Device("", "x") == "x" {
		t.Error("the pseudonym of a device must depend on the salt")
	}
}
