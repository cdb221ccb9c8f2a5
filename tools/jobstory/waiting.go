package jobstory

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
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
type Group = gdi.WaitGroup

// groupJobsMost is how many jobs of a group are listed.
const groupJobsMost = 200

// WaitingIn returns why tasks of a user, "" of all, wait in a state.
func WaitingIn(st *state.State, user string, now grid.Time) *WaitingTasks {
	e := explain.New(st, sched.NewCluster(st), max(now, st.At), time.Local)
	return WaitingGroups(st.Seq, st.At, user, groupsOf(e.Groups(ofUser(user))))
}

// WaitingGroups returns why tasks of a user, "" of all, wait after a list, in groups that are known.
func WaitingGroups(seq uint64, at grid.Time, user string, groups []Group) *WaitingTasks {
	out := &WaitingTasks{At: markOf(seq, at), User: user, Groups: append([]Group{}, groups...)}
	for _, g := range groups {
		out.Tasks += g.Tasks
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
		out = append(out, Group{Kind: g.Kind, Code: g.Code.String(), Text: g.Text, Tasks: g.Tasks, Jobs: g.Jobs[:listed],
			More: len(g.Jobs) - listed})
	}
	return out
}

// jobsNamed is how many jobs of a group the text names.
const jobsNamed = 5

// Print prints a line for each group.
func (c *WaitingTasks) Print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s at list %d, %s\n", explain.WaitText(c.Tasks), c.At.Seq, clock(c.At.Time))
	for _, g := range c.Groups {
		printGroup(&b, g)
	}
	if len(c.Groups) > 0 {
		fmt.Fprintln(&b, "quill why JOB explains each.")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// printGroup prints a line.
func printGroup(b *bytes.Buffer, g Group) {
	named := min(len(g.Jobs), jobsNamed)
	more := ""
	if n := len(g.Jobs) - named + g.More; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(b, "%9d  %s: %s%s\n", g.Tasks, g.Text, jobs(g.Jobs[:named]), more)
}
