package site

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/topology"
)

// Layout is the configuration as scheduling needs it: per-host attributes
// resolved, names replaced by indices. It is made anew when the configuration
// changes and shared by all copies of a Cluster; never changed once made.
type Layout struct {
	Complex    *complex.Attributes
	Global     complex.Supply // complex_values of host "global"
	Sick       []Sick         // of its resource maps
	MapColumns []int          // of the first few resource maps
	Hosts      []*Host
	Instances  []*Instance // in the order of cluster queue and host names
	HostAt     map[string]int
	InstAt     map[string]int
	PEs        []*grid.PE
	Sets       map[string]*members // usersets
	Referred   []string            // usersets that any object refers to, sorted
	Projects   bool                // some object refers to projects
	Policy     policy
	Planning   bool  // diagrams are kept
	Slots      int   // of all instances
	Watched    []int // instances with suspend thresholds
	Quotas     quotas
	Basis      string // see CategoryBasis
	Everybody  bool   // may use every advance reservation: see Opened
}

// Host is an execution host that has queue instances.
type Host struct {
	Name      string
	Index     int
	Exec      *grid.ExecHost // nil when the host was never configured
	Supply    complex.Supply
	Topology  string             // as it reports it
	Tree      *topology.Machine  // nil: none that can be read
	Sick      []Sick             // of its resource maps
	Scaling   map[string]float64 // by name of the load value, see LoadName
	Instances []*Instance

	Subordinating bool // some instances are suspended because of others
}

// Instance is a queue instance with its attributes for its host.
type Instance struct {
	Index int // in Layout.Instances
	Place int // among the instances of its host, from 1: its row of utilization
	Name  string
	Queue *grid.CQueue
	Host  *Host

	Ambiguous           bool // its configuration is, for this host
	SeqNo               int32
	Slots               int
	Supply              complex.Supply
	Interactive         bool
	Batch               bool
	PEs                 grid.Names
	Ckpts               grid.Names
	Users, XUsers       grid.Names
	Projects, XProjects grid.Names
	LoadThresholds      []complex.Threshold
	SuspendThresholds   []complex.Threshold
	Nsuspend            int32
	SuspendSeconds      float64
	Superiors           []superior  // who suspends it queue-wise
	Above               *Instance   // who has it in its slot-wise list
	Preempted           Preempted   // how it stands there
	Tree                []*Instance // its own slot-wise list
	Threshold           int         // of the tree
	calendar            string
	Closed              []grid.Window // times at which the calendar closes it
}

// NewLayout resolves the state's configuration.
func NewLayout(st *state.State) *Layout {
	l := &Layout{
		Complex: complex.New(st.Centries()),
		HostAt:  map[string]int{},
		InstAt:  map[string]int{},
		PEs:     st.PEs(),
		Sets:    map[string]*members{},
	}
	l.Policy = newPolicy(l.Complex, st.SchedConf(), st.Conf(grid.GlobalConf))
	l.Planning = l.Policy.Reservations > 0 || st.Len(grid.KindAR) > 0
	var globalValues grid.Values
	if g := st.ExecHost(grid.GlobalHost); g != nil {
		globalValues = g.ComplexValues
	}
	l.Global = l.Complex.Supply(globalValues)
	l.MapColumns = mapColumns(l.Complex)
	l.resolveQueues(st)
	l.resolveTopology(st)
	l.resolveHealth(st)
	l.resolveQuotas(st)
	l.resolveAccess(st)
	l.Basis = l.basisOf(func(userset string) uint32 {
		if u := st.Userset(userset); u != nil {
			return u.Version + 1
		}
		return 0
	})
	return l
}

// resolveQueues makes the instances that exist and the hosts they are on.
func (l *Layout) resolveQueues(st *state.State) {
	queues := map[string]*sharedQueue{}
	for _, qi := range st.QInstances() {
		q := st.CQueue(qi.Queue)
		if q == nil {
			continue
		}
		shared := queues[q.Name]
		if shared == nil {
			shared = newSharedQueue(l.Complex, q)
			queues[q.Name] = shared
		}
		h := l.hostNamed(st, qi.Host)
		in := shared.instance(l.Complex, q, h, func(group string) bool { return st.Member(group, qi.Host) })
		in.Index, in.Name = len(l.Instances), qi.Name()
		if cal, ok := st.Get(grid.KindCalendar, grid.Key{Name: in.calendar}).(*grid.Calendar); ok {
			in.Closed = cal.Closed
		}
		h.Instances = append(h.Instances, in)
		in.Place = len(h.Instances)
		l.InstAt[in.Name] = in.Index
		l.Instances = append(l.Instances, in)
		l.Slots += in.Slots
		if in.Watches() {
			l.Watched = append(l.Watched, in.Index)
		}
	}
	for _, h := range l.Hosts {
		h.resolveSubordinates(func(group string) bool { return st.Member(group, h.Name) })
	}
}

// LoadName is the name of a load value that is given by its name or its shortcut.
func (l *Layout) LoadName(name string) string {
	if i := l.Complex.Find(name); i >= 0 {
		return l.Complex.List[i].Name
	}
	return name
}

