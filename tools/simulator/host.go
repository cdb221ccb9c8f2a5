package simulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	qmaster "github.com/quill-grid/quill/qmaster/core"
)

// host is one execution host: the real execd core, and a shepherd whose
// processes are only imagined. The shepherd outlives execd.
type host struct {
	world *World
	name  string
	core  *core.Core // nil while execd is down
	life  int
	runs  map[report.Attempt]*process
}

// process is one attempt in the shepherd.
type process struct {
	plan.Status
	asked bool    // to end
	left  float64 // seconds that it has to run yet
	since grid.Time
	turns int // how often it was let run
}

func newHost(w *World, name string) *host {
	return &host{world: w, name: name, runs: map[report.Attempt]*process{}}
}

// startExecd starts execd; the shepherd reports everything it knows.
func (h *host) startExecd() {
	h.life++
	h.core = core.New(h.name, fmt.Sprintf("%s-%d", h.name, h.life), time.UTC, nil)
	h.stepCore(core.Restored{})
	h.stepCore(core.Listed{Attempts: h.attemptStatuses()})
	h.wake(h.life)
}

func (h *host) wake(life int) {
	h.world.after(1, func() {
		if h.life == life {
			h.stepCore(core.Tick{})
			h.wake(life)
		}
	})
}

func (h *host) crash() {
	h.world.crashes++
	h.life++
	h.core = nil
	h.world.after(0.5+2*h.world.rand.Float64(), h.startExecd)
}

// failMachine is the failure of the machine: its processes are gone, and what its shepherd
// had begun is lost when it is back.
func (h *host) failMachine() {
	for a, p := range h.runs {
		switch p.State {
		case plan.Starting:
			delete(h.runs, a)
		case plan.Running:
			delete(h.world.running, taskOf(a))
			p.State = plan.Ended
			p.End = &plan.End{Result: report.Result{Start: p.Start, End: h.world.now, Failed: report.FailedNoStatus}}
		}
	}
	h.world.crashes++
	h.life++
	h.core = nil
	h.world.after(60*h.world.rand.Float64(), h.startExecd)
}

func (h *host) attemptStatuses() []plan.Status {
	out := make([]plan.Status, 0, len(h.runs))
	for _, p := range h.runs {
		out = append(out, p.Status)
	}
	slices.SortFunc(out, func(a, b plan.Status) int { return a.Attempt.Compare(b.Attempt) })
	return out
}

// command takes what qmaster says.
func (h *host) command(c report.Command) { h.stepCore(core.Commanded{Command: c}) }

// reconnect follows a command that was lost because the connection was: there is
// a new one.
func (h *host) reconnect() { h.stepCore(core.Connected{}) }

// stepCore gives execd's core an input and does what it says.
func (h *host) stepCore(in core.Input) {
	if h.core == nil {
		return
	}
	r := h.core.Step(h.world.now, in)
	if len(r.Start) > 0 {
		h.startBatch(r.Start)
	}
	for _, s := range r.Signals {
		for _, a := range s.Attempts {
			h.signalProcess(a, s.Kind)
		}
	}
	for _, a := range r.Forget {
		if p := h.runs[a]; p != nil && p.State != plan.Ended {
			h.world.fail("%s forgets %s while it runs", h.name, a)
		}
		delete(h.runs, a)
	}
	for _, l := range r.Load {
		h.sendReport(l, nil)
	}
	if r.Report != nil {
		life, done := h.life, false
		answered := func(in core.Input) {
			if h.life == life && !done {
				done = true
				h.stepCore(in)
			}
		}
		h.sendReport(*r.Report, func(rc report.Receipt) { answered(core.Received{Receipt: rc}) })
		h.world.after(3, func() { answered(core.Unanswered{}) })
	}
	if r.Sample {
		h.stepCore(core.Sampled{Load: &report.Load{Processors: 1, At: h.world.now,
			Values: h.addSensed(grid.Values{{Name: "np_load_avg", Text: "0.1"}})}})
	}
}

