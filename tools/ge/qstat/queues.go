package qstat

import (
	"cmp"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
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
func (o *options) queueLine(q *view.Queue) string {
	load := "-NA-"
	if q.Load != nil {
		load = strconv.FormatFloat(*q.Load, 'f', 2, 64)
	}
	return fmt.Sprintf("%-*.*s %-5.5s %-14.14s %-8.8s %-13.13s %s\n", o.queueWidth, o.queueWidth, q.Name(), q.Type,
		fmt.Sprintf("%d/%d/%d", q.Reserved, q.Used, q.Slots), load, cmp.Or(q.Arch, "-NA-"), q.State.Letters())
}

// alarmLines say why an instance is in alarm, -explain a and A.
func (o *options) alarmLines(q *view.Queue) (lines []string) {
	for _, line := range [...]string{o.loadAlarm(q), o.suspendAlarm(q)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// loadAlarm is the load threshold that an instance has reached, with -explain a.
func (o *options) loadAlarm(q *view.Queue) string {
	if o.explain&grid.QueueAlarm == 0 || q.LoadAlarm == nil {
		return ""
	}
	return alarmLine(q, q.LoadAlarm, "load")
}

// suspendAlarm is the suspend threshold that an instance has reached, with -explain A.
func (o *options) suspendAlarm(q *view.Queue) string {
	if o.explain&grid.QueueSuspendAlarm == 0 || q.SuspendAlarm == nil {
		return ""
	}
	return alarmLine(q, q.SuspendAlarm, "suspend")
}

func alarmLine(q *view.Queue, a *view.Alarm, kind string) string {
	switch r := a.Value; {
	case r.Name == "":
		return "error: no complex attribute for threshold " + a.Attribute
	case r.Dominance != "":
		return fmt.Sprintf("alarm %s:%s=%s %s-threshold=%s", r.Dominance, r.Name, r.ShortValue(), kind, a.Limit)
	case q.State&grid.QueueUnknown != 0:
		return fmt.Sprintf("error: no value for %q because execd is in unknown state", a.Attribute)
	}
	return fmt.Sprintf("alarm %s load value not known, %s-threshold=%s", a.Attribute, kind, a.Limit)
}

// messageLines say why the configuration of an instance is ambiguous or it is in
// error, -explain c and E.
func (o *options) messageLines(q *view.Queue) (lines []string) {
	if o.explain&grid.QueueAmbiguous != 0 {
		lines = append(lines, q.Ambiguous...)
	}
	if o.explain&q.State&grid.QueueError != 0 && q.Message != "" {
		lines = append(lines, strings.Split(q.Message, "\n")...)
	}
	return lines
}

// printQueues is qstat -f: each instance with what runs in it.
func (p *printer) printQueues(queues []view.Queue) {
	t := p.table(true)
	heading := p.queueHeading()
	for q := range p.shown(queues) {
		t.text(heading + p.queueRule() + p.queueLine(q))
		heading = ""
		for _, line := range append(p.alarmLines(q), p.messageLines(q)...) {
			t.text("\t" + line + "\n")
		}
		if p.resources {
			for _, r := range p.view.QueueResources(q, p.names) {
				t.text("\t" + r.Dominance + ":" + r.Name + "=" + r.ShortValue() + "\n")
			}
		}
		for r := range p.list.RunningIn(q.Name()) {
			p.line(t, r)
		}
	}
	section := func(title string, rows iter.Seq[*view.Job]) {
		heading := p.jobsHeading(title)
		for r := range rows {
			t.text(heading)
			heading = ""
			p.line(t, r)
		}
	}
	section(pendingTitle, p.list.Waiting())
	section(finishedTitle, p.list.Finished())
	p.finish(t)
}

// printJobs is plain qstat: started tasks, then waiting ones.
func (p *printer) printJobs() {
	t := p.table(false)
	first := true
	for _, rows := range [...]iter.Seq[*view.Job]{p.list.Running(), p.list.Waiting(), p.list.Finished()} {
		for r := range rows {
			if first {
				t.heading()
				first = false
			}
			p.line(t, r)
		}
	}
	p.finish(t)
}

// showSummary is qstat -g c.
func (p *printer) showSummary() int {
	queues, err := p.view.ClusterQueues(p.selection)
	if err != nil {
		return p.env.Fail(err)
	}
	switch {
	case p.format.JSON():
		return p.write(document.ClusterQueuesOf(queues, p.ext))
	case p.format.XML():
		p.xmlSummary(queues)
	default:
		p.printSummary(queues)
	}
	if p.failed != nil {
		return p.env.Fail(p.failed)
	}
	return 0
}

// printSummary prints a line for each cluster queue.
func (p *printer) printSummary(queues []view.ClusterQueue) {
	t := p.table(false)
	width := p.queueWidth
	for _, q := range queues {
		if p.queueWidth == queueWidth {
			width = max(width, len(q.Name))
		}
	}
	head := fmt.Sprintf("%-*.*s %7s %6s %6s %6s %6s %6s %6s  ", width, width, "CLUSTER QUEUE", "CQLOAD", "USED", "RES",
		"AVAIL", "TOTAL", "aoACDS", "cdsuE")
	rule := 50
	if p.ext {
		for _, s := range view.SummaryStates {
			head += fmt.Sprintf("%5s ", s.Letters())
		}
		head, rule = strings.TrimSuffix(head, " "), len(head)-2-width
	}
	t.text(head + "\n" + strings.Repeat("-", max(width, queueWidth)+rule) + "\n")
	for _, q := range queues {
		load := "-NA-"
		if q.Load != nil {
			load = strconv.FormatFloat(*q.Load, 'f', 2, 64)
		}
		t.text(fmt.Sprintf("%-*.*s %7s %6d %6d %6d %6d %6d %6d ", width, width, q.Name, load, q.Used, q.Reserved, q.Available,
			q.Total, q.Temporary, q.Manual))
		if p.ext {
			for _, slots := range q.ByState {
				t.text(fmt.Sprintf("%5d ", slots))
			}
		}
		t.text("\n")
	}
	p.finish(t)
}

// summaryNames are the names of view.SummaryStates in XML.
var summaryNames = [...]string{"suspend_manual", "suspend_threshold", "suspend_on_subordinate", "suspend_calendar",
	"unknown", "load_alarm",
	"disabled_manual", "disabled_calendar", "ambiguous", "orphaned", "error"}
