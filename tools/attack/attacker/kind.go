package attacker

import (
	"context"

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
