package compare

// Heavy reports whether a cost has the share of both sides together from which what nobody
// named is tested.
func (c *Comparison) Heavy(e *Event, ch *Change) bool { return c.heavy(e, ch) }
