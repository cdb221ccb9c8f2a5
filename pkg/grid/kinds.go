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
	KindToken          Kind = 33
	KindLogin          Kind = 34
	KindProposal       Kind = 35
	KindInstance       Kind = 36
	KindJobReservation Kind = 37
)

// KindsEnd is one more than the largest Kind.
const KindsEnd = KindJobReservation + 1

// Key names one object within its kind. Jobs use ID, tasks ID and Sub (the
// task number), PE tasks all three; everything else is keyed by Name, queue
// instances by "queue@host".
type Key struct {
	ID, Sub uint32
	Name    string `see:"keep"`
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
	// Default returns the object that qconf offers when one of this name is
	// added; nil for kinds that are not configured or consist of a name.
	Default func(name string) Object
	// Qconf is the stem of the qconf switches: "q" in -aq -mq -dq -sq;
	// empty for kinds that qconf does not handle by this pattern.
	Qconf string
	// Noun is the word of qconf's answers: `added "x" to NOUN list`.
	Noun string
	// Effect is what a change of an object means for scheduling.
	Effect Effect
	// Fact marks kinds that are reported once and not kept in the state.
	Fact bool
	// OfJob marks kinds whose keys begin with the number of a job.
	OfJob bool
	// Confidential marks kinds whose objects are listed to their owner and to managers only.
	Confidential bool
}

// Configured reports whether administrators change objects of the kind, qconf(1).
func (s *Spec) Configured() bool { return s.Qconf != "" || s.Default != nil }

// Effect is what a change of an object means for scheduling. Each kind has one;
// zero is none of them.
type Effect uint8

const (
	EffectNone   Effect = iota + 1 // scheduling does not react to it
	EffectUse                      // what is in use or to be started: followed event by event
	EffectOrder                    // which job goes first
	EffectConfig                   // what fits where: the configuration is resolved anew
)

// empty is the New of a kind.
func empty[T any, P interface {
	*T
	Object
}]() Object {
	return P(new(T))
}

// named is the Default of a kind whose objects have names.
func named[P Object](make func(name string) P) func(string) Object {
	return func(name string) Object { return make(name) }
}

