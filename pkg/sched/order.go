package sched

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/ordered"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// rank is an instance's place in the order in which queues are filled: by the
// load of the host and then seq_no, or the other way round.
type rank struct {
	first, second float64
	inst          int32
	full          bool  // can take nothing now
	gives         uint8 // of which resource maps its host may have instances left, see mapOrder
}

func (r rank) before(o rank) bool {
	if r.first != o.first {
		return r.first < o.first
	}
	if r.second != o.second {
		return r.second < o.second
	}
	return r.inst < o.inst
}

func (r rank) compare(o rank) int {
	switch {
	case r.before(o):
		return -1
	case o.before(r):
		return +1
	}
	return 0
}

// closed are the states but for load in which an instance takes no jobs.
const closed = grid.QueueDisabled | grid.QueueSuspended | grid.QueueError | grid.QueueSuspendedSubordinate |
	grid.QueueCalDisabled | grid.QueueCalSuspended | grid.QueueAmbiguous | grid.QueueOrphaned

// byCalendar are those that end by themselves: until then the instance is full.
const byCalendar = grid.QueueCalDisabled | grid.QueueCalSuspended

// reorder puts the instances of a host where they belong: out of the order
// when they can take nothing, else at the rank that their load gives them.
// Where diagrams are kept, those that can take something later stand among
// the full ones. It reports whether one can take something that could not.
func (c *Cluster) reorder(host int) (opened bool) {
	h, n, use := c.site.Hosts[host], c.nows.At(host), c.ledger.At(host)
	full := use.Used(0, 0) >= h.Supply.Capacity[0]
	open := n.load != nil && !n.load.Unheard && (c.site.Planning || !full)
	load, gives, weighed := 0.0, uint8(0), false
	for k, in := range h.Instances {
		r := rank{inst: -1}
		full := full || use.Used(in.Place, 0) >= in.Supply.Capacity[0] || n.states[k]&byCalendar != 0
		if open && n.statesOf(in)&closed&^byCalendar == 0 && !overruled(in, use) &&
			c.preemptedSlots(in) > 0 && (c.site.Planning || !full) && c.alarm(in, n).of == nil {
			if !weighed {
				load, gives, weighed = c.hostRank(h, n), c.mapsLeft(h), true
			}
			r = rank{load, float64(in.SeqNo), int32(in.Index), full, 0}
			if !full {
				r.gives = gives
			}
			if c.site.Policy.BySeqNo {
				r.first, r.second = r.second, r.first
			}
		}
		old := *c.ranks.At(in.Index)
		if r == old {
			continue
		}
		if old.inst >= 0 {
			c.line(old).Delete(old)
		}
		if r.inst >= 0 {
			opened = opened || old.inst < 0
			c.line(r).Set(r)
			if c.moves != nil && !r.full && (old.inst < 0 || old.full || r.before(old) || r.gives&^old.gives != 0) {
				c.moves = append(c.moves, r)
			}
		}
		c.reorderMaps(old, r)
		c.ranks.Set(in.Index, r)
	}
	return opened
}

// line is where an instance stands.
func (c *Cluster) line(r rank) ordered.Set[rank] {
	if r.full {
		return c.full.Own()
	}
	return c.order.Own()
}

// usable reports whether an instance can accept a job at some time of the window.
func (c *search) usable(r *rank) bool { return r.inst >= 0 && (!r.full || c.span.Ahead()) }

// reorderAround orders the instances of the hosts of grants anew, in the job's advance reservation as well.
func (c *Cluster) reorderAround(ar uint32, grants []grid.Grant) {
	if r := c.clusterOf(ar); r != c {
		r.reorderGrants(grants)
	}
	c.reorderGrants(grants)
}

func (c *Cluster) reorderGrants(grants []grid.Grant) {
	for _, g := range grants {
		if h, ok := c.site.HostAt[g.Host]; ok {
			c.reorder(h)
		}
	}
}

// hostRank is the host's value of load_formula, with the adjustments for
// recent starts.
func (c *Cluster) hostRank(h *site.Host, n *hostNow) float64 {
	factor, use := c.adjustment(h.Index), c.ledger.At(h.Index)
	return c.site.Policy.Formula.Value(func(attr int) (float64, bool) {
		a := &c.site.Complex.List[attr]
		if a.Column >= 0 {
			if attr == 0 && h.Supply.Capacity[0] == complex.Unlimited {
				return freeSlots(h, use), true
			}
			if cap := h.Supply.Capacity[a.Column]; cap < complex.Unlimited {
				return cap - use.Used(0, a.Column), true
			}
		}
		if v, ok := h.Supply.Fixed[attr]; ok {
			return v.Number, true
		}
		return c.loadOf(n.load, factor, attr)
	})
}

