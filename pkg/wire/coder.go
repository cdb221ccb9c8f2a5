package wire

import (
	"encoding/binary"
	"errors"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Errors of bytes that are not what was written.
var (
	ErrShort = errors.New("ends in the middle of a value")
	ErrExtra = errors.New("has more bytes than one value")

	errDeep = errors.New("values are nested too deep")
	errMany = errors.New("has too many elements for its size")
)

// Coder writes or reads one value in msgpack. The functions that describe layouts are the same for both directions:
// each field function writes what its pointer points at, or fills it. After an error it reads nothing more.
type Coder struct {
	// Own is for the package that describes the layouts: what its functions need besides.
	Own any

	b       []byte
	at      int  // reading: the next byte
	reading bool // the direction
	shares  bool // reading: see Share
	fields  int  // of the open array: written so far, or left to read
	room    int  // reading: bytes of memory that elements of lists may still take
	longest int  // reading: elements of the longest List that is open
	err     error
}

// An element of a list takes a byte in a message at least, and up to some hundred in memory: a hostile message of 8 MB
// could take gigabytes. So what all lists of a message take is bounded by its length, roomPerByte being more than what
// programs send needs, and for messages of clients and daemons altogether, see LimitRoom.
const (
	roomLeast   = 1 << 20
	roomPerByte = 16
	roomMost    = 64 << 20
	tinyBytes   = 256 // of an element of one byte in a tagged map
)

// Writer returns a Coder that appends to dst.
func Writer(dst []byte, own any) Coder { return Coder{Own: own, b: dst} }

// Reader returns a Coder that reads b.
func Reader(b []byte, own any) Coder {
	return Coder{Own: own, b: b, reading: true, fields: 1, room: roomLeast + roomPerByte*len(b)}
}

// LimitRoom bounds the memory of lists also for long messages.
func (w *Coder) LimitRoom() { w.room = min(w.room, roomMost) }

// Share makes the strings and bytes that are read share the memory of the input, which must not change any more.
func (w *Coder) Share() { w.shares = true }

// Reading returns the direction.
func (w *Coder) Reading() bool { return w.reading }

// Bytes returns what was written.
func (w *Coder) Bytes() []byte { return w.b }

// Raw writes bytes that stand for a value, or for what Nested writes.
func (w *Coder) Raw(b []byte) { w.b = append(w.b, b...) }

// At returns how many bytes were read.
func (w *Coder) At() int { return w.at }

// Longest returns the number of elements of the longest List that is being read.
func (w *Coder) Longest() int { return w.longest }

// Err returns the first error.
func (w *Coder) Err() error { return w.err }

// Fail sets the error, unless there is one.
func (w *Coder) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// End returns the error of what was read, ErrExtra when bytes are left.
func (w *Coder) End() error {
	if w.at != len(w.b) {
		w.Fail(ErrExtra)
	}
	return w.err
}

// takesRoom counts n elements of so many bytes before memory for them is taken.
func (w *Coder) takesRoom(n, size int) bool {
	if n > 0 && size > 0 && n > w.room/size {
		w.Fail(errMany)
		return false
	}
	w.room -= n * size
	return w.err == nil
}

// Next reports whether a field is there to be read, and counts it as read.
func (w *Coder) Next() bool {
	if w.err != nil || w.fields == 0 {
		return false
	}
	w.fields--
	return true
}

// Peek returns the first byte of the next field; false when there is none.
func (w *Coder) Peek() (byte, bool) {
	if w.fields == 0 || w.err != nil || w.at >= len(w.b) {
		return 0, false
	}
	return w.b[w.at], true
}

// OpenArray is where an array was opened, and the fields around it.
type OpenArray struct {
	start, fields int
}

// Open begins an array of fields; a missing one reads as an empty one.
func (w *Coder) Open() OpenArray {
	m := OpenArray{len(w.b), w.fields}
	if w.reading {
		if !w.Next() {
			return m
		}
		m.fields = w.fields
		if w.at < len(w.b) && w.b[w.at] == msgpcode.Nil {
			w.at++
			w.fields = 0
			return m
		}
		w.fields = w.nextArray()
		return m
	}
	w.b = append(w.b, msgpcode.FixedArrayLow)
	w.fields = 0
	return m
}

// Close ends the array: writes its length, or skips what was not read.
func (w *Coder) Close(m OpenArray) {
	if w.reading {
		for ; w.fields > 0 && w.err == nil; w.fields-- {
			w.skip(deepest)
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

// Inside reads one value out of b, which are bytes within those of w, and returns its error. The place of w stays.
func (w *Coder) Inside(b []byte, read func(*Coder)) error {
	outer := *w
	w.b, w.at, w.fields = b, 0, 1
	read(w)
	err := w.err
	outer.room = w.room
	*w = outer
	return err
}
