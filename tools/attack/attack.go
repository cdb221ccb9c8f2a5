package attack

import (
	"context"
	"slices"

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
	asUser    = []bus.Role{bus.User}
	asAnybody = []bus.Role{bus.User, bus.Host, bus.Scheduler}
	asDaemon  = []bus.Role{bus.Host, bus.Scheduler}
)

// Attacks are all there are, in the order in which each runs alone.
var Attacks = []Attack{
	madeUp, protocol, halfSent, connections, slowReaders, listings, registrations, waits, submits, sizes, commands,
	secrets, impersonation, others, files, environment, links, fifos, directories, mails,
}

// find returns the attacks of these names, and the first name that is none.
func find(names []string) (found []Attack, unknown string) {
	for _, n := range names {
		i := slices.IndexFunc(Attacks, func(a Attack) bool { return a.Name == n })
		if i < 0 {
			return nil, n
		}
		found = append(found, Attacks[i])
	}
	return found, ""
}
