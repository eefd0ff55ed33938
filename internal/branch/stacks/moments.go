package stacks

import "profdiff/internal/branch/estimate"

// Executions of a branch in one sample, by what is known of them.
const (
	taken     = iota // with a prediction
	missed           // of those
	unsaid           // taken, without a prediction
	notTaken         // between the entries of a stack
	entered          // not taken, as an entry of its own with a prediction
	enteredMS        // of those, missed
	dims
)

// vector holds executions, or the weights of a linear combination of them.
type vector [dims]float64

// moments sum vectors of samples and the products of their elements: what variances
// of ratios need where a sample is a cluster of executions that are not independent.
type moments struct {
	n     int64 // samples
	count [dims]int64
	sum   vector
	prod  [dims][dims]float64 // upper triangle
}

// add adds a sample whose executions weigh w each.
func (m *moments) add(v *[dims]int64, w float64) {
	m.n++
	for i, x := range v {
		if x == 0 {
			continue
		}
		m.count[i] += x
		a := w * float64(x)
		m.sum[i] += a
		for j := i; j < dims; j++ {
			m.prod[i][j] += a * w * float64(v[j])
		}
	}
}

func (m *moments) merge(o *moments) {
	m.n += o.n
	for i := range dims {
		m.count[i] += o.count[i]
		m.sum[i] += o.sum[i]
		for j := i; j < dims; j++ {
			m.prod[i][j] += o.prod[i][j]
		}
	}
}

func (m *moments) total(a vector) (sum float64) {
	for i := range dims {
		sum += a[i] * m.sum[i]
	}
	return sum
}

// squares is the sum over the samples of (a·v)².
func (m *moments) squares(a vector) (sum float64) {
	for i := range dims {
		if a[i] == 0 {
			continue
		}
		sum += a[i] * a[i] * m.prod[i][i]
		for j := i + 1; j < dims; j++ {
			sum += 2 * a[i] * a[j] * m.prod[i][j]
		}
	}
	return max(sum, 0)
}

// number is how many executions a combination of weights 0 and 1 counts.
func (m *moments) number(a vector) (n int64) {
	for i := range dims {
		if a[i] != 0 {
			n += m.count[i]
		}
	}
	return n
}

// ratio estimates num·v / den·v. ok is false if the denominator is 0.
func (m *moments) ratio(num, den vector) (r estimate.Clustered, ok bool) {
	d := m.total(den)
	if d <= 0 {
		return estimate.Clustered{}, false
	}
	r = estimate.Clustered{Value: m.total(num) / d, Executions: m.number(den), Clusters: m.n}
	if m.n > 1 {
		var e vector
		for i := range dims {
			e[i] = num[i] - r.Value*den[i]
		}
		n := float64(m.n)
		r.Variance = n / (n - 1) * m.squares(e) / (d * d)
	}
	return r, true
}
