package perfscript

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBranch(t *testing.T) {
	for _, test := range []struct {
		text string
		want Branch
	}{
		{"0x401310/0x4012f0/P/-/-/22//-", Branch{From: 0x401310, To: 0x4012f0, Predicted: true, Cycles: 22}},
		{"0x4012fa/0x4012ff/M/-/-/3//-", Branch{From: 0x4012fa, To: 0x4012ff, Mispredicted: true, Cycles: 3}},
		{"0x1/0x2/-/-/-/0/", Branch{From: 1, To: 2}},
		{"0x1/0x2/P/X/A/0", Branch{From: 1, To: 2, Predicted: true}},
		{"0x1/0x2/M", Branch{From: 1, To: 2, Mispredicted: true}},
		{"0x1(/usr/bin/a b (deleted))/0x2([kernel.kallsyms])/M/-/-/7/COND/-", Branch{From: 1, To: 2, Mispredicted: true, Cycles: 7, Type: "COND"}},
		{"0x1/0x2/PN/-/-/11/COND/-", Branch{From: 1, To: 2, Predicted: true, NotTaken: true, Cycles: 11, Type: "COND"}},
		{"0x1/0x2/MN/-/-/8/COND/NON_SPEC_CORRECT_PATH", Branch{From: 1, To: 2, Mispredicted: true, NotTaken: true, Cycles: 8, Type: "COND"}},
		{"0x1/0x2/-N/-/-/8/COND", Branch{From: 1, To: 2, NotTaken: true, Cycles: 8, Type: "COND"}},
		{"0x1/0x2/P/-/-/0/RET/SPEC_WRONG_PATH", Branch{From: 1, To: 2, Predicted: true, WrongPath: true, Type: "RET"}},
		{"0x1/0x2/P/-/-/0/IND_CALL/SPEC_CORRECT_PATH", Branch{From: 1, To: 2, Predicted: true, Type: "IND_CALL"}},
		{"0xffffffff80330812/0x0/P/-/-/-/SYSRET/-", Branch{From: 0xffffffff80330812, Predicted: true, Type: "SYSRET"}},
	} {
		got, n, err := ParseBranch([]byte(test.text + "  0x3/0x4/P"))
		if err != nil || n != len(test.text) {
			t.Errorf("ParseBranch(%q) = %d, %v", test.text, n, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
	}
}
