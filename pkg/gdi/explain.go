package gdi

import (
	"errors"
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// Explain asks why tasks wait: those of a job, or without a job those of the cell in groups. Reply.Explanation is the
// answer, Reply.Seq the list up to which it holds. Everybody may send it.
//
// If the job waits and none of its tasks has started, the answer begins with its part of the log, as Get sends lists:
// first lists of LIST events, which are the configuration and the scheduling info before the job was submitted, or the
// earliest of what is kept; all of them have the Seq of that state. Then the event lists after it with what is about
// the job, the configuration and the scheduling info.
type Explain struct {
	Job, Task uint32 // Task 0: the job's next one
	User      string // without a job: whose tasks; "": everybody's
	East      int32  // the client's time zone, in seconds east of UTC: times in texts are of that zone
}

// Verb returns explain.
func (*Explain) Verb() string { return "explain" }

// eastMost is more than any time zone is away from UTC.
const eastMost = 24 * 3600

// Zone returns the time zone of the texts.
func (b *Explain) Zone() *time.Location { return time.FixedZone("", int(b.East)) }

func (b *Explain) complete() error {
	switch {
	case b.Job == 0 && b.Task != 0:
		return errors.New("it names a task without its job")
	case b.Job != 0 && b.User != "":
		return errors.New("it names a job and a user: a user is for all jobs")
	case b.East < -eastMost || b.East > eastMost:
		return fmt.Errorf("a time zone %d seconds east of UTC, at most %d are possible", b.East, eastMost)
	}
	return nil
}

// Explanation is why tasks wait. The JSON names of its parts are those of quill why.
type Explanation struct {
	At      grid.Time   // of the list Reply.Seq
	Outlook *Outlook    // of a job that waits and of which no task has started; nil: the log has the answer
	Groups  []WaitGroup // without a job: the largest first
}

// Outlook is what has to happen before a job that waits can start.
type Outlook struct {
	Answer       string        `json:"answer" jsonschema:"why it waits, in a sentence"`
	Obstacles    []WaitReason  `json:"obstacles" jsonschema:"the first keeps it from starting, the others would if it were gone"`
	Alternatives []Alternative `json:"alternatives,omitempty" jsonschema:"changes with which it would start now; each was tried"`
	Fits         bool          `json:"fits" jsonschema:"there is a place for it now"`
	Closest      []NearPlace   `json:"closest,omitempty"`
	Places       int           `json:"places" jsonschema:"queue instances that were looked at"`
	Before       []Rival       `json:"before,omitempty"`
	More         int           `json:"more,omitempty"`
	Earliest     *Start        `json:"earliest,omitempty"`
	Alone        *Start        `json:"earliest_alone,omitempty" jsonschema:"if it went first"`
	Never        string        `json:"never,omitempty" jsonschema:"why no start is foreseen"`
}

// WaitKind is what has to happen before an obstacle is gone: see explain.Kind.
type WaitKind string

// WaitReason is an obstacle as documents show it.
type WaitReason struct {
	Code   string   `json:"code" jsonschema:"see chapter 8 of the event protocol, events/README"`
	Kind   WaitKind `json:"kind" enum:"job,never,algorithm,closed,busy,planned,turn" jsonschema:"job, never, algorithm, closed, busy, planned or turn"`
	Slurm  string   `json:"slurm" jsonschema:"the reason that squeue of Slurm shows for it"`
	Text   string   `json:"text"`
	Remedy string   `json:"remedy,omitempty" jsonschema:"what removes it"`
	By     string   `json:"by,omitempty" jsonschema:"the role that may do it: owner, operator or manager"`
	Jobs   []uint32 `json:"jobs,omitempty" jsonschema:"that it is about: predecessors, holders, jobs before it"`
	More   int      `json:"more_jobs,omitempty" jsonschema:"that are not listed"`
}

// Alternative is a change with which the job would start now.
type Alternative struct {
	Text    string `json:"text"`
	Command string `json:"command"`
	By      string `json:"by" jsonschema:"the role that may do it: owner, operator or manager"`
}

// NearPlace is a queue instance and what it lacks.
type NearPlace struct {
	Instance string   `json:"instance"`
	Lacks    []string `json:"lacks"`
}

// Rival is a job that stood before another.
type Rival struct {
	Job      uint32  `json:"job"`
	Task     uint32  `json:"task,omitempty"`
	Owner    string  `json:"owner"`
	Priority float64 `json:"priority"`
	Fate     string  `json:"fate" jsonschema:"what the run did with it, or why it waits"`
}

// Start is an expected start.
type Start struct {
	Time  time.Time `json:"time"`
	In    float64   `json:"in_seconds"`
	Where string    `json:"where,omitempty"`
}

// WaitGroup is tasks that wait for the same kind of obstacle, the first of each.
type WaitGroup struct {
	Kind  WaitKind `json:"kind" enum:"job,never,algorithm,closed,busy,planned,turn" jsonschema:"job, never, algorithm, closed, busy, planned or turn"`
	Code  string   `json:"code" jsonschema:"of one of the reasons of the group"`
	Text  string   `json:"text"`
	Tasks int      `json:"tasks"`
	Jobs  []uint32 `json:"jobs" jsonschema:"with such tasks, at most 200"`
	More  int      `json:"more_jobs,omitempty" jsonschema:"that are not listed"`
}
