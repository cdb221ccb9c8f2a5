package client

import (
	"context"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// Fetch returns what a Get asks for as a state, which is no more than these
// objects.
func Fetch(ctx context.Context, c Client, get gdi.Get) (*state.State, error) {
	st := state.New()
	return st, FetchInto(ctx, c, get, st)
}

// FetchInto adds what a Get asks for to a state.
func FetchInto(ctx context.Context, c Client, get gdi.Get, st *state.State) error {
	_, err := c.Get(ctx, get, func(o grid.Object) error {
		st.Apply(events.List{Events: []events.Event{events.Listed(o)}})
		return nil
	})
	return err
}
