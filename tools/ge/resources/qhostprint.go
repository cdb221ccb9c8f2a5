package resources

import (
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

const jobHeading = "   job-ID  prior   name       user         state submit/start at     queue      master ja-task-ID \n" +
	"   ----------------------------------------------------------------------------------------------\n"

// text prints hosts as a table.
func (p *hostListing) text(w io.Writer, hosts []view.Host) {
	if len(hosts) == 0 {
		return
	}
	line := fmt.Sprintf("%-23s", "HOSTNAME")
	for _, c := range p.shown() {
		line += fmt.Sprintf(" %*s", c.width, c.head)
	}
	fmt.Fprintf(w, "%s\n%s\n", line, strings.Repeat("-", len(line)))
	heading := jobHeading
	for _, h := range hosts {
		fmt.Fprintf(w, "%-23.23s", h.Name)
		for _, c := range p.shown() {
			fmt.Fprintf(w, " %*s", c.width, c.text(&h))
		}
		io.WriteString(w, "\n")
		if h.SensorTrouble != "" {
			fmt.Fprintf(w, "   load sensor %s\n", h.SensorTrouble)
		}
		for n, r := range p.resourcesOf(h.Name) {
			title := "   "
			if n == 0 && len(p.names) > 0 {
				title = "    Host Resource(s):      "
			}
			fmt.Fprintf(w, "%s%s:%s=%s\n", title, r.Dominance, r.Name, r.Value())
		}
		if p.queues {
			for _, q := range p.instances[h.Name] {
				slots := fmt.Sprintf("%d/%d/%d", q.Reserved, q.Used, q.Slots)
				fmt.Fprintf(w, "   %-20s %-5.5s %-13s %s\n", q.Queue, q.Type, slots, q.State.Letters())
				p.jobLines(w, "", p.inQueue(&q))
			}
			continue
		}
		if p.jobLines(w, heading, p.onHost(h.Name)) {
			heading = ""
		}
	}
}

// onHost and inQueue are the rows of jobs that -j or -u asks for.
func (p *hostListing) onHost(host string) iter.Seq[*view.Job] {
	if !p.jobs {
		return func(func(*view.Job) bool) {}
	}
	return p.list.RunningOn(host)
}

func (p *hostListing) inQueue(q *view.Queue) iter.Seq[*view.Job] {
	if !p.jobs {
		return func(func(*view.Job) bool) {}
	}
	return p.list.RunningIn(q.Name())
}

// jobLines prints rows, below the heading when there are any.
func (p *hostListing) jobLines(w io.Writer, heading string, rows iter.Seq[*view.Job]) (some bool) {
	for r := range rows {
		io.WriteString(w, heading)
		heading, some = "", true
		if r.Continued {
			fmt.Fprintf(w, "%69s", "")
		} else {
			fmt.Fprintf(w, "   %7d %7.5f %-10.10s %-12.12s %-5.5s %s ", r.ID, r.Priority, r.Name, r.Owner, r.State,
				r.At.Std().Format("01/02/2006 15:04:05"))
		}
		if !p.queues {
			fmt.Fprintf(w, "%-10.10s ", r.Queue)
		}
		fmt.Fprintf(w, "%-6s ", r.Role)
		if r.Tasks != nil && !r.Continued {
			fmt.Fprintf(w, "%d\n", r.Tasks.First())
		} else {
			io.WriteString(w, "       \n")
		}
	}
	return some
}

const hostSchema = "http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qhost/qhost.xsd"

// xml prints hosts as XML.
func (p *hostListing) xml(w io.Writer, hosts []view.Host) {
	fmt.Fprintf(w, "<?xml version='1.0'?>\n<qhost xmlns:xsd=\"%s\">\n", hostSchema)
	for _, h := range hosts {
		fmt.Fprintf(w, " <host name='%s'>\n", escape(h.Name))
		for _, c := range p.shown() {
			fmt.Fprintf(w, "   <hostvalue name='%s'>%s</hostvalue>\n", c.name, escape(c.text(&h)))
		}
		if h.SensorTrouble != "" {
			fmt.Fprintf(w, "   <hostvalue name='%s'>%s</hostvalue>\n", grid.SensorTrouble, escape(h.SensorTrouble))
		}
		for _, r := range p.resourcesOf(h.Name) {
			fmt.Fprintf(w, "   <resourcevalue name='%s' dominance='%s'>%s</resourcevalue>\n", r.Name, r.Dominance,
				escape(r.Value()))
		}
		if p.queues {
			for _, q := range p.instances[h.Name] {
				fmt.Fprintf(w, " <queue name='%s'>\n", q.Queue)
				for _, v := range [][2]string{
					{"qtype_string", q.Type}, {"slots_used", fmt.Sprint(q.Used)}, {"slots", fmt.Sprint(q.Slots)},
					{"slots_resv", fmt.Sprint(q.Reserved)}, {"state_string", q.State.Letters()},
				} {
					fmt.Fprintf(w, "   <queuevalue qname='%s' name='%s'>%s</queuevalue>\n", q.Queue, v[0], v[1])
				}
				io.WriteString(w, " </queue>\n")
				p.jobElements(w, p.inQueue(&q))
			}
		} else {
			p.jobElements(w, p.onHost(h.Name))
		}
		io.WriteString(w, " </host>\n")
	}
	io.WriteString(w, "</qhost>\n")
}

func (p *hostListing) jobElements(w io.Writer, rows iter.Seq[*view.Job]) {
	for r := range rows {
		values := [][2]string{
			{"priority", fmt.Sprintf("'%f'", r.Priority)}, {"qinstance_name", r.Queue}, {"job_name", escape(r.Name)},
			{"job_owner", escape(r.Owner)}, {"job_state", r.State}, {"start_time", fmt.Sprint(r.At.Unix())},
		}
		if !p.queues {
			values = append(values, [2]string{"queue_name", r.Queue})
		}
		values = append(values, [2]string{"pe_master", string(r.Role)})
		if r.Tasks != nil {
			values = append(values, [2]string{"taskid", fmt.Sprint(r.Tasks.First())})
		}
		fmt.Fprintf(w, " <job name='%d'>\n", r.ID)
		for _, v := range values {
			fmt.Fprintf(w, "   <jobvalue jobid='%d' name='%s'>%s</jobvalue>\n", r.ID, v[0], v[1])
		}
		io.WriteString(w, " </job>\n")
	}
}

func escape(s string) string {
	var b strings.Builder
	if xml.EscapeText(&b, []byte(s)) != nil {
		return ""
	}
	return b.String()
}
