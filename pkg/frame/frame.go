package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Max is the largest payload of one frame in bytes. A longer list is cut
// into parts that are stored in consecutive frames and joined by the Reader.
const Max = 256 << 10

// Flags of a frame.
const (
	// More: the lists of this frame are continued by the next; Payload is a part of
	// them.
	More uint16 = 1 << iota
	// Rest: Payload continues what the frame before began. A frame without Rest
	// after one with More means that what was begun was never acknowledged: drop it.
	Rest
	// TakeOver: first frame of an epoch; no payload, Last is the Seq the new owner
	// continues from.
	TakeOver
	// Jump: with TakeOver, the log has lost its end and the owner continues from a
	// snapshot at Base: Last may be greater than what the log holds.
	Jump
)

// Frame is one message of the log: a head, and as payload the consecutive lists
// First to Last one after the other, opaque here. A frame without lists has
// First = Last+1.
type Frame struct {
	Flags  uint16
	Count  uint32 // lists that end in this frame
	Epoch  Epoch
	First  uint64 // Seq of the first list
	Last   uint64 // Seq of the last list
	Prev   uint64 // stream sequence of the frame before; 0: none
	Base   uint64 // Seq of the newest snapshot when the frame was written
	Before Hash   // hash of the frame before

	Payload []byte

	Stream uint64 // own stream sequence; not part of the bytes
	Hash   Hash   // own hash
	Raw    []byte // the whole frame as bytes, to be published or stored as it is
}

// End is the point of the log after f. Lists that are continued do not count yet.
func (f *Frame) End() Point {
	p := Point{f.Epoch, f.Last, f.Stream, f.Hash}
	if f.Flags&More != 0 {
		p.Seq = f.First - 1
	}
	return p
}

// The bytes of a frame: magic "GEF" and version, the fields of the head in the
// order above, big-endian, the payload, the SHA-256 of all that.
const (
	magic    = "GEF\x01"
	headSize = 4 + 2 + 4 + 5*8 + sha256.Size
	sizeMin  = headSize + sha256.Size
)

// ErrInvalid is wrapped by every error about bytes that are no frame, or not the
// frame that was written.
var ErrInvalid = errors.New("not a valid frame")

// Append appends the bytes of f to dst and sets f.Hash, f.Raw, and f.Payload to its part of Raw.
func Append(dst []byte, f *Frame) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.BigEndian.AppendUint16(dst, f.Flags)
	dst = binary.BigEndian.AppendUint32(dst, f.Count)
	for _, v := range [...]uint64{uint64(f.Epoch), f.First, f.Last, f.Prev, f.Base} {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	dst = append(dst, f.Before[:]...)
	dst = append(dst, f.Payload...)
	f.Hash = sha256.Sum256(dst[start:])
	dst = append(dst, f.Hash[:]...)
	f.Raw = dst[start:]
	f.Payload = payload(f.Raw)
	return dst
}

// payload returns the payload within the bytes of a frame.
func payload(raw []byte) []byte {
	end := len(raw) - sha256.Size
	return raw[headSize:end:end]
}

// Decode reads the bytes of one frame and checks its hash. Payload and Raw
// share memory with b.
func Decode(b []byte) (Frame, error) {
	f, err := DecodeHead(b)
	if err != nil {
		return Frame{}, err
	}
	end := len(b) - sha256.Size
	f.Hash = sha256.Sum256(b[:end])
	if f.Hash != Hash(b[end:]) {
		return Frame{}, fmt.Errorf("%w: checksum of lists %d to %d differs", ErrInvalid, f.First, f.Last)
	}
	return f, nil
}

// DecodeHead is Decode without the check of the hash.
func DecodeHead(b []byte) (Frame, error) {
	if len(b) < sizeMin || string(b[:3]) != magic[:3] {
		return Frame{}, fmt.Errorf("%w: %d bytes without a frame's head", ErrInvalid, len(b))
	}
	if b[3] != magic[3] {
		return Frame{}, fmt.Errorf("%w: format version %d, this program reads version %d", ErrInvalid, b[3], magic[3])
	}
	f := Frame{
		Flags: binary.BigEndian.Uint16(b[4:]),
		Count: binary.BigEndian.Uint32(b[6:]),
		Epoch: Epoch(binary.BigEndian.Uint64(b[10:])),
		First: binary.BigEndian.Uint64(b[18:]),
		Last:  binary.BigEndian.Uint64(b[26:]),
		Prev:  binary.BigEndian.Uint64(b[34:]),
		Base:  binary.BigEndian.Uint64(b[42:]),
	}
	copy(f.Before[:], b[50:])
	f.Payload, f.Raw = payload(b), b
	return f, nil
}
