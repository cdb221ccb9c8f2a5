package sched_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// TestTranscripts executes the commands of testdata/*.txt. The input of a command are lines of cell.do: what happens
// before the command shows something.
//
//	cell                     a new cell
//	do                       what happens; shows nothing
//	place ID ...             where FindPlacement places a task of each job; the master queue first
//	fits ID QUEUE@HOST[:SLOTS] ... [pe=PE]   whether a task may start there: qmaster's check
//	why ID ...               the messages of Explain
//	lacks ID ...             what each queue instance lacks, and at which level: those that come closest first
//	earliest ID ...          when and where, if not now
//	free                     what is left of each consumable, by level
//	states                   states of queue instances and their alarms
//	closed                   the instances that take no jobs
//	quota                    what is used of quotas
//	instances RESOURCE       the instances of resource maps, and which jobs have them
//	cores                    the cores that tasks were granted
//	holds ID.TASK ...        what a task holds at each level
//	preempted                tasks that were preempted, and whether they can have their slots again
//	thresholds               tasks that suspend thresholds suspend or resume
//	subordinate HOST         what subordinate queues of a host suspend or resume
//	category ID ...          which jobs are alike
//	decide ID ... [COMMAND ...]   what a run decides on the jobs in this order, on a copy: start, reserve (-R y) or wait;
//	                         then what the copy shows
//	after ID.TASK COMMAND ...  what a command shows where the published reservations are planned, but for that of a task
//	plan                     what is taken of each limited resource over time
//	claims                   instances of resource maps that are promised without being known
//	verify ID ...            the sentences of qsub -w p; never ID ...: of qsub -w v, on the empty cluster
//	grant OWNER from= to= [l= q= masterq= pe= acl= ckpt= now=]   what an advance reservation would be granted
//	resources QUEUE@HOST|HOST|global [total] [NAME ...]   what listings show
//	meets QUEUE@HOST|HOST NAME=VALUE ...   whether a resource there is enough, as qstat -l asks
//	reported HOST NAME ...   load values
//	urgency ID ...           what the requests add to the urgency, and for how many slots
//	covered ID ...           which jobs need no search because a smaller one has no place
//	choices ID.TASK ...      which instances and cores a task got, and which it could have got
//	chosen ID ...            which ones a job would get
//	devices HOST [ID.TASK]   device files, and those that a task may use
//	allocations ID ...       what a job would hold at each level
//	across ID SLOTS [most=HOSTS]   a division of slots over hosts that is made elsewhere
//	accounted ID ...         the category as accounting(5) has it
//	tasks ID ...             the tasks to start, in order; started ID|USER ...   how many have
//	rerunnable ID.TASK ...   whether tasks may be started again
//	usable                   slots of the instances that take jobs, and which have room
//	overdrawn                whether advance reservations hold more than there is
//	grow ID.TASK NAME=VALUE  whether a running task may have other limits
//	at ID                    whether the job can start, instance by instance
//	infeasible ID ...        whether it is known without a search that a job has no place
//
// After each command the followed Cluster is compared with one that is built from the full state, with its copies and a
// lent one, and its answers with each other.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c *cell
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cell" {
				c = newCell()
				if err := c.do("sched"); err != nil {
					t.Fatal(err)
				}
			}
			for line := range strings.SplitSeq(d.Input, "\n") {
				if err := c.do(line); err != nil {
					d.Fatalf(t, "%s: %v", line, err)
				}
			}
			if d.Cmd != "cell" {
				if why := c.compare(); why != "" {
					t.Errorf("%s: %s", d.Pos, why)
				}
			}
			run := c.Cluster.Copy(c.State.Copy())
			run.Begin(c.Now)
			show := commands[d.Cmd]
			if show == nil {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			var words []string
			for _, a := range d.CmdArgs {
				words = append(words, a.String())
			}
			text := strings.Join(show(&shown{c, run}, words), "\n")
			switch {
			case d.Cmd == "cell" || d.Cmd == "do":
				return ""
			case text == "":
				return "nothing\n"
			}
			return text + "\n"
		})
	})
}

// shown is what a command looks at: the cell, and a copy of its Cluster that a run has begun on.
type shown struct {
	*cell
	run *sched.Cluster
}

