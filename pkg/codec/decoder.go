package codec

import (
	"bytes"
	"crypto/sha256"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

// Decoder reads like the functions of the package, but lets the objects that
// it makes share what many of them have in common: names, environments,
// scripts. A million jobs of one user are then a third as large. The zero
// Decoder is ready for use; a nil one shares nothing. Not for use by two
// goroutines at once.
type Decoder struct {
	names    map[string]string
	values   map[string]grid.Values
	requests map[string]grid.Requests
	lists    map[string]grid.Names
	ranges   map[string]grid.Ranges
	blobs    map[string][]byte
	asks     map[string]*grid.JobRequest
	specs    map[string]*grid.JobSpec
	held     int

	recent [64]string // names that were read lately, so that few are looked up
}

// decoderBytes is how many bytes of keys a Decoder stores before it starts afresh.
const decoderBytes = 16 << 20

// hold counts the bytes of a new key and forgets everything when there are
// too many.
func (d *Decoder) hold(n int) {
	d.held += n + 64
	if d.names == nil || d.held > decoderBytes {
		*d = Decoder{
			names: map[string]string{}, values: map[string]grid.Values{}, requests: map[string]grid.Requests{},
			lists: map[string]grid.Names{}, ranges: map[string]grid.Ranges{}, blobs: map[string][]byte{},
			asks: map[string]*grid.JobRequest{}, specs: map[string]*grid.JobSpec{},
		}
	}
}

func (d *Decoder) name(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if d == nil {
		return string(b)
	}
	recent := &d.recent[(len(b)*5+int(b[0])*3+int(b[len(b)-1]))%len(d.recent)]
	if *recent == string(b) {
		return *recent
	}
	s, ok := d.names[string(b)]
	if !ok {
		d.hold(len(b))
		s = string(b)
		d.names[s] = s
	}
	*recent = s
	return s
}

// hashedFrom is the length from which bytes are stored by their hash: a script of
// megabytes would be stored three times.
const hashedFrom = 16 << 10

func lookUp[V any](table map[string]V, b []byte) (V, bool) {
	if plain(b) {
		v, ok := table[string(b)] // without a copy
		return v, ok
	}
	v, ok := table[keyOf(b)]
	return v, ok
}

// keyOf returns the key of bytes in the tables: themselves, or their hash.
func keyOf(b []byte) string {
	if plain(b) {
		return string(b)
	}
	sum := sha256.Sum256(b)
	return string(append([]byte{hashMark}, sum[:]...))
}

// hashMark begins the keys that are hashes. Bytes that could be such a key have one.
const hashMark = 0xc1

func plain(b []byte) bool {
	return len(b) < hashedFrom && !(len(b) == 1+sha256.Size && b[0] == hashMark)
}

// sharedMost is up to how many elements of a list are looked up in the Decoder: many
// different ones take long, and push out of it what other jobs share.
const sharedMost = 1000

// decoder returns the Decoder whose values what w reads shares, nil for none.
func decoder(w *wire.Coder) *Decoder {
	if w.Longest() > sharedMost {
		return nil
	}
	d, _ := w.Own.(*Decoder)
	return d
}

// name is a field that is a string which many objects have in common.
func name(w *wire.Coder, p *string) {
	if !w.Reading() {
		w.Text(p)
	} else if b, ok := w.TextBytes(); ok {
		*p = decoder(w).name(b)
	}
}

// data is a field of bytes which many objects have in common.
func data(w *wire.Coder, p *[]byte) {
	d := decoder(w)
	if d == nil || !w.Reading() {
		w.Data(p)
		return
	}
	b, _ := w.TextBytes()
	if len(b) == 0 {
		return
	}
	if s, ok := lookUp(d.blobs, b); ok {
		*p = s
		return
	}
	d.hold(len(b))
	*p = bytes.Clone(b)
	d.blobs[keyOf(b)] = *p
}

// shared is a field whose value many objects have in common: equal bytes give
// the same value. It is wrapped in its length, so that a known one costs no
// reading. table picks the Decoder's memory for it.
func shared[S ~[]T, T any](w *wire.Coder, p *S, table func(*Decoder) map[string]S, each func(*wire.Coder, *T)) {
	if !w.Reading() && len(*p) == 0 {
		w.Absent()
		return
	}
	w.Nested(func(w *wire.Coder) { wire.List(w, p, each) }, func(b []byte) {
		known(w, b, p, table, func(w *wire.Coder) { wire.List(w, p, each) })
	})
}

// ask is what a job requests, which many jobs have in common.
func ask(w *wire.Coder, p **grid.JobRequest) {
	if !w.Reading() && *p == nil {
		w.Absent()
		return
	}
	w.Nested(func(w *wire.Coder) { jobRequest(w, *p) }, func(b []byte) {
		known(w, b, p, func(d *Decoder) map[string]*grid.JobRequest { return d.asks }, func(w *wire.Coder) {
			*p = new(grid.JobRequest)
			jobRequest(w, *p)
		})
	})
}

// brief is what a Coder that leaves out each job's Spec owns.
type brief struct{}

// spec is a job's Spec, which jobs that are submitted alike have in common.
func spec(w *wire.Coder, p **grid.JobSpec) {
	written := *p
	if _, ok := w.Own.(brief); ok && written != nil {
		if written = nil; len((*p).Context) > 0 { // schedulers read it
			written = &grid.JobSpec{Context: (*p).Context}
		}
	}
	if !w.Reading() && written == nil {
		w.Absent()
		return
	}
	w.Nested(func(w *wire.Coder) { jobSpec(w, written) }, func(b []byte) {
		known(w, b, p, func(d *Decoder) map[string]*grid.JobSpec { return d.specs }, func(w *wire.Coder) {
			*p = new(grid.JobSpec)
			jobSpec(w, *p)
		})
	})
}

// known sets p to the stored value of the bytes b, or decodes b and stores the value.
func known[V any](w *wire.Coder, b []byte, p *V, table func(*Decoder) map[string]V, read func(*wire.Coder)) {
	if len(b) == 0 {
		return
	}
	d := decoder(w)
	if d != nil {
		if v, ok := lookUp(table(d), b); ok {
			*p = v
			return
		}
	}
	if err := w.Inside(b, read); err != nil {
		w.Fail(err)
	} else if d != nil {
		d.hold(len(b))
		table(d)[keyOf(b)] = *p
	}
}
