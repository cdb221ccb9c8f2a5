package qacct

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/view"
)

// columnOf is one way to group records.
type columnOf struct {
	name   string // the switch
	title  string
	value  func(*grid.Accounting) string
	number bool // printed to the right, ordered by value
	member func(*document.Total, string)
}

// columns is in the order in which they are printed.
var columns = []columnOf{
	{"h", "HOST", func(a *grid.Accounting) string { return a.Host }, false,
		func(t *document.Total, v string) { t.Host = &v }},
	{"q", "CLUSTER QUEUE", func(a *grid.Accounting) string { return a.Queue }, false,
		func(t *document.Total, v string) { t.Queue = &v }},
	named("g", "GROUP", func(a *grid.Accounting) string { return a.Group },
		func(t *document.Total, v string) { t.Group = &v }),
	named("o", "OWNER", func(a *grid.Accounting) string { return a.Owner },
		func(t *document.Total, v string) { t.Owner = &v }),
	named("P", "PROJECT", func(a *grid.Accounting) string { return view.OrNone(a.Project) },
		func(t *document.Total, v string) { t.Project = &v }),
	named("D", "DEPARTMENT", func(a *grid.Accounting) string { return view.OrNone(a.Department) },
		func(t *document.Total, v string) { t.Department = &v }),
	named("pe", "PE", func(a *grid.Accounting) string { return view.OrNone(a.PE) },
		func(t *document.Total, v string) { t.PE = &v }),
	numbered("slots", "SLOTS", func(a *grid.Accounting) uint32 { return a.Slots },
		func(t *document.Total) **uint32 { return &t.Slots }),
	numbered("ar", "AR", func(a *grid.Accounting) uint32 { return a.AR },
		func(t *document.Total) **uint32 { return &t.AR }),
	named("A", "ACCOUNT", func(a *grid.Accounting) string { return a.Account },
		func(t *document.Total, v string) { t.Account = &v }),
}

func named(name, title string, value func(*grid.Accounting) string, member func(*document.Total, string)) columnOf {
	return columnOf{name, title, value, false, member}
}

func numbered(name, title string, value func(*grid.Accounting) uint32, member func(*document.Total) **uint32) columnOf {
	text := func(a *grid.Accounting) string { return strconv.FormatUint(uint64(value(a)), 10) }
	c := named(name, title, text, func(t *document.Total, v string) {
		n, _ := strconv.ParseUint(v, 10, 32)
		*member(t) = new(uint32(n))
	})
	c.number = true
	return c
}

// group is the sum of the records that agree in all columns.
type group struct {
	values                             []string
	wall, user, sys, cpu, mem, io, iow float64
}

func (g *group) add(a *grid.Accounting) {
	u := &a.Usage
	g.wall += u.WallSeconds
	g.user += u.UserSeconds
	g.sys += u.SystemSeconds
	g.cpu += u.CPU
	g.mem += u.Mem
	g.io += u.IO
	g.iow += u.IOWait
}

// totals are the groups found so far, in the columns asked for.
type totals struct {
	columns []columnOf
	least   []int // the width of each column
	groups  map[string]*group
}

func newTotals(w *query) *totals {
	t := &totals{groups: map[string]*group{}}
	for _, c := range columns {
		want, asked := w.by[c.name]
		if c.name == "h" && w.by["q"] != "" {
			asked = true // one queue's totals are printed host by host
		}
		if !asked {
			continue
		}
		width := len(c.title)
		switch {
		case c.number:
			width = 5
		case c.name != "q":
			width = max(width, len(want))
		}
		t.columns, t.least = append(t.columns, c), append(t.least, width)
	}
	return t
}

func (t *totals) add(a *grid.Accounting) {
	var values []string
	for _, c := range t.columns {
		values = append(values, c.value(a))
	}
	key := strings.Join(values, "\x00")
	g := t.groups[key]
	if g == nil {
		g = &group{values: values}
		t.groups[key] = g
	}
	g.add(a)
}

// sorted is the groups in the order of their columns.
func (t *totals) sorted() []*group {
	list := slices.Collect(maps.Values(t.groups))
	slices.SortFunc(list, func(a, b *group) int {
		for i, c := range t.columns {
			if a.values[i] == b.values[i] {
				continue
			}
			if c.number && len(a.values[i]) != len(b.values[i]) {
				return len(a.values[i]) - len(b.values[i])
			}
			return strings.Compare(a.values[i], b.values[i])
		}
		return 0
	})
	return list
}

// rows are the groups as rows of a document.
func (t *totals) rows(yield func(document.Total) bool) {
	for _, g := range t.sorted() {
		row := document.Total{WallClock: g.wall, User: g.user, System: g.sys, CPU: g.cpu, Mem: g.mem, IO: g.io, IOWait: g.iow}
		for i, c := range t.columns {
			c.member(&row, g.values[i])
		}
		if !yield(row) {
			return
		}
	}
}

// print prints the table: each column as wide as its longest value, then the
// sums.
func (t *totals) print(out io.Writer) {
	groups := t.sorted()
	widths := slices.Clone(t.least)
	var head strings.Builder
	for i, c := range t.columns {
		for _, g := range groups {
			widths[i] = max(widths[i], len(g.values[i]))
		}
		fmt.Fprintf(&head, "%-*s ", widths[i], c.title)
	}
	if len(t.columns) == 0 {
		fmt.Fprintln(out, "Total System Usage")
	}
	fmt.Fprintf(&head, "%13s%14s%14s%14s%19s%19s%19s", "WALLCLOCK", "UTIME", "STIME", "CPU", "MEMORY", "IO", "IOW")
	fmt.Fprintln(out, head.String())
	fmt.Fprintln(out, strings.Repeat("=", head.Len()))
	for _, g := range groups {
		for i, c := range t.columns {
			if c.number {
				fmt.Fprintf(out, "%*s ", widths[i], g.values[i])
			} else {
				fmt.Fprintf(out, "%-*s ", widths[i], g.values[i])
			}
		}
		fmt.Fprintf(out, "%13.0f%14.3f%14.3f%14.3f%19.3f%19.3f%19.3f\n", g.wall, g.user, g.sys, g.cpu, g.mem, g.io, g.iow)
	}
}

// summary prints the sums of the selected records.
func (w *query) summary(env opt.Env, in io.Reader, out io.Writer) int {
	t := newTotals(w)
	if err := w.each(env, in, func(a *grid.Accounting, _ *accounting.Usage) { t.add(a) }); err != nil {
		return env.Report(err, 1)
	}
	if w.format.JSON() {
		return env.Document(document.Accounting{Totals: t.rows})
	}
	t.print(out)
	return 0
}
