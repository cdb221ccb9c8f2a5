package grid

import (
	"cmp"
	"fmt"
)

// Kind is the type of an object: Grid Engine's list type.
// The numbers are part of the stored format: never reuse or reorder them.
type Kind uint8

const (
	KindJob            Kind = 1
	KindJATask         Kind = 2
	KindPETask         Kind = 3
	KindAccounting     Kind = 4
	KindJobScheddInfo  Kind = 5
	KindReceipt        Kind = 6
	KindCounter        Kind = 7
	KindLoad           Kind = 8
	KindCQueue         Kind = 9
	KindQInstance      Kind = 10
	KindExecHost       Kind = 11
	KindAdminHost      Kind = 12
	KindSubmitHost     Kind = 13
	KindHGroup         Kind = 14
	KindCentry         Kind = 15
	KindPE             Kind = 16
	KindCkpt           Kind = 17
	KindCalendar       Kind = 18
	KindUserset        Kind = 19
	KindUser           Kind = 20
	KindProject        Kind = 21
	KindManager        Kind = 22
	KindOperator       Kind = 23
	KindShareTree      Kind = 24
	KindRQS            Kind = 25
	KindAR             Kind = 26
	KindConf           Kind = 27
	KindSchedConf      Kind = 28
	KindBooking        Kind = 29
	KindPriority       Kind = 30
	KindAlgorithmState Kind = 31
	KindPriorityRange  Kind = 32
)

// Key names one object within its kind. Jobs use ID, tasks ID and Sub (the
// task number), PE tasks all three; everything else is keyed by Name, queue
// instances by "queue@host".
type Key struct {
	ID, Sub uint32
	Name    string
}

// Compare orders keys by ID, Sub, Name: the order of every table and listing.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.ID, o.ID); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Sub, o.Sub); c != 0 {
		return c
	}
	return cmp.Compare(k.Name, o.Name)
}

// String prints 7, 7.3, 7.3:petask or the name.
func (k Key) String() string {
	switch {
	case k.ID == 0:
		return k.Name
	case k.Sub == 0 && k.Name == "":
		return fmt.Sprint(k.ID)
	case k.Name == "":
		return fmt.Sprintf("%d.%d", k.ID, k.Sub)
	default:
		return fmt.Sprintf("%d.%d:%s", k.ID, k.Sub, k.Name)
	}
}

// Object is a thing the cluster knows.
type Object interface {
	Kind() Kind
	Key() Key
}

// Spec is one row of the table of kinds.
type Spec struct {
	Kind Kind
	// Name is Grid Engine's word in event names: JOB in JOB_ADD.
	Name string
	// New returns an empty object of the kind, a pointer to its struct.
	New func() Object
	// Qconf is the stem of the qconf switches: "q" in -aq -mq -dq -sq;
	// empty for kinds that qconf does not handle by this pattern.
	Qconf string
	// Noun is the word of qconf's answers: `added "x" to NOUN list`.
	Noun string
	// Fact marks kinds that are told once and not kept in the state.
	Fact bool
}