// Kinds is the one table of all kinds, in the order in which a full state is sent:
// objects come before those that refer to them.
var Kinds = []Spec{
	{Kind: KindCounter, Name: "COUNTER", New: empty[Counter], Effect: EffectNone},
	{Kind: KindConf, Name: "CONFIG", New: empty[Conf], Qconf: "conf", Noun: "configuration", Effect: EffectConfig,
		Default: func(host string) Object { return &Conf{Host: host} }},
	{Kind: KindSchedConf, Name: "SCHED_CONF", New: empty[SchedConf], Noun: "scheduler configuration", Effect: EffectConfig,
		Default: func(string) Object { return DefaultSchedConf() }},
	{Kind: KindManager, Name: "MANAGER", New: empty[Manager], Qconf: "m", Noun: "manager", Effect: EffectNone},
	{Kind: KindOperator, Name: "OPERATOR", New: empty[Operator], Qconf: "o", Noun: "operator", Effect: EffectNone},
	{Kind: KindToken, Name: "TOKEN", New: empty[Token], Effect: EffectNone, Confidential: true},
	{Kind: KindLogin, Name: "LOGIN", New: empty[Login], Effect: EffectNone},
	{Kind: KindProposal, Name: "PROPOSAL", New: empty[Proposal], Effect: EffectNone, Confidential: true},
	{Kind: KindAdminHost, Name: "ADMINHOST", New: empty[AdminHost], Qconf: "h", Noun: "administrative host",
		Effect: EffectNone},
	{Kind: KindSubmitHost, Name: "SUBMITHOST", New: empty[SubmitHost], Qconf: "s", Noun: "submit host",
		Effect: EffectNone},
	{Kind: KindUserset, Name: "USERSET", New: empty[Userset], Qconf: "u", Noun: "userset", Effect: EffectConfig,
		Default: named(DefaultUserset)},
	{Kind: KindProject, Name: "PROJECT", New: empty[Project], Qconf: "prj", Noun: "project", Effect: EffectConfig,
		Default: named(DefaultProject)},
	{Kind: KindUser, Name: "USER", New: empty[User], Qconf: "user", Noun: "user", Effect: EffectOrder,
		Default: named(DefaultUser)},
	{Kind: KindBooking, Name: "BOOKING", New: empty[Booking], Effect: EffectNone},
	{Kind: KindCentry, Name: "CENTRY", New: empty[Centry], Qconf: "ce", Noun: "complex entry", Effect: EffectConfig,
		Default: named(DefaultCentry)},
	{Kind: KindCalendar, Name: "CALENDAR", New: empty[Calendar], Qconf: "cal", Noun: "calendar", Effect: EffectConfig,
		Default: named(DefaultCalendar)},
	{Kind: KindCkpt, Name: "CKPT", New: empty[Ckpt], Qconf: "ckpt", Noun: "checkpoint interface", Effect: EffectConfig,
		Default: named(DefaultCkpt)},
	{Kind: KindPE, Name: "PE", New: empty[PE], Qconf: "p", Noun: "parallel environment", Effect: EffectConfig,
		Default: named(DefaultPE)},
	{Kind: KindHGroup, Name: "HGROUP", New: empty[HGroup], Qconf: "hgrp", Noun: "host group", Effect: EffectConfig,
		Default: named(DefaultHGroup)},
	{Kind: KindExecHost, Name: "EXECHOST", New: empty[ExecHost], Qconf: "e", Noun: "exechost", Effect: EffectConfig,
		Default: named(DefaultExecHost)},
	{Kind: KindInstance, Name: "INSTANCE", New: empty[Instance], Effect: EffectConfig},
	{Kind: KindLoad, Name: "LOAD", New: empty[Load], Effect: EffectUse},
	{Kind: KindCQueue, Name: "CQUEUE", New: empty[CQueue], Qconf: "q", Noun: "cluster queue", Effect: EffectConfig,
		Default: named(DefaultCQueue)},
	{Kind: KindQInstance, Name: "QINSTANCE", New: empty[QInstance], Effect: EffectUse},
	{Kind: KindRQS, Name: "RQS", New: empty[RQS], Qconf: "rqs", Noun: "resource quota set", Effect: EffectConfig,
		Default: named(DefaultRQS)},
	{Kind: KindShareTree, Name: "SHARETREE", New: empty[ShareTree], Qconf: "stree", Noun: "share tree",
		Effect: EffectOrder, Default: func(string) Object { return DefaultShareTree() }},
	{Kind: KindAR, Name: "AR", New: empty[AR], Effect: EffectConfig},
	{Kind: KindJob, Name: "JOB", New: func() Object { return new(Job) }, Effect: EffectUse, OfJob: true},
	{Kind: KindJATask, Name: "JATASK", New: empty[JATask], Effect: EffectUse, OfJob: true},
	{Kind: KindPriority, Name: "PRIORITY", New: empty[Priority], Effect: EffectNone, OfJob: true},
	{Kind: KindJobReservation, Name: "JOB_RESERVATION", New: empty[JobReservation], Effect: EffectNone, OfJob: true},
	{Kind: KindPriorityRange, Name: "PRIORITY_RANGE", New: empty[PriorityRange], Effect: EffectNone},
	{Kind: KindPETask, Name: "PETASK", New: empty[PETask], Effect: EffectNone, OfJob: true},
	{Kind: KindAlgorithmState, Name: "ALGORITHM", New: empty[AlgorithmState], Effect: EffectNone},
	{Kind: KindJobScheddInfo, Name: "JOB_SCHEDD_INFO", New: empty[JobScheddInfo], Effect: EffectNone},
	{Kind: KindReceipt, Name: "RECEIPT", New: empty[Receipt], Effect: EffectNone},
	{Kind: KindAccounting, Name: "ACCOUNTING", New: empty[Accounting], Effect: EffectNone, OfJob: true, Fact: true},
}

// specs are the rows of Kinds by kind.
var specs = func() (rows [1 << 8]*Spec) {
	for i := range Kinds {
		rows[Kinds[i].Kind] = &Kinds[i]
	}
	return rows
}()

// SpecOf returns the kind's row, nil for an unknown kind.
func SpecOf(k Kind) *Spec { return specs[k] }

// EffectOf returns what a change of an object of the kind means for scheduling:
// of an unknown kind, everything.
func EffectOf(k Kind) Effect {
	if s := specs[k]; s != nil {
		return s.Effect
	}
	return EffectConfig
}

// OfJob reports whether keys of objects of the kind begin with the number of a job.
func (k Kind) OfJob() bool { return specs[k] != nil && specs[k].OfJob }

// Default returns the object that qconf offers when one of this kind and name is
// added, nil for kinds that have none.
func Default(k Kind, name string) Object {
	if s := specs[k]; s != nil && s.Default != nil {
		return s.Default(name)
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
