package view_test

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/view"
)

// job describes a job; one without tasks waits.
func (c *cell) job() string {
	one := grid.Range{First: 1, Last: 1, Step: 1}
	j := &grid.Job{ID: uint32(c.number(c.words()[0])), Name: "job", Owner: "alice", Group: "users",
		Submit: now - 60_000, Tasks: one,
		Pending: grid.Ranges{one}}
	ask := j.Ask()
	for _, v := range c.values() {
		switch v[0] {
		case "owner":
			j.Owner = v[1]
		case "group":
			j.Group = v[1]
		case "name":
			j.Name = v[1]
		case "l":
			ask.Hard = c.requests(strings.Split(v[1], ","))
		case "q":
			ask.HardQueues = strings.Split(v[1], ",")
		case "pe":
			name, slots, _ := strings.Cut(v[1], ":")
			n := uint32(c.number(slots))
			ask.PE, ask.PERange = name, grid.Ranges{{First: n, Last: n, Step: 1}}
		case "ar":
			j.AR = uint32(c.number(v[1]))
		case "t":
			j.Array, j.Tasks.Last = true, uint32(c.number(v[1]))
			j.Pending = grid.Ranges{j.Tasks}
		case "tc":
			j.Concurrency = uint32(c.number(v[1]))
		case "p":
			j.Priority = -int16(c.number(v[1]))
		case "submit":
			j.Submit = now - grid.Time(c.number(v[1]))*1000
		case "after":
			j.Predecessors = append(j.Predecessors, uint32(c.number(v[1])))
		case "project":
			j.Project = v[1]
		case "start":
			j.ExecTime = now + grid.Time(c.number(v[1]))*1000
		case "h": // uTASK, oTASK, ...
			for _, w := range strings.Split(v[1], ",") {
				id := grid.Ranges{{First: uint32(c.number(w[1:])), Last: uint32(c.number(w[1:])), Step: 1}}
				switch w[0] {
				case 'u':
					j.UserHold = append(j.UserHold, id...)
				case 'o':
					j.OperHold = append(j.OperHold, id...)
				}
			}
		default:
			c.d.Fatalf(c.t, "job: what is %s?", v[0])
		}
	}
	c.put(j)
	return ""
}

// found is what the scheduler has found about a job.
func (c *cell) found() string {
	p := &grid.Priority{Job: uint32(c.number(c.words()[0]))}
	for _, v := range c.values() {
		n, _ := grid.CentryType("DOUBLE").Parse(v[1])
		switch v[0] {
		case "priority":
			p.Priority = n
		case "urgency":
			p.Urgency, p.RRContr, p.NUrgency = float32(n), float32(n), 0.5
		case "tickets":
			p.Tickets, p.STickets, p.NTickets = float32(n), float32(n), 0.25
		}
	}
	c.put(p)
	return ""
}

// jobs prints running, waiting and finished ones.
func (c *cell) jobs() string {
	has := func(what string) bool { return c.names("show").Has(what) }
	f := view.JobFilter{Users: c.names("u"), States: view.JobsPresent, Queues: c.filter()}
	for _, letters := range c.names("s") {
		var ok bool
		if f.States, ok = view.ParseJobStates(letters); !ok {
			return "unknown states\n"
		}
	}
	l, err := view.Of(c.state).Jobs(
		now, f, view.JobShow{PerTask: has("tasks"), PerSlot: has("slots"), PETasks: has("petasks"),
			Worth: has("worth"), Policy: has("policy"), Requested: has("requested")})
	if err != nil {
		return print[view.Job](nil, err)
	}
	var b strings.Builder
	for _, section := range []iter.Seq[*view.Job]{l.Running(), l.Waiting(), l.Finished()} {
		for r := range section {
			b.WriteString(print([]view.Job{*r}, nil))
		}
	}
	return b.String()
}

// details prints what qstat -j says of a job, reasons that of all.
func (c *cell) details(named bool) *view.Details {
	d := view.NewDetails(now, named)
	for _, k := range []grid.Kind{grid.KindCentry, grid.KindConf, grid.KindSchedConf, grid.KindJobScheddInfo,
		grid.KindJATask, grid.KindJob, grid.KindPriority} {
		c.state.Each(k, func(o grid.Object) bool {
			if !named || k == grid.KindCentry || o.Key().ID == uint32(c.number(c.words()[0])) || k == grid.KindJobScheddInfo {
				d.Add(o)
			}
			return true
		})
	}
	d.Done()
	return d
}

func (c *cell) detail() string {
	var b strings.Builder
	d := c.details(true)
	for _, m := range d.Global() {
		b.WriteString("all: " + m + "\n")
	}
	for _, j := range d.Jobs() {
		for _, m := range j.Reasons {
			b.WriteString("own: " + m + "\n")
		}
	}
	return b.String()
}

func (c *cell) reasons() string {
	d := c.details(false)
	return print(d.Groups(), nil)
}

// parseReasons returns the reasons of lines: CODE | OBJECT | WHAT | OFFER | SLOTS.
func parseReasons(text string) (out []reason.Reason) {
	for line := range strings.Lines(text) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), " | "), "", "", "", "")
		for _, c := range reason.Codes() {
			if c.String() == f[0] {
				slots, _ := strconv.Atoi(f[4])
				out = append(out, reason.Reason{Code: c, Object: f[1], What: f[2], Offer: f[3], Slots: slots})
			}
		}
	}
	return out
}

// info is what the scheduler said of a category of jobs: info CATEGORY jobs=(1,2).
func (c *cell) info() string {
	i := &grid.JobScheddInfo{Reasons: parseReasons(c.d.Input)}
	if w := c.words(); len(w) > 0 {
		i.Category = w[0]
	}
	for _, id := range c.names("jobs") {
		i.Jobs = append(i.Jobs, uint32(c.number(id)))
	}
	c.put(i)
	return ""
}

// waits prints why a task waits: waits JOB TASK, 0 for the job's next one.
func (c *cell) waits() string {
	w := c.words()
	return print(view.OwnWaits(c.state, c.state.Job(uint32(c.number(w[0]))), uint32(c.number(w[1]))), nil)
}

// ahead prints the jobs that stand before one of priority 0.5.
func (c *cell) ahead() string {
	rows, after := view.JobsAhead(c.state, uint32(c.number(c.words()[0])), 0.5)
	return print(rows, nil) + fmt.Sprintf("%d after\n", after)
}
