package decide

import (
	"iter"

	"github.com/quill-grid/quill/orders"
)

// recordedRun is all that was recorded of one run.
type recordedRun struct {
	orders.List          // with the orders of all its lists
	refused     []bool   // by qmaster, for each of the orders
	results     []uint64 // the lists of events that came of it
	lists       int      // recorded ones
	begun       bool     // the first of them is the run's first
	whole       bool     // all its lists were; else those at the beginning
}

// runs puts the lists of each run together.
func runs(records iter.Seq2[orders.Record, error]) iter.Seq2[recordedRun, error] {
	return func(yield func(recordedRun, error) bool) {
		var now *recordedRun
		for r, err := range records {
			if err != nil {
				if now == nil || yield(*now, nil) {
					yield(recordedRun{}, err)
				}
				return
			}
			if now == nil || !now.SameRun(&r.List) {
				if now != nil && !yield(*now, nil) {
					return
				}
				now = &recordedRun{begun: r.List.Part == 0}
			}
			now.add(r)
		}
		if now != nil {
			yield(*now, nil)
		}
	}
}

// add takes the next list of the run. After one that is missing nothing counts.
func (r *recordedRun) add(next orders.Record) {
	r.results = append(r.results, next.Result.Seq)
	if r.lists > 0 && next.List.Part != r.Part+1 {
		return
	}
	so := r.Orders
	r.lists++
	r.List = next.List
	r.Orders = append(so, next.List.Orders...)
	r.whole = next.List.Last
	r.refused = append(r.refused, make([]bool, len(next.List.Orders))...)
	for _, f := range next.Result.Refused {
		if at := len(so) + f.Index; f.Index >= 0 && at < len(r.refused) {
			r.refused[at] = true
		}
	}
}
