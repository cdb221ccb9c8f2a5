package core

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

var seeds = flag.Uint64("seeds", 800, "how many hosts hear what qmaster and the keeper make up")

// TestMadeUpWords has a qmaster and a keeper of another version, or with a bug,
// say what they like between what is right. The laws:
//
//	nothing ends execd, nothing keeps it busy, what is to be started can be planned
//	the same words have the same answer
//	an older qmaster is not obeyed
//	a report names each attempt once, an end with its result
//	when the keeper has nothing and qmaster hears all, nothing is left
func TestMadeUpWords(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &madeUp{t: t, dice: rand.New(rand.NewPCG(seed, 3)), now: 1_700_000_000_000}
			for i := range w.cores {
				w.cores[i] = New("h1", "i1", topologyOf("SCTTCTTSCTTCTT"))
			}
			for range 80 {
				w.turn()
			}
			w.rest()
		})
	}
}

// madeUp is a host twice over, and who talks to it.
type madeUp struct {
	t     *testing.T
	dice  *rand.Rand
	now   grid.Time
	cores [2]*Core
	conf  Conf
}

// hear runs one input and holds the laws.
func (w *madeUp) hear(in Input) Ready {
	epoch := w.cores[0].epoch
	r := w.cores[0].Step(w.now, in)
	if one, two := printed(r, w.now), printed(w.cores[1].Step(w.now, in), w.now); one != two {
		w.t.Fatalf("%+v\nhas the answer\n%sand\n%s", in, one, two)
	}
	if r.Conf != nil {
		w.conf = *r.Conf
	}
	if c, is := in.(Commanded); is && c.Command.Epoch < epoch && len(r.Start)+len(r.Signals)+len(r.Forget)+len(r.Scripts) > 0 {
		w.t.Fatalf("%+v\nwas obeyed: %+v", in, r)
	}
	site := Site{Host: "h1", Root: "/r", Dir: "/d", Active: "/a", Starter: []string{"starter"}}
	for i := range r.Start {
		site.Plan(&w.conf, &r.Start[i], Account{Name: "alice", Home: "/home/alice"}, func(string) bool { return false })
	}
	if r.Report != nil {
		told := map[report.Attempt]bool{}
		for _, t := range r.Report.Tasks {
			if told[t.Attempt] || (t.Phase == report.Ended) != (t.Result != nil) {
				w.t.Fatalf("%+v: %+v", in, r.Report)
			}
			told[t.Attempt] = true
		}
	}
	if r.Next != 0 && r.Next <= w.now && !r.Stop {
		w.t.Fatalf("%+v: the next tick is in the past: %v at %v", in, r.Next, w.now)
	}
	return r
}

func (w *madeUp) turn() {
	w.now = w.now.Add(float64(w.dice.IntN(40)))
	switch w.dice.IntN(12) {
	case 0, 1, 2, 3:
		w.hear(Commanded{w.command()})
	case 4, 5:
		w.hear(Seen{w.sightings()})
	case 6:
		w.hear(Listed{w.sightings()})
	case 7:
		w.hear(KeeperGone{})
	case 8:
		in := Received{report.Receipt{Epoch: w.epoch()}}
		for range w.dice.IntN(4) {
			in.Receipt.Have = append(in.Receipt.Have, w.attempt())
			in.Receipt.Drop = append(in.Receipt.Drop, w.attempt())
		}
		w.hear(in)
	case 9:
		var in Answered
		for range w.dice.IntN(4) {
			in.Answers = append(in.Answers, Answer{
				Attempt: w.attempt(), Stage: Taken + Stage(w.dice.IntN(3)), Failed: uint32(w.dice.IntN(2)), Undone: w.dice.IntN(4) == 0,
			})
		}
		w.hear(in)
	case 10:
		w.hear([]Input{Tick{}, Unanswered{}, Connected{}}[w.dice.IntN(3)])
	case 11:
		in := Sampled{Load: &report.Load{}}
		w.some(reflect.ValueOf(in.Load).Elem())
		for range w.dice.IntN(4) {
			u := Used{Attempt: w.attempt()}
			w.fill(reflect.ValueOf(&u.Usage).Elem())
			in.Usage = append(in.Usage, u)
		}
		w.hear(in)
	}
}

// rest has the keeper lose all that it has, and refuse what is new.
func (w *madeUp) rest() {
	for range 20 {
		w.now = w.now.Add(10)
		rs := []Ready{w.hear(Listed{}), w.hear(Tick{})}
		for len(rs) > 0 {
			r := rs[0]
			rs = rs[1:]
			if len(r.Start) > 0 {
				var in Answered
				for _, s := range r.Start {
					in.Answers = append(in.Answers, Answer{Attempt: s.Deliver.Attempt, Failed: FailedBeforeJob})
				}
				rs = append(rs, w.hear(in))
			}
			if r.Report != nil {
				in := Received{report.Receipt{Epoch: math.MaxUint64}}
				for _, t := range r.Report.Tasks {
					in.Receipt.Have = append(in.Receipt.Have, t.Attempt)
				}
				rs = append(rs, w.hear(in))
			}
		}
		w.hear(Unanswered{}) // the one of which nothing was heard
	}
	if c := w.cores[0]; len(c.attempts)+len(c.bindings)+len(c.scripts) > 0 {
		w.t.Fatalf("left: %v, bound %v, scripts %v", c.keys(), c.bindings, c.scripts)
	}
}

