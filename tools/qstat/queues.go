package qstat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/qstat/cluster"
)

func (o *options) queueHeading() string {
	return fmt.Sprintf("%-*s qtype resv/used/tot. %-8.8s arch          states\n", o.queueWidth, "queuename", o.load)
}

// queueRule is the line between queue instances. It is as long as Grid Engine
// draws it, whatever the columns take: it grows with them, and does not shrink.
func (o *options) queueRule() string {
	n := 81 + max(o.queueWidth-queueWidth, 0)
	if o.ext {
		n += 108
	}
	return strings.Repeat("-", n) + "\n"
}

const (
	pendingTitle  = " - PENDING JOBS - PENDING JOBS - PENDING JOBS - PENDING JOBS - PENDING JOBS\n"
	finishedTitle = " --  FINISHED JOBS  -  FINISHED JOBS  -  FINISHED JOBS  -  FINISHED JOBS  --  \n"
)

func (o *options) jobsHeading(title string) string {
	n := len(pendingTitle)
	if o.ext {
		n += 110
	}
	rule := strings.Repeat("#", n) + "\n"
	return "\n" + rule + title + rule
}

// queueLine describes an instance: qstat -f.
func (o *options) queueLine(i *cluster.Instance) string {
	load, arch := "-NA-", "-NA-"
	if v, ok := i.Load(o.load); ok {
		load = strconv.FormatFloat(v, 'f', 2, 64)
	}
	if a, ok := i.Arch(); ok {
		arch = a
	}
	return fmt.Sprintf("%-*.*s %-5.5s %-14.14s %-8.8s %-13.13s %s\n", o.queueWidth, o.queueWidth, i.Name(), i.QType(),
		fmt.Sprintf("%d/%d/%d", i.Reserved, i.Used, i.Slots()), load, arch, i.States().Letters())
}

// shown are the resources of an instance that -F selects: all without names.
func (o *options) shown(c *cluster.Cluster, all []cluster.Resource) []cluster.Resource {
	if len(o.names) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(r cluster.Resource) bool {
		return !slices.ContainsFunc(o.names, func(name string) bool { return c.Centry(name) == r.Centry })
	})
}

// byInstance is the started tasks of each queue instance.
type byInstance map[string][]started

type started struct {
	*entry
	task *grid.JATask
}

func (l *listing) byInstance(o *options) byInstance {
	m := byInstance{}
	l.eachStarted(o, func(e *entry, t *grid.JATask) {
		for _, g := range t.Grants {
			m[g.Instance()] = append(m[g.Instance()], started{e, t})
		}
	})
	return m
}

// eachStarted calls f with the started tasks that -s selects.
func (l *listing) eachStarted(o *options, f func(*entry, *grid.JATask)) {
	for _, e := range l.entries {
		for _, t := range e.tasks {
			if t.Started() && o.states.shows(t) {
				f(e, t)
			}
		}
	}
}

// printQueues is qstat -f: each instance with what runs in it.
func (p *printer) printQueues(instances []*cluster.Instance) {
	t := p.table(true)
	running := p.list.byInstance(p.options)
	heading := p.queueHeading()
	for _, i := range instances {
		if p.noEmpty && i.Used == 0 && len(running[i.Name()]) == 0 {
			continue
		}
		t.text(heading + p.queueRule() + p.queueLine(i))
		heading = ""
		for _, line := range i.Reasons(p.explain) {
			t.text("\t" + line + "\n")
		}
		if p.resources {
			for _, r := range p.shown(p.cluster, i.Resources()) {
				t.text("\t" + r.Dominance() + ":" + r.Centry.Name + "=" + r.Text() + "\n")
			}
		}
		here := func(g grid.Grant) bool { return g.Instance() == i.Name() }
		for _, s := range running[i.Name()] {
			p.started(s.entry, s.task, here, p.cluster.JobIsFirstTask, func(r *row) { p.line(t, r) })
		}
	}
	section := func(title string, rows func(func(*row))) {
		heading := p.jobsHeading(title)
		rows(func(r *row) {
			t.text(heading)
			heading = ""
			p.line(t, r)
		})
	}
	section(pendingTitle, p.eachWaiting)
	section(finishedTitle, p.eachFinished)
	p.finish(t)
}

