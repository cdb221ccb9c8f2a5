package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/diagram"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Requests that select instances of a resource map by their characteristics. How many instances are
// taken does not say how many of those are free that a request selects, so these
// requests are held against the instances themselves, and so is every request where the planned ones
// select:
//
//   - Now: the instances are chosen as qmaster will choose them, in the order of the map or the nearest first, after
//     those that the run has booked; which cores these will have is not known. With these taken, all that is planned must still be possible
//     at each time of the window.
//   - Later: beside what is planned, so many instances must be left at each time of the window,
//     whichever the planned ones will be.
//
// Whether planned claims are possible together at one time is a flow from selections to instances
// (flow.go). That a claim keeps its instances from one time to the next is not asked: with several
// selections that overlap a reservation may have to be moved. Nothing is granted twice by that, as
// what starts is always held against the instances that are free.

// stock is one resource map and all that takes instances of it.
type stock struct {
	key   ledger.MapKey
	m     complex.Map
	units []int // by instance: how often it can be granted, 0 when it is out of service
	held  []holding
	plans []*ledger.Claim // planned claims
	clock diagram.Clock
}

// holding is an instance that a task has until a time, once for each time that it has it.
type holding struct {
	instance int
	end      grid.Time
	ar       uint32
}

// stock returns the map of a level.
func (c *Cluster) stock(key ledger.MapKey) *stock {
	s := &stock{key: key, m: c.site.Global.Maps[key.Column], clock: c.find.span.Clock()}
	bad := c.site.Sick
	if key.Host != ledger.WholeCluster {
		h := c.site.Hosts[key.Host]
		s.m, bad = h.Supply.Maps[key.Column], h.Sick
	}
	s.units = make([]int, len(s.m))
	for i := range s.m {
		s.units[i] = s.m[i].Amount
		if slices.ContainsFunc(bad, func(b site.Sick) bool { return b.Column == key.Column && b.ID == s.m[i].ID }) {
			s.units[i] = 0
		}
	}
	find := s.finder()
	c.ledger.EachTaken(key, func(n ledger.Taken) {
		i := find(n.ID)
		if i < 0 {
			return
		}
		b, _ := c.ledger.Booking(n.Task)
		for range n.Times {
			s.held = append(s.held, holding{i, b.End, b.Job.AR})
		}
	})
	c.ledger.EachClaim(key, func(k *ledger.Claim) {
		if !k.Booked {
			s.plans = append(s.plans, k)
		}
	})
	c.ledger.EachClaim(key, func(k *ledger.Claim) {
		if k.Booked {
			s.choose(k.Of, k.Units, k.Window, k.AR, c.nearestFirst(k.Job, k.Slots, key, nil, k.Units, s.freeOf(k.Of)))
		}
	})
	return s
}

// finder returns a function for the place of an id in the map, -1 when it is not there any more.
func (s *stock) finder() func(id string) int {
	if len(s.m) <= 16 {
		return func(id string) int {
			return slices.IndexFunc(s.m, func(in complex.Instance) bool { return in.ID == id })
		}
	}
	at := make(map[string]int, len(s.m))
	for i := range s.m {
		at[s.m[i].ID] = i
	}
	return func(id string) int {
		if i, known := at[id]; known {
			return i
		}
		return -1
	}
}

// lasts reports whether a task still has what it holds at a time.
func (s *stock) lasts(h *holding, t grid.Time) bool {
	return t < h.end || t <= s.clock.Now || h.end <= s.clock.Now && t < s.clock.Late
}

// leftAt returns by instance how often it is free at a time.
func (s *stock) leftAt(t grid.Time) []int {
	left := slices.Clone(s.units)
	for i := range s.held {
		if h := &s.held[i]; s.lasts(h, t) {
			left[h.instance] = max(left[h.instance]-1, 0)
		}
	}
	return left
}

// promise is how much of what is planned cannot be had at a time, at best.
type promise struct {
	at    grid.Time
	short int
}

