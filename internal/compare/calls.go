package compare

// Calls are how often each function of an event was called, divided by the work done as costs are,
// means over the runs of a side: nil if a simulator did not count that on both sides, or if costs are
// no costs of work. Functions of which nothing is known have 0.
func (c *Comparison) Calls(event int) (base, head []float64) {
	e := &c.Events[event]
	if m := e.Normalization.Mode; m != None && m != Work {
		return nil, nil
	}
	var lists [2][]float64
	for k, s := range []*side{c.base, c.head} {
		rows := make([]float64, len(c.rows.rows))
		rowOf := [][]int32{c.rows.base, c.rows.head}[k]
		divisors := e.Normalization.divisors(k)
		any := false
		for i, calls := range s.calls {
			for symbol, n := range calls {
				rows[rowOf[symbol]] += float64(n) / divisors[i].value / float64(len(s.calls))
				any = true
			}
		}
		if !any {
			return nil, nil
		}
		lists[k] = make([]float64, len(e.Functions))
		for i := range e.Functions {
			lists[k][i] = rows[e.Functions[i].row]
		}
	}
	return lists[0], lists[1]
}
