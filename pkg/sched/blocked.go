package sched

import "github.com/quill-grid/quill/pkg/complex"

// What did not fit anywhere does not fit later either, until something gets
// better. The Cluster notes which hosts did since (tasks ended, load or states
// changed), and a Need that found no place tries just these: a run costs what
// changed, not how many categories wait times how many hosts there are.

// gains is what got better since the epoch began.
type gains struct {
	epoch *byte // everything may have got better: nothing noted before holds
	hosts []int // by host index, as it happened
	base  int   // of a run: how many had come when it began
	faded []int // of a run: hosts whose load adjustments have faded
	spent bool  // of a run: something was booked, so a failure may be its doing
}

// blockade is what a Need remembers of having found no place.
type blockade struct {
	epoch *byte
	at    int // how many gains had been seen
	why   Reason
}

// mostGains bounds the hosts that are tried one by one; if more got better,
// the usual search is as good.
const mostGains = 64

// gained is what got better where a need is placed. An advance reservation has
// no notes of its own: its jobs may wait for any other's end.
func (c *Cluster) gained() *gains {
	if c.of != nil {
		return &c.of.gains
	}
	return &c.gains
}

// gain notes that a host may take what it could not.
func (c *Cluster) gain(host int) {
	if c.of != nil {
		return
	}
	if len(c.gains.hosts) > 4*len(c.hosts)+1024 {
		c.gainAll()
		return
	}
	c.gains.hosts = append(c.gains.hosts, host)
}

// gainAll notes that everything may have got better.
func (c *Cluster) gainAll() { c.gains = gains{epoch: new(byte)} }

// gainGrants notes that a task has given back what it held.
func (c *Cluster) gainGrants(b booking) {
	if c.sharesQuota(b.spec, b.run.Grants, b.run.PE) {
		c.gainAll()
		return
	}
	for _, d := range c.buffer {
		if c.layout.global.Capacity[d.Column] < complex.Unlimited {
			c.gainAll()
			return
		}
	}
	for _, g := range b.run.Grants {
		if h, ok := c.hostAt[g.Host]; ok {
			c.gain(h)
		} else {
			c.gainAll()
			return
		}
	}
}

// blocked says whether a need that found no place before still has none.
func (c *Cluster) blocked(n *Need) bool {
	b, g := &n.blockade, c.gained()
	if b.epoch == nil || b.epoch != g.epoch || b.at > g.base {
		return false
	}
	news := g.hosts[b.at:g.base]
	if count := len(news) + len(g.faded); count > mostGains || count > 0 && (n.Job.PE != "" || c.of != nil) {
		return false
	}
	for _, hosts := range [...][]int{news, g.faded} {
		for _, h := range hosts {
			if c.fitsOn(n, h) {
				return false
			}
		}
	}
	if !g.spent {
		b.at = g.base
	}
	return true
}

func (c *Cluster) fitsOn(n *Need, host int) bool {
	now := c.nows.get(host)
	for k, in := range c.hosts[host].instances {
		if !c.standing(now.ranks[k]) || !c.suits(n, in) {
			continue
		}
		if slots, master := c.here(n, in); slots > 0 && master {
			return true
		}
	}
	return false
}

// block remembers that a need has found no place, unless this run's own
// bookings may be why: they are wishes still. Nor what is planned: it may be
// planned otherwise in the next run.
func (c *Cluster) block(n *Need, why Reason) {
	if g := c.gained(); !g.spent && !c.planned.hit && c.moves != nil {
		n.blockade = blockade{g.epoch, g.base, why}
	}
}
