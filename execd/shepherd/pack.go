package shepherd

import (
	"encoding/binary"
	"math"
)

// packer writes or reads the messages between execd and shepherd and the records of the journal. The functions that list
// the fields of a struct are the same for both directions; writing, they only read. Each struct is preceded by its length: a
// reader of another version leaves fields that are missing at the end zero and skips those it does not know, so new fields
// are appended, and none is ever removed.
type packer struct {
	b       []byte // writing: all so far
	rest    string // reading: what is left of the open struct
	reading bool
	bad     bool // reading: it ended in the middle of a value
}

// unpack reads a message that pack wrote; false when it is none. Strings in it share the memory of text.
func unpack[M any](text string, m *M, fields func(*packer, *M)) bool {
	p := packer{rest: text, reading: true}
	packed(&p, m, fields)
	return !p.bad
}

// pack appends a message.
func pack[M any](b []byte, m *M, fields func(*packer, *M)) []byte {
	p := packer{b: b}
	packed(&p, m, fields)
	return p.b
}

// lengthBytes is the size of the length before a struct.
const lengthBytes = 4

// packed is a struct.
func packed[T any](p *packer, v *T, fields func(*packer, *T)) {
	if !p.reading {
		start := len(p.b)
		p.b = append(p.b, 0, 0, 0, 0)
		fields(p, v)
		binary.LittleEndian.PutUint32(p.b[start:], uint32(len(p.b)-start-lengthBytes))
		return
	}
	if p.rest == "" {
		return
	}
	n := p.nextBytes(lengthBytes)
	if p.bad {
		return
	}
	body := p.nextBytes(int(uint32(n[0]) | uint32(n[1])<<8 | uint32(n[2])<<16 | uint32(n[3])<<24))
	after := p.rest
	p.rest = body
	fields(p, v)
	p.rest = after
}

// nextBytes returns the next n bytes.
func (p *packer) nextBytes(n int) (s string) {
	if n < 0 || n > len(p.rest) {
		p.bad, p.rest = true, ""
		return ""
	}
	s, p.rest = p.rest[:n], p.rest[n:]
	return s
}

func (p *packer) uint() (n uint64) {
	for i := 0; i < len(p.rest) && i < binary.MaxVarintLen64; i++ {
		c := p.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			p.rest = p.rest[i+1:]
			return n
		}
	}
	p.bad = p.bad || p.rest != ""
	p.rest = ""
	return 0
}

// uns is an unsigned number.
func uns[T ~uint8 | ~uint32 | ~uint64](p *packer, v *T) {
	if p.reading {
		*v = T(p.uint())
	} else {
		p.b = binary.AppendUvarint(p.b, uint64(*v))
	}
}

// sig is a signed number.
func sig[T ~int | ~int64](p *packer, v *T) {
	if p.reading {
		n := p.uint()
		*v = T(int64(n>>1) ^ -int64(n&1))
	} else {
		p.b = binary.AppendVarint(p.b, int64(*v))
	}
}

func (p *packer) bool(v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	if uns(p, &n); p.reading {
		*v = n != 0
	}
}

func (p *packer) float(v *float64) {
	n := math.Float64bits(*v)
	if uns(p, &n); p.reading {
		*v = math.Float64frombits(n)
	}
}

func (p *packer) text(v *string) {
	if p.reading {
		*v = p.nextBytes(int(p.uint()))
		return
	}
	p.b = binary.AppendUvarint(p.b, uint64(len(*v)))
	p.b = append(p.b, *v...)
}

func (p *packer) data(v *[]byte) {
	if p.reading {
		if n := int(p.uint()); n > 0 {
			*v = []byte(p.nextBytes(n))
		}
		return
	}
	p.b = binary.AppendUvarint(p.b, uint64(len(*v)))
	p.b = append(p.b, *v...)
}

// list is any number of elements.
func list[T any](p *packer, v *[]T, each func(*packer, *T)) {
	n := uint64(len(*v))
	uns(p, &n)
	if p.reading && n > 0 {
		if n > uint64(len(p.rest)) { // each takes a byte at least
			p.bad = true
			return
		}
		*v = make([]T, n)
	}
	for i := range *v {
		each(p, &(*v)[i])
	}
}

// structs is a list of structs.
func structs[T any](p *packer, v *[]T, fields func(*packer, *T)) {
	list(p, v, func(p *packer, v *T) { packed(p, v, fields) })
}

func (p *packer) texts(v *[]string) { list(p, v, (*packer).text) }

// opt is a struct that may be absent.
func opt[T any](p *packer, v **T, fields func(*packer, *T)) {
	there := *v != nil
	if p.bool(&there); !there {
		return
	}
	if p.reading {
		*v = new(T)
	}
	packed(p, *v, fields)
}
