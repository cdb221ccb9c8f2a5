package sched

import (
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched/site"
	"github.com/quill-grid/quill/pkg/topology"
)

// Need is a job's requests compiled against the configuration: all jobs of a
// category share one. It holds until the configuration changes (Current).
// It stores which instances suit it and whether the last search failed, so one
// goroutine uses it at a time.
type Need struct {
	Job *grid.Job // any job of the category

	site        *site.Layout
	conditions  []complex.Condition // -l of attributes that are compared
	demands     []complex.Demand
	selections  []*complex.Selection // of demands: the instances of resource maps that they select; nil: none selects
	maps        bool                 // it takes instances of resource maps
	perHost     bool                 // it takes something once per host
	soft        []complex.Condition
	unknown     string // a requested attribute that does not exist
	queues      []pattern.QueuePattern
	softQueue   []pattern.QueuePattern
	masters     []pattern.QueuePattern
	slaves      []pattern.QueuePattern
	scoped      bool    // the master task and the others ask for different things
	pes         []int   // matching PEs in definition order
	gross       float64 // seconds it is assumed to hold what it takes
	openEnd     bool    // it asks for no run time
	least       int     // slots
	suitability []suitability
	failure     failure
	reads       site.AttrSet                       // of which the load may decide
	passing     map[string][]bool                  // by PE: see Cluster.passing
	threads     map[*topology.Machine]topology.Set // see allowed
}

// suitability is whether an instance suits, by configuration alone.
type suitability uint8

const (
	unchecked suitability = iota
	suits
	suitsNot
)

// Need compiles a job.
func (c *Cluster) Need(j *grid.Job) *Need {
	c.settle()
	if r := c.clusterOf(j.AR); r != c {
		return r.Need(j)
	}
	x := c.site.Complex
	n := &Need{Job: j, site: c.site, demands: x.DemandsOf(nil, j.JobRequest), scoped: j.Scoped(),
		gross: c.site.Policy.Gross(j.Hard)}
	_, asked := c.site.Policy.Asked(j.Hard)
	n.openEnd = !asked
	for _, d := range n.demands {
		n.perHost = n.perHost || d.PerHost && d.Amount > 0
		n.maps = n.maps || x.List[x.Consumables[d.Column]].Type == grid.TypeMap
	}
	if n.maps {
		var within grid.Requests
		if c.ar != nil {
			within = c.ar.Hard
		}
		n.selections = c.site.SelectionsOf(n.demands, within)
	}
	n.least = 1
	if j.PE != "" {
		n.least = smallest(j.PERange, 1)
	}
	n.conditions, n.unknown = x.ConditionsOf(j.JobRequest)
	n.soft, _ = x.Conditions(j.Soft)
	n.reads = n.attrs(x) | c.site.Quotas.Reads
	if j.PE != "" && orderMatters(c.site) {
		n.reads = site.EveryAttr
	}
	n.queues, n.softQueue, n.masters = compileQueues(j.HardQueues), compileQueues(j.SoftQueues),
		compileQueues(j.MasterQueues)
	n.slaves = compileQueues(j.SlaveQueues)
	if j.PE != "" {
		for i, pe := range c.site.PEs {
			if pattern.Match(j.PE, pe.Name) {
				n.pes = append(n.pes, i)
			}
		}
	}
	return n
}

// attrs returns the attributes that a need is about.
func (n *Need) attrs(x *complex.Attributes) site.AttrSet {
	s := site.AnyAttr
	for i := range n.conditions {
		s.Add(n.conditions[i].Attr)
	}
	for i := range n.demands {
		if column := n.demands[i].Column; column != 0 {
			s.Add(x.Consumables[column])
		}
	}
	return s
}

// mostCompiled is how many requests needOf stores.
const mostCompiled = 4096

// needOf is Need, until the next one is asked for: what follows from the
// request alone is compiled once for all jobs that share it.
func (c *Cluster) needOf(j *grid.Job) *Need {
	c.settle()
	n := c.compiled[j.JobRequest]
	if n == nil || !n.Current(c) {
		if c.compiled == nil || len(c.compiled) >= mostCompiled {
			c.compiled = map[*grid.JobRequest]*Need{}
		}
		n = c.Need(j)
		c.compiled[j.JobRequest] = n
	}
	n.Job, n.suitability, n.failure, n.passing = j, nil, failure{}, nil
	return n
}

