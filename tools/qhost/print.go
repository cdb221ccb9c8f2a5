package qhost

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

const jobHeading = "   job-ID  prior   name       user         state submit/start at     queue      master ja-task-ID \n" +
	"   ----------------------------------------------------------------------------------------------\n"

// text prints hosts as a table.
func (p *picture) text(w io.Writer, hosts []string) {
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
		fmt.Fprintf(w, "%-23.23s", h)
		for _, c := range p.shown() {
			fmt.Fprintf(w, " %*s", c.width, c.text(p, h))
		}
		io.WriteString(w, "\n")
		for n, r := range p.resourcesOf(h) {
			title := "   "
			if n == 0 && len(p.names) > 0 {
				title = "    Host Resource(s):      "
			}
			fmt.Fprintf(w, "%s%s:%s=%s\n", title, r.Dominance(), r.Centry.Name, r.LongText())
		}
		if p.queues {
			for _, i := range p.instances(h) {
				slots := fmt.Sprintf("%d/%d/%d", i.Reserved, i.Used, i.Slots())
				fmt.Fprintf(w, "   %-20s %-5.5s %-13s %s\n", i.Queue, i.QType(), slots, i.States().Letters())
				p.jobLines(w, "", p.jobsIn(h, i.Name()))
			}
			continue
		}
		lines := p.jobsIn(h, "")
		p.jobLines(w, heading, lines)
		if len(lines) > 0 {
			heading = ""
		}
	}
}

// jobsIn is slots when -j or -u asks for jobs.
func (p *picture) jobsIn(host, instance string) []slot {
	if !p.options.jobs {
		return nil
	}
	return p.slots(host, instance)
}

func (p *picture) jobLines(w io.Writer, heading string, lines []slot) {
	for _, s := range lines {
		io.WriteString(w, heading)
		heading = ""
		if s.continued {
			fmt.Fprintf(w, "%69s", "")
		} else {
			fmt.Fprintf(w, "   %7d %7.5f %-10.10s %-12.12s %-5.5s %s ", s.job.ID, s.task.Priority, s.job.Name,
				s.job.Owner, s.letters(), s.task.Start.Std().Format("01/02/2006 15:04:05"))
		}
		if !p.queues {
			fmt.Fprintf(w, "%-10.10s ", s.instance)
		}
		fmt.Fprintf(w, "%-6s ", s.master)
		if s.job.Array && !s.continued {
			fmt.Fprintf(w, "%d\n", s.task.ID)
		} else {
			io.WriteString(w, "       \n")
		}
	}
}

const schema = "http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qhost/qhost.xsd"

// xml prints hosts as XML.
func (p *picture) xml(w io.Writer, hosts []string) {
	fmt.Fprintf(w, "<?xml version='1.0'?>\n<qhost xmlns:xsd=\"%s\">\n", schema)
	for _, h := range hosts {
		fmt.Fprintf(w, " <host name='%s'>\n", escape(h))
		for _, c := range p.shown() {
			fmt.Fprintf(w, "   <hostvalue name='%s'>%s</hostvalue>\n", c.name, escape(c.text(p, h)))
		}
		for _, r := range p.resourcesOf(h) {
			fmt.Fprintf(w, "   <resourcevalue name='%s' dominance='%s'>%s</resourcevalue>\n", r.Centry.Name, r.Dominance(), escape(r.LongText()))
		}
		if p.queues {
			for _, i := range p.instances(h) {
				fmt.Fprintf(w, " <queue name='%s'>\n", i.Queue)
				for _, v := range [][2]string{
					{"qtype_string", i.QType()}, {"slots_used", fmt.Sprint(i.Used)}, {"slots", fmt.Sprint(i.Slots())},
					{"slots_resv", fmt.Sprint(i.Reserved)}, {"state_string", i.States().Letters()},
				} {
					fmt.Fprintf(w, "   <queuevalue qname='%s' name='%s'>%s</queuevalue>\n", i.Queue, v[0], v[1])
				}
				io.WriteString(w, " </queue>\n")
				p.jobElements(w, p.jobsIn(h, i.Name()))
			}
		} else {
			p.jobElements(w, p.jobsIn(h, ""))
		}
		io.WriteString(w, " </host>\n")
	}
	io.WriteString(w, "</qhost>\n")
}

func (p *picture) jobElements(w io.Writer, lines []slot) {
	for _, s := range lines {
		values := [][2]string{
			{"priority", fmt.Sprintf("'%f'", s.task.Priority)}, {"qinstance_name", s.instance}, {"job_name", escape(s.job.Name)},
			{"job_owner", escape(s.job.Owner)}, {"job_state", s.letters()}, {"start_time", fmt.Sprint(s.task.Start.Unix())},
		}
		if !p.queues {
			values = append(values, [2]string{"queue_name", s.instance})
		}
		values = append(values, [2]string{"pe_master", s.master})
		if s.job.Array {
			values = append(values, [2]string{"taskid", fmt.Sprint(s.task.ID)})
		}
		fmt.Fprintf(w, " <job name='%d'>\n", s.job.ID)
		for _, v := range values {
			fmt.Fprintf(w, "   <jobvalue jobid='%d' name='%s'>%s</jobvalue>\n", s.job.ID, v[0], v[1])
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
