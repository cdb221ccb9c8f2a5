package sched

import (
	"fmt"
)

// Reason says why something does not fit. The zero value means that it does.
type Reason struct {
	Code   Code
	Object string // the queue instance, host, queue or PE
	What   string // the attribute, or all requests
	Offer  string // what the object has to say: what it offers, or the job's project
	Slots  int
}

// Code is the kind of a reason; each has one message.
type Code uint8

const (
	OK Code = iota
	NotInHardQueueList
	NotInMasterQueueList
	NoAccessQueue
	NoAccessHost
	NoAccessPE
	ProjectMissing
	ProjectWrong
	ProjectExcluded
	NotParallel
	NotInPEList
	NotCheckpointing
	NotInCkptList
	NotInteractive
	NotBatch
	NotAtQueue
	NotAtHost
	NotGlobally
	UnknownResource
	ForcedQueue
	ForcedHost
	ForcedGlobal
	WouldAlarm
	QueueZeroSlots
	QueueFull
	QueueAlarm
	QueueSuspendAlarm
	QueueSuspended
	QueueDisabled
	QueueUnavailable
	AllQueuesBusy
	PENoMatch
	PEOffersOnly
	PETotal
	PERule
	CkptUnknown
	NoSuchQueue
	GrantSlots
	UserLimit
	ARUnknown
	OverQuota
	QueueCloses
	ARWaits
	ARInError
	ARTooShort
	NoAccessAR
	NotReserved
)

// Fits says whether there is nothing against it.
func (r Reason) Fits() bool { return r.Code == OK }

// String is Grid Engine's message, as qstat -j prints it.
func (r Reason) String() string {
	switch r.Code {
	case OK:
		return ""
	case NotInHardQueueList:
		return fmt.Sprintf(`cannot run in queue "%s" because it is not contained in its hard queue list (-q)`, r.Object)
	case NotInMasterQueueList:
		return fmt.Sprintf(`cannot run in queue "%s" because it is not contained in its master queue list (-masterq)`, r.Object)
	case NoAccessQueue:
		return fmt.Sprintf(`has no permission for %s "%s"`, r.What, r.Object)
	case NoAccessHost:
		return fmt.Sprintf(`has no permission for host "%s"`, r.Object)
	case NoAccessPE:
		return fmt.Sprintf(`cannot run because no access to PE "%s"`, r.Object)
	case ProjectMissing:
		return fmt.Sprintf(`(no project) does not have the correct project to run in %s "%s"`, r.What, r.Object)
	case ProjectWrong:
		return fmt.Sprintf(`(project %s) does not have the correct project to run in %s "%s"`, r.Offer, r.What, r.Object)
	case ProjectExcluded:
		return fmt.Sprintf(`(project %s) is not allowed to run in %s "%s" based on the excluded project list`, r.Offer, r.What, r.Object)
	case NotParallel:
		return fmt.Sprintf(`cannot run in queue instance "%s" because it is not of parallel type`, r.Object)
	case NotInPEList:
		return fmt.Sprintf(`cannot run in queue "%s" because PE "%s" is not in PE list`, r.Object, r.What)
	case NotCheckpointing:
		return fmt.Sprintf(`cannot run in queue instance "%s" because it is not of type checkpointing`, r.Object)
	case NotInCkptList:
		return fmt.Sprintf(`cannot run in queue instance "%s" because ckpt object "%s" is not in ckpt list of queue`, r.Object, r.What)
	case NotInteractive:
		return fmt.Sprintf(`cannot run in queue "%s" because it is not of type interactive`, r.Object)
	case NotBatch:
		return fmt.Sprintf(`cannot run in queue instance "%s" because it is not of type batch`, r.Object)
	case NotAtQueue:
		return fmt.Sprintf(`(-l %s) cannot run in queue "%s" because %s`, r.What, r.Object, r.Offer)
	case NotAtHost:
		return fmt.Sprintf(`(-l %s) cannot run at host "%s" because %s`, r.What, r.Object, r.Offer)
	case NotGlobally:
		return fmt.Sprintf(`(-l %s) cannot run globally because %s`, r.What, r.Offer)
	case UnknownResource:
		return fmt.Sprintf(`job requests unknown resource (%s)`, r.What)
	case ForcedQueue:
		return fmt.Sprintf(`does not request 'forced' resource "%s" of queue instance %s`, r.What, r.Object)
	case ForcedHost:
		return fmt.Sprintf(`does not request 'forced' resource "%s" of host %s`, r.What, r.Object)
	case ForcedGlobal:
		return fmt.Sprintf(`does not request globally 'forced' resource "%s"`, r.What)
	case WouldAlarm:
		return fmt.Sprintf(`(%d slots) would put queue instance "%s" into load alarm state`, r.Slots, r.Object)
	case QueueZeroSlots:
		return fmt.Sprintf(`cannot run in queue instance "%s" because it has "0" slots`, r.Object)
	case QueueFull:
		return fmt.Sprintf(`queue instance "%s" dropped because it is full`, r.Object)
	case QueueAlarm:
		return fmt.Sprintf(`queue instance "%s" dropped because it is overloaded: %s`, r.Object, r.What)
	case QueueSuspendAlarm:
		return fmt.Sprintf(`queue instance "%s" is in suspend alarm: %s`, r.Object, r.What)
	case QueueSuspended:
		return fmt.Sprintf(`queue instance "%s" dropped because it is suspended`, r.Object)
	case QueueDisabled:
		return fmt.Sprintf(`queue instance "%s" dropped because it is disabled`, r.Object)
	case QueueUnavailable:
		return fmt.Sprintf(`queue instance "%s" dropped because it is temporarily not available`, r.Object)
	case AllQueuesBusy:
		return "All queues dropped because of overload or full"
	case PENoMatch:
		return fmt.Sprintf(`no matching parallel environment for job's PE request "%s"`, r.Object)
	case PEOffersOnly:
		return fmt.Sprintf(`cannot run in PE "%s" because it only offers %d slots`, r.Object, r.Slots)
	case PETotal:
		return fmt.Sprintf(`cannot run because total slots of PE "%s" not in range of job`, r.Object)
	case PERule:
		return fmt.Sprintf(`PE "%s" dropped because allocation rule is not suitable`, r.Object)
	case CkptUnknown:
		return "cannot run because requested ckpt object not found"
	case NoSuchQueue:
		return fmt.Sprintf(`can't find queue "%s"`, r.Object)
	case GrantSlots:
		return fmt.Sprintf(`not enough (%d) free slots in queue "%s"`, r.Slots, r.Object)
	case UserLimit:
		return "job dropped because of user limitations"
	case QueueCloses:
		return fmt.Sprintf(`cannot run in queue "%s" because it will be disabled by its calendar`, r.Object)
	case OverQuota:
		return fmt.Sprintf(`cannot run because it exceeds limit "%s" in rule "%s"`, r.What, r.Object)
	case ARUnknown:
		return fmt.Sprintf("can't find advance reservation %s", r.What)
	case ARWaits:
		return fmt.Sprintf("cannot run because advance reservation %s has not started yet", r.What)
	case ARInError:
		return fmt.Sprintf("cannot run because advance reservation %s is in error state", r.What)
	case ARTooShort:
		return fmt.Sprintf("cannot run because advance reservation %s ends before the job would", r.What)
	case NoAccessAR:
		return fmt.Sprintf("has no permission for advance reservation %s", r.What)
	case NotReserved:
		return fmt.Sprintf(`cannot run in queue "%s" because it was not reserved by advance reservation %s`, r.Object, r.What)
	}
	return fmt.Sprintf("reason %d", r.Code)
}
