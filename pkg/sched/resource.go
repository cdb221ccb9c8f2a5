package sched

import (
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/state"
)

// Levels that decide what there is of an attribute, and sources of its value, in
// the letters of qstat(1) -F.
const (
	LevelGlobal, LevelHost, LevelQueue             = byte('g'), byte('h'), byte('q')
	SourceLoad, SourceConsumable, SourceConfigured = byte('l'), byte('c'), byte('f')
)

// Resource is what there is of an attribute at a host or queue instance. When
// several levels have a value, it is the scarcest one.
type Resource struct {
	Attribute     *grid.Centry
	Level, Source byte
	Number        float64  // of numeric types; of a consumable what is left of it
	Text          string   // of the other types
	Instances     []string // of a resource map: those that are left
	of            complex.Map
}

// Alarm is a threshold of a queue instance that is reached.
type Alarm struct {
	Resource        // what reached it; without Level when no value is known
	Name     string // of the attribute; Attribute is nil when it does not exist
	Limit    string // as configured
}

// Instance is a queue instance with what follows from its host's load and from
// the tasks that have started there.
type Instance struct {
	Number int // of InstanceAt
	Queue  *grid.CQueue
	Host   string
	PEs    grid.Names
	// Batch, Interactive and Checkpointing say which jobs it takes beside parallel
	// ones.
	Batch, Interactive, Checkpointing bool
	Users, XUsers                     grid.Names
	Slots, Used                       int
	// State are the stored states and those that follow: a, A, c and u. Load counts
	// as it was reported, without job_load_adjustments.
	State                   grid.QueueState
	LoadAlarm, SuspendAlarm *Alarm // nil: none
}

// EachInstance calls f with all queue instances in the order of their names
// until it returns false.
func (c *Cluster) EachInstance(f func(Instance) bool) {
	c.settle()
	for _, in := range c.site.Instances {
		if !f(c.describe(in)) {
			return
		}
	}
}

func (c *Cluster) describe(in *site.Instance) Instance {
	now := c.nows.At(in.Host.Index)
	i := Instance{Number: in.Index, Queue: in.Queue, Host: in.Host.Name, PEs: in.PEs, Batch: in.Batch,
		Interactive:   in.Interactive,
		Checkpointing: len(in.Ckpts) > 0, Users: in.Users, XUsers: in.XUsers,
		Slots: in.Slots, Used: int(c.ledger.At(in.Host.Index).Standing(in.Place, 0)), State: now.statesOf(in)}
	if now.unheard() {
		i.State |= grid.QueueUnknown
	}
	if i.LoadAlarm = c.reachedNow(in, now, in.LoadThresholds); i.LoadAlarm != nil {
		i.State |= grid.QueueAlarm
	}
	if i.SuspendAlarm = c.reachedNow(in, now, in.SuspendThresholds); i.SuspendAlarm != nil {
		i.State |= grid.QueueSuspendAlarm
	}
	return i
}

// unheard reports whether a host does not report.
func (n *hostNow) unheard() bool { return n.load == nil || n.load.Unheard }

// reachedNow is the first threshold that is reached by load as it was reported,
// nil when none is.
func (c *Cluster) reachedNow(in *site.Instance, now *hostNow, thresholds []complex.Threshold) *Alarm {
	for i := range thresholds {
		t := &thresholds[i]
		a := Alarm{Name: t.Name, Limit: t.Text}
		if t.Attr < 0 {
			return &a
		}
		a.Attribute = c.site.Complex.List[t.Attr].Centry
		v, level, source, ok := c.thresholdAt(in, now, 0, t)
		switch {
		case !ok, source == SourceLoad && now.unheard() && !site.LastingLoad.Has(t.Name):
			return &a
		case c.site.Complex.List[t.Attr].Compare(v, t.Limit):
			a.Number, a.Level, a.Source = v, level, source
			return &a
		}
	}
	return nil
}

// Reported is a load value of a host as a number, whatever its attribute: scaled
// as jobs see it (load_scaling of host_conf(5)), or as it was reported. Values per
// processor (np_load_avg) follow from the others. ok is false when nothing is
// known; of a host that does not report only lasting values are.
func (c *Cluster) Reported(host, name string, scaled bool) (v float64, ok bool) {
	c.settle()
	text, ok := c.ReportedText(host, name)
	l := c.st.Load(host)
	if !ok {
		plain, np := strings.CutPrefix(name, "np_")
		if !np || l == nil || l.Processors == 0 {
			return 0, false
		}
		if text, ok = c.ReportedText(host, plain); !ok {
			return 0, false
		}
	}
	if v, ok = grid.CentryType("DOUBLE").Parse(text); !ok {
		if v, ok = grid.ParseMemory(text); !ok {
			return 0, false
		}
	}
	if _, reported := l.Values.Get(name); !reported {
		v /= float64(l.Processors)
	}
	if scaled {
		v *= scaling(c.site, host, name)
	}
	return v, true
}