// printJobs is plain qstat: started tasks, then waiting ones.
func (p *printer) printJobs() {
	t := p.table(false)
	first := true
	each := func(r *row) {
		if first {
			t.heading()
			first = false
		}
		p.line(t, r)
	}
	p.eachRunning(each)
	p.eachWaiting(each)
	p.eachFinished(each)
	p.finish(t)
}

// printSummary is qstat -g c: a line for each cluster queue.
func (p *printer) printSummary(instances []*cluster.Instance) {
	t := p.table(false)
	width := p.queueWidth
	for _, i := range instances {
		if p.queueWidth == queueWidth {
			width = max(width, len(i.Queue))
		}
	}
	head := fmt.Sprintf("%-*.*s %7s %6s %6s %6s %6s %6s %6s  ", width, width, "CLUSTER QUEUE", "CQLOAD", "USED", "RES", "AVAIL", "TOTAL", "aoACDS", "cdsuE")
	rule := 50
	if p.ext {
		for _, s := range summaryStates {
			head += fmt.Sprintf("%5s ", s.Letters())
		}
		head, rule = strings.TrimSuffix(head, " "), len(head)-2-width
	}
	t.text(head + "\n" + strings.Repeat("-", max(width, queueWidth)+rule) + "\n")
	for _, q := range summarize(instances) {
		load := "-NA-"
		if q.loadSlots > 0 {
			load = strconv.FormatFloat(q.load/float64(q.loadSlots), 'f', 2, 64)
		}
		t.text(fmt.Sprintf("%-*.*s %7s %6d %6d %6d %6d %6d %6d ", width, width, q.name, load, q.used, q.reserved, q.available, q.total, q.temporary, q.manual))
		if p.ext {
			for n := range summaryStates {
				t.text(fmt.Sprintf("%5d ", q.states[n]))
			}
		}
		t.text("\n")
	}
	p.finish(t)
}

// States of queue instances that pass by themselves, and those that need
// somebody (qstat(1) -g c).
const (
	temporary = grid.QueueAlarm | grid.QueueOrphaned | grid.QueueSuspendAlarm | grid.QueueCalSuspended |
		grid.QueueCalDisabled | grid.QueueSuspendedSubordinate
	manual = grid.QueueAmbiguous | grid.QueueDisabled | grid.QueueSuspended | grid.QueueUnknown | grid.QueueError
)

var summaryStates = [...]grid.QueueState{
	grid.QueueSuspended, grid.QueueSuspendAlarm, grid.QueueSuspendedSubordinate, grid.QueueCalSuspended,
	grid.QueueUnknown, grid.QueueAlarm, grid.QueueDisabled, grid.QueueCalDisabled, grid.QueueAmbiguous,
	grid.QueueOrphaned, grid.QueueError,
}

// summaryNames are their names in XML.
var summaryNames = [...]string{"suspend_manual", "suspend_threshold", "suspend_on_subordinate", "suspend_calendar", "unknown", "load_alarm",
	"disabled_manual", "disabled_calendar", "ambiguous", "orphaned", "error"}

// summary is the slots of a cluster queue by what can be done with them.
type summary struct {
	name                                                string
	load                                                float64 // of all slots together
	loadSlots                                           int     // of hosts whose load is known
	used, reserved, available, total, temporary, manual int
	states                                              [len(summaryStates)]int
}

func summarize(instances []*cluster.Instance) (out []*summary) {
	for _, i := range instances {
		if len(out) == 0 || out[len(out)-1].name != i.Queue {
			out = append(out, &summary{name: i.Queue})
		}
		q, slots, s := out[len(out)-1], i.Slots(), i.States()
		q.total += slots
		q.used += int(i.Used)
		q.reserved += int(i.Reserved)
		if s&temporary != 0 {
			q.temporary += slots
		}
		if s&manual != 0 {
			q.manual += slots
		}
		if s&(temporary|manual) == 0 {
			q.available += max(slots-int(i.Used), 0)
		}
		for n, state := range summaryStates {
			if s&state != 0 {
				q.states[n] += slots
			}
		}
		if v, ok := i.Load("np_load_avg"); ok {
			q.load += v * float64(slots)
			q.loadSlots += slots
		}
	}
	return out
}
