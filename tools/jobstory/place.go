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

// WaitingPlace is why a host, a cluster queue or a queue instance gets no more jobs. The JSON names are part of the
// command's interface.
type WaitingPlace struct {
	At        Mark            `json:"at"`
	Host      string          `json:"host,omitempty" jsonschema:"absent: a queue is asked about"`
	Queue     string          `json:"queue,omitempty" jsonschema:"a cluster queue, or a queue instance: all.q@node3"`
	User      string          `json:"user,omitempty" jsonschema:"whose tasks these are; absent: everybody's"`
	Answer    string          `json:"answer" jsonschema:"one sentence"`
	Instances []PlaceInstance `json:"queue_instances" jsonschema:"of the host or cluster queue, by name"`
	Free      int             `json:"free_slots" jsonschema:"that can be used at the same time: hosts may limit slots"`
	Tasks     int             `json:"tasks" jsonschema:"that wait in the cell"`
	Groups    []PlaceGroup    `json:"groups" jsonschema:"each task in one, by its first obstacle there; the largest first"`
}

// SchemaName returns quill-why-place.
func (WaitingPlace) SchemaName() string { return "quill-why-place" }

// PlaceInstance is how a queue instance stands.
type PlaceInstance struct {
	Name   string `json:"name"`
	State  string `json:"state" jsonschema:"letters of qstat -f"`
	Slots  int    `json:"slots"`
	Used   int    `json:"used"`
	Free   int    `json:"free" jsonschema:"of neither jobs nor advance reservations, and no more than the host has"`
	Closed string `json:"closed,omitempty" jsonschema:"why it takes no jobs; absent: it does"`
}

// PlaceGroup is tasks that wait for the same kind of obstacle at the place.
type PlaceGroup struct {
	Kind  explain.Kind `json:"kind" enum:"job,never,algorithm,closed,busy,planned,turn,part" jsonschema:"job, never, algorithm, closed, busy, planned, turn (it fits there now) or part (some of its slots fit there)"`
	Code  string       `json:"code" jsonschema:"of one of the reasons of the group"`
	Text  string       `json:"text"`
	Tasks int          `json:"tasks"`
	Jobs  []uint32     `json:"jobs" jsonschema:"with such tasks, at most 200"`
	More  int          `json:"more_jobs,omitempty" jsonschema:"that are not listed"`
}

// WaitingAt returns why a host, or else a queue, gets no more jobs, and what keeps tasks of a user, "" of all, from it.
// It fails for a host or queue that the cell does not have.
func WaitingAt(st *state.State, host, queue, user string, now grid.Time) (*WaitingPlace, error) {
	now = max(now, st.At)
	e, of := explain.New(st, sched.NewCluster(st), now, time.Local), ofUser(user)
	ask, name := e.OfQueue, queue
	if host != "" {
		ask, name = e.OfHost, host
	}
	p, err := ask(name, of)
	if err != nil {
		return nil, err
	}
	out := &WaitingPlace{At: markOf(st.Seq, st.At), Host: host, Queue: queue, User: user, Answer: p.Sentence(),
		Instances: make([]PlaceInstance, len(p.Instances)), Free: p.Free, Tasks: p.Tasks, Groups: []PlaceGroup{}}
	for i, in := range p.Instances {
		out.Instances[i] = PlaceInstance(in)
	}
	for _, g := range groupsOf(p.Groups) {
		out.Groups = append(out.Groups, PlaceGroup(g))
	}
	return out, nil
}

// Print prints the answer, a line for each queue instance, and a line for each group.
func (p *WaitingPlace) Print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\nat list %d, %s\n", p.Answer, p.At.Seq, clock(p.At.Time))
	for _, in := range p.Instances {
		fmt.Fprintf(&b, "  %-30s %-4s %4d of %d slots in use, %d free", in.Name, in.State, in.Used, in.Slots, in.Free)
		if in.Closed != "" {
			fmt.Fprintf(&b, "; %s", in.Closed)
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b)
	of := ""
	if p.User != "" {
		of = " of " + p.User
	}
	verb := "wait"
	if p.Tasks == 1 {
		verb = "waits"
	}
	fmt.Fprintf(&b, "%s%s %s\n", opt.Count(p.Tasks, "task"), of, verb)
	for _, g := range p.Groups {
		printGroup(&b, Group(g))
	}
	_, err := w.Write(b.Bytes())
	return err
}
