package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/submit"
)

// throughput measures short jobs a second from the first submit until the last
// accounting record is in the file. Each case has a cell of its own.
func throughput(ctx context.Context, r *suite) error {
	n := or(r.Jobs, 5000)
	for _, c := range []struct {
		name   string
		submit func(context.Context, *site, int) error
		goal   goal
	}{
		{"singles", singles, goal{ratioAtLeast: 0.4}},
		{"array", array, goal{ratioAtLeast: 0.5}},
	} {
		f := Figure{Case: c.name, Unit: "jobs/s", Goal: c.goal}
		if err := r.flow(ctx, &f, n, c.submit); err != nil {
			return err
		}
		r.figure(f)
	}
	return nil
}

func singles(ctx context.Context, s *site, n int) error {
	job, err := submit.Job(s.env.Origin(), "/bin/true")
	if err != nil {
		return err
	}
	l := &load{clients: 1, inFlight: 64, jobs: n, job: job}
	_, _, err = l.submit(ctx, s.where)
	return err
}

func array(ctx context.Context, s *site, n int) error {
	job, err := submit.Job(s.env.Origin(), "-t", fmt.Sprint("1-", n), "/bin/true")
	if err != nil {
		return err
	}
	c, err := client.Connect(ctx, s.where)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(ctx, c, "qsub", &gdi.Submit{Job: job})
}

// flow has n jobs flow through a new cell.
func (r *suite) flow(
	ctx context.Context, f *Figure, n int, submit func(context.Context, *site, int) error,
) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	hosts, slots, durable := or(r.Hosts, 1), or(r.Slots, 8), r.durable(false)
	if _, err := s.start(ctx, processPart{Role: "cell", Hosts: hosts, Slots: slots, Durable: durable}); err != nil {
		return err
	}
	limit := func() (float64, error) { return spawnRate(slots, 2000, "/bin/true") }
	f.Limit, err = around(ctx, limit, func() error {
		begun := time.Now()
		if err := submit(ctx, s, n); err != nil {
			return err
		}
		submitted := time.Since(begun)
		if err := s.accounted(ctx, n); err != nil {
			return err
		}
		took := time.Since(begun)
		f.Value = float64(n) / took.Seconds()
		f.Facts = []fact{
			{"jobs", n}, {"hosts", hosts}, {"slots", slots}, {"durable", durable}, {"scratch", s.scratch != ""},
			{"submit_s", submitted.Seconds()}, {"all_s", took.Seconds()},
		}
		return nil
	})
	return err
}

// accountedMax is how long the accounting file may stand still.
const accountedMax = 30 * time.Second

// accounted returns when the accounting file has n records. All must be of
// jobs that ended well.
func (s *site) accounted(ctx context.Context, n int) error {
	var in *bufio.Reader
	line, seen, last := "", 0, time.Now()
	for seen < n {
		if in == nil {
			f, err := os.Open(s.where.Accounting())
			if err == nil {
				defer f.Close()
				in = bufio.NewReader(f)
			} else if !os.IsNotExist(err) {
				return err
			}
		}
		if in != nil {
			more, err := in.ReadString('\n')
			line += more
			if err == nil {
				err := endedWell(line)
				line, last = "", time.Now()
				if errors.Is(err, accounting.ErrComment) {
					continue
				}
				if err != nil {
					return err
				}
				seen++
				continue
			}
			if err != io.EOF {
				return err
			}
		}
		if time.Since(last) > accountedMax {
			return fmt.Errorf("%d of %d jobs accounted, and nothing for %s", seen, n, accountedMax)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

func endedWell(line string) error {
	a, err := accounting.ParseLine(strings.TrimSuffix(line, "\n"))
	if err == nil && (a.Failed != 0 || a.ExitStatus != 0) {
		err = fmt.Errorf("job ended badly: %s", line)
	}
	return err
}
