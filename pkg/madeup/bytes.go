package madeup

import (
	"encoding/binary"
	"fmt"
)

// Changes calls each with copies of the message b, a msgpack value, that differ from
// it in one place: every value in turn, at any depth, is replaced by nil, by a value
// of another type or by an extreme one; every array in turn is emptied, loses its
// last element, or has it twice. Bytes that hold a value of their own, as nested
// objects do, are changed inside, too, and keep a correct length. what says which
// place was changed, and how. It panics if b is not one whole value.
func Changes(b []byte, each func(what string, b []byte)) {
	root, rest := parse(b)
	if root == nil || len(rest) > 0 {
		panic("madeup: not one msgpack value")
	}
	root.change("", func(what string) { each(what, root.append(nil)) })
}

// extremes replace a value.
var extremes = []struct {
	name  string
	bytes string
}{
	{"nil", "\xc0"}, {"0", "\x00"}, {"-1", "\xff"}, {"max", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"},
	{"2^31", "\xce\x80\x00\x00\x00"},
	{"min", "\xd3\x80\x00\x00\x00\x00\x00\x00\x00"}, {"NaN", "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x01"},
	{"empty string", "\xa0"},
	{"string", "\xa5x@y:1"}, {"true", "\xc3"}, {"empty array", "\x90"}, {"array of nil", "\x92\xc0\xc0"},
	{"map", "\x81\xa1x\xc0"},
}

// value is one msgpack value: elements, nested ones in bytes, or neither.
type value struct {
	kind  byte // 'a' array, 'm' map, 'b' bytes that hold a value, 0 anything else
	raw   []byte
	parts []*value
}

func (v *value) change(at string, each func(what string)) {
	was := *v
	for _, x := range extremes {
		if string(was.append(nil)) == x.bytes {
			continue
		}
		*v = value{raw: []byte(x.bytes)}
		each(fmt.Sprintf("%s=%s", at, x.name))
	}
	*v = was
	if n := len(v.parts); v.kind == 'a' && n > 0 {
		v.parts = was.parts[:n-1]
		each(at + " without its last element")
		v.parts = append(append([]*value(nil), was.parts...), was.parts[n-1])
		each(at + " with its last element twice")
		v.parts = was.parts
	}
	for i, p := range v.parts {
		p.change(fmt.Sprintf("%s.%d", at, i), each)
	}
}

func (v *value) append(b []byte) []byte {
	switch n := len(v.parts); v.kind {
	case 'a':
		b = binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
	case 'm':
		b = binary.BigEndian.AppendUint32(append(b, 0xdf), uint32(n/2))
	case 'b':
		inside := v.parts[0].append(nil)
		return append(binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(len(inside))), inside...)
	default:
		return append(b, v.raw...)
	}
	for _, p := range v.parts {
		b = p.append(b)
	}
	return b
}

// parse reads the first value of b; nil if there is none.
func parse(b []byte) (v *value, rest []byte) {
	if len(b) == 0 {
		return nil, nil
	}
	c := b[0]
	size := func(n int) (int, int) { // a length of n bytes after the first, and the bytes of both
		length := 0
		for i := 1; i <= n && i < len(b); i++ {
			length = length<<8 | int(b[i])
		}
		return length, 1 + n
	}
	head, body, parts, kind := 1, 0, 0, byte(0)
	switch {
	case c <= 0x7f || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3:
	case c <= 0x8f:
		kind, parts = 'm', 2*int(c&0x0f)
	case c <= 0x9f:
		kind, parts = 'a', int(c&0x0f)
	case c <= 0xbf:
		body = int(c & 0x1f)
	case c >= 0xc4 && c <= 0xc6:
		kind = 'b'
		body, head = size(1 << (c - 0xc4))
	case c == 0xca:
		body = 4
	case c == 0xcb:
		body = 8
	case c >= 0xcc && c <= 0xcf:
		body = 1 << (c - 0xcc)
	case c >= 0xd0 && c <= 0xd3:
		body = 1 << (c - 0xd0)
	case c >= 0xd9 && c <= 0xdb:
		body, head = size(1 << (c - 0xd9))
	case c == 0xdc || c == 0xdd:
		kind = 'a'
		parts, head = size(2 << (c - 0xdc))
	case c == 0xde || c == 0xdf:
		kind = 'm'
		parts, head = size(2 << (c - 0xde))
		parts *= 2
	default:
		return nil, nil
	}
	if len(b) < head+body {
		return nil, nil
	}
	v, rest = &value{kind: kind, raw: b[:head+body]}, b[head+body:]
	if kind == 'b' {
		inside, left := parse(b[head : head+body])
		if inside == nil || len(left) > 0 {
			v.kind = 0
		} else {
			v.parts = []*value{inside}
		}
	}
	for range parts {
		var p *value
		if p, rest = parse(rest); p == nil {
			return nil, nil
		}
		v.parts = append(v.parts, p)
	}
	return v, rest
}
