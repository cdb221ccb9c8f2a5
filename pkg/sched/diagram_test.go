package sched

import (
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/law"
)

// naive is a diagram as a list of bookings, asked moment by moment.
type naive struct {
	clock   clock
	running []booked // until end
	planned []booked
}

type booked struct {
	window
	amount float64
}

func (n *naive) at(t grid.Time) (sum float64) {
	for _, b := range n.running {
		end := b.end
		if end <= n.clock.now {
			end = n.clock.late
		}
		if t < end {
			sum += b.amount
		}
	}
	for _, b := range n.planned {
		if b.start <= t && t < b.end {
			sum += b.amount
		}
	}
	return sum
}

func (n *naive) peak(w window) (most float64) {
	for t := w.start; t < min(w.end, horizon+1); t++ {
		most = max(most, n.at(t))
	}
	return most
}

func (n *naive) earliest(from, length grid.Time, limit float64) grid.Time {
	for t := from; t <= horizon; t++ {
		if n.peak(window{t, t + length}) <= limit {
			return t
		}
	}
	return never
}

// horizon is when everything that ends has ended.
const horizon = 60

// A diagram says what a list of bookings says, moment by moment, whatever was
// booked and taken back before.
func TestDiagramIsItsBookings(t *testing.T) {
	law.Each(t, 400, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		d, used := diagram{}, 0.0
		now := grid.Time(10)
		n := naive{clock: clock{now, now + 5}}
		for range 1 + r.IntN(25) {
			amount := float64(1 + r.IntN(4))
			switch k := r.IntN(6); {
			case k < 2:
				end := grid.Time(1 + r.IntN(horizon))
				if r.IntN(8) == 0 {
					end = never
				}
				d.hold(used, end, amount)
				used += amount
				n.running = append(n.running, booked{window{0, end}, amount})
			case k < 4:
				start := grid.Time(r.IntN(horizon - 1))
				w := window{start, start + 1 + grid.Time(r.IntN(int(horizon-start)))}
				if r.IntN(8) == 0 {
					w.end = never
				}
				d.plan(w, amount)
				n.planned = append(n.planned, booked{w, amount})
			case k == 4 && len(n.running) > 0:
				i := r.IntN(len(n.running))
				b := n.running[i]
				n.running = append(n.running[:i], n.running[i+1:]...)
				used -= b.amount
				d.release(used, b.end, b.amount)
			case k == 5 && len(n.planned) > 0:
				i := r.IntN(len(n.planned))
				b := n.planned[i]
				n.planned = append(n.planned[:i], n.planned[i+1:]...)
				d.plan(b.window, -b.amount)
			}
			from := now + grid.Time(r.IntN(horizon-10))
			length := grid.Time(1 + r.IntN(20))
			w := window{from, from + length}
			if got, want := d.peak(used, w, n.clock), n.peak(w); got != want {
				t.Fatalf("peak of %v is %v, not %v: %+v %+v", w, got, want, d, n)
			}
			limit := float64(r.IntN(12))
			if got, want := d.earliest(used, from, length.Sub(0), limit, n.clock), n.earliest(from, length, limit); got != want {
				t.Fatalf("earliest from %v for %v under %v is %v, not %v: %+v %+v", from, length, limit, got, want, d, n)
			}
			until := d.stays(from, length.Sub(0), n.clock)
			for s := from; s < min(until, horizon); s++ {
				if n.peak(window{s, s + length}) != n.peak(w) {
					t.Fatalf("it does not stay from %v to %v", from, until)
				}
			}
		}
		if len(n.running) == 0 && len(d.ends) > 0 || len(n.planned) == 0 && len(d.plans) > 0 {
			t.Fatalf("nothing is booked but %+v", d)
		}
	})
}
