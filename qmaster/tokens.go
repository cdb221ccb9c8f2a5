package qmaster

import (
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// tokens are those of the durable state, for the server: it authenticates the clients that
// connect with one. Whether a request may be made with a token is decided by the core.
type tokens struct {
	mu sync.RWMutex
	of map[uint32]*grid.Token // nil: the state is not recovered yet
}

// begin takes those of the recovered state.
func (t *tokens) begin(s *state.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of = make(map[uint32]*grid.Token)
	for _, one := range s.Tokens() {
		t.of[one.ID] = one
	}
}

// after returns what happens when a list is durable: the changes of tokens in it, then
// leave, which may be nil.
func (t *tokens) after(l events.List, leave func()) func() {
	var changed []events.Event
	for _, e := range l.Events {
		if e.Kind == grid.KindToken {
			changed = append(changed, e)
		}
	}
	if changed == nil {
		return leave
	}
	return func() {
		t.change(changed)
		if leave != nil {
			leave()
		}
	}
}

func (t *tokens) change(es []events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range es {
		if one, ok := e.Object.(*grid.Token); ok {
			t.of[one.ID] = one
		} else {
			delete(t.of, e.Key.ID)
		}
	}
}

// owner is a bus.TokenOwner.
func (t *tokens) owner(number uint32) (user string, digest []byte, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	one := t.of[number]
	switch {
	case t.of == nil:
		return "", nil, bus.ErrBusy
	case one == nil || one.Expires <= grid.TimeOf(time.Now()):
		return "", nil, bus.ErrToken
	}
	return one.Owner, one.Digest, nil
}
