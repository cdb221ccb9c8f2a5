package reservation

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// listPrinter writes reservations with times of a zone.
type listPrinter struct {
	w    io.Writer
	zone *time.Location
}

func (p listPrinter) clock(t grid.Time, layout string) string {
	return t.Std().In(p.zone).Format(layout)
}

const (
	usual = "01/02/2006 15:04:05"
	iso   = "2006-01-02T15:04:05"
)

func durationText(a view.Reservation) string { return grid.FormatTimeSpan(float64(a.Duration)) }

// list is a line for each, with explain what is wrong below it.
func (p listPrinter) list(list []view.Reservation, explain bool) {
	if len(list) == 0 {
		return
	}
	heading := fmt.Sprintf("%-7s %-10s %-12s %-5s %-20s %-20s %s", "ar-id", "name", "owner", "state", "start at",
		"end at", "duration")
	fmt.Fprintf(p.w, "%s\n%s\n", heading, strings.Repeat("-", 90))
	for _, a := range list {
		fmt.Fprintf(p.w, "%7d %-10.10s %-12.12s %-5s %-20s %-20s %s\n", a.ID, a.Name, a.Owner, a.State,
			p.clock(a.Start, usual), p.clock(a.End, usual), durationText(a))
		if explain {
			for _, m := range a.Messages {
				fmt.Fprintf(p.w, "       %s\n", m)
			}
		}
	}
}

// namedValue is one of a reservation: its name and its value.
type namedValue struct{ name, value string }

// head are the attributes that a list has too.
func (p listPrinter) head(a view.Reservation, layout string, explain bool) []namedValue {
	f := []namedValue{
		{"id", strconv.Itoa(int(a.ID))}, {"name", a.Name}, {"owner", a.Owner}, {"state", string(a.State)},
		{"start_time", p.clock(a.Start, layout)}, {"end_time", p.clock(a.End, layout)}, {"duration", durationText(a)},
	}
	if explain {
		for _, m := range a.Messages {
			f = append(f, namedValue{"message", m})
		}
	}
	return f
}

// full is a paragraph for each, qrstat -ar.
func (p listPrinter) full(list []view.Reservation) {
	for _, a := range list {
		fmt.Fprintln(p.w, strings.Repeat("-", 80))
		f := append(p.head(a, usual, true),
			namedValue{"submission_time", p.clock(a.Submit, usual)}, namedValue{"group", a.Group},
			namedValue{"account", a.Account})
		add := func(name, value string) {
			if value != "" {
				f = append(f, namedValue{name, value})
			}
		}
		add("resource_list", a.Requests.Text())
		if a.Binding != nil {
			add("binding", a.Binding.String())
		}
		if a.StopOnError {
			add("error_handling", "true")
		}
		add("granted_slots_list", grantsText(a.Grants))
		if a.PE != "" {
			add("granted_parallel_environment", a.PE+" slots "+a.PESlots.Slots(""))
		}
		add("master hard queue_list", strings.Join(a.MasterQueues, ","))
		add("checkpoint_name", a.Ckpt)
		add("mail_options", a.MailOptions)
		if a.MailOptions != "" {
			add("mail_list", strings.Join(a.MailTo, ","))
		}
		add("acl_list", strings.Join(a.Allowed, ","))
		add("xacl_list", strings.Join(a.Denied, ","))
		for _, x := range f {
			fmt.Fprintf(p.w, "%-30s %s\n", x.name, x.value)
		}
	}
}

func grantsText(list []grid.Grant) string {
	var out []string
	for _, g := range list {
		out = append(out, fmt.Sprintf("%s=%d", g.Instance(), g.Slots))
	}
	return strings.Join(out, ",")
}

const listSchema = "http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qrstat/qrstat.xsd"

// xml is qrstat -xml; full adds what -ar shows.
func (p listPrinter) xml(list []view.Reservation, unknown []uint32, explain, full bool) {
	fmt.Fprintf(p.w, "<?xml version='1.0'?>\n<qrstat xmlns:xsd=%q>\n", listSchema)
	element := func(depth int, name, value string) {
		indent := strings.Repeat("   ", depth)
		if value == "" {
			fmt.Fprintf(p.w, "%s<%s/>\n", indent, name)
			return
		}
		var b strings.Builder
		xml.EscapeText(&b, []byte(value))
		fmt.Fprintf(p.w, "%s<%s>%s</%s>\n", indent, name, &b, name)
	}
	for _, a := range list {
		fmt.Fprintln(p.w, "   <ar_summary>")
		for _, f := range p.head(a, iso, explain) {
			element(2, f.name, f.value)
		}
		if full {
			p.xmlRest(a, element)
		}
		fmt.Fprintln(p.w, "   </ar_summary>")
	}
	for _, id := range unknown {
		fmt.Fprintln(p.w, "   <ar_unknown>")
		element(2, "id", strconv.Itoa(int(id)))
		fmt.Fprintln(p.w, "   </ar_unknown>")
	}
	fmt.Fprintln(p.w, "</qrstat>")
}

func (p listPrinter) xmlRest(a view.Reservation, element func(depth int, name, value string)) {
	within := func(name string, any bool, f func()) {
		if any {
			fmt.Fprintf(p.w, "      <%s>\n", name)
			f()
			fmt.Fprintf(p.w, "      </%s>\n", name)
		}
	}
	element(2, "submission_time", p.clock(a.Submit, iso))
	element(2, "group", a.Group)
	element(2, "account", a.Account)
	within("resource_list", len(a.Requests) > 0, func() {
		for _, r := range a.Requests {
			fmt.Fprintf(p.w, "         <resource name=%q type=%q/>\n", r.Name, r.Value)
		}
	})
	if a.Binding != nil {
		element(2, "binding", a.Binding.String())
	}
	if a.StopOnError {
		element(2, "error_handling", "true")
	}
	within("granted_slots_list", len(a.Grants) > 0, func() {
		for _, g := range a.Grants {
			fmt.Fprintf(p.w, "         <granted_slots  queue_instance=%q slots=\"%d\"/>\n", g.Instance(), g.Slots)
		}
	})
	within("granted_parallel_environment", a.PE != "", func() {
		element(3, "parallel_environment", a.PE)
		element(3, "slots", a.PESlots.Slots(""))
	})
	within("master_hard_queue_list", len(a.MasterQueues) > 0, func() {
		for _, q := range a.MasterQueues {
			element(3, "queue", q)
		}
	})
	if a.Ckpt != "" {
		element(2, "checkpoint_name", a.Ckpt)
	}
	if a.MailOptions != "" {
		element(2, "mail_options", a.MailOptions)
		within("mail_list", len(a.MailTo) > 0, func() {
			for _, m := range a.MailTo {
				element(3, "mail", m)
			}
		})
	}
	within("acl_list", len(a.Allowed) > 0, func() {
		for _, u := range a.Allowed {
			fmt.Fprintf(p.w, "         <acl  user=%q/>\n", u)
		}
	})
}
