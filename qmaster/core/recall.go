package core

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Ends is what a stretch of the log says of how jobs ended and where their output is. A core that begins knows no jobs
// that have ended: it demands Ends with the first request that needs them, see Ready.Recall.
type Ends struct {
	state *state.State
	of    waiters
}

// NewEnds returns the Ends of the lists after a full state, which it takes over.
func NewEnds(from *state.State) *Ends { return &Ends{state: from} }

// Apply takes the next list.
func (e *Ends) Apply(l events.List) {
	for i := range l.Events {
		of := &l.Events[i]
		switch a, record := of.Object.(*grid.Accounting); {
		case record && a.PETask == "":
			e.of.record(a, a.Rescheduled)
		case of.Op == events.OpDel && of.Kind == grid.KindJob:
			if j := e.state.Job(of.Key.ID); j != nil {
				e.of.leave(j, true)
			}
		}
	}
	e.state.Apply(l)
}

// Recalled brings what the log says of jobs that had ended, and of tasks that had ended of jobs that are there, when
// this core began; nil when the log cannot be read. Ends are demanded once.
type Recalled struct{ *Ends }

func (Recalled) input() {}

// demand has the shell read the log for a request about a job that there was once, which is answered after that; false:
// it was read already.
func (c *Core) demand(in UserRequest, job uint32) bool {
	if c.recalled || job > uint32(c.state.Counter(grid.JobSeqNum)) {
		return false
	}
	c.ready.Recall = len(c.recalling) == 0
	c.recalling = append(c.recalling, in)
	return true
}

// recall takes over what the log says, and answers the requests that wait for it.
func (c *Core) recall(e *Ends) {
	if e != nil {
		c.waiters.recall(&e.of, c.state)
	}
	waiting := c.recalling
	c.recalled, c.recalling = true, nil
	for _, in := range waiting {
		c.output(in, in.Body.(*gdi.Output))
	}
}

// recall adds what is known of earlier ends to what has happened since.
func (w *waiters) recall(before *waiters, s *state.State) {
	known := map[uint32]bool{}
	for i := range w.over {
		known[w.over[i].files.Job] = true
	}
	over := slices.DeleteFunc(before.over, func(e end) bool { return known[e.files.Job] })
	for i := range over {
		w.kept, w.bytes = w.kept+len(over[i].records), w.bytes+over[i].size()
	}
	w.over = append(over, w.over...)
	w.bound()
	for job, records := range before.ends { // order: each job by itself
		if s.Job(job) == nil || records == nil {
			continue
		}
		hosts := before.hosts[job]
		for i, a := range records {
			if !slices.ContainsFunc(w.ends[job], func(b *grid.Accounting) bool { return a.Task == b.Task }) {
				w.put(a, hosts[i]) // order: of the records of the job
			}
		}
	}
}
