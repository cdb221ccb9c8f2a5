package attack

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// honest is the user who works while the cell is attacked. Each qsub starts at its
// time, whether the one before has ended or not: else a command that hangs would
// hide all that would have hung after it.
type honest struct {
	s *site
	c *canaries

	mu      sync.Mutex
	samples []sample
}

// sample is one qsub.
type sample struct {
	at   time.Time
	took time.Duration
	err  string // why it failed, "": it did not
}

const (
	every       = 150 * time.Millisecond // between two qsubs
	inFlightMax = 40                     // qsubs that hang; more would only load the machine
	qsubMax     = 60 * time.Second
)

// work submits jobs until ctx ends, and returns when all commands have.
func (h *honest) work(ctx context.Context) {
	inFlight := make(chan struct{}, inFlightMax)
	var working sync.WaitGroup
	defer working.Wait()
	for tick := time.NewTicker(every); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case at := <-tick.C:
			inFlight <- struct{}{}
			working.Go(func() {
				defer func() { <-inFlight }()
				_, err := h.qsub(context.WithoutCancel(ctx), h.c.script_)
				one := sample{at: at, took: time.Since(at)}
				if err != nil {
					one.err = err.Error()
				}
				h.mu.Lock()
				h.samples = append(h.samples, one)
				h.mu.Unlock()
			})
		}
	}
}

// qsub submits a job with a secret in its environment.
func (h *honest) qsub(ctx context.Context, words ...string) (uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, qsubMax)
	defer cancel()
	args := append([]string{"-v", "PASSWORD=" + h.c.env, "-o", "/dev/null", "-j", "y", "-S", "/bin/sh"}, words...)
	out, err := h.s.command(ctx, h.s.honest, "qsub", args...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("qsub: %w: %s", err, strings.TrimSpace(string(out)))
	}
	id := submitted(string(out))
	if id == 0 {
		return 0, fmt.Errorf("qsub: no job: %s", out)
	}
	return id, nil
}

// sleepers are jobs that run all the time, one on each host.
func (h *honest) sleepers(ctx context.Context) (ids []uint32, err error) {
	for _, host := range h.s.hosts {
		id, err := h.qsub(ctx, "-N", "sleeper", "-l", "h="+host, "-b", "y", "sleep", "100000")
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// between is what qsub took of those that started in a stretch of time.
func (h *honest) between(from, to time.Time) (q quantiles) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var took []time.Duration
	for _, s := range h.samples {
		if s.at.Before(from) || !s.at.Before(to) {
			continue
		}
		if s.err != "" {
			q.failed++
			q.why = s.err
			s.took = max(s.took, qsubMax) // who got nothing waits for ever
		}
		took = append(took, s.took)
	}
	slices.Sort(took)
	at := func(p float64) time.Duration {
		if len(took) == 0 {
			return 0
		}
		return took[max(0, int(math.Ceil(p*float64(len(took))))-1)]
	}
	q.n, q.p50, q.p99, q.max = len(took), at(0.5), at(0.99), at(1)
	return q
}

// quantiles are those of many qsubs.
type quantiles struct {
	n, failed     int
	why           string // one failed
	p50, p99, max time.Duration
}
