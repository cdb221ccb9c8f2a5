package events

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Op is what happened to the object.
type Op uint8

const (
	// List: the object is part of a full state. A full state starts from an empty state:
	// a kind without LIST events is empty.
	OpList Op = 0
	// Add: the object is new.
	OpAdd Op = 1
	// Mod: the object was replaced by a newer version of itself.
	OpMod Op = 2
	// Del: the object is gone; Object is nil.
	OpDel Op = 3
)

// String prints LIST, ADD, MOD, DEL.
func (o Op) String() string {
	switch o {
	case OpList:
		return "LIST"
	case OpAdd:
		return "ADD"
	case OpMod:
		return "MOD"
	case OpDel:
		return "DEL"
	}
	return "OP?"
}

// Event is one object's change. Object is the whole new object, nil for DEL.
type Event struct {
	Op     Op
	Kind   grid.Kind
	Key    grid.Key
	Object grid.Object
}

// Add, Mod and Listed return the event that sets an object; Del the event that removes
// it.
func Add(o grid.Object) Event    { return Event{OpAdd, o.Kind(), o.Key(), o} }
func Mod(o grid.Object) Event    { return Event{OpMod, o.Kind(), o.Key(), o} }
func Listed(o grid.Object) Event { return Event{OpList, o.Kind(), o.Key(), o} }
func Del(k grid.Kind, key grid.Key) Event {
	return Event{Op: OpDel, Kind: k, Key: key}
}

// Name is the event's name as Grid Engine prints it: JOB_ADD.
func (e Event) Name() string { return e.Kind.String() + "_" + e.Op.String() }

// String prints the event's name and key: JATASK_MOD 7.1.
func (e Event) String() string { return e.Name() + " " + e.Key.String() }

// Cause identifies the request or message that an event list follows from.
type Cause struct {
	// Who is user@host, "schedd", an execution host or "qmaster".
	Who string `see:"at"`
	// What is the command or the kind of message: qsub, orders, report, timer.
	What string `see:"keep"`
	// Ref is the request's id, the scheduling run, or empty.
	Ref string `see:"at"`
	// Token is the number of the token that the request's connection was opened with, 0: none.
	Token uint32
	// Proposal is the number of the proposal that Who approved, 0: none; Proposer is who proposed it, as
	// grid.Proposal.Proposer says.
	Proposal uint32
	Proposer string `see:"cell"`
}

// User returns the user whose request it was, "" when it was none.
func (c Cause) User() string {
	return c.Who[:max(strings.LastIndexByte(c.Who, '@'), 0)] // names of hosts have no @
}

// Actor returns who it was: "alice@h1", "alice@h1 with token 7", or "proposal 3, approved by alice@h1, proposed by
// alice@h2 with token 7 (agent)".
func (c Cause) Actor() string {
	who := c.Who
	if c.Token != 0 {
		who += fmt.Sprintf(" with token %d", c.Token)
	}
	if c.Proposal != 0 {
		who = fmt.Sprintf("proposal %d, approved by %s, proposed by %s,", c.Proposal, who, c.Proposer)
	}
	return who
}

// String prints "alice@h1 qsub".
func (c Cause) String() string {
	s := c.Actor() + " " + c.What
	if c.Ref != "" {
		s += " " + c.Ref
	}
	return s
}

// List is all that one decision changed. Seq grows by one per list.
type List struct {
	Seq    uint64
	At     grid.Time
	Cause  Cause
	Events []Event
}

// Sink is a consumer of event lists. Apply is called with lists in Seq order, without
// gaps, starting with a full state or from nothing at Seq 1.
type Sink interface {
	Apply(List)
}

// Public returns the list as every user may read it, see grid.Public. The list is not changed; without anything private
// it is returned as it is.
func (l List) Public() List {
	out := l
	for i, e := range l.Events {
		if p := grid.Public(e.Object); p != e.Object {
			if &out.Events[0] == &l.Events[0] {
				out.Events = slices.Clone(l.Events)
			}
			out.Events[i].Object = p
		}
	}
	return out
}

// Memory is what was before a list: a *state.State is one.
type Memory interface {
	Get(grid.Kind, grid.Key) grid.Object
	Tasks(job uint32) []*grid.JATask
}
