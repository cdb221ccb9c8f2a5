package qacct

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// query is the query of the command line.
type query struct {
	now  time.Time
	file string

	jobs     bool     // -j
	jobNames []string // ids, names, patterns; none: all
	tasks    grid.Ranges
	by       map[string]string // column switches given; "" without a value
	hosts    []string          // those of the host group of -q; nil: all
	requests grid.Requests     // -l
	meeting  map[string]bool   // the queue instances there are, and which meet -l; nil without -l
	gone     int               // jobs whose queue instance is no more

	begin, end grid.Time
	days       float64
	recent     bool // -d: only the days, also when they are none
	byEnd      bool // -E
	format     switches.Format
	master     bool // -m
}

func command(env opt.Env) *switches.Command[query] {
	table := []switches.Switch[query]{
		column("ar", "[ar_id]", "list [matching] advance reservations"),
		column("A", "[account_string]", "list [matching] account"),
		{Name: "b", Args: "begin_time", Help: "jobs started after", Take: switches.One,
			Set: func(w *query, words []string) error { return w.date(&w.begin, words[0]) }},
		{Name: "d", Args: "days", Help: "jobs started during the last d days", Take: switches.One,
			Set: func(w *query, words []string) (err error) {
				if w.days, err = strconv.ParseFloat(words[0], 64); err != nil {
					return badNumber("d", words[0])
				}
				w.recent = w.days >= 0
				return nil
			}},
		column("D", "[department]", "list [matching] department"),
		{Name: "e", Args: "end_time", Help: "jobs started before", Take: switches.One,
			Set: func(w *query, words []string) error { return w.date(&w.end, words[0]) }},
		{Name: "E", Help: "select job end time, not start",
			Set: switches.Flag(func(w *query) *bool { return &w.byEnd })},
		{Name: "f", Args: "acctfile", Help: "use alternate accounting file", Take: switches.One,
			Set: switches.Text(func(w *query) *string { return &w.file })},
		switches.Fmt(func(w *query) *switches.Format { return &w.format }),
		column("g", "[groupid|groupname]", "list [matching] group"),
		column("h", "[host]", "list [matching] host"),
		{Name: "help", Help: "display this message"},
		{Name: "j", Args: "[job_id|job_name|pattern]", Help: "list all [matching] jobs", Take: switches.Maybe,
			Set: func(w *query, words []string) error {
				w.jobs = true
				for _, word := range words {
					w.jobNames = append(w.jobNames, switches.Names(word)...)
				}
				return nil
			}},
		{Name: "l", Args: "attr=val,...", Help: "request given complex attributes", Take: switches.One,
			Set: func(w *query, words []string) error {
				var ok bool
				if w.requests, ok = switches.Requests(w.requests, words[0]); !ok {
					return switches.Errorf("error: wrong resource list format, \"-l name=value\" is supposed: %q", words[0])
				}
				return nil
			}},
		{Name: "m", Help: "list only master tasks",
			Set: switches.Flag(func(w *query) *bool { return &w.master })},
		column("o", "[owner]", "list [matching] owner"),
		column("u", "[owner]", "list [matching] owner"),
		column("pe", "[pe_name]", "list [matching] parallel environment"),
		column("P", "[project]", "list [matching] project"),
		column("q", "[queue]", "list [matching] queue"),
		column("slots", "[slots]", "list [matching] job slots"),
		{Name: "t", Args: "taskid[-taskid[:step]]", Help: "list all [matching] tasks (requires -j option)",
			Take: switches.One,
			Set: func(w *query, words []string) (err error) {
				w.tasks, err = switches.TaskRanges(words[0])
				return err
			}},
	}
	return &switches.Command[query]{
		Name: "qacct", Usage: "[options]", Indent: 1, Column: 35, Switches: table, Legend: legend,
		Unknown: switches.HelpInstead,
		New: func([]string) *query {
			return &query{now: env.Now(), by: map[string]string{}}
		},
	}
}

const legend = `
 begin_time, end_time              [[CC]YY]MMDDhhmm[.SS]
 queue                             [cluster_queue|queue_instance|queue_domain|pattern]
`

// column makes the row of a switch that groups by a field or, with a value,
// also selects by it.
func column(name, args, help string) switches.Switch[query] {
	return switches.Switch[query]{Name: name, Args: args, Help: help, Take: switches.Maybe,
		Set: func(w *query, words []string) error {
			key := name
			if name == "u" {
				key = "o"
			}
			w.by[key] = strings.Join(words, "")
			return nil
		}}
}

func (w *query) date(at *grid.Time, text string) error {
	t, ok := switches.DateTime(text, w.now)
	if !ok {
		return &switches.Error{Text: "Invalid format of date/hour-minute field.", Help: true}
	}
	*at = t
	return nil
}

// badNumber returns the error of a switch whose argument is no number: people see the help.
func badNumber(name, text string) error {
	return &switches.Error{Text: fmt.Sprintf("-%s: %q is no number", name, text), Help: true, Silent: true}
}

// check refuses switches that make no sense together and settles the time
// that -d means.
func (w *query) check() error {
	if len(w.tasks) > 0 && len(w.jobNames) == 0 {
		return &switches.Error{Text: "error: -t option requires -j option with an argument", Help: true}
	}
	for _, name := range []string{"slots", "ar"} {
		if v := w.by[name]; v != "" {
			if _, err := strconv.ParseUint(v, 10, 32); err != nil {
				return badNumber(name, v)
			}
		}
	}
	if w.recent {
		span := w.days * 24 * 3600
		switch {
		case w.begin != 0:
			w.end = w.begin.Add(span)
		case w.end != 0:
			w.begin = w.end.Add(-span)
		default:
			w.begin = grid.TimeOf(w.now).Add(-span)
		}
	}
	return nil
}

// filter returns what the query selects by the record alone, the job's name aside.
func (w *query) filter() view.AccountingFilter {
	f := view.AccountingFilter{Begin: w.begin, End: w.end, ByEnd: w.byEnd, Master: w.master, Exact: true}
	for name, to := range map[string]*grid.Names{
		"o": &f.Owners, "g": &f.Groups, "P": &f.Projects, "D": &f.Departments, "A": &f.Accounts, "pe": &f.PEs,
		"q": &f.Queues, "h": &f.Hosts,
	} {
		if want := w.by[name]; want != "" {
			*to = grid.Names{want}
		}
	}
	for name, to := range map[string]*[]uint32{"ar": &f.ARs, "slots": &f.Slots} {
		if n, err := strconv.ParseUint(w.by[name], 10, 32); err == nil { // else it was not given: see check
			*to = []uint32{uint32(n)}
		}
	}
	return f
}

// selector returns whether a record is asked for, its job's name aside.
func (w *query) selector() func(*grid.Accounting) bool {
	selects := w.filter().Selector()
	return func(a *grid.Accounting) bool {
		if !selects(a) || w.hosts != nil && !slices.Contains(w.hosts, a.Host) {
			return false
		}
		if w.meeting == nil {
			return true
		}
		meets, there := w.meeting[a.Queue+"@"+a.Host]
		if !there {
			w.gone++
		}
		return meets
	}
}
