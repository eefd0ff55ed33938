package fleet

import "testing"

// TestIDs holds ids to what was computed with sha256sum of coreutils: files that were written once
// have them for ever.
func TestIDs(t *testing.T) {
	if got, want := ProfileID([]byte("profile")), "1900eab6c028483d7126599ee6f50de0"; got != want {
		t.Errorf("ProfileID is %s, want %s", got, want)
	}
	if got, want := uint64(FunctionID("libc.so.6", "malloc", "malloc.c")), uint64(0xb6af5567a3948f99); got != want {
		t.Errorf("FunctionID is %#x, want %#x", got, want)
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
