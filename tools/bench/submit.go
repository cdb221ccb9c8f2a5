package bench

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/quill-grid/quill/pkg/submit"
)

// submissions measures acknowledged jobs a second. Only qmaster runs, durable: the
// jobs stay pending. The limit of one client is JetStream's own synced append of a record,
// that of many clients a bare request and its answer over as many connections to the NATS
// server, that of one client with many requests in flight the bare synced append.
func submissions(ctx context.Context, r *suite) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	durable := r.durable(true)
	if _, err := s.start(ctx, processPart{Role: "qmaster", Durable: durable}); err != nil {
		return err
	}
	if _, err := s.start(ctx, processPart{Role: "echo"}); err != nil {
		return err
	}
	many := or(r.Clients, 16)
	for _, c := range []struct {
		name                    string
		clients, inFlight, jobs int
		limit                   func() (float64, error)
		goal                    goal
	}{
		{"1", 1, 1, 2000, func() (float64, error) { return appendRate(ctx, s.dir) }, goal{ratioAtLeast: 0.5}},
		{fmt.Sprint(many), many, 1, 30_000, func() (float64, error) { return s.echoRate(ctx, many) },
			goal{ratioAtLeast: 0.5}},
		{"pipelined", 1, 256, 60_000, func() (float64, error) { return syncRate(s.dir) },
			goal{ratioAtLeast: 5, atLeast: 10_000}},
	} {
		job, err := submit.Job(r.env.Origin(), "/bin/true")
		if err != nil {
			return err
		}
		warm := &load{clients: 1, inFlight: c.inFlight, jobs: 200, job: job}
		if _, _, err := warm.submit(ctx, s.where); err != nil {
			return err
		}
		l := &load{clients: c.clients, inFlight: c.inFlight, jobs: or(r.Jobs, c.jobs), job: job}
		f := Figure{Case: c.name, Unit: "jobs/s", Goal: c.goal}
		f.Limit, err = around(ctx, c.limit, func() error {
			took, each, err := l.submit(ctx, s.where)
			f.Value = float64(l.jobs) / took.Seconds()
			f.Facts = []fact{{"p50_ms", each.at(0.5)}, {"p99_ms", each.at(0.99)}, {"jobs", l.jobs}, {"durable", durable}}
			return err
		})
		if err != nil {
			return err
		}
		r.figure(f)
	}
	return s.qsub(ctx, durable)
}

// qsub measures the command: a process for each job.
func (s *site) qsub(ctx context.Context, durable bool) error {
	n := or(s.Jobs, 300)
	version := func() (float64, error) {
		rate, _, err := commandRate(max(n/2, 1), func() *exec.Cmd { return s.command(ctx, "quill", "version") })
		return rate, err
	}
	f := Figure{Case: "qsub", Unit: "jobs/s", Goal: goal{ratioAtLeast: 0.5}}
	var err error
	f.Limit, err = around(ctx, version, func() error {
		rate, each, err := commandRate(n, func() *exec.Cmd { return s.command(ctx, "qsub", "-b", "y", "true") })
		f.Value = rate
		f.Facts = []fact{{"p50_ms", each.at(0.5)}, {"p99_ms", each.at(0.99)}, {"jobs", n}, {"durable", durable}}
		return err
	})
	if err == nil {
		s.figure(f)
	}
	return err
}
