package sched

import (
	"math"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/topology"
)

// level is one of the places whose resources a job uses: the cluster, a host
// or a queue instance.
type level struct {
	supply *complex.Supply
	used   []float64
	plans  []*diagram
	guests []float64      // what tasks of advance reservations take, nil: nothing
	now    *hostNow       // of a host: its load counts too
	factor float64        // load adjustment
	whole  *level         // of an advance reservation: what it is a part of
	sick   []sick         // instances of its resource maps that are not in service
	place  string         // where they are
	tree   *topology.Host // of a host, nil: not known
	cores  *hostNow       // of which it is known which threads are in use; nil: only how many are
}

func (c *Cluster) atGlobal() level {
	l := level{supply: &c.layout.global, used: c.usedGlobal, plans: c.planned.global, guests: c.guests.global, sick: c.layout.sick, place: grid.GlobalHost}
	if c.of != nil {
		l.whole = c.of.atGlobal().around()
	}
	return l
}

func (c *Cluster) atHost(h *host, n *hostNow) level {
	l := level{supply: &h.supply, used: n.row(0), plans: n.diagrams(0), guests: n.guestsOf(0), now: n, sick: h.sick, place: h.name, tree: h.tree}
	if c.ar == nil {
		l.cores = n
	}
	if len(n.starts) > 0 && !c.ahead() {
		l.factor = c.factor(n)
	}
	if c.of != nil {
		i := c.of.hostAt[h.name]
		l.whole = c.of.atHost(c.of.hosts[i], c.of.nows.get(i)).around()
		l.whole.whole = c.of.sharedAt(c.of.hosts[i])
	}
	return l
}

func (c *Cluster) atInstance(in *instance, n *hostNow) level {
	l := level{supply: &in.supply, used: n.row(in.place), plans: n.diagrams(in.place), guests: n.guestsOf(in.place)}
	if c.of != nil {
		in = c.of.instances[c.of.instAt[in.name]]
		l.whole = c.of.atInstance(in, c.of.nows.get(in.host.index)).around()
	}
	return l
}

// slots returns how many slots of a need the level can give for the whole of the
// window, whether the master task can be here (what is taken
// once, JOB, must fit too), and which attribute is the narrowest. This is the
// one test on which placing, reserving, verifying and explaining rest.
func (c *Cluster) slots(l level, n *Need) (slots int, master bool, narrow int) {
	free := complex.Unlimited
	master, narrow = true, -1
	selects := c.selects(&l, n)
	for i := range n.demands {
		d := &n.demands[i]
		cap := l.supply.Capacity[d.Column]
		if cap == complex.Unlimited {
			continue
		}
		attr := c.complex.Consumables[d.Column]
		if d.Exclusive {
			if d.Amount > 0 && c.inUse(&l, 0) > 0 {
				return 0, false, attr
			}
			continue
		}
		if d.Binding != nil {
			if s := c.unitSlots(&l, n, d); s < free {
				free, narrow = s, attr
			}
			continue
		}
		left := c.corrected(&l, d.Column, c.ahead()) - c.inUse(&l, d.Column)
		if selects && left+tiny >= d.Amount {
			left = min(left, c.selected(&l, n, i, c.planned.window))
		}
		switch {
		case d.Amount <= 0:
		case d.PerHost:
			if left+tiny < d.Amount {
				free, narrow = 0, attr
			}
		case d.PerJob:
			if left+tiny < d.Amount {
				master, narrow = false, attr
			}
		default:
			if s := math.Floor(left/d.Amount + tiny); s < free {
				free, narrow = s, attr
			}
		}
	}
	if attr := c.exclusiveInUse(&l); attr >= 0 {
		return 0, false, attr
	}
	if l.now != nil {
		if s, attr := c.loadSlots(&l, n); s < free {
			free, narrow = s, attr
		}
	}
	if l.whole != nil && !c.ahead() {
		s, m, attr := c.slots(*l.whole, n)
		if float64(s) < free || master && !m {
			narrow = attr
		}
		free, master = min(free, float64(s)), master && m
	}
	return int(min(max(free, 0), math.MaxInt32)), master && free >= 1, narrow
}

// corrected is the capacity of a consumable at a level, less if the load says
// that less is left than was booked: capacity correction of Grid Engine. ahead: at a
// later time than now.
func (c *Cluster) corrected(l *level, booked int, ahead bool) float64 {
	cap := l.supply.Capacity[booked] - c.outOfService(l, booked, ahead)
	if l.now != nil && booked != 0 {
		if v, ok := c.loadOf(l.now, l.factor, c.complex.Consumables[booked]); ok {
			cap = min(cap, l.used[booked]+v)
		}
	}
	return cap
}

// tiny forgives what fractions lose in binary: 0.3 holds three times 0.1.
const tiny = 1e-9

// exclusiveInUse returns the exclusive attribute that a task holds here already,
// -1 when none does.
func (c *Cluster) exclusiveInUse(l *level) int {
	for _, place := range c.complex.Exclusives {
		if l.supply.Capacity[place] < complex.Unlimited && c.inUse(l, place) > 0 {
			return c.complex.Consumables[place]
		}
	}
	return -1
}

