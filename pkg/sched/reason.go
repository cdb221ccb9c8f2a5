package sched

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Reason is why something does not fit. The zero value means that it does.
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
	NotBindable
	NotInSlaveQueueList
)

// Fits reports whether there is nothing against it.
func (r Reason) Fits() bool { return r.Code == OK }

// String returns Grid Engine's message, as qstat -j prints it; "" for OK.
func (r Reason) String() string {
	if int(r.Code) >= len(codes) {
		return fmt.Sprintf("reason %d", r.Code)
	}
	var b strings.Builder
	rest, gap := codes[r.Code].message, false
	for {
		var text string
		text, rest, gap = strings.Cut(rest, "{")
		b.WriteString(text)
		if !gap {
			return b.String()
		}
		text, rest, _ = strings.Cut(rest, "}")
		switch text {
		case "object":
			b.WriteString(r.Object)
		case "what":
			b.WriteString(r.What)
		case "offer":
			b.WriteString(r.Offer)
		case "slots":
			b.WriteString(strconv.Itoa(r.Slots))
		}
	}
}

// codes are the messages of each code, as qstat -j prints them, and the sentence
// under which Grid Engine summarizes them for all jobs: qstat -j without jobs.
var codes = [...]struct{ message, summary string }{
	NotInHardQueueList: {`cannot run in queue "{object}" because it is not contained in its hard queue list (-q)`,
		"Jobs can not run because queue instance is not contained in its hard queue list"},
	NotInMasterQueueList: {
		message: `cannot run in queue "{object}" because it is not contained in its master queue list (-masterq)`},
	NotInSlaveQueueList: {
		message: `cannot run in queue "{object}" because it is not contained in its slave queue list (-scope slave -q)`},
	NoAccessQueue: {`has no permission for {what} "{object}"`,
		"No queue instance with suitable access permissions could be found"},
	NoAccessHost: {`has no permission for host "{object}"`,
		"No queue instance with suitable access permissions could be found"},
	NoAccessPE: {`cannot run because no access to PE "{object}"`,
		"Jobs can not run because they have no access to PE"},
	ProjectMissing: {`(no project) does not have the correct project to run in {what} "{object}"`,
		"Jobs are not assigned to a project to get a queue instance"},
	ProjectWrong: {`(project {offer}) does not have the correct project to run in {what} "{object}"`,
		"Jobs can not run because queue does not provides the job's assigned project"},
	ProjectExcluded: {`(project {offer}) is not allowed to run in {what} "{object}" based on the excluded project list`,
		"Jobs can not run because excluded project list of queue does not allow it"},
	NotParallel: {`cannot run in queue instance "{object}" because it is not of parallel type`,
		"Jobs can not run because queue instance is not a parallel queue"},
	NotInPEList: {`cannot run in queue "{object}" because PE "{what}" is not in PE list`,
		"Jobs can not run because queue instance is not in queue list of PE"},
	NotCheckpointing: {`cannot run in queue instance "{object}" because it is not of type checkpointing`,
		"Jobs can not run because queue instance is not of type checkpointing"},
	NotInCkptList: {`cannot run in queue instance "{object}" because ckpt object "{what}" is not in ckpt list of queue`,
		"Jobs can not run because queue instance is not in queue list of ckpt interface definition"},
	NotInteractive: {`cannot run in queue "{object}" because it is not of type interactive`,
		"Jobs can not run because queue instance is not interactive"},
	NotBatch: {`cannot run in queue instance "{object}" because it is not of type batch`,
		"Jobs can not run because queue instance is not of type batch or transfer"},
	NotAtQueue: {`(-l {what}) cannot run in queue "{object}" because {offer}`,
		"Jobs can not run because the resource requirements can not be satisfied"},
	NotAtHost: {`(-l {what}) cannot run at host "{object}" because {offer}`,
		"Jobs can not run because no host can satisfy the resource requirements"},
	NotBindable: {`({what}) cannot run at host "{object}" because {offer}`,
		"Jobs can not run because no host can bind them to the units that they ask for"},
	NotGlobally: {"(-l {what}) cannot run globally because {offer}",
		"Jobs can not run globally because the resource requirements can not be satisfied"},
	UnknownResource: {message: "job requests unknown resource ({what})"},
	ForcedQueue: {`does not request 'forced' resource "{what}" of queue instance {object}`,
		"Jobs can not run because they do not request 'forced' resource"},
	ForcedHost: {`does not request 'forced' resource "{what}" of host {object}`,
		"Jobs can not run because they do not request 'forced' resource"},
	ForcedGlobal: {`does not request globally 'forced' resource "{what}"`,
		"Jobs can not run globally because they do not request 'forced' resource"},
	WouldAlarm: {`({slots} slots) would put queue instance "{object}" into load alarm state`,
		"Jobs would set queue in load alarm state"},
	QueueZeroSlots: {`cannot run in queue instance "{object}" because it has "0" slots`,
		"Jobs can not run because queue has 0 slots"},
	QueueFull:         {message: `queue instance "{object}" dropped because it is full`},
	QueueAlarm:        {message: `queue instance "{object}" dropped because it is overloaded: {what}`},
	QueueSuspendAlarm: {message: `queue instance "{object}" is in suspend alarm: {what}`},
	QueueSuspended:    {message: `queue instance "{object}" dropped because it is suspended`},
	QueueDisabled:     {message: `queue instance "{object}" dropped because it is disabled`},
	QueueUnavailable:  {message: `queue instance "{object}" dropped because it is temporarily not available`},
	AllQueuesBusy:     {message: "All queues dropped because of overload or full"},
	PENoMatch: {`no matching parallel environment for job's PE request "{object}"`,
		"Parallel job dropped because no matching PE found"},
	PEOffersOnly: {`cannot run in PE "{object}" because it only offers {slots} slots`,
		"Jobs can not run because available slots combined under PE are not in range of job"},
	PETotal: {`cannot run because total slots of PE "{object}" not in range of job`,
		"Jobs can not run because total slots of PE are not in range of job"},
	PERule: {`PE "{object}" dropped because allocation rule is not suitable`,
		"PE dropped because allocation rule is not suitable"},
	CkptUnknown: {"cannot run because requested ckpt object not found",
		"Jobs can not run because requested ckpt object not found"},
	NoSuchQueue: {message: `can't find queue "{object}"`},
	GrantSlots:  {message: `not enough ({slots}) free slots in queue "{object}"`},
	UserLimit: {"job dropped because of user limitations",
		"Job dropped because of user limitations"},
	ARUnknown: {message: "can't find advance reservation {what}"},
	OverQuota: {`cannot run because it exceeds limit "{what}" in rule "{object}"`,
		"Jobs cannot run because they exceed limit(s) in resource quota sets"},
	QueueCloses: {`cannot run in queue "{object}" because it will be disabled by its calendar`,
		"Jobs cannot run because a calendar will disable a queue soon"},
	ARWaits: {message: "cannot run because advance reservation {what} has not started yet"},
	ARInError: {"cannot run because advance reservation {what} is in error state",
		"Jobs can not run because requested advance reservation is in error state"},
	ARTooShort: {message: "cannot run because advance reservation {what} ends before the job would"},
	NoAccessAR: {message: "has no permission for advance reservation {what}"},
	NotReserved: {`cannot run in queue "{object}" because it was not reserved by advance reservation {what}`,
		"Jobs can not run because queue was not reserved by advance reservation"},
}

// project reports whether a job of the project may use the object.
func projectReason(project, what, object string, projects, xprojects grid.Names) Reason {
	if project != "" && xprojects.Has(project) {
		return Reason{Code: ProjectExcluded, Object: object, What: what, Offer: project}
	}
	if len(projects) > 0 && !projects.Has(project) {
		if project == "" {
			return Reason{Code: ProjectMissing, Object: object, What: what}
		}
		return Reason{Code: ProjectWrong, Object: object, What: what, Offer: project}
	}
	return Reason{}
}
