package client

import (
	"context"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Client is what a command needs of qmaster.
type Client interface {
	// Do asks for one thing and returns what qmaster says; command is the name of
	// the program that asks. A request whose answer is lost is repeated under the
	// same id, so a job is never made twice. The error says that qmaster cannot be
	// reached or does not understand; a refusal is in the Reply.
	Do(ctx context.Context, command string, body gdi.Body) (gdi.Reply, error)
	// Get calls each with the objects asked for, as they were at one moment, kind
	// by kind in key order, and returns the Seq of that moment. An error of each
	// ends it and is returned.
	Get(ctx context.Context, get gdi.Get, each func(grid.Object) error) (seq uint64, err error)
	Close() error
}

// ConnectHere finds the cell that the environment of this process names and connects to it for a command, as Connect
// does: notice is called whenever an answer takes long, and grid.RequestVariable names the first request that makes
// something. The error is *cell.NotFound, too.
func ConnectHere(ctx context.Context, notice func(text string)) (Client, error) {
	c, err := cell.Find()
	if err != nil {
		return nil, err
	}
	return connect(ctx, c, func(r *Remote) { r.notice, r.named = notice, true })
}
