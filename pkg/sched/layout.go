package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/topology"
)

// layout is the configuration as scheduling needs it: per-host attributes
// resolved, names replaced by indices. It is made anew when the configuration
// changes and shared by all copies of a Cluster; never changed once made.
type layout struct {
	complex    *complex.Attributes
	global     complex.Supply // complex_values of host "global"
	sick       []sick         // of its resource maps
	mapColumns []int          // of the first few resource maps
	hosts      []*host
	instances  []*instance // in the order of cluster queue and host names
	hostAt     map[string]int
	instAt     map[string]int
	pes        []*grid.PE
	sets       map[string]*members // usersets
	referred   []string            // usersets that any object refers to, sorted
	projects   bool                // some object refers to projects
	policy     policy
	planning   bool  // diagrams are kept
	slots      int   // of all instances
	watched    []int // instances with suspend thresholds
	quotas     quotas
	basis      string // see CategoryBasis
	everybody  bool   // may use every advance reservation: see Emptied
}

// host is an execution host that has queue instances.
type host struct {
	name      string
	index     int
	exec      *grid.ExecHost // nil when the host was never configured
	supply    complex.Supply
	topology  string             // as it reports it
	tree      *topology.Host     // nil: none that can be read
	sick      []sick             // of its resource maps
	scaling   map[string]float64 // by name of the load value, see loadName
	instances []*instance

	subordinating bool // some instances are suspended because of others
}

// instance is a queue instance with its attributes for its host.
type instance struct {
	index int // in layout.instances
	place int // among the instances of its host, from 1: its row of utilization
	name  string
	queue *grid.CQueue
	host  *host

	ambiguous         bool // its configuration is, for this host
	seqNo             int32
	slots             int
	supply            complex.Supply
	interactive       bool
	batch             bool
	pes               grid.Names
	ckpts             grid.Names
	users, xusers     grid.Names
	projects, xproj   grid.Names
	loadThresholds    []complex.Threshold
	suspendThresholds []complex.Threshold
	nsuspend          int32
	suspendSeconds    float64
	superiors         []superior  // who suspends it queue-wise
	above             *instance   // who has it in its slot-wise list
	preempted         Preempted   // how it stands there
	tree              []*instance // its own slot-wise list
	threshold         int         // of the tree
	calendar          string
	closed            []grid.Window // times at which the calendar closes it
}

// states are those of an instance that do not depend on load.
func (in *instance) states(n *hostNow) grid.QueueState {
	s := n.states[in.place-1]
	if in.ambiguous {
		s |= grid.QueueAmbiguous
	}
	return s
}

// newLayout resolves the state's configuration.
func newLayout(st *state.State) *layout {
	l := &layout{
		complex: complex.New(st.Centries()),
		hostAt:  map[string]int{},
		instAt:  map[string]int{},
		pes:     st.PEs(),
		sets:    map[string]*members{},
	}
	l.policy = newPolicy(l.complex, st.SchedConf(), st.Conf(grid.GlobalConf))
	l.planning = l.policy.reservations > 0 || st.Len(grid.KindAR) > 0
	var globalValues grid.Values
	if g := st.ExecHost(grid.GlobalHost); g != nil {
		globalValues = g.ComplexValues
	}
	l.global = l.complex.Supply(globalValues)
	l.mapColumns = mapColumns(l.complex)
	l.resolveQueues(st)
	l.resolveTopology(st)
	l.resolveHealth(st)
	l.resolveQuotas(st)
	l.resolveAccess(st)
	l.basis = l.basisOf(func(userset string) uint32 {
		if u := st.Userset(userset); u != nil {
			return u.Version + 1
		}
		return 0
	})
	return l
}