// ReportedText is a load value of a host as it was reported.
func (c *Cluster) ReportedText(host, name string) (string, bool) {
	l := c.st.Load(host)
	if l == nil || l.Unheard && !site.LastingLoad.Has(name) {
		return "", false
	}
	return l.Values.Get(name)
}

// scaling is what jobs see a load value of a host multiplied with.
func scaling(cfg *site.Layout, host, name string) float64 {
	i, known := cfg.HostAt[host]
	if !known {
		return 1
	}
	if factor, ok := cfg.Hosts[i].Scaling[cfg.LoadName(name)]; ok {
		return factor
	}
	return 1
}

// Resources lists what there is for a job in the instance of a number, with its
// load scaled. In total, consumables are as if nothing ran.
func (c *Cluster) Resources(number int, total bool) []Resource {
	c.settle()
	in := c.site.Instances[number]
	use := c.ledger.At(in.Host.Index)
	o := c.offersOf(in.Host.Name, c.nows.At(in.Host.Index).load, total)
	o.text(LevelQueue, "qname", in.Queue.Name)
	o.text(LevelQueue, "hostname", in.Host.Name)
	o.consumable(LevelQueue, 0, float64(in.Slots), use.Standing(in.Place, 0))
	for _, name := range ownLimits {
		i := c.site.Complex.Find(name)
		if i < 0 || c.site.Complex.List[i].Name != name {
			continue
		}
		if v, ok := in.Supply.Fixed[i]; ok {
			o.put(i, LevelQueue, SourceConfigured, v.Number, v.Text)
		} else {
			o.put(i, LevelQueue, SourceConfigured, 0, "NONE") // no calendar
		}
	}
	o.configured(LevelQueue, in.Name, in.Queue.ComplexValues.For(in.Host.Name, memberOf(c.st, in.Host.Name)), &in.Supply,
		func(booked int) float64 { return use.Standing(in.Place, booked) })
	return o.list
}

// ownLimits are the attributes of a queue's own configuration in the order of
// qstat(1) -F: see queueLimits.
var ownLimits = func() []string {
	last := len(site.TimeLimits) - 1 // min_cpu_interval
	names := []string{"tmpdir", "seq_no", "rerun", "calendar"}
	for _, l := range site.TimeLimits[:last] {
		names = append(names, l.Name)
	}
	for _, l := range site.MemoryLimits {
		names = append(names, l.Name)
	}
	return append(names, site.TimeLimits[last].Name)
}()

func memberOf(st *state.State, host string) func(group string) bool {
	return func(group string) bool { return st.Member(group, host) }
}

// HostResources lists what there is at a host or, for "global", in the whole
// cluster: load as it was reported, and what is left of consumables; in total
// these are as if nothing ran.
func (c *Cluster) HostResources(host string, total bool) []Resource {
	c.settle()
	return c.offersOf(host, c.site.ParseLoad(c.st.Load(host), nil), total).list
}

// offersOf collects what the cluster and a host offer.
func (c *Cluster) offersOf(host string, load *site.Load, total bool) *offers {
	o := &offers{c: c, total: total, at: make([]int, len(c.site.Complex.List))}
	if g := c.st.ExecHost(grid.GlobalHost); g != nil {
		o.configured(LevelGlobal, grid.GlobalHost, g.ComplexValues, &c.site.Global, c.ledger.Standing)
	}
	if host == grid.GlobalHost {
		return o
	}
	o.load(load)
	h := c.st.ExecHost(host)
	switch i, known := c.site.HostAt[host]; {
	case h == nil:
	case known:
		o.configured(LevelHost, host, h.ComplexValues, &c.site.Hosts[i].Supply, func(booked int) float64 {
			return c.ledger.At(i).Standing(0, booked)
		})
	default: // without queue instances nothing runs there
		source := c.site.Complex.Supply(h.ComplexValues)
		o.configured(LevelHost, host, h.ComplexValues, &source, func(int) float64 { return 0 })
	}
	return o
}

// offers is a list of resources with one entry for an attribute.
type offers struct {
	c     *Cluster
	total bool
	list  []Resource
	at    []int // by attribute: its place in list, counted from 1
}

