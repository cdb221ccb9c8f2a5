package sched

import (
	"cmp"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Lack is something for want of which a queue instance cannot take a job.
type Lack struct {
	// Reason is why, in Grid Engine's words.
	Reason reason.Reason
	// Level and Object say where too little is left of a Resource, as in a Taking:
	// G global, H host, Q queue instance, L resource quota rule. Level 0: nothing is
	// short, but the job may not start there, or no job may.
	Level            byte
	Object, Resource string
	// Asked is what one slot of the job takes, or the value that it asks for, Left
	// what there is, and Of what there is in all of a consumable; as numbers and as
	// the resource's type prints them.
	Asked, Left, Of             float64
	AskedText, LeftText, OfText string
	// Instances are those of a resource map that has too few left, and With the characteristics that
	// are asked for.
	Instances []InstanceUse
	With      string

	bucket site.BucketKey // of level L
}

// Near is a queue instance and all that it lacks; nothing when the job fits
// there.
type Near struct {
	Instance string
	Lacks    []Lack
}

// Closest are the queue instances that come closest to taking a job of the need
// now, at most `most`, among all or those that are named: those that lack the fewest
// things first, of these the ones that are short of the smallest part. An instance that
// lacks nothing gives a slot to the same tests as Place; a parallel job may need more of them.
func (c *Cluster) Closest(n *Need, most int, among ...string) (near []Near) {
	if r, why, inside := c.inside(n); inside {
		if !why.Fits() {
			return []Near{{Lacks: []Lack{{Reason: why}}}}
		}
		return r.Closest(n, most, among...)
	}
	c.settle()
	c.find.setWindow(c.find.span.Now, n)
	far := map[string]float64{}
	instances := c.site.Instances
	if len(among) > 0 {
		instances = nil
		for _, name := range among {
			if i, known := c.site.InstAt[name]; known {
				instances = append(instances, c.site.Instances[i])
			}
		}
	}
	for _, in := range instances {
		m := Near{in.Name, c.find.lacks(n, in)}
		for _, l := range m.Lacks {
			far[in.Name] += l.distance()
		}
		near = append(near, m)
	}
	slices.SortStableFunc(near, func(a, b Near) int { return cmp.Compare(far[a.Instance], far[b.Instance]) })
	return near[:min(len(near), most)]
}

// distance counts a lack as 1 and the part that is short; what the configuration
// rules out is far away, and where there is not as much.
func (l Lack) distance() float64 {
	switch {
	case l.Reason.Code == reason.NotInHardQueueList, l.Resource == "hostname", l.Resource == "qname":
		return 100 // the job asks for other places: what these lack is the answer
	case l.Level == 0 && l.Reason.Passing():
		return 2
	case l.Level == 0, l.Of > 0 && l.Of < l.Asked:
		return 10
	case l.Asked <= 0:
		return 2
	}
	return 1 + min(math.Abs(l.Asked-l.Left)/l.Asked, 1)
}

// lacks are all reasons why an instance cannot give one slot to a need.
func (c *search) lacks(n *Need, in *site.Instance) (out []Lack) {
	note := func(r reason.Reason) {
		if !r.Fits() {
			out = append(out, Lack{Reason: r})
		}
	}
	note(c.impossible(n))
	note(c.stateReason(in))
	now := c.nows.At(in.Host.Index)
	if now.load == nil {
		return out // nothing is known of it
	}
	note(c.alarming(in, now))
	note(c.static(n, in))
	if c.closedByCalendar(in) {
		note(reason.Reason{Code: reason.QueueCloses, Object: in.Name})
	}
	if attr := c.unknownAttr(n, grid.AllTasks, in, now); attr >= 0 {
		a := &c.site.Complex.List[attr]
		missing := "no value of " + a.Name +
			" is configured in complex_values of the queue, its host or host \"global\", nor reported as load"
		if a.Column >= 0 {
			missing = "no capacity of " + a.Name + " is configured in complex_values of the queue, its host or host \"global\""
		}
		note(reason.Reason{Code: reason.NotAtQueue, Object: in.Name, What: requestText(n.Job), Offer: missing})
	}
	if slave, master, why := c.roles(n, in, now); !slave && !master {
		note(why)
	}
	out = c.short(out, n, c.atGlobal(), 'G', grid.GlobalHost)
	out = c.short(out, n, c.atHost(in.Host), 'H', in.Host.Name)
	out = c.short(out, n, c.atInstance(in), 'Q', in.Name)
	pe := ""
	if len(n.pes) > 0 {
		pe = c.site.PEs[n.pes[0]].Name
	}
	c.site.EachQuota(c.passing(n, pe), n.Job, pe, in, func(r *site.QuotaRule, key site.BucketKey) bool {
		l, before := c.atQuota(r, key, in), len(out)
		if r.Shared {
			out = c.short(out, n, l, 'G', grid.GlobalHost)
			return true
		}
		name := r.Set + "/" + r.Called + "/" + key.String()
		out = c.short(out, n, l, 'L', name)
		for i := range out[before:] {
			out[before+i].bucket = key
		}
		if len(out) == before {
			if s, _ := c.slots(l, n); !s.any(n) || !c.underFixed(l.Supply, n) {
				note(reason.Reason{Code: reason.OverQuota, Object: r.Set + "/" + r.Called, What: key.String()})
			}
		}
		return true
	})
	return out
}

// remaining returns how much a level has left of what a demand asks for, and of how much: in units of processor cores,
// whose name follows the number, or in the amount of the consumable, of which a selection may leave only a part.
func (c *search) remaining(l *level, n *Need, d *complex.Demand) (left, of float64, unit string) {
	if d.Binding != nil {
		return max(c.freeUnits(l, n, d), 0), float64(l.Tree.Units(site.UnitOf(d.Binding))), " " + d.Binding.Unit
	}
	some, _ := c.selectedOf(l, n, c.site.Complex.Consumables[d.Column])
	return min(c.corrected(l, d.Column, c.span.Ahead())-l.InUse(d.Column, &c.span), some), l.Supply.Capacity[d.Column], ""
}

// short adds what a level has too little of.
func (c *search) short(out []Lack, n *Need, l level, letter byte, object string) []Lack {
	if l.whole != nil {
		out = c.short(out, n, *l.whole, letter, object)
		l.whole = nil
	}
	if r, _ := c.slots(l, n); r.any(n) {
		return out
	}
	codes := map[byte]reason.Code{'G': reason.NotGlobally, 'H': reason.NotAtHost, 'Q': reason.NotAtQueue,
		'L': reason.OverQuota}
	before := len(out)
	note := func(attr int, asked, left, of float64, texts ...string) {
		why := reason.Reason{Code: codes[letter], Object: object, What: requestText(n.Job)}
		if letter != 'L' {
			why = c.offersOnly(codes[letter], object, string(letter+'a'-'A'), l, n, attr)
		}
		lack := Lack{why, letter, object, c.site.Complex.List[attr].Name, asked, left, of, texts[0], texts[1],
			texts[2], nil, "", site.BucketKey{}}
		if c.site.Complex.List[attr].Type == grid.TypeMap {
			_, with := c.selectedOf(&l, n, attr)
			if lack.Instances = c.whole().InstanceUses(lack.Resource, object, with); with != nil {
				lack.With = with.String()
			}
		}
		out = append(out, lack)
	}
	for i := range n.demands {
		d := &n.demands[i]
		if l.Supply.Capacity[d.Column] == complex.Unlimited || !d.Takes() {
			continue
		}
		attr := c.site.Complex.Consumables[d.Column]
		a := &c.site.Complex.List[attr]
		left, of, unit := c.remaining(&l, n, d)
		switch {
		case d.Exclusive:
			if taken := l.InUse(0, &c.span); taken > 0 {
				note(attr, 1, 0, 0, "alone", "in use", "")
			}
		case left+complex.Tiny < d.Least():
			note(attr, d.Least(), left, of, a.Format(d.Least())+unit, a.Format(left), a.Format(of))
		}
	}
	if attr := c.exclusiveInUse(&l); attr >= 0 && len(out) == before {
		note(attr, 1, 0, 0, "a place beside others", "in use by one that wants to be alone", "")
	}
	if !l.isHost {
		return out
	}
	for i := range n.conditions {
		k := &n.conditions[i]
		a := &c.site.Complex.List[k.Attr]
		if _, configured := l.Supply.Fixed[k.Attr]; configured && (!a.Ordered() || !a.Numeric) {
			continue // for == and != the configured value counts
		}
		if c.askSlots(&l, k) >= 1 {
			continue
		}
		if !a.Numeric {
			v, _ := l.load.Text(a.Name)
			note(k.Attr, 0, 0, 0, k.Expr.String(), v, "")
		} else if v, ok := c.loadOf(l.load, l.factor, k.Attr); ok {
			note(k.Attr, k.Number, v, 0, a.Format(k.Number), a.Format(v), "")
		}
	}
	return out
}
