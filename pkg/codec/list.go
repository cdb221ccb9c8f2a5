package codec

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

// Unreadable is the error of a list that was read but for some of its
// objects: from a newer program, or damaged. List and length are good; the
// events named here are missing from it.
type Unreadable struct {
	Seq    uint64
	Events []events.Event // without Object
	Errs   []error        // why, one per event
}

// Error names what was set aside.
func (u *Unreadable) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "list %d: set aside", u.Seq)
	for i, e := range u.Events {
		fmt.Fprintf(&b, " %s (%v)", e, u.Errs[i])
	}
	return b.String()
}

// Unwrap gives the reasons.
func (u *Unreadable) Unwrap() []error { return u.Errs }

// AppendList appends the list; lists may follow each other in one frame.
func AppendList(dst []byte, l events.List) []byte {
	w := wire.Writer(dst, nil)
	eventList(&w, &l, nil)
	return w.Bytes()
}

// AppendBriefList is AppendList without the Spec of jobs: what listings need.
func AppendBriefList(dst []byte, l events.List) []byte {
	w := wire.Writer(dst, brief{})
	eventList(&w, &l, nil)
	return w.Bytes()
}

// DecodeList reads the first list of b and says how many bytes it takes. An
// error of type *Unreadable leaves both usable; after any other error b is
// damaged and n is 0.
func DecodeList(b []byte) (l events.List, n int, err error) { return (*Decoder)(nil).List(b) }

// List reads the first list of b, see DecodeList.
func (d *Decoder) List(b []byte) (l events.List, n int, err error) {
	w := wire.Reader(b, d)
	return list(&w, nil)
}

// list reads a list with the events that wanted chooses; nil: all.
func list(w *wire.Coder, wanted func(*events.Event) bool) (l events.List, n int, err error) {
	r := listReader{wanted: wanted}
	eventList(w, &l, &r)
	if w.Err() != nil {
		return events.List{}, 0, fmt.Errorf("event list: %w", w.Err())
	}
	if bad := &r.bad; len(bad.Events) > 0 {
		bad.Seq = l.Seq
		return l, w.At(), bad
	}
	return l, w.At(), nil
}

// listReader is what a list is read with.
type listReader struct {
	wanted func(*events.Event) bool // of an event without its object; nil: all are
	bad    Unreadable
}

// errUnwanted is that of an event that is not wanted.
var errUnwanted = errors.New("unwanted")

// Select calls each with the consecutive lists in b, which have only those events that wanted chooses by what they are
// without their objects. The others cost no memory, and little time. What each gets shares memory with b. Objects that
// cannot be read are left out.
func (d *Decoder) Select(b []byte, wanted func(*events.Event) bool, each func(events.List) error) error {
	for len(b) > 0 {
		w := wire.Reader(b, d)
		w.Share()
		l, n, err := list(&w, wanted)
		if n == 0 {
			return err
		}
		if err := each(l); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// Lists calls each with the consecutive lists in b. Objects that cannot be read are left
// out and reported to odd, unless it is nil.
func (d *Decoder) Lists(b []byte, odd func(*Unreadable), each func(events.List) error) error {
	for len(b) > 0 {
		l, n, err := d.List(b)
		if n == 0 {
			return err
		}
		if bad := (*Unreadable)(nil); odd != nil && errors.As(err, &bad) {
			odd(bad)
		}
		if err := each(l); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// MayHave reports whether lists in b may have an event that wanted chooses by what it is without its object; false:
// they have none. It looks for how events begin and reads nothing else, at some gigabytes a second.
func MayHave(b []byte, wanted func(*events.Event) bool) bool {
	var e events.Event
	for fields := byte(3); fields <= 4; fields++ { // without an object, and with one
		head := msgpcode.FixedArrayLow | fields
		for rest := b; ; {
			i := bytes.IndexByte(rest, head)
			if i < 0 || i+2 >= len(rest) {
				break
			}
			rest = rest[i+1:]
			e = events.Event{Op: events.Op(rest[0]), Kind: grid.Kind(rest[1])}
			if e.Op > events.OpDel || e.Kind >= grid.KindsEnd {
				continue
			}
			w := wire.Reader(rest[2:], nil)
			w.Share()
			if key(&w, &e.Key); w.Err() == nil && wanted(&e) {
				return true
			}
		}
	}
	return false
}

// eventList is the envelope: seq, at, cause, events.
func eventList(w *wire.Coder, l *events.List, r *listReader) {
	m := w.Open()
	wire.Uns(w, &l.Seq)
	wire.Sig(w, &l.At)
	cause(w, &l.Cause)
	if !w.Reading() {
		wire.List(w, &l.Events, func(w *wire.Coder, e *events.Event) { event(w, e, nil) })
	} else {
		n, m := w.OpenList()
		if n > 0 && r.wanted == nil {
			l.Events = make([]events.Event, 0, min(n, 1024))
		}
		for ; n > 0 && w.NextElement(); n-- {
			var e events.Event
			switch err := event(w, &e, r.wanted); err {
			case nil:
				l.Events = append(l.Events, e)
			case errUnwanted:
			default:
				r.bad.Events = append(r.bad.Events, e)
				r.bad.Errs = append(r.bad.Errs, err)
			}
		}
		w.CloseList(m)
	}
	w.Close(m)
}

func cause(w *wire.Coder, c *events.Cause) {
	m := w.Open()
	name(w, &c.Who)
	name(w, &c.What)
	w.Text(&c.Ref)
	wire.Uns(w, &c.Token)
	wire.Uns(w, &c.Proposal)
	w.Text(&c.Proposer)
	w.Close(m)
}

// event is op, kind, key and the object with its length in front. It returns errors of
// the object, and errUnwanted; errors of the envelope are in the wire.
func event(w *wire.Coder, e *events.Event, wanted func(*events.Event) bool) (err error) {
	m := w.Open()
	wire.Uns(w, &e.Op)
	wire.Uns(w, &e.Kind)
	key(w, &e.Key)
	if wanted != nil && w.Err() == nil && !wanted(e) {
		w.Nested(nil, func([]byte) {})
		w.Close(m)
		return errUnwanted
	}
	if w.Reading() || e.Object != nil {
		seen := false
		w.Nested(func(w *wire.Coder) { object(w, e.Object) }, func(b []byte) {
			seen = true
			e.Object, err = inside(w, e.Kind, b)
		})
		if w.Reading() && w.Err() == nil {
			if e.Op == events.OpDel { // it needs none
				e.Object, err, seen = nil, nil, false
			}
			switch {
			case err == nil && e.Op > events.OpDel:
				err = fmt.Errorf("unknown operation %d", e.Op)
			case err == nil && !seen && e.Op != events.OpDel:
				err = errors.New("has no object")
			case err == nil && grid.SpecOf(e.Kind) == nil:
				err = unknownKind(e.Kind)
			case err == nil && seen && e.Object.Key() != e.Key:
				err = fmt.Errorf("holds the object %s", e.Object.Key())
			}
			if err != nil {
				e.Object = nil
			}
			if j, is := e.Object.(*grid.Job); is && e.Op != events.OpMod && j.JobRequest == nil {
				j.Ask() // only a change may have none
			}
		}
	}
	w.Close(m)
	return err
}
