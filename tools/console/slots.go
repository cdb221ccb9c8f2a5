package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// held is slots that a task held for a time.
type held struct {
	From, To grid.Time
	Slots    float64
	Of       string // the owner, project or host that they count for
}

// ran returns what has held slots after a time, and since when that is known. of returns what a record or a running
// task counts for; "": it is left out.
func ran(
	r *request, f view.AccountingFilter, after grid.Time,
	of func(owner, project string, slots uint32, grants []grid.Grant) (string, uint32),
) (out []held, known grid.Time, err error) {
	records, known, err := r.cell().Ran(r.Context(), r.moment, f, after)
	if err != nil {
		return nil, 0, err
	}
	for _, a := range records {
		if a.PETask != "" || a.Start == 0 {
			continue
		}
		if name, slots := of(a.Owner, a.Project, max(a.Slots, 1), nil); name != "" {
			out = append(out, held{a.Start, a.End, float64(slots), name})
		}
	}
	st := r.moment.State
	st.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		j := st.Job(t.Job)
		if !t.HoldsSlots() || j == nil {
			return true
		}
		if name, slots := of(j.Owner, j.Project, t.Slots(), t.Grants); name != "" && slots > 0 {
			out = append(out, held{t.Start, r.moment.Now, float64(slots), name})
		}
		return true
	})
	return out, known, nil
}

// seriesMost is how many colours people can distinguish.
const seriesMost = 6

// slotsChart draws slots in use over time, the means of equal parts of it, by what they count for: those with the most
// first, the others as one.
func slotsChart(id, title string, all []held, now, known grid.Time, minutes int, whole float64) chart.Chart {
	each := grid.Time(minutes) * 60_000 / chartParts
	end := (now/each + 1) * each
	begin := end - chartParts*each
	values, sums := map[string][]float64{}, map[string]float64{}
	for _, h := range all {
		from, to := max(h.From, begin), min(h.To, end)
		for i := max((from-begin)/each, 0); i < chartParts && begin+i*each < to; i++ {
			part := float64(min(to, begin+(i+1)*each)-max(from, begin+i*each)) / float64(each)
			if i == (now-begin)/each { // the last part is not over
				part *= float64(each) / float64(max(now-(begin+i*each), 1))
			}
			if values[h.Of] == nil {
				values[h.Of] = make([]float64, chartParts)
			}
			values[h.Of][i] += part * h.Slots
			sums[h.Of] += part * h.Slots
		}
	}
	names := make([]string, 0, len(values))
	for name := range values { // order: sorted below
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	var drawn []chart.Series
	for i, name := range names {
		if i < seriesMost || len(names) == seriesMost+1 {
			drawn = append(drawn, chart.Series{Name: name, Class: fmt.Sprintf("s%d", i), Values: values[name], Form: chart.Area})
			continue
		}
		if i == seriesMost {
			drawn = append(drawn, chart.Series{Name: fmt.Sprintf("%d others", len(names)-i), Class: "gone",
				Values: make([]float64, chartParts), Form: chart.Area})
		}
		for k, v := range values[name] {
			drawn[seriesMost].Values[k] += v
		}
	}
	for i := range grid.Time(chartParts) {
		for _, s := range drawn {
			if begin+(i+1)*each <= known {
				s.Values[i] = math.NaN()
			}
		}
	}
	c := overTime(id, title, begin, end, drawn...)
	c.Panels[0].Least = whole
	return c
}
