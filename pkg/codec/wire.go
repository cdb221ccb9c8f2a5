package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Version is the number of the layouts: it rises when a field or kind is added after
// a release, and testdata keeps golden bytes for each version that was released. It is
// not written into the bytes, which any version reads.
const Version = 1

var (
	errShort = errors.New("ends in the middle of a value")
	errDeep  = errors.New("values are nested too deep")
	errMany  = errors.New("has too many elements for its size")
)

// wire writes or reads one msgpack text. The functions that describe layouts
// are the same for both directions: each field function writes what its
// pointer points at, or fills it.
type wire struct {
	b       []byte
	at      int  // reading: the next byte
	reading bool // the direction
	brief   bool // writing: leave out each job's Spec
	// fields of the open array: written so far, or left to read.
	fields int
	room   int // reading: bytes of memory that elements of lists may still take
	tiny   int // reading: elements of one byte that pass has seen
	err    error
	dec    *Decoder
}

// An element of a list takes a byte in a message at least, and up to some hundred in
// memory: a hostile message of 8 MB could take gigabytes. So what all lists of a
// message take is bounded by its length, roomPerByte being more than what programs
// send needs, and for messages of clients and daemons altogether.
const (
	roomLeast   = 1 << 20
	roomPerByte = 16
	roomMost    = 64 << 20
	tinyBytes   = 256 // of an element of one byte in a configuration object
)

func reader(b []byte, d *Decoder) wire {
	return wire{b: b, reading: true, fields: 1, dec: d, room: roomLeast + roomPerByte*len(b)}
}

// takes counts n elements of so many bytes before memory for them is taken.
func (w *wire) takes(n, size int) bool {
	if n > 0 && size > 0 && n > w.room/size {
		w.fail(errMany)
		return false
	}
	w.room -= n * size
	return w.err == nil
}

func (w *wire) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// next says whether a field is there to be read.
func (w *wire) next() bool {
	if w.err != nil || w.fields == 0 {
		return false
	}
	w.fields--
	return true
}

// mark stores where an array was opened and the fields around it.
type mark struct {
	start, fields int
}

// open begins an array of fields; a missing one reads as an empty one.
func (w *wire) open() mark {
	m := mark{len(w.b), w.fields}
	if w.reading {
		if !w.next() {
			return m
		}
		m.fields = w.fields
		if w.at < len(w.b) && w.b[w.at] == msgpcode.Nil {
			w.at++
			w.fields = 0
			return m
		}
		w.fields = w.arrayLen()
		return m
	}
	w.b = append(w.b, msgpcode.FixedArrayLow)
	w.fields = 0
	return m
}

// close ends the array: writes its length, or skips what was not read.
func (w *wire) close(m mark) {
	if w.reading {
		for ; w.fields > 0 && w.err == nil; w.fields-- {
			w.skip()
		}
		w.fields = m.fields
		return
	}
	if w.fields < 16 {
		w.b[m.start] |= byte(w.fields)
	} else {
		w.b = append(w.b, 0, 0)
		copy(w.b[m.start+3:], w.b[m.start+1:])
		w.b[m.start] = msgpcode.Array16
		binary.BigEndian.PutUint16(w.b[m.start+1:], uint16(w.fields))
	}
	w.fields = m.fields + 1
}

type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int
}

// uns is a field that is an unsigned number.
func uns[T unsigned](w *wire, p *T) {
	if !w.reading {
		w.b = appendUint(w.b, uint64(*p))
		w.fields++
		return
	}
	if !w.next() {
		return
	}
	v := w.uint()
	if *p = T(v); uint64(*p) != v {
		w.fail(errors.New("number too large"))
	}
}

// sig is a field that is a signed number.
func sig[T signed](w *wire, p *T) {
	if !w.reading {
		w.b = appendInt(w.b, int64(*p))
		w.fields++
		return
	}
	if !w.next() {
		return
	}
	v := w.int()
	if *p = T(v); int64(*p) != v {
		w.fail(errors.New("number too large"))
	}
}

func (w *wire) bool(p *bool) {
	if !w.reading {
		c := msgpcode.False
		if *p {
			c = msgpcode.True
		}
		w.b = append(w.b, c)
		w.fields++
		return
	}
	if !w.next() {
		return
	}
	switch c := w.byte(); c {
	case msgpcode.True:
		*p = true
	case msgpcode.False, msgpcode.Nil:
	default:
		w.fail(fmt.Errorf("0x%02x is no boolean", c))
	}
}

