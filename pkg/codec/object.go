package codec

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

// Version is the number of the layouts: it rises when a field or kind is added after
// a release, and testdata keeps golden bytes for each version that was released. It is
// not written into the bytes, which any version reads.
const Version = 1

// AppendObject appends the object's bytes, which do not name its kind.
func AppendObject(dst []byte, o grid.Object) []byte {
	w := wire.Writer(dst, nil)
	object(&w, o)
	return w.Bytes()
}

// DecodeObject reads what AppendObject wrote.
func DecodeObject(kind grid.Kind, b []byte) (grid.Object, error) {
	return (*Decoder)(nil).Object(kind, b)
}

// Object reads what AppendObject wrote; bytes after the object are an error.
func (d *Decoder) Object(kind grid.Kind, b []byte) (grid.Object, error) {
	spec := grid.SpecOf(kind)
	if spec == nil {
		return nil, unknownKind(kind)
	}
	w := wire.Reader(b, d)
	return whole(&w, spec)
}

// whole reads an object that takes all the bytes.
func whole(w *wire.Coder, spec *grid.Spec) (grid.Object, error) {
	o := spec.New()
	object(w, o)
	if err := w.End(); err != nil {
		return nil, fmt.Errorf("%s object: %w", spec.Name, err)
	}
	return o, nil
}

// inside reads an object out of bytes within those of w, whose place and
// errors it leaves alone.
func inside(w *wire.Coder, kind grid.Kind, b []byte) (o grid.Object, err error) {
	spec := grid.SpecOf(kind)
	if spec == nil {
		return nil, unknownKind(kind)
	}
	w.Inside(b, func(w *wire.Coder) { o, err = whole(w, spec) })
	return o, err
}

func unknownKind(k grid.Kind) error { return fmt.Errorf("unknown kind of object %d", uint8(k)) }

// object writes or fills an object: by its array layout or, for
// configuration, as a map of its fields.
func object(w *wire.Coder, o grid.Object) {
	switch o := o.(type) {
	case *grid.Job:
		job(w, o)
	case *grid.JATask:
		jaTask(w, o)
	case *grid.PETask:
		peTask(w, o)
	case *grid.Accounting:
		accounting(w, o)
	case *grid.Load:
		load(w, o)
	case *grid.QInstance:
		qInstance(w, o)
	case *grid.Receipt:
		jobReceipt(w, o)
	case *grid.Counter:
		counter(w, o)
	case *grid.JobScheddInfo:
		jobScheddInfo(w, o)
	case *grid.Booking:
		booking(w, o)
	case *grid.Priority:
		priority(w, o)
	case *grid.JobReservation:
		jobReservation(w, o)
	case *grid.PriorityRange:
		priorityRange(w, o)
	case *grid.AlgorithmState:
		algorithmState(w, o)
	default:
		configuration(w, o)
	}
}

// configuration is a map by field name that leaves out empty fields.
func configuration(w *wire.Coder, o grid.Object) {
	w.Value(func() []byte {
		var b bytes.Buffer
		e := msgpack.NewEncoder(&b)
		e.SetOmitEmpty(true)
		e.UseCompactInts(true)
		if err := e.Encode(o); err != nil {
			panic(fmt.Errorf("codec: %s object: %w", o.Kind(), err)) // a field of a type that has no text
		}
		return b.Bytes()
	}, func(b []byte) error { return msgpack.Unmarshal(b, o) })
}

// tagged is a field that holds an object of any kind.
func tagged(w *wire.Coder, p *grid.Object) {
	m := w.Open()
	var kind grid.Kind
	if !w.Reading() {
		kind = (*p).Kind()
	}
	wire.Uns(w, &kind)
	w.Nested(func(w *wire.Coder) { object(w, *p) }, func(b []byte) {
		o, err := inside(w, kind, b)
		if err != nil {
			w.Fail(err)
			return
		}
		*p = o
	})
	if w.Reading() && w.Err() == nil && *p == nil {
		w.Fail(wire.ErrShort)
	}
	w.Close(m)
}

// part is an optional field of one configuration kind.
func part[T any, P interface {
	*T
	grid.Object
}](w *wire.Coder, p **T) {
	wire.Opt(w, p, func(w *wire.Coder, t *T) { configuration(w, P(t)) })
}
