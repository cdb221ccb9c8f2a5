package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// AccountingFilter selects accounting records as qacct(1) does; names may be patterns. Zero values select all.
type AccountingFilter struct {
	Jobs                                                 grid.Names // numbers or names
	Tasks                                                []uint32   // of arrays
	Owners, Groups, Projects, Departments, Accounts, PEs grid.Names
	Queues                                               grid.Names // QUEUE or QUEUE@HOST
	Hosts                                                grid.Names // in any case
	AR, Slots                                            uint32
	Master                                               bool // without tasks of parallel jobs
	Begin, End                                           grid.Time
	ByEnd                                                bool // Begin and End are compared with the end, not with the start
}

// Selector returns whether f selects a record.
func (f AccountingFilter) Selector() func(*grid.Accounting) bool {
	type condition struct {
		patterns []pattern.Expression
		value    func(*grid.Accounting) string
	}
	var conditions []condition
	add := func(names grid.Names, fold bool, value func(*grid.Accounting) string) {
		if len(names) == 0 {
			return
		}
		c := condition{value: value}
		for _, n := range names {
			c.patterns = append(c.patterns, pattern.Compile(n, fold))
		}
		conditions = append(conditions, c)
	}
	add(f.Owners, false, func(a *grid.Accounting) string { return a.Owner })
	add(f.Groups, false, func(a *grid.Accounting) string { return a.Group })
	add(f.Projects, false, func(a *grid.Accounting) string { return a.Project })
	add(f.Departments, false, func(a *grid.Accounting) string { return a.Department })
	add(f.Accounts, false, func(a *grid.Accounting) string { return a.Account })
	add(f.PEs, false, func(a *grid.Accounting) string { return a.PE })
	add(f.Hosts, true, func(a *grid.Accounting) string { return a.Host })
	var queues grid.Names
	for _, q := range f.Queues {
		if !strings.Contains(q, "@") {
			q += "@*"
		}
		queues = append(queues, q)
	}
	add(queues, false, func(a *grid.Accounting) string { return a.Queue + "@" + a.Host })
	return func(a *grid.Accounting) bool {
		at := a.Start
		if f.ByEnd {
			at = a.End
		}
		switch {
		case f.Begin != 0 && at < f.Begin, f.End != 0 && at > f.End, f.Master && a.PETask != "":
			return false
		case f.AR != 0 && a.AR != f.AR, f.Slots != 0 && a.Slots != f.Slots:
			return false
		case len(f.Tasks) > 0 && (!a.Array || !slices.Contains(f.Tasks, a.Task)):
			return false
		case len(f.Jobs) > 0 && !slices.ContainsFunc(f.Jobs, func(name string) bool { return isJob(a, name) }):
			return false
		}
		for _, c := range conditions {
			value := c.value(a)
			if !slices.ContainsFunc(c.patterns, func(p pattern.Expression) bool { return p.Match(value) }) {
				return false
			}
		}
		return true
	}
}

// isJob reports whether a number or name of a job is that of a record.
func isJob(a *grid.Accounting, name string) bool {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id) == a.Job
	}
	return pattern.Match(name, a.Name)
}
