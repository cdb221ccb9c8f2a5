package mirror

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
)

// A stream of events in gzip (RFC 1952) is one member. What a batch adds to it is compressed once for all readers: such
// a piece refers to nothing before it and ends with a byte, so that each reader may have had other pieces. Only the sum
// at the end is a reader's own; it is put together from those of the pieces.

// GzipHead is the header: deflate, no name, no time, any system.
var GzipHead = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// Piece is a part of a compressed stream.
type Piece struct {
	Deflated []byte
	size     uint32 // of the text, modulo 2^32
	sum      uint32 // CRC-32 of the text
	shift    uint32 // what a sum is multiplied by when size bytes follow
}

// Compress makes a piece of a text.
func Compress(text []byte) Piece {
	var b bytes.Buffer
	_ = flate.StatelessDeflate(&b, text, false, nil) // a Buffer does not fail
	return Piece{b.Bytes(), uint32(len(text)), crc32.ChecksumIEEE(text), shiftOf(uint64(len(text)))}
}

// Checksum is that of the pieces of one reader.
type Checksum struct{ sum, size uint32 }

func (c *Checksum) Add(p Piece) {
	c.sum, c.size = multiply(p.shift, c.sum)^p.sum, c.size+p.size
}

// AppendGzipEnd appends the last block, which is empty, and the trailer.
func (c *Checksum) AppendGzipEnd(dst []byte) []byte {
	dst = append(dst, 1, 0, 0, 0xff, 0xff)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, c.sum), c.size)
}

// A CRC-32 is the remainder of a polynomial over GF(2), its highest power in the lowest bit. The sum of a text and
// another one after it is the first sum multiplied by x to the number of the other's bits, plus the other sum.

const unit = 1 << 31 // the polynomial 1

// multiply returns a*b modulo the polynomial of CRC-32.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&unit != 0 {
			product ^= b
		}
		carry := b & 1
		if b >>= 1; carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return product
}

// squares are x^8, x^16, x^32, ...: x to the bits of 1, 2, 4, ... bytes.
var squares = sync.OnceValue(func() (all [64]uint32) {
	all[0] = unit >> 8
	for i := 1; i < len(all); i++ {
		all[i] = multiply(all[i-1], all[i-1])
	}
	return all
})

// shiftOf returns x to the number of bits of n bytes.
func shiftOf(n uint64) uint32 {
	shift, powers := uint32(unit), squares()
	for i := 0; n > 0; i, n = i+1, n>>1 {
		if n&1 != 0 {
			shift = multiply(powers[i], shift)
		}
	}
	return shift
}
