package core

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestMadeUpWords has a qmaster and a shepherd of another version, or with a bug,
// say what they like between what is right. The laws:
//
//	nothing ends execd, nothing keeps it busy, what is to be started can be planned
//	the same words have the same answer
//	commands of an older qmaster are refused
//	a report names each attempt once, an end with its result
//	when the shepherd has nothing and qmaster receives all, nothing is left
func TestMadeUpWords(t *testing.T) {
	testkit.EachSeed(t, 800, func(t *testing.T, seed uint64) {
		w := &madeUp{t: t, Maker: madeup.Maker{Dice: rand.New(rand.NewPCG(seed, 3)), Texts: texts, Nil: true},
			now: 1_700_000_000_000}
		for i := range w.cores {
			w.cores[i] = New("h1", "i1", time.UTC, treeOf("SCTTCTTSCTTCTT"))
		}
		for range 80 {
			w.turn()
		}
		w.rest()
	})
}

var texts = []string{"", " ", "none", "/bin/x", "x@", "@", "root@/x $job_id $pe $", "$", "$ckpt_dir", ":", "h1:/x", "~",
	"/", "INFINITY", "0", "1e9", "0:0:1", ",", "=", "a=b,S_LOCKS=", "..", "m", "TRANSPARENT", strings.Repeat("x", 300)}

// madeUp is a host twice over, and who talks to it.
type madeUp struct {
	t *testing.T
	madeup.Maker
	now   grid.Time
	cores [2]*Core
	conf  Conf
}

// runInput runs one input and checks the laws.
func (w *madeUp) runInput(in Input) Ready {
	epoch := w.cores[0].epoch
	r := w.cores[0].Step(w.now, in)
	if one, two := printed(r, w.now), printed(w.cores[1].Step(w.now, in), w.now); one != two {
		w.t.Fatalf("%+v\nhas the answer\n%sand\n%s", in, one, two)
	}
	if r.Conf != nil {
		w.conf = *r.Conf
	}
	if c, is := in.(Commanded); is && c.Command.Epoch < epoch && len(r.Start)+len(r.Signals)+len(r.Forget)+
		len(r.Scripts) > 0 {
		w.t.Fatalf("%+v\nwas obeyed: %+v", in, r)
	}
	site := Site{Host: "h1", Root: "/r", Dir: "/d", Active: "/a", Starter: []string{"starter"}}
	for i := range r.Start {
		site.Plan(&w.conf, &r.Start[i], testOwner, testLocal(""))
	}
	if r.Report != nil {
		reported := map[report.Attempt]bool{}
		for _, t := range r.Report.Tasks {
			if reported[t.Attempt] || (t.Phase == report.Ended) != (t.Result != nil) {
				w.t.Fatalf("%+v: %+v", in, r.Report)
			}
			reported[t.Attempt] = true
		}
	}
	if r.Next != 0 && r.Next <= w.now && !r.Stop {
		w.t.Fatalf("%+v: the next tick is in the past: %v at %v", in, r.Next, w.now)
	}
	return r
}

func (w *madeUp) turn() {
	w.now = w.now.Add(float64(w.Dice.IntN(40)))
	switch w.Dice.IntN(12) {
	case 0, 1, 2, 3:
		w.runInput(Commanded{w.command()})
	case 4, 5:
		w.runInput(Seen{w.statuses()})
	case 6:
		w.runInput(Listed{w.statuses()})
	case 7:
		w.runInput(ShepherdGone{})
	case 8:
		in := Received{report.Receipt{Epoch: w.epoch()}}
		for range w.Dice.IntN(4) {
			in.Receipt.Have = append(in.Receipt.Have, w.attempt())
			in.Receipt.Drop = append(in.Receipt.Drop, w.attempt())
		}
		w.runInput(in)
	case 9:
		var in Answered
		for range w.Dice.IntN(4) {
			in.Answers = append(in.Answers, plan.Answer{
				Attempt: w.attempt(), State: plan.State(w.Dice.IntN(4)), Failed: report.Failure(w.Dice.IntN(2)),
			})
		}
		w.runInput(in)
	case 10:
		w.runInput([]Input{Tick{}, Unanswered{}, Connected{}}[w.Dice.IntN(3)])
	case 11:
		in := Sampled{Load: &report.Load{}}
		w.Some(in.Load)
		for range w.Dice.IntN(4) {
			u := plan.Used{Attempt: w.attempt()}
			w.All(&u.Usage)
			in.Usage = append(in.Usage, u)
		}
		w.runInput(in)
	}
}

