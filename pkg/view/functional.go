package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Functional is what the functional policy grants a user, project or department at a moment, sge_priority(5).
type Functional struct {
	Kind    grid.Kind // of the object: a user, a project or a userset
	Name    string
	Shares  uint32
	Weight  float64 // of its kind, weight_user and its siblings
	Part    float64 // its part of the shares of its kind, 0 ... 1
	Jobs    int
	Slots   int     // in use
	Tickets float64 // functional ones, that its started tasks have
	Next    float64 // that the next task of each of its waiting jobs would have
}

// Functionals returns the users, projects and departments that have functional shares or jobs, by kind and name.
func Functionals(st *state.State) []Functional {
	conf := st.SchedConf()
	rows := map[grid.Kind]map[string]*Functional{}
	row := func(k grid.Kind, name string, shares uint32) *Functional {
		if name == "" || name == grid.DefaultDepartment {
			return &Functional{}
		}
		if rows[k] == nil {
			rows[k] = map[string]*Functional{}
		}
		one := rows[k][name]
		if one == nil {
			one = &Functional{Kind: k, Name: name, Shares: shares, Weight: map[grid.Kind]float64{grid.KindUser: conf.WeightUser,
				grid.KindProject: conf.WeightProject, grid.KindUserset: conf.WeightDepartment}[k]}
			rows[k][name] = one
		}
		one.Shares = max(one.Shares, shares)
		return one
	}
	for _, k := range []grid.Kind{grid.KindUser, grid.KindProject, grid.KindUserset} {
		st.Each(k, func(o grid.Object) bool {
			switch o := o.(type) {
			case *grid.User:
				row(k, o.Name, o.FShare)
			case *grid.Project:
				row(k, o.Name, o.FShare)
			case *grid.Userset:
				if strings.Contains(o.Type, "DEPT") {
					row(k, o.Name, o.FShare)
				}
			}
			return true
		})
	}
	st.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		given, next := ticketsOf(st, j, func(t *grid.JATask) float64 { return t.FTickets },
			func(p *grid.Priority) float32 { return p.FTickets })
		slots := 0
		for _, t := range st.Tasks(j.ID) {
			if t.HoldsSlots() {
				slots += int(t.Slots())
			}
		}
		for _, one := range []*Functional{row(grid.KindUser, j.Owner, 0), row(grid.KindProject, j.Project, 0),
			row(grid.KindUserset, j.Department, 0)} {
			one.Jobs, one.Slots, one.Tickets, one.Next = one.Jobs+1, one.Slots+slots, one.Tickets+given, one.Next+next
		}
		return true
	})
	return partsOf(rows)
}

// partsOf returns the rows that say something, with their parts.
func partsOf(rows map[grid.Kind]map[string]*Functional) (out []Functional) {
	for _, of := range rows { // order: sorted below
		sum := uint32(0)
		for _, one := range of {
			sum += one.Shares
		}
		for _, one := range of {
			if one.Shares == 0 && one.Jobs == 0 {
				continue
			}
			if sum > 0 {
				one.Part = float64(one.Shares) / float64(sum)
			}
			out = append(out, *one)
		}
	}
	slices.SortFunc(out, func(a, b Functional) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// ticketsOf returns the tickets that the scheduler has given to the started tasks of a job, and those that its next
// task would have.
func ticketsOf(
	st *state.State, j *grid.Job, of func(*grid.JATask) float64, pending func(*grid.Priority) float32,
) (given, next float64) {
	if p := st.Priority(j.ID); p != nil && j.Pending.Count() > 0 {
		next = float64(pending(p))
	}
	for _, t := range st.Tasks(j.ID) {
		if t.Started() {
			given += of(t)
		}
	}
	return given, next
}
