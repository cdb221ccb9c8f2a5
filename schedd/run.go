package schedd

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// displacedRetry is when a scheduler whose orders are refused because another one has
// registered gives orders again: qmaster accepts them once the other one is silent.
// Tests shorten it.
var displacedRetry = time.Second

// begin starts a run if one is due and may begin; else it says how long to
// wait for the next one. Runs never overlap, and none begins before the
// effects of the last one are here.
func (s *scheduler) begin(ctx context.Context) time.Duration {
	if s.running || !s.complete || s.seq < s.await {
		return time.Hour // an event or the end of the run comes first
	}
	now := s.Now()
	due := s.config.due(s.began, &s.activity)
	if !s.wake.IsZero() && s.wake.Before(due) {
		due = s.wake
	}
	if !s.began.IsZero() {
		if at := s.algorithm.Next(grid.TimeOf(s.began), grid.TimeOf(due)); at != grid.TimeOf(due) {
			due = at.Std()
		}
	}
	if s.displaced {
		due = s.began.Add(displacedRetry)
	}
	if wait := due.Sub(now); wait > 0 {
		return wait
	}
	s.running, s.began = true, now
	s.runs++
	s.activity.reset()
	r := algorithm.Run{Number: s.runs, Now: grid.TimeOf(now)}
	if now.Sub(s.explained) >= s.config.interval {
		r.Explain, s.explained = true, now
	}
	var wake grid.Time
	r.Wake = func(at grid.Time) {
		if wake == 0 || at < wake {
			wake = at
		}
	}
	m := monitor{path: s.Options.Schedule}
	if s.config.monitor && m.path != "" {
		m.watch(&r)
	}
	log := runLog{path: s.Options.RunLog}
	if s.triggered && log.path != "" {
		log.watch(&r)
	}
	s.triggered = false
	decide := s.algorithm.Begin()
	list := orders.List{
		Seq: s.seq, Scheduler: s.Options.Name, Algorithm: s.name, Run: s.runs,
		Epoch: s.epoch, Since: s.since, At: r.Now, Explain: r.Explain,
	}
	go func() {
		o := s.run(ctx, list, decide(r), now)
		if err := errors.Join(m.flush(), log.flush()); err != nil {
			s.Logger.Warn("what the run did is not written down", "error", err)
		}
		o.epoch, o.wake = list.Epoch, wake.Std()
		s.finished <- o
	}()
	return time.Hour
}

// end takes note of a run that is over.
func (s *scheduler) end(o Outcome) {
	s.running, s.wake = false, o.wake
	s.Metrics.ran(o)
	if o.epoch == s.epoch {
		s.await = max(s.await, o.await)
	}
	s.Metrics.awaits(s.seq, s.await)
	switch {
	case o.displaced && !s.displaced:
		s.Logger.Warn("orders are refused, trying again: another scheduler has registered", "run", o.Run)
	case s.displaced && !o.displaced && o.Orders > 0:
		s.Logger.Warn("orders are accepted again", "run", o.Run)
	}
	s.displaced = o.displaced || s.displaced && o.Orders == 0
	if s.config.profile {
		s.Logger.Info("profiling: run", "number", o.Run, "orders", o.Orders, "refused", o.Refused, "took", o.Took)
	} else if o.Orders > 0 {
		s.Logger.Debug("run", "number", o.Run, "seq", o.Seq, "orders", o.Orders, "refused", o.Refused, "took", o.Took)
	}
	if s.Done != nil {
		s.Done(o)
	}
}

// run sends what is decided, the first orders while the last are still being
// decided. Its last list goes out even if it is empty: that says that the run
// is whole.
func (s *scheduler) run(
	ctx context.Context, list orders.List, decided iter.Seq[orders.Order], began time.Time,
) Outcome {
	lists, sent := make(chan orders.List), make(chan Outcome)
	go func() { sent <- s.send(ctx, lists) }()
	rest := Portions(decided, s.Now, func(portion []orders.Order, wait bool) bool {
		list.Orders = portion
		taken := Offer(lists, list, wait)
		if taken {
			list.Part++
		}
		return taken
	})
	list.Orders, list.Last = rest, true
	lists <- list
	close(lists)
	out := <-sent
	out.Run, out.Seq, out.Took = list.Run, list.Seq, s.Now().Sub(began)
	return out
}

// send sends a run's lists one after the other and sums up the results. When
// the way to qmaster is lost the rest is dropped: what became of the orders
// shows in the full state that follows.
func (s *scheduler) send(ctx context.Context, lists <-chan orders.List) (out Outcome) {
	lost := false
	for list := range lists {
		out.Orders += len(list.Orders)
		if lost {
			continue
		}
		result, err := s.Source.Orders(ctx, list)
		if err != nil {
			lost = true
			if ctx.Err() == nil {
				s.Logger.Warn("orders not answered", "run", list.Run, "error", err)
			}
			continue
		}
		out.await = max(out.await, result.Seq)
		out.Refused += len(result.Refused)
		s.Metrics.answered(list, result)
		for _, r := range result.Refused {
			if r.Code != orders.Unregistered {
				s.Logger.Info("order refused", "order", list.Orders[r.Index].String(), "code", r.Code, "reason", r.Reason)
			} else {
				out.displaced = true
			}
		}
	}
	return out
}
