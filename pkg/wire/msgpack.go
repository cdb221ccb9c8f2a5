package wire

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

func appendBytes(b, p []byte) []byte {
	switch n := len(p); {
	case n <= math.MaxUint8:
		b = append(b, msgpcode.Bin8, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, msgpcode.Bin16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, msgpcode.Bin32), uint32(n))
	}
	return append(b, p...)
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

// nextByte reads a byte.
func (w *Coder) nextByte() byte {
	if w.at >= len(w.b) {
		w.Fail(ErrShort)
		return msgpcode.Nil
	}
	c := w.b[w.at]
	w.at++
	return c
}

// nextBytes reads n bytes, which belong to the input.
func (w *Coder) nextBytes(n int) []byte {
	if w.err != nil || n > len(w.b)-w.at {
		w.Fail(ErrShort)
		return nil
	}
	w.at += n
	return w.b[w.at-n : w.at : w.at]
}

// nextBig reads a number of n bytes, the most significant first.
func (w *Coder) nextBig(n int) (v uint64) {
	for _, c := range w.nextBytes(n) {
		v = v<<8 | uint64(c)
	}
	return v
}

// nextInt reads a signed number.
func (w *Coder) nextInt() int64 {
	c := w.nextByte()
	switch {
	case msgpcode.IsFixedNum(c):
		return int64(int8(c))
	case c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		v := w.nextBig(1 << (c - msgpcode.Uint8))
		if v > math.MaxInt64 {
			w.Fail(errors.New("number too large"))
		}
		return int64(v)
	case c >= msgpcode.Int8 && c <= msgpcode.Int64:
		n := 1 << (c - msgpcode.Int8)
		shift := 64 - 8*n
		return int64(w.nextBig(n)<<shift) >> shift
	case c == msgpcode.Nil:
		return 0
	}
	w.Fail(fmt.Errorf("0x%02x is no number", c))
	return 0
}

// nextUint reads an unsigned number.
func (w *Coder) nextUint() uint64 {
	if w.at < len(w.b) && w.b[w.at] == msgpcode.Uint64 {
		w.at++
		return w.nextBig(8)
	}
	v := w.nextInt()
	if v < 0 {
		w.Fail(errors.New("negative number"))
	}
	return uint64(v)
}

// nextText reads a string or bytes, which belong to the input.
func (w *Coder) nextText() []byte {
	c := w.nextByte()
	switch {
	case msgpcode.IsFixedString(c):
		return w.nextBytes(int(c & msgpcode.FixedStrMask))
	case c == msgpcode.Str8 || c == msgpcode.Bin8:
		return w.nextBytes(int(w.nextBig(1)))
	case c == msgpcode.Str16 || c == msgpcode.Bin16:
		return w.nextBytes(int(w.nextBig(2)))
	case c == msgpcode.Str32 || c == msgpcode.Bin32:
		return w.nextBytes(int(w.nextBig(4)))
	case c == msgpcode.Nil:
		return nil
	}
	w.Fail(fmt.Errorf("0x%02x is no string", c))
	return nil
}

// nextArray reads the length of an array. Each element has a byte at least, so one
// that is longer than the rest is garbage.
func (w *Coder) nextArray() int {
	c := w.nextByte()
	n := 0
	switch {
	case msgpcode.IsFixedArray(c):
		n = int(c & msgpcode.FixedArrayMask)
	case c == msgpcode.Array16:
		n = int(w.nextBig(2))
	case c == msgpcode.Array32:
		n = int(w.nextBig(4))
	case c == msgpcode.Nil:
	default:
		w.Fail(fmt.Errorf("0x%02x is no array", c))
	}
	if n > len(w.b)-w.at {
		w.Fail(ErrShort)
	}
	if w.err != nil {
		return 0
	}
	return n
}

// deepest is how many arrays and maps may be nested in what is skipped: more than any object has. The library that
// reads tagged maps calls itself for each, and a stack that overflows ends the process.
const deepest = 32

// skip skips one value of any shape. tiny is how many of its elements are a byte that may stand for an empty struct.
func (w *Coder) skip(depth int) (tiny int) {
	parts := 0
	switch c := w.nextByte(); {
	case c == msgpcode.Nil, c == msgpcode.FixedArrayLow, c == msgpcode.FixedMapLow:
		tiny++
	case msgpcode.IsFixedNum(c), c == msgpcode.False, c == msgpcode.True:
	case msgpcode.IsFixedString(c):
		w.nextBytes(int(c & msgpcode.FixedStrMask))
	case msgpcode.IsFixedArray(c):
		parts = int(c & msgpcode.FixedArrayMask)
	case msgpcode.IsFixedMap(c):
		parts = 2 * int(c&msgpcode.FixedMapMask)
	case c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		w.nextBytes(1 << (c - msgpcode.Uint8))
	case c >= msgpcode.Int8 && c <= msgpcode.Int64:
		w.nextBytes(1 << (c - msgpcode.Int8))
	case c == msgpcode.Float:
		w.nextBytes(4)
	case c == msgpcode.Double:
		w.nextBytes(8)
	case c == msgpcode.Str8 || c == msgpcode.Bin8:
		w.nextBytes(int(w.nextBig(1)))
	case c == msgpcode.Str16 || c == msgpcode.Bin16:
		w.nextBytes(int(w.nextBig(2)))
	case c == msgpcode.Str32 || c == msgpcode.Bin32:
		w.nextBytes(int(w.nextBig(4)))
	case c == msgpcode.Array16:
		parts = int(w.nextBig(2))
	case c == msgpcode.Array32:
		parts = int(w.nextBig(4))
	case c == msgpcode.Map16:
		parts = 2 * int(w.nextBig(2))
	case c == msgpcode.Map32:
		parts = 2 * int(w.nextBig(4))
	case c >= msgpcode.FixExt1 && c <= msgpcode.FixExt16:
		w.nextBytes(1 + 1<<(c-msgpcode.FixExt1))
	case c == msgpcode.Ext8:
		w.nextBytes(1 + int(w.nextBig(1)))
	case c == msgpcode.Ext16:
		w.nextBytes(1 + int(w.nextBig(2)))
	case c == msgpcode.Ext32:
		w.nextBytes(1 + int(w.nextBig(4)))
	default:
		w.Fail(fmt.Errorf("0x%02x begins no value", c))
	}
	if parts > 0 && depth == 0 {
		w.Fail(errDeep)
	}
	if parts > len(w.b)-w.at {
		w.Fail(ErrShort)
	}
	for ; parts > 0 && w.err == nil; parts-- {
		tiny += w.skip(depth - 1)
	}
	return tiny
}
