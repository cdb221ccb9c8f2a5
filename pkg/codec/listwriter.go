package codec

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// ChunkBytes is about how much of a full state travels in one chunk.
const ChunkBytes = 128 << 10

// listEvents is how many objects of a full state travel in one list.
const listEvents = 500

// ListWriter writes objects as lists of LIST events, some lists to a chunk. List is
// how each list begins: Seq and At of the state; Send takes a chunk, which is
// valid until it returns.
type ListWriter struct {
	List  events.List
	Brief bool // without each job's Spec
	Send  func(chunk []byte) error

	buf   []byte
	texts int // bytes of them in List
	wrote bool
	err   error
}

// Add adds an event. It returns false when Send has failed.
func (w *ListWriter) Add(e events.Event) bool {
	w.List.Events = append(w.List.Events, e)
	w.texts += w.textsOf(e.Object)
	if len(w.List.Events) >= listEvents || w.texts >= ChunkBytes {
		w.write()
	}
	return w.err == nil
}

// textsOf is about how many bytes the texts of an object have that a user may have made long.
func (w *ListWriter) textsOf(o grid.Object) (bytes int) {
	switch o := o.(type) {
	case *grid.Job:
		if w.Brief && o.Spec != nil {
			j := *o
			j.Spec = &grid.JobSpec{Context: o.Spec.Context}
			return j.Size()
		}
		return o.Size()
	case *grid.Receipt:
		return len(o.Reply)
	case *grid.Proposal:
		bytes = len(o.Text) + len(o.Effect) + len(o.Reason)
		for _, c := range o.Changes {
			bytes += len(c)
		}
	case *grid.AR:
		for _, list := range []grid.Names{o.Queues, o.MasterQueues, o.ACL, o.XACL, o.MailTo, o.Message} {
			for _, text := range list {
				bytes += len(text)
			}
		}
	case *grid.PETask:
		if o.Launch != nil {
			for _, a := range o.Launch.Args {
				bytes += len(a)
			}
			for _, v := range o.Launch.Env {
				bytes += len(v.Text)
			}
		}
	}
	return bytes
}

func (w *ListWriter) write() {
	if w.Brief {
		w.buf = AppendBriefList(w.buf, w.List)
	} else {
		w.buf = AppendList(w.buf, w.List)
	}
	w.List.Events, w.texts, w.wrote = w.List.Events[:0], 0, true
	if len(w.buf) >= ChunkBytes {
		w.flush()
	}
}

func (w *ListWriter) flush() {
	if len(w.buf) > 0 && w.err == nil {
		w.err = w.Send(w.buf)
	}
	w.buf = w.buf[:0]
}

// End writes what is left; at least one list, so that an empty state has a Seq
// too. It returns the error of Send.
func (w *ListWriter) End() error {
	if !w.wrote || len(w.List.Events) > 0 {
		w.write()
	}
	w.flush()
	return w.err
}
