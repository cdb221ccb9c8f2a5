package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/ledger"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// A job that does not fit anywhere does not fit later either, until some host
// improves. The Cluster notes which hosts did (tasks ended, load or states
// changed), and a Need whose search failed tries just these: a run costs what
// changed, not the number of waiting categories times the number of hosts.

// improvement is a host that may accept what it could not before.
type improvement struct {
	host  int
	attrs site.AttrSet // of load values that have changed: only needs that read one of them may fit
}

// improvements are the hosts that improved since the epoch began.
type improvements struct {
	epoch    *byte         // replaced when everything may have improved: no earlier failure counts
	list     []improvement // as it happened
	dropped  int           // how many there were before those in the list
	base     int           // of a run: how many there were when it began
	wider    int           // how often a host came to accept more slots of a parallel job, as its load adjustment faded
	faded    []int         // of a run: hosts that improved since because load adjustments have faded
	widening int           // ... and how many came to accept more slots of a parallel job
	booked   bool          // of a run: something was booked, which may be why a search fails
}

// failure is what a Need stores of a search that found no placement.
type failure struct {
	epoch *byte
	at    int // how many improvements were known
	wider int // improvements.wider then
	why   reason.Reason
}

// maxImproved bounds the hosts that are tried one by one; when more improved,
// the usual search is as good.
const maxImproved = 64

// improvements returns those that count for the cluster. A cluster of an advance
// reservation has none of its own: its jobs may wait for the end of any other.
func (c *Cluster) improvements() *improvements {
	if c.of != nil {
		return &c.of.improved
	}
	return &c.improved
}

// noteImproved notes that a host may accept what it could not before.
func (c *Cluster) noteImproved(host int) { c.noteImprovement(improvement{host, site.AnyAttr}) }

func (c *Cluster) noteImprovement(i improvement) {
	if c.of != nil {
		return
	}
	g := &c.improved
	if len(g.list) > 4*len(c.site.Hosts)+1024 { // copies have the old list
		half := len(g.list) / 2
		g.list, g.dropped = slices.Clone(g.list[half:]), g.dropped+half
	}
	g.list = append(g.list, i)
}

// orderMatters reports whether a search for a parallel job may find a place, or none, because of the order of the
// hosts, which follows their load: under quotas it does not try every division of the slots.
func orderMatters(cfg *site.Layout) bool { return len(cfg.Quotas.Rules) > 0 }

// noteLoad notes a new load report of a host, of which mostAtOnce was most before. opened: an instance has left load
// alarm.
func (c *Cluster) noteLoad(host int, was *site.Load, most int, opened bool) {
	now := c.nows.At(host).load
	switch {
	case opened, was == nil, now == nil, was.Unheard != now.Unheard, was.Processors != now.Processors:
		c.noteImproved(host)
	default:
		if changed := changedAttrs(c.site, was, now); changed != 0 {
			c.noteImprovement(improvement{host, changed})
		}
	}
	if opened || orderMatters(c.site) || c.mostAtOnce(host) > most {
		c.improved.wider++
	}
}

// changedAttrs are the attributes of which two load reports have different values.
func changedAttrs(cfg *site.Layout, was, now *site.Load) (changed site.AttrSet) {
	for i := range cfg.Complex.List {
		a := &cfg.Complex.List[i]
		if a.Numeric {
			if w, n := was.Numbers[i], now.Numbers[i]; w != n && (w == w || n == n) {
				changed.Add(i)
			}
			continue
		}
		w, had := was.Text(a.Name)
		if n, has := now.Text(a.Name); w != n || had != has {
			changed.Add(i)
		}
	}
	return changed
}

// noteAllImproved notes that everything may have improved.
func (c *Cluster) noteAllImproved() { c.improved = improvements{epoch: new(byte)} }

// noteReleased notes that a task has released what it held.
func (c *Cluster) noteReleased(ch ledger.Change) {
	if ch.Anywhere {
		c.noteAllImproved()
		return
	}
	for _, g := range ch.Ended.Task.Grants {
		if h, ok := c.site.HostAt[g.Host]; ok {
			c.noteImproved(h)
		} else {
			c.noteAllImproved()
			return
		}
	}
}

// stillFails reports whether a need without a placement in an earlier search still
// has none.
func (c *search) stillFails(n *Need) bool {
	b, g := &n.failure, c.improvements()
	if b.epoch == nil || b.epoch != g.epoch || b.at > g.base || b.at < g.dropped {
		return false
	}
	hosts := append(c.better[:0], g.faded...)
	for _, i := range g.list[b.at-g.dropped : g.base-g.dropped] {
		if len(hosts) > maxImproved {
			break
		}
		if i.attrs&n.reads != 0 {
			hosts = append(hosts, i.host)
		}
	}
	c.better = hosts
	count := len(hosts)
	if count > maxImproved || count > 0 && c.of != nil || n.Job.PE != "" &&
		(count > 0 || g.widening > 0 || g.wider != b.wider) {
		return false
	}
	for _, h := range hosts {
		if c.fitsOn(n, h) {
			return false
		}
	}
	if !g.booked || count == 0 {
		b.at, b.wider = g.base, g.wider
	}
	return true
}

func (c *search) fitsOn(n *Need, host int) bool {
	for _, in := range c.site.Hosts[host].Instances {
		if !c.usable(c.ranks.At(in.Index)) || !c.suits(n, in) {
			continue
		}
		if c.instanceSlots(n, in) > 0 {
			return true
		}
	}
	return false
}

// noteFailure stores that a need has no placement, unless this run's own bookings
// may be why: qmaster can still refuse them. The same holds for plans, which the
// next run may change.
func (c *search) noteFailure(n *Need, why reason.Reason) {
	if g := c.improvements(); !g.booked && !c.span.Hit && c.moves != nil {
		n.failure = failure{g.epoch, g.base, g.wider, why}
	}
}
