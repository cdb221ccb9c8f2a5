package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// AccountingFilter selects accounting records as qacct(1) does; names may be patterns, and NONE is a project,
// department or parallel environment that a record does not have. Zero values select all.
type AccountingFilter struct {
	Jobs                                                 grid.Names  // numbers or names
	Tasks                                                grid.Ranges // of arrays
	Owners, Groups, Projects, Departments, Accounts, PEs grid.Names
	Queues                                               grid.Names // QUEUE or QUEUE@HOST
	Hosts                                                grid.Names // in any case
	ARs, Slots                                           []uint32
	Master                                               bool // without tasks of parallel jobs
	Exact                                                bool // only Jobs and Queues may be patterns
	Begin, End                                           grid.Time
	// Begin and End are compared with the end, not with the start
	ByEnd bool
}

// Selector returns whether f selects a record.
func (f AccountingFilter) Selector() func(*grid.Accounting) bool {
	var conditions []func(*grid.Accounting) bool
	// one selects by a value that is one of names, as patterns or as they are; fold: in any case.
	one := func(names grid.Names, patterns, fold bool, value func(*grid.Accounting) string) {
		if len(names) == 0 {
			return
		}
		var are []func(string) bool
		for _, n := range names {
			switch {
			case patterns:
				are = append(are, pattern.Compile(n, fold).Match)
			case fold:
				are = append(are, func(v string) bool { return strings.EqualFold(v, n) })
			default:
				are = append(are, func(v string) bool { return v == n })
			}
		}
		conditions = append(conditions, func(a *grid.Accounting) bool {
			v := value(a)
			return slices.ContainsFunc(are, func(is func(string) bool) bool { return is(v) })
		})
	}
	add := func(names grid.Names, fold bool, value func(*grid.Accounting) string) {
		one(names, !f.Exact, fold, value)
	}
	add(f.Owners, false, func(a *grid.Accounting) string { return a.Owner })
	add(f.Groups, false, func(a *grid.Accounting) string { return a.Group })
	add(f.Projects, false, func(a *grid.Accounting) string { return OrNone(a.Project) })
	add(f.Departments, false, func(a *grid.Accounting) string { return OrNone(a.Department) })
	add(f.Accounts, false, func(a *grid.Accounting) string { return a.Account })
	add(f.PEs, false, func(a *grid.Accounting) string { return OrNone(a.PE) })
	add(f.Hosts, true, func(a *grid.Accounting) string { return a.Host })
	var queues grid.Names
	for _, q := range f.Queues {
		if !strings.Contains(q, "@") {
			q += "@*"
		}
		queues = append(queues, q)
	}
	one(queues, true, false, func(a *grid.Accounting) string { return a.Queue + "@" + a.Host })
	isJob := jobSelector(f.Jobs)
	return func(a *grid.Accounting) bool {
		at := a.Start
		if f.ByEnd {
			at = a.End
		}
		switch {
		case f.Begin != 0 && at < f.Begin, f.End != 0 && at > f.End, f.Master && a.PETask != "":
			return false
		case len(f.ARs) > 0 && !slices.Contains(f.ARs, a.AR), len(f.Slots) > 0 && !slices.Contains(f.Slots, a.Slots):
			return false
		case len(f.Tasks) > 0 && (!a.Array || !f.Tasks.Contains(a.Task)):
			return false
		case len(f.Jobs) > 0 && !isJob(a):
			return false
		}
		return !slices.ContainsFunc(conditions, func(selects func(*grid.Accounting) bool) bool { return !selects(a) })
	}
}

// jobSelector returns whether one of the numbers or names of jobs is that of a record.
func jobSelector(jobs grid.Names) func(*grid.Accounting) bool {
	numbers, names := map[uint32]bool{}, grid.Names(nil)
	for _, name := range jobs {
		if id, err := strconv.ParseUint(name, 10, 32); err == nil {
			numbers[uint32(id)] = true
		} else {
			names = append(names, name)
		}
	}
	return func(a *grid.Accounting) bool {
		return numbers[a.Job] || slices.ContainsFunc(names, func(name string) bool { return IsJob(a, name) })
	}
}

// OrNone returns a name as accounting prints it: NONE for one that a record does not have.
func OrNone(name string) string { return cmp.Or(name, "NONE") }

// IsJob reports whether a number or name of a job is that of a record.
func IsJob(a *grid.Accounting, name string) bool {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id) == a.Job
	}
	return pattern.Match(name, a.Name)
}