func freeSlots(h *site.Host, use *ledger.Host) float64 {
	free := 0.0
	for _, in := range h.Instances {
		free += in.Supply.Capacity[0] - use.Used(in.Place, 0)
	}
	return free
}

// loadOf is a reported load value, the host's or else the cluster's, made
// worse by what the recent starts will bring.
func (c *Cluster) loadOf(load *site.Load, factor float64, attr int) (float64, bool) {
	v, ok := load.Number(attr)
	if !ok {
		v, ok = c.world.Number(attr)
	}
	if !ok || factor == 0 {
		return v, ok
	}
	amount := perSlot(c.site, load, attr) * factor
	if c.site.Complex.List[attr].IsLoad() {
		return v + amount, true
	}
	return v - amount, true
}

// perSlot is the load that one more slot brings to a host.
func perSlot(cfg *site.Layout, load *site.Load, attr int) float64 {
	amount, perCPU := cfg.Policy.AdjustmentFor(attr)
	if perCPU && load != nil && load.Processors > 1 {
		amount /= float64(load.Processors)
	}
	return amount
}

// alarm is a threshold that is reached, with the load adjustment that counted.
type alarm struct {
	of     *complex.Threshold // nil: there is none
	factor float64
	code   reason.Code
}

// alarm is what keeps jobs away from an instance: one of its suspend
// thresholds as load is, or of its load thresholds as load will be.
func (c *Cluster) alarm(in *site.Instance, n *hostNow) alarm {
	if a := c.suspendAlarm(in, n); a.of != nil {
		return a
	}
	factor := c.adjustment(in.Host.Index)
	return alarm{c.reached(in, n, factor, in.LoadThresholds), factor, reason.QueueAlarm}
}

func (c *Cluster) suspendAlarm(in *site.Instance, n *hostNow) alarm {
	return alarm{c.reached(in, n, 0, in.SuspendThresholds), 0, reason.QueueSuspendAlarm}
}

// reached is the first threshold that is reached, nil if none is. An attribute
// without a value is an alarm.
func (c *Cluster) reached(
	in *site.Instance, n *hostNow, factor float64, thresholds []complex.Threshold,
) *complex.Threshold {
	for i := range thresholds {
		t := &thresholds[i]
		v, ok := c.thresholdValue(in, n, factor, t)
		if !ok || c.site.Complex.List[t.Attr].Compare(v, t.Limit) {
			return t
		}
	}
	return nil
}

// thresholdValue is what a threshold is held against: what remains of a
// consumable, the load, or a configured value.
func (c *Cluster) thresholdValue(in *site.Instance, n *hostNow, factor float64, t *complex.Threshold) (float64, bool) {
	v, _, _, ok := c.thresholdAt(in, n, factor, t)
	return v, ok
}

// thresholdAt is thresholdValue with the level that has the value, and its source.
func (c *Cluster) thresholdAt(
	in *site.Instance, n *hostNow, factor float64, t *complex.Threshold,
) (v float64, level, from byte, ok bool) {
	if t.Attr < 0 {
		return 0, 0, 0, false
	}
	if b := c.site.Complex.List[t.Attr].Column; b >= 0 {
		use := c.ledger.At(in.Host.Index)
		switch capacity := c.site.Global.Capacity[b]; {
		case in.Supply.Capacity[b] < complex.Unlimited:
			return in.Supply.Capacity[b] - use.Used(in.Place, b), LevelQueue, SourceConsumable, true
		case in.Host.Supply.Capacity[b] < complex.Unlimited:
			return in.Host.Supply.Capacity[b] - use.Used(0, b), LevelHost, SourceConsumable, true
		case capacity < complex.Unlimited:
			all := c.ledger.Global()
			return capacity - all.Used(b), LevelGlobal, SourceConsumable, true
		}
	}
	if v, ok := c.loadOf(n.load, factor, t.Attr); ok {
		return v, LevelHost, SourceLoad, true
	}
	for _, l := range [...]struct {
		level byte
		of    *complex.Supply
	}{{LevelQueue, &in.Supply}, {LevelHost, &in.Host.Supply}, {LevelGlobal, &c.site.Global}} {
		if v, ok := l.of.Fixed[t.Attr]; ok {
			return v.Number, l.level, SourceConfigured, true
		}
	}
	return 0, 0, 0, false
}