func (h *host) sendReport(r report.Report, receipt func(report.Receipt)) {
	h.world.deliverLater(func() {
		h.world.master.askCore(func(ref uint64) qmaster.Input { return qmaster.Report{Ref: ref, Report: r} },
			func(a qmaster.Answer) {
				if receipt != nil {
					receipt(*a.Receipt)
				}
			})
	})
}

// startBatch begins the processes of a batch.
func (h *host) startBatch(batch []core.Start) {
	var answers []plan.Answer
	for _, s := range batch {
		a := s.Deliver.Attempt
		if p := h.runs[a]; p != nil {
			answers = append(answers, plan.Answer{Attempt: a, State: p.State})
			continue
		}
		h.runs[a] = &process{Status: plan.Status{Attempt: a, State: plan.Starting}}
		answers = append(answers, plan.Answer{Attempt: a, State: plan.Starting})
		h.world.after(0.001, func() { h.beginProcess(a) })
	}
	life := h.life
	h.world.after(0.0005, func() {
		if h.life == life {
			h.stepCore(core.Answered{Answers: answers})
		}
	})
}

// beginProcess is the moment the job's process runs.
func (h *host) beginProcess(a report.Attempt) {
	p, w := h.runs[a], h.world
	if p == nil {
		return // the machine has failed
	}
	k := taskOf(a)
	if other, ok := w.running[k]; ok {
		w.fail("%s starts on %s while %s runs", a, h.name, other)
		return
	}
	if w.ran[a] {
		w.fail("%s is run a second time, on %s", a, h.name)
		return
	}
	w.running[k], w.ran[a] = a, true
	w.started++
	if a.PETask == "" {
		w.startPETasks(a)
	} else {
		w.inherited++
	}
	p.State, p.Start = plan.Running, w.now
	h.reportProcess(p)
	p.left = w.rand.ExpFloat64() * 8
	if !p.Suspended {
		h.runProcess(p)
	}
}

// runProcess lets a process run, which ends if it is not stopped before.
func (h *host) runProcess(p *process) {
	w := h.world
	p.since = w.now
	p.turns++
	turn := p.turns
	w.after(p.left, func() {
		if p.State == plan.Running && !p.Suspended && p.turns == turn {
			w.endsAsItRuns(p.Attempt)
			h.endProcess(p.Attempt, uint32([...]int{0, 0, 0, 0, 0, 0, 1, 99, 100}[w.rand.IntN(9)]), 0)
		}
	})
}

// setStopped lets a process stand still, or continue.
func (h *host) setStopped(p *process, still bool) {
	if p.State == plan.Ended || p.Suspended == still {
		return
	}
	p.Suspended = still
	switch {
	case p.State != plan.Running: // it will not begin to run, or will
	case still:
		p.left = max(p.left-h.world.now.Sub(p.since), 0)
	default:
		h.runProcess(p)
	}
}

func (h *host) endProcess(a report.Attempt, exit, signal uint32) {
	p := h.runs[a]
	if p == nil || p.State != plan.Running {
		return
	}
	delete(h.world.running, taskOf(a))
	p.State = plan.Ended
	p.End = &plan.End{Result: report.Result{Start: p.Start, End: h.world.now, ExitStatus: exit, Signal: signal}}
	h.reportProcess(p)
}

func (h *host) signalProcess(a report.Attempt, kind report.SignalKind) {
	p := h.runs[a]
	switch {
	case p == nil:
	case kind == report.Suspend, kind == report.Resume:
		h.setStopped(p, kind == report.Suspend)
	case kind == report.Terminate && !p.asked:
		p.asked = true
		h.world.after(0.05, func() { h.endProcess(a, 137, 9) })
	}
}

func (h *host) reportProcess(p *process) {
	s := p.Status
	h.world.after(0.0005, func() { h.stepCore(core.Seen{Attempts: []plan.Status{s}}) })
}
