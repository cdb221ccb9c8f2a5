package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// recovery measures a cell with many pending jobs whose daemons are all killed
// with kill -9 and started again: the time until a qstat process is answered and
// until a job has been scheduled, run and accounted, and qmaster's memory. The
// daemons are processes of their own.
func recovery(ctx context.Context, r *suite) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	n, durable := or(r.Jobs, 1_000_000), r.durable(false)
	parts := []processPart{
		{Role: "qmaster", Durable: durable},
		{Role: "execd", Host: "node1", Durable: durable},
		{Role: "schedd"},
	}
	loaded, err := s.loaded(ctx, parts, n)
	if err != nil {
		return err
	}
	bytes, reading, err := readTree(filepath.Join(s.where.Dir(), "log"), filepath.Join(s.where.Dir(), "snapshots"))
	if err != nil {
		return err
	}
	r.progress("killed; %.0f MiB to read", mib(bytes))

	begun := time.Now()
	running, answered, err := s.restart(ctx, parts, begun)
	if err != nil {
		return err
	}
	if err := s.accounted(ctx, 1); err != nil {
		return err
	}
	dispatched := time.Since(begun)
	memory, err := running[0].resident()
	if err != nil {
		return err
	}
	schedd, err := running[2].resident()
	if err != nil {
		return err
	}
	r.figure(Figure{
		Case: count(n), Value: max(answered, dispatched).Seconds(), Unit: "s", Limit: reading.Seconds(),
		Goal: goal{atMost: 5},
		Facts: []fact{
			{"qstat_s", answered.Seconds()}, {"dispatched_s", dispatched.Seconds()}, {"log_mib", mib(bytes)},
			{"jobs", n}, {"durable", durable},
		},
	})
	r.figure(Figure{
		Case: count(n) + " memory", Value: float64(memory) / float64(n) / 1024, Unit: "KiB/job", Goal: goal{atMost: 1.5},
		Facts: []fact{
			{"qmaster_mib", mib(memory)}, {"loaded_kib", float64(loaded) / float64(n) / 1024}, {"schedd_mib", mib(schedd)},
		},
	})
	for _, p := range running {
		if r.CPUProfile+r.MemProfile == "" { // its end would only take time
			err = errors.Join(err, p.kill())
		}
	}
	return err
}

// restart starts the parts one after the other. answered is when qmaster answers, after begun.
func (s *site) restart(
	ctx context.Context, parts []processPart, begun time.Time,
) (running []*process, answered time.Duration, err error) {
	started := make(chan error, 1)
	go func() {
		for _, p := range parts {
			one, err := s.start(ctx, p)
			if err != nil {
				started <- err
				return
			}
			running = append(running, one)
		}
		started <- nil
	}()
	answered, err = s.answering(ctx, begun)
	return running, answered, errors.Join(err, <-started)
}

// loaded submits n jobs to a cell without scheduler and kills it. The result is
// qmaster's memory before that, in bytes.
func (s *site) loaded(ctx context.Context, parts []processPart, n int) (int64, error) {
	master, err := s.start(ctx, parts[0])
	if err != nil {
		return 0, err
	}
	agent, err := s.start(ctx, parts[1])
	if err != nil {
		return 0, err
	}
	if err := s.openQueue(ctx, parts[1].Host); err != nil {
		return 0, err
	}
	s.progress("submitting %d jobs", n)
	took, err := s.fill(ctx, s.where, n)
	if err != nil {
		return 0, err
	}
	s.progress("%d jobs in %.1f s, %.0f jobs/s", n, took.Seconds(), float64(n)/took.Seconds())
	memory, err := master.resident()
	return memory, errors.Join(err, agent.kill(), master.kill())
}

// openQueue waits until the host has reported and sees to it that the load of
// this machine keeps no jobs away, and that they leave nothing outside of the
// cell's directory.
func (s *site) openQueue(ctx context.Context, host string) error {
	c, err := client.Connect(ctx, s.where)
	if err != nil {
		return err
	}
	defer c.Close()
	get := func(k grid.Kind, name string) (o grid.Object, err error) {
		_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{k}}, func(each grid.Object) error {
			if each.Key().Name == name {
				o = each
			}
			return nil
		})
		return o, err
	}
	for {
		load, err := get(grid.KindLoad, host)
		if err != nil {
			return err
		}
		if load != nil {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	o, err := get(grid.KindCQueue, "all.q")
	if err != nil {
		return err
	}
	queue, ok := o.(*grid.CQueue)
	if !ok {
		return errors.New("there is no queue all.q")
	}
	queue.LoadThresholds = grid.PerHost[grid.Values]{}
	queue.TmpDir = grid.PerHost[string]{Value: s.dir}
	return do(ctx, c, "qconf", &gdi.Modify{Objects: []grid.Object{queue}})
}

// answerMax is how long a qmaster may take to come back.
const answerMax = 5 * time.Minute

// answering is how long after begun a qstat was answered.
func (s *site) answering(ctx context.Context, begun time.Time) (time.Duration, error) {
	for {
		out, err := s.command(ctx, "qstat", "-j", "1").CombinedOutput()
		if err == nil {
			return time.Since(begun), nil
		}
		if time.Since(begun) > answerMax {
			return 0, fmt.Errorf("qmaster does not answer: %s", out)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