// Kinds is the one table of all kinds, in the order in which a full state is
// told: what others refer to comes first.
var Kinds = []Spec{
	{Kind: KindCounter, Name: "COUNTER", New: func() Object { return new(Counter) }},
	{Kind: KindConf, Name: "CONFIG", New: func() Object { return new(Conf) }, Qconf: "conf", Noun: "configuration"},
	{Kind: KindSchedConf, Name: "SCHED_CONF", New: func() Object { return new(SchedConf) }},
	{Kind: KindManager, Name: "MANAGER", New: func() Object { return new(Manager) }, Qconf: "m", Noun: "manager"},
	{Kind: KindOperator, Name: "OPERATOR", New: func() Object { return new(Operator) }, Qconf: "o", Noun: "operator"},
	{Kind: KindAdminHost, Name: "ADMINHOST", New: func() Object { return new(AdminHost) }, Qconf: "h", Noun: "administrative host"},
	{Kind: KindSubmitHost, Name: "SUBMITHOST", New: func() Object { return new(SubmitHost) }, Qconf: "s", Noun: "submit host"},
	{Kind: KindUserset, Name: "USERSET", New: func() Object { return new(Userset) }, Qconf: "u", Noun: "userset"},
	{Kind: KindProject, Name: "PROJECT", New: func() Object { return new(Project) }, Qconf: "prj", Noun: "project"},
	{Kind: KindUser, Name: "USER", New: func() Object { return new(User) }, Qconf: "user", Noun: "user"},
	{Kind: KindBooking, Name: "BOOKING", New: func() Object { return new(Booking) }},
	{Kind: KindCentry, Name: "CENTRY", New: func() Object { return new(Centry) }, Qconf: "ce", Noun: "complex entry"},
	{Kind: KindCalendar, Name: "CALENDAR", New: func() Object { return new(Calendar) }, Qconf: "cal", Noun: "calendar"},
	{Kind: KindCkpt, Name: "CKPT", New: func() Object { return new(Ckpt) }, Qconf: "ckpt", Noun: "checkpoint interface"},
	{Kind: KindPE, Name: "PE", New: func() Object { return new(PE) }, Qconf: "p", Noun: "parallel environment"},
	{Kind: KindHGroup, Name: "HGROUP", New: func() Object { return new(HGroup) }, Qconf: "hgrp", Noun: "host group"},
	{Kind: KindExecHost, Name: "EXECHOST", New: func() Object { return new(ExecHost) }, Qconf: "e", Noun: "exechost"},
	{Kind: KindLoad, Name: "LOAD", New: func() Object { return new(Load) }},
	{Kind: KindCQueue, Name: "CQUEUE", New: func() Object { return new(CQueue) }, Qconf: "q", Noun: "cluster queue"},
	{Kind: KindQInstance, Name: "QINSTANCE", New: func() Object { return new(QInstance) }},
	{Kind: KindRQS, Name: "RQS", New: func() Object { return new(RQS) }, Qconf: "rqs", Noun: "resource quota set"},
	{Kind: KindShareTree, Name: "SHARETREE", New: func() Object { return new(ShareTree) }, Qconf: "stree", Noun: "share tree"},
	{Kind: KindAR, Name: "AR", New: func() Object { return new(AR) }},
	{Kind: KindJob, Name: "JOB", New: func() Object { return &Job{JobRequest: noRequest} }},
	{Kind: KindJATask, Name: "JATASK", New: func() Object { return new(JATask) }},
	{Kind: KindPriority, Name: "PRIORITY", New: func() Object { return new(Priority) }},
	{Kind: KindPriorityRange, Name: "PRIORITY_RANGE", New: func() Object { return new(PriorityRange) }},
	{Kind: KindPETask, Name: "PETASK", New: func() Object { return new(PETask) }},
	{Kind: KindAlgorithmState, Name: "ALGORITHM", New: func() Object { return new(AlgorithmState) }},
	{Kind: KindJobScheddInfo, Name: "JOB_SCHEDD_INFO", New: func() Object { return new(JobScheddInfo) }},
	{Kind: KindReceipt, Name: "RECEIPT", New: func() Object { return new(Receipt) }},
	{Kind: KindAccounting, Name: "ACCOUNTING", New: func() Object { return new(Accounting) }, Fact: true},
}

// SpecOf returns the kind's row, nil for an unknown kind.
func SpecOf(k Kind) *Spec {
	for i := range Kinds {
		if Kinds[i].Kind == k {
			return &Kinds[i]
		}
	}
	return nil
}

// String prints the kind's name as it stands in event names.
func (k Kind) String() string {
	if s := SpecOf(k); s != nil {
		return s.Name
	}
	return fmt.Sprintf("KIND%d", uint8(k))
}