var commands = map[string]func(*shown, []string) []string{
	"cell": func(*shown, []string) []string { return nil },
	"do":   func(*shown, []string) []string { return nil },
	"place": func(s *shown, words []string) []string {
		return s.each(words, func(j *grid.Job) string {
			p, why := s.run.FindPlacement(s.run.Need(j), &sched.Cursor{})
			return placeText(p, why)
		})
	},
	"earliest": func(s *shown, words []string) []string {
		return s.each(words, func(j *grid.Job) string {
			p, at, why := s.run.Earliest(s.run.Need(j), s.Now)
			if !why.Fits() {
				return why.String()
			}
			return fmt.Sprintf("after %g s, %s", at.Sub(algorithmtest.Begin), placeText(p, why))
		})
	},
	"fits": (*shown).fits,
	"why": func(s *shown, words []string) (out []string) {
		return s.each(words, func(j *grid.Job) string {
			n := s.run.Need(j)
			var list []string
			for _, r := range s.run.Explain(n, s.run.Why(n), 100) {
				list = append(list, "\n  "+r.String())
			}
			return strings.Join(list, "")
		})
	},
	"lacks": func(s *shown, words []string) []string { return s.each(words, s.lacks) },
	"free":  (*shown).free,
	"states": func(s *shown, _ []string) (out []string) {
		s.run.EachInstance(func(i sched.Instance) bool {
			line := fmt.Sprintf("%s@%s %d/%d", i.Queue.Name, i.Host, i.Used, i.Slots)
			if i.State != 0 {
				line += " " + i.State.Letters()
			}
			for _, a := range []*sched.Alarm{i.LoadAlarm, i.SuspendAlarm} {
				if a != nil {
					line += fmt.Sprintf(", %s=%g reaches %s", a.Name, a.Number, a.Limit)
				}
			}
			out = append(out, line)
			return true
		})
		return out
	},
	"closed": func(s *shown, _ []string) (out []string) {
		for _, r := range s.run.Closed(100) {
			out = append(out, r.String())
		}
		return out
	},
	"quota": func(s *shown, _ []string) (out []string) {
		for _, q := range s.run.Quotas() {
			by := ""
			for i, f := range q.By {
				if len(f.List) > 0 {
					by += " " + grid.QuotaWords[i] + " " + strings.Join(f.List, ",")
				}
			}
			used := ""
			if q.Booked {
				used = s.amount(q.Attribute.Name, q.Used) + " of "
			}
			out = append(out, fmt.Sprintf("%s/%s%s: %s=%s%s", q.Set, q.Rule, by, q.Attribute.Name, used,
				s.amount(q.Attribute.Name, q.Limit)))
		}
		return out
	},
	"instances":  (*shown).instances,
	"cores":      (*shown).cores,
	"holds":      (*shown).holds,
	"preempted":  (*shown).preempted,
	"thresholds": (*shown).thresholds,
	"subordinate": func(s *shown, words []string) (out []string) {
		over := s.run.Subordinates(words[0])
		for _, queue := range grid.Names(sorted(over)) {
			if over[queue] {
				out = append(out, queue+" is suspended")
			}
		}
		if t, suspend := s.run.Preempt(words[0]); t != nil {
			out = append(out, fmt.Sprintf("%s %d.%d", map[bool]string{true: "suspend", false: "resume"}[suspend], t.Job, t.ID))
		}
		return out
	},
	"category": func(s *shown, words []string) []string {
		return s.each(words, func(j *grid.Job) string { return s.run.Category(j) })
	},
}

