package interpret

import "profdiff/internal/predict/flow"

// An Access is how a step uses memory.
type Access struct {
	Bytes   int   // that it loads, 0 if it loads nothing
	Store   int32 // step that stored them last, -1 for none of late
	Blocked bool  // they are of more than one store
	Stores  bool  // the step stores
}

// Accesses runs a trace and says how each of its steps uses memory.
func (x *Interpreter) Accesses(t *flow.Trace) []Access {
	list := make([]Access, len(t.Steps))
	clear(x.writers)
	for i := range t.Steps {
		x.run(t, i)
		list[i] = x.access
	}
	return list
}

// nearStores is how many steps after a store a load may still wait for it.
const nearStores = 2048

// note finds out which store the load of this step gets its value from.
func (x *Interpreter) note(address uint64, bytes int) {
	first, last := x.writer(address), x.writer(address+uint64(bytes-1))
	a := &x.access
	if a.Bytes == 0 {
		a.Store, a.Blocked = first, false
	}
	a.Bytes += bytes
	a.Blocked = a.Blocked || first != last || a.Store != first
	a.Store = max(a.Store, first, last)
}

// writer is the step of the last store to a byte, -1 if that was not of late.
func (x *Interpreter) writer(address uint64) int32 {
	at, ok := x.writers[address]
	if !ok || at < 0 || x.step-at > nearStores {
		return -1
	}
	return at
}