// promises are those of the times of a window at which more may be planned than before: of all
// plans, or of advance reservations alone.
func (s *stock) promises(w grid.Window, onlyAR bool) []promise {
	out := []promise{{at: w.Start}}
	for _, k := range s.plans {
		if k.Window.Start > w.Start && k.Window.Start < w.End {
			out = append(out, promise{at: k.Window.Start})
		}
	}
	for i := range out {
		_, out[i].short = s.serve(out[i].at, nil, 0, onlyAR)
	}
	return out
}

// kept reports whether no more of what is planned cannot be had than before.
func (s *stock) kept(before []promise, onlyAR bool) bool {
	for _, p := range before {
		if _, short := s.serve(p.at, nil, 0, onlyAR); short > p.short {
			return false
		}
	}
	return true
}

// serve deals what is left at a time to all that is planned, or to advance reservations alone, and what
// remains to a selection. short is how much of the plans cannot be had.
func (s *stock) serve(t grid.Time, of *complex.Selection, most int, onlyAR bool) (units, short int) {
	var f flow
	wants := []int{}
	for _, k := range s.plans {
		if t < k.Window.Start || t >= k.Window.End || onlyAR && k.AR == 0 {
			continue
		}
		f.selections, wants = append(f.selections, k.Of), append(wants, max(k.Units-s.heldOf(k.AR, t), 0))
	}
	f.selections = append(f.selections, of)
	f.fill(s.m, s.leftAt(t))
	for i, want := range wants {
		short += want - f.push(i, want)
	}
	return f.push(len(wants), most), short
}

// heldOf is how many instances the jobs of an advance reservation have at a time: so many less of what
// it reserves are to be found.
func (s *stock) heldOf(ar uint32, t grid.Time) (n int) {
	if ar == 0 {
		return 0
	}
	for i := range s.held {
		if h := &s.held[i]; h.ar == ar && s.lasts(h, t) {
			n++
		}
	}
	return n
}

// freeOf returns how often an instance is free now, 0 when a selection does not have it.
func (s *stock) freeOf(of *complex.Selection) func(at int) int {
	var left []int
	return func(at int) int {
		if left == nil {
			left = s.leftAt(s.clock.Now)
		}
		if !of.Has(&s.m[at]) {
			return 0
		}
		return left[at]
	}
}

