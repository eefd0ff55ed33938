package core

import (
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// A Forwarding is how a core gives loads the values of stores that are not in the cache
// yet.
type Forwarding struct {
	// Cycles from when an operation has the value of its store until a load has it, if
	// operation and store are one instruction; one more if they are not.
	Cycles float64 `json:"cycles"`
	// Blocked is that if the load needs more than the one store.
	Blocked float64 `json:"blocked"`
	// Modify is from when an instruction that operates on memory has the value of its store
	// until it has it from there again; Indexed is set if operands with an index wait as
	// loads of others do.
	Modify  float64 `json:"modify,omitempty"`
	Indexed bool    `json:"indexed,omitempty"`
	// Renamed is from how many bytes on a load that is known to get what a certain
	// instruction stored last need not wait for the address, 0 if it always waits.
	Renamed int `json:"renamed,omitempty"`
	// Trust is a counter of each load: it goes up by one when the load gets what that
	// instruction stored last, to Most, and down by Step when it does not. From From on
	// the load is expected to; if it does not, what follows it starts again Replay
	// cycles after it is retired.
	Trust  Trust   `json:"trust"`
	Replay float64 `json:"replay,omitempty"`
}

// A Trust is a counter of a load, see [Forwarding].
type Trust struct {
	Most int `json:"most,omitempty"`
	Step int `json:"step,omitempty"`
	From int `json:"from,omitempty"`
}

// A source is where the load of a step has its value from.
type source struct {
	store   int32 // step, -1 for no store of late
	blocked bool  // the load needs more than that store
	renamed bool  // it is expected to get its value from there
	replay  bool  // it was expected to get another one
	narrow  bool  // it is of so few bytes that nothing is expected
}

// A bond is what instruction a load is expected to get its value from.
type bond struct {
	to    flow.Site
	trust int
}

// sources says where the loads of a trace have their values from, nil if none of them
// gets what was stored of late. passes are the same trace run again and again: what a load
// is trusted to do in one pass was learned in those before, and the last one counts.
func (f *Forwarding) sources(t *flow.Trace, passes [][]interpret.Access) []source {
	list := make([]source, len(t.Steps))
	bonds := make(map[flow.Site]*bond)
	found := false
	for _, accesses := range passes {
		last := make(map[flow.Site]int32) // step that an instruction stored in
		for i := range accesses {
			a, s := &accesses[i], t.Steps[i].Site
			list[i] = source{store: -1}
			if a.Bytes > 0 {
				list[i] = source{store: a.Store, blocked: a.Blocked, narrow: f.Renamed == 0 || a.Bytes < f.Renamed}
				found = found || a.Store >= 0
				f.expect(bonds, s, t, &list[i], last)
			}
			if a.Stores {
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
func (f *Forwarding) expect(bonds map[flow.Site]*bond, load flow.Site, t *flow.Trace, from *source, last map[flow.Site]int32) {
	var of flow.Site
	latest := false
	if from.store >= 0 && !from.blocked && !from.narrow {
		of = t.Steps[from.store].Site
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
