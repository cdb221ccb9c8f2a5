package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Epoch identifies the leadership of one owner of the log: a counter that grows with
// every owner, and a random part so that two owners never share one. An epoch is older
// than another if it is smaller; commands of an older epoch are refused.
type Epoch uint64

// NewEpoch is the epoch after old, with the given random bits.
func NewEpoch(old Epoch, random uint32) Epoch {
	return Epoch((uint64(old)>>32+1)<<32 | uint64(random))
}

// Reign is the counting part: the how-manieth owner.
func (e Epoch) Reign() uint32 { return uint32(e >> 32) }

func (e Epoch) String() string { return fmt.Sprintf("%d-%08x", e.Reign(), uint32(e)) }

// Hash is the SHA-256 of a frame.
type Hash [sha256.Size]byte

func (h Hash) String() string { return fmt.Sprintf("%x", h[:6]) }

// Point is a place in the log: all lists up to and including Seq, the last of
// them in the frame at stream sequence Stream with the given Hash. The zero
// Point is before the first list.
type Point struct {
	Epoch  Epoch
	Seq    uint64
	Stream uint64
	Hash   Hash
}

func (p Point) String() string {
	return fmt.Sprintf("epoch %s list %d (message %d, %s)", p.Epoch, p.Seq, p.Stream, p.Hash)
}

// The bytes of a stored Point, with which snapshots begin: magic "GES" and version, its fields in their order,
// big-endian.
const (
	pointMagic = "GES\x01"
	// PointSize is the length of a stored Point in bytes.
	PointSize = len(pointMagic) + 3*8 + sha256.Size
)

// AppendPoint appends the bytes of a stored Point to dst.
func AppendPoint(dst []byte, p Point) []byte {
	dst = append(dst, pointMagic...)
	for _, v := range [...]uint64{uint64(p.Epoch), p.Seq, p.Stream} {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	return append(dst, p.Hash[:]...)
}

// DecodePoint reads a stored Point, the first PointSize bytes of b. It fails when they are none of this version.
func DecodePoint(b []byte) (Point, error) {
	if len(b) < PointSize || string(b[:len(pointMagic)]) != pointMagic {
		return Point{}, errPoint
	}
	b = b[len(pointMagic):]
	p := Point{Epoch: Epoch(binary.BigEndian.Uint64(b)), Seq: binary.BigEndian.Uint64(b[8:]),
		Stream: binary.BigEndian.Uint64(b[16:])}
	copy(p.Hash[:], b[24:])
	return p, nil
}

var errPoint = fmt.Errorf("it does not begin like one of version %d", pointMagic[3])