// put adds a value. When the attribute has one already the scarcer one stays, or
// for values without an order the new one, which is nearer to the job.
func (o *offers) put(attr int, level, source byte, number float64, text string) {
	a := &o.c.site.Complex.List[attr]
	r := Resource{Attribute: a.Centry, Level: level, Source: source, Number: number, Text: text}
	if a.Numeric {
		r.Text = ""
	} else {
		r.Number = 0
	}
	switch at := o.at[attr]; {
	case at == 0:
		o.list = append(o.list, r)
		o.at[attr] = len(o.list)
	case !a.Numeric || !a.Better(number, o.list[at-1].Number):
		o.list[at-1] = r
	}
}

// text adds a text that the queue itself has.
func (o *offers) text(level byte, name, text string) {
	if i := o.c.site.Complex.Find(name); i >= 0 {
		o.put(i, level, SourceConfigured, 0, text)
	}
}

// consumable adds a capacity less what is in use of it.
func (o *offers) consumable(level byte, booked int, capacity, used float64) {
	if !o.total && capacity < grid.Infinity {
		capacity -= used
	}
	o.put(o.c.site.Complex.Consumables[booked], level, SourceConsumable, capacity, "")
}

// configured adds the complex_values of a level at a host, "global" or a queue instance.
func (o *offers) configured(
	level byte, place string, values grid.Values, s *complex.Supply, used func(booked int) float64,
) {
	for _, v := range values {
		i := o.c.site.Complex.Find(v.Name)
		if i < 0 {
			continue
		}
		booked := o.c.site.Complex.List[i].Column
		switch {
		case o.c.site.Complex.List[i].Type == grid.TypeMap && level != LevelQueue:
			o.instances(level, i, place, s)
		case booked >= 0:
			o.consumable(level, booked, s.Capacity[booked], used(booked))
		default:
			o.put(i, level, SourceConfigured, s.Fixed[i].Number, s.Fixed[i].Text)
		}
	}
}

// instances adds what is left of a resource map. That of a host replaces that of the
// cluster.
func (o *offers) instances(level byte, attr int, place string, s *complex.Supply) {
	a := &o.c.site.Complex.List[attr]
	r := Resource{Attribute: a.Centry, Level: level, Source: SourceConsumable, Instances: s.Maps[a.Column].IDs(),
		of: s.Maps[a.Column]}
	if !o.total {
		r.Instances = o.c.free(a.Name, place, s.Maps[a.Column])
	}
	r.Number = float64(len(r.Instances))
	if at := o.at[attr]; at > 0 {
		o.list[at-1] = r
		return
	}
	o.list = append(o.list, r)
	o.at[attr] = len(o.list)
}

// load adds the load values of a host, those per processor that it does not
// report itself last.
func (o *offers) load(l *site.Load) {
	if l == nil {
		return
	}
	add := func(name, text string) {
		i := o.c.site.Complex.Find(name)
		if i < 0 || l.Unheard && !site.LastingLoad.Has(name) || o.c.site.Complex.List[i].Numeric && math.IsNaN(l.Numbers[i]) {
			return
		}
		o.put(i, LevelHost, SourceLoad, l.Numbers[i], text)
	}
	for _, v := range l.Values {
		add(v.Name, v.Text)
	}
	for _, name := range [...]string{"np_load_avg", "np_load_short", "np_load_medium", "np_load_long"} {
		add(name, "")
	}
}

// Meets reports whether each request finds a resource that is enough for it:
// "request relop resource", complex(5). A text may be requested with an
// expression. Requests are as users write them.
func (c *Cluster) Meets(there []Resource, requests grid.Requests) bool {
	c.settle()
	for _, want := range requests {
		i := c.site.Complex.Find(want.Name)
		if i < 0 {
			return false
		}
		a := &c.site.Complex.List[i]
		if !slices.ContainsFunc(there, func(r Resource) bool {
			amount, number := want.Value, r.Number
			if at := strings.IndexByte(amount, '['); at >= 0 && a.Type == grid.TypeMap && r.Attribute == a.Centry {
				number = leftOf(c.site, &r, amount[at:])
				amount = amount[:at]
			}
			return r.Attribute == a.Centry && a.SatisfiedBy(amount, complex.Value{Number: number, Text: r.Text})
		}) {
			return false
		}
	}
	return true
}

// leftOf returns how many of the instances that are left have the characteristics of a request; -1 when these
// cannot be read.
func leftOf(cfg *site.Layout, r *Resource, block string) (n float64) {
	s, err := cfg.Complex.Selection(r.Attribute.Name, block)
	if err != nil {
		return -1
	}
	for i := range r.of {
		for _, id := range r.Instances {
			if id == r.of[i].ID && s.Has(&r.of[i]) {
				n++
			}
		}
	}
	return n
}

// Attribute returns an attribute of the complex by name or shortcut, nil when
// there is none.
func (c *Cluster) Attribute(name string) *grid.Centry {
	c.settle()
	return c.site.Complex.Lookup(name)
}
