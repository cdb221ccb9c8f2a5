package reason

// Code is the kind of a reason.
type Code uint8

// What an instance, host or PE has against a job, or the cell as a whole. The numbers are stored: add at the end of the
// last list.
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

// What the job itself waits for, in the order in which it is said; how it stands; and what an algorithm has against it.
const (
	InError Code = iota + NotInSlaveQueueList + 1
	HeldByUser
	HeldByOperator
	HeldBySystem
	HeldForArray
	Predecessors
	StartTime
	TaskLimit
	InstanceInError
	HostUnheard
	Reserved
	Turn
	NextRun
	AlgorithmHold
	AlgorithmGap
	AlgorithmQuota
	AlgorithmShare
	AlgorithmWait
	AlgorithmRefuses
	AlgorithmSpares
	ArrayLimit // of the cell: max_aj_instances
	ReservedInAdvance
)

const (
	held     = "Job is in hold state"
	heldAll  = "Jobs dropped because of hold state"
	noAccess = "No queue instance with suitable access permissions could be found"
	forced   = "Jobs can not run because they do not request 'forced' resource"

	qalterQ = "qalter -q with a list that has {object}"
	qalterL = "qalter -l with a request that {object} can satisfy"
)

var table = [...]row{
	NotInHardQueueList: {"hard-queue-list", "BadConstraints",
		`cannot run in queue "{object}" because it is not contained in its hard queue list (-q)`,
		"Jobs can not run because queue instance is not contained in its hard queue list", qalterQ, "owner"},
	NotInMasterQueueList: {"master-queue-list", "BadConstraints",
		`cannot run in queue "{object}" because it is not contained in its master queue list (-masterq)`, "",
		"qalter -masterq with a list that has {object}", "owner"},
	NotInSlaveQueueList: {"slave-queue-list", "BadConstraints",
		`cannot run in queue "{object}" because it is not contained in its slave queue list (-scope slave -q)`, "",
		"qalter -scope slave -q with a list that has {object}", "owner"},
	NoAccessQueue: {"queue-access", "AccountNotAllowed", `has no permission for {what} "{object}"`, noAccess,
		"qconf -mq: user_lists, xuser_lists of {object}", "manager"},
	NoAccessHost: {"host-access", "AccountNotAllowed", `has no permission for host "{object}"`, noAccess,
		"qconf -me {object}: user_lists, xuser_lists", "manager"},
	NoAccessPE: {"pe-access", "AccountNotAllowed", `cannot run because no access to PE "{object}"`,
		"Jobs can not run because they have no access to PE", "qconf -mp {object}: user_lists, xuser_lists", "manager"},
	ProjectMissing: {"project-missing", "InvalidAccount",
		`(no project) does not have the correct project to run in {what} "{object}"`,
		"Jobs are not assigned to a project to get a queue instance", "qalter -P with a project of {object}", "owner"},
	ProjectWrong: {"project-wrong", "InvalidAccount",
		`(project {offer}) does not have the correct project to run in {what} "{object}"`,
		"Jobs can not run because queue does not provides the job's assigned project",
		"qalter -P with a project of {object}", "owner"},
	ProjectExcluded: {"project-excluded", "InvalidAccount",
		`(project {offer}) is not allowed to run in {what} "{object}" based on the excluded project list`,
		"Jobs can not run because excluded project list of queue does not allow it",
		"qalter -P with a project that {object} does not exclude", "owner"},
	NotParallel: {"not-parallel", "PartitionConfig",
		`cannot run in queue instance "{object}" because it is not of parallel type`,
		"Jobs can not run because queue instance is not a parallel queue", "qconf -mq: pe_list of {object}", "manager"},
	NotInPEList: {"pe-list", "PartitionConfig",
		`cannot run in queue "{object}" because PE "{what}" is not in PE list`,
		"Jobs can not run because queue instance is not in queue list of PE", "qconf -mq: pe_list of {object}", "manager"},
	NotCheckpointing: {"not-checkpointing", "PartitionConfig",
		`cannot run in queue instance "{object}" because it is not of type checkpointing`,
		"Jobs can not run because queue instance is not of type checkpointing",
		"qconf -mq: ckpt_list of {object}", "manager"},
	NotInCkptList: {"ckpt-list", "PartitionConfig",
		`cannot run in queue instance "{object}" because ckpt object "{what}" is not in ckpt list of queue`,
		"Jobs can not run because queue instance is not in queue list of ckpt interface definition",
		"qconf -mq: ckpt_list of {object}", "manager"},
	NotInteractive: {"not-interactive", "PartitionConfig",
		`cannot run in queue "{object}" because it is not of type interactive`,
		"Jobs can not run because queue instance is not interactive", "qconf -mq: qtype of {object}", "manager"},
	NotBatch: {"not-batch", "PartitionConfig",
		`cannot run in queue instance "{object}" because it is not of type batch`,
		"Jobs can not run because queue instance is not of type batch or transfer",
		"qconf -mq: qtype of {object}", "manager"},
	NotAtQueue: {"queue-resources", "Resources", `(-l {what}) cannot run in queue "{object}" because {offer}`,
		"Jobs can not run because the resource requirements can not be satisfied", qalterL, "owner"},
	NotAtHost: {"host-resources", "Resources", `(-l {what}) cannot run at host "{object}" because {offer}`,
		"Jobs can not run because no host can satisfy the resource requirements", qalterL, "owner"},
	NotBindable: {"binding", "Resources", `({what}) cannot run at host "{object}" because {offer}`,
		"Jobs can not run because no host can bind them to the units that they ask for",
		"qalter -binding with what {object} has", "owner"},
	NotGlobally: {"cell-resources", "Licenses", "(-l {what}) cannot run globally because {offer}",
		"Jobs can not run globally because the resource requirements can not be satisfied",
		"qalter -l with a request that the cell can satisfy", "owner"},
	UnknownResource: {"unknown-resource", "BadConstraints", "job requests unknown resource ({what})", "",
		"qalter -l without {what}", "owner"},
	ForcedQueue: {"queue-forced", "BadConstraints",
		`does not request 'forced' resource "{what}" of queue instance {object}`, forced, "qalter -l with {what}", "owner"},
	ForcedHost: {"host-forced", "BadConstraints", `does not request 'forced' resource "{what}" of host {object}`, forced,
		"qalter -l with {what}", "owner"},
	ForcedGlobal: {"cell-forced", "BadConstraints", `does not request globally 'forced' resource "{what}"`,
		"Jobs can not run globally because they do not request 'forced' resource", "qalter -l with {what}", "owner"},
	WouldAlarm: {"would-alarm", "Resources",
		`({slots} slots) would put queue instance "{object}" into load alarm state`,
		"Jobs would set queue in load alarm state", "", ""},
	QueueZeroSlots: {"zero-slots", "PartitionConfig",
		`cannot run in queue instance "{object}" because it has "0" slots`,
		"Jobs can not run because queue has 0 slots", "qconf -mq: slots of {object}", "manager"},
	QueueFull: {"full", "Resources", `queue instance "{object}" dropped because it is full`, "", "", ""},
	QueueAlarm: {"load-alarm", "ReqNodeNotAvail",
		`queue instance "{object}" dropped because it is overloaded: {what}`, "", "", ""},
	QueueSuspendAlarm: {"suspend-alarm", "ReqNodeNotAvail",
		`queue instance "{object}" is in suspend alarm: {what}`, "", "", ""},
	QueueSuspended: {"suspended", "PartitionInactive",
		`queue instance "{object}" dropped because it is suspended`, "", "qmod -usq {object}", "operator"},
	QueueDisabled: {"disabled", "PartitionDown", `queue instance "{object}" dropped because it is disabled`, "",
		"qmod -e {object}", "operator"},
	QueueUnavailable: {"unavailable", "ReqNodeNotAvail",
		`queue instance "{object}" dropped because it is temporarily not available`, "", "", ""},
	AllQueuesBusy: {"all-busy", "Resources", "All queues dropped because of overload or full", "", "", ""},
	PENoMatch: {"no-pe", "BadConstraints", `no matching parallel environment for job's PE request "{object}"`,
		"Parallel job dropped because no matching PE found", "qalter -pe with a PE of the cell: qconf -spl", "owner"},
	PEOffersOnly: {"pe-slots", "Resources", `cannot run in PE "{object}" because it only offers {slots} slots`,
		"Jobs can not run because available slots combined under PE are not in range of job",
		"qalter -pe {object} with at most {slots} slots", "owner"},
	PETotal: {"pe-total", "Resources", `cannot run because total slots of PE "{object}" not in range of job`,
		"Jobs can not run because total slots of PE are not in range of job", "qconf -mp {object}: slots", "manager"},
	PERule: {"pe-rule", "BadConstraints", `PE "{object}" dropped because allocation rule is not suitable`,
		"PE dropped because allocation rule is not suitable", "qconf -mp {object}: allocation_rule", "manager"},
	CkptUnknown: {"ckpt-unknown", "BadConstraints", "cannot run because requested ckpt object not found",
		"Jobs can not run because requested ckpt object not found",
		"qalter -ckpt with an interface of the cell: qconf -sckptl", "owner"},
	NoSuchQueue: {"no-such-queue", "BadConstraints", `can't find queue "{object}"`, "", "", ""},
	GrantSlots:  {"grant-slots", "Resources", `not enough ({slots}) free slots in queue "{object}"`, "", "", ""},
	UserLimit: {"user-limit", "QOSMaxJobsPerUserLimit", "job dropped because of user limitations",
		"Job dropped because of user limitations", "qconf -msconf: maxujobs", "manager"},
	ARUnknown: {"no-such-ar", "ReservationDeleted", "can't find advance reservation {what}", "",
		"qalter -ar with one that exists: qrstat", "owner"},
	OverQuota: {"quota", "QOSResourceLimit", `cannot run because it exceeds limit "{what}" in rule "{object}"`,
		"Jobs cannot run because they exceed limit(s) in resource quota sets", "qconf -mrqs: rule {object}", "manager"},
	QueueCloses: {"queue-closes", "PartitionTimeLimit",
		`cannot run in queue "{object}" because it will be disabled by its calendar`,
		"Jobs cannot run because a calendar will disable a queue soon",
		"qalter -l h_rt=TIME with an end before the calendar closes {object}", "owner"},
	ARWaits: {"ar-waits", "Reservation", "cannot run because advance reservation {what} has not started yet", "",
		"qalter -ar 0 {object}", "owner"},
	ARInError: {"ar-error", "Reservation", "cannot run because advance reservation {what} is in error state",
		"Jobs can not run because requested advance reservation is in error state", "", ""},
	ARTooShort: {"ar-short", "Reservation",
		"cannot run because advance reservation {what} ends before the job would", "",
		"qalter -l h_rt=TIME with an end within advance reservation {what}", "owner"},
	NoAccessAR: {"ar-access", "Reservation", "has no permission for advance reservation {what}", "", "", ""},
	NotReserved: {"not-reserved", "Reservation",
		`cannot run in queue "{object}" because it was not reserved by advance reservation {what}`,
		"Jobs can not run because queue was not reserved by advance reservation", "", ""},

	InError: {"error", "JobHeldAdmin", "Job is in error state", "Jobs dropped because of error state",
		"qmod -cj {object}", "owner"},
	HeldByUser:     {"held-by-user", "JobHeldUser", held, heldAll, "qrls {object}", "owner"},
	HeldByOperator: {"held-by-operator", "JobHeldAdmin", held, heldAll, "qrls -h o {object}", "operator"},
	HeldBySystem:   {"held-by-system", "JobHeldAdmin", held, heldAll, "qrls -h s {object}", "manager"},
	HeldForArray: {"array-predecessors", "Dependency", held, heldAll,
		`qalter -hold_jid_ad NONE {object}`, "owner"},
	Predecessors: {"predecessors", "Dependency", "job dropped because of job dependencies",
		"Job dropped because of job dependencies", `qalter -hold_jid NONE {object}`, "owner"},
	StartTime: {"start-time", "BeginTime", "execution time not reached",
		"Jobs can not run because execution time not reached", "qalter -a 01010000 {object}", "owner"},
	TaskLimit: {"task-limit", "JobArrayTaskLimit",
		"not all array tasks may be started due to 'max_aj_instances'",
		"Not all array tasks may be started due to 'max_aj_instances'", "qalter -tc 0 {object}", "owner"},

	InstanceInError: {"instance-error", "ReqNodeNotAvail",
		`queue instance "{object}" dropped because it is temporarily not available`, "", "qmod -c {object}", "operator"},
	HostUnheard: {"host-unheard", "ReqNodeNotAvail",
		`queue instance "{object}" dropped because it is temporarily not available`, "", "", ""},
	Reserved: {"reserved", "Resources", "it would delay the reservation of job {object}", "",
		"qalter -l h_rt=TIME with an end before the reservation begins", "owner"},
	Turn:    {"turn", "Priority", "waits for its turn", "", "qalter -p with a higher priority", "operator"},
	NextRun: {"next-run", "None", "the next scheduling run starts it", "", "", ""},

	AlgorithmHold:    {"algorithm-hold", "PartitionInactive", "{offer}", "", "", ""},
	AlgorithmGap:     {"algorithm-gap", "Priority", "{offer}", "", "", ""},
	AlgorithmQuota:   {"algorithm-quota", "QOSGrpCpuLimit", "{offer}", "", "", ""},
	AlgorithmShare:   {"algorithm-share", "Priority", "{offer}", "", "", ""},
	AlgorithmWait:    {"algorithm-wait", "Priority", "{offer}", "", "", ""},
	AlgorithmRefuses: {"algorithm-refuses", "BadConstraints", "{offer}", "", "", ""},
	AlgorithmSpares:  {"algorithm-spares", "Priority", "{offer}", "", "", ""},

	ArrayLimit: {"array-limit", "JobArrayTaskLimit",
		"not all array tasks may be started due to 'max_aj_instances'", "", "qconf -mconf: max_aj_instances", "manager"},
	ReservedInAdvance: {"reserved-in-advance", "Reservation",
		"kept free for advance reservation {object} ({what}) {offer}", "",
		"qalter -l h_rt=TIME with an end before the advance reservation begins, or qrdel {object}", "owner"},
}
