package metric

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"profdiff/internal/input"
)

// criterionSample is what criterion writes as sample.json of each benchmark: the time that each
// sample took in nanoseconds, and its number of iterations (src/connection.rs, SavedSample).
type criterionSample struct {
	Mode       string   `json:"sampling_mode"`
	Iterations []number `json:"iters"`
	Times      []number `json:"times"`
}

// criterionBenchmark is benchmark.json beside it (src/report.rs, BenchmarkId).
type criterionBenchmark struct {
	ID         string            `json:"full_id"`
	Throughput map[string]number `json:"throughput"` // {"Bytes": 800}
}

// criterionMessage is a line of cargo criterion --message-format=json.
type criterionMessage struct {
	Reason     string   `json:"reason"`
	ID         string   `json:"id"`
	Iterations []number `json:"iteration_count"`
	Values     []number `json:"measured_values"`
	Unit       string   `json:"unit"`
	Throughput []struct {
		Per  number `json:"per_iteration"`
		Unit string `json:"unit"`
	} `json:"throughput"`
}

func recogniseCriterion(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["sampling_mode"] && keys["iters"]}
}

func recogniseCargoCriterion(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["reason"] && (keys["iteration_count"] && keys["measured_values"] || keys["group_name"] && keys["benchmarks"])}
}

// readCriterion reads sample.json of one benchmark, or all of a directory: the names and
// throughputs stand in benchmark.json beside each.
func readCriterion(src *input.Source, s *Set) error {
	s.Facts.Tool, s.subjects = "criterion", "benchmark"
	if src.Tree == nil {
		var sample criterionSample
		if err := decodeJSON(src, &sample); err != nil {
			return err
		}
		var b criterionBenchmark
		if src.Dir != "" {
			b.ID = nameOfDir(filepath.ToSlash(src.Dir))
			err := input.Read(filepath.Join(src.Dir, "benchmark.json"), nil, func(src *input.Source) error { return decodeJSON(src, &b) })
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		s.criterion(&b, sample.Iterations, sample.Times, "ns")
		return nil
	}
	return fs.WalkDir(src.Tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(name) != "sample.json" || path.Base(path.Dir(name)) != input.CriterionLatest {
			return err
		}
		var sample criterionSample
		b := criterionBenchmark{ID: nameOfDir(path.Dir(name))}
		if err := decodeFile(src.Tree, name, &sample); err != nil {
			s.Read++
			s.lose("a sample.json that is none: "+err.Error(), name)
			return nil
		}
		if err := decodeFile(src.Tree, path.Join(path.Dir(name), "benchmark.json"), &b); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.warn("%s has no benchmark.json that can be read: its name is that of the directory", path.Dir(name))
		}
		s.criterion(&b, sample.Iterations, sample.Times, "ns")
		return nil
	})
}

// nameOfDir is the name of a benchmark by its directory, target/criterion/GROUP/NAME/new.
func nameOfDir(dir string) string {
	dir = path.Dir(dir)
	if i := strings.LastIndex("/"+dir, "/criterion/"); i >= 0 {
		return dir[i+len("criterion/"):]
	}
	return path.Base(dir)
}

// decodeFile reads a file of a tree that is one JSON value.
func decodeFile(tree fs.FS, name string, v any) error {
	f, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	src, err := input.New(name, f)
	if err != nil {
		return err
	}
	return decodeJSON(src, v)
}

// readCargoCriterion reads the messages of cargo criterion.
func readCargoCriterion(src *input.Source, s *Set) error {
	s.Facts.Tool, s.subjects = "cargo criterion", "benchmark"
	lines := src.Lines()
	for {
		line, ok := lines.Next()
		if !ok {
			return lines.Err()
		}
		if len(line) == 0 {
			continue
		}
		var m criterionMessage
		if err := json.Unmarshal(line, &m); err != nil {
			s.Read++
			s.lose("a line that is no message", fmt.Sprintf("line %d", lines.Number()))
			continue
		}
		if m.Reason != "benchmark-complete" {
			continue
		}
		b := criterionBenchmark{ID: m.ID, Throughput: make(map[string]number)}
		for _, t := range m.Throughput {
			b.Throughput[t.Unit] = t.Per
		}
		s.criterion(&b, m.Iterations, m.Values, m.Unit)
	}
}

// criterion adds the time of an iteration, by sample, and the throughput that follows from it.
// One process made all samples: they are values of one run.
func (s *Set) criterion(b *criterionBenchmark, iterations, times []number, unit string) {
	subject := input.Text(b.ID)
	time := s.Add(subject, "time", unit)
	time.Each = "the mean of one sample's iterations"
	if len(time.Runs) > 0 {
		s.Read++
		s.lose("a benchmark that comes again", subject)
		return
	}
	for i, t := range times {
		s.Read++
		if i >= len(iterations) || !(iterations[i] > 0) || !isFinite(float64(t)) {
			s.lose("a sample without a time or iterations", subject)
			continue
		}
		s.put(time, 0, float64(t)/float64(iterations[i]))
	}
	if time.Unit != Nanoseconds || len(time.Runs) == 0 {
		return
	}
	for _, amount := range []struct{ key, unit string }{{"Bytes", "bytes/s"}, {"bytes", "bytes/s"}, {"BytesDecimal", "bytes/s"}, {"Elements", "elements/s"}, {"elements", "elements/s"}} {
		n := float64(b.Throughput[amount.key])
		if !(n > 0) {
			continue
		}
		m := s.Add(subject, "throughput", amount.unit)
		m.Each = time.Each
		for _, t := range time.Runs[0].Values {
			if t > 0 {
				s.put(m, 0, n/t*1e9)
			}
		}
	}
}
