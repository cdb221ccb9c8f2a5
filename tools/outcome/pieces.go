package outcome

// Span returns from the first submission to the last end, in seconds.
func (o *Outcome) Span() (first, last float64) { return o.span() }

// Pieces cuts a time into pieces of the same width, and returns the means of the slots in use and of the jobs that wait in each.
func (o *Outcome) Pieces(first, last float64, n int) (busy, waiting []float64) {
	busy, waiting = make([]float64, n), make([]float64, n)
	over := newCut(first, last, n)
	moments := o.moments()
	for i, m := range moments {
		end := last
		if i+1 < len(moments) {
			end = moments[i+1].second
		}
		if end = min(end, last); m.waiting == 0 && m.busy == 0 {
			continue
		}
		over.spread(max(m.second, first), end, func(piece int, part float64) {
			busy[piece] += part * float64(m.busy)
			waiting[piece] += part * float64(m.waiting)
		})
	}
	return busy, waiting
}
