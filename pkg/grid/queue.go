package grid

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
)

// CQueue is a cluster queue, queue_conf(5): every attribute may have
// exceptions for hosts and host groups. Its instances, one per host of its
// host list, are QInstance objects that carry only state; their attributes
// are resolved from here (PerHost.For).
type CQueue struct {
	Name     string `conf:"qname" see:"keep"`
	HostList Names  `conf:"hostlist,space" see:"keep"`

	SeqNo             PerHost[int32]    `conf:"seq_no" see:"keep"`
	LoadThresholds    PerHost[Values]   `conf:"load_thresholds" see:"keep"`
	SuspendThresholds PerHost[Values]   `conf:"suspend_thresholds" see:"keep"`
	NSuspend          PerHost[int32]    `conf:"nsuspend" see:"keep"`
	SuspendInterval   PerHost[TimeText] `conf:"suspend_interval" see:"keep"`
	Priority          PerHost[int32]    `conf:"priority,signed" see:"keep"`
	MinCPUInterval    PerHost[TimeText] `conf:"min_cpu_interval" see:"keep"`
	Processors        PerHost[string]   `conf:"processors,UNDEFINED" see:"keep"`
	QType             PerHost[Names]    `conf:"qtype,space" see:"keep"`
	CkptList          PerHost[Names]    `conf:"ckpt_list,space" see:"keep"`
	PEList            PerHost[Names]    `conf:"pe_list,space" see:"keep"`
	Rerun             PerHost[bool]     `conf:"rerun" see:"keep"`
	Slots             PerHost[int32]    `conf:"slots" see:"keep"`
	TmpDir            PerHost[string]   `conf:"tmpdir" see:"cell"`
	Shell             PerHost[string]   `conf:"shell" see:"cell"`
	Prolog            PerHost[string]   `conf:"prolog,NONE" see:"cell"`
	Epilog            PerHost[string]   `conf:"epilog,NONE" see:"cell"`
	ShellStartMode    PerHost[string]   `conf:"shell_start_mode" see:"keep"`
	StarterMethod     PerHost[string]   `conf:"starter_method,NONE" see:"cell"`
	SuspendMethod     PerHost[string]   `conf:"suspend_method,NONE" see:"cell"`
	ResumeMethod      PerHost[string]   `conf:"resume_method,NONE" see:"cell"`
	TerminateMethod   PerHost[string]   `conf:"terminate_method,NONE" see:"cell"`
	Notify            PerHost[TimeText] `conf:"notify" see:"keep"`
	OwnerList         PerHost[Names]    `conf:"owner_list,space" see:"who"`
	UserLists         PerHost[Names]    `conf:"user_lists,space" see:"keep"`
	XUserLists        PerHost[Names]    `conf:"xuser_lists,space" see:"keep"`
	SubordinateList   PerHost[Names]    `conf:"subordinate_list" see:"keep"`
	ComplexValues     PerHost[Values]   `conf:"complex_values" see:"keep"`
	Projects          PerHost[Names]    `conf:"projects,space" see:"who"`
	XProjects         PerHost[Names]    `conf:"xprojects,space" see:"who"`
	Calendar          PerHost[string]   `conf:"calendar,NONE" see:"keep"`
	InitialState      PerHost[string]   `conf:"initial_state" see:"keep"`
	SRT               PerHost[TimeText] `conf:"s_rt" see:"keep"`
	HRT               PerHost[TimeText] `conf:"h_rt" see:"keep"`
	SCPU              PerHost[TimeText] `conf:"s_cpu" see:"keep"`
	HCPU              PerHost[TimeText] `conf:"h_cpu" see:"keep"`
	SFSize            PerHost[MemText]  `conf:"s_fsize" see:"keep"`
	HFSize            PerHost[MemText]  `conf:"h_fsize" see:"keep"`
	SData             PerHost[MemText]  `conf:"s_data" see:"keep"`
	HData             PerHost[MemText]  `conf:"h_data" see:"keep"`
	SStack            PerHost[MemText]  `conf:"s_stack" see:"keep"`
	HStack            PerHost[MemText]  `conf:"h_stack" see:"keep"`
	SCore             PerHost[MemText]  `conf:"s_core" see:"keep"`
	HCore             PerHost[MemText]  `conf:"h_core" see:"keep"`
	SRSS              PerHost[MemText]  `conf:"s_rss" see:"keep"`
	HRSS              PerHost[MemText]  `conf:"h_rss" see:"keep"`
	SVMem             PerHost[MemText]  `conf:"s_vmem" see:"keep"`
	HVMem             PerHost[MemText]  `conf:"h_vmem" see:"keep"`

	Version uint32 `conf:"-"` // rises with each change: the token of start orders
}

