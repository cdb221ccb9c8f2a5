package client

import (
	"context"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
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

// Submitted returns when a job was submitted; 0: qmaster does not know it, or not any more.
func Submitted(ctx context.Context, c Client, job uint32) (grid.Time, error) {
	one := gdi.Where{Keys: []grid.Key{{ID: job}}, Brief: true}
	found, err := Fetch(ctx, c, gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: one})
	if err != nil {
		return 0, err
	}
	if j := found.Job(job); j != nil {
		return j.Submit, nil
	}
	return 0, nil
}

// FetchRunning adds to a state that has all tasks the jobs of those that have started:
// what counts as used follows from them, not from a hundred thousand jobs that wait.
func FetchRunning(ctx context.Context, c Client, st *state.State) error {
	var keys []grid.Key
	st.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		if n := len(keys); t.Started() && (n == 0 || keys[n-1].ID != t.Job) {
			keys = append(keys, grid.Key{ID: t.Job})
		}
		return true
	})
	if len(keys) == 0 {
		return nil
	}
	return FetchInto(ctx, c, gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Keys: keys, Brief: true}}, st)
}

// TokenOwner returns the user that a connection with a token acts as; "" when the text is no token, or qmaster does not
// know it any more.
func TokenOwner(ctx context.Context, c Client, token string) (owner string, err error) {
	number, _, ok := bus.ParseToken(token)
	if !ok {
		return "", nil
	}
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindToken}, Where: gdi.Where{Keys: []grid.Key{{ID: number}}}},
		func(o grid.Object) error {
			owner = o.(*grid.Token).Owner
			return nil
		})
	return owner, err
}