// loadSlots holds the requests against load values. An ordered amount is
// needed by each slot: 6G free memory hold three slots of 2G.
func (c *Cluster) loadSlots(l *level, n *Need) (slots float64, narrow int) {
	slots, narrow = complex.Unlimited, -1
	for i := range n.conditions {
		k := &n.conditions[i]
		if _, configured := l.supply.Fixed[k.Attr]; configured {
			if a := &c.complex.List[k.Attr]; !a.Ordered() || !a.Numeric {
				continue // for == and != the configured value counts
			}
		}
		s := c.askSlots(l, k)
		if s < slots {
			slots, narrow = s, k.Attr
		}
	}
	return slots, narrow
}

func (c *Cluster) askSlots(l *level, k *complex.Condition) float64 {
	a := &c.complex.List[k.Attr]
	if !a.Numeric {
		if v, ok := l.now.load.text(a.Name); ok && !a.Matches(k.Expr, v) {
			return 0
		}
		return complex.Unlimited
	}
	v, ok := c.loadOf(l.now, l.factor, k.Attr)
	switch {
	case !ok:
		return complex.Unlimited
	case !a.Compare(k.Number, v):
		return 0
	case a.Relop == "<=" && k.Number > 0:
		return math.Floor(v/k.Number + tiny)
	}
	return complex.Unlimited
}

// unknownAttr returns the index of a requested attribute that is neither
// configured nor reported at the cluster, the host or the instance, -1 when all
// are known.
func (c *Cluster) unknownAttr(n *Need, in *instance, now *hostNow) int {
	for i := range n.conditions {
		if !c.known(n.conditions[i].Attr, in, now) {
			return n.conditions[i].Attr
		}
	}
	for i := range n.demands {
		d := &n.demands[i]
		if d.Requested && in.supply.Capacity[d.Column] == complex.Unlimited &&
			in.host.supply.Capacity[d.Column] == complex.Unlimited && c.layout.global.Capacity[d.Column] == complex.Unlimited && c.layout.global.Maps[d.Column] == nil {
			attr := c.complex.Consumables[d.Column]
			if !c.known(attr, in, now) {
				return attr
			}
		}
	}
	return -1
}

func (c *Cluster) known(attr int, in *instance, now *hostNow) bool {
	for _, s := range [...]*complex.Supply{&in.supply, &in.host.supply, &c.layout.global} {
		if _, ok := s.Fixed[attr]; ok {
			return true
		}
	}
	a := &c.complex.List[attr]
	if a.Numeric {
		_, ok := c.loadOf(now, 0, attr)
		return ok
	}
	if _, ok := now.load.text(a.Name); ok {
		return true
	}
	_, ok := c.world.text(a.Name)
	return ok
}

// alarmSlots returns how many slots may start in an instance before a load
// threshold is reached: the next one and as many as the adjustment leaves.
func (c *Cluster) alarmSlots(in *instance, now *hostNow, factor float64) int {
	slots := math.MaxInt32
	for i := range in.loadThresholds {
		t := &in.loadThresholds[i]
		v, ok := c.thresholdValue(in, now, factor, t)
		if !ok || c.complex.List[t.Attr].Compare(v, t.Limit) {
			return 0
		}
		per := c.perSlot(now, t.Attr)
		if per <= 0 || c.complex.List[t.Attr].Column >= 0 {
			continue
		}
		room := t.Limit - v
		if !c.complex.List[t.Attr].IsLoad() {
			room = -room
		}
		slots = min(slots, int(math.Floor(room/per+tiny))+1)
	}
	return slots
}

// instanceSlots returns what an instance and its host can give a need now.
func (c *Cluster) instanceSlots(n *Need, in *instance) (slots int, master bool) {
	if c.closedByCalendar(in) {
		c.planned.hit = true
		return 0, false
	}
	now := c.nows.get(in.host.index)
	slots, master, _ = c.slots(c.atInstance(in, now), n)
	if slots == 0 {
		return 0, false
	}
	s, m, _ := c.slots(c.atHost(in.host, now), n)
	if s == 0 || c.unknownAttr(n, in, now) >= 0 {
		return 0, false
	}
	left, free, _ := c.quotaSlots(n, "", in, nil)
	return min(slots, s, left, c.preemptedSlots(in, now)), master && m && free
}

// stateReason returns why the states of an instance allow no jobs in it, load alarm
// not included; the zero Reason when they do.
func (c *Cluster) stateReason(in *instance) Reason {
	now := c.nows.get(in.host.index)
	s := in.states(now)
	switch {
	case now.load == nil || now.load.Unheard || s&(grid.QueueError|grid.QueueAmbiguous|grid.QueueOrphaned) != 0:
		return Reason{Code: QueueUnavailable, Object: in.name}
	case s&grid.QueueSuspendedAny != 0, c.overruled(in, now), c.preemptedSlots(in, now) == 0:
		return Reason{Code: QueueSuspended, Object: in.name}
	case s&(grid.QueueDisabled|grid.QueueCalDisabled) != 0:
		return Reason{Code: QueueDisabled, Object: in.name}
	}
	return Reason{}
}
