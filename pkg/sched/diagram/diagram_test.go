package diagram

import (
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// naive is a diagram as a list of bookings, asked moment by moment.
type naive struct {
	clock   Clock
	running []booked // until end
	planned []booked
}

type booked struct {
	grid.Window
	amount float64
}

func (n *naive) at(t grid.Time) (sum float64) {
	for _, b := range n.running {
		end := b.End
		if end <= n.clock.Now {
			end = n.clock.Late
		}
		if t < end {
			sum += b.amount
		}
	}
	for _, b := range n.planned {
		if b.Start <= t && t < b.End {
			sum += b.amount
		}
	}
	return sum
}

func (n *naive) peak(w grid.Window) (most float64) {
	for t := w.Start; t < min(w.End, horizon+1); t++ {
		most = max(most, n.at(t))
	}
	return most
}

func (n *naive) earliest(from, length grid.Time, limit float64) grid.Time {
	for t := from; t <= horizon; t++ {
		if n.peak(grid.Window{Start: t, End: t + length}) <= limit {
			return t
		}
	}
	return grid.Never
}

// horizon is when everything that ends has ended.
const horizon = 60

// A diagram says what a list of bookings says, moment by moment, whatever was
// booked and taken back before.
func TestDiagramIsItsBookings(t *testing.T) {
	testkit.EachSeed(t, 400, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		d, used := Diagram{}, 0.0
		now := grid.Time(10)
		n := naive{clock: Clock{now, now + 5}}
		for range 1 + r.IntN(25) {
			amount := float64(1 + r.IntN(4))
			switch k := r.IntN(6); {
			case k < 2:
				end := grid.Time(1 + r.IntN(horizon))
				if r.IntN(8) == 0 {
					end = grid.Never
				}
				d.Hold(used, end, amount)
				used += amount
				n.running = append(n.running, booked{grid.Window{Start: 0, End: end}, amount})
			case k < 4:
				start := grid.Time(r.IntN(horizon - 1))
				w := grid.Window{Start: start, End: start + 1 + grid.Time(r.IntN(int(horizon-start)))}
				if r.IntN(8) == 0 {
					w.End = grid.Never
				}
				d.Plan(w, amount)
				n.planned = append(n.planned, booked{w, amount})
			case k == 4 && len(n.running) > 0:
				i := r.IntN(len(n.running))
				b := n.running[i]
				n.running = append(n.running[:i], n.running[i+1:]...)
				used -= b.amount
				d.Release(used, b.End, b.amount)
			case k == 5 && len(n.planned) > 0:
				i := r.IntN(len(n.planned))
				b := n.planned[i]
				n.planned = append(n.planned[:i], n.planned[i+1:]...)
				d.Plan(b.Window, -b.amount)
			}
			from := now + grid.Time(r.IntN(horizon-10))
			length := grid.Time(1 + r.IntN(20))
			w := grid.Window{Start: from, End: from + length}
			if got, want := d.Peak(used, w, n.clock), n.peak(w); got != want {
				t.Fatalf("peak of %v is %v, not %v: %+v %+v", w, got, want, d, n)
			}
			limit := float64(r.IntN(12))
			if got, want := d.Earliest(used, from, length.Sub(0), limit, n.clock), n.earliest(from, length, limit); got != want {
				t.Fatalf("earliest from %v for %v under %v is %v, not %v: %+v %+v", from, length, limit, got, want, d, n)
			}
			until := d.Stays(from, length.Sub(0), n.clock)
			for s := from; s < min(until, horizon); s++ {
				if n.peak(grid.Window{Start: s, End: s + length}) != n.peak(w) {
					t.Fatalf("it does not stay from %v to %v", from, until)
				}
			}
		}
		if len(n.running) == 0 && len(d.Ends) > 0 || len(n.planned) == 0 && len(d.Plans) > 0 {
			t.Fatalf("nothing is booked but %+v", d)
		}
	})
}
