package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/web/problem"
)

// byOrders are the lists that follow from orders.
var byOrders = func() *filter.Filter {
	f := &filter.Filter{}
	if err := f.Add("cause", "orders"); err != nil {
		panic(err)
	}
	return f
}()

func (c *consoleCell) Runs(ctx context.Context, m *console.Moment, s console.Session) ([]console.Run, error) {
	records, kept := m.State.IsManager(s.User()), &c.runs[0] // as qmaster does: others get the log without the records
	if records {
		kept = &c.runs[1]
	}
	return kept.find(ctx, c, m, func(ctx context.Context) ([]console.Run, error) {
		return c.readRuns(ctx, m, records, console.RunsMost)
	})
}

// readRuns reads the last runs from the log, and what their records have.
func (c *consoleCell) readRuns(
	ctx context.Context, m *console.Moment, records bool, most int,
) (out []console.Run, err error) {
	lists, _, err := c.Lists(ctx, m.State.Seq, byOrders, 4*most) // a long run has several
	if err != nil {
		return nil, err
	}
	for _, l := range lists {
		n := len(out)
		if n == 0 || out[n-1].Number != l.Cause.Ref || out[n-1].At-l.At > runLongest {
			if n == most {
				break
			}
			out = append(out, console.Run{Number: l.Cause.Ref, Last: l.Seq, At: l.At})
			n++
		}
		countChanges(&out[n-1], l)
	}
	if len(out) > 0 && records {
		out, err = c.addRecords(ctx, out)
	}
	return out, err
}

// runLongest is for how long lists of one number are of one run: a scheduler that is started anew counts from 1.
const runLongest = 10 * 60 * 1000

// countChanges adds what a list of a run changes.
func countChanges(r *console.Run, l events.List) {
	r.First = l.Seq
	for _, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.JATask:
			if o.Status == grid.Transfering && o.Start == l.At {
				r.Starts++
			} else {
				r.Tasks++
			}
		case *grid.Job, *grid.Priority:
			if e.Op != events.OpDel {
				r.Jobs++
			}
		case *grid.JobScheddInfo:
			r.Waits++
		}
	}
}

// addRecords adds what the records of runs have, the newest run first; runs whose orders were all refused are among
// them.
func (c *consoleCell) addRecords(ctx context.Context, runs []console.Run) ([]console.Run, error) {
	first, last := runs[len(runs)-1].First, runs[0].Last
	p, err := c.reader.Open(ctx, gdi.Place{Seq: max(first, 2) - 1}, gdi.Place{Seq: last}, true)
	if err != nil {
		return nil, pageError(err)
	}
	defer p.Close()
	for r, err := range p.Runs(max(first, 2) - 1) {
		if err != nil {
			return nil, pageError(problem.Unreachable(err))
		}
		seq, name := r.Result.Seq, strconv.FormatUint(r.List.Run, 10)
		i := slices.IndexFunc(runs, func(one console.Run) bool {
			return one.Number == name && seq+1 >= one.First && seq <= one.Last+1
		})
		switch {
		case seq > last:
			continue
		case i < 0 && len(r.Result.Refused) == 0:
			continue
		case i < 0:
			i = len(runs)
			runs = append(runs, console.Run{Number: name, First: seq, Last: seq, At: r.List.At})
		}
		one := &runs[i]
		one.Recorded, one.Orders = true, one.Orders+len(r.List.Orders)
		for _, refusal := range r.Result.Refused {
			one.Refused = append(one.Refused, refusal.Reason)
		}
	}
	slices.SortStableFunc(runs, func(a, b console.Run) int { return cmp.Compare(b.Last, a.Last) })
	return runs, nil
}