func (w *madeUp) epoch() uint64 {
	if w.dice.IntN(6) > 0 {
		return w.cores[0].epoch
	}
	return uint64(w.dice.IntN(9))
}

// attempt is one that is known, but for a part of it, or another.
func (w *madeUp) attempt() report.Attempt {
	a := report.Attempt{Job: uint32(w.dice.IntN(4)), Task: uint32(w.dice.IntN(3)), N: uint32(w.dice.IntN(4))}
	if keys := w.cores[0].keys(); len(keys) > 0 && w.dice.IntN(3) > 0 {
		a = keys[w.dice.IntN(len(keys))]
	}
	if w.dice.IntN(4) == 0 {
		a.PETask = []string{"", "1.h1", "x"}[w.dice.IntN(3)]
	}
	if w.dice.IntN(8) == 0 {
		w.some(reflect.ValueOf(&a).Elem())
	}
	return a
}

func (w *madeUp) sightings() (out []Sighting) {
	for range w.dice.IntN(4) {
		s := Sighting{Attempt: w.attempt()}
		if w.dice.IntN(2) == 0 {
			w.some(reflect.ValueOf(&s).Elem())
		}
		s.Stage = Taken + Stage(w.dice.IntN(3))
		if s.Stage == Ended && w.dice.IntN(2) == 0 {
			s.Result = &report.Result{Failed: uint32(w.dice.IntN(40))}
		}
		out = append(out, s)
	}
	return out
}

func (w *madeUp) command() report.Command {
	c := report.Command{Epoch: w.epoch(), Stop: w.dice.IntN(40) == 0, Kill: w.dice.IntN(40) == 0}
	for range 1 + w.dice.IntN(2) {
		c.Queues = append(c.Queues, w.queue())
	}
	for range w.dice.IntN(4) {
		d := report.Deliver{Attempt: w.attempt(), Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}}
		if w.dice.IntN(2) == 0 {
			w.some(reflect.ValueOf(&d).Elem())
		}
		if d.Attempt.PETask != "" && d.Launch == nil && w.dice.IntN(4) > 0 {
			d.Launch = &grid.Launch{Args: []string{"x"}}
		}
		c.Deliver = append(c.Deliver, d)
		if w.dice.IntN(6) > 0 {
			c.Jobs = append(c.Jobs, w.job(d.Attempt.Job))
		}
	}
	for range w.dice.IntN(3) {
		c.Signals = append(c.Signals, report.Signal{Attempt: w.attempt(), Kind: report.SignalKind(w.dice.IntN(8))})
		c.Forget = append(c.Forget, w.attempt())
	}
	if w.dice.IntN(6) == 0 {
		names := []string{"load_report_time", "prolog", "epilog", "load_sensor", "login_shells", "execd_params", "mailer", "shell_start_mode"}
		c.Conf = grid.Values{{Name: names[w.dice.IntN(len(names))], Text: w.text()}}
	}
	return c
}

func (w *madeUp) queue() report.Queue {
	q := report.Queue{Name: "all.q", Host: "h1"}
	if w.dice.IntN(2) == 0 {
		w.some(reflect.ValueOf(&q).Elem())
	}
	return q
}

// job is one that could be, but for a part of it; now and then none.
func (w *madeUp) job(id uint32) *grid.Job {
	if w.dice.IntN(20) == 0 {
		return nil
	}
	j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: "j", Owner: "alice", Binary: w.dice.IntN(2) == 0, Spec: &grid.JobSpec{Command: "c", SubmitHost: "s"}}
	if w.dice.IntN(2) == 0 {
		j.Spec.MailOptions, j.Spec.MailTo = "beas", []string{"alice@s"}
	}
	if w.dice.IntN(3) == 0 {
		j.Binding = new(grid.Binding)
		w.fill(reflect.ValueOf(j.Binding).Elem())
	}
	if w.dice.IntN(2) == 0 {
		parts := []any{j, j.JobRequest, j.Spec}
		w.some(reflect.ValueOf(parts[w.dice.IntN(len(parts))]).Elem())
		j.JobRequest, j.ID = cmp.Or(j.JobRequest, &grid.JobRequest{}), id
	}
	return j
}

// some fills a field or two of a struct.
func (w *madeUp) some(v reflect.Value) {
	for range 1 + w.dice.IntN(2) {
		w.fill(v.Field(w.dice.IntN(v.NumField())))
	}
}

func (w *madeUp) text() string {
	texts := []string{"", " ", "none", "/bin/x", "x@", "@", "root@/x $job_id $pe $", "$", "$ckpt_dir", ":", "h1:/x", "~", "/", "INFINITY", "0", "1e9", "0:0:1", ",", "=", "a=b,S_LOCKS=", "..", "m", "TRANSPARENT", strings.Repeat("x", 300)}
	return texts[w.dice.IntN(len(texts))]
}

func (w *madeUp) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if w.dice.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			w.fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.fill(v.Field(i))
		}
	case reflect.Slice:
		n := w.dice.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			w.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(w.text())
	case reflect.Bool:
		v.SetBool(w.dice.IntN(2) == 0)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 2, 7, math.MaxUint64}[w.dice.IntN(5)])
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt([]int64{0, 1, -1, 7, math.MaxInt64, math.MinInt64}[w.dice.IntN(6)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, 0.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}[w.dice.IntN(8)])
	}
}
