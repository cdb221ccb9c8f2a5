package sched

import (
	"math"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// level is one of the places whose resources a job uses: the cluster, a host
// or a queue instance.
type level struct {
	ledger.Level
	isHost bool       // its load counts too
	load   *site.Load // nil: never reported
	factor float64    // load adjustment
	whole  *level     // of an advance reservation: what it is a part of
}

func (c *search) atGlobal() level {
	l := level{Level: c.ledger.Global()}
	if c.of != nil {
		l.whole = c.of.find.atGlobal().around()
	}
	return l
}

func (c *search) atHost(h *site.Host) (l level) {
	l.SetHost(c.ledger, h)
	l.isHost, l.load = true, c.nows.At(h.Index).load
	if !c.span.Ahead() {
		l.factor = c.adjustment(h.Index)
	}
	if c.of != nil {
		outside := c.of.site.Hosts[c.of.site.HostAt[h.Name]]
		l.whole = c.of.find.atHost(outside).around()
		l.whole.whole = c.of.find.sharedAt(outside)
	}
	return l
}

func (c *search) atInstance(in *site.Instance) (l level) {
	l.SetInstance(c.ledger, in)
	if c.of != nil {
		l.whole = c.of.find.atInstance(c.of.site.Instances[c.of.site.InstAt[in.Name]]).around()
	}
	return l
}

// around is a level of the cluster as the reservation's jobs find it: with all
// that stand there, whatever is planned.
func (l level) around() *level {
	l.Level, l.isHost = l.Present(), false
	return &l
}

// room is how many slots of a need can be given somewhere. The slot of the master task may take other things than the
// others: more, as of a consumable JOB, or less.
type room struct {
	slots int // without the master task
	lead  int // with it, its slot included; 0: it cannot be here
}

// within returns what both rooms have.
func (r room) within(o room) room { return room{min(r.slots, o.slots), min(r.lead, o.lead)} }

// any reports whether one slot can be given to a need, that of a job without tasks or of any task.
func (r room) any(n *Need) bool { return r.lead > 0 || r.slots > 0 && n.Job.PE != "" }

// holds reports whether there is room for so many slots, the master's among them or not.
func (r room) holds(slots int, master bool) bool {
	if master {
		return r.lead >= slots
	}
	return r.slots >= slots
}

// slots returns the room that the level can give to a need for the whole of the
// window, and which attribute is the narrowest. This is the
// one test on which placing, reserving, verifying and explaining rest.
func (c *search) slots(l level, n *Need) (r room, narrow int) {
	free, lead := complex.Unlimited, complex.Unlimited
	narrow = -1
	selects := c.selects(&l, n)
	for i := range n.demands {
		d := &n.demands[i]
		cap := l.Supply.Capacity[d.Column]
		if cap == complex.Unlimited {
			continue
		}
		attr := c.site.Complex.Consumables[d.Column]
		if d.Exclusive {
			if d.Amount > 0 && l.InUse(0, &c.span) > 0 {
				return room{}, attr
			}
			continue
		}
		if d.Binding != nil {
			s := c.unitSlots(&l, n, d)
			if s < free {
				narrow = attr
			}
			free, lead = min(free, s), min(lead, s)
			continue
		}
		if !d.Takes() {
			continue
		}
		left := c.corrected(&l, d.Column, c.span.Ahead()) - l.InUse(d.Column, &c.span)
		if selects && left+complex.Tiny >= d.Least() {
			left = min(left, c.selected(&l, n, i, c.span.Window))
		}
		s, m := roomFor(d, left)
		if s < free || m < 1 && (d.PerHost || !d.Same()) {
			narrow = attr
		}
		free, lead = min(free, s), min(lead, m)
	}
	if attr := c.exclusiveInUse(&l); attr >= 0 {
		return room{}, attr
	}
	if l.isHost {
		s, m, attr := c.loadSlots(&l, n)
		if s < free || m < 1 && lead >= 1 {
			narrow = attr
		}
		free, lead = min(free, s), min(lead, m)
	}
	r = room{int(min(max(free, 0), math.MaxInt32)), int(min(max(lead, 0), math.MaxInt32))}
	if l.whole != nil && !c.span.Ahead() {
		w, attr := c.slots(*l.whole, n)
		if w.slots < r.slots || w.lead < 1 && r.lead >= 1 {
			narrow = attr
		}
		r = r.within(w)
	}
	return r, narrow
}

// roomFor returns how many slots get what they take of a demand from an amount, without the master task and with it.
func roomFor(d *complex.Demand, left float64) (slots, lead float64) {
	slots, lead = complex.Unlimited, complex.Unlimited
	switch {
	case d.PerHost:
		if left+complex.Tiny < d.Amount {
			slots, lead = 0, 0
		}
		return slots, lead
	case d.Amount > 0:
		slots = math.Floor(left/d.Amount + complex.Tiny)
	}
	switch {
	case d.Same():
		lead = slots
	case left+complex.Tiny < d.Master:
		lead = 0
	case d.Amount > 0:
		lead = 1 + math.Floor((left-d.Master)/d.Amount+complex.Tiny)
	}
	return slots, lead
}

// corrected is the capacity of a consumable at a level, less if the load says
// that less is left than was booked: capacity correction of Grid Engine. ahead: at a
// later time than now.
func (c *search) corrected(l *level, booked int, ahead bool) float64 {
	cap := l.Supply.Capacity[booked] - c.outOfService(l, booked, ahead)
	if l.isHost && booked != 0 {
		if v, ok := c.loadOf(l.load, l.factor, c.site.Complex.Consumables[booked]); ok {
			cap = min(cap, l.Used(booked)+v)
		}
	}
	return cap
}

// exclusiveInUse returns the exclusive attribute that a task holds here already,
// -1 when none does.
func (c *search) exclusiveInUse(l *level) int {
	for _, place := range c.site.Complex.Exclusives {
		if l.Supply.Capacity[place] < complex.Unlimited && l.InUse(place, &c.span) > 0 {
			return c.site.Complex.Consumables[place]
		}
	}
	return -1
}

// loadSlots holds the requests against load values, without the master task and with it. An ordered amount is
// needed by each slot: 6G free memory hold three slots of 2G.
func (c *search) loadSlots(l *level, n *Need) (slots, lead float64, narrow int) {
	slots, lead, narrow = complex.Unlimited, complex.Unlimited, -1
	for i := range n.conditions {
		k := &n.conditions[i]
		if _, configured := l.Supply.Fixed[k.Attr]; configured {
			if a := &c.site.Complex.List[k.Attr]; !a.Ordered() || !a.Numeric {
				continue // for == and != the configured value counts
			}
		}
		s := c.askSlots(l, k)
		switch {
		case k.Of == grid.SlaveTasks:
			lead = min(lead, s+1)
		case k.Of == grid.AllTasks:
			lead = min(lead, s)
		case s < 1:
			lead, narrow = 0, k.Attr
		}
		if s < slots && k.Of != grid.MasterTask {
			slots, narrow = s, k.Attr
		}
	}
	return slots, lead, narrow
}

func (c *search) askSlots(l *level, k *complex.Condition) float64 {
	a := &c.site.Complex.List[k.Attr]
	if !a.Numeric {
		if v, ok := l.load.Text(a.Name); ok && !a.Matches(k.Expr, v) {
			return 0
		}
		return complex.Unlimited
	}
	v, ok := c.loadOf(l.load, l.factor, k.Attr)
	switch {
	case !ok:
		return complex.Unlimited
	case !a.Compare(k.Number, v):
		return 0
	case a.Relop == "<=" && k.Number > 0:
		return math.Floor(v/k.Number + complex.Tiny)
	}
	return complex.Unlimited
}

// unknownAttr returns the index of an attribute that is requested in a scope and neither
// configured nor reported at the cluster, the host or the instance, -1 when all
// are known.
func (c *search) unknownAttr(n *Need, of grid.TaskScope, in *site.Instance, now *hostNow) int {
	for i := range n.conditions {
		if k := &n.conditions[i]; k.Of == of && !c.known(k.Attr, in, now) {
			return k.Attr
		}
	}
	for i := range n.demands {
		d := &n.demands[i]
		if d.Requested && d.AskedIn(of) && in.Supply.Capacity[d.Column] == complex.Unlimited &&
			in.Host.Supply.Capacity[d.Column] == complex.Unlimited && c.site.Global.Capacity[d.Column] == complex.Unlimited &&
			c.site.Global.Maps[d.Column] == nil {
			attr := c.site.Complex.Consumables[d.Column]
			if !c.known(attr, in, now) {
				return attr
			}
		}
	}
	return -1
}

func (c *search) known(attr int, in *site.Instance, now *hostNow) bool {
	for _, s := range [...]*complex.Supply{&in.Supply, &in.Host.Supply, &c.site.Global} {
		if _, ok := s.Fixed[attr]; ok {
			return true
		}
	}
	a := &c.site.Complex.List[attr]
	if a.Numeric {
		_, ok := c.loadOf(now.load, 0, attr)
		return ok
	}
	if _, ok := now.load.Text(a.Name); ok {
		return true
	}
	_, ok := c.world.Text(a.Name)
	return ok
}

// alarmSlots returns how many slots may start in an instance before a load
// threshold is reached: the next one and as many as the adjustment leaves.
func (c *Cluster) alarmSlots(in *site.Instance, now *hostNow, factor float64) int {
	slots := math.MaxInt32
	for i := range in.LoadThresholds {
		t := &in.LoadThresholds[i]
		v, ok := c.thresholdValue(in, now, factor, t)
		if !ok || c.site.Complex.List[t.Attr].Compare(v, t.Limit) {
			return 0
		}
		per := perSlot(c.site, now.load, t.Attr)
		if per <= 0 || c.site.Complex.List[t.Attr].Column >= 0 {
			continue
		}
		room := t.Limit - v
		if !c.site.Complex.List[t.Attr].IsLoad() {
			room = -room
		}
		slots = min(slots, int(math.Floor(room/per+complex.Tiny))+1)
	}
	return slots
}

// instanceSlots returns what an instance and its host can give a need now.
// It is asked for jobs without tasks, whose one slot is that of the master task.
func (c *search) instanceSlots(n *Need, in *site.Instance) (slots int) {
	if c.closedByCalendar(in) {
		c.span.Hit = true
		return 0
	}
	now := c.nows.At(in.Host.Index)
	r, _ := c.slots(c.atInstance(in), n)
	if r.lead == 0 {
		return 0
	}
	h, _ := c.slots(c.atHost(in.Host), n)
	if h.lead == 0 || c.unknownAttr(n, grid.AllTasks, in, now) >= 0 {
		return 0
	}
	q, _ := c.quotaSlots(n, "", in, nil)
	return min(r.lead, h.lead, q.lead, c.preemptedSlots(in))
}

// stateReason returns why the states of an instance allow no jobs in it, load alarm
// not included; the zero Reason when they do.
func (c *Cluster) stateReason(in *site.Instance) reason.Reason {
	now := c.nows.At(in.Host.Index)
	s := now.statesOf(in)
	switch {
	case now.load == nil || now.load.Unheard:
		return reason.Reason{Code: reason.HostUnheard, Object: in.Name}
	case s&grid.QueueError != 0:
		return reason.Reason{Code: reason.InstanceInError, Object: in.Name}
	case s&(grid.QueueAmbiguous|grid.QueueOrphaned) != 0:
		return reason.Reason{Code: reason.QueueUnavailable, Object: in.Name}
	case s&grid.QueueSuspendedAny != 0, overruled(in, c.ledger.At(in.Host.Index)), c.preemptedSlots(in) == 0:
		return reason.Reason{Code: reason.QueueSuspended, Object: in.Name}
	case s&(grid.QueueDisabled|grid.QueueCalDisabled) != 0:
		return reason.Reason{Code: reason.QueueDisabled, Object: in.Name}
	}
	return reason.Reason{}
}
