package compare

// Runs are the normalized costs of a change in each run of both sides, of which
// Change.Base and Change.Head are the means.
func (n *Normalization) Runs(c *Change) (base, head []float64) {
	for i := range c.cost.base {
		base = append(base, float64(c.cost.base[i].Weight)/n.base[i].value)
	}
	for i := range c.cost.head {
		head = append(head, float64(c.cost.head[i].Weight)/n.head[i].value)
	}
	return base, head
}
