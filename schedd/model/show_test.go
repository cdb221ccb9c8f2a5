package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// shows are what a transcript prints of a model. Nothing of it depends on numbers of groups and classes, so that a
// model that has followed every list shows the same as one that has received the full state.
var shows = map[string]func(*Model) string{
	"lines":    showLines,
	"classes":  showClasses,
	"groups":   showGroups,
	"walk":     showWalk,
	"heads":    showHeads,
	"totals":   showTotals,
	"delayed":  showDelayed,
	"requeued": showRequeued,
	"extremes": showExtremes,
	"finder":   showFinder,
}

// settle settles a model that follows events; copies are settled.
func settle(m *Model) {
	if m.index != nil {
		m.settle()
	}
}

// seconds is a time as seconds since the begin of the cell.
func seconds(t grid.Time) string { return fmt.Sprintf("%gs", t.Sub(algorithmtest.Begin)) }

// sortedClasses are all classes that the model has jobs of, by name.
func sortedClasses(m *Model) (out []Class) {
	settle(m)
	m.classes.Scan(func(_ uint32, c Class) bool {
		if c.Jobs > 0 {
			out = append(out, c)
		}
		return true
	})
	slices.SortFunc(out, func(a, b Class) int { return cmp.Compare(classLabel(m, a), classLabel(m, b)) })
	return out
}

// showLines shows the lines of each class, the most urgent head first, and the jobs of each line in order.
func showLines(m *Model) string {
	var b strings.Builder
	for _, c := range sortedClasses(m) {
		if c.Pending > 0 {
			fmt.Fprintf(&b, "class %s\n", classLabel(m, c))
		}
		m.heads.Ascend(front{Place: Place{Class: c.Number}, urgency: math.Inf(1)}, func(h front) bool {
			if h.Class != c.Number {
				return false
			}
			fmt.Fprintf(&b, "  %s:", m.Group(h.Group).Category)
			for p, any := h.Place, true; any; p, any = m.after(p) {
				fmt.Fprintf(&b, " %d", p.Job)
			}
			b.WriteByte('\n')
			return true
		})
	}
	return orNone(b.String())
}

// orNone is what a show prints.
func orNone(text string) string {
	if text == "" {
		return "none\n"
	}
	return text
}

func tallyText(t Tally) string {
	return fmt.Sprintf("%d jobs, %d in line, %d live, %d active", t.Jobs, t.Pending, t.Live, t.Active)
}

func showClasses(m *Model) string {
	var b strings.Builder
	for _, c := range sortedClasses(m) {
		fmt.Fprintf(&b, "%s: %s\n", classLabel(m, c), tallyText(c.Tally))
	}
	return orNone(b.String())
}

func showGroups(m *Model) string {
	settle(m)
	var lines []string
	for n, g := range m.groups {
		if g != nil && m.tallies[n].Jobs > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s, urgency %g\n", g.Category, tallyText(m.tallies[n]), g.Urgency))
		}
	}
	slices.Sort(lines)
	return orNone(strings.Join(lines, ""))
}

// showWalk shows the jobs of each class as a Walk visits them that passes all.
func showWalk(m *Model) string { return walkExcept(m, nil) }

// walkExcept is a Walk that does not pass some jobs: those after them stay where they are.
func walkExcept(m *Model, stuck []uint32) string {
	var b strings.Builder
	walk := &Walk{}
	for _, c := range sortedClasses(m) {
		first, any := m.First(c.Number)
		if !any {
			continue
		}
		fmt.Fprintf(&b, "class %s:", classLabel(m, c))
		walk.Begin(&m.Lines, first)
		for more := true; more; more = walk.Next() {
			fmt.Fprintf(&b, " %d", walk.Job)
			if !slices.Contains(stuck, walk.Job) {
				walk.Pass()
			}
		}
		b.WriteByte('\n')
	}
	return orNone(b.String())
}

// showHeads shows the categories of the jobs that stand first, sorted: Heads visits them by number of class.
func showHeads(m *Model) string {
	settle(m)
	var lines []string
	h := &Heads{}
	for h.Begin(&m.Lines); h.Of != nil; h.Next() {
		lines = append(lines, h.Of.Category+"\n")
	}
	slices.Sort(lines)
	return orNone(strings.Join(lines, ""))
}

func showTotals(m *Model) string {
	settle(m)
	return fmt.Sprintf("%d jobs of %d groups in line; waiting %t, immediate %t, tickets %t, user sort %t\n",
		m.Pending(), m.PendingGroups(), m.Waiting(), m.Immediate(), m.Tickets(), m.UserSort())
}

func showDelayed(m *Model) string {
	settle(m)
	var b strings.Builder
	m.delayed.Scan(func(d delay) bool {
		c, _ := m.classes.Get(d.class)
		fmt.Fprintf(&b, "%d until %s: %s, class %s\n", d.job, seconds(d.until), m.Group(d.group).Category, classLabel(m, c))
		return true
	})
	return orNone(b.String())
}

func showRequeued(m *Model) string {
	settle(m)
	var b strings.Builder
	m.requeued.Scan(func(t taskID) bool {
		fmt.Fprintf(&b, "%d.%d\n", t.job, t.id)
		return true
	})
	return orNone(b.String())
}

// showExtremes shows rrcontr, submission and deadline of each extreme, sorted and without repetition.
func showExtremes(m *Model) string {
	settle(m)
	var lines []string
	m.Extremes(func(resources float64, submit, deadline grid.Time) {
		line := fmt.Sprintf("resources %g", resources)
		if submit != 0 {
			line += " submitted " + seconds(submit)
		}
		if deadline != 0 {
			line += " deadline " + seconds(deadline)
		}
		lines = append(lines, line+"\n")
	})
	slices.Sort(lines)
	return orNone(strings.Join(slices.Compact(lines), ""))
}

// showFinder shows which class Finder finds for each job of the state.
func showFinder(m *Model) string {
	settle(m)
	var b strings.Builder
	find := m.Finder()
	m.State.Each(grid.KindJob, func(o grid.Object) bool {
		label := "none"
		if n := find(o.(*grid.Job)); n != 0 {
			c, _ := m.classes.Get(n)
			label = classLabel(m, c)
		}
		fmt.Fprintf(&b, "%d: %s\n", o.Key().ID, label)
		return true
	})
	return orNone(b.String())
}
