package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// listRuns is how often qstat is run; the best one counts, for a shared machine
// can only make it slower.
const listRuns = 7

// list measures qstat of many pending jobs, a process of its own.
func list(ctx context.Context, r *suite) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	n := or(r.Jobs, 100_000)
	if _, err := s.start(ctx, processPart{Role: "qmaster", Durable: r.durable(false)}); err != nil {
		return err
	}
	if _, err := r.fill(ctx, s.where, n); err != nil {
		return err
	}
	var walls durations
	var peaks []int64
	for range listRuns {
		w, err := s.qstat(n)
		if err != nil {
			return err
		}
		walls, peaks = append(walls, w.Wall), append(peaks, w.Peak)
	}
	r.figure(Figure{
		Case: count(n), Value: slices.Min(walls).Seconds(), Unit: "s", Goal: goal{atMost: 0.4},
		Facts: []fact{{"p50_s", walls.at(0.5) / 1000}, {"max_s", walls.at(1) / 1000}, {"runs", listRuns}},
	})
	r.figure(Figure{
		Case: count(n) + " memory", Value: mib(slices.Min(peaks)), Unit: "MiB", Goal: goal{atMost: 64},
		Facts: []fact{{"max_mib", mib(slices.Max(peaks))}},
	})
	return nil
}

// qstat runs `qstat -u *` and looks whether it has listed all n jobs.
func (s *site) qstat(n int) (weight, error) {
	path := filepath.Join(s.dir, "qstat.out")
	w, err := s.weighed(path, "qstat", "-u", "*")
	if err != nil {
		return w, err
	}
	text, err := os.ReadFile(path)
	if lines := bytes.Count(text, []byte{'\n'}); err == nil && lines != n+2 {
		err = fmt.Errorf("qstat printed %d lines for %d jobs", lines, n)
	}
	return w, err
}