// rest has the shepherd lose all that it has, and refuse what is new.
func (w *madeUp) rest() {
	for range 20 {
		w.now = w.now.Add(10)
		rs := []Ready{w.runInput(Listed{}), w.runInput(Tick{})}
		for len(rs) > 0 {
			r := rs[0]
			rs = rs[1:]
			if len(r.Start) > 0 {
				var in Answered
				for _, s := range r.Start {
					in.Answers = append(in.Answers, plan.Answer{Attempt: s.Deliver.Attempt, Failed: report.FailedBeforeJob})
				}
				rs = append(rs, w.runInput(in))
			}
			if r.Report != nil {
				in := Received{report.Receipt{Epoch: math.MaxUint64}}
				for _, t := range r.Report.Tasks {
					in.Receipt.Have = append(in.Receipt.Have, t.Attempt)
				}
				rs = append(rs, w.runInput(in))
			}
		}
		w.runInput(Unanswered{}) // the report that got no receipt
	}
	if c := w.cores[0]; len(c.attempts)+len(c.bindings)+len(c.scripts) > 0 {
		w.t.Fatalf("left: %v, bound %v, scripts %v", c.sortedKeys(), c.bindings, c.scripts)
	}
}

func (w *madeUp) epoch() uint64 {
	if w.Dice.IntN(6) > 0 {
		return w.cores[0].epoch
	}
	return uint64(w.Dice.IntN(9))
}

// attempt is one that is known, but for a part of it, or another.
func (w *madeUp) attempt() report.Attempt {
	a := report.Attempt{Job: uint32(w.Dice.IntN(4)), Task: uint32(w.Dice.IntN(3)), N: uint32(w.Dice.IntN(4))}
	if keys := w.cores[0].sortedKeys(); len(keys) > 0 && w.Dice.IntN(3) > 0 {
		a = keys[w.Dice.IntN(len(keys))]
	}
	if w.Dice.IntN(4) == 0 {
		a.PETask = []string{"", "1.h1", "x"}[w.Dice.IntN(3)]
	}
	if w.Dice.IntN(8) == 0 {
		w.Some(&a)
	}
	return a
}

func (w *madeUp) statuses() (out []plan.Status) {
	for range w.Dice.IntN(4) {
		s := plan.Status{Attempt: w.attempt()}
		if w.Dice.IntN(2) == 0 {
			w.Some(&s)
		}
		s.State = plan.Starting + plan.State(w.Dice.IntN(3))
		if s.State == plan.Ended && w.Dice.IntN(2) == 0 {
			s.End = &plan.End{Result: report.Result{Failed: report.Failure(w.Dice.IntN(40))}}
		}
		out = append(out, s)
	}
	return out
}

func (w *madeUp) command() report.Command {
	c := report.Command{Epoch: w.epoch(), Stop: w.Dice.IntN(40) == 0, Kill: w.Dice.IntN(40) == 0}
	for range 1 + w.Dice.IntN(2) {
		c.Queues = append(c.Queues, w.queue())
	}
	for range w.Dice.IntN(4) {
		d := report.Deliver{Attempt: w.attempt(), Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}
		if w.Dice.IntN(2) == 0 {
			w.Some(&d)
		}
		if d.Attempt.PETask != "" && d.Launch == nil && w.Dice.IntN(4) > 0 {
			d.Launch = &grid.Launch{Args: []string{"x"}}
		}
		c.Deliver = append(c.Deliver, d)
		if w.Dice.IntN(6) > 0 {
			c.Jobs = append(c.Jobs, w.job(d.Attempt.Job))
		}
	}
	for range w.Dice.IntN(3) {
		c.Signals = append(c.Signals, report.Signal{Attempt: w.attempt(), Kind: report.SignalKind(w.Dice.IntN(8))})
		c.Forget = append(c.Forget, w.attempt())
	}
	if w.Dice.IntN(6) == 0 {
		names := []string{"load_report_time", "prolog", "epilog", "load_sensor", "login_shells", "execd_params", "mailer",
			"shell_start_mode"}
		c.Conf = grid.Values{{Name: names[w.Dice.IntN(len(names))], Text: w.Text()}}
	}
	return c
}

func (w *madeUp) queue() report.QueueInstance {
	q := report.QueueInstance{Name: "all.q", Host: "h1"}
	if w.Dice.IntN(2) == 0 {
		w.Some(&q)
	}
	return q
}

// job is one that could be, but for a part of it; now and then none.
func (w *madeUp) job(id uint32) *grid.Job {
	if w.Dice.IntN(20) == 0 {
		return nil
	}
	j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: "j", Owner: "alice", Binary: w.Dice.IntN(2) == 0,
		Spec: &grid.JobSpec{Command: "c", SubmitHost: "s"}}
	if w.Dice.IntN(2) == 0 {
		j.Spec.MailOptions, j.Spec.MailTo = "beas", []string{"alice@s"}
	}
	if w.Dice.IntN(3) == 0 {
		j.Binding = new(grid.Binding)
		w.All(j.Binding)
	}
	if w.Dice.IntN(2) == 0 {
		parts := []any{j, j.JobRequest, j.Spec}
		w.Some(parts[w.Dice.IntN(len(parts))])
		j.JobRequest, j.ID = cmp.Or(j.JobRequest, &grid.JobRequest{}), id
	}
	return j
}
