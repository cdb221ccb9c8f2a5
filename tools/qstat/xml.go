package qstat

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/qstat/cluster"
)

const schema = "http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qstat/"

// tree prints XML elements line by line, indented by their depth.
type tree struct {
	*table
	depth int
}

func (p *printer) tree(root, schemaFile string) *tree {
	x := &tree{table: &table{w: p.env.Stdout}}
	x.text("<?xml version='1.0'?>\n<" + root + "  xmlns:xsd=\"" + schema + schemaFile + "\">\n")
	x.depth = 1
	return x
}

func (x *tree) indent() {
	for range x.depth {
		x.buf = append(x.buf, ' ', ' ')
	}
}

// in prints an element with others inside; attributes follow its name.
func (x *tree) in(name string, inside func()) {
	x.indent()
	x.text("<" + name + ">\n")
	x.depth++
	inside()
	x.depth--
	x.indent()
	element, _, _ := strings.Cut(name, " ")
	x.text("</" + element + ">\n")
}

// is prints an element with a text, named by an element's name and attributes.
func (x *tree) is(name, value string) {
	x.indent()
	element, _, _ := strings.Cut(name, " ")
	x.text("<" + name + ">" + escape(value) + "</" + element + ">\n")
}

func (x *tree) number(name string, n int64) { x.is(name, strconv.FormatInt(n, 10)) }

// count and five leave out what is not known.
func (x *tree) count(name string, n float64) {
	if !math.IsNaN(n) {
		x.number(name, int64(math.Round(n)))
	}
}

func (x *tree) five(name string, v float64) {
	if !math.IsNaN(v) {
		x.is(name, strconv.FormatFloat(v, 'f', 5, 64))
	}
}

func escape(s string) string {
	if !strings.ContainsAny(s, "<>&'\"\t\n\r") {
		return s
	}
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s))
	return entities.Replace(b.String())
}

// entities are the names that Grid Engine uses where Go writes numbers.
var entities = strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;")

func isoTime(t grid.Time) string { return t.Std().Format("2006-01-02T15:04:05") }

// xmlList is qstat -xml, with -f -xml the jobs below their queue instances.
func (p *printer) xmlList(instances []*cluster.Instance) {
	x := p.tree("job_info", "qstat.xsd")
	x.in("queue_info", func() {
		if !p.queues() {
			p.eachRunning(func(r *row) { p.xmlRow(x, "running", r, false) })
			return
		}
		running := p.list.byInstance(p.options)
		for _, i := range instances {
			if !p.noEmpty || i.Used > 0 || len(running[i.Name()]) > 0 {
				p.xmlQueue(x, i, running[i.Name()])
			}
		}
	})
	x.in("job_info", func() {
		p.eachWaiting(func(r *row) { p.xmlRow(x, "pending", r, p.queues()) })
		p.eachFinished(func(r *row) { p.xmlRow(x, "zombie", r, p.queues()) })
	})
	x.text("</job_info>\n")
	p.finish(x.table)
}

func (p *printer) xmlQueue(x *tree, i *cluster.Instance, running []started) {
	x.in("Queue-List", func() {
		x.is("name", i.Name())
		x.is("qtype", i.QType())
		x.number("slots_used", int64(i.Used))
		x.number("slots_resv", int64(i.Reserved))
		x.number("slots_total", int64(i.Slots()))
		if v, ok := i.Load(p.load); ok {
			x.five("load_avg", v)
		}
		if a, ok := i.Arch(); ok {
			x.is("arch", a)
		}
		if s := i.States().Letters(); s != "" {
			x.is("state", s)
		}
		for _, line := range i.Reasons(p.explain & (grid.QueueAlarm | grid.QueueSuspendAlarm)) {
			x.is("load-alarm-reason", line)
		}
		for _, line := range i.Reasons(p.explain & (grid.QueueError | grid.QueueAmbiguous)) {
			x.is("message", line)
		}
		if p.resources {
			for _, r := range p.shown(p.cluster, i.Resources()) {
				x.is(fmt.Sprintf("resource name=%q type=%q", r.Centry.Name, r.Dominance()), r.Text())
			}
		}
		here := func(g grid.Grant) bool { return g.Instance() == i.Name() }
		for _, s := range running {
			p.started(s.entry, s.task, here, p.cluster.JobIsFirstTask, func(r *row) { p.xmlRow(x, "running", r, true) })
		}
	})
}

