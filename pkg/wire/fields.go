package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The kinds of fields. Each function writes what its pointer points at, or fills it.

type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int
}

// Uns is a field that is an unsigned number.
func Uns[T unsigned](w *Coder, p *T) {
	if !w.reading {
		w.b = appendUint(w.b, uint64(*p))
		w.fields++
		return
	}
	if !w.Next() {
		return
	}
	v := w.nextUint()
	if *p = T(v); uint64(*p) != v {
		w.Fail(errors.New("number too large"))
	}
}

// Sig is a field that is a signed number.
func Sig[T signed](w *Coder, p *T) {
	if !w.reading {
		w.b = appendInt(w.b, int64(*p))
		w.fields++
		return
	}
	if !w.Next() {
		return
	}
	v := w.nextInt()
	if *p = T(v); int64(*p) != v {
		w.Fail(errors.New("number too large"))
	}
}

// Bool is a field that is true or false.
func (w *Coder) Bool(p *bool) {
	if !w.reading {
		c := msgpcode.False
		if *p {
			c = msgpcode.True
		}
		w.b = append(w.b, c)
		w.fields++
		return
	}
	if !w.Next() {
		return
	}
	switch c := w.nextByte(); c {
	case msgpcode.True:
		*p = true
	case msgpcode.False, msgpcode.Nil:
	default:
		w.Fail(fmt.Errorf("0x%02x is no boolean", c))
	}
}

// Float is a field that is a real number; whole ones travel as integers.
func (w *Coder) Float(p *float64) {
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
	if !w.Next() {
		return
	}
	if w.at < len(w.b) && (w.b[w.at] == msgpcode.Double || w.b[w.at] == msgpcode.Float) {
		if w.nextByte() == msgpcode.Float {
			*p = float64(math.Float32frombits(uint32(w.nextBig(4))))
		} else {
			*p = math.Float64frombits(w.nextBig(8))
		}
		return
	}
	*p = float64(w.nextInt())
}

// Text is a field that is a string of its own.
func (w *Coder) Text(p *string) {
	if !w.reading {
		w.b = appendString(w.b, *p)
		w.fields++
		return
	}
	if !w.Next() {
		return
	}
	if b := w.nextText(); w.shares {
		*p = unsafe.String(unsafe.SliceData(b), len(b))
	} else {
		*p = string(b)
	}
}

// Data is a field of bytes; an empty one is read as nil.
func (w *Coder) Data(p *[]byte) {
	if !w.reading {
		w.b = appendBytes(w.b, *p)
		w.fields++
		return
	}
	switch b, _ := w.TextBytes(); {
	case len(b) == 0:
	case w.shares:
		*p = b
	default:
		*p = bytes.Clone(b)
	}
}

// Nested is a field whose bytes are preceded by their length, so that a reader can skip
// them without understanding them.
func (w *Coder) Nested(write func(*Coder), read func([]byte)) {
	if w.reading {
		if w.Next() {
			if b := w.nextText(); w.err == nil {
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

// List is a field that is a list; each writes or reads one element.
func List[S ~[]T, T any](w *Coder, p *S, each func(*Coder, *T)) {
	if !w.reading {
		fields := w.fields
		w.b = appendArray(w.b, len(*p))
		for i := range *p {
			each(w, &(*p)[i])
		}
		w.fields = fields + 1
		return
	}
	n, m := w.OpenList()
	var zero T
	if n > 0 && w.takesRoom(n, int(unsafe.Sizeof(zero))) {
		longest := w.longest
		w.longest = max(longest, n)
		*p = make(S, 0, n)
		for i := 0; i < n && w.NextElement(); i++ {
			*p = (*p)[:i+1]
			each(w, &(*p)[i])
		}
		w.longest = longest
	}
	w.CloseList(m)
}

// OpenList begins to read a field that is a list and returns the number of its elements, 0 when there are none to read.
// A caller that uses it instead of List bounds the memory for them.
func (w *Coder) OpenList() (n int, m OpenArray) {
	if w.Next() {
		n = w.nextArray()
	}
	return n, OpenArray{fields: w.fields}
}

// NextElement begins an element of the list; false after an error.
func (w *Coder) NextElement() bool {
	w.fields = 1
	return w.err == nil
}

// CloseList ends the list.
func (w *Coder) CloseList(m OpenArray) { w.fields = m.fields }

// Opt is a field that may be absent.
func Opt[T any](w *Coder, p **T, visit func(*Coder, *T)) {
	switch {
	case !w.reading && *p == nil:
		w.Absent()
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

// Absent writes a field that is absent.
func (w *Coder) Absent() {
	w.b = append(w.b, msgpcode.Nil)
	w.fields++
}

// TextBytes reads a field that is a string; what it returns belongs to the input. False: there is none.
func (w *Coder) TextBytes() ([]byte, bool) {
	if !w.Next() {
		return nil, false
	}
	b := w.nextText()
	return b, w.err == nil
}

// Value is a field of any shape, written and read by other means: write returns its bytes, read is given all of them.
func (w *Coder) Value(write func() []byte, read func([]byte) error) {
	if !w.reading {
		w.Raw(write())
		w.fields++
		return
	}
	if !w.Next() {
		return
	}
	start := w.at
	if tiny := w.skip(deepest); w.err != nil || !w.takesRoom(tiny, tinyBytes) {
		return
	}
	if err := read(w.b[start:w.at]); err != nil {
		w.Fail(err)
	}
}
