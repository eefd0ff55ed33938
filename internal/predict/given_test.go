package predict

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"profdiff/internal/predict/flow"
)

// TestGivenRates checks that what the user does not say of a branch may be anything that fits
// what is said.
func TestGivenRates(t *testing.T) {
	g := graphOfText(t, `.L1: movl (%rdi), %eax
testl %eax, %eax
je .L2
addl %eax, %ecx
.L2: addq $4, %rdi
cmpq %rsi, %rdi
jne .L1
ret
`)
	rate := 0.2
	for _, test := range []struct {
		name        string
		taken, miss []string
		missRate    *float64
		at          int
		want        flow.Branch
		ok          bool
	}{
		{"both", []string{".L2=0.3"}, []string{".L2=0.1"}, nil, 2, flow.Branch{Taken: 0.3, Miss: 0.1}, true},
		{"taken alone", []string{".L2=0.3"}, nil, nil, 2, flow.Branch{Taken: 0.3, Bounds: &flow.Bounds{Taken: [2]float64{0.3, 0.3}, Miss: [2]float64{0, 0.3}}}, true},
		{"never taken", []string{".L2=0"}, nil, nil, 2, flow.Branch{}, true},
		{"misses alone", nil, []string{".L2=0.2"}, nil, 2, flow.Branch{Taken: 0.5, Miss: 0.2, Bounds: &flow.Bounds{Taken: [2]float64{0.1, 0.9}, Miss: [2]float64{0.2, 0.2}}}, true},
		{"a rate for all", nil, nil, &rate, 2, flow.Branch{Taken: 0.5, Miss: 0.2, Bounds: &flow.Bounds{Taken: [2]float64{0.1, 0.9}, Miss: [2]float64{0.2, 0.2}}}, true},
		{"a rate for all and taken", []string{".L2=0.4"}, nil, &rate, 2, flow.Branch{Taken: 0.4, Miss: 0.2}, true},
		{"the end of a loop, taken alone", []string{".L1=0.9"}, nil, nil, 6, flow.Branch{Taken: 0.9}, true},
		{"the end of a loop has no rate for all", nil, nil, &rate, 6, flow.Branch{Taken: 0.5}, false},
		{"of the other side", []string{"after:.L2=0.3"}, nil, nil, 2, flow.Branch{Taken: 0.5}, false},
	} {
		given, err := ParseGivenRates(test.taken, test.miss, test.missRate)
		if err != nil {
			t.Fatal(err)
		}
		rates := given.Side(0)
		got, ok := rates.Branch(g, test.at)
		if diff := gocmp.Diff(test.want, got); diff != "" || ok != test.ok {
			t.Errorf("%s: %v, -want +got:\n%s", test.name, ok, diff)
		}
	}
}
