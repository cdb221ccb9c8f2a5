package codec

import (
	"crypto/sha256"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/quill-grid/quill/pkg/grid"
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

// bytes is a field of bytes which many objects have in common.
func (w *wire) bytes(p *[]byte) {
	w.nested(func(w *wire) { w.b = append(w.b, *p...) }, func(b []byte) {
		switch d := w.dec; {
		case len(b) == 0:
		case d == nil:
			*p = append([]byte(nil), b...)
		default:
			if s, ok := lookUp(d.blobs, b); ok {
				*p = s
				return
			}
			d.hold(len(b))
			*p = append([]byte(nil), b...)
			d.blobs[keyOf(b)] = *p
		}
	})
}

// shared is a field whose value many objects have in common: equal bytes give
// the same value. It is wrapped in its length, so that a known one costs no
// reading. table picks the Decoder's memory for it.
func shared[S ~[]T, T any](w *wire, p *S, table func(*Decoder) map[string]S, each func(*wire, *T)) {
	if !w.reading && len(*p) == 0 {
		w.b = append(w.b, msgpcode.Nil)
		w.fields++
		return
	}
	w.nested(func(w *wire) { list(w, p, each) }, func(b []byte) {
		known(w, b, p, table, func(w *wire) { list(w, p, each) })
	})
}

// request is what a job asks for, which many jobs have in common.
func (w *wire) request(p **grid.JobRequest) {
	if !w.reading && *p == nil {
		w.b = append(w.b, msgpcode.Nil)
		w.fields++
		return
	}
	w.nested(func(w *wire) { jobRequest(w, *p) }, func(b []byte) {
		known(w, b, p, func(d *Decoder) map[string]*grid.JobRequest { return d.asks }, func(w *wire) {
			*p = new(grid.JobRequest)
			jobRequest(w, *p)
		})
	})
}

// spec is a job's Spec, which jobs that are submitted alike have in common.
func (w *wire) spec(p **grid.JobSpec) {
	written := *p
	if !w.reading && w.brief && written != nil {
		if written = nil; len((*p).Context) > 0 { // schedulers read it
			written = &grid.JobSpec{Context: (*p).Context}
		}
	}
	if !w.reading && written == nil {
		w.b = append(w.b, msgpcode.Nil)
		w.fields++
		return
	}
	w.nested(func(w *wire) { jobSpec(w, written) }, func(b []byte) {
		known(w, b, p, func(d *Decoder) map[string]*grid.JobSpec { return d.specs }, func(w *wire) {
			*p = new(grid.JobSpec)
			jobSpec(w, *p)
		})
	})
}

// known sets p to the stored value of the bytes b, or decodes b and stores the value.
func known[V any](w *wire, b []byte, p *V, table func(*Decoder) map[string]V, read func(*wire)) {
	if len(b) == 0 {
		return
	}
	if w.dec != nil {
		if v, ok := lookUp(table(w.dec), b); ok {
			*p = v
			return
		}
	}
	outer := *w
	w.b, w.at, w.fields = b, 0, 1
	read(w)
	outer.err, outer.room = w.err, w.room
	*w = outer
	if w.dec != nil && w.err == nil {
		w.dec.hold(len(b))
		table(w.dec)[keyOf(b)] = *p
	}
}
