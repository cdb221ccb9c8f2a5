package attacker

import (
	"context"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/bus"
)

// Attack is one way to misuse a cell.
type Attack struct {
	Name  string
	Usage string
	// Roles are whose credentials it has. It runs once under each of them, each time in
	// a process of its own.
	Roles []bus.Role
	// Local means that it needs an account of its own on this machine: without root it
	// is left out.
	Local bool
	// Short means that it is a part of the short attack, which shows what is wrong in
	// seconds.
	Short bool
	// Run attacks until ctx ends, or once.
	Run func(ctx context.Context, f *Field) error
}

var (
	AsUser    = []bus.Role{bus.User}
	AsAnybody = []bus.Role{bus.User, bus.Host, bus.Scheduler}
	AsDaemon  = []bus.Role{bus.Host, bus.Scheduler}
)

// class is what is done to a subject.
type class string

const (
	long      class = "long"      // texts of megabytes
	many      class = "many"      // lists of thousands, requests in thousands
	foreign   class = "foreign"   // names, numbers and identities of others
	Multiline class = "multiline" // line breaks and control characters
	repeated  class = "repeated"  // the same again, as fast as it is answered
	abandoned class = "abandoned" // begun and not ended, answered and not read
)

// classes are all of them.
var classes = []class{long, many, foreign, Multiline, repeated, abandoned}

// family is the subjects of one table, and what each class does to them.
type family struct {
	name, usage string
	local       bool
	run         map[class]func(context.Context, *Field) error
}

// families are the tables that attacks are generated from.
var families = []family{
	{"requests", "each field of each request of users, from the types of package gdi", false, map[class]func(context.Context, *Field) error{
		long: requestsLong, many: requestsMany, foreign: requestsForeign, Multiline: requestsMultiline, repeated: requestsRepeated, abandoned: requestsAbandoned,
	}},
	{"routes", "each parameter of each route of quill web, from the description that it serves", false, map[class]func(context.Context, *Field) error{
		long: routesLong, many: routesMany, foreign: routesForeign, Multiline: routesMultiline, repeated: routesRepeated, abandoned: routesAbandoned,
	}},
	{"listeners", "each socket at which a process of the cell listens, from proc(5)", false, map[class]func(context.Context, *Field) error{
		long: listenersLong, many: listenersMany, repeated: listenersRepeated, abandoned: listenersAbandoned,
	}},
	{"jobs", "what the processes of a job may do on its host", true, map[class]func(context.Context, *Field) error{
		long: jobsLong, many: jobsMany, foreign: jobsForeign, Multiline: jobsMultiline, repeated: jobsRepeated, abandoned: jobsAbandoned,
	}},
}

// Attacks are all there are, in the order in which each runs alone: those of the tables,
// and those with a subject of their own.
var Attacks = append(generated(), madeUp, proposals, registrations, secrets, impersonation, others, files, environment, links, fifos, directories)

func generated() (all []Attack) {
	for _, f := range families {
		for _, c := range classes {
			if run := f.run[c]; run != nil {
				if f.local {
					run = afterTrial(run)
				}
				all = append(all, Attack{Name: f.name + "-" + string(c), Usage: f.usage + ": " + usages[c], Roles: AsUser, Local: f.local, Run: run})
			}
		}
	}
	return all
}

// afterTrial has an attack by jobs begin when a job of the attacker has run.
func afterTrial(run func(context.Context, *Field) error) func(context.Context, *Field) error {
	return func(ctx context.Context, f *Field) error {
		if err := f.tryJob(ctx); err != nil {
			return err
		}
		return run(ctx, f)
	}
}

var usages = map[class]string{
	long: "megabytes where a word belongs", many: "thousands where a few belong", foreign: "names, numbers and identities of others",
	Multiline: "line breaks and control characters", repeated: "again and again, as fast as it is answered", abandoned: "begun and not ended, answered and not read",
}

// Find returns the attacks of these names, or of the families of these names, and the
// first name that is none.
func Find(names []string) (found []Attack, unknown string) {
	for _, n := range names {
		before := len(found)
		for _, a := range Attacks {
			if a.Name == n || strings.HasPrefix(a.Name, n+"-") && slices.ContainsFunc(families, func(f family) bool { return f.name == n }) {
				found = append(found, a)
			}
		}
		if len(found) == before {
			return nil, n
		}
	}
	return found, ""
}
