package document

import (
	"iter"
	"strings"

	"github.com/quill-grid/quill/pkg/view"
)

// Queues is qstat -f and -F.
type Queues struct {
	Queues   Rows[Queue] `json:"queues" jsonschema:"queue instances with what runs in them"`
	Pending  Rows[Job]   `json:"jobs_pending" jsonschema:"pending tasks of jobs that are in the same state"`
	Finished Rows[Job]   `json:"jobs_finished,omitzero" jsonschema:"with -s z: jobs that ended or were deleted"`
}

// SchemaName returns qstat-full.
func (Queues) SchemaName() string { return "qstat-full" }

// Queue is a queue instance.
type Queue struct {
	Name         string              `json:"name" jsonschema:"queue@host"`
	Type         string              `json:"qtype" jsonschema:"letters: B batch, I interactive, P parallel, C checkpointing; N none"`
	Used         uint32              `json:"slots_used" jsonschema:"slots of started tasks"`
	Reserved     uint32              `json:"slots_resv" jsonschema:"slots held by running advance reservations"`
	Slots        uint32              `json:"slots_total" jsonschema:"all slots"`
	Load         *float64            `json:"load_avg,omitzero" jsonschema:"load value of SGE_LOAD_AVG, default load_avg, scaled; absent: not known"`
	Arch         string              `json:"arch,omitzero" jsonschema:"architecture of the host; absent: not known"`
	State        string              `json:"state" jsonschema:"letters of qstat(1), empty: none"`
	LoadAlarm    string              `json:"load_alarm_reason,omitzero" jsonschema:"with -explain a: the threshold that is reached"`
	SuspendAlarm string              `json:"suspend_alarm_reason,omitzero" jsonschema:"with -explain A: the threshold that is reached"`
	Message      string              `json:"message,omitzero" jsonschema:"with -explain c or E: why the state has c or E, lines"`
	Resources    map[string]Value    `json:"queue_resources,omitzero" jsonschema:"with -F: value by attribute: number (bytes, seconds or units), boolean or text; the text infinity is unlimited"`
	Dominance    map[string]string   `json:"queue_resources_dominance,omitzero" jsonschema:"with -F: by attribute, what decides the value: g cluster, h host or q queue instance; then l load, L scaled load, c consumable or f configured"`
	Instances    map[string][]string `json:"queue_resources_instances,omitzero" jsonschema:"with -F: by resource map, the ids that are left"`
	Jobs         []Job               `json:"jobs_running,omitzero" jsonschema:"started tasks; absent in /v1/queues"`
}

// QueueShow is what options of qstat request about queue instances; nil: not requested.
type QueueShow struct {
	LoadAlarm, SuspendAlarm func(*view.Queue) string
	Messages                func(*view.Queue) []string
	Resources               func(*view.Queue) []view.Resource
	Jobs                    func(queue string) iter.Seq[*view.Job]
}

// QueuesOf returns the document of some rows; finished is nil without -s z.
func QueuesOf(
	show QueueShow, jobs JobShow, queues iter.Seq[*view.Queue], pending, finished iter.Seq[*view.Job],
) Queues {
	rows := func(yield func(Queue) bool) {
		for q := range queues {
			if !yield(show.queue(q, jobs)) {
				return
			}
		}
	}
	return Queues{Queues: rows, Pending: jobs.rows(pending), Finished: jobs.rows(finished)}
}

func (s QueueShow) queue(q *view.Queue, jobs JobShow) Queue {
	out := Queue{Name: q.Name(), Type: q.Type, Used: q.Used, Reserved: q.Reserved, Slots: q.Slots, Load: known(q.Load),
		Arch: q.Arch, State: q.State.Letters()}
	if s.LoadAlarm != nil {
		out.LoadAlarm = s.LoadAlarm(q)
	}
	if s.SuspendAlarm != nil {
		out.SuspendAlarm = s.SuspendAlarm(q)
	}
	if s.Messages != nil {
		out.Message = strings.Join(s.Messages(q), "\n")
	}
	if s.Resources != nil {
		out.Resources, out.Dominance = map[string]Value{}, map[string]string{}
		for _, r := range s.Resources(q) {
			out.Resources[r.Name], out.Dominance[r.Name] = valueOf(r), r.Dominance
			if len(r.Instances) > 0 {
				if out.Instances == nil {
					out.Instances = map[string][]string{}
				}
				out.Instances[r.Name] = r.Instances
			}
		}
	}
	if s.Jobs != nil {
		out.Jobs = []Job{}
		for r := range s.Jobs(q.Name()) {
			out.Jobs = append(out.Jobs, jobs.job(r))
		}
	}
	return out
}