// Current reports whether the configuration is still the one that the Need was
// compiled against.
func (n *Need) Current(c *Cluster) bool {
	return c.site != nil && n.site == c.clusterOf(n.Job.AR).site
}

func compileQueues(names grid.Names) []pattern.QueuePattern {
	out := make([]pattern.QueuePattern, 0, len(names))
	for _, n := range names {
		out = append(out, pattern.CompileQueue(n))
	}
	return out
}

func anyMatches(queues []pattern.QueuePattern, in *site.Instance, st site.Groups) bool {
	for i := range queues {
		if matches(&queues[i], in, st) {
			return true
		}
	}
	return false
}

func matches(q *pattern.QueuePattern, in *site.Instance, st site.Groups) bool {
	return q.Match(in.Queue.Name, in.Host.Name, func(g pattern.Expression, host string) bool {
		return site.InGroup(st, g, host)
	})
}

// suits reports whether an instance can ever run the job, by configuration
// alone. The answer is stored.
func (c *search) suits(n *Need, in *site.Instance) bool {
	if n.suitability == nil {
		n.suitability = make([]suitability, len(c.site.Instances))
	}
	v := &n.suitability[in.Index]
	if *v == unchecked {
		*v = suitsNot
		if c.static(n, in).Fits() {
			*v = suits
		}
	}
	return *v == suits
}

// static compares a job with the configuration of an instance, its host and
// the cluster: what no load report and no task can change.
func (c *search) static(n *Need, in *site.Instance) reason.Reason {
	j := n.Job
	if r := c.inQueueList(n, in); !r.Fits() {
		return r
	}
	if !c.site.Permits(j.Owner, j.Group, in.Users, in.XUsers) {
		if c.site.Permits(j.Owner, j.Group, in.Queue.UserLists.Value, in.Queue.XUserLists.Value) {
			// an exception for the host forbids it
			return reason.Reason{Code: reason.NoAccessQueue, What: "queue", Object: in.Name}
		}
		return reason.Reason{Code: reason.NoAccessQueue, What: "cluster queue", Object: in.Queue.Name}
	}
	if r := site.WhyNotProject(j.Project, "queue", in.Name, in.Projects, in.XProjects); !r.Fits() {
		if all := site.WhyNotProject(j.Project, "cluster queue", in.Queue.Name, in.Queue.Projects.Value,
			in.Queue.XProjects.Value); !all.Fits() {
			return all
		}
		return r // an exception for the host forbids it
	}
	if h := in.Host.Exec; h != nil {
		if !c.site.Permits(j.Owner, j.Group, h.UserLists, h.XUserLists) {
			return reason.Reason{Code: reason.NoAccessHost, Object: h.Name}
		}
		if r := site.WhyNotProject(j.Project, "host", h.Name, h.Projects, h.XProjects); !r.Fits() {
			return r
		}
	}
	if r := c.rightType(n, in); !r.Fits() {
		return r
	}
	if in.Slots == 0 {
		return reason.Reason{Code: reason.QueueZeroSlots, Object: in.Name}
	}
	if r := n.unbindable(in.Host); !r.Fits() {
		return r
	}
	if r := c.forcedReason(n, in); !r.Fits() {
		return r
	}
	return c.compareFixed(n, in)
}

func (c *search) inQueueList(n *Need, in *site.Instance) reason.Reason {
	if len(n.queues) == 0 || anyMatches(n.queues, in, c.st) {
		return reason.Reason{}
	}
	for i := range n.queues {
		if n.queues[i].MatchCQueue(in.Queue.Name) {
			return reason.Reason{Code: reason.NotInHardQueueList, Object: in.Name}
		}
	}
	return reason.Reason{Code: reason.NotInHardQueueList, Object: in.Queue.Name}
}

