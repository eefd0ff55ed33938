package query

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/stats"
)

// survey is what testdata/survey.R computed from.
func survey(t testing.TB) *fixture {
	t.Helper()
	file, err := os.Open("testdata/survey.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	for _, row := range rows[1:] {
		var n [7]int64
		for i := range n {
			if n[i], err = strconv.ParseInt(row[4+i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		p := f.profile(row[1], row[2], row[3], n[0], map[int64]int64{1: n[3], 2: n[4], 3: n[5], 4: n[6]})
		p.SampleCount, p.WorkUnits = n[2], &n[1]
	}
	return f
}

// TestSurvey holds means, variances, z, p and intervals to those of R's package survey, version 4.1:
// see testdata/survey.R.
func TestSurvey(t *testing.T) {
	text, err := os.ReadFile("testdata/survey.tsv")
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, part float64) {
		t.Helper()
		if !(math.Abs(got-want) <= part*math.Abs(want)) && got != want {
			t.Errorf("%s is %.15g, R says %.15g", what, got, want)
		}
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	checked := 0
	tests := stats.New(0.95)
	for per, name := range map[Per]string{Share: "weight", Work: "work"} {
		p, found := survey(t).compare(t, per, Scan{ByModel: true})
		byModel := make(map[string]*Row)
		for i := range found.Rows {
			if r := &found.Rows[i]; r.By == Model && r.Value == Self {
				byModel[strconv.FormatInt(r.FunctionID, 10)+r.Model] = r
			}
		}
		for line := range strings.Lines(string(text)) {
			w := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if w[0] != name {
				continue
			}
			checked++
			id := w[1][1:]
			r := found.row(t, Self, int64(number(id)))
			// R goes by the noise of both sides, whatever it would be if they were alike.
			r.Before.Common, r.After.Common = 0, 0
			e := p.Estimate(tests, r)
			switch w[2] {
			case "z":
				near(line+"z", r.Z(), number(w[4]), 1e-10)
				near(line+"df", r.DF(), number(strings.TrimPrefix(w[3], "df ")), 1e-9)
				near(line+"p", e.P, number(w[5]), 1e-8)
			case "ratio":
				near(line+"ratio", e.Ratio, number(w[3]), 1e-10)
				near(line+"lower end", e.CI.Lo, number(w[4]), 1e-5)
				near(line+"upper end", e.CI.Hi, number(w[5]), 1e-5)
			default:
				m := byModel[id+w[3]]
				if m == nil {
					continue // fewer devices have it than are tested
				}
				side := &m.Before
				if w[2] == "1.1" {
					side = &m.After
				}
				near(line+"mean", side.Mean, number(w[4]), 1e-12)
				near(line+"variance", side.Variance, number(w[5]), 1e-9)
				for _, x := range p.Models {
					if x.Name == w[3] {
						near(line+"devices", float64(x.Devices[map[string]int{"1.0": 0, "1.1": 1}[w[2]]]), number(w[6]), 0)
					}
				}
			}
		}
		if len(p.Left) != 1 || p.Left[0].Profiles[0] == 0 || p.Left[0].Profiles[1] == 0 {
			t.Errorf("left out is %v, want the model that has one device", p.Left)
		}
		if n := p.Sides[0].Profiles + p.Sides[1].Profiles + p.Left[0].Profiles[0] + p.Left[0].Profiles[1]; n != 150 {
			t.Errorf("%d profiles are accounted for, of 150", n)
		}
	}
	if checked < 50 {
		t.Errorf("only %d values were checked", checked)
	}
}