// choose takes instances of a selection for a task that starts: the first free ones in an order (see nearestFirst)
// with which all advance reservations get theirs. It returns those that it found.
func (s *stock) choose(of *complex.Selection, units int, w grid.Window, ar uint32, order []int) (chosen []int) {
	left := s.leftAt(s.clock.Now)
	var reserved []promise
	if slices.ContainsFunc(s.plans, func(k *ledger.Claim) bool { return k.AR != 0 && k.AR != ar }) {
		reserved = s.promises(w, true)
	}
	for k := 0; k < len(s.m) && len(chosen) < units; k++ {
		i := inOrder(order, k)
		if !of.Has(&s.m[i]) {
			continue
		}
		for ; left[i] > 0 && len(chosen) < units; left[i]-- {
			s.held = append(s.held, holding{i, w.End, ar})
			if !s.kept(reserved, true) {
				s.held = s.held[:len(s.held)-1]
				break
			}
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// forNow returns how many instances, at most so many, can be taken for a start now such that all that
// is planned stays possible, and whether plans are why there are no more. The order is that in which so many are taken.
func (s *stock) forNow(
	of *complex.Selection, most int, w grid.Window, ar uint32, order func(units int) []int,
) (units int, planned bool) {
	if len(s.plans) == 0 {
		left := s.leftAt(s.clock.Now)
		for i := range s.m {
			if left[i] > 0 && of.Has(&s.m[i]) {
				units += left[i]
			}
		}
		return min(units, most), false
	}
	before := len(s.held)
	var plans []promise
	if slices.ContainsFunc(s.plans, func(k *ledger.Claim) bool { return k.AR == 0 }) {
		plans = s.promises(w, false)
	}
	nearest := order(most)
	units = len(s.choose(of, most, w, ar, nearest))
	for units > 0 && !s.kept(plans, false) {
		units--
		s.held = s.held[:before+units]
		if nearest != nil { // so many are others
			s.held = s.held[:before]
			nearest = order(units)
			units = len(s.choose(of, units, w, ar, nearest))
		}
	}
	s.held = s.held[:before]
	return units, true
}

// forLater returns how many instances, at most so many, are left in a later window beside all that is
// planned.
func (s *stock) forLater(of *complex.Selection, most int, w grid.Window) int {
	for _, p := range s.promises(w, false) {
		units, _ := s.serve(p.at, of, most, false)
		if most = min(most, units); most == 0 {
			return 0
		}
	}
	return most
}

// selects reports whether a level's instances decide on a need, not their number alone.
func (c *search) selects(l *level, n *Need) bool {
	return l.Place != "" && (n.selections != nil || n.maps && c.whole().ledger.Selective())
}

// selected returns how many instances a level can give to a demand of a need in a window: as many as
// are free when only their number decides.
func (c *search) selected(l *level, n *Need, demand int, w grid.Window) float64 {
	d, top := &n.demands[demand], c.whole()
	if top.site.Attr(d.Column).Type != grid.TypeMap {
		return complex.Unlimited
	}
	key := top.ledger.MapAt(d.Column, l.Place)
	of := n.selectionAt(demand)
	if of == nil && !top.ledger.SelectiveOn(key) {
		return complex.Unlimited
	}
	s := top.stock(key)
	if w.Start > c.span.Now {
		return float64(s.forLater(of, s.m.Amount(), w))
	}
	order := func(units int) []int {
		slots := 1
		if !d.PerHost && d.Amount > 0 {
			slots = int(float64(units) / d.Amount)
		}
		return top.nearestFirst(n.Job, uint32(slots), key, nil, units, s.freeOf(of))
	}
	most := s.m.Amount()
	if n.Job.PE == "" {
		most = min(most, int(d.Master)) // no more are taken
	}
	units, planned := s.forNow(of, most, w, n.Job.AR, order)
	c.span.Hit = c.span.Hit || planned
	return float64(units)
}

// selectedOf is selected for the demand of an attribute in the window that is looked at, and its
// selection.
func (c *search) selectedOf(l *level, n *Need, attr int) (left float64, with *complex.Selection) {
	i := slices.IndexFunc(n.demands, func(d complex.Demand) bool { return c.site.Complex.Consumables[d.Column] == attr })
	if i < 0 || !c.selects(l, n) {
		return complex.Unlimited, nil
	}
	return c.selected(l, n, i, c.span.Window), n.selectionAt(i)
}

// whole is the cluster that an advance reservation is a part of.
func (c *search) whole() *Cluster {
	if c.of != nil {
		return c.of
	}
	return c.Cluster
}

// waitSelected is the earliest time, from a time on, at which a level can give so many slots to a need
// as far as the instances of its resource maps decide.
func (c *search) waitSelected(l *level, n *Need, slots int, master bool, from grid.Time) grid.Time {
	for i := range n.demands {
		d := &n.demands[i]
		if !d.Takes() || l.Supply.Capacity[d.Column] == complex.Unlimited {
			continue
		}
		for c.selected(l, n, i, grid.Window{Start: from, End: c.end(from, n)})+complex.Tiny < takenBy(d, slots, master) {
			if from = c.nextOf(l, d.Column, from); from == grid.Never {
				return grid.Never
			}
		}
	}
	return from
}

// nextOf is the next time at which an instance of a map may be given back.
func (c *search) nextOf(l *level, column int, t grid.Time) grid.Time {
	top, next := c.whole(), grid.Never
	note := func(at grid.Time) {
		if at > t {
			next = min(next, at)
		}
	}
	s := top.stock(top.ledger.MapAt(column, l.Place))
	for i := range s.held {
		if end := s.held[i].end; end > s.clock.Now {
			note(end)
		} else {
			note(s.clock.Late)
		}
	}
	for _, k := range s.plans {
		note(k.Window.End)
	}
	return next
}
