package predict

// A Forwarding is how a core gives loads the values of stores that are not in the cache
// yet.
type Forwarding struct {
	// Cycles from when an operation has the value of its store until a load has it, if
	// operation and store are one instruction; one more if they are not.
	Cycles float64
	// Blocked is that if the load needs more than the one store.
	Blocked float64
	// Renamed is from how many bytes on a load that is known to get what a certain
	// instruction stored last need not wait for the address.
	Renamed int
	// Trust is a counter of each load: it goes up by one when the load gets what that
	// instruction stored last, to Most, and down by Step when it does not. From From on
	// the load is expected to; if it does not, what follows it starts again Replay
	// cycles after it is retired.
	Trust  struct{ Most, Step, From int }
	Replay float64
}

// A source is where the load of a step has its value from.
type source struct {
	store   int32 // step, -1 for no store of late
	blocked bool  // the load needs more than that store
	renamed bool  // it is expected to get its value from there
	replay  bool  // it was expected to get another one
	narrow  bool  // it is of so few bytes that nothing is expected
}

// nearStores is how many steps after a store a load may still wait for it.
const nearStores = 2048

// A bond is what instruction a load is expected to get its value from.
type bond struct {
	to    site
	trust int
}

// sources are those of the loads of a trace, nil if none of them gets what was stored of
// late.
func (x *interpreter) sources(t *trace, f *Forwarding) []source {
	list := make([]source, len(t.steps))
	bonds := make(map[site]*bond)
	found := false
	for range 2 { // first to see what is to be trusted
		last := make(map[site]int32) // step that an instruction stored in
		clear(x.writers)
		for i := range t.steps {
			s := t.steps[i].site
			x.run(t, i)
			list[i] = source{store: -1}
			if x.loaded > 0 {
				list[i] = x.source
				list[i].narrow = x.loaded < f.Renamed
				found = found || x.source.store >= 0
				f.expect(bonds, s, t, &list[i], last)
			}
			if x.stores {
				last[s] = int32(i)
			}
		}
	}
	if !found {
		return nil
	}
	return list
}

// expect says whether a load was expected to get its value from where
// it does.
func (f *Forwarding) expect(bonds map[site]*bond, load site, t *trace, from *source, last map[site]int32) {
	var of site
	latest := false
	if from.store >= 0 && !from.blocked && !from.narrow {
		of = t.steps[from.store].site
		latest = last[of] == from.store
	}
	b := bonds[load]
	if b == nil {
		if !latest {
			return
		}
		b = &bond{to: of}
		bonds[load] = b
	}
	if _, stored := last[b.to]; !stored {
		return // not yet
	}
	trusted := b.trust >= f.Trust.From
	if latest && of == b.to {
		from.renamed = trusted
		b.trust = min(b.trust+1, f.Trust.Most)
		return
	}
	from.replay = trusted
	if b.trust = max(0, b.trust-f.Trust.Step); b.trust == 0 && latest {
		b.to = of
	}
}

// note finds out which store the load of this step gets its value from.
func (x *interpreter) note(address uint64, bytes int) {
	first, last := x.writer(address), x.writer(address+uint64(bytes-1))
	if x.loaded == 0 {
		x.source = source{store: first}
	}
	x.loaded += bytes
	x.source.blocked = x.source.blocked || first != last || x.source.store != first
	x.source.store = max(x.source.store, first, last)
}

// writer is the step of the last store to a byte, -1 if that was not of late.
func (x *interpreter) writer(address uint64) int32 {
	at, ok := x.writers[address]
	if !ok || at < 0 || x.step-at > nearStores {
		return -1
	}
	return at
}
