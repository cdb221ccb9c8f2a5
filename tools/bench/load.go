package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/submit"
)

// load is many submissions in flight.
type load struct {
	clients  int // connections
	inFlight int // on each of them
	jobs     int
	job      *grid.Job
	done     atomic.Int64
}

// submit submits all jobs and says how long that took, and each of them.
func (l *load) submit(ctx context.Context, where cell.Cell) (all time.Duration, each durations, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each = make(durations, l.jobs)
	var next atomic.Int64
	var working sync.WaitGroup
	conns := make([]*client.Remote, l.clients)
	for i := range conns {
		if conns[i], err = client.Connect(ctx, where); err != nil {
			return 0, nil, err
		}
		defer conns[i].Close()
	}
	begun := time.Now()
	for _, c := range conns {
		for range l.inFlight {
			working.Go(func() {
				for n := next.Add(1); n <= int64(l.jobs) && ctx.Err() == nil; n = next.Add(1) {
					before := time.Now()
					if err := do(ctx, c, "qsub", &gdi.Submit{Job: l.job}); err != nil {
						cancel(err)
						return
					}
					each[n-1] = time.Since(before)
					l.done.Add(1)
				}
			})
		}
	}
	working.Wait()
	return time.Since(begun), each, context.Cause(ctx)
}

// do is a request that must not be refused.
func do(ctx context.Context, c client.Client, command string, body gdi.Body) error {
	reply, err := c.Do(ctx, command, body)
	if err == nil {
		err = reply.Err()
	}
	return err
}

// fill submits many jobs as fast as it goes and reports its progress.
func (r *suite) fill(ctx context.Context, where cell.Cell, jobs int) (time.Duration, error) {
	job, err := submit.Job(r.env.Origin(), "/bin/true")
	if err != nil {
		return 0, err
	}
	l := &load{clients: 4, inFlight: 256, jobs: jobs, job: job}
	stop := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		every := time.NewTicker(10 * time.Second)
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
				r.progress("%d of %d jobs submitted", l.done.Load(), jobs)
			}
		}
	})
	took, _, err := l.submit(ctx, where)
	close(stop)
	telling.Wait()
	return took, err
}
