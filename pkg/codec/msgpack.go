package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The few shapes of msgpack that array layouts are made of.

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v <= 0x7f:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, msgpcode.Uint8, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, msgpcode.Uint16), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, msgpcode.Uint32), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Uint64), v)
}

func appendInt(b []byte, v int64) []byte {
	switch {
	case v >= 0:
		return appendUint(b, uint64(v))
	case v >= -32:
		return append(b, byte(v))
	case v >= math.MinInt8:
		return append(b, msgpcode.Int8, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, msgpcode.Int16), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, msgpcode.Int32), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Int64), uint64(v))
}

func appendString(b []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		b = append(b, msgpcode.FixedStrLow|byte(n))
	case n <= math.MaxUint8:
		b = append(b, msgpcode.Str8, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, msgpcode.Str16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, msgpcode.Str32), uint32(n))
	}
	return append(b, s...)
}

func appendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, msgpcode.FixedArrayLow|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, msgpcode.Array16), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, msgpcode.Array32), uint32(n))
}

// byte takes the next byte.
func (w *wire) byte() byte {
	if w.at >= len(w.b) {
		w.fail(errShort)
		return msgpcode.Nil
	}
	c := w.b[w.at]
	w.at++
	return c
}

// take takes the next n bytes.
func (w *wire) take(n int) []byte {
	if w.err != nil || n > len(w.b)-w.at {
		w.fail(errShort)
		return nil
	}
	w.at += n
	return w.b[w.at-n : w.at : w.at]
}

// big takes a number of n bytes.
func (w *wire) big(n int) (v uint64) {
	for _, c := range w.take(n) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (w *wire) int() int64 {
	c := w.byte()
	switch {
	case msgpcode.IsFixedNum(c):
		return int64(int8(c))
	case c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		v := w.big(1 << (c - msgpcode.Uint8))
		if v > math.MaxInt64 {
			w.fail(errors.New("number too large"))
		}
		return int64(v)
	case c >= msgpcode.Int8 && c <= msgpcode.Int64:
		n := 1 << (c - msgpcode.Int8)
		shift := 64 - 8*n
		return int64(w.big(n)<<shift) >> shift
	case c == msgpcode.Nil:
		return 0
	}
	w.fail(fmt.Errorf("0x%02x is no number", c))
	return 0
}

func (w *wire) uint() uint64 {
	if w.at < len(w.b) && w.b[w.at] == msgpcode.Uint64 {
		w.at++
		return w.big(8)
	}
	v := w.int()
	if v < 0 {
		w.fail(errors.New("negative number"))
	}
	return uint64(v)
}

// blob takes a string or bytes; what it returns belongs to the input.
func (w *wire) blob() []byte {
	c := w.byte()
	switch {
	case msgpcode.IsFixedString(c):
		return w.take(int(c & msgpcode.FixedStrMask))
	case c == msgpcode.Str8 || c == msgpcode.Bin8:
		return w.take(int(w.big(1)))
	case c == msgpcode.Str16 || c == msgpcode.Bin16:
		return w.take(int(w.big(2)))
	case c == msgpcode.Str32 || c == msgpcode.Bin32:
		return w.take(int(w.big(4)))
	case c == msgpcode.Nil:
		return nil
	}
	w.fail(fmt.Errorf("0x%02x is no string", c))
	return nil
}

// arrayLen takes an array's length. Each element has a byte at least, so one
// that is longer than the rest is garbage.
func (w *wire) arrayLen() int {
	c := w.byte()
	n := 0
	switch {
	case msgpcode.IsFixedArray(c):
		n = int(c & msgpcode.FixedArrayMask)
	case c == msgpcode.Array16:
		n = int(w.big(2))
	case c == msgpcode.Array32:
		n = int(w.big(4))
	case c == msgpcode.Nil:
	default:
		w.fail(fmt.Errorf("0x%02x is no array", c))
	}
	if n > len(w.b)-w.at {
		w.fail(errShort)
	}
	if w.err != nil {
		return 0
	}
	return n
}

// deepest is how many arrays and maps may stand in each other in what is skipped: more
// than any object has. The library that reads configuration objects calls itself for
// each, and a stack that overflows ends the process.
const deepest = 32

// skip passes over one value of any shape.
func (w *wire) skip() { w.pass(deepest) }

func (w *wire) pass(depth int) {
	parts := 0
	switch c := w.byte(); {
	case c == msgpcode.Nil, c == msgpcode.FixedArrayLow, c == msgpcode.FixedMapLow:
		w.tiny++
	case msgpcode.IsFixedNum(c), c == msgpcode.False, c == msgpcode.True:
	case msgpcode.IsFixedString(c):
		w.take(int(c & msgpcode.FixedStrMask))
	case msgpcode.IsFixedArray(c):
		parts = int(c & msgpcode.FixedArrayMask)
	case msgpcode.IsFixedMap(c):
		parts = 2 * int(c&msgpcode.FixedMapMask)
	case c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		w.take(1 << (c - msgpcode.Uint8))
	case c >= msgpcode.Int8 && c <= msgpcode.Int64:
		w.take(1 << (c - msgpcode.Int8))
	case c == msgpcode.Float:
		w.take(4)
	case c == msgpcode.Double:
		w.take(8)
	case c == msgpcode.Str8 || c == msgpcode.Bin8:
		w.take(int(w.big(1)))
	case c == msgpcode.Str16 || c == msgpcode.Bin16:
		w.take(int(w.big(2)))
	case c == msgpcode.Str32 || c == msgpcode.Bin32:
		w.take(int(w.big(4)))
	case c == msgpcode.Array16:
		parts = int(w.big(2))
	case c == msgpcode.Array32:
		parts = int(w.big(4))
	case c == msgpcode.Map16:
		parts = 2 * int(w.big(2))
	case c == msgpcode.Map32:
		parts = 2 * int(w.big(4))
	case c >= msgpcode.FixExt1 && c <= msgpcode.FixExt16:
		w.take(1 + 1<<(c-msgpcode.FixExt1))
	case c == msgpcode.Ext8:
		w.take(1 + int(w.big(1)))
	case c == msgpcode.Ext16:
		w.take(1 + int(w.big(2)))
	case c == msgpcode.Ext32:
		w.take(1 + int(w.big(4)))
	default:
		w.fail(fmt.Errorf("0x%02x begins no value", c))
	}
	if parts > 0 && depth == 0 {
		w.fail(errDeep)
	}
	if parts > len(w.b)-w.at {
		w.fail(errShort)
	}
	for ; parts > 0 && w.err == nil; parts-- {
		w.pass(depth - 1)
	}
}
