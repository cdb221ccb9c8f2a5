package jobstory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
	"github.com/quill-grid/quill/tools/outlook"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// cell is qmaster's core and a scheduler on a clock of their own; what they say
// is the log.
type cell struct {
	t       *testing.T
	c       *couple.Couple
	now     grid.Time
	first   *state.State // what the log begins with
	lists   []events.List
	records []orders.Record
	forget  bool // runs are not recorded
}

func newCell(t *testing.T, hosts int, set []string) *cell {
	c := &cell{t: t, now: grid.TimeOf(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))}
	s := state.New()
	fresh := core.Fresh(c.now, "root", "master")
	for i, e := range fresh.Events {
		if e.Kind != grid.KindSchedConf {
			continue
		}
		for _, word := range set {
			name, value, _ := strings.Cut(word, "=")
			o, err := conf.Set(fresh.Events[i].Object, name, value)
			if err != nil {
				t.Fatal(err)
			}
			fresh.Events[i].Object = o
		}
	}
	s.Apply(fresh)
	c.first, c.lists = state.New(), []events.List{fresh}
	c.c = couple.New(s, shipped.Algorithms())
	if err := c.c.Register(); err != nil {
		t.Fatal(err)
	}
	for i := range hosts {
		c.step(core.Report{Report: report.Report{Host: fmt.Sprintf("h%d", i+1), Hello: true, Load: &report.Load{
			Processors: 1, At: c.now, Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
	}
	c.step(core.Tick{})
	return c
}

func (c *cell) step(in core.Input) core.Ready {
	r := c.c.Step(c.now, in)
	if len(r.List.Events) > 0 {
		c.lists = append(c.lists, r.List)
	}
	return r
}

func (c *cell) ask(user string, b gdi.Body) string {
	reply := c.step(core.UserRequest{Request: gdi.Request{User: user, Group: "users", Host: "master", Command: b.Verb(),
		Body: b}}).Answers[0].Reply
	out := ""
	for _, a := range reply.Answers {
		if a.Status != gdi.StatusOK {
			out += a.Text + "\n"
		}
	}
	return out
}

// run has the scheduler decide.
func (c *cell) run() {
	list, decide := c.c.Begin(c.now, true)
	list.At, list.Last = c.now, true
	list.Orders = slices.Collect(decide)
	if len(list.Orders) == 0 {
		return
	}
	r := c.step(core.Orders{List: list})
	if !c.forget {
		c.records = append(c.records, orders.Record{List: list, Result: *r.Answers[0].Result})
	}
}

// submit reads name=value words: switches of qsub.
func (c *cell) submit(words []datadriven.CmdArg) string {
	j := &grid.Job{Name: "job", Tasks: grid.Range{First: 1, Last: 1, Step: 1},
		Spec: &grid.JobSpec{Command: "sleep", SubmitCommand: "qsub"}}
	ask := j.Ask()
	user := "alice"
	for _, w := range words {
		value := strings.Join(w.Vals, ",")
		switch w.Key {
		case "user":
			user = value
		case "name":
			j.Name = value
		case "l":
			var list grid.Requests
			for _, r := range w.Vals {
				name, v, _ := strings.Cut(r, ":")
				list = append(list, grid.Request{Name: name, Value: v})
			}
			ask.Hard = list
		case "p":
			n, _ := strconv.Atoi(value)
			j.Priority = int16(n)
		case "bamount":
			n, _ := strconv.Atoi(value)
			ask.Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: uint32(n), Unit: "C",
				Type: grid.BindSlot}
		case "a": // seconds from now
			n, _ := strconv.ParseFloat(value, 64)
			j.ExecTime = c.now.Add(n)
		case "t":
			n, _ := strconv.Atoi(value)
			j.Array, j.Tasks.Last = true, uint32(n)
		case "h":
			j.UserHold = grid.Ranges{{First: 1, Last: 1, Step: 1}}
		case "R":
			j.Reserve = true
		case "pe": // NAME:SLOTS
			name, slots, _ := strings.Cut(value, ":")
			n, _ := strconv.Atoi(slots)
			ask.PE, ask.PERange = name, grid.Ranges{{First: uint32(n), Last: uint32(n), Step: 1}}
		case "hold_jid":
			ask.PredecessorReq = w.Vals
		default:
			c.t.Fatalf("submit: what is %s?", w.Key)
		}
		if w.Key != "user" {
			j.Spec.SubmitCommand += " -" + strings.TrimSpace(w.Key+" "+value)
		}
	}
	return c.ask(user, &gdi.Submit{Job: j})
}

// execd lets a host report of a task that runs there, or of its end.
func (c *cell) execd(task string, phase report.Phase, exit int) string {
	job, sub, _ := opt.JobOf(task)
	t := c.c.Core.State().Task(job, max(sub, 1))
	if t == nil || !t.Started() {
		return "it does not run\n"
	}
	r := report.Task{Attempt: report.Attempt{Job: job, Task: t.ID, N: t.Attempt}, Phase: phase, Start: t.Start}
	if phase == report.Ended {
		r.Result = &report.Result{Start: t.Start, End: c.now, ExitStatus: uint32(exit)}
		r.Usage = grid.Usage{CPU: c.now.Sub(t.Start)}
	}
	c.step(core.Report{Report: report.Report{Host: t.Grants[0].Host, Tasks: []report.Task{r}}})
	return ""
}

// fail lets a host report that a task could not be started, for what the job or the queue is to be blamed.
func (c *cell) fail(task, whose, text string) string {
	job, sub, _ := opt.JobOf(task)
	t := c.c.Core.State().Task(job, max(sub, 1))
	if t == nil || !t.Started() {
		return "it does not run\n"
	}
	failed := map[string]report.Failure{"job": report.FailedOwnStart, "queue": report.FailedProlog}[whose]
	r := report.Task{Attempt: report.Attempt{Job: job, Task: t.ID, N: t.Attempt}, Phase: report.Ended, Start: t.Start,
		Result: &report.Result{Start: t.Start, End: c.now, Failed: failed, Text: text}}
	c.step(core.Report{Report: report.Report{Host: t.Grants[0].Host, Tasks: []report.Task{r}}})
	return ""
}

// why prints a story as the command does, of the lists from one on.
func (c *cell) why(word, from string, asJSON bool) string {
	job, task, err := opt.JobOf(word)
	if err != nil {
		return err.Error() + "\n"
	}
	runs, err := runsOf(func(yield func(orders.Record, error) bool) {
		for _, r := range c.records {
			if !yield(r, nil) {
				return
			}
		}
	}, job)
	if err != nil {
		c.t.Fatal(err)
	}
	begin := c.first.Copy()
	first, _ := strconv.ParseUint(from, 10, 64)
	for _, l := range c.lists {
		if l.Seq <= first {
			begin.Apply(l)
		}
	}
	mark, begin0 := history.Mark{Seq: max(begin.Seq, 1), At: begin.At}, begin.Copy()
	t := newFollower(job, task, begin, runs)
	for _, l := range c.lists {
		if l.Seq > begin.Seq {
			t.followList(l)
		}
	}
	if t.story == nil {
		return t.unknown(mark).Error() + "\n"
	}
	story := t.end(markOf(mark.Seq, mark.At), c.now, outlook.Options{})
	c.checkAnswer(begin0, story)
	var b bytes.Buffer
	if asJSON {
		err = document.Write(&b, *story)
	} else {
		err = story.Print(&b)
	}
	if err == nil && asJSON {
		err = opttest.CheckDocument(b.String())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \n")
	}
	return strings.Join(lines, "\n")
}

// answered counts stories that qmaster's answers have made, too.
var answered int

// checkAnswer checks that qmaster's answer, with the part of the log after a state that it sends, makes the same story.
func (c *cell) checkAnswer(begin *state.State, want *Story) {
	at, cluster := c.c.Core.CopyCell()
	about := history.NewAboutJob(want.Job)
	chosen := func(l events.List, send func(events.List) error) error {
		all := l.Events
		l.Events = nil
		for _, e := range all {
			if about.Wants(&e) {
				l.Events = append(l.Events, e)
			}
		}
		if about.Keeps(&l) || l.Seq == begin.Seq {
			return send(l)
		}
		return nil
	}
	got, err := ReadAnswer(want.Job, want.Task, c.now, func(each func(events.List) error) (gdi.Reply, error) {
		reply := Explain(at, cluster, &gdi.Explain{Job: want.Job, Task: want.Task}, c.now, nil)
		if reply.Explanation == nil || reply.Explanation.Outlook == nil {
			return reply, reply.Err()
		}
		full := begin.FullList()
		full.At = max(full.At, begin.At)
		err := chosen(full, each)
		for _, l := range c.lists {
			if l.Seq > begin.Seq && err == nil {
				err = chosen(l, each)
			}
		}
		answer, err2 := codec.DecodeReply(codec.AppendReply(nil, reply))
		return answer, errors.Join(err, err2)
	})
	if err != nil {
		c.t.Fatal(err)
	}
	groups := Explain(at, cluster, &gdi.Explain{User: want.Owner}, c.now, nil)
	if d := cmp.Diff(WaitingIn(at, want.Owner, c.now),
		WaitingGroups(groups.Seq, groups.Explanation.At, want.Owner, groups.Explanation.Groups)); d != "" {
		c.t.Error(d)
	}
	if got == nil {
		return
	}
	answered++
	var a, b bytes.Buffer
	if err := errors.Join(document.Write(&a, *want), document.Write(&b, *got)); err != nil {
		c.t.Fatal(err)
	}
	if a.String() != b.String() {
		c.t.Errorf("the log says\n%s\nqmaster answers\n%s", a.String(), b.String())
	}
}

func TestTranscripts(t *testing.T) {
	answered = 0
	defer func() {
		if answered < 10 {
			t.Errorf("qmaster answers only %d stories", answered)
		}
	}()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c *cell
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			word := ""
			if len(d.CmdArgs) > 0 {
				word = d.CmdArgs[0].Key
			}
			ref := []string{word}
			switch d.Cmd {
			case "cell":
				n, _ := strconv.Atoi(word)
				c = newCell(t, n, strings.Fields(d.Input))
				return ""
			case "forget":
				c.forget = true
				return ""
			case "licence":
				n := "" // no capacity anywhere
				if len(d.CmdArgs[0].Vals) > 0 {
					n = d.CmdArgs[0].Vals[0]
				}
				out := c.ask("root",
					&gdi.Add{Objects: []grid.Object{&grid.Centry{Name: word, Shortcut: word, Type: "INT", Relop: "<=",
						Requestable: "YES", Consumable: "YES", Default: "0", Urgency: "0"}}})
				if n == "" {
					return out
				}
				global := *c.c.Core.State().ExecHost(grid.GlobalHost)
				global.ComplexValues = grid.Values{{Name: word, Text: n}}
				return out + c.ask("root", &gdi.Modify{Objects: []grid.Object{&global}})
			case "attribute": // a characteristic of instances
				return c.ask("root",
					&gdi.Add{Objects: []grid.Object{&grid.Centry{Name: word, Shortcut: word, Type: "INT", Relop: "==",
						Requestable: "YES", Consumable: "NO", Default: "0", Urgency: "0"}}})
			case "topology": // of a host
				c.step(core.Report{Report: report.Report{Host: word, Load: &report.Load{
					Processors: 8, At: c.now,
					Values: grid.Values{{Name: "np_load_avg", Text: "0"}, {Name: "m_topology_tree", Text: d.CmdArgs[1].Key}}}}})
				c.step(core.Tick{})
				return ""
			case "map": // its values, a line of HOST VALUE for each host
				out := c.ask("root",
					&gdi.Add{Objects: []grid.Object{&grid.Centry{Name: word, Shortcut: word, Type: grid.TypeMap, Relop: "<=",
						Requestable: "YES", Consumable: "YES", Default: "0", Urgency: "0"}}})
				for line := range strings.Lines(d.Input) {
					name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
					h := *c.c.Core.State().ExecHost(name)
					h.ComplexValues = grid.Values{{Name: word, Text: value}}
					out += c.ask("root", &gdi.Modify{Objects: []grid.Object{&h}})
				}
				return out
			case "submit":
				return c.submit(d.CmdArgs)
			case "reserve": // SECONDS from now: both hosts' slots in advance, for ten minutes
				n, _ := strconv.ParseFloat(word, 64)
				return c.ask("root", &gdi.Reserve{AR: &grid.AR{Start: c.now.Add(n), Duration: 600, PE: "make",
					PERange: grid.Ranges{{First: 2, Last: 2, Step: 1}}}})
			case "run":
				c.run()
				return ""
			case "later":
				seconds, _ := strconv.ParseFloat(word, 64)
				c.now = c.now.Add(seconds)
				return ""
			case "running":
				return c.execd(word, report.Running, 0)
			case "end":
				exit := 0
				d.MaybeScanArgs(t, "exit", &exit)
				return c.execd(word, report.Ended, exit)
			case "fail": // TASK job|queue: the text of the error
				return c.fail(word, d.CmdArgs[1].Key, strings.TrimSuffix(d.Input, "\n"))
			case "suspend", "unsuspend", "reschedule", "clear":
				return c.ask("root", &gdi.Control{Action: d.Cmd, Refs: ref})
			case "disable", "enable":
				return c.ask("root", &gdi.Control{Action: d.Cmd, Refs: ref, Queues: true})
			case "release":
				n, _ := strconv.Atoi(word)
				return c.ask("alice", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: uint32(n)}}}, Set: []string{"h"},
					Job: &grid.Job{JobRequest: &grid.JobRequest{}}})
			case "silent": // HOST: for so long that it is taken for unheard
				c.now = c.now.Add(3600)
				for i := range 2 {
					if h := fmt.Sprintf("h%d", i+1); h != word {
						c.step(core.Report{Report: report.Report{Host: h, Load: &report.Load{Processors: 1, At: c.now,
							Values: grid.Values{{Name: "np_load_avg", Text: "0"}}}}})
					}
				}
				c.step(core.Tick{})
				return ""
			case "alter": // JOB h_rt=SECONDS
				n, _ := strconv.Atoi(word)
				hard := grid.Requests{{Name: d.CmdArgs[1].Key, Value: d.CmdArgs[1].Vals[0]}}
				return c.ask("bob", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: uint32(n)}}}, Set: []string{"l"},
					Job: &grid.Job{JobRequest: &grid.JobRequest{Hard: hard}}})
			case "delete":
				n, _ := strconv.Atoi(word)
				return c.ask("alice", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: uint32(n)}}}})
			case "why":
				from := ""
				d.MaybeScanArgs(t, "from", &from)
				return c.why(word, from, d.HasArg("json"))
			}
			t.Fatalf("what is %s?", d.Cmd)
			return ""
		})
	})
}

func TestReasonsThatDifferInAnAmountAreOne(t *testing.T) {
	var waits []Wait
	for i, r := range []string{"it offers only hl:mem_free=1.2G", "it offers only hl:mem_free=1.4G",
		"it offers only hl:mem_free=1G due to a reservation", "it offers only gc:lic=0"} {
		add(&waits, Wait{r, 1, uint64(i), uint64(i)})
	}
	if len(waits) != 3 || waits[0].Seconds != 2 || waits[0].Last != 1 {
		t.Errorf("got %+v", waits)
	}
}
