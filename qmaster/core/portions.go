package core

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// Continue has the core decide the next portion of the requests that Ready.More is about.
type Continue struct{}

func (Continue) input() {}

// Portions has requests about many jobs (qdel, qalter, qhold, qrls), and the release of those that waited for one,
// decided in steps of at most so many jobs and about so many events each, a large one counted as several (costOf), so
// that others do not wait for a user who deletes 50,000 jobs. Ready.More asks for a Continue. 0, as it is in the
// beginning: a request is one step.
func (c *Core) Portions(size int) { c.portion = size }

// perJob is a request about many jobs: what is left of it, and the answers so far. What it has done remains if qmaster
// ends before the rest, as with Grid Engine, which handles each job by itself.
type perJob struct {
	in      UserRequest
	jobs    []cell.ChosenJob
	do      func(cell.ChosenJob) []gdi.Answer
	answers answers
	changed bool // events were made in an earlier step
	done    bool // it was answered
}

// eachChosen does what a request wants to each of the jobs that are left, and replies when none is.
func (c *Core) eachChosen(w *perJob, before ...gdi.Answer) {
	w.answers.add(before...)
	for n := 0; len(w.jobs) > 0; n, w.jobs = n+1, w.jobs[1:] {
		if c.fullPortion() || c.portion > 0 && n >= c.portion {
			w.changed = w.changed || len(c.ready.List.Events) > 0
			c.unfinished = append(c.unfinished, w)
			return
		}
		x := w.jobs[0]
		if key := x.Job.Key(); c.state.Job(key.ID) == nil { // it was named before, or has ended meanwhile
			w.answers.add(gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: job %q does not exist", key)).On(
				gdi.Subject{Job: key.ID}))
			continue
		}
		x.Job = c.state.Job(x.Job.ID)
		w.answers.add(w.do(x)...)
	}
	c.reply(w.in.Ref, w.answers.all()...)
	if w.changed {
		c.lastReply().Seq = c.state.Seq
	}
	w.done = true
}

// rangesPerEvent is how many ranges of tasks cost about what an event does, bytesPerEvent how many bytes of text.
const (
	rangesPerEvent = 100
	bytesPerEvent  = 1000
)

// costOf is what an event counts in a portion. One of an array of which every second task is left has tens of thousands
// of ranges, and one of a job has its script, environment and lists, which may be some megabytes.
func costOf(e events.Event) int {
	j, ok := e.Object.(*grid.Job)
	if !ok {
		return 1
	}
	ranges := len(j.Pending) + len(j.UserHold) + len(j.OperHold) + len(j.SysHold) + len(j.ArrayHold)
	return 1 + ranges/rangesPerEvent + j.Size()/bytesPerEvent
}

// fullPortion reports whether the events of this step are as many as a portion may have.
func (c *Core) fullPortion() bool {
	for made := c.ready.List.Events; c.counted < len(made); c.counted++ {
		c.spent += costOf(made[c.counted])
	}
	return c.portion > 0 && c.spent >= c.portion
}

// more reports whether something waits for a Continue.
func (c *Core) more() bool { return len(c.unfinished)+len(c.releases) > 0 }

// proceed does a portion of what follows from the end of a job, or else of the request that has waited longest.
func (c *Core) proceed() {
	c.proceeding = nil
	if len(c.releases) > 0 {
		c.releaseMore()
		return
	}
	if len(c.unfinished) == 0 {
		return
	}
	w := c.unfinished[0]
	c.proceeding, c.unfinished = w, c.unfinished[1:]
	c.setCauseOf(w.in)
	if c.eachChosen(w); w.done {
		c.store(w.in, w.changed)
	}
}

// rejoins reports whether a request is the repetition of one that is not finished: the client has waited for long, or
// has a new connection. It gets the answer of that one.
func (c *Core) rejoins(in UserRequest) bool {
	for _, w := range c.unfinished {
		if in.ID != "" && w.in.ID == in.ID && w.in.User == in.User {
			w.in.Ref = in.Ref
			return true
		}
	}
	return false
}
