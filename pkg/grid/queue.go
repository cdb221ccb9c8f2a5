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
	Name     string `conf:"qname"`
	HostList Names  `conf:"hostlist,space"`

	SeqNo             PerHost[int32]    `conf:"seq_no"`
	LoadThresholds    PerHost[Values]   `conf:"load_thresholds"`
	SuspendThresholds PerHost[Values]   `conf:"suspend_thresholds"`
	NSuspend          PerHost[int32]    `conf:"nsuspend"`
	SuspendInterval   PerHost[TimeText] `conf:"suspend_interval"`
	Priority          PerHost[int32]    `conf:"priority,signed"`
	MinCPUInterval    PerHost[TimeText] `conf:"min_cpu_interval"`
	Processors        PerHost[string]   `conf:"processors,UNDEFINED"`
	QType             PerHost[Names]    `conf:"qtype,space"`
	CkptList          PerHost[Names]    `conf:"ckpt_list,space"`
	PEList            PerHost[Names]    `conf:"pe_list,space"`
	Rerun             PerHost[bool]     `conf:"rerun"`
	Slots             PerHost[int32]    `conf:"slots"`
	TmpDir            PerHost[string]   `conf:"tmpdir"`
	Shell             PerHost[string]   `conf:"shell"`
	Prolog            PerHost[string]   `conf:"prolog,NONE"`
	Epilog            PerHost[string]   `conf:"epilog,NONE"`
	ShellStartMode    PerHost[string]   `conf:"shell_start_mode"`
	StarterMethod     PerHost[string]   `conf:"starter_method,NONE"`
	SuspendMethod     PerHost[string]   `conf:"suspend_method,NONE"`
	ResumeMethod      PerHost[string]   `conf:"resume_method,NONE"`
	TerminateMethod   PerHost[string]   `conf:"terminate_method,NONE"`
	Notify            PerHost[TimeText] `conf:"notify"`
	OwnerList         PerHost[Names]    `conf:"owner_list,space"`
	UserLists         PerHost[Names]    `conf:"user_lists,space"`
	XUserLists        PerHost[Names]    `conf:"xuser_lists,space"`
	SubordinateList   PerHost[Names]    `conf:"subordinate_list"`
	ComplexValues     PerHost[Values]   `conf:"complex_values"`
	Projects          PerHost[Names]    `conf:"projects,space"`
	XProjects         PerHost[Names]    `conf:"xprojects,space"`
	Calendar          PerHost[string]   `conf:"calendar,NONE"`
	InitialState      PerHost[string]   `conf:"initial_state"`
	SRT               PerHost[TimeText] `conf:"s_rt"`
	HRT               PerHost[TimeText] `conf:"h_rt"`
	SCPU              PerHost[TimeText] `conf:"s_cpu"`
	HCPU              PerHost[TimeText] `conf:"h_cpu"`
	SFSize            PerHost[MemText]  `conf:"s_fsize"`
	HFSize            PerHost[MemText]  `conf:"h_fsize"`
	SData             PerHost[MemText]  `conf:"s_data"`
	HData             PerHost[MemText]  `conf:"h_data"`
	SStack            PerHost[MemText]  `conf:"s_stack"`
	HStack            PerHost[MemText]  `conf:"h_stack"`
	SCore             PerHost[MemText]  `conf:"s_core"`
	HCore             PerHost[MemText]  `conf:"h_core"`
	SRSS              PerHost[MemText]  `conf:"s_rss"`
	HRSS              PerHost[MemText]  `conf:"h_rss"`
	SVMem             PerHost[MemText]  `conf:"s_vmem"`
	HVMem             PerHost[MemText]  `conf:"h_vmem"`

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
	Queue, Host string
	State       QueueState
	Message     string // why it is in state E
	LastSuspend Time   // suspend_interval counts from here
}

func (*QInstance) Kind() Kind     { return KindQInstance }
func (q *QInstance) Key() Key     { return Key{Name: q.Name()} }
func (q *QInstance) Name() string { return q.Queue + "@" + q.Host }