// rightType holds the job's kind against qtype, pe_list and ckpt_list.
func (c *search) rightType(n *Need, in *site.Instance) reason.Reason {
	j := n.Job
	if j.PE != "" {
		if len(in.PEs) == 0 {
			return reason.Reason{Code: reason.NotParallel, Object: in.Name}
		}
		found := false
		for _, i := range n.pes {
			found = found || in.PEs.Has(c.site.PEs[i].Name)
		}
		if !found {
			return reason.Reason{Code: reason.NotInPEList, Object: in.Queue.Name, What: j.PE}
		}
	}
	if j.Ckpt != "" {
		if len(in.Ckpts) == 0 {
			return reason.Reason{Code: reason.NotCheckpointing, Object: in.Name}
		}
		if !in.Ckpts.Has(j.Ckpt) {
			return reason.Reason{Code: reason.NotInCkptList, Object: in.Name, What: j.Ckpt}
		}
	}
	if j.Immediate && !in.Interactive {
		return reason.Reason{Code: reason.NotInteractive, Object: in.Queue.Name}
	}
	if j.PE == "" && j.Ckpt == "" && !j.Immediate && !in.Batch {
		return reason.Reason{Code: reason.NotBatch, Object: in.Name}
	}
	return reason.Reason{}
}

// forcedReason finds a forced attribute that the job does not ask for.
func (c *search) forcedReason(n *Need, in *site.Instance) reason.Reason {
	missing := func(forced []int) string {
		for _, i := range forced {
			if !n.Job.Requests(c.site.Complex.List[i].Name) {
				return c.site.Complex.List[i].Name
			}
		}
		return ""
	}
	if a := missing(c.site.Global.Forced); a != "" {
		return reason.Reason{Code: reason.ForcedGlobal, What: a}
	}
	if a := missing(in.Host.Supply.Forced); a != "" {
		return reason.Reason{Code: reason.ForcedHost, What: a, Object: in.Host.Name}
	}
	if a := missing(in.Supply.Forced); a != "" {
		return reason.Reason{Code: reason.ForcedQueue, What: a, Object: in.Name}
	}
	return reason.Reason{}
}

// compareFixed holds the requests for all tasks against configured values: every level that
// knows an attribute must satisfy it, and of a consumable the limit of the
// queue.
func (c *search) compareFixed(n *Need, in *site.Instance) reason.Reason {
	if n.unknown != "" {
		return reason.Reason{Code: reason.UnknownResource, What: n.unknown}
	}
	return c.compareScope(n, grid.AllTasks, in)
}

// roles reports whether an instance can have the master task of a job, and its other tasks, as far as requests
// say that hold for one or the other; why it cannot have one of them.
func (c *search) roles(n *Need, in *site.Instance, now *hostNow) (slave, master bool, why reason.Reason) {
	switch {
	case n.scoped:
		master, why = c.inScope(n, grid.MasterTask, n.masters, in, now)
		var of reason.Reason
		if slave, of = c.inScope(n, grid.SlaveTasks, n.slaves, in, now); !slave {
			why = of
		}
		return slave, master, why
	case len(n.masters) > 0 && n.Job.PE != "" && !anyMatches(n.masters, in, c.st): // qalter accepts -masterq for any job
		return true, false, reason.Reason{Code: reason.NotInMasterQueueList, Object: in.Name}
	}
	return true, true, why
}

// inScope reports whether an instance can have the tasks of one scope.
func (c *search) inScope(
	n *Need, of grid.TaskScope, queues []pattern.QueuePattern, in *site.Instance, now *hostNow,
) (can bool, why reason.Reason) {
	switch attr := c.unknownAttr(n, of, in, now); {
	case len(queues) > 0 && !anyMatches(queues, in, c.st):
		why = reason.Reason{Code: reason.NotInMasterQueueList, Object: in.Name}
		if of == grid.SlaveTasks {
			why.Code = reason.NotInSlaveQueueList
		}
	case attr >= 0:
		why = reason.Reason{Code: reason.UnknownResource, What: c.site.Complex.List[attr].Name}
	default:
		why = c.compareScope(n, of, in)
	}
	return why.Fits(), why
}

