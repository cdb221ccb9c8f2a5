package whatif

import (
	"container/heap"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core"
)

// startedTask is a started task. One that is suspended, and has no limit, is not in
// line.
type startedTask struct {
	attempt report.Attempt
	host    string // the master's
	start   grid.Time
	end     grid.Time
	late    grid.Time         // until its end is reported
	left    grid.Time         // while it is suspended: how long it still takes
	stands  bool              // it is suspended
	most    grid.Time         // when its h_rt is over; 0: it has none
	ordered report.SignalKind // to end, and how; 0: it was not
	ending  ending
	order   int // of starts
	place   int // in line; -1: it is not
}

func (p *startedTask) reportTime() grid.Time { return p.end + p.late }

// processes are all of them, and those that run in the order in which their
// ends are reported.
type processes struct {
	line    []*startedTask
	of      map[report.Attempt]*startedTask
	started int
}

func (p *processes) Len() int { return len(p.line) }
func (p *processes) Less(i, j int) bool {
	a, b := p.line[i], p.line[j]
	return a.reportTime() < b.reportTime() || a.reportTime() == b.reportTime() && a.order < b.order
}
func (p *processes) Swap(i, j int) {
	p.line[i], p.line[j] = p.line[j], p.line[i]
	p.line[i].place, p.line[j].place = i, j
}
func (p *processes) Push(x any) {
	x.(*startedTask).place = len(p.line)
	p.line = append(p.line, x.(*startedTask))
}
func (p *processes) Pop() any {
	last := p.line[len(p.line)-1]
	p.line = p.line[:len(p.line)-1]
	last.place = -1
	return last
}

// startTask begins a task that was sent, or continues with one that had begun.
func (w *world) startTask(t *grid.JATask) {
	a := report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt}
	if w.running.of[a] != nil || len(t.Grants) == 0 {
		return
	}
	k := taskID{w.Original[t.Job], t.ID}
	e := w.endingOf(w.Core.State().Job(t.Job), k, w.came[k])
	is := w.attempts[w.recordedAttempt(a)]
	w.running.started++
	p := &startedTask{attempt: a, host: t.Grants[0].Host, start: t.Start + is.lead, late: e.late, ending: e,
		order: w.running.started}
	p.end = max(p.start+max(e.run, is.least), e.until, w.now)
	if n, ok := runLimit(w.Core.State().Job(t.Job)); ok {
		p.most = max(p.start+n, p.end) // it never took less than it was seen to take
	}
	w.running.of[a] = p
	heap.Push(&w.running, p)
	if t.State&grid.StateSuspendedAny != 0 {
		w.signalTask(report.Signal{Attempt: a, Kind: report.Suspend})
	}
}

// recordedAttempt is an attempt by the recorded number of its job.
func (w *world) recordedAttempt(a report.Attempt) report.Attempt {
	a.Job = w.Original[a.Job]
	return a
}

// executeCommands executes qmaster's commands to the execution daemons.
func (w *world) executeCommands(commands []core.Command) {
	for _, c := range commands {
		for _, s := range c.Signals {
			w.signalTask(s)
		}
		for _, a := range c.Forget {
			if p := w.running.of[a]; p != nil {
				w.dropTask(p)
			}
		}
	}
}

func (w *world) dropTask(p *startedTask) {
	delete(w.running.of, p.attempt)
	if p.place >= 0 {
		heap.Remove(&w.running, p.place)
	}
}

// enqueueEnd puts a process in line by when it ends.
func (w *world) enqueueEnd(p *startedTask, end grid.Time) {
	if p.end = end; p.place >= 0 {
		heap.Fix(&w.running, p.place)
	} else {
		heap.Push(&w.running, p)
	}
}

func (w *world) signalTask(s report.Signal) {
	p := w.running.of[s.Attempt]
	switch {
	case p == nil || p.ordered != 0:
	case s.Kind == report.Suspend:
		if p.stands {
			break
		}
		if p.stands, p.left = true, max(p.end-w.now, 0); p.most > 0 {
			w.enqueueEnd(p, p.most)
		} else {
			heap.Remove(&w.running, p.place)
		}
	case s.Kind == report.Resume:
		if p.stands {
			p.stands = false
			w.enqueueEnd(p, p.endBy(w.now+p.left))
		}
	default:
		w.killTask(p, s.Kind)
	}
}

// killTask ends a process before its time; that takes as long as it took.
func (w *world) killTask(p *startedTask, how report.SignalKind) {
	took := w.attempts[w.recordedAttempt(p.attempt)]
	if took.least == 0 {
		took.dying = 1
	}
	p.ordered, p.late, p.stands = how, took.late, false
	w.enqueueEnd(p, w.now+took.dying)
}

// endBy is a time at which it is over, which h_rt may bring forward.
func (p *startedTask) endBy(at grid.Time) grid.Time {
	if p.most > 0 {
		return min(at, p.most)
	}
	return at
}

// hasOverrun reports whether h_rt has ended it.
func (p *startedTask) hasOverrun() bool {
	return p.ordered == 0 && p.most > 0 && p.end == p.most && p.left > 0
}

// reportEnds reports those whose time is over.
func (w *world) reportEnds() {
	for len(w.running.line) > 0 && w.running.line[0].reportTime() <= w.now {
		p := w.running.line[0]
		w.dropTask(p)
		if k := (taskID{w.Original[p.attempt.Job], p.attempt.Task}); p.ordered == 0 {
			w.came[k]++
		}
		usage, result := p.endResult()
		w.step(core.Report{Report: report.Report{Host: p.host,
			Tasks: []report.Task{{Attempt: p.attempt, Phase: report.Ended, Start: p.start, Usage: usage, Result: &result}}}})
	}
}

// killedStatus is the exit status of a process that SIGKILL has ended.
const killedStatus = 128 + 9

// endResult is what the execution daemon says of an end: what it said in the
// record, unless it came otherwise here. Of what was used, less time costs less.
func (p *startedTask) endResult() (grid.Usage, report.Result) {
	a := &p.ending.result
	r := report.Result{Start: p.start, End: p.end, Failed: report.Failure(a.Failed), Text: a.FailedText,
		ExitStatus: a.ExitStatus}
	switch {
	case p.hasOverrun():
		r.Failed, r.ExitStatus = report.FailedLimit, killedStatus
	case p.ordered == report.Migrate:
		r.Failed, r.ExitStatus = report.FailedMigrated, killedStatus
	case p.ordered != 0 && (p.ordered == report.Reschedule || p.ending.until == 0):
		r.Failed, r.ExitStatus = report.NoFailure, killedStatus
	case a.Rescheduled && a.ExitStatus == report.ExitRestart:
		r.Failed = report.NoFailure // qmaster made that of the status
	}
	u := a.Usage
	took, then := p.end.Sub(p.start), a.End.Sub(a.Start)
	if u.WallSeconds = took; p.ordered != 0 && then > 0 && took < then {
		part := took / then
		u.UserSeconds, u.SystemSeconds, u.CPU, u.Mem, u.IO = part*u.UserSeconds, part*u.SystemSeconds, part*u.CPU,
			part*u.Mem, part*u.IO
	}
	return u, r
}
