package jobstory

import (
	"fmt"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Story is what the log has to say of a job, or of one of its tasks. The JSON
// names are part of the command's interface.
type Story struct {
	Job     uint32   `json:"job"`
	Task    uint32   `json:"task,omitzero" jsonschema:"of one task of an array"`
	Name    string   `json:"name"`
	Owner   string   `json:"owner"`
	Command string   `json:"command" jsonschema:"as it was submitted"`
	Asked   string   `json:"asked" jsonschema:"what it asks for, as switches"`
	From    Mark     `json:"from" jsonschema:"from where on the log was read"`
	To      Mark     `json:"to"`
	Midway  bool     `json:"midway,omitzero" jsonschema:"the log begins after the job was submitted"`
	State   string   `json:"state" jsonschema:"at the end: waiting, held, in error, running, suspended, over"`
	Wait    float64  `json:"wait_seconds" jsonschema:"in all; of an array, of all its tasks together"`
	Run     float64  `json:"run_seconds"`
	Steps   []Step   `json:"steps"`
	Tasks   []Task   `json:"tasks,omitzero" jsonschema:"of an array described as a whole"`
	Waits   []Wait   `json:"waits,omitzero" jsonschema:"of an array described as a whole: why its tasks waited"`
	Outlook *Outlook `json:"outlook,omitzero"`

	Range grid.Range `json:"-"` // the tasks of an array; zero of another job
}

// SchemaName returns quill-why.
func (Story) SchemaName() string { return "quill-why" }

// Mark is a place in the log.
type Mark struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
}

// Step is something that happened to the job.
type Step struct {
	Mark
	What     string    `json:"what" jsonschema:"submitted, decided, started, ..."`
	Task     uint32    `json:"task,omitempty"`
	By       string    `json:"by"`
	Text     string    `json:"text"`
	Seconds  float64   `json:"seconds,omitempty" jsonschema:"of what ended with it: a wait, a transfer, a suspension, a run"`
	Waits    []Wait    `json:"waits,omitempty"`
	Decision *Decision `json:"decision,omitempty"`

	Record *grid.Accounting `json:"-"` // of "ended"
}

// Wait is a reason for waiting and for how long it held.
type Wait struct {
	Reason  string  `json:"reason"`
	Seconds float64 `json:"seconds"`
	First   uint64  `json:"first" jsonschema:"the list with it first"`
	Last    uint64  `json:"last" jsonschema:"... and of its end"`
}

// Decision is the run of the scheduler that started the job.
type Decision struct {
	Run       string   `json:"run"`
	Algorithm string   `json:"algorithm,omitempty"`
	Seen      uint64   `json:"seen" jsonschema:"the last list that the run had seen"`
	Recorded  bool     `json:"recorded" jsonschema:"the run was recorded; else this is the state before the start"`
	Place     int      `json:"place,omitempty" jsonschema:"of this start among those of the run, from 1"`
	Starts    int      `json:"starts,omitempty" jsonschema:"of the run"`
	Worth     Worth    `json:"worth"`
	Chosen    []string `json:"chosen,omitempty" jsonschema:"instances of resource maps and cores, and what else was looked at"`
	Before    []Rival  `json:"before,omitempty" jsonschema:"the first of those who stood before it"`
	More      int      `json:"more,omitempty" jsonschema:"that are not listed"`
	After     int      `json:"after" jsonschema:"jobs in line that stood after it"`
}

// Worth is what the scheduler thought of a job, sge_priority(5).
type Worth struct {
	Priority float64 `json:"priority"`
	NPOSIX   float64 `json:"nposix"`
	NUrgency float64 `json:"nurgency"`
	NTickets float64 `json:"ntickets"`
	Urgency  float64 `json:"urgency"`
	Tickets  float64 `json:"tickets"`
	Detailed bool    `json:"detailed" jsonschema:"false: the scheduler reported the priority only, and the other members are 0"`
}

// Rival is a job that stood before this one.
type Rival = gdi.Rival

// Task is the line of one task of an array.
type Task struct {
	Task     uint32  `json:"task"`
	State    string  `json:"state"`
	Wait     float64 `json:"wait_seconds"`
	Run      float64 `json:"run_seconds"`
	Attempts int     `json:"attempts"`
	Queue    string  `json:"queue,omitempty" jsonschema:"of the last attempt"`
	Started  uint64  `json:"started,omitempty"`
	Ended    uint64  `json:"ended,omitempty"`
	Exit     string  `json:"exit,omitempty"`
}

// Outlook is what has to happen before a job that waits can start.
type Outlook struct{ gdi.Outlook }

// Start is an expected start.
type Start = gdi.Start

func markOf(seq uint64, at grid.Time) Mark { return Mark{seq, at.Std()} }

// asked is what a job asks for, as switches of qsub.
func asked(j *grid.Job) string {
	var words []string
	say := func(on bool, format string, args ...any) {
		if on {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(j.Array, "-t %s", j.Tasks)
	say(j.Concurrency > 0, "-tc %d", j.Concurrency)
	say(len(j.Hard) > 0, "-l %s", j.Hard.Text())
	say(len(j.Soft) > 0, "-soft -l %s", j.Soft.Text())
	say(j.PE != "", "-pe %s %s", j.PE, j.PERange.Slots(""))
	say(len(j.HardQueues) > 0, "-q %s", strings.Join(j.HardQueues, ","))
	say(len(j.SoftQueues) > 0, "-soft -q %s", strings.Join(j.SoftQueues, ","))
	say(len(j.MasterQueues) > 0, "-masterq %s", strings.Join(j.MasterQueues, ","))
	say(j.Priority != 0, "-p %d", j.Priority)
	say(j.Project != "", "-P %s", j.Project)
	say(j.Reserve, "-R y")
	say(j.Immediate, "-now y")
	say(j.Ckpt != "", "-ckpt %s", j.Ckpt)
	say(j.AR != 0, "-ar %d", j.AR)
	say(j.ExecTime != 0, "-a %s", clock(j.ExecTime.Std()))
	say(j.Deadline != 0, "-dl %s", clock(j.Deadline.Std()))
	if j.Binding != nil {
		words = append(words, j.Binding.Options())
	}
	say(len(j.PredecessorReq) > 0, "-hold_jid %s", strings.Join(j.PredecessorReq, ","))
	say(len(j.ArrayPredecessorReq) > 0, "-hold_jid_ad %s", strings.Join(j.ArrayPredecessorReq, ","))
	say(len(j.UserHold) > 0, "-h")
	say(len(j.MasterHard) > 0, "-scope master -l %s", j.MasterHard.Text())
	say(len(j.SlaveHard)+len(j.SlaveQueues) > 0, "-scope slave")
	say(len(j.SlaveHard) > 0, "-l %s", j.SlaveHard.Text())
	say(len(j.SlaveQueues) > 0, "-q %s", strings.Join(j.SlaveQueues, ","))
	if len(words) == 0 {
		return "nothing in particular"
	}
	return strings.Join(words, " ")
}

func grants(t *grid.JATask) string { return explain.Places(t.Grants) }

// clock prints a moment as Grid Engine prints dates.
func clock(t time.Time) string { return t.Format("01/02/2006 15:04:05.000") }