func (*CQueue) Kind() Kind { return KindCQueue }
func (q *CQueue) Key() Key { return Key{Name: q.Name} }

// Contested are the attributes of a cluster queue with values for several host
// groups: only they can be ambiguous on a host that is in more than one.
type Contested []contested

type contested struct {
	name string
	attribute
}

// attribute is a PerHost, whatever its values are.
type attribute interface {
	contested() bool
	ambiguous(host string, member func(group string) bool) []string
	targets() []string
}

// attributes are those that may have exceptions, in the order of queue_conf(5).
func (q *CQueue) attributes() iter.Seq2[string, attribute] {
	return func(yield func(string, attribute) bool) {
		v := reflect.ValueOf(q).Elem()
		for i := range v.NumField() {
			if a, ok := v.Field(i).Interface().(attribute); ok {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("conf"), ",")
				if !yield(name, a) {
					return
				}
			}
		}
	}
}

// Exceptions are all that the queue has: the attribute, and the host or @group
// for which it has a value of its own.
func (q *CQueue) Exceptions() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for name, a := range q.attributes() {
			for _, target := range a.targets() {
				if !yield(name, target) {
					return
				}
			}
		}
	}
}

// Contested finds them. Almost all queues have none.
func (q *CQueue) Contested() (out Contested) {
	for name, a := range q.attributes() {
		if a.contested() {
			out = append(out, contested{name, a})
		}
	}
	return out
}

// Ambiguous returns which attributes are ambiguous for the instance on a host, and
// between which groups, a sentence each as qstat -explain c prints it. An instance with
// any is in state c (QueueAmbiguous): it takes no jobs until the configuration is
// changed.
func (c Contested) Ambiguous(host string, member func(group string) bool) (why []string) {
	for _, a := range c {
		if groups := a.ambiguous(host, member); groups != nil {
			why = append(why, fmt.Sprintf("warning: %q has ambiguous value (%q, %q)", a.name, groups[0], groups[1]))
		}
	}
	return why
}

// QueueState is the set of a queue instance's states.
type QueueState uint32

const (
	QueueAlarm                QueueState = 0x1      // a
	QueueSuspendAlarm         QueueState = 0x2      // A
	QueueDisabled             QueueState = 0x4      // d
	QueueSuspended            QueueState = 0x100    // s
	QueueUnknown              QueueState = 0x400    // u
	QueueError                QueueState = 0x4000   // E
	QueueSuspendedSubordinate QueueState = 0x8000   // S
	QueueCalDisabled          QueueState = 0x20000  // D
	QueueCalSuspended         QueueState = 0x40000  // C
	QueueAmbiguous            QueueState = 0x80000  // c
	QueueOrphaned             QueueState = 0x100000 // o
)

// QueueSuspendedAny is every reason for which the tasks of an instance stand
// still.
const QueueSuspendedAny = QueueSuspended | QueueSuspendedSubordinate | QueueCalSuspended

// Letters prints the states as qstat -f does: a A u E s d S D C c o in Grid
// Engine's order.
func (s QueueState) Letters() string {
	var b []byte
	for _, l := range [...]struct {
		bit    QueueState
		letter byte
	}{
		{QueueAlarm, 'a'}, {QueueSuspendAlarm, 'A'}, {QueueCalSuspended, 'C'}, {QueueCalDisabled, 'D'},
		{QueueDisabled, 'd'}, {QueueUnknown, 'u'}, {QueueError, 'E'}, {QueueAmbiguous, 'c'}, {QueueOrphaned, 'o'},
		{QueueSuspended, 's'}, {QueueSuspendedSubordinate, 'S'},
	} {
		if s&l.bit != 0 {
			b = append(b, l.letter)
		}
	}
	return string(b)
}

// QInstance is a cluster queue on one host. State holds what was decided or
// happened (d s E D C o); alarm (a, A) and unknown (u) are derived from the
// host's Load, ambiguous (c) from the cluster queue (Contested), and never stored.
type QInstance struct {
	Queue, Host string `see:"keep"`
	State       QueueState
	Message     string `see:"text"` // why it is in state E
	LastSuspend Time   // suspend_interval counts from here
}

func (*QInstance) Kind() Kind     { return KindQInstance }
func (q *QInstance) Key() Key     { return Key{Name: q.Name()} }
func (q *QInstance) Name() string { return q.Queue + "@" + q.Host }
