package callgrind

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// largeFile makes a file of about n bytes as Callgrind writes them, with or without the
// addresses of instructions.
func largeFile(n int, instr bool) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	positions := "line"
	if instr {
		positions = "instr line"
	}
	fmt.Fprintf(&b, "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\nevents: Ir Bc Bcm Bi Bim\npositions: %s\n\n", positions)
	names := make(map[string]bool)
	name := func(key, kind string, id int) {
		if k := fmt.Sprint(kind, id); !names[k] {
			names[k] = true
			fmt.Fprintf(&b, "%s=(%d) ./directory/of/%s/number_%d\n", key, id, kind, id)
			return
		}
		fmt.Fprintf(&b, "%s=(%d)\n", key, id)
	}
	for f := 0; b.Len() < n; f++ {
		name("ob", "object", f/5000)
		name("fl", "file", f/20)
		name("fn", "function", f)
		if instr {
			fmt.Fprintf(&b, "%#x %d %d\n", 0x400000+64*f, 10+f%900, 1+rng.IntN(100_000))
		} else {
			fmt.Fprintf(&b, "%d %d\n", 10+f%900, 1+rng.IntN(100_000))
		}
		for range 40 {
			next, same := "+1", "*"
			if instr {
				next, same = fmt.Sprintf("+%d +1", 1+rng.IntN(7)), "* *"
			}
			switch rng.IntN(10) {
			case 0:
				name("cfn", "function", rng.IntN(f+1))
				target := fmt.Sprint(rng.IntN(900))
				if instr {
					target = fmt.Sprintf("%#x %s", 0x400000+64*rng.IntN(f+1), target)
				}
				fmt.Fprintf(&b, "calls=%d %s\n%s %d\n", 1+rng.IntN(1000), target, same, rng.IntN(1_000_000))
			case 1:
				fmt.Fprintf(&b, "%s %d %d %d\n", next, rng.IntN(1_000_000), rng.IntN(100_000), rng.IntN(1000))
			default:
				fmt.Fprintf(&b, "%s %d\n", next, rng.IntN(1_000_000))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func BenchmarkRead(bench *testing.B) {
	for _, instr := range []bool{false, true} {
		bench.Run(fmt.Sprintf("instr=%v", instr), func(b *testing.B) {
			data := largeFile(16<<20, instr)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var records int
			for b.Loop() {
				records = 0
				_, err := Read(bytes.NewReader(data), Visitor{
					Cost: func(*Cost) error { records++; return nil },
					Call: func(*Call) error { records++; return nil },
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(records), "records")
		})
	}
}
