package reading

// A Recent finds again what was looked up lately by three numbers, such as the place of a frame by
// its file, symbol and address. It forgets: a map has what it does not. A look takes a few
// nanoseconds where that of a map takes thirty, and most looks are of the few places where most time
// is spent. The zero Recent is empty.
type Recent struct{ entries [][2]recentEntry }

type recentEntry struct {
	a, b, c uint64
	value   uint32
	used    bool
}

// recentBits is the logarithm of the number of entries, 2.6 MB.
const recentBits = 16

// at are the only entries where a value may be, the one that was set last first: the upper bits of a sum of
// products with odd numbers.
func (r *Recent) at(a, b, c uint64) *[2]recentEntry {
	if r.entries == nil {
		r.entries = make([][2]recentEntry, 1<<(recentBits-1))
	}
	hash := (a*0x9e3779b97f4a7c15 ^ b*0xc2b2ae3d27d4eb4f ^ c*0x165667b19e3779f9) * 0x9e3779b97f4a7c15
	return &r.entries[hash>>(64-(recentBits-1))]
}

func (e *recentEntry) is(a, b, c uint64) bool { return e.used && e.a == a && e.b == b && e.c == c }

// Get returns what was set.
func (r *Recent) Get(a, b, c uint64) (value uint32, ok bool) {
	both := r.at(a, b, c)
	for i := range both {
		if e := &both[i]; e.is(a, b, c) {
			return e.value, true
		}
	}
	return 0, false
}

// Set takes the place of what was set for other numbers longer ago.
func (r *Recent) Set(a, b, c uint64, value uint32) {
	both := r.at(a, b, c)
	if !both[0].is(a, b, c) {
		both[1] = both[0]
	}
	both[0] = recentEntry{a, b, c, value, true}
}
