package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
)

const (
	// fairTime is how long a case is measured, fairPause how long the measured user
	// waits between two submits.
	fairTime  = 10 * time.Second
	fairPause = 5 * time.Millisecond
	// listers is how many loops of listings run at a time, flooders over how many
	// connections the other user submits.
	listers  = 100
	flooders = 200
	// otherUID is the other user; to run as that user the bench must run as root.
	otherUID = 65534
	// otherJobs is how many jobs the listed user has.
	otherJobs = 10
)

// fair measures submits of one user beside listings and beside another user who
// floods the cell. The others' processes, on other machines in a real cell, take what qmaster and the measured
// user leave of the processors.
func fair(ctx context.Context, r *suite) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	if err := os.Chmod(s.dir, 0o755); err != nil { // the other user's process reads the cell
		return err
	}
	n, durable := or(r.Jobs, 100_000), r.durable(true)
	if _, err := s.start(ctx, processPart{Role: "qmaster", Durable: durable}); err != nil {
		return err
	}
	if _, err := r.fill(ctx, s.where, n); err != nil {
		return err
	}
	other := "nobody"
	if os.Getuid() == 0 {
		first, err := s.start(ctx, processPart{Role: "flood", Flood: otherJobs})
		if err != nil {
			return err
		}
		if err := first.stop(); err != nil {
			return err
		}
	}
	idle, err := s.submits(ctx, nil)
	if err != nil {
		return err
	}
	lister := processPart{Role: "listings", Idle: true, Listed: other, Output: filepath.Join(s.scratch, "listings.json")}
	beside, err := s.submits(ctx, func(ctx context.Context) error { return s.during(ctx, lister) })
	if err != nil {
		return err
	}
	var lists durations
	if err := readJSON(lister.Output, &lists); err != nil {
		return err
	}
	common := []fact{{"jobs", n}, {"durable", durable}, {"load", loadAverage()}}
	r.figure(Figure{
		Case: count(n) + " listings", Value: float64(len(lists)) / fairTime.Seconds(), Unit: "listings/s",
		Goal:  goal{atLeast: 500},
		Facts: append([]fact{{"p50_ms", lists.at(0.5)}, {"p99_ms", lists.at(0.99)}, {"loops", listers}}, common...),
	})
	r.figure(Figure{
		Case: count(n) + " submit beside listings", Value: beside.at(0.99), Unit: "ms", Goal: goal{atMost: 20},
		Facts: append([]fact{{"p50_ms", beside.at(0.5)}, {"max_ms", beside.at(1)}, {"idle_p99_ms", idle.at(0.99)},
			{"submits", len(beside)}}, common...),
	})
	if os.Getuid() != 0 {
		r.progress("the case of two users needs root, who can become another user")
		return nil
	}
	flooded, err := s.submits(ctx, func(ctx context.Context) error {
		return s.during(ctx, processPart{Role: "flood", Idle: true})
	})
	if err != nil {
		return err
	}
	r.figure(Figure{
		Case: count(n) + " submit beside a flood", Value: flooded.at(0.99), Unit: "ms", Goal: goal{atMost: 20},
		Facts: append([]fact{{"p50_ms", flooded.at(0.5)}, {"max_ms", flooded.at(1)}, {"idle_p99_ms", idle.at(0.99)},
			{"submits", len(flooded)},
			{"connections", flooders}}, common...),
	})
	return nil
}

// during runs a part until ctx ends.
func (s *site) during(ctx context.Context, p processPart) error {
	one, err := s.start(ctx, p)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return one.stop()
}

// submits measures submits, one after the other with pauses, while beside runs.
func (s *site) submits(ctx context.Context, beside func(context.Context) error) (took durations, err error) {
	job, err := submit.Job(s.env.Origin(), "/bin/true")
	if err != nil {
		return nil, err
	}
	c, err := client.Connect(ctx, s.where)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	other, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	if beside != nil {
		go func() { ended <- beside(other) }()
	} else {
		ended <- nil
	}
	for begun := time.Now(); time.Since(begun) < fairTime; time.Sleep(fairPause) {
		before := time.Now()
		if err := do(ctx, c, "qsub", &gdi.Submit{Job: job}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(before))
	}
	stop()
	return took, <-ended
}

// listings asks in many loops for what `qstat -u USER` asks for, each over a connection
// of its own, until ctx ends, and writes how long each listing took.
func (p processPart) listings(ctx context.Context, ready func()) error {
	get := gdi.Get{
		Kinds: []grid.Kind{grid.KindPriorityRange, grid.KindSchedConf, grid.KindCentry, grid.KindPE, grid.KindPriority,
			grid.KindJATask, grid.KindJob},
		Where: gdi.Where{Owners: grid.Names{p.Listed}, Brief: true},
	}
	var all durations
	var failed error
	var mu sync.Mutex
	var loops sync.WaitGroup
	for range listers {
		c, err := client.Connect(ctx, p.Cell)
		if err != nil {
			return err
		}
		defer c.Close()
		loops.Go(func() {
			for over := false; !over; {
				before := time.Now()
				err := p.listing(ctx, c, get)
				mu.Lock()
				switch {
				case ctx.Err() != nil:
				case err != nil:
					failed = errors.Join(failed, err)
				default:
					all = append(all, time.Since(before))
				}
				over = ctx.Err() != nil || failed != nil
				mu.Unlock()
			}
		})
	}
	ready()
	loops.Wait()
	return errors.Join(failed, writeJSON(p.Output, all))
}

// listing asks once, and checks that all jobs of the other user came.
func (p processPart) listing(ctx context.Context, c *client.Remote, get gdi.Get) error {
	jobs := 0
	_, err := c.Get(ctx, get, func(o grid.Object) error {
		if o.Kind() == grid.KindJob {
			jobs++
		}
		return nil
	})
	if err == nil && os.Getuid() == 0 && jobs != otherJobs {
		err = fmt.Errorf("%d jobs of %s are listed, not %d", jobs, p.Listed, otherJobs)
	}
	return err
}

func writeJSON(file string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// flood submits as another user, over many connections and as fast as it goes, until
// ctx ends or so many jobs are submitted.
func (p processPart) flood(ctx context.Context, env opt.Env, ready func()) error {
	job, err := submit.Job(env.Origin(), "/bin/true")
	if err != nil {
		return err
	}
	if err := syscall.Setuid(otherUID); err != nil {
		return err
	}
	var flooding sync.WaitGroup
	var submitted atomic.Int64
	failed := make(chan error, flooders)
	for range flooders {
		c, err := client.Connect(ctx, p.Cell)
		if err != nil {
			return err
		}
		defer c.Close()
		flooding.Go(func() {
			for ctx.Err() == nil && (p.Flood == 0 || submitted.Add(1) <= int64(p.Flood)) {
				if err := do(ctx, c, "qsub", &gdi.Submit{Job: job}); err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
			}
		})
	}
	if p.Flood == 0 {
		ready()
		<-ctx.Done()
	}
	flooding.Wait()
	if p.Flood != 0 {
		ready()
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// loadAverage is that of the machine over the last minute: what else was running.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	if err != nil {
		return ""
	}
	return first
}
