package qstat

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
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

// some prints a value, if there is one.
func (x *tree) some(name, value string) {
	if value != "" {
		x.is(name, value)
	}
}

func (x *tree) flag(name string, v bool) { x.is(name, strconv.FormatBool(v)) }

func (x *tree) number(name string, n int64) { x.is(name, strconv.FormatInt(n, 10)) }

func (x *tree) count(name string, n float64) { x.number(name, int64(math.Round(n))) }

func (x *tree) five(name string, v float64) { x.is(name, strconv.FormatFloat(v, 'f', 5, 64)) }

// known prints a number with five digits, nothing when it is not known.
func (x *tree) known(name string, v *float64) {
	if v != nil {
		x.five(name, *v)
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
func (p *printer) xmlList(queues []view.Queue) {
	x := p.tree("job_info", "qstat.xsd")
	x.in("queue_info", func() {
		if !p.queues() {
			for r := range p.list.Running() {
				p.xmlRow(x, r, false)
			}
			return
		}
		for q := range p.shown(queues) {
			p.xmlQueue(x, q)
		}
	})
	x.in("job_info", func() {
		for _, rows := range [...]iter.Seq[*view.Job]{p.list.Waiting(), p.list.Finished()} {
			for r := range rows {
				p.xmlRow(x, r, p.queues())
			}
		}
	})
	x.text("</job_info>\n")
	p.finish(x.table)
}

func (p *printer) xmlQueue(x *tree, q *view.Queue) {
	x.in("Queue-List", func() {
		x.is("name", q.Name())
		x.is("qtype", q.Type)
		x.number("slots_used", int64(q.Used))
		x.number("slots_resv", int64(q.Reserved))
		x.number("slots_total", int64(q.Slots))
		if q.Load != nil {
			x.five("load_avg", *q.Load)
		}
		if q.Arch != "" {
			x.is("arch", q.Arch)
		}
		if s := q.State.Letters(); s != "" {
			x.is("state", s)
		}
		for _, line := range p.alarmLines(q) {
			x.is("load-alarm-reason", line)
		}
		for _, line := range p.messageLines(q) {
			x.is("message", line)
		}
		if p.resources {
			for _, r := range p.view.QueueResources(q, p.names) {
				x.is(fmt.Sprintf("resource name=%q type=%q", r.Name, r.Dominance), r.ShortValue())
			}
		}
		for r := range p.list.RunningIn(q.Name()) {
			p.xmlRow(x, r, true)
		}
	})
}

// xmlSections are Grid Engine's names of the sections.
var xmlSections = map[view.JobSection]string{view.JobRunning: "running", view.JobPending: "pending",
	view.JobFinished: "zombie"}

// xmlRow is one job_list element.
func (p *printer) xmlRow(x *tree, r *view.Job, inQueue bool) {
	x.in(`job_list state="`+xmlSections[r.Section]+`"`, func() {
		x.number("JB_job_number", int64(r.ID))
		x.five("JAT_prio", r.Priority)
		if p.ext || p.pri {
			x.known("JAT_ntix", r.NTickets())
		}
		if p.pri {
			x.five("JB_nppri", r.Worth.NPOSIX)
		}
		if p.urg || p.pri {
			x.five("JB_nurg", r.Worth.NUrgency)
		}
		if p.urg {
			x.count("JB_rrcontr", r.Worth.RRContr)
			x.count("JB_wtcontr", r.Worth.WTContr)
			x.count("JB_dlcontr", r.Worth.DLContr)
		}
		if p.pri {
			x.number("JB_priority", int64(r.Worth.POSIXPriority))
		}
		x.is("JB_name", r.Name)
		x.is("JB_owner", r.Owner)
		if p.ext {
			x.is("JB_project", r.Policy.Project)
			x.is("JB_department", r.Policy.Department)
		}
		x.is("state", r.State)
		if p.times() {
			if r.Section == view.JobRunning {
				x.is("JAT_start_time", isoTime(r.At))
			} else {
				x.is("JB_submission_time", isoTime(r.At))
			}
		}
		if p.urg && r.Worth.Deadline != 0 {
			x.is("JB_deadline", isoTime(r.Worth.Deadline))
		}
		if p.ext && r.Section != view.JobFinished {
			xmlPolicy(x, r.Policy)
		}
		if !inQueue {
			x.is("queue_name", r.Queue)
		}
		if p.perSlot {
			x.is("master", string(r.Role))
		}
		x.number("slots", int64(r.Slots))
		if r.Tasks != nil {
			x.is("tasks", string(appendRanges(nil, r.Tasks)))
		}
		if p.requests {
			p.xmlRequests(x, r)
		}
	})
}

func xmlPolicy(x *tree, p *view.JobPolicy) {
	if u := p.Usage; u != nil {
		x.five("cpu_usage", u.CPU)
		x.five("mem_usage", u.Mem)
		x.five("io_usage", u.IO)
	}
	t := p.Tickets
	if t != nil {
		x.count("tickets", t.All)
	}
	x.number("JB_override_tickets", int64(p.OverrideTickets))
	x.number("JB_jobshare", int64(p.JobShare))
	if t != nil {
		x.count("otickets", t.Override)
		x.count("ftickets", t.Functional)
		x.count("stickets", t.Share)
		x.five("JAT_share", t.Part)
	}
}

func (p *printer) xmlRequests(x *tree, r *view.Job) {
	j := r.Requested.Job
	x.is("full_job_name", j.Name)
	if j.PE != "" {
		x.is("requested_pe name="+quoted(j.PE), j.PERange.Slots(grid.SlotsEnd))
		if r.Queue != "" {
			x.is("granted_pe name="+quoted(r.Requested.GrantedPE), fmt.Sprint(r.Requested.GrantedSlots))
		}
	}
	for _, q := range r.Requested.Hard {
		x.is(fmt.Sprintf(`hard_request name=%s resource_contribution="%f"`, quoted(q.Name), q.Urgency), q.Value)
	}
	for _, q := range r.Requested.Master {
		x.is(fmt.Sprintf(`master_hard_request name=%s resource_contribution="%f"`, quoted(q.Name), q.Urgency), q.Value)
	}
	for _, q := range r.Requested.Slave {
		x.is(fmt.Sprintf(`slave_hard_request name=%s resource_contribution="%f"`, quoted(q.Name), q.Urgency), q.Value)
	}
	for _, q := range r.Requested.Soft {
		x.is("soft_request name="+quoted(q.Name), q.Value)
	}
	each := func(name string, list grid.Names) {
		for _, v := range list {
			x.is(name, v)
		}
	}
	each("hard_req_queue", j.HardQueues)
	each("soft_req_queue", j.SoftQueues)
	each("master_hard_req_queue", j.MasterQueues)
	each("slave_hard_req_queue", j.SlaveQueues)
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
func (p *printer) xmlSummary(queues []view.ClusterQueue) {
	x := p.tree("job_info", "qstat.xsd")
	for _, q := range queues {
		x.in("cluster_queue_summary", func() {
			x.is("name", q.Name)
			if q.Load != nil {
				x.five("load", *q.Load)
			}
			x.number("used", int64(q.Used))
			x.number("resv", int64(q.Reserved))
			x.number("available", int64(q.Available))
			x.number("total", int64(q.Total))
			x.number("temp_disabled", int64(q.Temporary))
			x.number("manual_intervention", int64(q.Manual))
			if p.ext {
				for n, name := range summaryNames {
					x.number(name, int64(q.ByState[n]))
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