// resolveQueues makes the instances that exist and the hosts they are on.
func (l *layout) resolveQueues(st *state.State) {
	queues := map[string]*sharedQueue{}
	for _, qi := range st.QInstances() {
		q := st.CQueue(qi.Queue)
		if q == nil {
			continue
		}
		shared := queues[q.Name]
		if shared == nil {
			shared = newSharedQueue(l.complex, q)
			queues[q.Name] = shared
		}
		h := l.hostNamed(st, qi.Host)
		in := shared.instance(l.complex, q, h, func(group string) bool { return st.Member(group, qi.Host) })
		in.index, in.name = len(l.instances), qi.Name()
		if cal, ok := st.Get(grid.KindCalendar, grid.Key{Name: in.calendar}).(*grid.Calendar); ok {
			in.closed = cal.Closed
		}
		h.instances = append(h.instances, in)
		in.place = len(h.instances)
		l.instAt[in.name] = in.index
		l.instances = append(l.instances, in)
		l.slots += in.slots
		if in.watches() {
			l.watched = append(l.watched, in.index)
		}
	}
	for _, h := range l.hosts {
		h.resolveSubordinates(func(group string) bool { return st.Member(group, h.name) })
	}
}

// loadName is the name of a load value that is given by its name or its shortcut.
func (l *layout) loadName(name string) string {
	if i := l.complex.Find(name); i >= 0 {
		return l.complex.List[i].Name
	}
	return name
}

func (l *layout) hostNamed(st *state.State, name string) *host {
	if i, ok := l.hostAt[name]; ok {
		return l.hosts[i]
	}
	h := &host{name: name, index: len(l.hosts), exec: st.ExecHost(name)}
	var values grid.Values
	if h.exec != nil {
		values = h.exec.ComplexValues
		for _, v := range h.exec.LoadScaling {
			if f, ok := grid.CentryType("DOUBLE").Parse(v.Text); ok {
				if h.scaling == nil {
					h.scaling = map[string]float64{}
				}
				name := l.loadName(v.Name)
				if _, given := h.scaling[name]; !given { // of two, the first
					h.scaling[name] = f
				}
			}
		}
	}
	h.supply = l.complex.Supply(values)
	if i := l.complex.Find("hostname"); i >= 0 {
		h.supply.Fixed[i] = complex.Value{Text: name}
	}
	l.offerContainers(st, h)
	l.hostAt[name] = h.index
	l.hosts = append(l.hosts, h)
	return h
}

// sharedQueue keeps what the instances of a cluster queue have in common, so
// that a queue on ten thousand hosts is resolved once where it has no
// exceptions.
type sharedQueue struct {
	contests grid.Contested
	limits   map[int]complex.Value // built-in values, when no host has its own
	values   grid.Values
	compiled complex.Supply
	load     []complex.Threshold
	suspend  []complex.Threshold
}

func newSharedQueue(x *complex.Attributes, q *grid.CQueue) *sharedQueue {
	s := &sharedQueue{contests: q.Contested(), values: q.ComplexValues.Value, compiled: x.Supply(q.ComplexValues.Value)}
	s.load = x.Thresholds(q.LoadThresholds.Value)
	s.suspend = x.Thresholds(q.SuspendThresholds.Value)
	if !limitsDiffer(q) {
		s.limits = queueLimits(x, q, "", nil)
	}
	return s
}

