package codec

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// ChunkBytes is about how much of a full state travels in one chunk.
const ChunkBytes = 128 << 10

// listEvents is how many objects of a full state travel in one list.
const listEvents = 500

// Teller writes objects as lists of LIST events, some lists to a chunk. List is
// how each list begins: Seq and At of the state; Send takes a chunk, which is
// valid until it returns.
type Teller struct {
	List  events.List
	Brief bool // without each job's Spec
	Send  func(chunk []byte) error

	buf     []byte
	scripts int // bytes of them in List
	told    bool
	err     error
}

// Tell adds an event; false when Send has failed.
func (t *Teller) Tell(e events.Event) bool {
	t.List.Events = append(t.List.Events, e)
	if j, ok := e.Object.(*grid.Job); ok && j.Spec != nil {
		t.scripts += len(j.Spec.Script)
	}
	if len(t.List.Events) >= listEvents || t.scripts >= ChunkBytes {
		t.write()
	}
	return t.err == nil
}

func (t *Teller) write() {
	if t.Brief {
		t.buf = AppendBriefList(t.buf, t.List)
	} else {
		t.buf = AppendList(t.buf, t.List)
	}
	t.List.Events, t.scripts, t.told = t.List.Events[:0], 0, true
	if len(t.buf) >= ChunkBytes {
		t.flush()
	}
}

func (t *Teller) flush() {
	if len(t.buf) > 0 && t.err == nil {
		t.err = t.Send(t.buf)
	}
	t.buf = t.buf[:0]
}

// End writes what is left; at least one list, so that an empty state has a Seq
// too. It returns the error of Send.
func (t *Teller) End() error {
	if !t.told || len(t.List.Events) > 0 {
		t.write()
	}
	t.flush()
	return t.err
}