// float is a field that is a real number; whole ones travel as integers.
func (w *wire) float(p *float64) {
	if !w.reading {
		if i := int64(*p); float64(i) == *p && i > -1<<53 && i < 1<<53 && !(i == 0 && math.Signbit(*p)) {
			w.b = appendInt(w.b, i)
		} else {
			w.b = append(w.b, msgpcode.Double)
			w.b = binary.BigEndian.AppendUint64(w.b, math.Float64bits(*p))
		}
		w.fields++
		return
	}
	if !w.next() {
		return
	}
	if w.at < len(w.b) && (w.b[w.at] == msgpcode.Double || w.b[w.at] == msgpcode.Float) {
		if w.byte() == msgpcode.Float {
			*p = float64(math.Float32frombits(uint32(w.big(4))))
		} else {
			*p = math.Float64frombits(w.big(8))
		}
		return
	}
	*p = float64(w.int())
}

// text is a field that is a string of its own.
func (w *wire) text(p *string) {
	if !w.reading {
		w.b = appendString(w.b, *p)
		w.fields++
		return
	}
	if w.next() {
		*p = string(w.blob())
	}
}

// name is a field that is a string which many objects have in common.
func (w *wire) name(p *string) {
	if !w.reading {
		w.b = appendString(w.b, *p)
		w.fields++
		return
	}
	if w.next() {
		*p = w.dec.name(w.blob())
	}
}

// nested is a field whose bytes are preceded by their length, so that a reader can skip
// them without understanding them.
func (w *wire) nested(write func(*wire), read func([]byte)) {
	if w.reading {
		if w.next() {
			if b := w.blob(); w.err == nil {
				read(b)
			}
		}
		return
	}
	start, fields := len(w.b), w.fields
	w.b = append(w.b, msgpcode.Bin8, 0)
	write(w)
	n := len(w.b) - start - 2
	switch {
	case n <= math.MaxUint8:
		w.b[start+1] = byte(n)
	case n <= math.MaxUint16:
		w.b = append(w.b, 0)
		copy(w.b[start+3:], w.b[start+2:])
		w.b[start] = msgpcode.Bin16
		binary.BigEndian.PutUint16(w.b[start+1:], uint16(n))
	default:
		w.b = append(w.b, 0, 0, 0)
		copy(w.b[start+5:], w.b[start+2:])
		w.b[start] = msgpcode.Bin32
		binary.BigEndian.PutUint32(w.b[start+1:], uint32(n))
	}
	w.fields = fields + 1
}

// sharedMost is up to how many elements of a list are looked up in the Decoder: many
// different ones take long, and push out of it what other jobs share.
const sharedMost = 1000

// list is a field that is a list; each writes or reads one element.
func list[S ~[]T, T any](w *wire, p *S, each func(*wire, *T)) {
	if !w.reading {
		fields := w.fields
		w.b = appendArray(w.b, len(*p))
		for i := range *p {
			each(w, &(*p)[i])
		}
		w.fields = fields + 1
		return
	}
	if !w.next() {
		return
	}
	fields := w.fields
	n := w.arrayLen()
	var zero T
	if n > 0 && w.err == nil && w.takes(n, int(unsafe.Sizeof(zero))) {
		*p = make(S, 0, n)
		dec := w.dec
		if n > sharedMost {
			w.dec = nil
		}
		for ; n > 0 && w.err == nil; n-- {
			var t T
			w.fields = 1
			each(w, &t)
			*p = append(*p, t)
		}
		w.dec = dec
	}
	w.fields = fields
}

// opt is a field that may be absent.
func opt[T any](w *wire, p **T, visit func(*wire, *T)) {
	switch {
	case !w.reading && *p == nil:
		w.b = append(w.b, msgpcode.Nil)
		w.fields++
	case !w.reading:
		visit(w, *p)
	case w.fields == 0 || w.err != nil:
	case w.at < len(w.b) && w.b[w.at] == msgpcode.Nil:
		w.fields--
		w.at++
	default:
		*p = new(T)
		visit(w, *p)
	}
}