func (s *sharedQueue) instance(x *complex.Attributes, q *grid.CQueue, h *host, member func(string) bool) *instance {
	types := q.QType.For(h.name, member)
	in := &instance{
		queue: q, host: h,
		ambiguous:   s.contests.Ambiguous(h.name, member) != nil,
		seqNo:       q.SeqNo.For(h.name, member),
		slots:       int(q.Slots.For(h.name, member)),
		interactive: types.Has("INTERACTIVE"),
		batch:       types.Has("BATCH"),
		pes:         q.PEList.For(h.name, member),
		ckpts:       q.CkptList.For(h.name, member),
		users:       q.UserLists.For(h.name, member),
		xusers:      q.XUserLists.For(h.name, member),
		projects:    q.Projects.For(h.name, member),
		xproj:       q.XProjects.For(h.name, member),
		nsuspend:    q.NSuspend.For(h.name, member),
	}
	in.calendar = q.Calendar.For(h.name, member)
	in.suspendSeconds, _ = q.SuspendInterval.For(h.name, member).Seconds()
	in.loadThresholds, in.suspendThresholds = s.load, s.suspend
	if len(q.LoadThresholds.At) > 0 {
		in.loadThresholds = x.Thresholds(q.LoadThresholds.For(h.name, member))
	}
	if len(q.SuspendThresholds.At) > 0 {
		in.suspendThresholds = x.Thresholds(q.SuspendThresholds.For(h.name, member))
	}
	in.supply = s.compiled
	if len(q.ComplexValues.At) > 0 {
		in.supply = x.Supply(q.ComplexValues.For(h.name, member))
	}
	in.supply.Capacity = slices.Clone(in.supply.Capacity)
	in.supply.Capacity[0] = float64(in.slots)
	limits := s.limits
	if limits == nil {
		limits = queueLimits(x, q, h.name, member)
	}
	if len(in.supply.Fixed) == 0 {
		in.supply.Fixed = limits
	} else {
		fixed := make(map[int]complex.Value, len(limits)+len(in.supply.Fixed))
		for i, v := range limits {
			fixed[i] = v
		}
		for i, v := range in.supply.Fixed {
			fixed[i] = v
		}
		in.supply.Fixed = fixed
	}
	return in
}

// queueLimits are the attributes of a queue that jobs can request by name,
// queue_conf(5): resource limits, qname, seq_no, and so on. They hold for a
// consumable too: a request for h_vmem must not be larger than the h_vmem of
// the queue, and is known there without a capacity in complex_values.
func queueLimits(x *complex.Attributes, q *grid.CQueue, host string, member func(string) bool) map[int]complex.Value {
	out := make(map[int]complex.Value, 32)
	set := func(name, text string) {
		i := x.Find(name)
		if i < 0 || x.List[i].Name != name {
			return
		}
		num, _ := x.List[i].Type.Parse(text)
		out[i] = complex.Value{Number: num, Text: text, BuiltIn: true}
	}
	for _, l := range timeLimits {
		set(l.name, string(l.of(q).For(host, member)))
	}
	for _, l := range memoryLimits {
		set(l.name, string(l.of(q).For(host, member)))
	}
	set("h_pids", "INFINITY") // no limit of queue_conf(5): complex_values say less
	set("qname", q.Name)
	set("seq_no", itoa(int(q.SeqNo.For(host, member))))
	set("tmpdir", q.TmpDir.For(host, member))
	set("rerun", truth(q.Rerun.For(host, member)))
	if c := q.Calendar.For(host, member); c != "" {
		set("calendar", c)
	}
	return out
}

var timeLimits = []struct {
	name string
	of   func(*grid.CQueue) *grid.PerHost[grid.TimeText]
}{
	{"s_rt", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.SRT }},
	{"h_rt", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.HRT }},
	{"s_cpu", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.SCPU }},
	{"h_cpu", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.HCPU }},
	{"min_cpu_interval", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.MinCPUInterval }},
}

var memoryLimits = []struct {
	name string
	of   func(*grid.CQueue) *grid.PerHost[grid.MemText]
}{
	{"s_fsize", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.SFSize }},
	{"h_fsize", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.HFSize }},
	{"s_data", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.SData }},
	{"h_data", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.HData }},
	{"s_stack", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.SStack }},
	{"h_stack", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.HStack }},
	{"s_core", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.SCore }},
	{"h_core", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.HCore }},
	{"s_rss", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.SRSS }},
	{"h_rss", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.HRSS }},
	{"s_vmem", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.SVMem }},
	{"h_vmem", func(q *grid.CQueue) *grid.PerHost[grid.MemText] { return &q.HVMem }},
}

// limitsDiffer reports whether some host has its own value of a built-in one.
func limitsDiffer(q *grid.CQueue) bool {
	n := len(q.SeqNo.At) + len(q.TmpDir.At) + len(q.Rerun.At) + len(q.Calendar.At)
	for _, l := range timeLimits {
		n += len(l.of(q).At)
	}
	for _, l := range memoryLimits {
		n += len(l.of(q).At)
	}
	return n > 0
}