// xmlRow is one job_list element.
func (p *printer) xmlRow(x *tree, state string, r *row, inQueue bool) {
	x.in(`job_list state="`+state+`"`, func() {
		x.number("JB_job_number", int64(r.id))
		x.five("JAT_prio", r.priorityOf())
		if p.ext || p.pri {
			x.five("JAT_ntix", r.tickets().normalised)
		}
		if p.pri {
			x.five("JB_nppri", float64(r.urgency().NPOSIX))
		}
		if p.urg || p.pri {
			x.five("JB_nurg", float64(r.urgency().NUrgency))
		}
		if p.urg {
			p := r.urgency()
			x.count("JB_rrcontr", float64(p.RRContr))
			x.count("JB_wtcontr", float64(p.WTContr))
			x.count("JB_dlcontr", float64(p.DLContr))
		}
		if p.pri {
			x.number("JB_priority", int64(r.job.Priority))
		}
		x.is("JB_name", r.name)
		x.is("JB_owner", r.owner)
		if p.ext {
			x.is("JB_project", r.job.Project)
			x.is("JB_department", r.job.Department)
		}
		x.is("state", r.letters)
		if p.times() {
			if state == "running" {
				x.is("JAT_start_time", isoTime(r.at))
			} else {
				x.is("JB_submission_time", isoTime(r.at))
			}
		}
		if p.urg && r.job.Deadline != 0 {
			x.is("JB_deadline", isoTime(r.job.Deadline))
		}
		if p.ext {
			p.xmlExt(x, r)
		}
		if !inQueue {
			x.is("queue_name", r.queue)
		}
		if p.perSlot {
			x.is("master", r.master)
		}
		x.number("slots", int64(r.slots))
		if r.ids != nil {
			x.is("tasks", string(appendRanges(nil, r.ids)))
		}
		if p.requests {
			p.xmlRequests(x, r)
		}
	})
}

func (p *printer) xmlExt(x *tree, r *row) {
	if r.finished {
		return
	}
	if u, known, _ := r.usage(); known {
		x.five("cpu_usage", u.CPU)
		x.five("mem_usage", u.Mem)
		x.five("io_usage", u.IO)
	}
	t := r.tickets()
	x.count("tickets", t.all)
	x.number("JB_override_tickets", int64(r.job.OverrideTickets))
	x.number("JB_jobshare", int64(r.job.JobShare))
	x.count("otickets", t.override)
	x.count("ftickets", t.functional)
	x.count("stickets", t.share)
	x.five("JAT_share", t.part)
}

func (p *printer) xmlRequests(x *tree, r *row) {
	j := r.job
	x.is("full_job_name", j.Name)
	if j.PE != "" {
		x.is("requested_pe name="+quoted(j.PE), j.PERange.Slots(grid.SlotsEnd))
		if r.queue != "" {
			x.is("granted_pe name="+quoted(r.task.PE), fmt.Sprint(r.task.Slots()))
		}
	}
	for _, q := range j.Hard {
		x.is("hard_request name="+quoted(q.Name)+" resource_contribution="+quoted(p.contribution(r, q)), p.value(q))
	}
	for _, q := range j.Soft {
		x.is("soft_request name="+quoted(q.Name), p.value(q))
	}
	each := func(name string, list grid.Names) {
		for _, v := range list {
			x.is(name, v)
		}
	}
	each("hard_req_queue", j.HardQueues)
	each("soft_req_queue", j.SoftQueues)
	each("master_hard_req_queue", j.MasterQueues)
	each("predecessor_jobs_req", j.PredecessorReq)
	each("predecessor_jobs", ids(j.Predecessors))
	each("ad_predecessor_jobs_req", j.ArrayPredecessorReq)
	each("ad_predecessor_jobs", ids(j.ArrayPredecessors))
	if !p.noBinding {
		x.is("binding", j.Binding.String())
	}
}

func quoted(s string) string { return `"` + escape(s) + `"` }

// xmlSummary is qstat -g c -xml.
func (p *printer) xmlSummary(instances []*cluster.Instance) {
	x := p.tree("job_info", "qstat.xsd")
	for _, q := range summarize(instances) {
		x.in("cluster_queue_summary", func() {
			x.is("name", q.name)
			if q.loadSlots > 0 {
				x.five("load", q.load/float64(q.loadSlots))
			}
			x.number("used", int64(q.used))
			x.number("resv", int64(q.reserved))
			x.number("available", int64(q.available))
			x.number("total", int64(q.total))
			x.number("temp_disabled", int64(q.temporary))
			x.number("manual_intervention", int64(q.manual))
			if p.ext {
				for n, name := range summaryNames {
					x.number(name, int64(q.states[n]))
				}
			}
		})
	}
	x.text("</job_info>\n")
	p.finish(x.table)
}

// xmlUnknown names the jobs that do not exist.
func (p *printer) xmlUnknown(refs []string) {
	x := &tree{table: &table{w: p.env.Stdout}, depth: 2}
	x.text("<?xml version='1.0'?>\n<unknown_jobs >\n")
	for _, ref := range refs {
		x.is("ST_name", ref)
	}
	x.text("</unknown_jobs>\n")
	p.finish(x.table)
}