func sorted[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// each is a line for each job.
func (s *shown) each(words []string, f func(*grid.Job) string) (out []string) {
	for _, w := range words {
		j := s.State.Job(number(w))
		if j == nil {
			out = append(out, w+": no such job")
			continue
		}
		text := f(j)
		if text == "" {
			text = "nothing"
		}
		out = append(out, strings.ReplaceAll(w+": "+text, ": \n", ":\n"))
	}
	return out
}

func placeText(p sched.Placement, why reason.Reason) string {
	if !why.Fits() {
		return why.String()
	}
	var list []string
	for _, g := range p.Grants {
		list = append(list, fmt.Sprintf("%s:%d", g.Instance(), g.Slots))
	}
	text := strings.Join(list, " ")
	if p.PE != "" {
		text += " in " + p.PE
	}
	if p.Violations > 0 {
		text += fmt.Sprintf(", %d soft requests not met", p.Violations)
	}
	return text
}

func (s *shown) fits(words []string) []string {
	plain, values := split(words[1:])
	pe, _ := values.Get("pe")
	if why := s.Cluster.Fits(s.State.Job(number(words[0])), grants(plain), pe); !why.Fits() {
		return []string{"no: " + why.String()}
	}
	return []string{"yes"}
}

func (s *shown) lacks(j *grid.Job) (text string) {
	for _, near := range s.run.Closest(s.run.Need(j), 100) {
		text += "\n  " + near.Instance + ":"
		for _, l := range near.Lacks {
			if l.Level == 0 {
				text += "\n    " + l.Reason.String()
				continue
			}
			text += fmt.Sprintf("\n    %c %s %s: %s asked, %s left", l.Level, l.Object, l.Resource, l.AskedText, l.LeftText)
			if l.OfText != "" {
				text += " of " + l.OfText
			}
		}
		if len(near.Lacks) == 0 {
			text += " nothing"
		}
	}
	return text
}

// amount is a number of an attribute as its type prints it.
func (s *shown) amount(attribute string, n float64) string {
	x := s.run.Complex()
	i := x.Find(attribute)
	if i < 0 { // threads
		return fmt.Sprint(n)
	}
	return x.List[i].Format(n)
}

func (s *shown) free([]string) (out []string) {
	line := func(name string, level byte, left, total []sched.Resource) {
		text := ""
		for i, r := range left {
			if r.Source == sched.SourceConsumable && r.Level == level {
				text += fmt.Sprintf(" %s=%s/%s", r.Attribute.Name, s.amount(r.Attribute.Name, r.Number),
					s.amount(r.Attribute.Name, total[i].Number))
			}
		}
		if text != "" {
			out = append(out, name+text)
		}
	}
	line("global", sched.LevelGlobal, s.run.HostResources(grid.GlobalHost, false),
		s.run.HostResources(grid.GlobalHost, true))
	for _, h := range s.State.ExecHosts() {
		if h.Name != grid.GlobalHost {
			line(h.Name, sched.LevelHost, s.run.HostResources(h.Name, false), s.run.HostResources(h.Name, true))
		}
	}
	s.run.EachInstance(func(i sched.Instance) bool {
		line(i.Queue.Name+"@"+i.Host, sched.LevelQueue, s.run.Resources(i.Number, false), s.run.Resources(i.Number, true))
		return true
	})
	return out
}

func (s *shown) instances(words []string) (out []string) {
	for _, h := range s.State.ExecHosts() {
		var list []string
		for _, u := range s.run.InstanceUses(words[0], h.Name, nil) {
			text := u.ID
			if len(u.Jobs) > 0 {
				text += fmt.Sprint(" of ", u.Jobs)
			}
			if u.Free > 0 && len(u.Jobs) > 0 {
				text += fmt.Sprintf(" and %d free", u.Free)
			}
			if u.Health != nil {
				text += " out of service"
			}
			list = append(list, text)
		}
		if len(list) > 0 {
			out = append(out, h.Name+": "+strings.Join(list, ", "))
		}
	}
	return out
}

// eachStarted calls f with the started tasks.
func (s *shown) eachStarted(f func(*grid.JATask)) {
	s.State.Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Started() {
			f(t)
		}
		return true
	})
}

func (s *shown) cores([]string) (out []string) {
	s.eachStarted(func(t *grid.JATask) {
		for _, g := range t.Cores {
			line := fmt.Sprintf("%d.%d %s", t.Job, t.ID, g)
			if g.Shared {
				line += " shared"
			}
			out = append(out, line)
		}
	})
	return out
}

func (s *shown) holds(words []string) (out []string) {
	for _, w := range words {
		job, task := taskOf(w)
		for _, a := range s.run.Holds(s.State.Job(job), s.State.Task(job, task)) {
			out = append(out, fmt.Sprintf("%s %c %s %s=%s", w, a.Level, a.Object, a.Resource, s.amount(a.Resource, a.Amount)))
		}
	}
	return out
}

func (s *shown) preempted([]string) (out []string) {
	for _, t := range s.run.Preempted() {
		text := "fits again"
		if why := s.run.FitsAgain(t); !why.Fits() {
			text = why.String()
		}
		out = append(out, fmt.Sprintf("%d.%d: %s", t.Job, t.ID, text))
	}
	return out
}

func (s *shown) thresholds([]string) (out []string) {
	for _, x := range s.run.Crossings() {
		out = append(out, fmt.Sprintf("%s %d.%d in %s", map[bool]string{true: "suspend", false: "resume"}[x.Suspend], x.Job,
			x.Task, x.Queue))
	}
	return out
}
