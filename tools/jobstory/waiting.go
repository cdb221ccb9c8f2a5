package jobstory

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// WaitingTasks are why tasks of a cell wait, each in one group. The JSON names are part of the command's interface.
type WaitingTasks struct {
	At     Mark    `json:"at"`
	User   string  `json:"user,omitempty" jsonschema:"whose tasks these are; absent: everybody's"`
	Tasks  int     `json:"tasks" jsonschema:"that wait"`
	Groups []Group `json:"groups" jsonschema:"the largest first"`
}

// SchemaName returns quill-why-cell.
func (WaitingTasks) SchemaName() string { return "quill-why-cell" }

// Group is tasks that wait for the same kind of obstacle, the first of each.
type Group struct {
	Kind  explain.Kind `json:"kind" enum:"job,never,algorithm,closed,busy,planned,turn" jsonschema:"job, never, algorithm, closed, busy, planned or turn"`
	Code  string       `json:"code" jsonschema:"of one of the reasons of the group"`
	Text  string       `json:"text"`
	Tasks int          `json:"tasks"`
	Jobs  []uint32     `json:"jobs" jsonschema:"with such tasks, at most 200"`
	More  int          `json:"more_jobs,omitempty" jsonschema:"that are not listed"`
}

// groupJobsMost is how many jobs of a group are listed.
const groupJobsMost = 200

// WaitingIn returns why tasks of a user, "" of all, wait in a state.
func WaitingIn(st *state.State, user string, now grid.Time) *WaitingTasks {
	now = max(now, st.At)
	out := &WaitingTasks{At: markOf(st.Seq, st.At), User: user, Groups: []Group{}}
	for _, g := range groupsOf(explain.New(st, sched.NewCluster(st), now, time.Local).Groups(ofUser(user))) {
		out.Tasks += g.Tasks
		out.Groups = append(out.Groups, g)
	}
	return out
}

// ofUser returns whether a job is a user's, "": anybody's.
func ofUser(user string) func(*grid.Job) bool {
	return func(j *grid.Job) bool { return user == "" || j.Owner == user }
}

func groupsOf(groups []explain.Group) (out []Group) {
	for _, g := range groups {
		listed := min(len(g.Jobs), groupJobsMost)
		out = append(out, Group{g.Kind, g.Code.String(), g.Text, g.Tasks, g.Jobs[:listed], len(g.Jobs) - listed})
	}
	return out
}

// jobsNamed is how many jobs of a group the text names.
const jobsNamed = 5

// Print prints a line for each group.
func (c *WaitingTasks) Print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s wait at list %d, %s\n", opt.Count(c.Tasks, "task"), c.At.Seq, clock(c.At.Time))
	for _, g := range c.Groups {
		g.print(&b)
	}
	if len(c.Groups) > 0 {
		fmt.Fprintln(&b, "quill why JOB explains each.")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// print prints a line.
func (g Group) print(b *bytes.Buffer) {
	named := min(len(g.Jobs), jobsNamed)
	more := ""
	if n := len(g.Jobs) - named + g.More; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(b, "%9d  %s: %s%s\n", g.Tasks, g.Text, jobs(g.Jobs[:named]), more)
}