// inRoles is what is left of the room in an instance for the tasks that it can have.
func (c *search) inRoles(r room, n *Need, in *site.Instance, now *hostNow) room {
	slave, master, _ := c.roles(n, in, now)
	if !slave {
		r = r.within(room{0, 1})
	}
	if !master {
		r.lead = 0
	}
	return r
}

// compareScope is compareFixed for the requests of one scope.
func (c *search) compareScope(n *Need, of grid.TaskScope, in *site.Instance) reason.Reason {
	for i := range n.conditions {
		k := &n.conditions[i]
		if k.Of != of {
			continue
		}
		a := &c.site.Complex.List[k.Attr]
		if v, ok := c.site.Global.Fixed[k.Attr]; ok && !k.Satisfied(a, v) {
			return n.cannot(reason.NotGlobally, "", "g", a, v)
		}
		if v, ok := in.Host.Supply.Fixed[k.Attr]; ok && !k.Satisfied(a, v) {
			return n.cannot(reason.NotAtHost, in.Host.Name, "h", a, v)
		}
		if v, ok := in.Supply.Fixed[k.Attr]; ok && !k.Satisfied(a, v) {
			return n.cannot(reason.NotAtQueue, in.Name, "q", a, v)
		}
	}
	for i := range n.demands {
		d := &n.demands[i]
		attr := c.site.Complex.Consumables[d.Column]
		a := &c.site.Complex.List[attr]
		if v, ok := in.Supply.Fixed[attr]; ok && d.Requested && !d.Exclusive && d.AskedIn(of) &&
			!a.Compare(d.PerSlot(of), v.Number) {
			return n.cannot(reason.NotAtQueue, in.Name, "q", a, v)
		}
	}
	return c.selectable(n, of, in.Host)
}

// selectionAt returns the instances that a demand selects; nil: any of the map.
func (n *Need) selectionAt(demand int) *complex.Selection {
	if n.selections == nil {
		return nil
	}
	return n.selections[demand]
}

// selectable compares the selections of a need with the resource maps from which a host gives.
func (c *search) selectable(n *Need, of grid.TaskScope, h *site.Host) reason.Reason {
	top := c.whole()
	if n.selections != nil {
		h = top.site.Hosts[top.site.HostAt[h.Name]]
	}
	for i, s := range n.selections {
		d := &n.demands[i]
		if s == nil || !d.AskedIn(of) || of == grid.AllTasks && d.MasterOnly() && n.Job.PE != "" {
			continue
		}
		m, global := top.site.MapOf(h, d.Column)
		if has := m.Selected(s); m != nil && float64(has) < d.PerSlot(of) {
			letter := "h"
			if global {
				letter = "g"
			}
			attr := c.site.Attr(d.Column)
			return reason.Reason{Code: reason.NotAtHost, Object: h.Name, What: requestText(n.Job),
				Offer: "it offers only " + letter + "c:" + attr.Name + "=" + attr.Format(float64(has)) + " with " + s.String()}
		}
	}
	return reason.Reason{}
}

// requestText is what a job asks for as messages quote it after -l.
func requestText(j *grid.Job) string {
	text := complex.RequestText(j.Hard)
	if len(j.MasterHard) > 0 {
		text += " -scope master -l " + complex.RequestText(j.MasterHard)
	}
	if len(j.SlaveHard) > 0 {
		text += " -scope slave -l " + complex.RequestText(j.SlaveHard)
	}
	return text
}

// cannot is the reason of a request that a configured value refuses; the
// letters say where the value is from: g h q, then f fixed or v built in.
func (n *Need) cannot(code reason.Code, object, level string, a *complex.Attribute, v complex.Value) reason.Reason {
	offer := v.Text
	if a.Numeric {
		offer = a.Format(v.Number)
	}
	origin := "f"
	if v.BuiltIn {
		origin = "v"
	}
	return reason.Reason{Code: code, Object: object, What: requestText(n.Job), Offer: "it offers only " +
		level + origin + ":" +
		a.Name + "=" + offer}
}
