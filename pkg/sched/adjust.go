package sched

import (
	"cmp"

	"github.com/quill-grid/quill/pkg/grid"
)

// Load adjustments: the load that a start will bring is not reported yet, so for load_adjustment_decay_time it is added
// to that of its host, less and less, sched_conf(5). A run looks again only at the hosts whose adjustment has changed
// since: the Cluster that follows the events lets them fade whenever it is copied, a copy when its run begins.

// start is slots that started at a time on a host and still adjust its load.
type start struct {
	at    grid.Time
	host  int
	slots int64
}

func (s start) before(o start) bool {
	return cmp.Or(cmp.Compare(s.at, o.at), cmp.Compare(s.host, o.host)) < 0
}

// adjusted is the load adjustment of a host.
type adjusted struct {
	slots  int64   // of the starts that count
	times  int64   // sum of when they were, for each slot
	factor float64 // for how many slots load is added, as it was last computed
}

// adjustment returns for how many slots load is added to that of a host.
func (c *Cluster) adjustment(host int) float64 {
	if c.adjusted == nil {
		return 0
	}
	return c.adjusted[host].factor
}

// adjust counts a start among those that still adjust the load of their hosts, until its task ends.
func (c *Cluster) adjust(grants []grid.Grant, at grid.Time, sign int64) {
	if len(c.site.Policy.Adjustments) == 0 || c.site.Policy.Decay == 0 || sign > 0 && c.faded(at) {
		return
	}
	if c.adjusted == nil {
		c.adjusted = make([]adjusted, len(c.site.Hosts))
	}
	for _, g := range grants {
		h, ok := c.site.HostAt[g.Host]
		if !ok {
			continue
		}
		now, counts := c.recent.Rows.Get(start{at: at, host: h})
		if !counts && sign < 0 {
			continue // it has faded
		}
		now = start{at, h, now.slots + sign*int64(g.Slots)}
		if now.slots == 0 {
			c.recent.Own().Delete(now)
		} else {
			c.recent.Own().Set(now)
		}
		c.adjusted[h].add(at, sign*int64(g.Slots))
		c.adjusted[h].factor = c.factor(&c.adjusted[h])
	}
}

func (a *adjusted) add(at grid.Time, slots int64) {
	a.slots += slots
	a.times += slots * int64(at)
}

// faded reports whether a start adjusts the load no more.
func (c *Cluster) faded(at grid.Time) bool { return int64(c.find.span.Now-at) >= c.site.Policy.Decay }

// factor is the load adjustment of a host: each start counts its slots, less and less until load_adjustment_decay_time
// has passed. It is computed in whole numbers, so that the order of the starts does not matter.
func (c *Cluster) factor(a *adjusted) float64 {
	left := a.times + a.slots*(c.site.Policy.Decay-int64(c.find.span.Now)) // of the decay time, for each slot
	if left <= 0 {
		return 0
	}
	return float64(min(left, a.slots*c.site.Policy.Decay)*100/c.site.Policy.Decay) / 100
}

// fade brings the load adjustments to the present. It returns the hosts that may accept what they could not before, and
// how many may accept more slots of a parallel job.
func (c *Cluster) fade() (improved []int, wider int) {
	for s, any := c.recent.Rows.Min(); any && c.faded(s.at); s, any = c.recent.Rows.Min() {
		c.recent.Own().Delete(s)
		c.adjusted[s.host].add(s.at, -s.slots)
	}
	for h := range c.adjusted {
		a := &c.adjusted[h]
		factor := c.factor(a)
		if factor == a.factor {
			continue
		}
		most := c.mostAtOnce(h)
		a.factor = factor
		opened := c.reorder(h)
		if opened || c.site.Policy.AdjustsRequests {
			improved = append(improved, h)
		}
		if opened || c.site.Policy.AdjustsRequests || orderMatters(c.site) || c.mostAtOnce(h) > most {
			wider++
		}
	}
	return improved, wider
}

// mostAtOnce is how many slots of a host may start at once before load thresholds are reached.
func (c *Cluster) mostAtOnce(host int) (slots int) {
	n := c.nows.At(host)
	for _, in := range c.site.Hosts[host].Instances {
		slots += min(c.alarmSlots(in, n, c.adjustment(host)), in.Slots)
	}
	return slots
}

// catchUp settles, and lets load adjustments fade: of a Cluster that follows events.
func (c *Cluster) catchUp() {
	c.settle()
	improved, wider := c.fade()
	c.improved.wider += wider
	for _, h := range improved {
		c.noteImproved(h)
	}
}

// Refresh sets the time of a run: load adjustments have faded since.
func (c *Cluster) Refresh(now grid.Time) {
	c.settle()
	c.find.span.Now = max(c.find.span.Now, now)
	g := &c.improved
	g.base, g.booked = g.dropped+len(g.list), false
	g.faded, g.widening = c.fade()
}
