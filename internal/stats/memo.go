package stats

import "sync"

// A memo keeps the values of a function that is called again and again with few different
// arguments, such as the quantiles of a level by numbers of runs. It is safe for concurrent use.
type memo[K comparable] struct {
	of    func(K) float64
	mu    sync.Mutex
	known map[K]float64
}

// memoSize is the number of values from which a memo forgets them all.
const memoSize = 1 << 12

func (m *memo[K]) at(k K) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[k]
	if !ok {
		v = m.of(k)
		if m.known == nil || len(m.known) >= memoSize {
			m.known = make(map[K]float64)
		}
		m.known[k] = v
	}
	return v
}