func (l *Layout) hostNamed(st *state.State, name string) *Host {
	if i, ok := l.HostAt[name]; ok {
		return l.Hosts[i]
	}
	h := &Host{Name: name, Index: len(l.Hosts), Exec: st.ExecHost(name)}
	var values grid.Values
	if h.Exec != nil {
		values = h.Exec.ComplexValues
		for _, v := range h.Exec.LoadScaling {
			if f, ok := grid.CentryType("DOUBLE").Parse(v.Text); ok {
				if h.Scaling == nil {
					h.Scaling = map[string]float64{}
				}
				name := l.LoadName(v.Name)
				if _, given := h.Scaling[name]; !given { // of two, the first
					h.Scaling[name] = f
				}
			}
		}
	}
	h.Supply = l.Complex.Supply(values)
	if i := l.Complex.Find("hostname"); i >= 0 {
		h.Supply.Fixed[i] = complex.Value{Text: name}
	}
	l.offerContainers(st, h)
	l.HostAt[name] = h.Index
	l.Hosts = append(l.Hosts, h)
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

func (s *sharedQueue) instance(x *complex.Attributes, q *grid.CQueue, h *Host, member func(string) bool) *Instance {
	types := q.QType.For(h.Name, member)
	in := &Instance{
		Queue: q, Host: h,
		Ambiguous:   s.contests.Ambiguous(h.Name, member) != nil,
		SeqNo:       q.SeqNo.For(h.Name, member),
		Slots:       int(q.Slots.For(h.Name, member)),
		Interactive: types.Has("INTERACTIVE"),
		Batch:       types.Has("BATCH"),
		PEs:         q.PEList.For(h.Name, member),
		Ckpts:       q.CkptList.For(h.Name, member),
		Users:       q.UserLists.For(h.Name, member),
		XUsers:      q.XUserLists.For(h.Name, member),
		Projects:    q.Projects.For(h.Name, member),
		XProjects:   q.XProjects.For(h.Name, member),
		Nsuspend:    q.NSuspend.For(h.Name, member),
	}
	in.calendar = q.Calendar.For(h.Name, member)
	in.SuspendSeconds, _ = q.SuspendInterval.For(h.Name, member).Seconds()
	in.LoadThresholds, in.SuspendThresholds = s.load, s.suspend
	if len(q.LoadThresholds.At) > 0 {
		in.LoadThresholds = x.Thresholds(q.LoadThresholds.For(h.Name, member))
	}
	if len(q.SuspendThresholds.At) > 0 {
		in.SuspendThresholds = x.Thresholds(q.SuspendThresholds.For(h.Name, member))
	}
	in.Supply = s.compiled
	if len(q.ComplexValues.At) > 0 {
		in.Supply = x.Supply(q.ComplexValues.For(h.Name, member))
	}
	in.Supply.Capacity = slices.Clone(in.Supply.Capacity)
	in.Supply.Capacity[0] = float64(in.Slots)
	limits := s.limits
	if limits == nil {
		limits = queueLimits(x, q, h.Name, member)
	}
	if len(in.Supply.Fixed) == 0 {
		in.Supply.Fixed = limits
	} else {
		fixed := make(map[int]complex.Value, len(limits)+len(in.Supply.Fixed))
		for i, v := range limits {
			fixed[i] = v
		}
		for i, v := range in.Supply.Fixed {
			fixed[i] = v
		}
		in.Supply.Fixed = fixed
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
	for _, l := range TimeLimits {
		set(l.Name, string(l.of(q).For(host, member)))
	}
	for _, l := range MemoryLimits {
		set(l.Name, string(l.of(q).For(host, member)))
	}
	set("h_pids", "INFINITY") // no limit of queue_conf(5): complex_values say less
	set("qname", q.Name)
	set("seq_no", strconv.Itoa(int(q.SeqNo.For(host, member))))
	set("tmpdir", q.TmpDir.For(host, member))
	set("rerun", truth(q.Rerun.For(host, member)))
	if c := q.Calendar.For(host, member); c != "" {
		set("calendar", c)
	}
	return out
}

var TimeLimits = []struct {
	Name string
	of   func(*grid.CQueue) *grid.PerHost[grid.TimeText]
}{
	{"s_rt", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.SRT }},
	{"h_rt", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.HRT }},
	{"s_cpu", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.SCPU }},
	{"h_cpu", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.HCPU }},
	{"min_cpu_interval", func(q *grid.CQueue) *grid.PerHost[grid.TimeText] { return &q.MinCPUInterval }},
}

var MemoryLimits = []struct {
	Name string
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
	for _, l := range TimeLimits {
		n += len(l.of(q).At)
	}
	for _, l := range MemoryLimits {
		n += len(l.of(q).At)
	}
	return n > 0
}

// InstanceOf returns the host's instance of a cluster queue, nil when there
// is none.
func (h *Host) InstanceOf(queue string) *Instance {
	for _, in := range h.Instances {
		if in.Queue.Name == queue {
			return in
		}
	}
	return nil
}

// basisOf writes down the attributes and the usersets that matter.
func (l *Layout) basisOf(version func(userset string) uint32) string {
	var b []byte
	for i := range l.Complex.List {
		a := &l.Complex.List[i]
		b = append(append(append(append(b, a.Name...), '/'), a.Type...), ' ')
	}
	for _, n := range l.Referred {
		b = strconv.AppendUint(append(append(b, n...), '='), uint64(version(n)), 10)
		b = append(b, ' ')
	}
	b = l.Quotas.basis(b)
	b = strconv.AppendBool(b, l.Projects)
	return string(strconv.AppendUint(append(b, ' '), uint64(l.Policy.MaxAJ), 10))
}

// OpenFrom returns the earliest time, not before from, at which an instance's
// calendar leaves it open for so many seconds.
func (in *Instance) OpenFrom(from grid.Time, seconds float64) grid.Time {
	for _, x := range in.Closed {
		if x.Start < from.Add(seconds) && from < x.End {
			from = x.End
		}
	}
	return from
}

// Watches reports whether the load of an instance may suspend its tasks.
func (in *Instance) Watches() bool {
	return len(in.SuspendThresholds) > 0 && in.Nsuspend > 0 && in.SuspendSeconds > 0
}
