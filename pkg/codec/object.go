package codec

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/quill-grid/quill/pkg/grid"
)

// AppendObject appends the object's bytes, which do not name its kind.
func AppendObject(dst []byte, o grid.Object) []byte {
	w := wire{b: dst}
	object(&w, o)
	return w.b
}

// AppendBrief is AppendObject with nothing of a job's Spec but its Context: what listings and schedulers need.
func AppendBrief(dst []byte, o grid.Object) []byte {
	w := wire{b: dst, brief: true}
	object(&w, o)
	return w.b
}

// DecodeObject reads what AppendObject wrote.
func DecodeObject(kind grid.Kind, b []byte) (grid.Object, error) {
	return (*Decoder)(nil).Object(kind, b)
}

// Object reads what AppendObject wrote; bytes behind the object are an error.
func (d *Decoder) Object(kind grid.Kind, b []byte) (grid.Object, error) {
	spec := grid.SpecOf(kind)
	if spec == nil {
		return nil, unknownKind(kind)
	}
	w := reader(b, d)
	return w.whole(spec)
}

// whole reads an object that takes all the bytes.
func (w *wire) whole(spec *grid.Spec) (grid.Object, error) {
	o := spec.New()
	object(w, o)
	if w.err == nil && w.at != len(w.b) {
		w.err = errExtra
	}
	if w.err != nil {
		return nil, fmt.Errorf("%s object: %w", spec.Name, w.err)
	}
	return o, nil
}

// inside reads an object out of bytes within those of w, whose place and
// errors it leaves alone.
func (w *wire) inside(kind grid.Kind, b []byte) (grid.Object, error) {
	spec := grid.SpecOf(kind)
	if spec == nil {
		return nil, unknownKind(kind)
	}
	outer := *w
	w.b, w.at, w.fields = b, 0, 1
	o, err := w.whole(spec)
	outer.room = w.room
	*w = outer
	return o, err
}

func unknownKind(k grid.Kind) error { return fmt.Errorf("unknown kind of object %d", uint8(k)) }

// object writes or fills an object: by its array layout or, for
// configuration, as a map of its fields.
func object(w *wire, o grid.Object) {
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
	case *grid.PriorityRange:
		priorityRange(w, o)
	case *grid.AlgorithmState:
		algorithmState(w, o)
	default:
		configuration(w, o)
	}
}

// configuration is a map by field name that leaves out empty fields.
func configuration(w *wire, o grid.Object) {
	if !w.reading {
		var b bytes.Buffer
		e := msgpack.NewEncoder(&b)
		e.SetOmitEmpty(true)
		e.UseCompactInts(true)
		if err := e.Encode(o); err != nil {
			panic(fmt.Errorf("codec: %s object: %w", o.Kind(), err)) // a field of a type that has no text
		}
		w.b = append(w.b, b.Bytes()...)
		w.fields++
		return
	}
	if !w.next() {
		return
	}
	start := w.at
	w.tiny = 0
	w.skip() // the library sees whole values only
	if w.err != nil || !w.takes(w.tiny, tinyBytes) {
		return
	}
	if err := msgpack.Unmarshal(w.b[start:w.at], o); err != nil {
		w.fail(err)
	}
}

// tagged is a field that holds an object of any kind.
func tagged(w *wire, p *grid.Object) {
	m := w.open()
	var kind grid.Kind
	if !w.reading {
		kind = (*p).Kind()
	}
	uns(w, &kind)
	w.nested(func(w *wire) { object(w, *p) }, func(b []byte) {
		o, err := w.inside(kind, b)
		if err != nil {
			w.fail(err)
			return
		}
		*p = o
	})
	if w.reading && w.err == nil && *p == nil {
		w.fail(errShort)
	}
	w.close(m)
}

// part is an optional field of one configuration kind.
func part[T any, P interface {
	*T
	grid.Object
}](w *wire, p **T) {
	opt(w, p, func(w *wire, t *T) { configuration(w, P(t)) })
}
