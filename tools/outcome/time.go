package outcome

// cut is time, cut into pieces of the same width.
type cut struct {
	first, width float64 // seconds
	n            int
}

func newCut(first, last float64, n int) cut {
	return cut{first, max((last-first)/float64(n), 1e-3), n}
}

// x is where a piece begins.
func (c cut) x(i int) float64 { return c.first + float64(i)*c.width }

// spread calls f for each piece that a time lies in, with the part of the piece
// that it takes.
func (c cut) spread(first, last float64, f func(piece int, part float64)) {
	from, to := (first-c.first)/c.width, (last-c.first)/c.width
	for from < to {
		piece := min(int(from), c.n-1)
		part := min(to, float64(piece+1)) - from
		if piece == c.n-1 {
			part = to - from
		}
		f(piece, part)
		from += part
	}
}
