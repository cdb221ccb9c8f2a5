package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of what pages foresee for the whole cell: each costs a scheduling run on a copy of the state.
const (
	planJobs      = 200 // that are considered
	partWait      = 250 * time.Millisecond
	foreseenCheap = 250 * time.Millisecond
	foreseenRest  = 20 // times as long as it took
	foreseenMost  = 20 * time.Second
)

// foreseen keeps what was found last of the whole cell, of the present and of a moment of the past.
type foreseen[T any] struct {
	mu   sync.Mutex
	kept [2]struct {
		seq     uint64
		made    time.Time
		took    time.Duration
		what    T
		err     error
		running chan struct{} // closed when what is being found is there; nil: nothing is
	}
}

// find returns what make finds at a moment, or after a while a console.Later: then it is found beside the request. What
// took long may be of some lists before the present.
func (f *foreseen[T]) find(
	ctx context.Context, c *consoleCell, m *console.Moment, make func(context.Context) (T, error),
) (out T, err error) {
	late := time.NewTimer(c.partWait)
	defer late.Stop()
	for {
		f.mu.Lock()
		k := &f.kept[0]
		if !m.Live {
			k = &f.kept[1]
		}
		if !k.made.IsZero() && (k.seq == m.State.Seq || m.Live && k.took > foreseenCheap &&
			time.Since(k.made) < foreseenRest*k.took) {
			defer f.mu.Unlock()
			return k.what, k.err
		}
		if k.running == nil {
			k.running = newDone()
			go func() {
				begun := time.Now()
				what, err := guarded(context.WithoutCancel(ctx), c, make)
				f.mu.Lock()
				defer f.mu.Unlock()
				k.seq, k.made, k.took, k.what, k.err = m.State.Seq, time.Now(), time.Since(begun), what, err
				close(k.running)
				k.running = nil
			}()
		}
		running, old := k.running, k.what
		known := m.Live && !k.made.IsZero() && k.err == nil
		f.mu.Unlock()
		select {
		case <-running:
			continue
		case <-late.C:
		case <-ctx.Done():
			return out, ctx.Err()
		}
		if known {
			return old, nil
		}
		return out, console.Later()
	}
}

func newDone() chan struct{} { return make(chan struct{}) }

// guarded calls make, for foreseenMost at most. Its panic is an error.
func guarded[T any](
	ctx context.Context, c *consoleCell, make func(context.Context) (T, error),
) (out T, err error) {
	ctx, cancel := context.WithTimeout(ctx, foreseenMost)
	defer cancel()
	defer func() {
		if caught := recover(); caught != nil {
			c.options.Logger.Error("a part of a page ended with a panic", "error", fmt.Sprint(caught))
			err = errors.New("the server has a bug; its log has more")
		}
	}()
	if out, err = make(ctx); err == nil {
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &console.Problem{Status: http.StatusServiceUnavailable, Field: "late",
			Text: fmt.Sprintf("It takes longer than %s now.", foreseenMost)}
	}
	return out, err
}

// foresee is find in the turn of what costs a scheduling run.
func (f *foreseen[T]) foresee(
	ctx context.Context, c *consoleCell, m *console.Moment, make func(*state.State, grid.Time, func() bool) T,
) (T, error) {
	return f.find(ctx, c, m, func(ctx context.Context) (out T, err error) {
		release, err := c.outlookTurn(entry.WithCredential(ctx, nil)) // for all who look at it
		if err != nil {
			return out, err
		}
		defer release()
		return make(m.State, m.Now, func() bool { return ctx.Err() != nil }), nil
	})
}

func (c *consoleCell) Plan(ctx context.Context, m *console.Moment) (console.Plan, error) {
	if n := m.State.Len(grid.KindJob); n > outlookJobs {
		return console.Plan{}, &console.Problem{Status: http.StatusServiceUnavailable, Field: "plan",
			Text: fmt.Sprintf("Starts are not foreseen with more than %d jobs in the cell.", outlookJobs)}
	}
	return c.plans.foresee(ctx, c, m, func(st *state.State, now grid.Time, stop func() bool) console.Plan {
		starts, waiting := outlook.Plan(st, now, planJobs, outlook.Options{JobsMost: outlookJobs, Stop: stop})
		return console.Plan{Starts: starts, Waiting: waiting, Most: planJobs}
	})
}

func (c *consoleCell) Explain(ctx context.Context, m *console.Moment) ([]string, error) {
	if m.State.Len(grid.KindJob) > outlookJobs {
		return []string{fmt.Sprintf("It is not asked with more than %d jobs in the cell.", outlookJobs)}, nil
	}
	return c.views.foresee(ctx, c, m, func(st *state.State, now grid.Time, _ func() bool) []string {
		return outlook.Explain(st, now)
	})
}

func (c *consoleCell) Parameters(m *console.Moment) []grid.Param {
	conf := *m.State.SchedConf()
	if e, ok := algorithm.Find(shipped.Algorithms(), conf.Algorithm); !ok || e.Complete(&conf, nil) != nil {
		return nil
	}
	return conf.Section(conf.Algorithm)
}

func (c *consoleCell) Preview(
	ctx context.Context, m *console.Moment, changes grid.Values,
) (now, then outlook.Preview, err error) {
	release, err := c.outlookTurn(ctx)
	if err != nil {
		return now, then, err
	}
	defer release()
	st := m.State
	attributes := map[string]setting{}
	for _, s := range changes {
		attributes[s.Name] = settingOf(s.Name, s.Text)
	}
	object := ConfigObject{Kind: "sched_conf", Name: st.SchedConf().Key().Name,
		ConfigText: ConfigText{Attributes: attributes}}
	changed, err := object.setAttributes(grid.SpecOf(grid.KindSchedConf), st.SchedConf(), "form")
	if err != nil {
		return now, then, pageError(err)
	}
	other := changed.(*grid.SchedConf)
	e, ok := algorithm.Find(shipped.Algorithms(), other.Algorithm)
	if !ok {
		err = fmt.Errorf("there is no algorithm %q", other.Algorithm)
	} else {
		err = e.Complete(other, st)
	}
	if err != nil {
		return now, then, pageError(problem.Invalid("", err))
	}
	foresee := outlook.Options{JobsMost: outlookJobs, Stop: func() bool { return ctx.Err() != nil }}
	if now, err = outlook.PreviewOf(st, st.SchedConf(), m.Now, foresee); err == nil {
		then, err = outlook.PreviewOf(st, other, m.Now, foresee)
	}
	return now, then, err
}

func (c *consoleCell) Algorithms() (names []string) {
	for _, e := range shipped.Algorithms() {
		names = append(names, e.Name)
	}
	return names
}
