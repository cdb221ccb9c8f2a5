package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

var planPage = page{path: "/plan", name: "plan", menu: "Plan", show: showPlan}

const (
	planHosts = 60
	planRows  = 500 // of the table
)

// plan is what runs, what is reserved and what is foreseen, by host.
type plan struct {
	waits
	Gantt     gantt
	Table     []planRow
	More      int // rows that the table does not have
	Hosts     int // with something on them
	Idle      int
	Silent    bool // the algorithm foresees nothing
	Algorithm string
	Plan      Plan
	Foreseen  int
	Window    string
	Windows   []string
	Missing   string // why nothing is foreseen
}

type planRow struct {
	ganttBar
	Host string
}

// planWindows are spans of the plan, in minutes; the first that shows everything is chosen.
var planWindows = []struct {
	name    string
	minutes grid.Time
}{{"1h", 60}, {"6h", 360}, {"24h", 1440}, {"7d", 7 * 1440}}

// barNames are the kinds of bars in words.
var barNames = map[string]string{"running": "runs", "suspended": "is suspended", "held": "advance reservation",
	"waiting": "reserved", "expected": "expected"}

func showPlan(r *request) (any, error) {
	m := r.moment
	d := &plan{Algorithm: m.State.SchedConf().Algorithm}
	var bad error
	shown := map[string]bool{}
	if hosts := r.list("host"); len(hosts) > 0 {
		rows, err := m.View.Hosts(view.HostFilter{Hosts: hosts})
		if err != nil || len(rows) == 0 {
			bad = &Problem{Status: http.StatusUnprocessableEntity, Field: "host", Text: "No execution host is called " +
				strings.Join(hosts, ", ") + "."}
		}
		for _, h := range rows {
			shown[h.Name] = true
		}
	}
	var err error
	d.Plan, err = r.cell().Plan(r.Context(), m)
	if d.Missing, err = d.missing(err); err != nil {
		return nil, err
	}
	d.Foreseen = len(d.Plan.Starts)
	bars := d.bars(r)
	for _, u := range m.View.HostUses() {
		switch {
		case len(shown) > 0 && !shown[u.Name], bad != nil:
		case len(bars[u.Name]) == 0:
			d.Idle++
		default:
			if d.Hosts++; d.Hosts <= r.most(planHosts) {
				d.Gantt.Rows = append(d.Gantt.Rows, ganttRow{Host: u.Name, Slots: u.Slots, Bars: bars[u.Name]})
			}
		}
	}
	if wrong := d.span(r); bad == nil {
		bad = wrong
	}
	d.lay(r.most(planRows))
	return d, bad
}

// bars returns what takes each host.
func (d *plan) bars(r *request) map[string][]ganttBar {
	m, out := r.moment, map[string][]ganttBar{}
	add := func(host, queue string, b ganttBar) {
		b.Queue = queue
		out[host] = append(out[host], b)
	}
	m.State.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		j := m.State.Job(t.Job)
		if j == nil || !t.HoldsSlots() {
			return true
		}
		b := ganttBar{From: t.Start, Class: "running", Label: labelOf(j, t.ID), Link: r.link(fmt.Sprintf("/jobs/%d", j.ID))}
		if seconds := m.Cluster.Duration(j); seconds < grid.Infinity {
			b.To = max(t.Start.Add(seconds), m.Now) // it may take longer than it asked for
		}
		if t.State&grid.StateSuspendedAny != 0 {
			b.Class = "suspended"
		}
		for _, g := range t.Grants {
			b.Slots = float64(g.Slots)
			b.Title = fmt.Sprintf("job %s %s of %s %s, %s", b.Label, j.Name, j.Owner, barNames[b.Class], plural(g.Slots, "slot"))
			add(g.Host, g.Queue, b)
		}
		return true
	})
	for _, a := range m.State.ARs() {
		if a.Over() {
			continue
		}
		for _, g := range a.Grants {
			add(g.Host, g.Queue, ganttBar{From: a.Start, To: a.End, Slots: float64(g.Slots), Class: "held",
				Label: cmp.Or(a.Name, fmt.Sprintf("AR %d", a.ID)), Link: r.link("/reservations"),
				Title: fmt.Sprintf("advance reservation %d %s of %s, %s", a.ID, a.Name, a.Owner, plural(g.Slots, "slot"))})
		}
	}
	for _, p := range d.Plan.Starts {
		j := m.State.Job(p.Job)
		if j == nil {
			continue
		}
		b := ganttBar{From: p.At, Class: "expected", Label: labelOf(j, p.Task), Link: r.link(fmt.Sprintf("/jobs/%d", j.ID))}
		if p.Reserves {
			b.Class = "waiting"
		}
		if p.Seconds > 0 {
			b.To = p.At.Add(p.Seconds)
		}
		for _, at := range p.Places {
			queue, host, _ := strings.Cut(at.Instance, "@")
			b.Slots = at.Slots
			b.Title = fmt.Sprintf("job %s %s of %s is %s, %s", b.Label, j.Name, j.Owner, barNames[b.Class],
				plural(at.Slots, "slot"))
			add(host, queue, b)
		}
	}
	return out
}

func labelOf(j *grid.Job, task uint32) string {
	if j.Array {
		return fmt.Sprintf("%d.%d", j.ID, task)
	}
	return fmt.Sprint(j.ID)
}

// span chooses the time that is shown: a fifth of it is before the moment.
func (d *plan) span(r *request) error {
	last := r.moment.Now
	for _, row := range d.Gantt.Rows {
		for _, b := range row.Bars {
			last = max(last, b.From, b.To)
		}
	}
	asked := r.query.Get("window")
	var chosen grid.Time
	for _, w := range planWindows {
		d.Windows = append(d.Windows, w.name)
		if asked == w.name || asked == "" && chosen == 0 && (last-r.moment.Now <= w.minutes*60_000*4/5 || w.name == "7d") {
			chosen, d.Window = w.minutes*60_000, w.name
		}
	}
	var bad error
	if chosen == 0 {
		chosen, d.Window = 24*3600*1000, "24h"
		bad = &Problem{Status: http.StatusUnprocessableEntity, Field: "window",
			Text: fmt.Sprintf("%q is not a span of the plan: 1h, 6h, 24h or 7d", asked)}
	}
	d.Gantt.Now = r.moment.Now
	d.Gantt.Begin = r.moment.Now - chosen/5
	d.Gantt.End = d.Gantt.Begin + chosen
	return bad
}

// lay places the bars and makes the table, of so many rows.
func (d *plan) lay(rows int) {
	for i := range d.Gantt.Rows {
		row := &d.Gantt.Rows[i]
		row.Bars = slices.DeleteFunc(row.Bars, func(b ganttBar) bool {
			return b.From > d.Gantt.End || d.Gantt.end(&b) < d.Gantt.Begin
		})
		slices.SortStableFunc(row.Bars, func(a, b ganttBar) int { return cmp.Compare(a.From, b.From) })
		d.Gantt.lay(row)
		for _, b := range row.Bars {
			if len(d.Table) == rows {
				d.More++
				continue
			}
			d.Table = append(d.Table, planRow{b, row.Host})
		}
	}
	slices.SortStableFunc(d.Table, func(a, b planRow) int { return cmp.Compare(a.From, b.From) })
}
